"""Jobs in columns: the same runs, whatever the columns are made of."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import meed
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

ROWS = 500
CLUSTER: dict[str, Any] = {
    "cluster": {
        "resources": ["cpu", {"name": "memory", "unit": "bytes"}],
        "node": [{"count": 4, "capacity": {"cpu": 16, "memory": "64GiB"}}],
    }
}
NAMES = ["ads", "search", "science"]


def columns(seed: int = 1) -> dict[str, Any]:
    """Jobs that come in no order."""
    draw = np.random.default_rng(seed)
    return {
        "queue": [NAMES[at] for at in draw.integers(0, 3, ROWS)],
        "submit": draw.integers(0, 20_000, ROWS) / 4,
        "duration": draw.integers(1, 4000, ROWS) / 8,
        "tasks": draw.integers(1, 9, ROWS),
        "cpu": draw.integers(1, 17, ROWS) / 2,
        "memory": draw.integers(0, 1 << 33, ROWS),
    }


def inline(frame: dict[str, Any]) -> str:
    """The runs of the same jobs as a list of dicts; whoever comes first is named first."""
    jobs = [
        {
            "name": str(number),
            "queue": frame["queue"][number],
            "submit": float(frame["submit"][number]),
            "duration": float(frame["duration"][number]),
            "tasks": int(frame["tasks"][number]),
            "demand": {
                "cpu": float(frame["cpu"][number]),
                "memory": int(frame["memory"][number]),
            },
        }
        for number in range(ROWS)
    ]
    queues = [{"name": name} for name in dict.fromkeys(frame["queue"])]
    return runs(meed.simulate({**CLUSTER, "queue": queues, "job": jobs}, ["fair", "long-term"]))


def runs(results: meed.Results) -> str:
    """All that they say, but for the form of jobs' names."""
    text = results.json()
    for number in range(ROWS):
        text = text.replace(f'"job":"{number}"', f'"job":{number}')
    return text


def arrow(frame: dict[str, Any], **types: Any) -> pa.Table:
    return pa.table({name: pa.array(one, types.get(name)) for name, one in frame.items()})


def chunked(frame: dict[str, Any]) -> pa.Table:
    whole = arrow(frame)
    return pa.concat_tables([whole.slice(0, 100), whole.slice(100, 1), whole.slice(101)])


def categories(frame: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(frame).astype({"queue": "category", "tasks": "int16"})


START = np.datetime64("2026-03-01T12:00:00", "us")


def calendar(frame: dict[str, Any]) -> dict[str, Any]:
    """Times of a calendar, of which the first is where the clock begins."""
    micros = (np.asarray(frame["submit"]) * 1e6).astype("int64").astype("timedelta64[us]")
    spans = (np.asarray(frame["duration"]) * 1e6).astype("int64").astype("timedelta64[us]")
    return {**frame, "submit": START + micros, "duration": spans}


class WithoutPyarrow(pd.DataFrame):
    """A frame of pandas where pyarrow is not installed."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        raise ImportError("pyarrow is not there")


MAKERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "arrays": lambda frame: frame,
    "lists": lambda frame: {name: list(column) for name, column in frame.items()},
    "pandas": pd.DataFrame,
    "pandas, with categories": categories,
    "pandas, without pyarrow": WithoutPyarrow,
    "polars": pl.DataFrame,
    "polars, with categories": lambda frame: pl.DataFrame(frame).with_columns(
        pl.col("queue").cast(pl.Categorical)
    ),
    "arrow": arrow,
    "arrow, in chunks": chunked,
    "arrow, large and by number": lambda frame: arrow(
        frame, queue=pa.dictionary(pa.int8(), pa.large_string()), tasks=pa.uint8()
    ),
    "arrow, views": lambda frame: arrow(frame, queue=pa.string_view()),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_a_frame_is_its_list(maker: str) -> None:
    frame = columns()
    made = MAKERS[maker](frame)
    assert runs(meed.simulate(CLUSTER, ["fair", "long-term"], jobs=made)) == inline(frame)


@pytest.mark.parametrize("maker", ["arrays", "pandas", "pandas, without pyarrow", "polars"])
def test_times_of_a_calendar(maker: str) -> None:
    frame = columns(2)
    first = frame["submit"].min()
    made = MAKERS[maker](calendar(frame))
    shifted = {**frame, "submit": frame["submit"] - first}
    assert runs(meed.simulate(CLUSTER, ["fair", "long-term"], jobs=made)) == inline(shifted)


def test_columns_of_other_names() -> None:
    frame = columns(3)
    renamed = {
        "who": frame["queue"],
        "when": frame["submit"],
        "took": frame["duration"],
        "copies": frame["tasks"],
        "cores": frame["cpu"],
        "bytes": frame["memory"],
    }
    jobs = meed.Jobs(
        pl.DataFrame(renamed),
        queue="who",
        submit="when",
        duration="took",
        tasks="copies",
        demand={"cpu": "cores", "memory": "bytes"},
    )
    assert len(jobs) == ROWS
    assert sorted(jobs.queues) == sorted(NAMES)
    assert runs(meed.simulate(CLUSTER, ["fair", "long-term"], jobs=jobs)) == inline(frame)


def test_one_demand_for_all_names_and_limits() -> None:
    frame = {
        "tenant": [7, 7, 8],
        "submit": [0, 0, 5],
        "duration": [60, 60, 90],
        "job": ["a", "b", None],
        "limit": [30.0, float("nan"), 1000.0],
    }
    scenario = {**CLUSTER, "run": {"enforce_limit": True}}
    jobs = meed.Jobs(frame, demand={"cpu": 2, "memory": "1.5GiB"})
    table = meed.simulate(scenario, "fair", jobs=jobs).jobs
    assert list(table["queue"]) == ["7", "7", "8"]
    assert list(table["job"]) == ["a", "b", "2"]
    assert list(table["job_s"]) == [30.0, 60.0, 90.0]
    used = meed.simulate(scenario, "fair", jobs=jobs).tenants
    assert list(used["usage_cpu"]) == [180.0, 180.0]
    assert used["usage_memory"][1] == 90 * 1.5 * 2**30


def test_queues_of_the_scenario_keep_what_it_says() -> None:
    frame = columns(4)
    queues = [{"name": "science", "weight": 5}]
    tenants = meed.simulate({**CLUSTER, "queue": queues}, "fair", jobs=frame).tenants
    weights = dict(zip(tenants["queue"], tenants["weight"], strict=True))
    assert weights == {"science": 5.0, "ads": 1.0, "search": 1.0}


def test_a_file_takes_jobs(tmp_path: Any) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text(
        '[cluster]\nresources = ["cpu", { name = "memory", unit = "bytes" }]\n'
        '[[cluster.node]]\ncount = 4\ncapacity = { cpu = 16, memory = "64GiB" }\n'
    )
    frame = columns()
    of_file = runs(meed.simulate(file, ["fair", "long-term"], jobs=frame))
    assert of_file.replace(str(file), "scenario") == inline(frame)
    assert meed.simulate(file, "fair", jobs=frame, sets=["run.seed=7"]).seed == 7
    with pytest.raises(meed.Error, match="cannot be read") as raised:
        meed.simulate(tmp_path / "absent.toml", "fair", jobs=frame)
    assert raised.value.code == 4


def test_load_changes_when_they_come() -> None:
    frame = {"queue": ["a"] * 3, "submit": [0, 100, 200], "duration": [1, 1, 1], "cpu": [1, 1, 1]}
    for load, submits in [(1, [0, 100, 200]), (2, [0, 50, 100])]:
        table = meed.simulate({**CLUSTER, "run": {"load": load}}, "fair", jobs=frame).jobs
        assert list(table["submit_s"]) == submits


def test_columns_are_read_where_they_stand() -> None:
    # Arrow's own memory, not numpy's.
    frame = {name: list(column) * 100 for name, column in columns().items()}
    table = arrow(frame)
    size, held = table.nbytes, pa.total_allocated_bytes()
    assert size > 1_000_000
    jobs = meed.Jobs(table)
    # Handing it over takes Arrow some notes.
    assert pa.total_allocated_bytes() - held < size / 100
    scenario = meed.Scenario(CLUSTER, jobs=jobs)
    before = meed.simulate(scenario, "fair").json()
    # Whoever made the columns lets them go; they stay while somebody reads them.
    del table, jobs
    gc.collect()
    assert pa.total_allocated_bytes() >= held
    assert meed.simulate(scenario, "fair").json() == before
    del scenario
    gc.collect()
    assert pa.total_allocated_bytes() <= held - size


def test_an_array_may_change_afterwards() -> None:
    frame = columns()
    scenario = meed.Scenario(CLUSTER, jobs=frame)
    before = meed.simulate(scenario, "fair").json()
    frame["duration"][:] = 1
    assert meed.simulate(scenario, "fair").json() == before


def with_cell(name: str, row: int, value: object) -> dict[str, Any]:
    frame = {key: list(column) for key, column in columns().items()}
    frame[name][row] = value
    return frame


def without(name: str) -> dict[str, Any]:
    return {key: column for key, column in columns().items() if key != name}


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (without("submit"), "no column is known to be the submit"),
        (without("queue"), "no column is known to be the tenant"),
        ({**without("duration"), "took": columns()["duration"]}, "no column is known .*took"),
        ({}, "there are no columns"),
        ({name: [] for name in columns()}, "there are no rows"),
        (with_cell("queue", 7, None), "row 7 \\(counted from 0\\): `queue` is missing"),
        (with_cell("submit", 3, float("nan")), "row 3 .*: `submit` is missing"),
        (with_cell("submit", 3, -1.0), "row 3 .*: submit is -1 s; it must be 0"),
        (with_cell("duration", 9, float("nan")), "row 9 .*: duration is missing"),
        (with_cell("duration", 9, 1e300), "row 9 .*: duration is .*; it must be 0"),
        (with_cell("tasks", 2, 0), "row 2 .*: tasks is 0; it must be 1 to 16777216"),
        (with_cell("cpu", 1, -0.5), "row 1 .*: `cpu` is below 0"),
        (with_cell("cpu", 1, float("inf")), "row 1 .*: `cpu` is missing"),
        ({**columns(), "tasks": [0.5] * ROWS}, "`tasks` is of type Float64"),
        ({**columns(), "submit": ["now"] * ROWS}, "`submit` is of type Utf8"),
        ({**columns(), "queue": [0.5] * ROWS}, "`queue` is of type Float64"),
        ({**columns(), "cpu": np.zeros((2, 2))}, "has 2 dimensions"),
        ({**columns(), "cpu": [1]}, "differ in length"),
        (pa.table({"queue": pa.array([], pa.string())}).slice(0, 0), "no column|no rows"),
        ([1, 2], "a list has no columns"),
    ],
)
def test_what_is_no_job_is_refused(frame: object, words: str) -> None:
    with pytest.raises(meed.Error, match=words) as raised:
        meed.simulate(CLUSTER, "fair", jobs=frame)
    assert raised.value.code == 3


def test_demands_that_mean_nothing() -> None:
    frame = columns()
    for demand, words in [
        ({"gpu": 1}, "unknown resource `gpu`"),
        ({"cpu": "cores"}, "`cpu`: .*nor is there such a column"),
        ({"cpu": "queue"}, "`queue` is of type Utf8"),
        ({"cpu": -1}, "is negative; an amount is zero or more$"),
        ({"cpu": 0}, "holds nothing"),
    ]:
        with pytest.raises(meed.Error, match=words):
            meed.simulate(CLUSTER, "fair", jobs=meed.Jobs(frame, demand=demand))
    with pytest.raises(meed.Error, match="no column is called as a resource"):
        other = {"cluster": {"resources": ["gpu"], "node": [{"capacity": {"gpu": 1}}]}}
        meed.simulate(other, "fair", jobs=frame)
    with pytest.raises(meed.Error, match="there is no column `qeue`; did you mean `queue`"):
        meed.Jobs(frame, queue="qeue")


def test_a_trace_and_jobs_are_too_much() -> None:
    with pytest.raises(meed.Error, match="takes one of them|absent.swf"):
        meed.simulate({**CLUSTER, "trace": {"file": "absent.swf"}}, "fair", jobs=columns())
    with pytest.raises(meed.Error, match="MapReduce world, which is handed no jobs"):
        meed.simulate({"mapreduce": {}}, "fair", jobs=columns())
