"""
Patterns of any depth: room for the calls of their matchers.

A matcher calls the matchers of the parts below it, so Python's limit on nested calls would be a limit on the depth of
patterns. The frames of these calls lie on the heap and not on the stack of the process. So the limit may be as high as
a pattern needs, and is put back afterwards.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from ...core.messages.forks import free_in_children
from ..language.patterns import Pattern

CALLS_PER_LEVEL: Final = 12
"""The most nested calls to compile or match one level of a pattern."""

FEW_LEVELS: Final = 25
"""A pattern of so many levels needs no room beyond what Python has."""

_LOCK = Lock()
free_in_children(sys.modules[__name__], "_LOCK")
_wanted: list[int] = []
_before = 0


def levels_of(parts: Iterable[Pattern]) -> int:
    """Returns the number of patterns on the longest way down through `parts`, which go bottom up."""
    levels: dict[int, int] = {}
    for part in parts:
        levels[id(part)] = 1 + max((levels[id(each)] for each in part.parts()), default=0)
    return max(levels.values(), default=0)


@contextmanager
def room_for(levels: int) -> Iterator[None]:
    """
    Raises Python's limit on nested calls by what a pattern of so many levels needs, inside the block.

    Concurrent uses add up, and the last to leave puts back what the first found.
    """
    if levels <= FEW_LEVELS:
        yield
        return
    _change(levels * CALLS_PER_LEVEL)
    try:
        yield
    finally:
        _change(-levels * CALLS_PER_LEVEL)


def _change(calls: int) -> None:
    global _before
    with _LOCK:
        if not _wanted:
            _before = sys.getrecursionlimit()
        if calls > 0:
            _wanted.append(calls)
        else:
            _wanted.remove(-calls)
        sys.setrecursionlimit(_before + sum(_wanted))
