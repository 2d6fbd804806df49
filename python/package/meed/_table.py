"""Columns of numbers and names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from meed import _native

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

# So many rows are shown.
_SHOWN = 20


class Table(Mapping[str, NDArray[Any]]):
    """Columns of equal length, by name: a mapping of numpy arrays.

    ``table["rho"]`` is a column; ``len(table)`` counts columns, ``table.rows`` rows. A number that
    does not exist is NaN. Names are arrays of ``str`` objects.
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> NDArray[Any]:
        try:
            return self._columns[name]
        except KeyError:
            known = ", ".join(self._columns)
            raise KeyError(f"there is no column {name!r}; there are {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return next((len(column) for column in self._columns.values()), 0)

    def where(self, **equal: object) -> Table:
        """The rows in which each named column has that value: ``where(policy="fair")``."""
        keep = np.ones(self.rows, dtype=bool)
        for name, value in equal.items():
            keep &= np.asarray(self[name] == value, dtype=bool)
        return Table({name: column[keep] for name, column in self._columns.items()})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The same for whatever takes columns of Arrow: ``polars.DataFrame(table)``,
        ``pyarrow.table(table)``. What is NaN here is null there."""
        columns = [(name, *_arrow(column)) for name, column in self._columns.items()]
        return _native.stream_of(columns)

    def pandas(self) -> pd.DataFrame:
        """The same as a frame of pandas, which must be installed. Numbers are not copied."""
        import pandas

        return pandas.DataFrame(self._columns, copy=False)

    def polars(self) -> pl.DataFrame:
        """The same as a frame of polars, which must be installed. NaN here is null there."""
        import polars

        plain = {
            name: column.tolist() if column.dtype == object else column
            for name, column in self._columns.items()
        }
        return polars.DataFrame(plain, nan_to_null=True)

    def __repr__(self) -> str:
        names = list(self._columns)
        cells = [[_text(self._columns[name][row]) for name in names] for row in self._few()]
        widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in [names, *cells]
        ]
        if self.rows > _SHOWN:
            lines.append(f"... {self.rows} rows in all")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        def row(cells: list[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        head = row(list(self._columns), "th")
        body = "".join(
            row([_text(column[at]) for column in self._columns.values()], "td")
            for at in self._few()
        )
        more = f"<p>{self.rows} rows in all</p>" if self.rows > _SHOWN else ""
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{more}"

    def _few(self) -> range:
        return range(min(self.rows, _SHOWN))


def _text(value: object) -> str:
    if isinstance(value, (float, np.floating)):
        return "-" if np.isnan(value) else f"{value:.6g}"
    return str(value)


def _arrow(column: NDArray[Any]) -> tuple[str, object]:
    """A column as Arrow has it: what kind it is, and its values."""
    if column.dtype.kind in "iu" and column.dtype != np.uint64:
        return "whole", np.ascontiguousarray(column, dtype=np.int64)
    if column.dtype.kind in "fu":
        return "number", np.ascontiguousarray(column, dtype=np.float64)
    if column.dtype.kind == "b":
        return "truth", np.ascontiguousarray(column, dtype=np.int64)
    return "text", [None if value is None else str(value) for value in column.tolist()]
