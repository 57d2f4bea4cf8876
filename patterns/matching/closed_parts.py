"""
Parts of a pattern that are matched once per value: what the rest of the rule cannot see, it need not try again.

A part is closed when none of its names occurs elsewhere in the rule. To the rest of the rule it then matters whether
the part matches a value, and not how. So its first match stands, and the result is remembered for as long as the match
of the rule lasts. Each pair of a closed part and a value is tried once: where parts are closed, the steps of a match
grow with the size of the pattern times the number of values that it meets, and not with the number of ways to match.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from itertools import islice
from math import factorial
from typing import Any, Final

from xdsl.ir import SSAValue

from ..language.constraints import Holds, Where
from ..language.loops import Loops
from ..language.patterns import Capture, Op, Or, Pattern, Rest
from ..language.rules import Bound, Rule
from .tracing import MATCH, Bindings, Next, ValueMatcher

FEW_WAYS = 64
"""A rule that has at most so many ways to match is tried in all of them, which costs less than to remember."""

MOST_PERMUTED_OPERANDS: Final = 4
"""The most operands of a commutative op that are tried in every order. More are tried as written."""

CLOSED: ContextVar[dict[int, ValueMatcher | None] | None] = ContextVar("CLOSED", default=None)
"""The identities of the closed parts of the rule that is being compiled, each with its matcher once there is one."""

_UNTRIED: Final = object()


def match_once(pattern: Pattern, alone: ValueMatcher, following: Next) -> ValueMatcher:
    """Returns the matcher of a closed part. `alone` matches the part and nothing after it."""
    number = id(pattern)

    def match_part(value: SSAValue, bound: Bindings) -> bool:
        tried = bound[MATCH].tried
        known = tried.get((number, value), _UNTRIED)
        if known is None:
            return False
        size = len(bound)
        if known is not _UNTRIED:
            bound.update(known)
        elif alone(value, bound):
            # Names of the part are new, so that they stand behind all others.
            tried[number, value] = dict(islice(reversed(bound.items()), len(bound) - size))
        else:
            tried[number, value] = None
            return False
        if following(bound):
            return True
        while len(bound) > size:
            bound.popitem()
        return False

    return match_part


def closed_parts(rule: Rule, parts: Sequence[Pattern]) -> dict[int, ValueMatcher | None]:
    """Returns the identities of the closed parts of a rule that can match in several ways. `parts` go bottom up."""
    if rule.injective:  # Every name matters to the others.
        return {}
    roots = (rule.lhs, *rule.free)
    ways = _ways(parts)
    total_ways = 1
    for root in roots:
        total_ways *= ways[id(root)]
    if total_ways <= FEW_WAYS:
        return {}
    tested = _tested_at_the_end(rule, parts)
    names = _names(parts, tested | _shared(roots, parts))
    total: Counter[str] = Counter()
    for root in roots:
        total += names[id(root)]
    branching = [part for part in parts if ways[id(part)] > 1]
    return {id(part): None for part in branching if _is_closed(part, names[id(part)], total, tested)}


def _is_closed(part: Pattern, names: Counter[str], total: Counter[str], tested: set[str]) -> bool:
    """Returns whether all names below `part` occur there alone. Its own name has one meaning at a value."""
    return all(total[name] == number and (name not in tested or name == part.key) for name, number in names.items())


def _ways(parts: Sequence[Pattern]) -> dict[int, int]:
    """Returns how many ways there are at most to match each part at a value, by its alternatives and orders."""
    ways: dict[int, int] = {}
    for part in parts:
        below = [ways[id(each)] for each in part.parts()]
        number = sum(below) if isinstance(part, Or) else 1
        if isinstance(part, Op):
            operands = sum(not isinstance(each, Rest) for each in part.parts())
            number = factorial(operands) if part.is_unordered or operands <= MOST_PERMUTED_OPERANDS else 1
        if isinstance(part, Loops) and part.is_unordered:
            number = factorial(len(part.single_arguments))
        for each in () if isinstance(part, Or) else below:
            number *= each
        ways[id(part)] = min(number, FEW_WAYS + 1)
    return ways


def _own_names(part: Pattern) -> list[str]:
    attributes = getattr(part, "attributes", ())
    return [part.key, *(wanted.key for _, wanted in attributes if isinstance(wanted, Capture))]


def _shared(roots: Iterable[Pattern], parts: Sequence[Pattern]) -> set[str]:
    """Returns the names that occur more than once, because several parts have them or a part stands below several."""
    above = Counter(id(each) for part in parts for each in part.parts()) + Counter(id(root) for root in roots)
    holders = Counter(name for part in parts for name in _own_names(part))
    several: set[int] = set()
    for part in reversed(parts):  # From the roots down.
        if above[id(part)] > 1 or id(part) in several:
            several.update((id(part), *(id(each) for each in part.parts())))
    return {name for part in parts for name in _own_names(part) if holders[name] > 1 or id(part) in several}


def _names(parts: Sequence[Pattern], wanted: set[str]) -> dict[int, Counter[str]]:
    """Returns how often each wanted name occurs at most in one match of a part. Of alternatives one is matched."""
    names: dict[int, Counter[str]] = {}
    for part in parts:
        below: Counter[str] = Counter()
        for each in part.parts():
            below = below | names[id(each)] if isinstance(part, Or) else below + names[id(each)]
        names[id(part)] = below + Counter(name for name in _own_names(part) if name in wanted)
    return names


def _tested_at_the_end(rule: Rule, parts: Sequence[Pattern]) -> set[str]:
    """Returns the names that tests look at after the whole pattern has matched."""
    tested: set[str] = {*rule.also}
    for required in rule.when:
        tested.update(required.keys)
    for part in parts:
        if isinstance(part, Where) and isinstance(part.test, Holds) and part.test.others:
            tested |= {part.key, *part.test.others}
    if len(rule.rhs) == 1 and isinstance(rule.rhs[0], Bound):  # Its type is compared with that of the root.
        tested.add(rule.rhs[0].key)
    return tested


def count_step(bound: dict[str, Any]) -> None:
    """Counts one choice among orders or alternatives. Raises `TooManySteps` beyond `MOST_STEPS`."""
    match = bound[MATCH]
    match.steps += 1
    if match.steps > MOST_STEPS:
        raise TooManySteps(f"{MOST_STEPS} choices")


MOST_STEPS = 100_000
"""The most choices of one match. To match a pattern with shared names is NP-hard where operands may be swapped."""


class TooManySteps(Exception):
    """A match has taken more than `MOST_STEPS` choices."""
