"""How long a simulation takes in Python, beside the program: ``speed.py PROGRAM SCENARIO [SET...]``.

Both run the same scenario under the program's default policies, five times in turn. Told is the
least processor time of each, which other programs disturb less than the clock. Python's own start
is not counted, the program's is.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import warnings

import meed

ROUNDS = 5


def processor(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def of_program(program: str, scenario: str, sets: list[str]) -> float:
    before = processor(resource.RUSAGE_CHILDREN)
    arguments = [part for one in sets for part in ("--set", one)]
    subprocess.run(
        [program, "simulate", scenario, *arguments, "--quiet"], check=True, capture_output=True
    )
    return processor(resource.RUSAGE_CHILDREN) - before


def of_module(scenario: str, sets: list[str], keep_jobs: bool) -> float:
    before = processor(resource.RUSAGE_SELF)
    results = meed.simulate(scenario, sets=sets, keep_jobs=keep_jobs)
    assert results.summary.rows > 0
    return processor(resource.RUSAGE_SELF) - before


def main() -> None:
    warnings.simplefilter("ignore", meed.Remark)
    program, scenario, *sets = sys.argv[1:]
    program_s, module_s, kept_s = [], [], []
    for _ in range(ROUNDS):
        program_s.append(of_program(program, scenario, sets))
        module_s.append(of_module(scenario, sets, keep_jobs=False))
        kept_s.append(of_module(scenario, sets, keep_jobs=True))
    base = min(program_s)
    print(f"program                  {base:6.2f} s")
    print(f"Python                   {min(module_s):6.2f} s  {min(module_s) / base:.2f} times")
    print(f"Python, jobs one by one  {min(kept_s):6.2f} s  {min(kept_s) / base:.2f} times")


if __name__ == "__main__":
    main()
