"""The arguments that a caller gives away, by their names."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from .errors import CompileError


def donated_numbers(patterns: str | Sequence[str], names: Sequence[str], entry: str) -> list[int]:
    """
    Returns the numbers of the arguments whose names match one of `patterns`, such as `past_*`.

    Raises CompileError for a pattern that matches none.
    """
    found: set[int] = set()
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        matching = [number for number, name in enumerate(names) if fnmatchcase(name, pattern)]
        if not matching:
            known = ", ".join(f"'{name}'" for name in names)
            raise CompileError(f"donate is '{pattern}', but no argument of @{entry} has such a name; there are {known}")
        found.update(matching)
    return sorted(found)
