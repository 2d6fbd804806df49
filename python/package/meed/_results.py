"""What runs have left."""

from __future__ import annotations

import json
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from meed import _native
from meed._table import Table


class Results:
    """What a scenario has come to under each policy.

    Tables are made when they are asked for, and kept. Columns are called as in the program's JSON
    (docs/json.md) and CSV (docs/jobs.md); what is there per resource has its name behind it, as in
    ``usage_cpu``.
    """

    def __init__(self, native: _native.Results, remarks: list[str]) -> None:
        self._native = native
        self._remarks = remarks

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
        """What the input does not hold and Meed assumed."""
        return self._native.assumptions

    @property
    def remarks(self) -> list[str]:
        """What the program would remark: of the scenario, and of lines that were left out."""
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

    def json(self) -> str:
        """What ``meed simulate --json -`` prints (docs/json.md)."""
        return self._native.json()

    def to_dict(self) -> dict[str, Any]:
        """The same, as Python's values."""
        read: dict[str, Any] = json.loads(self.json())
        return read

    def text(self, width: int = 100) -> str:
        """What ``meed simulate`` prints on a terminal of that width."""
        return self._native.text(width)

    def write_report(self, path: str | PathLike[str]) -> None:
        """Writes the report that ``meed simulate --report`` writes, without its chart of nodes."""
        Path(path).write_text(self._native.html(), encoding="utf-8")

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<meed.Results: {self.scenario} under {'; '.join(self.policies)}>"

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()
