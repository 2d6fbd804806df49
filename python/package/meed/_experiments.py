"""Experiments on one's own log: many runs, compared with a claim."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, TypeAlias

from meed import _native
from meed._answers import Advice, Audit, Rivals, Sweep
from meed._input import Cluster, Source, Weights, Words, file_of, words_of
from meed._jobs import Jobs
from meed._remark import warn
from meed._simulate import scenario_of

#: What is called now and then, with how many simulations are done, and of how many.
Told: TypeAlias = "Callable[[int, int], object]"


def advise(
    log: Source,
    policies: Words = (),
    *,
    aim: str | None = None,
    at_most: Mapping[str, float | None] | None = None,
    baseline: str | None = None,
    loads: Iterable[float] = (),
    seeds: int = 1,
    jobs: Jobs | object | None = None,
    cluster: Cluster | None = None,
    weights: Weights | None = None,
    map: Mapping[str, str | None] | None = None,
    sets: Iterable[str] = (),
    strict: bool = False,
    threads: int = 0,
    progress: Told | None = None,
) -> Advice:
    """Which memory serves one's aims on one's own log, and how sure that is: ``meed advise``.

    ``policies`` are the candidates (a dozen memories without any), ``aim`` is the figure that is to
    be small (``"light"``), and ``at_most`` bounds others against the baseline: ``{"heavy": 1.2,
    "mean": None}``. ``baseline`` is a policy or a rival; without it, what the site has now, by the
    cluster's file or by the format of the log. ``loads`` are run against the log's own (0.97, 1,
    1.03).

    ``log``, ``jobs``, ``cluster``, ``weights``, ``map`` and ``sets`` are those of ``Scenario``: a
    frame will do. ``progress`` is called with how many of how many simulations are done. Ctrl-C
    ends it when the next simulation does.
    """
    at, said, notes = _located(log, jobs, cluster, weights, map, sets, strict)
    native = _native.advise(
        at.path,
        at.sets,
        words_of(policies),
        baseline,
        file_of(cluster),
        # What sshare prints holds Slurm's own ranks, too.
        os.fspath(weights) if isinstance(weights, (str, PathLike)) else None,
        aim,
        [f"{name}={'none' if most is None else most}" for name, most in (at_most or {}).items()],
        [repr(load) for load in loads],
        seeds,
        strict,
        threads,
        progress,
    )
    advice = Advice(native, said)
    _tell(advice, notes, int(advice._whole["refused"]))
    return advice


def sweep(
    scenario: Source,
    over: Mapping[str, Any],
    policies: Words = (),
    *,
    baseline: str | None = None,
    seeds: int = 1,
    seed: int | None = None,
    jobs: Jobs | object | None = None,
    cluster: Cluster | None = None,
    weights: Weights | None = None,
    map: Mapping[str, str | None] | None = None,
    sets: Iterable[str] = (),
    strict: bool = False,
    threads: int = 0,
    progress: Told | None = None,
) -> Sweep:
    """A scenario at each combination of some settings, under some policies: ``meed sweep``.

    ``over`` has a setting and its values: ``{"half_life": ["1h", "6h"], "load": [0.9, 1.0]}``, or a
    range as ``--over`` has it: ``{"load": "0.8..1.2 step 0.1"}``. ``policies`` are ``fair`` and
    ``long-term`` without any. The other arguments are those of ``advise``.
    """
    at, said, notes = _located(scenario, jobs, cluster, weights, map, sets, strict)
    native, assumed = _native.sweep(
        at.path,
        at.sets,
        [f"{name}={_values(values)}" for name, values in over.items()],
        words_of(policies),
        baseline,
        seeds,
        seed,
        strict,
        threads,
        progress,
    )
    swept = Sweep(native, said, assumed)
    _tell(swept, notes, 0)
    return swept


def rivals(
    log: Source,
    orders: Words = (),
    *,
    baseline: str | None = None,
    cadence: str | None = None,
    loads: Iterable[float] = (),
    seeds: int = 1,
    liars: int = 0,
    jobs: Jobs | object | None = None,
    cluster: Cluster | None = None,
    weights: Weights | None = None,
    map: Mapping[str, str | None] | None = None,
    sets: Iterable[str] = (),
    strict: bool = False,
    threads: int = 0,
    progress: Told | None = None,
) -> Rivals:
    """What other schedulers' orders would do with a log: ``meed rivals``.

    ``orders`` are rivals (``"fair-tree,half_life=14d"``) and policies; all rivals and some policies
    without any. ``cadence`` is how often all rivals recompute ranks, instead of each at its own.
    ``liars`` tenants lie, each by itself. The other arguments are those of ``advise``.
    """
    at, said, notes = _located(log, jobs, cluster, weights, map, sets, strict)
    native = _native.rivals(
        at.path,
        at.sets,
        words_of(orders),
        baseline,
        cadence,
        [repr(load) for load in loads],
        seeds,
        liars,
        strict,
        threads,
        progress,
    )
    compared = Rivals(native, said)
    _tell(compared, notes, 0)
    return compared


def audit(
    policies: Words = (),
    *,
    all_orders: bool = False,
    properties: Words = (),
    tasks: Words = ("unit", "whole"),
    trials: int = 120,
    seed: int = 0,
    out: str | PathLike[str] | None = None,
    progress: Told | None = None,
) -> Audit:
    """Searches for counterexamples to fairness properties, under each policy: ``meed audit``.

    Without ``policies`` those of the program, with ``all_orders`` every one that there is. ``out``
    is a folder for the counterexamples, which ``simulate`` runs. ``progress`` is called with how
    many of how many halves of searches are done.
    """
    native = _native.audit(
        words_of(policies),
        all_orders,
        words_of(properties),
        words_of(tasks),
        trials,
        seed,
        None if out is None else os.fspath(out),
        progress,
    )
    return Audit(native)


def _located(
    source: Source,
    jobs: Any,
    cluster: Any,
    weights: Any,
    map: Any,
    sets: Any,
    strict: bool,
) -> tuple[Any, list[str], list[str]]:
    """Where the scenario is, what was said of its files, and what is known of its cluster."""
    scenario = scenario_of(source, jobs, cluster, weights, map, sets, strict)
    at = scenario._located()
    return at, at.remarks, scenario._notes


def _tell(answer: Advice | Sweep | Rivals, notes: list[str], refused: int) -> None:
    """Adds what is known of the log's cluster, and warns of what is remarked."""
    if notes:
        own = answer.assumptions
        answer._assumptions = [note for note in notes if note not in own] + own
    if refused:
        jobs = "1 job is" if refused == 1 else f"{refused} jobs are"
        answer._remarks = [*answer._remarks, f"{jobs} refused: no node could hold a task of it"]
    warn(answer.remarks, 3)


def _values(values: Any) -> str:
    """Values as a command line has them."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return str(values)
    return ",".join(str(value) for value in values)
