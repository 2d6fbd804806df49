"""How long a policy in Python takes beside the engine's own: ``policy_speed.py SCENARIO [SET...]``.

The same order each time: who has used least for its weight is next. Told is processor time, the
least of two rounds in turn.
"""

from __future__ import annotations

import resource
import sys
import warnings
from collections.abc import Callable
from typing import Any

import meed
from meed.gym import MeedEnv

ROUNDS = 2


def by_use(view: meed.View) -> Any:
    return view.used / view.weight


def processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    warnings.simplefilter("ignore", meed.Remark)
    scenario = meed.Scenario(sys.argv[1], sets=sys.argv[2:])

    def run(policy: Any) -> Callable[[], int]:
        calls = 0

        def counted(view: meed.View) -> Any:
            nonlocal calls
            calls += 1
            return by_use(view)

        def once() -> int:
            nonlocal calls
            calls = 0
            of_mine = meed.Policy(counted, every=policy[0]) if isinstance(policy, tuple) else policy
            meed.simulate(scenario, of_mine, keep_jobs=False, overtaken=False)
            return calls

        return once

    def episode() -> int:
        env = MeedEnv(scenario, every="5min")
        env.reset()
        steps, is_over = 0, False
        while not is_over:
            assert env.view is not None
            *_, terminated, truncated, _ = env.step(by_use(env.view))
            steps += 1
            is_over = terminated or truncated
        return steps

    rows = {
        "long-term": run("long-term"),
        "every hour": run(("1h",)),
        "every 5 min": run(("5min",)),
        "each instant": run((None,)),
        "environment, 5 min": episode,
    }
    least = dict.fromkeys(rows, float("inf"))
    calls = dict.fromkeys(rows, 0)
    for _ in range(ROUNDS):
        for name, once in rows.items():
            before = processor()
            calls[name] = once()
            least[name] = min(least[name], processor() - before)
    for name, seconds in least.items():
        more = (seconds - least["long-term"]) / max(calls[name], 1) * 1e6
        each = f", {more:.0f} us each" if calls[name] else ""
        print(f"{name:20} {seconds:6.2f} s  {calls[name]} calls{each}")


if __name__ == "__main__":
    main()
