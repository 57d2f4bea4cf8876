"""The arguments that a caller gives away, by their names."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from ..core.messages.diagnostics import did_you_mean
from .errors import CompileError


def donated_numbers(patterns: Any, names: Sequence[str], entry: str) -> list[int]:
    """
    Returns the numbers of the arguments whose names are, or match, one of `patterns`, such as `past_*`.

    Raises CompileError for what is no text, and for a pattern that matches none.
    """
    found: set[int] = set()
    for pattern in _texts(patterns):
        matching = [number for number, name in enumerate(names) if _is_of(name, pattern)]
        if not matching:
            known = ", ".join(f"'{name}'" for name in names)
            near = did_you_mean(pattern, names)
            hint = "" if near is None else f"; {near}"
            raise CompileError(
                f"donate is '{pattern}', but no argument of {entry} has such a name; there are {known}{hint}"
            )
        found.update(matching)
    return sorted(found)


def _texts(patterns: Any) -> Sequence[str]:
    given = [patterns] if isinstance(patterns, str) else patterns
    if given is None:
        return ()
    if not isinstance(given, list | tuple | set | frozenset) or not all(
        isinstance(each, str) and each for each in given
    ):
        raise CompileError(f"donate is {patterns!r}, expected names of arguments, or patterns such as 'past_*'")
    return tuple(given)


def _is_of(name: str, pattern: str) -> bool:
    return name in (pattern, pattern.removeprefix("%")) or fnmatchcase(name, pattern)
