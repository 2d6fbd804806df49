"""What tests share: the program to compare with, and the project's examples."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def examples() -> Path:
    return PROJECT / "examples"


@pytest.fixture
def meed_program() -> Run:
    """Runs the program of the same sources (cargo xtask python names it)."""
    program = os.environ["MEED_PROGRAM"]

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [program, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def traces() -> Path:
    """Real traces, where somebody says that there are some; then one that is missing fails."""
    folder = os.environ.get("MEED_TRACES")
    if folder is None:
        pytest.skip("MEED_TRACES names no folder with real traces")
    return Path(folder)


@contextmanager
def interrupted(seconds: float, within: float) -> Iterator[None]:
    """Ctrl-C comes so many seconds from now, and ends what is done here soon after."""

    def interrupt() -> None:
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGINT)

    before = time.monotonic()
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        try:
            yield
        finally:
            # Who was done before is interrupted here, and nobody later.
            thread.join()
    assert time.monotonic() - before < within


@contextmanager
def others_go_on(beats_a_second: float) -> Iterator[None]:
    """Meanwhile another thread counts, and comes to so many a second at least (a thousand, were
    there nothing else to do)."""
    beats, is_over = 0, threading.Event()

    def beat() -> None:
        nonlocal beats
        while not is_over.wait(0.001):
            beats += 1

    thread = threading.Thread(target=beat)
    thread.start()
    before = time.monotonic()
    try:
        yield
        seconds, counted = time.monotonic() - before, beats
    finally:
        is_over.set()
        thread.join()
    assert counted > max(5, beats_a_second * seconds)
