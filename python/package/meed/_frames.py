"""Frames of any library: their columns, and what stands in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from meed import _native

# numpy's kinds of what is a number.
_WHOLE = "iub"
_SMALLEST = np.iinfo(np.int64).min

#: A column as the compiled half takes it: name, what kind it is, and its values.
Column: TypeAlias = "tuple[str, str, object]"


def is_frame(value: object) -> bool:
    """Whether it is one of pandas, polars or Arrow."""
    return hasattr(value, "__arrow_c_stream__") or is_of_columns(value)


def is_of_columns(value: object) -> bool:
    """Whether it hands its columns over as arrays, as pandas does."""
    return hasattr(value, "columns") and hasattr(value, "to_numpy")


def names_of(frame: Any) -> list[str]:
    """Names of its columns; none where it does not say."""
    if isinstance(frame, Mapping):
        return [str(name) for name in frame]
    for known in ("column_names", "columns"):
        names = getattr(frame, known, None)
        if names is not None and not callable(names):
            return [str(name) for name in names]
    schema = getattr(frame, "schema", None)
    return [str(name) for name in getattr(schema, "names", [])]


def is_text(column: Any) -> bool:
    """Whether texts stand in it."""
    kind = getattr(column, "dtype", getattr(column, "type", None))
    words = ("str", "object", "utf", "<u", "categ", "large_string")
    return any(word in str(kind).lower() for word in words)


def arrays_of(frame: object) -> list[Column]:
    """The columns of a mapping, or of what has arrays."""
    if is_of_columns(frame):
        columns: Any = frame
        frame = {str(name): columns[name].to_numpy() for name in columns.columns}
    if not isinstance(frame, Mapping):
        raise _native.Error(
            f"jobs: a {type(frame).__name__} has no columns; give a frame of pandas, polars or "
            "Arrow, or a dict of arrays"
        )
    if not frame:
        raise _native.Error("jobs: there are no columns")
    return [(str(name), *_column(str(name), values)) for name, values in frame.items()]


def table_of(frame: object) -> bytes:
    """The frame as a table, in the form of a CSV."""
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            return _native.table_of_arrow(frame)
        except ImportError:
            # pandas hands its columns over by pyarrow, which need not be there.
            pass
    return _native.table_of_arrays(arrays_of(frame))


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
    if np.datetime_data(array.dtype)[0] == "ns":
        # To the nearest: a cast would cut.
        array = array + np.timedelta64(500, "ns")
    return np.ascontiguousarray(array.astype(unit).view(np.int64))


def _name(value: object) -> str | None:
    # NaN, as pandas has it, is not equal to itself.
    return None if value is None or value != value else str(value)
