"""Policies written in Python: who is served next is what a function says."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from meed import _native

#: What a policy may return.
Answer: TypeAlias = "ArrayLike | Mapping[str, float] | Ranks"
#: A cadence: seconds, a text such as "5min", or a duration.
Every: TypeAlias = "str | float | datetime.timedelta"


class Ask(Protocol):
    """What is asked: a function, or an object that is called as one."""

    def __call__(self, view: View, /) -> Answer: ...


class View:
    """What a policy sees at a tick.

    Each column is a numpy array with an entry for each queue, in order of declaration, parents
    before what is below them. Of a parent it is the sum of what is below it. Amounts are in natural
    units (cores, bytes) of the resource that fairness is measured in; times are in seconds.
    """

    #: Full names of all queues.
    queues: tuple[str, ...]
    #: The place of each one's parent in ``queues``; -1 for those below the root.
    parents: NDArray[np.int64]
    #: Whether it takes jobs itself.
    leaf: NDArray[np.bool_]
    #: The resource that fairness is measured in.
    resource: str
    #: All resources of the cluster.
    resources: tuple[str, ...]
    #: Smallest units in a natural one of ``resource``: what ``Ranks`` count in.
    unit: int
    #: The tick. All that happened before it is seen, and nothing of what happens at it.
    time: float
    #: Since the tick before.
    elapsed: float
    #: Job-seconds since the tick before: the integral of the number of jobs that were there.
    job_seconds: float
    #: Of all nodes, by resource.
    capacity: NDArray[np.float64]
    #: Weight among the siblings; 1 is usual.
    weight: NDArray[np.float64]
    #: What it is entitled to now.
    share: NDArray[np.float64]
    #: What it holds.
    held: NDArray[np.float64]
    #: What it holds and waits for.
    wants: NDArray[np.float64]
    #: Tasks that run.
    running: NDArray[np.int64]
    #: Tasks that wait.
    waiting: NDArray[np.int64]
    #: Jobs that are there.
    jobs: NDArray[np.int64]
    #: What it has used so far, resource-seconds.
    used: NDArray[np.float64]
    #: What of it since the tick before.
    lately: NDArray[np.float64]
    #: What it was entitled to so far: the integral of the lesser of share and wish, of leaves.
    entitled: NDArray[np.float64]
    #: Whether it is gone.
    removed: NDArray[np.bool_]
    #: What it holds of each resource: queues x resources.
    all_held: NDArray[np.float64]
    #: What it has used of each resource so far.
    all_used: NDArray[np.float64]

    def __init__(self, fixed: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
        self.__dict__.update(fixed)
        self.__dict__.update(fields)

    def __repr__(self) -> str:
        return f"<meed.View: {len(self.queues)} queues at {self.time:g} s>"


class Ranks:
    """Where queues stand until the next tick, as the engine's order ``told`` knows it.

    The key of a queue is ``(amount + step * held) / per``, and the smallest is served first;
    whoever holds its ``quota`` comes after all others. ``held`` is counted at each decision, in
    smallest units: ``view.unit`` of them are one. Each is a whole number, or one for each queue.
    """

    def __init__(
        self,
        amount: ArrayLike = 0,
        *,
        step: ArrayLike = 0,
        per: ArrayLike = 1,
        quota: ArrayLike | None = None,
    ) -> None:
        largest = np.iinfo(np.uint64).max
        self._columns: list[tuple[str, ArrayLike, type[Any], int]] = [
            ("amount", amount, np.uint64, 0),
            ("step", step, np.uint32, 0),
            ("per", per, np.uint32, 1),
            ("quota", largest if quota is None else quota, np.uint64, 0),
        ]

    def _told(self, where: str, queues: tuple[str, ...]) -> tuple[NDArray[Any], ...]:
        return tuple(self._column(where, queues, *one) for one in self._columns)

    def _column(
        self,
        where: str,
        queues: tuple[str, ...],
        name: str,
        given: Any,
        kind: type[Any],
        least: int,
    ) -> NDArray[Any]:
        most = int(np.iinfo(kind).max)
        try:
            column = np.asarray(given)
        except ValueError:
            column = np.asarray([None, None])
        if column.shape not in ((), (len(queues),)):
            raise _native.Error(
                f"{where}: {name} has the shape {column.shape}; it is one number, or one for each "
                f"of {len(queues)} queues"
            )
        values = np.broadcast_to(column, len(queues))
        for queue, value in zip(queues, values.tolist(), strict=True):
            if not (isinstance(value, (int, float)) and value == value // 1):
                problem = "is not a whole number"
            elif not least <= value <= most:
                problem = f"is not from {least} to {most}"
            else:
                continue
            raise _native.Error(f"{where}: {name} of queue `{queue}` is {value!r}; this {problem}")
        return values.astype(kind)


class Policy:
    """A policy of one's own, for experiments.

    ``ask`` is called with a ``View`` at time 0 and at each multiple of ``every``; with
    ``every=None`` before each instant at which something happens, which is what an order of the
    engine's own sees, and slower. It returns a key for each queue, in the order of
    ``view.queues``, or by name: the smallest is served next, equal ones in order of declaration. A
    key is compared with those of the siblings. Keys hold until the next tick. Or it returns
    ``Ranks``.

    Where ``ask`` has a method ``reset``, it is called before each run. ``name`` is what results
    call the policy. ``settings`` are keys of the order ``told``: ``"when_blocked=reserve"``.
    """

    def __init__(
        self,
        ask: Ask,
        *,
        every: Every | None = "5min",
        name: str | None = None,
        settings: str = "",
    ) -> None:
        if not callable(ask):
            raise _native.Error(f"a policy is called; {ask!r} cannot be")
        self.ask = ask
        self.name = name or str(getattr(ask, "__name__", type(ask).__name__))
        self._every = None if every is None else cadence(every)
        self._words = told(settings)

    def __repr__(self) -> str:
        return f"<meed.Policy: {self.name}>"


class Asked:
    """What the compiled half calls in a run."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._fixed: dict[str, Any] = {}

    def __call__(self, fields: dict[str, Any]) -> NDArray[Any] | tuple[NDArray[Any], ...]:
        fixed = fields.pop("fixed")
        if fixed is not None:
            self._fixed = kept(fixed)
            reset: Callable[[], object] | None = getattr(self._policy.ask, "reset", None)
            if callable(reset):
                reset()
        view = View(self._fixed, fields)
        where = f"policy `{self._policy.name}` at {view.time:g} s"
        return checked(where, view.queues, self._policy.ask(view))


def kept(fixed: dict[str, Any]) -> dict[str, Any]:
    """What stays as it is over a run, so that nobody can change it."""
    for name, value in fixed.items():
        if isinstance(value, list):
            fixed[name] = tuple(value)
        elif isinstance(value, np.ndarray):
            value.flags.writeable = False
    return fixed


def told(settings: str) -> str:
    """The order in the words of the program."""
    return f"told,{settings}" if settings else "told"


def cadence(every: Every) -> int:
    """A cadence in microseconds."""
    if isinstance(every, datetime.timedelta):
        return _native.cadence(f"{every // datetime.timedelta(microseconds=1)}us")
    if isinstance(every, str):
        return _native.cadence(every)
    if isinstance(every, numbers.Real) and not isinstance(every, bool):
        return _native.cadence(f"{float(every):.6f}")
    raise _native.Error(f"every: {every!r} is no cadence; write 300, '5min' or a timedelta")


def checked(
    where: str, queues: tuple[str, ...], answer: Any
) -> NDArray[Any] | tuple[NDArray[Any], ...]:
    """Keys as an array of floats, or columns of ranks."""
    if isinstance(answer, Ranks):
        return answer._told(where, queues)
    if isinstance(answer, Mapping):
        unknown = [name for name in answer if name not in queues]
        if unknown:
            known = ", ".join(queues[:10])
            raise _native.Error(f"{where}: there is no queue `{unknown[0]}`; there are {known}")
        absent = [name for name in queues if name not in answer]
        if absent:
            raise _native.Error(f"{where}: queue `{absent[0]}` has no key")
        answer = [answer[name] for name in queues]
    try:
        keys = np.asarray(answer)
    except ValueError:
        keys = np.asarray(None)
    if keys.ndim != 1:
        kind = type(answer).__name__
        raise _native.Error(f"{where}: a {kind} came back; wanted is a key for each queue")
    if len(keys) != len(queues):
        raise _native.Error(f"{where}: {len(keys)} keys came back for {len(queues)} queues")
    if keys.dtype.kind not in "biuf":
        for queue, key in zip(queues, answer, strict=True):
            if not isinstance(key, numbers.Real):
                raise _native.Error(
                    f"{where}: the key of queue `{queue}` is {key!r}; a key is a number"
                )
    try:
        floats = keys.astype(np.float64)
    except (OverflowError, TypeError, ValueError) as why:
        raise _native.Error(f"{where}: keys are no numbers: {why}") from None
    is_nan = np.isnan(floats)
    if is_nan.any():
        queue = queues[int(is_nan.argmax())]
        raise _native.Error(f"{where}: the key of queue `{queue}` is nan; a key is a number")
    return floats
