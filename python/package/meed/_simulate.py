"""Scenarios and their runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any

from meed import _native
from meed._frames import is_frame
from meed._input import (
    Cluster,
    Input,
    Source,
    Weights,
    columns_of,
    file_of,
    of_frame,
    of_text,
    sets_of,
)
from meed._jobs import Jobs, is_plain
from meed._policy import Ask, Asked, Policy
from meed._read import Log
from meed._remark import Remark, warn
from meed._results import Results

__all__ = ["Remark", "Scenario", "simulate"]

# What all are compared with besides a baseline.
_FAIR = "fair"


class Scenario:
    """A scenario, read and checked: it can be run.

    ``source`` is a dict with the keys of a scenario file (docs/scenario.md); the path of a scenario
    or a trace; a frame, which is read as a CSV with these columns is; or a ``Log`` that ``read``
    gave. ``jobs`` (``Jobs`` or a frame) come beside those that a dict or file says, and instead of
    those of a ``Log``; their tenants need not be named.

    ``cluster`` are the nodes, in place of those that the source says or Meed assumes: a file of the
    site as ``--cluster`` takes it, or a dict as ``[cluster]`` is. ``weights`` are of queues: a file
    as ``--weights`` takes it, a frame with the columns queue and weight, or a dict. ``map`` says
    what is in which column of a table or a frame, as ``--map`` does. ``sets`` change the file
    before it is read, as ``--set``: ``["policy.quantum=5s"]``.

    ``folder`` is where files are looked for that a dict names, ``name`` what messages call it.
    ``strict`` stops at the first wrong line of a trace.
    """

    def __init__(
        self,
        source: Source,
        *,
        jobs: Jobs | object | None = None,
        cluster: Cluster | None = None,
        weights: Weights | None = None,
        map: Mapping[str, str | None] | None = None,
        sets: Iterable[str] = (),
        strict: bool = False,
        name: str = "scenario",
        folder: str | PathLike[str] = ".",
    ) -> None:
        self._strict, self._name, self._folder = strict, name, os.fspath(folder)
        self._jobs: Jobs | None = None
        self._held: list[_native.Memory] = []
        self._given: Input | None = None
        self._notes: list[str] = []
        changes = sets_of(sets, None, None)
        if isinstance(source, Jobs):
            source, jobs = {}, source
        if isinstance(source, Log):
            self._of_log(source, jobs, cluster, weights, map, changes)
        elif is_frame(source):
            if jobs is not None:
                raise _native.Error("a frame has its jobs; give others beside a dict or a file")
            self._of_file(of_frame(source), None, cluster, weights, map, changes)
        elif isinstance(source, Mapping):
            if changes:
                raise _native.Error("sets change the text of a file; change the dict instead")
            self._of_dict(source, jobs, cluster, weights, map, changes)
        elif isinstance(source, (str, PathLike)):
            self._of_file(Input(os.fspath(source)), jobs, cluster, weights, map, changes)
        else:
            raise _native.Error(
                f"a {type(source).__name__} is no scenario; give a dict, a path, a frame or a Log"
            )

    def _of_log(
        self,
        log: Log,
        jobs: Any,
        cluster: Cluster | None,
        weights: Weights | None,
        map: Mapping[str, str | None] | None,
        changes: list[str],
    ) -> None:
        """A log as it was read; or other jobs, run as the log is."""
        given = log._given
        if jobs is None:
            begun = Input(given.path, list(given.sets), held=given.held)
            self._of_file(begun, None, cluster, weights, map, changes)
            return
        self._notes, data = log.assumptions, log.without_trace()
        jobs = jobs if isinstance(jobs, Jobs) else Jobs(jobs)
        data["queue"] = _declared(data.get("queue", []), log.queues, jobs.queues)
        self._of_dict(data, jobs, cluster, weights, map, changes)

    def _of_dict(
        self,
        data: Mapping[str, Any],
        jobs: Any,
        cluster: Cluster | None,
        weights: Weights | None,
        map: Mapping[str, str | None] | None,
        changes: list[str],
    ) -> None:
        """Data as they are; where more is to be changed, as a file in memory."""
        data, nodes = dict(data), file_of(cluster)
        if isinstance(cluster, Mapping):
            data["cluster"] = cluster
        elif nodes is not None:
            machines = {"file": os.path.abspath(nodes), "format": "cluster"}
            kept = {key: one for key, one in data.get("cluster", {}).items() if key != "node"}
            data["cluster"] = {**kept, "machines": machines}
        if jobs is not None and not self._are_plain(jobs, map):
            if "trace" in data:
                raise _native.Error("a scenario with a trace is handed no jobs as well")
            given = of_frame(jobs)
            self._held += given.held
            data["trace"] = {"file": given.path, "map": columns_of(map) or None}
            jobs = None
        elif map and jobs is None:
            raise _native.Error("map says what is in which column; change the dict's trace instead")
        self._keep(jobs)
        own = None if self._jobs is None else self._jobs._native
        self._native = _native.Scenario.of(data, self._name, self._folder, own, self._strict)
        if changes or weights is not None:
            self._change(changes, None, weights)

    def _of_file(
        self,
        given: Input,
        jobs: Any,
        cluster: Cluster | None,
        weights: Weights | None,
        map: Mapping[str, str | None] | None,
        changes: list[str],
    ) -> None:
        """A file, perhaps in memory, and its changes."""
        given.sets += sets_of(changes, map if jobs is None else None, cluster)
        if jobs is not None and not self._are_plain(jobs, map):
            frame = of_frame(jobs)
            given.held += frame.held
            given.sets += sets_of([f'trace.file="{frame.path}"'], map, None)
            jobs = None
        if jobs is None:
            self._given = given
            given.changed(file_of(cluster), weights, self._strict)
            self._native = _native.Scenario.load(given.path, given.sets, None, self._strict)
            return
        self._keep(jobs)
        assert self._jobs is not None
        self._name, self._folder = given.path, os.path.dirname(given.path) or "."
        self._native = _native.Scenario.load(given.path, [], self._jobs._native, self._strict)
        if given.sets or cluster is not None or weights is not None:
            self._change(given.sets, file_of(cluster), weights)

    def _are_plain(self, jobs: object, map: Mapping[str, str | None] | None) -> bool:
        return isinstance(jobs, Jobs) or (not map and is_plain(jobs))

    def _keep(self, jobs: Any) -> None:
        if jobs is not None:
            self._jobs = jobs if isinstance(jobs, Jobs) else Jobs(jobs)

    def _change(self, sets: list[str], cluster: str | None, weights: Weights | None) -> None:
        given = self._located()
        given.sets += sets
        given.changed(cluster, weights, self._strict)
        self._native = _native.Scenario.load(given.path, given.sets, None, self._strict)
        self._given, self._jobs = given, None

    def _located(self) -> Input:
        """A path that can be read, and its changes."""
        if self._given is not None:
            return self._given
        trace, held = None, list(self._held)
        if self._jobs is not None:
            written = _native.trace_of(self._jobs._native, self._native)
            held.append(_native.Memory("/", "jobs.jsonl", written))
            trace = held[-1].path
        return of_text(self._native.text, self._folder, self._name, trace, held)

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._native.name

    @property
    def seed(self) -> int:
        """Seed of all random choices, unless another is asked for."""
        return self._native.seed

    @property
    def queues(self) -> list[str]:
        """Names of all queues, parents included."""
        return self._native.queues

    @property
    def resources(self) -> list[str]:
        """Names of the cluster's resources."""
        return self._native.resources

    @property
    def remarks(self) -> list[str]:
        """What was taken for granted."""
        said = [] if self._given is None else self._given.remarks
        return said + self._native.warnings

    @property
    def assumptions(self) -> list[str]:
        """What is known and assumed of the cluster; results have the rest."""
        return self._native.notes

    @property
    def policies(self) -> list[str]:
        """The policies that are run when none are asked for."""
        return self._native.policies

    @property
    def text(self) -> str:
        """The scenario as TOML."""
        return self._native.text

    def __repr__(self) -> str:
        return f"<meed.Scenario: {self.name}, {len(self.queues)} queues>"


def scenario_of(
    source: Source,
    jobs: Jobs | object | None,
    cluster: Cluster | None,
    weights: Weights | None,
    map: Mapping[str, str | None] | None,
    sets: Iterable[str],
    strict: bool,
    name: str = "scenario",
    folder: str | PathLike[str] = ".",
) -> Scenario:
    """The scenario that is given, or that the source and these make."""
    if not isinstance(source, Scenario):
        return Scenario(
            source,
            jobs=jobs,
            cluster=cluster,
            weights=weights,
            map=map,
            sets=sets,
            strict=strict,
            name=name,
            folder=folder,
        )
    if any(one is not None for one in (jobs, cluster, weights, map)) or sets:
        raise _native.Error(
            "jobs and sets belong to the scenario: Scenario(..., jobs=..., sets=...)"
        )
    return source


def simulate(
    scenario: Source,
    policies: str | Policy | Ask | Iterable[str | Policy | Ask] | None = None,
    *,
    jobs: Jobs | object | None = None,
    cluster: Cluster | None = None,
    weights: Weights | None = None,
    map: Mapping[str, str | None] | None = None,
    baseline: str | None = None,
    sets: Iterable[str] = (),
    seed: int | None = None,
    series: int = 0,
    strict: bool = False,
    keep_jobs: bool = True,
    overtaken: bool = True,
    progress: Callable[[str, float, int, float | None], object] | None = None,
    log: str | PathLike[str] | None = None,
    name: str = "scenario",
    folder: str | PathLike[str] = ".",
) -> Results:
    """Runs a scenario under each policy, and compares.

    ``policies`` are words of the program's ``--policy``: ``"fair"``,
    ``["fair", "long-term,half_life=1d"]``; without any, the program's choice. A ``Policy`` is one
    of your own; a function stands for ``Policy(function)``. ``baseline`` is what all are compared
    with, a policy or a rival (``"fair-tree,half_life=7d"``); beside it runs ``fair``. ``series``
    samples are taken over time. ``log`` is where the decision log is written, as by the program's
    ``--log``. ``keep_jobs=False`` keeps no jobs one by one (a hundred bytes each),
    ``overtaken=False`` does not count who was overtaken. ``progress`` is called now and then with
    the policy, the virtual time in seconds, the jobs that have ended, and the part of the input
    that has been read; what it raises ends the runs.

    The other arguments are those of ``Scenario``. The runs hold no lock of Python's, and end early
    when the main thread is interrupted (Ctrl-C).
    """
    scenario = scenario_of(scenario, jobs, cluster, weights, map, sets, strict, name, folder)
    chosen = _chosen(scenario.policies if policies is None else policies)
    if baseline is not None:
        chosen = [one for one in _beside(chosen) if one != baseline]
    warn(scenario.remarks, 2)
    native = _native.simulate(
        scenario._native,
        [one._words if isinstance(one, Policy) else one for one in chosen],
        [one.name if isinstance(one, Policy) else one for one in chosen],
        [(Asked(one), one._every) if isinstance(one, Policy) else None for one in chosen],
        baseline,
        seed,
        series,
        strict,
        keep_jobs,
        overtaken,
        progress,
        None if log is None else os.fspath(log),
    )
    skipped = [f"skipped {line}" for line in native.skipped]
    refused = _refused(native.refused)
    warn(skipped + refused, 2)
    return Results(native, scenario.remarks + skipped + refused, scenario._notes)


def _declared(
    queues: list[dict[str, Any]], of_log: list[str], here: list[str]
) -> list[dict[str, Any]]:
    """The queues of a log that still have jobs, in its order: ties may fall by that."""
    known = {queue.get("name") for queue in queues}
    others = [name for name in of_log if name in set(here) and name not in known]
    return [*queues, *({"name": name} for name in others)]


def _beside(chosen: list[str | Policy]) -> list[str | Policy]:
    """With sharing without a memory, which stands beside each baseline."""
    return chosen if _FAIR in chosen else [_FAIR, *chosen]


def _refused(counts: list[tuple[str, int, str | None]]) -> list[str]:
    """What is said of jobs that no node could hold: once, of the run with most."""
    policy, count, first = max(counts, key=lambda run: run[1], default=("", 0, None))
    if count == 0:
        return []
    jobs = "1 job is" if count == 1 else f"{count} jobs are"
    which = "" if first is None else f": {'it is' if count == 1 else 'the first is'} {first}"
    return [f"{jobs} refused under {policy}{which}"]


def _chosen(policies: Any) -> list[str | Policy]:
    """One policy or several, by words or in Python."""
    if isinstance(policies, (str, Policy)) or callable(policies):
        policies = [policies]
    return [one if isinstance(one, (str, Policy)) else Policy(one) for one in policies]
