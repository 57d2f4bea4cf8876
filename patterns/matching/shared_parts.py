"""
Parts that stand in several places of a pattern, and are compiled once for all of them.

A matcher ends by calling what comes after it, so a part is compiled anew for each place. Where parts that stand in
several places stand below each other, there would be as many matchers as ways down the pattern: a million for 20 levels
with two alternatives each. In such a pattern, what comes after a part is found when it matches, on a stack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Final

from ..language.patterns import Any_, Pattern
from .tracing import MATCH, Bindings, Next, ValueMatcher

FEW_PLACES: Final = 500
"""A pattern with so many places is compiled place by place, which makes the faster matchers."""

MANY_PLACES: Final = 10**9

SHARED: ContextVar[dict[int, dict[bool, ValueMatcher]] | None] = ContextVar("SHARED", default=None)
"""
The identities of the parts that are compiled once, with their matchers: one where conditions wait, and one elsewhere.
"""


def shared_parts(parts: Sequence[Pattern]) -> dict[int, dict[bool, ValueMatcher]]:
    """
    Returns the identities of the parts that are compiled once. There are none in a pattern of few places.

    `parts` are those of a rule, bottom up.
    """
    places: dict[int, int] = {}
    for part in parts:
        places[id(part)] = min(1 + sum(places[id(each)] for each in part.parts()), MANY_PLACES)
    if max(places.values()) <= max(FEW_PLACES, 2 * len(parts)):
        return {}
    above = Counter(id(each) for part in parts for each in part.parts())
    return {id(part): {} for part in parts if above[id(part)] > 1 and not isinstance(part, Any_)}


def match_shared(
    known: dict[bool, ValueMatcher], waits: bool, compile_before: Callable[[Next], ValueMatcher], following: Next
) -> ValueMatcher:
    """Returns the matcher of a shared part at one of its places. `compile_before` compiles it before what is given."""
    match_part = known.get(waits)
    if match_part is None:
        match_part = known[waits] = compile_before(_what_is_on_the_stack)

    def match_here(value: Any, bound: Bindings) -> bool:
        match = bound[MATCH]
        before = match.after
        match.after = (following, before)
        if match_part(value, bound):
            return True
        match.after = before
        return False

    return match_here


def _what_is_on_the_stack(bound: Bindings) -> bool:
    match = bound[MATCH]
    here = match.after
    following, match.after = here
    if following(bound):
        return True
    match.after = here
    return False


__all__ = ["SHARED", "match_shared", "shared_parts"]
