"""
Names of kernels for `perf`: the map `/tmp/perf-PID.map` of the Linux tools, a line per function.

See "tools/perf/Documentation/jit-interface.txt" of Linux.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Final

from .elf import ObjectFunction, functions_of_object

VARIABLE: Final = "STEPWELL_PERF"
"""The variable of the environment that asks for the map."""

_LOCK = Lock()
_LINES: list[str] = []
"""All lines of this process, for the map of a process that it forks."""


def is_wanted() -> bool:
    """Returns whether the environment asks for the map."""
    return os.environ.get(VARIABLE, "0") not in ("", "0")


def anchors(objects: Sequence[bytes]) -> list[str]:
    """Returns a function for each section of code of these objects whose address tells where the section is."""
    found: dict[tuple[int, int], str] = {}
    for number, code in enumerate(objects):
        for each in functions_of_object(code):
            if each.is_global:
                found.setdefault((number, each.section), each.name)
    return list(found.values())


def write(objects: Sequence[bytes], address: Callable[[str], int], names: Mapping[str, str]) -> None:
    """
    Adds the functions of loaded objects to the map. `address` tells those of `anchors`, and `names` is what the program
    calls functions that have another symbol.
    """
    lines: list[str] = []
    for code in objects:
        functions = functions_of_object(code)
        starts: dict[int, int] = {}
        for each in functions:
            if each.is_global and each.section not in starts:
                starts[each.section] = address(each.name) - each.offset
        lines += [_line(starts[each.section], each, names) for each in functions if each.section in starts]
    with _LOCK:
        _LINES.extend(lines)
        _append(lines)


def _line(start: int, function: ObjectFunction, names: Mapping[str, str]) -> str:
    return f"{start + function.offset:x} {function.size:x} stepwell::{names.get(function.name, function.name)}\n"


def path() -> str:
    """Returns the name of the map of this process, which `perf report` looks for."""
    return f"/tmp/perf-{os.getpid()}.map"


def _append(lines: Sequence[str]) -> None:
    """Adds lines to the file. It is not followed where it is a link, since anybody may make one in that folder."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    try:
        file = os.open(path(), flags, 0o600)
    except OSError:
        return  # Nothing depends on the map.
    with os.fdopen(file, "w") as opened:
        opened.writelines(lines)


def _after_fork() -> None:
    if _LINES:
        _append(_LINES)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
