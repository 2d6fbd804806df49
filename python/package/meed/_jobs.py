"""Jobs in columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from meed import _native
from meed._frames import arrays_of, is_text, names_of

# Names of the column with the tenant.
_QUEUES = {"queue", "tenant", "user"}


class Jobs:
    """Jobs in a frame: a row for each, of equal tasks of one stage.

    ``frame`` is a frame of pandas, polars or Arrow (anything with ``__arrow_c_stream__``), whose
    columns are read where they stand; or a mapping of numpy arrays and lists, which are copied.

    ``queue``, ``submit``, ``duration``, ``tasks``, ``name``, ``weight`` and ``limit`` say which
    column has what, where it is not called so. Times are seconds as numbers, or times of a
    calendar, which are counted from the earliest submission. ``demand`` says what each task holds
    of each resource: a column, or one amount for all rows; without it, columns that are called as a
    resource of the cluster.

    A frame that ``meed.read`` gave says more: rows with one ``number`` are a job, and ``stage``,
    ``gang`` and so on are read as they were written.
    """

    def __init__(
        self,
        frame: object,
        *,
        queue: str | None = None,
        submit: str | None = None,
        duration: str | None = None,
        tasks: str | None = None,
        name: str | None = None,
        weight: str | None = None,
        limit: str | None = None,
        demand: Mapping[str, str | float] | None = None,
    ) -> None:
        said = {
            "queue": queue,
            "submit": submit,
            "duration": duration,
            "tasks": tasks,
            "name": name,
            "weight": weight,
            "limit": limit,
        }
        columns = {thing: column for thing, column in said.items() if column is not None}
        amounts = None if demand is None else {key: _amount(one) for key, one in demand.items()}
        self._native = _read(frame, columns, amounts)

    @property
    def queues(self) -> list[str]:
        """Names of the tenants, in order of their first appearance."""
        return self._native.queues

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<meed.Jobs: {len(self)} jobs of {len(self.queues)} tenants>"


def _amount(given: object) -> int | float | str:
    if isinstance(given, str):
        return given
    if isinstance(given, (int, np.integer)):
        return int(given)
    if isinstance(given, (float, np.floating)):
        return float(given)
    raise _native.Error(f"demand: {given!r} is neither a column nor an amount")


def _read(
    frame: object,
    columns: dict[str, str],
    demand: dict[str, int | float | str] | None,
) -> _native.Jobs:
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            return _native.Jobs.of_arrow(frame, columns, demand)
        except ImportError:
            # pandas hands its columns over by pyarrow, which need not be there.
            pass
    return _native.Jobs.of_arrays(arrays_of(frame), columns, demand)


def is_plain(frame: Any) -> bool:
    """Whether a frame is called as ``Jobs`` wants it, so that nothing is to be guessed."""
    names = names_of(frame)
    has_all = {"submit", "duration"} <= set(names) and not _QUEUES.isdisjoint(names)
    return has_all and not any(is_text(frame[name]) for name in ("submit", "duration"))
