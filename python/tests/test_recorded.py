"""Recorded runs: explained, run otherwise, and verified."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import meed
import pytest
from conftest import Run

pytestmark = pytest.mark.filterwarnings("ignore::meed.Remark")


@pytest.fixture
def log(examples: Path, tmp_path: Path) -> Path:
    file = tmp_path / "run.jsonl.zst"
    meed.simulate(examples / "lending.toml", "long-term", log=file)
    return file


def test_an_explanation_is_the_programs(log: Path, meed_program: Run) -> None:
    told = meed_program("explain", log, "--queue", "ads", "--json")
    explanation = meed.explain(log, queue="ads")
    assert explanation.json() == told.stdout
    assert explanation.text() == meed_program("explain", log, "--queue", "ads").stdout
    assert "ads" in explanation.queues["queue"].tolist()
    assert explanation.queues.rows == sum(
        len(level["children"]) for level in explanation.to_dict()["levels"]
    )


def test_all_queues_at_an_instant(log: Path, meed_program: Run) -> None:
    told = json.loads(meed_program("explain", log, "--at", "9h", "--json").stdout)
    for at in ["9h", 9 * 3600, datetime.timedelta(hours=9)]:
        queues = meed.explain(log, at=at).queues
        assert queues["queue"].tolist() == [one["queue"] for one in told["queues"]]
        assert queues["held"].tolist() == [one["held"] for one in told["queues"]]
    with pytest.raises(meed.Error, match="name a --job or a --queue"):
        meed.explain(log)
    with pytest.raises(meed.Error, match="nobody"):
        meed.explain(log, queue="nobody")


def test_a_replay_is_the_programs(log: Path, meed_program: Run, tmp_path: Path) -> None:
    told = meed_program("replay", log, "-p", "fair", "--series", "20", "--json", "-")
    assert told.returncode == 0, told.stderr
    again = meed.replay(log, "fair", series=20)
    assert again.json() == told.stdout
    assert again.policies == ["long-term (recorded)", "fair"]
    other = meed.replay(log, weights={"ads": 3}, sets=["queue.science.weight=2"])
    tenants = other.tenants.where(policy=other.policies[-1])
    weights = dict(zip(tenants["queue"], tenants["weight"], strict=True))
    assert (weights["ads"], weights["science"]) == (3.0, 2.0)
    written = tmp_path / "again.jsonl"
    meed.replay(log, "fair", to=written)
    assert meed.verify(written)
    with pytest.raises(meed.Error, match="overwrite the input"):
        meed.replay(log, "fair", to=log)


def test_what_was_changed_is_found(log: Path, tmp_path: Path, meed_program: Run) -> None:
    assert meed.verify(log) and repr(meed.verify(log)) == "<meed.Verified: as recorded>"
    plain = tmp_path / "plain.jsonl"
    meed.replay(log, to=plain)
    lines = plain.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if '"start"' in line)
    lines[at] = lines[at].replace('"node":"node-0"', '"node":"node-1"')
    plain.write_text("\n".join(lines) + "\n")
    verified = meed.verify(plain)
    assert not verified and verified.line == at + 1
    assert verified.recorded == lines[at] != verified.replayed
