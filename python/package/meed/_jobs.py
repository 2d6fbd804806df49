"""Jobs in columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from meed import _native

# numpy's kinds of what is a number.
_WHOLE = "iub"
_SMALLEST = np.iinfo(np.int64).min


class Jobs:
    """Jobs in a frame: a row for each, of equal tasks of one stage.

    ``frame`` is a frame of pandas, polars or Arrow (anything with ``__arrow_c_stream__``), whose
    columns are read where they stand; or a mapping of numpy arrays and lists, which are copied.

    ``queue``, ``submit``, ``duration``, ``tasks``, ``name``, ``weight`` and ``limit`` say which
    column has what, where it is not called so. Times are seconds as numbers, or times of a
    calendar, which are counted from the earliest submission. ``demand`` says what each task holds
    of each resource: a column, or one amount for all rows; without it, columns that are called as a
    resource of the cluster.
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
    if hasattr(frame, "columns") and hasattr(frame, "to_numpy"):
        frame = {str(name): frame[name].to_numpy() for name in frame.columns}  # type: ignore[index]
    if not isinstance(frame, Mapping):
        raise _native.Error(
            f"jobs: a {type(frame).__name__} has no columns; give a frame of pandas, polars or "
            "Arrow, or a dict of arrays"
        )
    if not frame:
        raise _native.Error("jobs: there are no columns")
    arrays = [(str(name), *_column(str(name), values)) for name, values in frame.items()]
    return _native.Jobs.of_arrays(arrays, columns, demand)


def _column(name: str, values: Any) -> tuple[str, object]:
    """What kind of column it is, and the column in the form that is read."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise _native.Error(f"jobs: column {name!r} has {array.ndim} dimensions, not one")
    if array.size == 0:
        raise _native.Error(f"jobs: column {name!r} is empty: there are no rows")
    kind = array.dtype.kind
    if kind in _WHOLE and array.dtype != np.uint64:
        return "whole", np.ascontiguousarray(array, dtype=np.int64)
    if kind in "fu":
        return "real", np.ascontiguousarray(array, dtype=np.float64)
    if kind == "M":
        return "instant", _micros(array, "datetime64[us]")
    if kind == "m":
        return "span", _micros(array, "timedelta64[us]")
    return "text", [_name(value) for value in array.tolist()]


def _micros(array: Any, unit: str) -> Any:
    # Not a time is the smallest number, in numpy as in what reads it.
    assert np.datetime64("NaT", "us").view(np.int64) == _SMALLEST
    return np.ascontiguousarray(array.astype(unit).view(np.int64))


def _name(value: object) -> str | None:
    # NaN, as pandas has it, is not equal to itself.
    return None if value is None or value != value else str(value)
