"""An environment of Gymnasium: whoever acts in it orders the queues of a simulated cluster.

With ``meed.gym`` imported ``gymnasium.make("meed/Queues-v0", scenario=...)`` makes one; the
arguments are those of ``MeedEnv``.
It needs gymnasium: ``pip install 'meed[gym]'``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from meed import _native
from meed._input import Cluster, Source, Weights
from meed._jobs import Jobs
from meed._policy import Every, View, cadence, checked, kept, told
from meed._results import Results
from meed._simulate import scenario_of

try:
    import gymnasium
    from gymnasium.spaces import Box
except ImportError as why:
    raise ImportError("meed.gym needs gymnasium; pip install 'meed[gym]' brings it") from why

__all__ = ["FEATURES", "MOST", "MeedEnv", "job_hours", "register"]

#: The name of the environment.
NAME = "meed/Queues-v0"

#: What is observed of each queue, in the order of the columns. ``share``, ``held`` and ``wants``
#: are parts of the cluster; ``running``, ``waiting`` and ``jobs`` are logarithms of one more than
#: the number; ``used`` is the part of all that was used so far, ``lately`` the part of what the
#: cluster had since the last step. All of the resource that fairness is measured in.
FEATURES = ("share", "held", "wants", "running", "waiting", "jobs", "used", "lately")

#: The most that is observed of each. A queue may want more than ten times the cluster: it is ten
#: then. A logarithm of 44 is of more tasks than there can be.
MOST = (1.0, 1.0, 10.0, 44.0, 44.0, 44.0, 1.0, 1.0)

Observation = NDArray[np.float32]


def job_hours(before: View, after: View) -> float:
    """Minus the job-hours since the last step: over an episode, minus the sum of all job times."""
    return 0.0 - after.job_seconds / 3600


class MeedEnv(gymnasium.Env[Observation, NDArray[np.float32]]):
    """A cluster whose queues are ordered anew at each step.

    An action is a key for each queue, in order of ``queues``: the smallest is served next until the
    next step, equal ones in order of declaration; a key is compared with those of the siblings.
    Only the order counts: keys beyond -1 and 1 are taken too. An observation has a row for each
    queue, and a column for each of ``FEATURES``.

    A step is ``every`` of the cluster's time; the last one of an episode may be shorter. An episode
    is a run of the scenario: terminated when everything has ended, truncated where the scenario
    says when (``run.until``). ``reward`` is called with the views before and after a
    step; without it, it is ``job_hours``.

    ``reset(seed=s)`` runs with that seed, as ``simulate(..., seed=s)`` does. The first episode
    without a seed has the scenario's, each later one another, drawn by ``np_random``. After an
    episode ``results`` has what ``simulate`` returns. ``settings`` are keys of the order ``told``.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        scenario: Source,
        *,
        every: Every = "5min",
        reward: Callable[[View, View], SupportsFloat] = job_hours,
        jobs: Jobs | object | None = None,
        cluster: Cluster | None = None,
        weights: Weights | None = None,
        map: Mapping[str, str | None] | None = None,
        render_mode: None = None,
        sets: Iterable[str] = (),
        strict: bool = False,
        keep_jobs: bool = False,
        settings: str = "",
        name: str = "scenario",
        folder: str | PathLike[str] = ".",
    ) -> None:
        scenario = scenario_of(scenario, jobs, cluster, weights, map, sets, strict, name, folder)
        if render_mode is not None:
            raise _native.Error(f"render_mode is {render_mode!r}; nothing is drawn: it is None")
        self.render_mode = None
        self.scenario = scenario
        self.queues = tuple(scenario.queues)
        self.view: View | None = None
        self.results: Results | None = None
        self._every = cadence(every)
        self._reward = reward
        self._words = told(settings)
        self._strict, self._keep_jobs = strict, keep_jobs
        self._session: _native.Session | None = None
        self._fixed: dict[str, Any] = {}
        queues = len(self.queues)
        most = np.tile(np.asarray(MOST, dtype=np.float32), (queues, 1))
        self.observation_space = Box(np.zeros_like(most), most, dtype=np.float32)
        self.action_space = Box(-1, 1, (queues,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode."""
        if seed is None and self._np_random is None:
            seed = self.scenario.seed
        super().reset(seed=seed)
        of_run = int(self.np_random.integers(1 << 62)) if seed is None else int(seed) % (1 << 63)
        self.close()
        self.results = None
        self._session = _native.Session(
            self.scenario._native,
            self._words,
            self._every,
            of_run,
            self._strict,
            self._keep_jobs,
        )
        view, is_over, _ = self._next(None)
        if is_over:
            raise _native.Error(f"{self.scenario.name}: nothing happens in it; it needs jobs")
        return observe(view), {"time": view.time, "seed": of_run}

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Orders the queues, and lets ``every`` pass."""
        before = self.view
        if self._session is None or before is None:
            raise _native.Error("no episode goes on; reset() begins one")
        keys = checked(f"action at {before.time:g} s", self.queues, action)
        after, is_over, is_cut = self._next(keys)
        reward = float(self._reward(before, after))
        info = {"time": after.time, "job_seconds": after.job_seconds}
        return observe(after), reward, is_over and not is_cut, is_over and is_cut, info

    def close(self) -> None:
        """Ends the episode where it is."""
        if self._session is not None:
            self._session.close()
        self._session = None

    def _next(self, answer: Any) -> tuple[View, bool, bool]:
        session = self._session
        assert session is not None
        try:
            fields, is_over, is_cut = session.next(answer)
        except BaseException:
            self.close()
            raise
        fixed = fields.pop("fixed")
        if fixed is not None:
            self._fixed = kept(fixed)
        self.view = View(self._fixed, fields)
        if is_over:
            native = session.results()
            remarks = [f"skipped {line}" for line in native.skipped]
            self.results = Results(native, self.scenario.remarks + remarks, self.scenario._notes)
            self.close()
        return self.view, is_over, is_cut


def observe(view: View) -> Observation:
    """The columns of ``FEATURES``."""
    capacity = float(view.capacity[view.resources.index(view.resource)])
    part = 1 / capacity if capacity > 0 else 0.0
    used = float(view.used[view.parents < 0].sum())
    since = part / view.elapsed if view.elapsed > 0 else 0.0
    columns = [
        view.share * part,
        view.held * part,
        view.wants * part,
        np.log1p(view.running),
        np.log1p(view.waiting),
        np.log1p(view.jobs),
        view.used / used if used > 0 else view.used * 0,
        view.lately * since,
    ]
    seen = np.stack(columns, axis=1)
    bounded: Observation = np.clip(seen, 0, np.asarray(MOST)).astype(np.float32)
    return bounded


def register() -> None:
    """Makes the environment known to ``gymnasium.make``: ``import meed.gym`` does so, as does a
    name with the module before it, ``"meed.gym:meed/Queues-v0"``."""
    if NAME not in gymnasium.registry:
        gymnasium.register(id=NAME, entry_point="meed.gym:MeedEnv")


register()
