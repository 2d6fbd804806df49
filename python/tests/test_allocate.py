"""The exact allocation: the program's own results, on arrays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import meed
import numpy as np
import pytest
from conftest import Run

MEMORYLESS = ["drf", "drfh", "per-server-drf", "slots"]
WITH_A_PAST = ["long-term-drf", "sdrf", "mr-karma"]
CASES = [("drfh.json", policy) for policy in MEMORYLESS + WITH_A_PAST]
CASES += [("paid.json", policy) for policy in [*MEMORYLESS, *WITH_A_PAST, "as-you-pay"]]


@pytest.mark.parametrize(("name", "policy"), CASES)
def test_the_examples(name: str, policy: str, examples: Path, meed_program: Run) -> None:
    file = examples / name
    told = meed_program("allocate", file, "--policy", policy, "--json", "-")
    assert told.returncode == 0, told.stderr
    of_text = meed.allocate_document(file.read_text(), policy=policy)
    assert of_text.json() == told.stdout
    problem: dict[str, Any] = json.loads(file.read_text())
    assert meed.allocate_document(problem, policy=policy).json() == told.stdout
    resources = list(problem["servers"][0]["capacity"])

    def rows(entries: list[dict[str, Any]], key: str) -> list[list[float]]:
        return [[one[key][name] for name in resources] for one in entries]

    of_arrays = meed.allocate(
        rows(problem["servers"], "capacity"),
        rows(problem["users"], "demand"),
        policy=policy,
        counts=[server.get("count", 1) for server in problem["servers"]],
        weights=[user.get("weight", 1) for user in problem["users"]],
        tasks=[np.inf if user.get("tasks") is None else user["tasks"] for user in problem["users"]],
        used=[user.get("used", 0) for user in problem["users"]],
        credits=[user.get("credits", 0) for user in problem["users"]],
        commitment=[user.get("commitment", 0) for user in problem["users"]],
        paid=[user.get("paid", 0) for user in problem["users"]],
        received=[user.get("received", 0) for user in problem["users"]],
        worth=problem.get("worth", 1),
        resources=resources,
        users=[user["name"] for user in problem["users"]],
    )
    assert of_arrays.json() == told.stdout


def test_arrays_of_a_result() -> None:
    draw = np.random.default_rng(5)
    capacity = draw.integers(8, 64, (20, 3)).astype(float)
    demand = draw.integers(1, 5, (30, 3)).astype(float)
    result = meed.allocate(capacity, demand, weights=np.arange(1, 31))
    told = result.to_dict()
    assert result.tasks.tolist() == [user["tasks"] for user in told["users"]]
    assert result.dominant_share.tolist() == [user["dominant_share"] for user in told["users"]]
    assert result.level == told["level"]
    assert result.users == [str(number) for number in range(30)]
    matrix = result.matrix()
    assert matrix.shape == (20, 30)
    assert np.allclose(matrix.sum(axis=0), result.tasks, rtol=1e-6)
    assert (matrix @ demand <= capacity * (1 + 1e-6)).all()
    assert set(result.checked) == {"overuse", "unsold", "short", "rise"}
    assert max(result.checked.values()) < 1e-6
    assert "30 users" in repr(result)


def test_ends_of_tasks() -> None:
    result = meed.allocate([[10, 10]], [[1, 1], [1, 1]], tasks=[2, np.inf])
    assert result.tasks.tolist() == pytest.approx([2, 8])
    everybody = meed.allocate([[10]], [[1]], tasks=[3])
    assert everybody.level is None
    assert everybody.tasks.tolist() == pytest.approx([3])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[1.0]], [[1.0, 2.0]]), "demand has 2 columns and capacity 1"),
        (([1.0], [[1.0]]), "capacity has 1 dimensions"),
        (([[1.0]], [[0.0]]), "a task demands nothing"),
        (([[1.0]], [[np.nan]]), "demand of `0` is NaN"),
        (([[1.0]], [[2.0]]), "the largest server has 1"),
        ((np.zeros((0, 1)), [[2.0]]), "servers"),
    ],
)
def test_what_is_no_problem_is_refused(arguments: Any, words: str) -> None:
    with pytest.raises(meed.Error, match=words) as raised:
        meed.allocate(*arguments)
    assert raised.value.code == 3


def test_other_arguments_that_mean_nothing() -> None:
    with pytest.raises(meed.Error, match="did you mean `drfh`"):
        meed.allocate([[1.0]], [[1.0]], policy="drfhh")
    with pytest.raises(meed.Error, match="weights has 2 values for 1 rows"):
        meed.allocate([[1.0]], [[1.0]], weights=[1, 2])
    with pytest.raises(meed.Error, match="users has 2 names for 1"):
        meed.allocate([[1.0]], [[1.0]], users=["a", "b"])
    with pytest.raises(meed.Error, match="slots_per_server"):
        meed.allocate([[1.0]], [[1.0]], policy="slots", slots_per_server=0)
    with pytest.raises(meed.Error, match="unknown field"):
        meed.allocate_document({"servers": [], "people": []})
