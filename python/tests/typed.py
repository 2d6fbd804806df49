"""A user's program as the type checker sees it: never run, read by mypy --strict."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import meed
import numpy as np
import pandas as pd
import polars as pl
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
pool = meed.allocate([[1, 2]], np.ones((2, 2)), weights=[1, 2])
assert_type(pool.tasks, NDArray[np.float64])
assert_type(pool.level, float | None)
try:
    meed.simulate(scenario)
except meed.Error as error:
    assert_type(error.code, int)
# What is wrong is seen: each of these ignores is needed, or mypy complains of it.
meed.simulate(scenario, policies=5)  # type: ignore[arg-type]
pool.levels  # type: ignore[attr-defined]
