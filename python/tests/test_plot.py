"""Pictures: they show what the tables say."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import meed
import pytest

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from meed import plot  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::meed.Remark")


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    yield
    pyplot.close("all")


def test_who_gains(examples: Path, tmp_path: Path) -> None:
    results = meed.simulate(examples / "lending.toml", ["fair", "long-term"])
    axes = results.plot()
    after = results.tenants.where(policy="long-term")
    before = results.tenants.where(policy="fair")
    drawn = {label.get_text() for label in axes.get_yticklabels()}
    assert drawn == set(after["queue"])
    points = sorted(float(x) for x in axes.collections[-1].get_offsets()[:, 0])
    assert points == pytest.approx(sorted(after["mean_job_s"] / 3600))
    olds = sorted(float(x) for x in axes.lines[0].get_xdata())
    assert olds == pytest.approx(sorted(before["mean_job_s"] / 3600))
    axes.figure.savefig(tmp_path / "gains.png")
    assert (tmp_path / "gains.png").stat().st_size > 5_000
    with pytest.raises(meed.Error, match="no run of fifo"):
        plot.tenants(results, "fifo")


def test_over_time(examples: Path) -> None:
    results = meed.simulate(examples / "lending.toml", ["fair", "long-term"], series=50)
    axes = plot.over_time(results, "long-term")
    names = set(results.tenants["queue"])
    assert {text.get_text() for text in axes.get_legend().get_texts()} == names
    lines = plot.over_time(results, "fair", value="rho").lines
    assert len(lines) == len(names)


def test_candidates_and_sweeps(examples: Path) -> None:
    advice = meed.advise(
        examples / "jobs.csv", ["long-term,half_life=1d", "long-term"], loads=[0.9, 1]
    )
    axes = advice.plot()
    policies = [label.get_text() for label in axes.get_yticklabels()]
    assert policies == advice.candidates["policy"].tolist()
    swept = meed.sweep(examples / "lending.toml", {"half_life": ["1h", "6h"]})
    lines = plot.memory(swept, "half_life", "mean_job_s").lines
    assert [line.get_label() for line in lines] == ["fair", "long-term"]
    means = swept.points.where(policy="long-term")["mean_job_s"]
    assert list(lines[1].get_ydata()) == pytest.approx(means)


def test_matplotlib_is_brought_only_when_asked_for() -> None:
    program = "import sys, meed; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
