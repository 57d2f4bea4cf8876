"""Asks what a class is, once. Classes of ops are abstract base classes, for which `isinstance` runs Python code."""

from __future__ import annotations

from functools import cache
from types import UnionType


@cache
def is_kind(kind: type, kinds: type | UnionType | tuple[type, ...]) -> bool:
    """Returns `issubclass(kind, kinds)`."""
    return issubclass(kind, kinds)
