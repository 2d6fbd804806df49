"""A user's program as the type checker sees it: never run, read by mypy --strict."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any, assert_type

import meed
import numpy as np
import pandas as pd
import polars as pl
from meed.gym import MeedEnv
from numpy.typing import NDArray

scenario = meed.Scenario(Path("cluster.toml"), sets=["run.seed=1"], strict=True)
assert_type(scenario.policies, list[str])
jobs = meed.Jobs(pd.DataFrame(), queue="user", demand={"cpu": 1, "memory": "4GiB"})
assert_type(len(jobs), int)
results = meed.simulate(
    {"cluster": {}}, ["fair"], jobs=jobs, progress=lambda policy, now, ended, part: print(policy)
)
assert_type(results, meed.Results)
assert_type(results.tenants, meed.Table)
assert_type(results.tenants["rho"], NDArray[Any])
assert_type(results.jobs.pandas(), pd.DataFrame)
assert_type(results.jobs.polars(), pl.DataFrame)


def owed(view: meed.View) -> NDArray[np.float64]:
    assert_type(view.waiting, NDArray[np.int64])
    return view.used - view.entitled


mine = meed.Policy(owed, every=dt.timedelta(minutes=5), settings="when_blocked=reserve")
meed.simulate(scenario, ["fair", mine, owed, lambda view: {"a": 1, "b": view.time}], log="l.jsonl")
meed.simulate(scenario, lambda view: meed.Ranks(step=1, per=[1, 2]))
env = MeedEnv(scenario, every="1h", reward=lambda before, after: float(after.used.sum()))
observation, info = env.reset(seed=1)
assert_type(observation, NDArray[np.float32])
assert_type(env.step(env.action_space.sample())[2], bool)
assert_type(env.results, meed.Results | None)
pool = meed.allocate([[1, 2]], np.ones((2, 2)), weights=[1, 2])
assert_type(pool.tasks, NDArray[np.float64])
assert_type(pool.level, float | None)
log = meed.read("log.swf", map={"tenant": "user", "gang": None})
assert_type(log, meed.Log)
assert_type(log["duration"], NDArray[Any])
less = log.pandas().query("tasks > 1")
meed.simulate(log, jobs=less, baseline="fair-tree", weights={"ads": 2.0}, cluster="slurm.conf")
meed.simulate(pl.DataFrame(log), cluster={"resources": ["cpu"], "node": []})
advice = meed.advise(less, aim="longest", at_most={"heavy": 1.2, "mean": None}, loads=[0.9, 1])
assert_type(advice.chosen, str)
assert_type(advice.candidates, meed.Table)
assert_type(meed.sweep(scenario, {"half_life": ["1h", "6h"]}).points, meed.Table)
assert_type(meed.rivals(log, ["condor"], liars=2).orders, meed.Table)
assert_type(meed.audit("fair", properties=["pareto"]).cells, meed.Table)
assert_type(meed.explain("run.jsonl", job=7, at=dt.timedelta(hours=2)).queues, meed.Table)
assert_type(meed.replay("run.jsonl", "fair", sets=["queue.ads.weight=2"]), meed.Results)
assert_type(bool(meed.verify("run.jsonl")), bool)
try:
    meed.simulate(scenario)
except meed.Error as error:
    assert_type(error.code, int)
# What is wrong is seen: each of these ignores is needed, or mypy complains of it.
meed.simulate(scenario, policies=5)  # type: ignore[arg-type]
meed.Policy(5)  # type: ignore[arg-type]
meed.Policy(lambda: 5)  # type: ignore[arg-type]
pool.levels  # type: ignore[attr-defined]
