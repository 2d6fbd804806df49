"""Experiments: the program's own answers, and tables of them."""

from __future__ import annotations

import json
import multiprocessing
import pickle
from pathlib import Path
from typing import Any

import meed
import numpy as np
import pandas as pd
import pytest
from conftest import Run, interrupted
from test_read import swf

pytestmark = pytest.mark.filterwarnings("ignore::meed.Remark")


def told(program: Run, *arguments: object) -> Any:
    done = program(*arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_advice_is_the_programs(meed_program: Run, tmp_path: Path) -> None:
    file = swf(tmp_path, 400)
    asked = ["-p", "long-term,half_life=1h", "-p", "long-term", "--loads", "0.9,1"]
    whole = told(meed_program, "advise", file, *asked, "--at-most", "heavy=none", "--json")
    steps: list[tuple[int, int]] = []
    advice = meed.advise(
        file,
        ["long-term,half_life=1h", "long-term"],
        loads=[0.9, 1],
        at_most={"heavy": None},
        progress=lambda done, of: steps.append((done, of)),
    )
    assert advice.to_dict() == whole
    assert advice.chosen == whole["chosen"] and advice.assumptions == whole["assumptions"]
    table = advice.candidates
    assert table["policy"].tolist() == [one["policy"] for one in whole["candidates"]]
    means = [one["figures"]["light"]["mean"] for one in whole["candidates"]]
    assert table["light_mean"].tolist() == means
    assert int(table["chosen"].sum()) == 1
    assert all(0 <= done <= of for done, of in steps)
    page = tmp_path / "advice.html"
    advice.write_report(page)
    assert page.read_text().startswith("<!DOCTYPE html>") and advice.text().strip()
    # A frame, and a log whose frame comes back, are asked the same.
    log = meed.read(file)
    for source, jobs in [(log, None), (log, log.pandas())]:
        again = meed.advise(
            source,
            ["long-term,half_life=1h", "long-term"],
            jobs=jobs,
            loads=[0.9, 1],
            baseline=advice.baseline,
            at_most={"heavy": None},
        )
        assert again.to_dict()["candidates"] == whole["candidates"]


def test_advice_on_a_frame_says_what_it_rests_on(examples: Path) -> None:
    frame = pd.read_csv(examples / "jobs.csv")
    policies = ["long-term,half_life=1d", "long-term"]
    advice = meed.advise(frame, policies, loads=[1])
    assert any(note.startswith("assumed cluster") for note in advice.assumptions)
    assert advice.sizes.rows == 2
    assert advice.to_dict()["candidates"] == (
        meed.advise(examples / "jobs.csv", policies, loads=[1]).to_dict()["candidates"]
    )


def test_a_sweep_is_the_programs(examples: Path, meed_program: Run) -> None:
    file = examples / "lending.toml"
    over = ["--over", "half_life=1h,6h", "--over", "load=0.9..1.1 step 0.1"]
    whole = told(meed_program, "sweep", file, *over, "--baseline", "fifo", "--json")
    swept = meed.sweep(
        file, {"half_life": ["1h", "6h"], "load": "0.9..1.1 step 0.1"}, baseline="fifo"
    )
    assert swept.to_dict() == whole
    points = swept.points
    assert points.rows == len(whole["points"])
    assert points["load"].dtype == float and set(points["half_life"]) == {"1h", "6h"}
    assert points["mean_job_s"].tolist() == [
        one["measured"]["mean_job_s"] for one in whole["points"]
    ]
    assert swept.gains.rows == len(whole["gains"]) > 0


def test_rivals_are_the_programs(meed_program: Run, tmp_path: Path) -> None:
    file = swf(tmp_path)
    whole = told(meed_program, "rivals", file, "-p", "condor", "-p", "long-term", "--json")
    compared = meed.rivals(file, ["condor", "long-term"])
    assert compared.to_dict() == whole
    assert compared.orders["order"].tolist() == [one["order"] for one in whole["orders"]]
    assert compared.orders["of"].tolist()[-1] == "Meed"
    with pytest.raises(meed.Error, match="did you mean `condor`") as raised:
        meed.rivals(file, "condr")
    assert raised.value.code == 2


def test_an_audit_is_the_programs(tmp_path: Path) -> None:
    found = meed.audit(
        "fair", properties=["pareto", "overclaiming"], tasks="unit", trials=20, out=tmp_path / "out"
    )
    cells = found.cells
    assert cells.rows == 2
    verdicts = dict(zip(cells["property"], cells["verdict"], strict=True))
    assert verdicts["pareto"] == "proof" and verdicts["overclaiming"] == "counterexample"
    worst = cells.where(property="overclaiming")
    assert float(worst["value"][0]) > float(worst["tolerance"][0]) and worst["story"][0]
    case = next((tmp_path / "out").glob("*/honest.toml"))
    assert meed.simulate(case, "fair").tenants.rows >= 2
    with pytest.raises(meed.Error, match="unknown property `parto`"):
        meed.audit("fair", properties="parto")


def test_a_baseline_stands_first(examples: Path, meed_program: Run) -> None:
    file = examples / "lending.toml"
    asked = ["-p", "long-term", "--baseline", "condor", "--series", "20", "--json", "-"]
    whole = meed_program("simulate", file, *asked)
    assert whole.returncode == 0, whole.stderr
    results = meed.simulate(file, "long-term", baseline="condor", series=20)
    assert results.json() == whole.stdout
    assert results.baseline == "condor" and results.policies == ["condor", "fair", "long-term"]
    with pytest.raises(meed.Error, match="baseline"):
        meed.simulate(file, baseline="condr")


def measured(file: str) -> tuple[meed.Results, meed.Sweep]:
    return (
        meed.simulate(file, ["fair", "long-term"], series=10),
        meed.sweep(file, {"half_life": "1h,6h"}, "long-term"),
    )


def test_results_go_into_other_processes(examples: Path) -> None:
    file = str(examples / "lending.toml")
    own = measured(file)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        theirs = pool.apply(measured, (file,))
    for mine, other in [(own[0], theirs[0]), (own[0], pickle.loads(pickle.dumps(theirs[0])))]:
        assert other.json() == mine.json() and other.text() == mine.text()
        for name in ("summary", "tenants", "groups", "jobs", "series", "pool_series"):
            one, two = getattr(mine, name), getattr(other, name)
            assert list(one) == list(two)
            for column in one:
                assert np.array_equal(one[column], two[column]) or np.array_equal(
                    one[column], two[column], equal_nan=True
                )
        assert (other.policies, other.seed, other.assumptions) == (
            mine.policies,
            mine.seed,
            mine.assumptions,
        )
    assert theirs[1].to_dict() == own[1].to_dict() and theirs[1].text() == own[1].text()
    bare = pickle.loads(pickle.dumps(meed.simulate(file, "fair", keep_jobs=False)))
    with pytest.raises(meed.Error, match="keep_jobs=True"):
        _ = bare.jobs


def test_ctrl_c_ends_an_experiment(tmp_path: Path) -> None:
    file = swf(tmp_path, 4000)
    with interrupted(0.3, within=20):
        meed.advise(file, seeds=1, loads=[1 + at / 100 for at in range(50)])


def test_what_progress_raises_ends_an_experiment(tmp_path: Path) -> None:
    def enough(done: int, of: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        meed.rivals(swf(tmp_path, 3000), progress=enough)
