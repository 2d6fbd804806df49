"""What tests share: the program to compare with, and the project's examples."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
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
