"""Where a scenario is: a file, or files in memory that stand for it.

Whatever is given (a path, a dict, a frame, a log that was read) becomes a path and changes of what
is there, as the program's command line has them. So a frame is read by the rules of a CSV, and all
that a file can be asked a frame can be asked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from meed import _native
from meed._frames import is_frame, table_of

if TYPE_CHECKING:
    from meed._jobs import Jobs
    from meed._read import Log
    from meed._simulate import Scenario

#: What can be run.
Source: TypeAlias = "Scenario | Log | Mapping[str, Any] | Jobs | str | PathLike[str] | object"
#: A cluster: the file of a site, or what stands in ``[cluster]`` of a scenario.
Cluster: TypeAlias = "str | PathLike[str] | Mapping[str, Any]"
#: Weights: a file, a frame, or a dict by names of queues.
Weights: TypeAlias = "str | PathLike[str] | Mapping[str, float] | object"

#: One word, or several.
Words: TypeAlias = "str | Iterable[str]"


@dataclass
class Input:
    """A path, and changes of what is there."""

    path: str
    sets: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    #: Of the log that the jobs are from.
    assumptions: list[str] = field(default_factory=list)
    #: Files in memory: they are there as long as this.
    held: list[_native.Memory] = field(default_factory=list)

    def changed(self, cluster: str | None, weights: Weights | None, strict: bool) -> None:
        """Changes it by the files of a site."""
        if cluster is None and weights is None:
            return
        weights = None if weights is None else self._weights(weights)
        self.sets, said = _native.changes(self.path, self.sets, cluster, weights, strict)
        self.remarks += said

    def _weights(self, weights: Any) -> str:
        if isinstance(weights, (str, PathLike)):
            return os.fspath(weights)
        if isinstance(weights, Mapping):
            weights = {"queue": list(weights), "weight": list(weights.values())}
        memory = _native.Memory("/", "weights.csv", table_of(weights))
        self.held.append(memory)
        return memory.path


def words_of(given: Words) -> list[str]:
    """One word or several, as a list."""
    return [given] if isinstance(given, str) else list(given)


def of_frame(frame: object) -> Input:
    """A frame alone: a log whose cluster nobody knows."""
    memory = _native.Memory("/", "frame.csv", table_of(frame))
    return Input(memory.path, held=[memory])


def of_text(text: str, folder: str, name: str, trace: str | None, held: Any) -> Input:
    """A scenario as text, which may be given a trace."""
    if trace is not None:
        text += f"\n[trace]\nfile = {json.dumps(trace)}\n"
    name = os.path.basename(name) or "scenario"
    name = name if name.endswith(".toml") else f"{name}.toml"
    memory = _native.Memory(folder, name, text.encode())
    return Input(memory.path, held=[memory, *held])


def is_log(source: object) -> bool:
    """Whether a source is a frame, and so a log."""
    return not isinstance(source, Mapping) and is_frame(source)


def columns_of(map: Mapping[str, str | None] | None) -> dict[str, str]:
    """What is in which column, as ``--map`` has it."""
    return {key: "-" if column is None else column for key, column in (map or {}).items()}


def sets_of(
    sets: Iterable[str], map: Mapping[str, str | None] | None, cluster: Cluster | None
) -> list[str]:
    """Changes of a scenario, with what is in which column and which cluster it is."""
    all_sets = words_of(sets)
    for key, column in columns_of(map).items():
        all_sets.append(f"trace.map.{key}={json.dumps(column)}")
    if isinstance(cluster, Mapping):
        all_sets.insert(0, f"cluster={inline(cluster)}")
    return all_sets


def file_of(cluster: Cluster | None) -> str | None:
    """The file of a site's cluster, where it is one."""
    if cluster is None or isinstance(cluster, Mapping):
        return None
    return os.fspath(cluster)


def inline(value: Any) -> str:
    """A value as TOML has it in a line."""
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(str(key))} = {inline(one)}" for key, one in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(inline, value)) + "]"
    if hasattr(value, "tolist"):
        return inline(value.tolist())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    return json.dumps(os.fspath(value) if isinstance(value, PathLike) else str(value))
