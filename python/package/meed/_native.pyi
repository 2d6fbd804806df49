"""The compiled half, which the other modules give names and defaults."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

VERSION: str

class Error(Exception):
    """What is wrong, and what would be right.

    ``code`` is the program's exit code (docs/exit-codes.md): 2 for what is asked for wrongly, 3 for
    a wrong input, 4 for a file that cannot be read, 5 for a run that could not go on.
    """

    code: int

class Jobs:
    @staticmethod
    def of_arrow(
        frame: object,
        columns: dict[str, str],
        demand: dict[str, int | float | str] | None,
    ) -> Jobs: ...
    @staticmethod
    def of_arrays(
        arrays: Sequence[tuple[str, str, object]],
        columns: dict[str, str],
        demand: dict[str, int | float | str] | None,
    ) -> Jobs: ...
    @property
    def queues(self) -> list[str]: ...
    def __len__(self) -> int: ...

class Scenario:
    @staticmethod
    def load(path: str, sets: list[str], jobs: Jobs | None, strict: bool) -> Scenario: ...
    @staticmethod
    def of(
        data: Mapping[str, Any], name: str, folder: str, jobs: Jobs | None, strict: bool
    ) -> Scenario: ...
    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def queues(self) -> list[str]: ...
    @property
    def resources(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def policies(self) -> list[str]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def assumes_size(self) -> bool: ...
    @property
    def left_out(self) -> list[int]: ...

class Memory:
    def __new__(cls, folder: str, name: str, bytes: bytes) -> Memory: ...
    @property
    def path(self) -> str: ...

class Answer:
    @property
    def json(self) -> str: ...
    @property
    def remarks(self) -> list[str]: ...
    def text(self, width: int) -> str: ...
    def html(self) -> str: ...

class Results:
    @property
    def scenario(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def policies(self) -> list[str]: ...
    @property
    def assumptions(self) -> list[str]: ...
    @property
    def skipped(self) -> list[str]: ...
    @property
    def baseline(self) -> str | None: ...
    @property
    def refused(self) -> list[tuple[str, int, str | None]]: ...
    def summary(self) -> dict[str, NDArray[Any]]: ...
    def tenants(self) -> dict[str, NDArray[Any]]: ...
    def groups(self) -> dict[str, NDArray[Any]]: ...
    def jobs(self) -> dict[str, NDArray[Any]]: ...
    def series(self) -> dict[str, NDArray[Any]]: ...
    def pool_series(self) -> dict[str, NDArray[Any]]: ...
    def json(self) -> str: ...
    def text(self, width: int) -> str: ...
    def html(self) -> str: ...

class Session:
    def __new__(
        cls,
        scenario: Scenario,
        words: str,
        every: int,
        seed: int | None,
        strict: bool,
        keep_jobs: bool,
    ) -> Session: ...
    def next(self, answer: object | None) -> tuple[dict[str, Any], bool, bool]: ...
    def results(self) -> Results: ...
    def close(self) -> None: ...

class Allocation:
    @property
    def policy(self) -> str: ...
    @property
    def level(self) -> float | None: ...
    @property
    def users(self) -> list[str]: ...
    @property
    def resources(self) -> list[str]: ...
    @property
    def remarks(self) -> list[str]: ...
    @property
    def servers(self) -> int: ...
    @property
    def checked(self) -> tuple[float, float, float, float]: ...
    def tasks(self) -> NDArray[np.float64]: ...
    def dominant_share(self) -> NDArray[np.float64]: ...
    def served(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
    def json(self) -> str: ...

def simulate(
    scenario: Scenario,
    policies: list[str],
    names: list[str],
    asked: Sequence[tuple[Callable[[dict[str, Any]], object], int | None] | None],
    baseline: str | None,
    seed: int | None,
    series: int,
    strict: bool,
    keep_jobs: bool,
    overtaken: bool,
    progress: Callable[[str, float, int, float | None], object] | None,
    log: str | None,
) -> Results: ...
def cadence(text: str) -> int: ...
def stream_of(arrays: Sequence[tuple[str, str, object]]) -> object: ...
def table_of_arrow(frame: object) -> bytes: ...
def table_of_arrays(arrays: Sequence[tuple[str, str, object]]) -> bytes: ...
def read_jobs(
    scenario: Scenario, seed: int | None, strict: bool
) -> tuple[dict[str, NDArray[Any]], list[str], list[str], int | None]: ...
def trace_of(jobs: Jobs, scenario: Scenario) -> bytes: ...
def document(text: str) -> str: ...
def changes(
    input: str, sets: list[str], cluster: str | None, weights: str | None, strict: bool
) -> tuple[list[str], list[str]]: ...
def advise(
    log: str,
    sets: list[str],
    policies: list[str],
    baseline: str | None,
    cluster: str | None,
    weights: str | None,
    aim: str | None,
    at_most: list[str],
    loads: list[str],
    seeds: int,
    strict: bool,
    threads: int,
    progress: Callable[[int, int], object] | None,
) -> Answer: ...
def sweep(
    scenario: str,
    sets: list[str],
    over: list[str],
    policies: list[str],
    baseline: str | None,
    seeds: int,
    first_seed: int | None,
    strict: bool,
    threads: int,
    progress: Callable[[int, int], object] | None,
) -> tuple[Answer, list[str]]: ...
def rivals(
    log: str,
    sets: list[str],
    orders: list[str],
    baseline: str | None,
    cadence: str | None,
    loads: list[str],
    seeds: int,
    liars: int,
    strict: bool,
    threads: int,
    progress: Callable[[int, int], object] | None,
) -> Answer: ...
def audit(
    policies: list[str],
    every_order: bool,
    properties: list[str],
    tasks: list[str],
    trials: int,
    seed: int,
    out: str | None,
    progress: Callable[[int, int], object] | None,
) -> Answer: ...
def explain(
    log_file: str, job: str | None, queue: str | None, at: str | None, run: str | None
) -> tuple[str, str, list[str]]: ...
def replay(
    log_file: str,
    policies: list[str],
    run: str | None,
    cluster: str | None,
    sets: list[str],
    weights: str | None,
    series: int,
    progress: Callable[[str, float, int, float | None], object] | None,
    log: str | None,
) -> tuple[Results, list[str]]: ...
def verify(
    log_file: str,
    run: str | None,
    progress: Callable[[str, float, int, float | None], object] | None,
) -> tuple[tuple[int, str | None, str | None] | None, list[str]]: ...
def allocate(
    capacity: NDArray[np.float64],
    demand: NDArray[np.float64],
    policy: str,
    counts: NDArray[np.float64] | None,
    weights: NDArray[np.float64] | None,
    tasks: NDArray[np.float64] | None,
    used: NDArray[np.float64] | None,
    credits: NDArray[np.float64] | None,
    commitment: NDArray[np.float64] | None,
    paid: NDArray[np.float64] | None,
    received: NDArray[np.float64] | None,
    worth: float,
    resources: list[str] | None,
    users: list[str] | None,
    slots_per_server: int | None,
) -> Allocation: ...
def allocate_document(text: str, policy: str, slots_per_server: int | None) -> Allocation: ...
