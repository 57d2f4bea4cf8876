"""
Data classes of xDSL whose methods are made on first use, as those of our own classes are.

Python compiles the source of five methods for each data class, which is a third of the time to load xDSL: 0.1 s. While
modules are loaded for us, its decorator is another one, which leaves to Python all classes but those of xDSL and ours.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final

from ..lazy_dataclass import dataclass
from .messages.forks import free_in_children

_PYTHONS: Final = dataclasses.dataclass
_OWNERS: Final = ("xdsl", "stepwell")
_OPTIONS: Final = frozenset({"init", "repr", "eq", "frozen"})
_LOCK = Lock()
free_in_children(sys.modules[__name__], "_LOCK")
_inside = 0


def _late(cls: type | None = None, /, **options: Any) -> Any:
    """Stands for `dataclasses.dataclass` in modules that are loaded inside of `late_classes`, also later on."""

    def decorate(each: type) -> type:
        return (dataclass if _is_plain(each, options) else _PYTHONS)(each, **options)

    return decorate if cls is None else decorate(cls)


def _is_plain(cls: type, options: dict[str, Any]) -> bool:
    """Returns whether our decorator makes of a class of xDSL, or ours, what that of Python makes."""
    if cls.__module__.partition(".")[0] not in _OWNERS or not options.keys() <= _OPTIONS:
        return False
    kinds = map(str, vars(cls).get("__annotations__", {}).values())
    if any("InitVar" in kind or "KW_ONLY" in kind for kind in kinds):
        return False
    bases = [each for each in cls.__mro__[1:] if "__dataclass_params__" in vars(each)]
    inherited = [field for each in bases for field in each.__dataclass_fields__.values()]  # type: ignore[attr-defined]
    if any(isinstance(each, dataclasses.Field) and each.kw_only is True for each in (*vars(cls).values(), *inherited)):
        return False
    return len({each.__dataclass_params__.frozen for each in bases} | {options.get("frozen", False)}) == 1  # type: ignore[attr-defined]


@contextmanager
def late_classes() -> Iterator[None]:
    """Has data classes of xDSL that are defined inside the block make their methods on first use, in all threads."""
    global _inside
    with _LOCK:
        _inside += 1
        _replace(_late)
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if not _inside:
                _replace(_PYTHONS)


def _replace(decorator: Callable[..., Any]) -> None:
    dataclasses.dataclass = decorator  # pyright: ignore[reportAttributeAccessIssue]
