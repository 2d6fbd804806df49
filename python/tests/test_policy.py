"""Policies in Python: what they see, what they may answer, and that their runs are the engine's."""

from __future__ import annotations

import datetime
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import meed
import numpy as np
import pytest
from conftest import Run, interrupted, others_go_on

pytestmark = pytest.mark.filterwarnings("ignore::meed.Remark")

SLOT = {"slot": 1}
CROWD: dict[str, Any] = {
    "cluster": {"resources": ["slot"], "node": [{"count": 2, "capacity": {"slot": 4}}]},
    "queue": [
        {"name": "g", "weight": 2},
        {"name": "g.a"},
        {"name": "g.b", "weight": 3},
        {"name": "c", "weight": 0.5},
    ],
    "generator": [
        {
            "queue": queue,
            "jobs": 40,
            "tasks": {"uniform": [1.0, 6.0]},
            "duration": {"exponential": 50.0},
            "demand": SLOT,
            "arrivals": {"poisson": every},
        }
        for queue, every in [("g.a", "30s"), ("g.b", "40s"), ("c", "45s")]
    ],
}


def by_use(view: meed.View) -> Any:
    """What ``long-term`` serves by."""
    return view.used / view.weight


def by_holdings(view: meed.View) -> meed.Ranks:
    """What ``fair`` serves by, at each decision."""
    return meed.Ranks(step=1, per=np.round(view.weight * 1000).astype(int))


def starts(results: meed.Results) -> dict[str, list[float]]:
    return {name: results.jobs[name].tolist() for name in ["job", "start_s", "end_s"]}


def test_formulas_of_the_engine_make_its_runs() -> None:
    own = meed.simulate(CROWD, "long-term,quantum=0")
    told = meed.simulate(CROWD, meed.Policy(by_use, every=None))
    assert starts(told) == starts(own)
    assert told.policies == ["by_use"]
    assert told.tenants["usage_slot"].tolist() == own.tenants["usage_slot"].tolist()
    fair = meed.simulate(CROWD, "fair")
    told = meed.simulate(CROWD, meed.Policy(by_holdings, every="1h", name="mine"))
    assert starts(told) == starts(fair)
    assert starts(told) != starts(own)
    assert list(told.tenants["policy"]) == ["mine"] * 3


class Decayed:
    """Use that halves in an hour, as a ledger that ticks keeps it."""

    def __init__(self) -> None:
        self.ledger: Any = None

    def reset(self) -> None:
        self.ledger = None

    def __call__(self, view: meed.View) -> Any:
        if self.ledger is None:
            self.ledger = np.zeros(len(view.queues))
        self.ledger = self.ledger * 0.5 ** (view.elapsed / 3600) + view.lately
        return self.ledger / view.weight


def test_a_policy_with_a_memory_begins_anew_with_each_run() -> None:
    policy = meed.Policy(Decayed(), every="1min")
    first = meed.simulate(CROWD, ["fair", policy, policy, by_use])
    assert first.policies == ["fair", "Decayed", "Decayed", "by_use"]
    jobs = [starts_of(first, at) for at in range(4)]
    assert jobs[1] == jobs[2] != jobs[0]


def starts_of(results: meed.Results, run: int) -> list[float]:
    rows = results.jobs.rows // len(results.policies)
    return results.jobs["start_s"].tolist()[run * rows : (run + 1) * rows]


def test_what_a_policy_sees() -> None:
    seen: list[meed.View] = []

    def look(view: meed.View) -> Any:
        seen.append(view)
        return view.used

    results = meed.simulate(CROWD, meed.Policy(look, every=datetime.timedelta(minutes=1)))
    assert [view.time for view in seen] == [60.0 * tick for tick in range(len(seen))]
    assert seen[0].queues == ("g", "g.a", "g.b", "c") == tuple(meed.Scenario(CROWD).queues)
    assert seen[0].parents.tolist() == [-1, 0, 0, -1]
    assert seen[0].leaf.tolist() == [False, True, True, True]
    assert (seen[0].resource, seen[0].resources, seen[0].unit) == ("slot", ("slot",), 1000)
    assert seen[0].capacity.tolist() == [8.0]
    assert seen[0].weight.tolist() == [2.0, 1.0, 3.0, 0.5]
    assert seen[0].share.tolist() == [6.4, 1.6, 4.8, 1.6]
    used = np.zeros(4)
    for view in seen:
        used += view.lately
        assert np.allclose(used, view.used)
        assert np.allclose(view.used[0], view.used[1] + view.used[2])
        assert (view.held == view.running).all() and (view.held <= 8).all()
        assert (view.wants == view.held + view.waiting).all()
        assert (view.all_held[:, 0] == view.held).all()
        assert np.allclose(view.all_used[:, 0], view.used)
        assert (view.used >= 0).all() and not view.removed.any()
    end = float(results.summary["end_s"][0])
    assert end - 60 <= seen[-1].time < end
    with pytest.raises(ValueError, match="read-only"):
        seen[0].parents[0] = 3


def test_keys_in_many_forms_are_the_same() -> None:
    keys = [3, 1.5, 2, 1]
    forms: list[Any] = [
        keys,
        tuple(keys),
        np.array(keys),
        np.array(keys, dtype=np.float32),
        np.array(keys + keys)[:4],
        np.array([9, 3, 9, 1.5, 9, 2, 9, 1])[1::2],
        [Fraction(3), Fraction(3, 2), 2, True],
        {"c": 1, "g.b": 2, "g.a": 1.5, "g": 3},
        meed.Ranks([30, 15, 20, 10], per=10),
        [1e300, -1e300, float("inf"), float("-inf")],
    ]
    policies = [meed.Policy(lambda _, form=form: form, name="form") for form in forms]
    results = meed.simulate(CROWD, policies)
    runs = [starts_of(results, at) for at in range(len(forms))]
    assert all(run == runs[0] for run in runs[1:])
    pandas = pytest.importorskip("pandas")
    frame = meed.simulate(CROWD, lambda view: pandas.Series(keys))
    assert starts_of(frame, 0) == runs[0]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([1, 2, float("nan"), 3], "the key of queue `g.b` is nan"),
        ([1, 2, 3], "3 keys came back for 4 queues"),
        ([1, 2, 3, 4, 5], "5 keys came back for 4 queues"),
        ([1, None, 3, 4], "the key of queue `g.a` is None"),
        ([1, 2, "3", 4], "the key of queue `g.b` is '3'"),
        (["1", "2", "3", "4"], "the key of queue `g` is '1'"),
        ([1, 2, 3, 4j], "the key of queue `c` is 4j"),
        ([1, 2, 3, [4]], "wanted is a key for each queue"),
        ([[1, 2], [3, 4]], "wanted is a key for each queue"),
        (None, "a NoneType came back"),
        (7, "a int came back"),
        ("abcd", "a str came back"),
        ([1, 2, 3, 10**400], "keys are no numbers|the key of queue `c`"),
        ({"g": 1, "g.a": 2, "c": 3}, "queue `g.b` has no key"),
        ({"g": 1, "g.a": 2, "g.b": 3, "c": 4, "d": 5}, "there is no queue `d`"),
        (meed.Ranks([1, 2, -3, 4]), "amount of queue `g.b` is -3; this is not from 0 to"),
        (meed.Ranks(per=0), "per of queue `g` is 0; this is not from 1 to"),
        (meed.Ranks(step=2.5), "step of queue `g` is 2.5; this is not a whole number"),
        (meed.Ranks([1, 2]), r"amount has the shape \(2,\)"),
    ],
)
def test_what_is_no_key_is_refused(answer: Any, words: str) -> None:
    asked = 0

    def ask(view: meed.View) -> Any:
        nonlocal asked
        asked += 1
        return answer if view.time == 600 else view.used

    with pytest.raises(meed.Error, match=words) as raised:
        meed.simulate(CROWD, ["fair", meed.Policy(ask, every=300, name="odd")])
    assert str(raised.value).startswith("policy `odd` at 600 s: ")
    assert raised.value.code == 3 and asked == 3


def test_what_a_policy_raises_ends_the_run(tmp_path: Path) -> None:
    def ask(view: meed.View) -> Any:
        if view.time >= 300:
            raise LookupError("it was here")
        return view.used

    log = tmp_path / "run.jsonl"
    with pytest.raises(LookupError, match="it was here") as raised:
        meed.simulate(CROWD, meed.Policy(ask, every="1min"), log=log)
    assert raised.traceback[-1].name == "ask"
    assert not log.exists()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: meed.Policy(by_use, every="soon"), "every: .*soon"),
        (lambda: meed.Policy(by_use, every=0), "every: a cadence is above zero"),
        (lambda: meed.Policy(by_use, every=-5), "every: "),
        (lambda: meed.Policy(by_use, every=float("nan")), "every: "),
        (lambda: meed.Policy(by_use, every=[]), "is no cadence"),  # type: ignore[arg-type]
        (lambda: meed.Policy(5), "a policy is called; 5 cannot be"),  # type: ignore[arg-type]
        (lambda: meed.simulate(CROWD, meed.Policy(by_use, settings="x=1")), "x"),
        (lambda: meed.simulate(CROWD, [meed.Policy(by_use), 5]), "5 cannot be"),  # type: ignore
    ],
)
def test_what_is_no_policy_is_refused(make: Any, words: str) -> None:
    with pytest.raises(meed.Error, match=words):
        make()


def test_the_mapreduce_world_is_told_nothing(examples: Path) -> None:
    with pytest.raises(meed.Error, match="MapReduce world"):
        meed.simulate(examples / "mapreduce.toml", by_use)


def test_settings_are_those_of_the_order() -> None:
    wide = {"queue": "c", "submit": "10min", "tasks": 1, "duration": "1h", "demand": {"slot": 4}}
    crowd = {**CROWD, "job": [wide]}
    plain = meed.simulate(crowd, meed.Policy(by_use))
    holds = meed.simulate(crowd, meed.Policy(by_use, settings="when_blocked=reserve"))
    assert starts(plain) != starts(holds)


def test_a_log_replays_without_the_policy(tmp_path: Path, meed_program: Run) -> None:
    log = tmp_path / "run.jsonl.zst"
    results = meed.simulate(CROWD, meed.Policy(Decayed(), every="1min", name="mine"), log=log)
    told = meed_program("replay", log, "--verify")
    assert told.returncode == 0, told.stderr
    told = meed_program("replay", log, "--json", "-")
    assert told.returncode == 0, told.stderr
    again, own = json.loads(told.stdout)["runs"][0], results.to_dict()["runs"][0]
    for queue, other in zip(own["queues"], again["queues"], strict=True):
        assert queue["mean_job_s"] == other["mean_job_s"]
        assert queue["usage"] == other["usage"]


class FairTree:
    """Slurm's: use that decays at each tick, over the weight (docs/rivals/fair-tree.md)."""

    def reset(self) -> None:
        self.ledger = np.zeros(3)

    def __call__(self, view: meed.View) -> Any:
        self.ledger = (self.ledger + view.lately) * (1 - 0.693 / 3600) ** 60
        return self.ledger / view.weight


def test_a_told_rival_is_a_twin(tmp_path: Path, meed_program: Run) -> None:
    flat = {**CROWD, "queue": [{"name": "a"}, {"name": "b", "weight": 3}, {"name": "c"}]}
    names = iter(["a", "b", "c"])
    flat["generator"] = [{**one, "queue": next(names)} for one in CROWD["generator"]]
    scenario = tmp_path / "flat.toml"
    scenario.write_text(meed.Scenario(flat).text)
    rival = "fair-tree,half_life=1h,cadence=1min"
    told = meed_program("rivals", scenario, "--policy", rival, "--policy", "fair", "--json")
    assert told.returncode == 0, told.stderr
    rival_figures, fair_figures = (one["figures"] for one in json.loads(told.stdout)["orders"])
    mine = meed.simulate(scenario, meed.Policy(FairTree(), every="1min")).to_dict()["runs"][0]
    for figure in ["mean_job_s", "p99_job_s", "end_s"]:
        assert mine[figure] == rival_figures[figure]["mean"], figure
    assert mine["mean_job_s"] != fair_figures["mean_job_s"]["mean"]


def test_a_log_is_written_over_no_input(tmp_path: Path) -> None:
    scenario = tmp_path / "crowd.toml"
    scenario.write_text(meed.Scenario(CROWD).text)
    before = scenario.read_text()
    with pytest.raises(meed.Error, match="log would overwrite the input"):
        meed.simulate(scenario, by_use, log=scenario)
    with pytest.raises(meed.Error) as raised:
        meed.simulate(scenario, by_use, log=tmp_path / "absent" / "run.jsonl")
    assert raised.value.code == 4
    assert scenario.read_text() == before


def test_two_runs_are_the_same(tmp_path: Path) -> None:
    logs = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for log in logs:
        meed.simulate(CROWD, meed.Policy(by_use, every=None), log=log)
    assert logs[0].read_bytes() == logs[1].read_bytes()


def test_progress_names_the_policy() -> None:
    names: set[str] = set()
    generators = [{**one, "jobs": 20_000} for one in CROWD["generator"]]

    def progress(policy: str, *_: object) -> None:
        names.add(policy)

    policy = meed.Policy(by_use, every="1h", name="mine")
    meed.simulate({**CROWD, "generator": generators}, policy, keep_jobs=False, progress=progress)
    assert names == {"mine"}


def test_ctrl_c_ends_a_run_in_the_policy() -> None:
    generators = [{**one, "jobs": 100_000_000} for one in CROWD["generator"]]
    scenario = {**CROWD, "generator": generators, "run": {"most_jobs": 1_000_000_000}}

    with interrupted(0.5, within=10):
        meed.simulate(scenario, meed.Policy(by_use, every=None), keep_jobs=False)


def test_other_threads_go_on_while_the_engine_runs() -> None:
    generators = [{**one, "jobs": 100_000} for one in CROWD["generator"]]
    policy = meed.Policy(by_use, every="1h")
    with others_go_on(20):
        meed.simulate({**CROWD, "generator": generators}, policy, keep_jobs=False)
