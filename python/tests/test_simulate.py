"""Runs: the program's own results, figure for figure, in every form."""

from __future__ import annotations

import csv
import datetime
import json
import math
import threading
import tomllib
import warnings
from pathlib import Path
from typing import Any

import meed
import numpy as np
import pytest
from conftest import Run, interrupted, others_go_on

pytestmark = pytest.mark.filterwarnings("ignore::meed.Remark")

SLOT = {"slot": 1}
SMALL: dict[str, Any] = {
    "cluster": {"resources": ["slot"], "node": [{"capacity": {"slot": 2}}]},
    "queue": [{"name": "ads"}, {"name": "search", "weight": 2}],
    "job": [
        {"queue": "ads", "tasks": 4, "duration": "1h", "demand": SLOT},
        {"queue": "search", "submit": "30min", "tasks": 3, "duration": "10min", "demand": SLOT},
    ],
}


def long_run(jobs: int) -> dict[str, Any]:
    """Something that takes a while: so many jobs, one after the other."""
    generator = {
        "queue": "ads",
        "arrivals": {"every": "1s"},
        "jobs": jobs,
        "tasks": 1,
        "duration": "1s",
        "demand": SLOT,
    }
    run = {"most_jobs": jobs}
    return {**SMALL, "job": [], "generator": [generator], "run": run}


@pytest.mark.parametrize("example", ["lending", "hierarchy", "drfh", "wide", "mapreduce"])
def test_an_example_is_the_programs(example: str, examples: Path, meed_program: Run) -> None:
    file = examples / f"{example}.toml"
    told = meed_program("simulate", file, "--series", 50, "--json", "-")
    assert told.returncode == 0, told.stderr
    assert meed.simulate(file, series=50).json() == told.stdout


def test_ctc_is_the_programs(traces: Path, examples: Path, meed_program: Run) -> None:
    trace = f"trace.file={traces}/swf/CTC-SP2-1996-3.1-cln.swf.gz"
    file = examples / "ctc.toml"
    told = meed_program("simulate", file, "--set", trace, "--series", 20, "--json", "-")
    assert told.returncode == 0, told.stderr
    results = meed.simulate(file, sets=[trace], series=20)
    assert results.json() == told.stdout
    ended = [np.isfinite(results.jobs.where(policy=one)["end_s"]).sum() for one in results.policies]
    jobs = results.tenants["jobs"].reshape(len(results.policies), -1)
    assert ended == jobs.sum(axis=1).tolist()


@pytest.mark.parametrize("example", ["lending", "hierarchy", "drfh", "wide", "mapreduce"])
def test_a_dict_is_its_file(example: str, examples: Path) -> None:
    file = examples / f"{example}.toml"
    data = tomllib.loads(file.read_text())
    of_dict = meed.simulate(data, name=str(file), folder=examples)
    assert of_dict.json() == meed.simulate(file).json()


def test_tables_are_the_json(examples: Path) -> None:
    results = meed.simulate(examples / "lending.toml", ["fair", "long-term"], series=30)
    runs = results.to_dict()["runs"]
    assert results.policies == ["fair", "long-term"] == list(results.summary["policy"])
    rows = [(run["policy"], row) for run in runs for row in run["queues"]]
    assert results.tenants.rows == len(rows)
    assert list(results.tenants["policy"]) == [policy for policy, _ in rows]
    same(results.tenants, [row for _, row in rows])
    assert results.groups.rows == 0
    same(results.summary, runs)
    points = [
        (run["policy"], tenant["queue"], at)
        for run in runs
        for tenant in run["queues"]
        for at in run["series"]["t_s"]
    ]
    assert list(results.series["policy"]) == [point[0] for point in points]
    assert list(results.series["queue"]) == [point[1] for point in points]
    assert list(results.series["t_s"]) == [point[2] for point in points]
    for name in ["demand", "allocation", "usage", "rho", "balance", "charged"]:
        lines = [line[name] for run in runs for line in run["series"]["queues"]]
        equal(results.series[name], [value for line in lines for value in line])
    for name in ["psi", "omega"]:
        lines = [run["series"][name] for run in runs]
        equal(results.pool_series[name], [value for line in lines for value in line])
    used = [value for run in runs for value in run["series"]["utilization"]["cpu"]]
    equal(results.pool_series["utilization_cpu"], used)


def test_groups_are_the_json(examples: Path) -> None:
    results = meed.simulate(examples / "hierarchy.toml")
    groups = [row for run in results.to_dict()["runs"] for row in run["groups"]]
    assert results.groups.rows == len(groups) > 0
    same(results.groups, groups)


def same(table: meed.Table, rows: list[dict[str, Any]]) -> None:
    """Each column of the table is the field of that name, or of an object in it."""
    compared = 0
    for name, column in table.items():
        if name == "policy":
            continue
        if name in rows[0]:
            values = [row.get(name) for row in rows]
        elif name.startswith("overtaken_"):
            values = [row["overtaken"][name.removeprefix("overtaken_")] for row in rows]
        else:
            field, resource = name.rsplit("_", 1)
            values = [row[field][resource] for row in rows]
        equal(column, values)
        compared += 1
    assert compared >= 2


def equal(column: Any, values: list[Any]) -> None:
    assert len(column) == len(values)
    for found, value in zip(column.tolist(), values, strict=True):
        is_missing = value is None and isinstance(found, float) and math.isnan(found)
        assert is_missing or found == value


def test_jobs_are_the_programs(examples: Path, meed_program: Run, tmp_path: Path) -> None:
    file, jobs = examples / "lending.toml", tmp_path / "jobs.csv"
    assert meed_program("simulate", file, "--jobs", jobs, "--quiet").returncode == 0
    with jobs.open() as lines:
        told = list(csv.DictReader(lines))
    table = meed.simulate(file).jobs
    assert table.rows == len(told) > 100
    assert list(table) == list(told[0])
    for name, column in table.items():
        for found, row in zip(column.tolist(), told, strict=True):
            if isinstance(found, float):
                assert math.isnan(found) if row[name] == "" else found == float(row[name])
            else:
                assert str(found) == row[name]


def test_jobs_that_are_not_kept_are_asked_for() -> None:
    results = meed.simulate(SMALL, "fair", keep_jobs=False)
    with pytest.raises(meed.Error, match="keep_jobs=True"):
        _ = results.jobs
    with pytest.raises(meed.Error, match="series=400"):
        _ = results.series


def test_text_and_report(tmp_path: Path, examples: Path, meed_program: Run) -> None:
    file = examples / "table1.toml"
    results = meed.simulate(file)
    assert results.text(120) in meed_program("simulate", file).stdout
    results.write_report(tmp_path / "report.html")
    assert "<html" in (tmp_path / "report.html").read_text()


def test_an_error_is_the_programs(tmp_path: Path, meed_program: Run) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('[cluster]\nresources = ["cpu"]\nnodes = 3\n')
    for file, arguments in [(wrong, []), (tmp_path / "absent.toml", []), (wrong, ["-p", "fare"])]:
        told = meed_program("simulate", file, *arguments)
        with pytest.raises(meed.Error) as raised:
            meed.simulate(file, arguments[1:] or None)
        assert told.stderr == f"meed: {raised.value}\n"
        assert told.returncode == raised.value.code


def test_an_unknown_policy_is_an_error() -> None:
    with pytest.raises(meed.Error, match="did you mean `fair`") as raised:
        meed.simulate(SMALL, "fare")
    assert raised.value.code == 3


class Strange:
    """What no scenario holds."""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"jobs": []}, "unknown field `jobs`"),
        ({"queue": [{"name": "ads", "weight": Strange()}]}, "`queue.0.weight` is of type Strange"),
        ({"queue": [None]}, "`queue.0` is None"),
        ({"run": {"seed": 1 << 70}}, "whole numbers end at 2\\^63"),
        ({"run": {5: 1}}, "has the key 5; keys are text"),
        ({"run": {"until": datetime.timedelta(seconds=-1)}}, "durations are 0 to 285 years"),
        ({"run": {"until": np.datetime64("2020-01-01")}}, "numpy's type datetime64"),
    ],
)
def test_what_is_no_scenario_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(meed.Error, match=words):
        meed.simulate({**SMALL, **change}, "fair")


def test_a_scenario_that_holds_itself_is_refused() -> None:
    data = dict(SMALL)
    data["run"] = data
    with pytest.raises(meed.Error, match="does it hold itself"):
        meed.simulate(data, "fair")


def test_values_of_python_and_numpy() -> None:
    plain = meed.simulate(SMALL, "fair").json()
    jobs = [
        {**SMALL["job"][0], "tasks": np.int32(4), "duration": datetime.timedelta(hours=1)},
        {
            **SMALL["job"][1],
            "submit": np.timedelta64(30, "m"),
            "duration": np.array([600, 600, 600]),
            "demand": {"slot": np.float32(1.0)},
            "name": None,
        },
    ]
    queues = ({"name": "ads"}, {"name": "search", "weight": np.float64(2)})
    other = meed.simulate({**SMALL, "job": jobs, "queue": queues}, "fair").json()
    assert other == plain


def test_remarks_are_warnings(tmp_path: Path) -> None:
    file = tmp_path / "jobs.csv"
    file.write_text("tenant,start,duration,slot\na,0,60,1\nb,10,60,oops\n")
    trace = {"file": file, "format": "csv", "map": {"tenant": "tenant", "submit": "start"}}
    with pytest.warns(meed.Remark, match="jobs.csv:3"):
        results = meed.simulate({"cluster": SMALL["cluster"], "trace": trace}, "fair")
    assert any("jobs.csv:3" in remark for remark in results.remarks)
    assert results.summary["skipped_lines"][0] == 1


def test_a_scenario_is_read_once() -> None:
    scenario = meed.Scenario(SMALL, name="small")
    assert (scenario.name, scenario.queues, scenario.resources) == (
        "small",
        ["ads", "search"],
        ["slot"],
    )
    assert scenario.policies == ["static", "fair", "long-term"]
    first = meed.simulate(scenario, "fair").json()
    assert first == meed.simulate(scenario, "fair").json()
    assert json.loads(first)["scenario"] == "small"
    with pytest.raises(meed.Error, match="belong to the scenario"):
        meed.simulate(scenario, "fair", sets=["run.seed=1"])


def test_ctrl_c_ends_a_run() -> None:
    with interrupted(0.3, within=5):
        meed.simulate(long_run(100_000_000), "fair", keep_jobs=False)


def test_other_threads_go_on() -> None:
    with others_go_on(50):
        meed.simulate(long_run(1_000_000), "fair", keep_jobs=False)


def test_progress_is_told_and_may_end_a_run() -> None:
    told: list[tuple[str, float, int, float | None]] = []

    def progress(policy: str, now: float, jobs: int, part: float | None) -> None:
        told.append((policy, now, jobs, part))
        if len(told) == 3:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        meed.simulate(long_run(100_000_000), "fair", keep_jobs=False, progress=progress)
    assert [policy for policy, *_ in told] == ["fair"] * 3
    assert told[0][1] < told[1][1] < told[2][1]


def test_two_runs_at_once() -> None:
    scenario = meed.Scenario(long_run(100_000))
    alone = meed.simulate(scenario, "fair").json()
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(meed.simulate(scenario, "fair").json()))
        for _ in range(4)
    ]
    with warnings.catch_warnings():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [alone] * 4
