"""Patterns whose names stand for many values: what holds for all of a list of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..language.chains import all_key as all_key
from ..language.patterns import Pattern, all_below
from .early_conditions import conditions_at_the_end
from .matcher import compile_value, with_late_tests
from .tracing import TRACER, Bindings, Next, value_name

MadeT = TypeVar("MadeT")


def untraced(make: Callable[[], MadeT]) -> MadeT:
    """Returns what `make` compiles, whose failures `explain` does not report."""
    token = TRACER.set(None)
    try:
        return make()
    finally:
        TRACER.reset(token)


def compile_each(key: str, pattern: Pattern, following: Next) -> Next:
    """Returns the test that `pattern` matches each of the values bound to `key`, before `following`."""
    own = {part.key for part in all_below(pattern)}
    found: list[Bindings] = []
    at_end: Next = lambda bound: found.append(dict(bound)) is None  # noqa: E731
    with conditions_at_the_end():
        match_one = untraced(lambda: compile_value(pattern, with_late_tests(pattern, at_end)))
    tracer = TRACER.get()

    def match_each(bound: Bindings) -> bool:
        outside = {name: thing for name, thing in bound.items() if name not in own}
        found.clear()
        for number, value in enumerate(bound[key]):
            if not match_one(value, dict(outside)):
                if tracer is not None:
                    tracer.structure(bound, f"{value_name(value)}, number {number} of the rest, does not match")
                return False
        ways = list(found)
        for name in own:
            bound[all_key(name)] = tuple(way[name] for way in ways if name in way)
        if following(bound):
            return True
        for name in own:
            del bound[all_key(name)]
        return False

    return match_each


__all__ = ["all_key", "compile_each", "untraced"]
