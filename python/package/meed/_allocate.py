"""The exact allocation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from meed import _native


class Allocation:
    """A pool, shared: how much everybody gets, where, and how far that is proven."""

    def __init__(self, native: _native.Allocation) -> None:
        self._native = native

    @property
    def policy(self) -> str:
        """The policy."""
        return self._native.policy

    @property
    def level(self) -> float | None:
        """The least share for its weight among users that want more; None when nobody does."""
        return self._native.level

    @property
    def users(self) -> list[str]:
        """Names of the users."""
        return self._native.users

    @property
    def resources(self) -> list[str]:
        """Names of the resources."""
        return self._native.resources

    @property
    def remarks(self) -> list[str]:
        """What the reader should know."""
        return self._native.remarks

    @property
    def checked(self) -> dict[str, float]:
        """How far the result may be from the optimum, as an independent check has found:
        ``overuse``, ``unsold``, ``short``, ``rise`` (docs/allocate.md)."""
        names = ("overuse", "unsold", "short", "rise")
        return dict(zip(names, self._native.checked, strict=True))

    @cached_property
    def tasks(self) -> NDArray[np.float64]:
        """Tasks served of each user, in fractions."""
        return self._native.tasks()

    @cached_property
    def dominant_share(self) -> NDArray[np.float64]:
        """Each user's share of the resource of which it takes the largest share."""
        return self._native.dominant_share()

    @cached_property
    def served(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Who is served where: server, user and tasks, as in a sparse matrix."""
        return self._native.served()

    def matrix(self) -> NDArray[np.float64]:
        """The same as a dense matrix: a row for each server, a column for each user."""
        servers, users, tasks = self.served
        matrix = np.zeros((self._native.servers, len(self.tasks)))
        matrix[servers, users] = tasks
        return matrix

    def json(self) -> str:
        """What ``meed allocate --json -`` prints (docs/allocate.md), prices included."""
        return self._native.json()

    def to_dict(self) -> dict[str, Any]:
        """The same, as Python's values."""
        read: dict[str, Any] = json.loads(self.json())
        return read

    def __repr__(self) -> str:
        level = "everybody has all" if self.level is None else f"level {self.level:.6g}"
        return f"<meed.Allocation: {self.policy}, {len(self.tasks)} users, {level}>"


def allocate(
    capacity: ArrayLike,
    demand: ArrayLike,
    *,
    policy: str = "drfh",
    counts: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    tasks: ArrayLike | None = None,
    used: ArrayLike | None = None,
    credits: ArrayLike | None = None,
    commitment: ArrayLike | None = None,
    paid: ArrayLike | None = None,
    received: ArrayLike | None = None,
    worth: float = 1.0,
    resources: Sequence[str] | None = None,
    users: Sequence[str] | None = None,
    slots_per_server: int | None = None,
) -> Allocation:
    """Shares a pool of servers among users exactly.

    ``capacity`` has a row for each class of servers and a column for each resource, ``demand`` a
    row for each user: what one task needs. ``counts`` are servers in each class (1), ``weights``
    (1), numbers of ``tasks`` (without end: infinity), and past usage in dominant shares (``used``,
    0) are of users. ``policy`` is drf, drfh, long-term-drf, sdrf, mr-karma, as-you-pay,
    per-server-drf or slots; ``commitment`` is for sdrf, ``credits`` for mr-karma, and ``paid``,
    ``received`` and the ``worth`` of the pool for as-you-pay.

    The solver copies what it is given, once, and holds no lock of Python's.
    """
    native = _native.allocate(
        _matrix("capacity", capacity),
        _matrix("demand", demand),
        policy,
        _vector("counts", counts),
        _vector("weights", weights),
        _vector("tasks", tasks),
        _vector("used", used),
        _vector("credits", credits),
        _vector("commitment", commitment),
        _vector("paid", paid),
        _vector("received", received),
        float(worth),
        None if resources is None else list(resources),
        None if users is None else list(users),
        slots_per_server,
    )
    return Allocation(native)


def allocate_document(
    problem: Mapping[str, Any] | str,
    *,
    policy: str = "drfh",
    slots_per_server: int | None = None,
) -> Allocation:
    """The same for a problem as ``meed allocate`` reads it (docs/allocate.md): a dict, or the text
    of its file."""
    text = problem if isinstance(problem, str) else json.dumps(problem)
    return Allocation(_native.allocate_document(text, policy, slots_per_server))


def _matrix(name: str, values: ArrayLike) -> NDArray[np.float64]:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2:
        raise _native.Error(f"{name} has {matrix.ndim} dimensions; it is a matrix, and has two")
    return matrix


def _vector(name: str, values: ArrayLike | None) -> NDArray[np.float64] | None:
    if values is None:
        return None
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1:
        raise _native.Error(f"{name} has {vector.ndim} dimensions; it has one value for each row")
    return vector
