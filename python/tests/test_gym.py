"""The environment: what Gymnasium checks, and that an episode is a run like any other."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import meed
import numpy as np
import pytest
from conftest import interrupted
from gymnasium.utils.env_checker import check_env
from meed.gym import FEATURES, MeedEnv
from test_policy import CROWD, by_use, starts

pytestmark = pytest.mark.filterwarnings("ignore::meed.Remark")


def test_gymnasium_finds_nothing_wrong() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = gymnasium.make("meed/Queues-v0", scenario=CROWD, every="1min")
        check_env(made.unwrapped, skip_render_check=True)
    assert [str(one.message) for one in told if "WARN" in str(one.message)] == []


def test_gymnasium_makes_it_by_name() -> None:
    made = gymnasium.make("meed/Queues-v0", scenario=CROWD, every="1min")
    assert isinstance(made.unwrapped, MeedEnv) and made.spec is not None
    assert np.isfinite(made.observation_space.high).all()
    first, _ = made.reset(seed=3)
    own, _ = MeedEnv(CROWD, every="1min").reset(seed=3)
    assert (first == own).all()
    program = (
        "import gymnasium\n"
        "cluster = {'resources': ['cpu'], 'node': [{'capacity': {'cpu': 1}}]}\n"
        "jobs = {'queue': ['a'], 'submit': [0], 'duration': [9], 'cpu': [1]}\n"
        "scenario = {'cluster': cluster}\n"
        "made = gymnasium.make('meed.gym:meed/Queues-v0', scenario=scenario, jobs=jobs)\n"
        "print(made.spec.id)"
    )
    alone = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert alone.stdout.strip() == "meed/Queues-v0", alone.stderr
    with pytest.raises(meed.Error, match="render_mode"):
        MeedEnv(CROWD, render_mode="human")  # type: ignore[arg-type]


def episode(env: MeedEnv, act: Any, seed: int | None = None) -> tuple[list[float], list[Any]]:
    """Rewards and observations."""
    first, _ = env.reset(seed=seed)
    rewards, seen, is_over = [], [first], False
    while not is_over:
        observation, reward, terminated, truncated, _ = env.step(act(env))
        assert env.observation_space.contains(observation)
        rewards.append(float(reward))
        seen.append(observation)
        is_over = terminated or truncated
    return rewards, seen


def test_an_episode_is_a_run_of_the_policy() -> None:
    env = MeedEnv(CROWD, every="1min", keep_jobs=True)
    rewards, _ = episode(env, lambda env: by_use(env.view))
    run = meed.simulate(CROWD, meed.Policy(by_use, every="1min"))
    assert env.results is not None
    assert starts(env.results) == starts(run)
    # Little's law: time in the system is the sum of job times.
    assert sum(rewards) == pytest.approx(-run.jobs["job_s"].sum() / 3600, rel=1e-9)
    end = float(run.summary["end_s"][0])
    assert len(rewards) == int(np.ceil(end / 60))
    assert env.view is not None and env.view.time == end


def test_actions_steer_an_episode() -> None:
    def first(place: int) -> Any:
        return lambda env: np.array([at != place for at in range(4)], dtype=np.float32)

    times = []
    for place, name in [(0, "g.a"), (3, "c")]:
        env = MeedEnv(CROWD, every="1min")
        episode(env, first(place))
        assert env.results is not None
        tenants = env.results.tenants
        times.append(float(tenants["mean_job_s"][list(tenants["queue"]).index(name)]))
        times.append(float(tenants["mean_job_s"][list(tenants["queue"]).index("c")]))
    assert times[1] > 1.5 * times[3]


def test_what_is_observed() -> None:
    env = MeedEnv(CROWD, every="10min")
    assert env.queues == ("g", "g.a", "g.b", "c")
    observation, info = env.reset()
    assert observation.shape == (4, len(FEATURES)) and info == {"time": 0.0, "seed": 0}
    column = {name: at for at, name in enumerate(FEATURES)}
    assert observation[:, column["share"]].tolist() == pytest.approx([0.8, 0.2, 0.6, 0.2])
    assert (observation[:, 1:] == 0).all()
    observation, reward, _, _, info = env.step(np.zeros(4, dtype=np.float32))
    view = env.view
    assert view is not None and info["time"] == view.time == 600.0
    assert observation[:, column["held"]].tolist() == pytest.approx((view.held / 8).tolist())
    assert np.expm1(observation[:, column["waiting"]]).round().tolist() == view.waiting.tolist()
    assert observation[[0, 3], column["used"]].sum() == pytest.approx(1)
    lately = observation[:, column["lately"]]
    assert lately.tolist() == pytest.approx((view.lately / 8 / 600).tolist())
    assert float(reward) == pytest.approx(-view.job_seconds / 3600)


def test_seeds() -> None:
    env = MeedEnv(CROWD, every="5min")
    idle = lambda env: np.zeros(4, dtype=np.float32)  # noqa: E731
    of_scenario, _ = episode(env, idle)
    another, _ = episode(env, idle)
    seeded, _ = episode(env, idle, seed=7)
    assert len({tuple(of_scenario), tuple(another), tuple(seeded)}) == 3
    assert episode(env, idle, seed=7)[0] == seeded
    assert episode(MeedEnv(CROWD, every="5min"), idle)[0] == of_scenario
    run = meed.simulate(CROWD, meed.Policy(lambda view: view.used * 0), seed=7)
    assert sum(seeded) == pytest.approx(-run.jobs["job_s"].sum() / 3600)


def test_a_reward_of_ones_own() -> None:
    def reward(before: meed.View, after: meed.View) -> float:
        assert after.elapsed == pytest.approx(after.time - before.time)
        return -float(abs(after.used / after.weight - before.used).max())

    rewards, _ = episode(MeedEnv(CROWD, reward=reward), lambda env: by_use(env.view))
    assert all(reward <= 0 for reward in rewards) and min(rewards) < -100


def test_until_truncates() -> None:
    env = MeedEnv({**CROWD, "run": {"until": "25min"}}, every="10min")
    env.reset()
    ends = []
    for _ in range(3):
        _, _, terminated, truncated, info = env.step(np.zeros(4, dtype=np.float32))
        ends.append((terminated, truncated, info["time"]))
    assert ends[:2] == [(False, False, 600.0), (False, False, 1200.0)]
    assert ends[2][:2] == (False, True) and 1200 < ends[2][2] <= 1500


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ([0, 0, float("nan"), 0], "action at 0 s: the key of queue `g.b` is nan"),
        ([0, 0], "action at 0 s: 2 keys came back for 4 queues"),
        (None, "wanted is a key for each queue"),
    ],
)
def test_what_is_no_action_is_refused(action: Any, words: str) -> None:
    env = MeedEnv(CROWD)
    env.reset()
    with pytest.raises(meed.Error, match=words):
        env.step(action)
    # It is as it was.
    env.step(np.zeros(4, dtype=np.float32))


def test_order_of_calls() -> None:
    env = MeedEnv(CROWD, every="1d")
    with pytest.raises(meed.Error, match="reset\\(\\) begins one"):
        env.step(np.zeros(4, dtype=np.float32))
    env.reset()
    assert env.step(np.zeros(4, dtype=np.float32))[2]
    with pytest.raises(meed.Error, match="reset\\(\\) begins one"):
        env.step(np.zeros(4, dtype=np.float32))
    env.reset()
    env.close()
    env.close()
    with pytest.raises(meed.Error, match="has no jobs"):
        MeedEnv({**CROWD, "generator": []})
    nobody = [{**CROWD["generator"][0], "jobs": 0}]
    with pytest.raises(meed.Error, match="nothing happens in it"):
        MeedEnv({**CROWD, "generator": nobody}).reset()
    with pytest.raises(meed.Error, match="every"):
        MeedEnv(CROWD, every="soon")
    with pytest.raises(meed.Error, match="settings|x"):
        MeedEnv(CROWD, settings="x=1").reset()


def test_what_is_wrong_with_a_scenario_is_said_by_reset(examples: Path) -> None:
    with pytest.raises(meed.Error, match="MapReduce world"):
        MeedEnv(examples / "mapreduce.toml").reset()


def test_threads_end_with_their_episodes() -> None:
    def threads() -> int:
        return len(os.listdir("/proc/self/task"))

    gc.collect()
    before = threads()
    for _ in range(20):
        env = MeedEnv(CROWD)
        env.reset()
        env.step(np.zeros(4, dtype=np.float32))
        env.reset()
    assert threads() <= before + 1
    del env
    gc.collect()
    assert threads() == before


def test_ctrl_c_ends_a_step() -> None:
    generators = [{**one, "jobs": 100_000_000} for one in CROWD["generator"]]
    scenario = {**CROWD, "generator": generators, "run": {"most_jobs": 1_000_000_000}}
    env = MeedEnv(scenario, every="3650d")
    env.reset()

    with interrupted(0.5, within=10):
        env.step(np.zeros(4, dtype=np.float32))
    with pytest.raises(meed.Error, match="reset\\(\\) begins one"):
        env.step(np.zeros(4, dtype=np.float32))


def test_a_program_ends_in_an_episode() -> None:
    program = f"from meed.gym import MeedEnv; env = MeedEnv({CROWD!r}); env.reset(); print('done')"
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (told.stdout, told.stderr) == ("done\n", "")


def test_without_gymnasium_it_is_said() -> None:
    program = "import sys; sys.modules['gymnasium'] = None; import meed; import meed.gym"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'meed[gym]'" in told.stderr
