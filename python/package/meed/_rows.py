"""Rows of JSON as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meed._table import Table


def table_of(rows: Iterable[Mapping[str, Any]]) -> Table:
    """A column for each name, in order of its first appearance. What is inside an object has the
    object's name before its own; a number that is not there is NaN, a text None."""
    flat = [dict(_flat("", row)) for row in rows]
    names = dict.fromkeys(name for row in flat for name in row)
    return Table({name: _column([row.get(name) for row in flat]) for name in names})


def _flat(before: str, row: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{before}{name}_", value)
        else:
            yield f"{before}{name}", value


def _column(values: list[Any]) -> NDArray[Any]:
    if all(isinstance(value, bool) for value in values):
        return np.asarray(values, dtype=bool)
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return np.asarray(values, dtype=np.int64)
    known = [value for value in values if value is not None]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known):
        return np.asarray([np.nan if value is None else value for value in values], dtype=float)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
