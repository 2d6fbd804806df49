"""Pictures by matplotlib: the first ones of the program's reports.

It needs matplotlib: ``pip install 'meed[plot]'``. Each function draws into the axes ``ax``, or into
new ones, and returns them: what else is wanted is matplotlib's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from meed import _native
from meed._answers import Advice, Sweep
from meed._results import Results

try:
    from matplotlib import pyplot
except ImportError as why:
    raise ImportError("meed.plot needs matplotlib; pip install 'meed[plot]' brings it") from why

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["candidates", "memory", "over_time", "tenants"]

# More tenants are no picture: those with the largest difference are shown.
_MOST = 40
_HOUR = 3600.0


def _axes(ax: Axes | None, height: float) -> Axes:
    if ax is not None:
        return ax
    made: Axes = pyplot.subplots(figsize=(8, height), layout="constrained")[1]
    return made


def _run(results: Results, policy: str | None, others: Iterable[str]) -> str:
    """The policy that is meant: the last one, unless another is named."""
    if policy is None:
        named = [one for one in results.policies if one not in others]
        policy = named[-1] if named else results.policies[-1]
    if policy not in results.policies:
        raise _native.Error(f"no run of {policy}; there are {', '.join(results.policies)}")
    return policy


def tenants(
    results: Results,
    policy: str | None = None,
    *,
    against: str | None = None,
    figure: str = "mean_job_s",
    ax: Axes | None = None,
) -> Axes:
    """Who gains and who loses: a row for each tenant, from what it had under ``against`` (the
    baseline, ``fair``, or the first policy) to what it has under ``policy`` (the last one).

    ``figure`` is a column of ``results.tenants`` in seconds. Of many tenants those with the largest
    differences are shown.
    """
    usual = "fair" if "fair" in results.policies else results.policies[0]
    base = _run(results, against or results.baseline or usual, ())
    chosen = _run(results, policy, [base, "static"])
    before, after = results.tenants.where(policy=base), results.tenants.where(policy=chosen)
    pairs = zip(before["queue"], before[figure], after[figure], strict=True)
    rows = [(str(queue), one / _HOUR, two / _HOUR) for queue, one, two in pairs]
    rows = [row for row in rows if np.isfinite(row[1]) and np.isfinite(row[2])]
    rows.sort(key=lambda row: abs(row[2] - row[1]), reverse=True)
    rows = sorted(rows[:_MOST], key=lambda row: row[2] - row[1], reverse=True)
    axes = _axes(ax, 1.2 + 0.28 * max(len(rows), 3))
    places = np.arange(len(rows))
    old, new = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    colours = ["#0b7a75" if gain else "#b23a48" for gain in new <= old]
    axes.hlines(places, old, new, colors=colours, linewidth=2)
    axes.plot(old, places, "o", markerfacecolor="white", markeredgecolor="#555", label=base)
    axes.scatter(new, places, c=colours, marker="D", s=28, zorder=3, label=chosen)
    axes.set_yticks(places, [row[0] for row in rows])
    if len(rows) > 1 and old.min() > 0 and max(old.max(), new.max()) > 50 * old.min():
        axes.set_xscale("log")
    axes.set_xlabel(f"{figure.removesuffix('_s').replace('_', ' ')} [h]")
    axes.set_title(f"{chosen} instead of {base}")
    axes.legend(loc="best", frameon=False)
    axes.grid(axis="x", alpha=0.3)
    return axes


def over_time(
    results: Results,
    policy: str | None = None,
    *,
    value: str = "allocation",
    ax: Axes | None = None,
) -> Axes:
    """What each tenant holds over time, one on the other (``value="allocation"``); or a line for
    each, of another column of ``results.series``. It needs ``simulate(..., series=400)``."""
    chosen = _run(results, policy, ())
    series = results.series.where(policy=chosen)
    names = list(dict.fromkeys(series["queue"].tolist()))
    lines = {name: series["queue"] == name for name in names}
    if len(names) > _MOST:
        total = {name: float(np.nansum(series[value][at])) for name, at in lines.items()}
        names = sorted(names, key=lambda name: total[name], reverse=True)[:_MOST]
    axes = _axes(ax, 4)
    hours = series["t_s"][lines[names[0]]] / _HOUR
    columns: list[Any] = [series[value][lines[name]] for name in names]
    if value == "allocation":
        axes.stackplot(hours, *columns, labels=names, step="post")
    else:
        for name, column in zip(names, columns, strict=True):
            axes.plot(hours, column, label=name, drawstyle="steps-post")
    axes.set_xlabel("time [h]")
    axes.set_ylabel(value)
    axes.set_title(chosen)
    if len(names) <= 12:
        axes.legend(loc="upper right", frameon=False)
    axes.margins(x=0)
    return axes


def candidates(advice: Advice, *, figure: str | None = None, ax: Axes | None = None) -> Axes:
    """A row for each candidate of ``meed.advise``: a figure (the aimed one) over the runs, from the
    smallest to the largest, and its mean. Those that are as good as the chosen one are marked."""
    named = figure or advice.aim
    table = advice.candidates
    axes = _axes(ax, 1.2 + 0.28 * table.rows)
    places = np.arange(table.rows)[::-1]
    scale = 1.0 if named == "below" else _HOUR
    mean, least, most = (table[f"{named}_{of}"] / scale for of in ("mean", "least", "most"))
    axes.hlines(places, least, most, colors="#999", linewidth=2)
    marks = {"chosen": ("D", "#0b7a75"), "as good": ("o", "#0b7a75"), "others": ("o", "#555")}
    is_good = table["as_good"] & ~table["chosen"]
    kinds = [table["chosen"], is_good, ~(table["chosen"] | is_good)]
    for (label, (mark, colour)), at in zip(marks.items(), kinds, strict=True):
        if at.any():
            axes.plot(mean[at], places[at], mark, color=colour, label=label)
    axes.axvline(float(mean[0]), color="#555", linewidth=1, linestyle=":")
    axes.set_yticks(places, table["policy"])
    axes.set_xlabel(f"{named} [tenants]" if named == "below" else f"{named} [h]")
    axes.set_title(f"compared with {advice.baseline} (dotted)")
    axes.legend(loc="best", frameon=False)
    axes.grid(axis="x", alpha=0.3)
    return axes


def memory(swept: Sweep, setting: str, figure: str, *, ax: Axes | None = None) -> Axes:
    """A figure of a sweep over one of its settings, a line for each policy; of several points the
    mean."""
    points = swept.points
    axes = _axes(ax, 4)
    for policy in dict.fromkeys(points["policy"].tolist()):
        of = points.where(policy=policy)
        values = list(dict.fromkeys(of[setting].tolist()))
        means = [float(np.nanmean(of[figure][of[setting] == value])) for value in values]
        axes.plot([str(value) for value in values], means, "o-", label=policy)
    axes.set_xlabel(setting)
    axes.set_ylabel(figure)
    axes.legend(loc="best", frameon=False)
    axes.grid(alpha=0.3)
    return axes
