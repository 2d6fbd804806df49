"""Scenarios and their runs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any

from meed import _native
from meed._jobs import Jobs
from meed._policy import Ask, Asked, Policy
from meed._results import Results


class Remark(UserWarning):
    """What the program would remark on standard error, as a warning of Python."""


class Scenario:
    """A scenario, read and checked: it can be run.

    ``source`` is a dict with the keys of a scenario file (docs/scenario.md), or the path of a
    scenario or a trace. ``sets`` change the file before it is read, as the program's ``--set``:
    ``["policy.quantum=5s"]``. ``jobs`` come beside those that a dict or file says, and their
    tenants need not be named. ``folder`` is where files are looked for that a dict names, ``name``
    what messages call it. ``strict`` stops at the first wrong line of a trace.
    """

    def __init__(
        self,
        source: Mapping[str, Any] | str | PathLike[str],
        *,
        jobs: Jobs | object | None = None,
        sets: Iterable[str] = (),
        strict: bool = False,
        name: str = "scenario",
        folder: str | PathLike[str] = ".",
    ) -> None:
        if jobs is not None and not isinstance(jobs, Jobs):
            jobs = Jobs(jobs)
        given = None if jobs is None else jobs._native
        sets = [sets] if isinstance(sets, str) else list(sets)
        if isinstance(source, Mapping):
            if sets:
                raise _native.Error("sets change the text of a file; change the dict instead")
            folder = os.fspath(folder)
            self._native = _native.Scenario.of(source, name, folder, given, strict)
        else:
            self._native = _native.Scenario.load(os.fspath(source), sets, given, strict)

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
        return self._native.warnings

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


def simulate(
    scenario: Scenario | Mapping[str, Any] | str | PathLike[str],
    policies: str | Policy | Ask | Iterable[str | Policy | Ask] | None = None,
    *,
    jobs: Jobs | object | None = None,
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
    of your own; a function stands for ``Policy(function)``. ``series`` samples are taken over time.
    ``log`` is where the decision log is written, as by the program's ``--log``.
    ``keep_jobs=False`` keeps no jobs one by one (a hundred bytes each),
    ``overtaken=False`` does not count who was overtaken. ``progress`` is called now and then with
    the policy, the virtual time in seconds, the jobs that have ended, and the part of the input
    that has been read; what it raises ends the runs.

    The other arguments are those of ``Scenario``. The runs hold no lock of Python's, and end early
    when the main thread is interrupted (Ctrl-C).
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario(
            scenario, jobs=jobs, sets=sets, strict=strict, name=name, folder=folder
        )
    elif jobs is not None or sets:
        raise _native.Error("jobs and sets belong to the scenario: Scenario(..., jobs=..., sets=...)")
    chosen = _chosen(scenario.policies if policies is None else policies)
    for remark in scenario.remarks:
        warnings.warn(remark, Remark, stacklevel=2)
    native = _native.simulate(
        scenario._native,
        [one._words if isinstance(one, Policy) else one for one in chosen],
        [one.name if isinstance(one, Policy) else one for one in chosen],
        [(Asked(one), one._every) if isinstance(one, Policy) else None for one in chosen],
        seed,
        series,
        strict,
        keep_jobs,
        overtaken,
        progress,
        None if log is None else os.fspath(log),
    )
    skipped = [f"skipped {line}" for line in native.skipped]
    for remark in skipped:
        warnings.warn(remark, Remark, stacklevel=2)
    return Results(native, scenario.remarks + skipped)


def _chosen(policies: Any) -> list[str | Policy]:
    """One policy or several, by words or in Python."""
    if isinstance(policies, (str, Policy)) or callable(policies):
        policies = [policies]
    return [one if isinstance(one, (str, Policy)) else Policy(one) for one in policies]
