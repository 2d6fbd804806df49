"""The jobs of logs as frames, and back: what comes back runs as the log does."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import meed
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import Run

pytestmark = pytest.mark.filterwarnings("ignore::meed.Remark")

Frame = Callable[[meed.Log], Any]
FRAMES: list[Frame] = [
    lambda log: log.pandas(),
    lambda log: log.polars(),
    pl.DataFrame,
    pa.table,
    lambda log: log.where(),
]

SWF = """; MaxProcs: 64
; UnixStartTime: 1000000000
"""


def swf(tmp_path: Path, jobs: int = 200) -> Path:
    """A log with a header, waits, limits and users."""
    draw = np.random.default_rng(3)
    lines, now = [], 0
    for number in range(1, jobs + 1):
        now += int(draw.integers(0, 600))
        cpus, runs = int(draw.integers(1, 33)), int(draw.integers(60, 7200))
        user, wait = int(draw.integers(1, 6)), int(draw.integers(0, 900))
        fields = [number, now, wait, runs, cpus, -1, -1, cpus, runs * 2, -1, 1, user]
        lines.append(" ".join(map(str, [*fields, *[-1] * 6])))
    file = tmp_path / "log.swf"
    file.write_text(SWF + "\n".join(lines) + "\n")
    return file


def runs(results: meed.Results) -> list[dict[str, Any]]:
    """What was measured."""
    kept = ("mean_job_s", "mean_wait_s", "psi", "omega", "utilization", "queues")
    return [{name: run[name] for name in kept} for run in results.to_dict()["runs"]]


@pytest.mark.parametrize("frame", FRAMES)
def test_a_log_and_its_frame_run_alike(frame: Frame, tmp_path: Path) -> None:
    file = swf(tmp_path)
    log = meed.read(file)
    policies = ["fair", "long-term,half_life=1h"]
    assert runs(meed.simulate(log, policies)) == runs(meed.simulate(file, policies))
    again = meed.simulate(log, policies, jobs=frame(log))
    assert runs(again) == runs(meed.simulate(file, policies))
    # Backfilling with the users' limits is part of how the log is run.
    assert any("EASY" in note for note in again.assumptions)


def test_the_same_jobs_count_of_a_frame(tmp_path: Path) -> None:
    """What is left out of a log's figures is left out of a frame's, too."""
    file = swf(tmp_path, 2000)
    log, direct = meed.read(file), meed.simulate(file, "fair")
    again = meed.simulate(log, "fair", jobs=log.pandas())
    assert runs(again) == runs(direct)
    [run] = direct.to_dict()["runs"]
    assert 0 < sum(queue["jobs"] for queue in run["queues"]) < log.rows


def test_what_a_log_says(tmp_path: Path) -> None:
    log = meed.read(swf(tmp_path))
    assert isinstance(log, meed.Table) and log.rows == 200
    names = ["number", "name", "queue", "submit", "waited", "tasks", "duration", "cpu", "limit"]
    assert list(log) == names
    assert log.cluster["node"][0]["capacity"] == {"cpu": 64}
    assert not log.assumes_size and log.resources == ["cpu"] and len(log.queues) == 5
    assert log["number"].tolist() == list(range(200))
    assert (log["limit"] == log["duration"] * 2).all()
    assert log.zero == datetime.datetime(2001, 9, 9, 1, 46, 40, tzinfo=datetime.timezone.utc)
    back = pickle.loads(pickle.dumps(log))
    assert runs(meed.simulate(back, "fair")) == runs(meed.simulate(log, "fair"))


def test_a_filtered_frame_has_its_tenants_only(tmp_path: Path) -> None:
    log = meed.read(swf(tmp_path))
    frame = log.pandas()
    one = frame["queue"].iloc[0]
    less = frame[frame["queue"] != one]
    results = meed.simulate(log, "fair", jobs=less)
    assert one not in set(results.tenants["queue"])
    assert results.jobs.rows == len(less) < log.rows
    later = frame.assign(submit=frame["submit"] * 2)
    both = (meed.simulate(log, "fair"), meed.simulate(log, "fair", jobs=later))
    waits = [float(run.summary["mean_wait_s"][0]) for run in both]
    assert waits[1] < waits[0]


def test_jobs_of_several_groups_come_back(tmp_path: Path) -> None:
    slot = {"cpu": 2}
    lines = [
        '{"meed_trace":1,"resources":{"cpu":"milli"},"queues":["a","b"]}',
        '{"submit_s":0,"queue":"a","job":"maps","tasks":[{"count":3,"demand":{"cpu":1},'
        '"duration_s":[60,60,90]},{"stage":1,"count":2,"demand":{"cpu":2},"duration_s":30,'
        '"limit_s":60}]}',
        '{"submit_s":5,"queue":"b","job":7,"weight":3,"tasks":[{"count":4,"demand":{"cpu":1},'
        '"duration_s":20,"gang":4,"constraints":{"distinct_nodes":true}}]}',
    ]
    file = tmp_path / "trace.jsonl"
    file.write_text("\n".join(lines) + "\n")
    cluster = {"resources": ["cpu"], "node": [{"count": 4, "capacity": slot}]}
    log = meed.read(file, cluster=cluster)
    assert log["number"].tolist() == [0, 0, 0, 1] and log["stage"].tolist() == [0, 0, 1, 0]
    assert log["group"].tolist() == [0, 0, 1, 0] and log["tasks"].tolist() == [2, 1, 2, 4]
    assert log["weight"].tolist() == [1, 1, 1, 3]
    direct = meed.simulate(file, "fair", cluster=cluster)
    for frame in FRAMES:
        again = meed.simulate(log, "fair", jobs=frame(log))
        assert runs(again) == runs(direct)
        assert again.jobs["tasks"].tolist() == direct.jobs["tasks"].tolist() == [4, 5]


def test_a_frame_is_read_as_its_csv(examples: Path) -> None:
    file = examples / "jobs.csv"
    direct = meed.simulate(file, ["fair", "long-term"])
    for frame in [pd.read_csv(file), pl.read_csv(file), pl.read_csv(file, try_parse_dates=True)]:
        results = meed.simulate(frame, ["fair", "long-term"])
        assert runs(results) == runs(direct)
        # The cluster is assumed as it is of the file.
        cluster = [one for one in direct.assumptions if one.startswith("assumed cluster")]
        assert cluster and cluster[0] in results.assumptions


def test_frames_of_dates_and_durations(examples: Path) -> None:
    frame = pd.read_csv(examples / "jobs.csv")
    timed = frame.assign(
        submitted=pd.to_datetime(frame["submitted"], utc=True),
        runtime=pd.to_timedelta(frame["runtime_h"], unit="h"),
        team=frame["team"].astype("category"),
    ).drop(columns="runtime_h")
    assert runs(meed.simulate(timed, "fair")) == runs(meed.simulate(frame, "fair"))


def test_a_map_says_what_is_where(examples: Path, meed_program: Run, tmp_path: Path) -> None:
    frame = pd.read_csv(examples / "jobs.csv").rename(
        columns={"team": "who", "runtime_h": "took", "gpus": "boards"}
    )
    with pytest.raises(meed.Error, match="say which it is with"):
        meed.simulate(frame, "fair")
    named = {"tenant": "who", "duration": "took:h", "gpu": "boards"}
    results = meed.simulate(frame, "fair", map=named)
    assert runs(results) == runs(meed.simulate(examples / "jobs.csv", "fair"))
    cluster = {"resources": ["gpu"], "node": [{"count": 2, "capacity": {"gpu": 8}}]}
    beside = meed.simulate({"cluster": cluster}, "fair", jobs=frame, map=named)
    file = tmp_path / "renamed.csv"
    frame.to_csv(file, index=False)
    assert runs(beside) == runs(meed.simulate(file, "fair", map=named, cluster=cluster))


def test_weights_of_any_form(examples: Path, tmp_path: Path) -> None:
    file = tmp_path / "weights.csv"
    file.write_text("queue,weight\nvision,3\nspeech,2\n")
    table = pd.read_csv(file)
    pairs = {"vision": 3, "speech": 2}
    all_weights: list[Any] = [file, str(file), pairs, table, pl.DataFrame(table)]
    told = []
    for weights in all_weights:
        results = meed.simulate(examples / "jobs.csv", "fair", weights=weights)
        tenants = dict(zip(results.tenants["queue"], results.tenants["weight"], strict=True))
        assert tenants["vision"] == 3 and tenants["speech"] == 2, weights
        told.append(runs(results))
    assert all(one == told[0] for one in told)
    with pytest.raises(meed.Error, match="no row is of a queue here"):
        meed.simulate(examples / "jobs.csv", "fair", weights={"nobody": 1})


def test_a_cluster_of_the_site(examples: Path, tmp_path: Path, meed_program: Run) -> None:
    conf = tmp_path / "slurm.conf"
    conf.write_text("NodeName=n[1-4] CPUs=64 RealMemory=256000 Gres=gpu:8\n")
    csv = examples / "jobs.csv"
    told = meed_program("simulate", csv, "--cluster", conf, "-p", "fair", "--json", "-")
    assert told.returncode == 0, told.stderr
    assert meed.simulate(csv, "fair", cluster=conf, series=400).json() == told.stdout
    frame = pd.read_csv(csv)
    assert runs(meed.simulate(frame, "fair", cluster=conf)) == runs(
        meed.simulate(csv, "fair", cluster=conf)
    )


def test_refused_jobs_warn() -> None:
    cluster = {"resources": ["gpu"], "node": [{"capacity": {"gpu": 2}}]}
    frame = {"queue": ["a", "b"], "submit": [0, 1], "duration": [5, 5], "gpu": [1, 99]}
    with pytest.warns(meed.Remark, match="1 job is refused under fair: it is .*1.*b"):
        results = meed.simulate({"cluster": cluster}, "fair", jobs=frame)
    assert results.summary["refused"].tolist() == [1]
    assert any("refused" in remark for remark in results.remarks)


def test_what_cannot_be_is_said(examples: Path) -> None:
    frame = pd.read_csv(examples / "jobs.csv")
    with pytest.raises(meed.Error, match="a frame has its jobs"):
        meed.simulate(frame, jobs=frame)
    with pytest.raises(meed.Error, match="change the dict"):
        meed.simulate({"cluster": {}}, map={"tenant": "team"})
    with pytest.raises(meed.Error, match="no column holds"):
        meed.simulate(pl.DataFrame({"a": [[1], [2]]}))


@pytest.mark.parametrize(
    "name",
    [
        "swf/NASA-iPSC-1993-3.1-cln.swf.gz",
        "swf/MetaCentrum-wagap-2013.mwf.xz",
        "philly/philly_via_gavel_vc_jobs.csv.xz",
        "alibaba/gpu_v2023_openb_pod_list_default.csv.xz",
        "swim/FB-2009_samples_24_times_1hr_1.tsv.xz",
    ],
)
def test_real_logs_come_back(name: str, traces: Path) -> None:
    """Limits, gangs, constraints, stages: what the readers give is in the frame."""
    log = meed.read(traces / name)
    direct = meed.simulate(log, "fair", keep_jobs=False)
    again = meed.simulate(log, "fair", jobs=log.pandas(), keep_jobs=False)
    assert runs(again) == runs(direct)


def test_event_logs_of_spark_are_read_by_their_folder() -> None:
    folder = Path(__file__).parents[2] / "crates/meed-workload/tests/data/spark/yarn"
    held = meed.read(folder)
    needed = meed.read(folder, sets=["trace.shape=tasks"])
    assert held.pandas()["tasks"].sum() == 11 and needed.pandas()["tasks"].sum() == 44
    assert set(held.pandas()["queue"]) == {"a", "b"}
    assert any("idle" in words for words in held.assumptions)
