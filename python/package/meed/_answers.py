"""What many runs have shown."""

from __future__ import annotations

import json
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from meed import _native
from meed._results import WIDTH
from meed._rows import table_of
from meed._table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Answer:
    """An answer: as text, as JSON, as a page, and as tables. It can be pickled."""

    def __init__(
        self,
        native: _native.Answer | Printed,
        remarks: list[str] | None = None,
        assumptions: list[str] | None = None,
    ) -> None:
        self._native = native
        self._remarks = remarks or []
        self._assumptions = assumptions

    @property
    def remarks(self) -> list[str]:
        """What the program would remark."""
        return self._remarks + self._native.remarks

    @property
    def assumptions(self) -> list[str]:
        """What the input does not hold and Meed assumed."""
        if self._assumptions is not None:
            return self._assumptions
        assumed: list[str] = self._whole.get("assumptions", [])
        return assumed

    def json(self) -> str:
        """What the command of the same name prints with ``--json``."""
        return self._native.json

    def to_dict(self) -> dict[str, Any]:
        """The same, as Python's values."""
        read: dict[str, Any] = json.loads(self.json())
        return read

    @cached_property
    def _whole(self) -> dict[str, Any]:
        return self.to_dict()

    def text(self, width: int = WIDTH) -> str:
        """What the command prints on a terminal of that width."""
        return self._native.text(width)

    def write_report(self, path: str | PathLike[str]) -> None:
        """Writes the page that the command writes with ``--report``."""
        Path(path).write_text(self._native.html(), encoding="utf-8")

    def __reduce__(self) -> Any:
        return type(self), (Printed.of(self._native), self._remarks, self._assumptions)

    def __str__(self) -> str:
        return self.text()


class Printed:
    """An answer without what is compiled: another process can have it."""

    def __init__(self, json: str, remarks: list[str], text: str, html: str) -> None:
        self.json, self.remarks = json, remarks
        self._text, self._html = text, html

    @staticmethod
    def of(native: _native.Answer | Printed) -> Printed:
        """All forms of an answer."""
        if isinstance(native, Printed):
            return native
        return Printed(native.json, native.remarks, native.text(WIDTH), native.html())

    def text(self, _: int) -> str:
        """Of one width."""
        return self._text

    def html(self) -> str:
        """The page."""
        return self._html


class Advice(Answer):
    """Which memory serves one's aims (docs/advise.md)."""

    @property
    def chosen(self) -> str:
        """The policy to choose; the baseline where nothing is better beyond chance."""
        return str(self._whole["chosen"])

    @property
    def baseline(self) -> str:
        """What all are compared with."""
        return str(self._whole["baseline"])

    @property
    def aim(self) -> str:
        """The figure that is to be small."""
        return str(self._whole["aim"])

    @cached_property
    def candidates(self) -> Table:
        """A row for each candidate, the baseline first: each figure's ``mean``, ``least`` and
        ``most`` over the runs and its ``ratio`` to the baseline, as in ``light_mean``; whether it
        is as good as the chosen one; the figures that are beyond their bounds."""
        rows = []
        for one in self._whole["candidates"]:
            figures = {name: of or {"mean": None} for name, of in one["figures"].items()}
            rows.append(
                {
                    "policy": one["policy"],
                    "chosen": one["policy"] == self.chosen,
                    "as_good": one["as_good"],
                    "gains": one["gains"],
                    "beyond": ", ".join(one["beyond"]),
                    **figures,
                }
            )
        return table_of(rows)

    @cached_property
    def settings(self) -> Table:
        """A row for each scheduler: the lines that give it the chosen memory."""
        return table_of(self._whole["settings"])

    @cached_property
    def sizes(self) -> Table:
        """A row for each other size of the cluster, where its size is assumed."""
        return table_of(self._whole["sizes"])

    def plot(self, ax: Axes | None = None) -> Axes:
        """The aimed figure of each candidate, as ``meed.plot.candidates`` draws it."""
        from meed import plot

        return plot.candidates(self, ax=ax)

    def __repr__(self) -> str:
        return f"<meed.Advice: {self.chosen}, compared with {self.baseline}>"

    def _repr_html_(self) -> str:
        return self.candidates._repr_html_()


class Sweep(Answer):
    """A scenario at each combination of some settings (docs/sweep.md)."""

    @cached_property
    def points(self) -> Table:
        """A row for each point: its settings, policy and seed, and what was measured. A setting
        whose values are all numbers is a column of numbers."""
        points = self._whole["points"]
        table = table_of({**one["parameters"], **one["measured"]} for one in points)
        names = list(points[0]["parameters"]) if points else []
        return Table({name: _numbers(column, name in names) for name, column in table.items()})

    @cached_property
    def gains(self) -> Table:
        """A row for each setting and policy: what it gains against the baseline."""
        gains = self._whole.get("gains", [])
        return table_of({**one["parameters"], **one["gains"]} for one in gains)

    def __repr__(self) -> str:
        return f"<meed.Sweep: {self.points.rows} points>"

    def _repr_html_(self) -> str:
        return self.points._repr_html_()


class Rivals(Answer):
    """Other schedulers' orders beside Meed's (docs/rivals.md)."""

    @cached_property
    def orders(self) -> Table:
        """A row for each order: each figure's mean, and its ``_least`` and ``_most`` over loads and
        seeds."""
        rows = []
        for one in self._whole["orders"]:
            figures: dict[str, Any] = {}
            for name, of in one["figures"].items():
                figures[name] = None if of is None else of["mean"]
                figures[f"{name}_least"] = None if of is None else of["least"]
                figures[f"{name}_most"] = None if of is None else of["most"]
            about = {"order": one["order"], "of": one["of"], "cadence_s": one["cadence_s"]}
            rows.append({**about, **figures})
        return table_of(rows)

    @cached_property
    def gains(self) -> Table:
        """A row for each order but the baseline: what it gains against that."""
        orders = self._whole["orders"]
        return table_of({"order": one["order"], **one["gains"]} for one in orders if one["gains"])

    def __repr__(self) -> str:
        return f"<meed.Rivals: {self.orders.rows} orders>"

    def _repr_html_(self) -> str:
        return self.orders._repr_html_()


class Audit(Answer):
    """Which properties hold under which order, as far as was searched (docs/properties.md)."""

    @cached_property
    def cells(self) -> Table:
        """A row for each property, policy and kind of tasks: the verdict, and of the worst
        counterexample its value, its tolerance and its story."""
        rows = []
        for one in self._whole["cells"]:
            worst = one["counterexample"] or {}
            rows.append(
                {
                    "property": one["property"],
                    "policy": one["policy"],
                    "tasks": one["tasks"],
                    "verdict": one["verdict"],
                    "trials": one["trials"],
                    "showed": one["showed"],
                    "mean": one["mean"],
                    "value": worst.get("value"),
                    "tolerance": worst.get("tolerance"),
                    "story": "\n".join(worst["story"]) if worst else None,
                }
            )
        return table_of(rows)

    def __repr__(self) -> str:
        found = int((self.cells["verdict"] == "counterexample").sum())
        return f"<meed.Audit: {found} counterexamples in {self.cells.rows} cells>"

    def _repr_html_(self) -> str:
        return self.cells._repr_html_()


def _numbers(column: Any, is_setting: bool) -> Any:
    """A setting's texts as numbers, where all of them are."""
    if not is_setting:
        return column
    try:
        return column.astype(float)
    except ValueError:
        return column
