"""Tables, and the frames that they become."""

from __future__ import annotations

import math
import subprocess
import sys

import meed
import numpy as np
import polars as pl
import pyarrow as pa
import pytest


def table() -> meed.Table:
    names = np.array(["a", "b", "a"], dtype=object)
    return meed.Table({"name": names, "x": np.array([1.0, np.nan, 3.5]), "n": np.arange(3)})


def test_a_table_is_a_mapping() -> None:
    one = table()
    assert (list(one), len(one), one.rows) == (["name", "x", "n"], 3, 3)
    assert one.where(name="a")["n"].tolist() == [0, 2]
    assert one.where(name="a", n=2)["x"].tolist() == [3.5]
    with pytest.raises(KeyError, match="there is no column 'y'; there are name, x, n"):
        one["y"]
    assert repr(one).splitlines() == ["name    x  n", "   a    1  0", "   b    -  1", "   a  3.5  2"]
    assert "<td>3.5</td>" in one._repr_html_()
    assert meed.Table({}).rows == 0


def test_frames() -> None:
    pandas = table().pandas()
    assert pandas["name"].tolist() == ["a", "b", "a"]
    assert math.isnan(pandas["x"][1])
    polars = table().polars()
    assert polars["name"].to_list() == ["a", "b", "a"]
    assert polars["x"].to_list() == [1.0, None, 3.5]


def test_arrow_takes_a_table() -> None:
    one = meed.Table({**table(), "is": np.array([True, False, True])})
    arrow = pa.table(one)
    assert arrow.column_names == ["name", "x", "n", "is"]
    assert arrow["x"].to_pylist() == [1.0, None, 3.5]
    assert arrow["is"].to_pylist() == [True, False, True]
    assert pl.DataFrame(one)["n"].to_list() == [0, 1, 2]


def test_frames_are_brought_only_when_asked_for() -> None:
    program = (
        "import sys, meed; meed.Jobs; "
        "assert not {'pandas', 'polars', 'pyarrow'} & set(sys.modules), sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
