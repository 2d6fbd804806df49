"""What runs have left."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from meed import _native
from meed._table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: As wide is the text of what came out of another process.
WIDTH = 100


class Results:
    """What a scenario has come to under each policy.

    Tables are made when they are asked for, and kept. Columns are called as in the program's JSON
    (docs/json.md) and CSV (docs/jobs.md); what is there per resource has its name behind it, as in
    ``usage_cpu``.
    """

    def __init__(
        self, native: _native.Results | Kept, remarks: list[str], notes: Iterable[str] = ()
    ) -> None:
        self._native = native
        self._remarks = remarks
        self._notes = list(notes)

    @property
    def scenario(self) -> str:
        """What the scenario is called."""
        return self._native.scenario

    @property
    def seed(self) -> int:
        """Seed of all random choices."""
        return self._native.seed

    @property
    def policies(self) -> list[str]:
        """The policies, as they were asked for."""
        return self._native.policies

    @property
    def assumptions(self) -> list[str]:
        """What the input does not hold and Meed assumed, of its cluster first."""
        own = self._native.assumptions
        return [note for note in self._notes if note not in own] + own

    @property
    def remarks(self) -> list[str]:
        """What the program would remark: of the scenario, of lines that were left out, and of jobs
        that no node could hold."""
        return self._remarks

    @cached_property
    def summary(self) -> Table:
        """A row for each policy."""
        return Table(self._native.summary())

    @cached_property
    def tenants(self) -> Table:
        """A row for each tenant under each policy."""
        return Table(self._native.tenants())

    @cached_property
    def groups(self) -> Table:
        """A row for each parent queue under each policy."""
        return Table(self._native.groups())

    @cached_property
    def jobs(self) -> Table:
        """A row for each job under each policy, unless ``keep_jobs=False``."""
        return Table(self._native.jobs())

    @cached_property
    def series(self) -> Table:
        """A row for each sample of each tenant under each policy, with ``series=N``."""
        return Table(self._native.series())

    @cached_property
    def pool_series(self) -> Table:
        """A row for each sample under each policy, with ``series=N``."""
        return Table(self._native.pool_series())

    @property
    def baseline(self) -> str | None:
        """What all are compared with, where somebody named it."""
        return self._native.baseline

    def plot(self, policy: str | None = None, ax: Axes | None = None) -> Axes:
        """Who gains and who loses under a policy, as ``meed.plot.tenants`` draws it: the report's
        first picture. It needs matplotlib."""
        from meed import plot

        return plot.tenants(self, policy, ax=ax)

    def json(self) -> str:
        """What ``meed simulate --json -`` prints (docs/json.md)."""
        return self._native.json()

    def to_dict(self) -> dict[str, Any]:
        """The same, as Python's values."""
        read: dict[str, Any] = json.loads(self.json())
        return read

    def text(self, width: int = WIDTH) -> str:
        """What ``meed simulate`` prints on a terminal of that width."""
        return self._native.text(width)

    def write_report(self, path: str | PathLike[str]) -> None:
        """Writes the report that ``meed simulate --report`` writes, without its chart of nodes."""
        Path(path).write_text(self._native.html(), encoding="utf-8")

    def __reduce__(self) -> Any:
        return Results, (Kept.of(self), self._remarks, self._notes)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<meed.Results: {self.scenario} under {'; '.join(self.policies)}>"

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()


class Kept:
    """What results have left, without what is compiled: another process can have it."""

    def __init__(self, plain: dict[str, Any], made: dict[str, Any]) -> None:
        self._plain, self._made = plain, made

    @staticmethod
    def of(results: Results) -> Kept:
        """All forms of these results; of what they do not have, why not."""
        native = results._native
        if isinstance(native, Kept):
            return native
        fields = ("scenario", "seed", "policies", "assumptions", "skipped", "refused", "baseline")
        plain = {name: getattr(native, name) for name in fields}
        tables = ("summary", "tenants", "groups", "jobs", "series", "pool_series")
        made: dict[str, Any] = {name: _or_error(getattr(native, name)) for name in tables}
        made |= {"json": native.json(), "html": native.html(), "text": native.text(WIDTH)}
        return Kept(plain, made)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._plain:
            return self._plain[name]

        def made(*_: object) -> Any:
            value = self._made[name]
            if isinstance(value, Absent):
                raise _native.Error(value.why)
            return value

        return made


class Absent:
    """What results do not have."""

    def __init__(self, why: str) -> None:
        self.why = why


def _or_error(make: Callable[[], dict[str, Any]]) -> dict[str, Any] | Absent:
    try:
        return make()
    except _native.Error as why:
        return Absent(str(why))
