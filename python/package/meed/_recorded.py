"""Recorded runs: why one waited, what if, and whether all is as recorded."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable, Iterable
from functools import cached_property
from os import PathLike
from typing import Any

from meed import _native
from meed._input import Input, Weights, words_of
from meed._remark import warn
from meed._results import Results
from meed._rows import table_of
from meed._table import Table


class Explanation:
    """Why a job or a queue waited, or how all queues stood."""

    def __init__(self, words: str, text: str, remarks: list[str]) -> None:
        self._words, self._json, self._remarks = words, text, remarks

    @property
    def remarks(self) -> list[str]:
        """What is to be said of the log."""
        return self._remarks

    @cached_property
    def queues(self) -> Table:
        """A row for each queue: of an instant, each with its state; of one that waits, the first
        of those that are compared with it, level by level of the tree, in order of turn."""
        told = self.to_dict()
        if "queues" in told:
            return table_of(_plain(row) for row in told["queues"])
        return table_of(
            {"level": level, "among": one["among"], "place": place, **_plain(row)}
            for level, one in enumerate(told["levels"])
            for place, row in enumerate(one["children"])
        )

    def json(self) -> str:
        """What ``meed explain --json`` prints (docs/json.md)."""
        return self._json

    def to_dict(self) -> dict[str, Any]:
        """The same, as Python's values."""
        read: dict[str, Any] = json.loads(self._json)
        return read

    def text(self) -> str:
        """What ``meed explain`` prints."""
        return self._words

    def __str__(self) -> str:
        return self._words

    def __repr__(self) -> str:
        return f"<meed.Explanation: {self._words.splitlines()[0]}>"


class Verified:
    """Whether a recorded run is decided again as it was. It is true where it is."""

    def __init__(
        self,
        differs: tuple[int, str | None, str | None] | None,
        remarks: list[str],
    ) -> None:
        #: The first line that differs; None where none does.
        self.line = None if differs is None else differs[0]
        #: What stands there, and what this Meed writes; None at the end of the log.
        self.recorded = None if differs is None else differs[1]
        self.replayed = None if differs is None else differs[2]
        self.remarks = remarks

    def __bool__(self) -> bool:
        return self.line is None

    def __repr__(self) -> str:
        words = "as recorded" if self else f"differs at line {self.line}"
        return f"<meed.Verified: {words}>"


def explain(
    log: str | PathLike[str],
    *,
    job: str | int | None = None,
    queue: str | None = None,
    at: str | float | datetime.timedelta | None = None,
    run: str | int | None = None,
) -> Explanation:
    """Why a job or a queue of a recorded run waited: ``meed explain``.

    ``log`` is a file of ``simulate(..., log=...)`` or a live world's journal. ``job`` is a name,
    with its queue before it where several have such a job: ``"ads/7"``. ``at`` is a time of the run
    (seconds, a text such as ``"2h"``, a duration) or a date as text; without it, the middle of the
    longest wait. With neither a job nor a queue, how all queues stand then. ``run`` says which of
    several is meant: its number from 1, or its policy.
    """
    told = _native.explain(
        os.fspath(log),
        None if job is None else str(job),
        queue,
        None if at is None else _time(at),
        None if run is None else str(run),
    )
    explanation = Explanation(*told)
    warn(explanation.remarks, 2)
    return explanation


def replay(
    log: str | PathLike[str],
    policies: str | Iterable[str] = (),
    *,
    run: str | int | None = None,
    cluster: str | PathLike[str] | None = None,
    weights: Weights | None = None,
    sets: Iterable[str] = (),
    series: int = 0,
    progress: Callable[[str, float, int, float | None], object] | None = None,
    to: str | PathLike[str] | None = None,
) -> Results:
    """A recorded workload under other policies, weights or nodes: ``meed replay``.

    The recorded run comes first in what is returned. ``cluster`` is a scenario file whose nodes are
    used; ``sets`` change the recorded scenario, but for its workload. ``to`` is where the log of
    what is run is written.
    """
    at = Input(os.fspath(log))
    native, remarks = _native.replay(
        at.path,
        words_of(policies),
        None if run is None else str(run),
        None if cluster is None else os.fspath(cluster),
        words_of(sets),
        None if weights is None else at._weights(weights),
        series,
        progress,
        None if to is None else os.fspath(to),
    )
    warn(remarks, 2)
    return Results(native, remarks)


def verify(
    log: str | PathLike[str],
    *,
    run: str | int | None = None,
    progress: Callable[[str, float, int, float | None], object] | None = None,
) -> Verified:
    """Whether the recorded policy decides as recorded: ``meed replay --verify``."""
    differs, remarks = _native.verify(os.fspath(log), None if run is None else str(run), progress)
    warn(remarks, 2)
    return Verified(differs, remarks)


def _time(at: str | float | datetime.timedelta) -> str:
    if isinstance(at, datetime.timedelta):
        return f"{at // datetime.timedelta(microseconds=1)}us"
    return at if isinstance(at, str) else f"{float(at):.6f}s"


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Without lists: a cell holds one thing."""
    return {name: value for name, value in row.items() if not isinstance(value, list)}
