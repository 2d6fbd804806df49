"""The jobs of a log, as a frame."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

from meed import _native
from meed._input import Cluster, Input
from meed._remark import warn
from meed._table import Table


class Log(Table):
    """The jobs of a log: a frame, and what is known of it.

    It is a ``Table`` with a row for each job (or for each group of equal tasks of one), and is
    handed to pandas, polars or Arrow as it is: ``log.pandas()``, ``polars.DataFrame(log)``,
    ``pyarrow.table(log)``. A frame made of it, filtered or changed, is handed back beside the log:
    ``meed.simulate(log, jobs=frame)`` runs these jobs on the log's cluster, as the log is run.
    """

    def __init__(self, columns: Mapping[str, Any], given: Input, about: dict[str, Any]) -> None:
        super().__init__(columns)
        self._given, self._about = given, about

    @property
    def path(self) -> str:
        """Where it was read."""
        return self._given.path

    @property
    def cluster(self) -> dict[str, Any]:
        """The cluster, as ``[cluster]`` of a scenario: the log's, the one that was given, or the
        one that is assumed."""
        cluster: dict[str, Any] = self._about["document"]["cluster"]
        return cluster

    @property
    def assumes_size(self) -> bool:
        """Whether nobody said how large the cluster is, so that its size is assumed."""
        return bool(self._about["assumes_size"])

    @property
    def resources(self) -> list[str]:
        """Names of the resources, each of which has a column."""
        return list(self._about["resources"])

    @property
    def queues(self) -> list[str]:
        """Names of the tenants."""
        return list(self._about["queues"])

    @property
    def assumptions(self) -> list[str]:
        """What the log does not hold and Meed assumed."""
        return list(self._about["assumptions"])

    @property
    def remarks(self) -> list[str]:
        """What the program would remark, of lines that were left out too."""
        return list(self._about["remarks"])

    @property
    def zero(self) -> datetime.datetime | None:
        """What the clock said at time 0, where the log tells."""
        micros = self._about["clock_us"]
        if micros is None:
            return None
        begin = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return begin + datetime.timedelta(microseconds=micros)

    def without_trace(self) -> dict[str, Any]:
        """The scenario that it is run as, but for its jobs."""
        document: dict[str, Any] = self._about["document"]
        kept = {key: value for key, value in document.items() if key != "trace"}
        return {**kept, "run": {**kept.get("run", {}), **self._about["ends"]}}

    def __reduce__(self) -> Any:
        # Files in memory do not come along; a frame's columns do.
        given = Input(self._given.path, self._given.sets)
        return Log, (dict(self), given, self._about)


def read(
    source: str | PathLike[str] | object,
    *,
    cluster: Cluster | None = None,
    map: Mapping[str, str | None] | None = None,
    sets: Iterable[str] = (),
    seed: int | None = None,
    strict: bool = False,
) -> Log:
    """Reads the jobs of any log that Meed reads (docs/traces.md), or of a scenario.

    Columns: ``number`` counts jobs from 0; ``name``; ``queue``, the tenant; ``submit``, in seconds
    from time 0; ``tasks``, equal ones; ``duration`` of each, in seconds; a column for each
    resource, what each task holds, in natural units (cores, bytes). Where some job has more to say:
    ``waited`` in the log, ``limit``, ``weight``, ``stage``, ``gang`` and so on (docs/python.md).

    ``map`` says what is in which column of a table, as ``--map`` does; ``sets`` change how the log
    is read: ``["trace.queues=group"]``. ``cluster`` is a site's own file, or a dict.
    """
    from meed._simulate import Scenario

    scenario = Scenario(source, cluster=cluster, map=map, sets=sets, strict=strict)
    warn(scenario.remarks, 2)
    columns, skipped, assumptions, clock = _native.read_jobs(scenario._native, seed, strict)
    warn(skipped, 2)
    ends = zip(("warm_up", "cool_down"), scenario._native.left_out)
    about = {
        "document": json.loads(_native.document(scenario.text)),
        "assumes_size": scenario._native.assumes_size,
        "resources": scenario.resources,
        "queues": scenario.queues,
        "assumptions": assumptions,
        "remarks": scenario.remarks + skipped,
        "clock_us": clock,
        "ends": {key: f"{micros}us" for key, micros in ends},
    }
    return Log(columns, scenario._located(), about)


__all__ = ["Log", "read"]
