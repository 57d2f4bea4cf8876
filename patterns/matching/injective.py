"""The test of injective rules: different names stand for different values."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from xdsl.ir import Operation

from ..language.chains import Chain
from ..language.constraints import And, Not, Where
from ..language.patterns import Or, Pattern, Rest
from ..language.rules import Rule
from ..language.structures import Dominates
from .tracing import Bindings, Next


def names_of_one_value(rule: Rule) -> list[frozenset[str]]:
    """
    Returns the names of a rule in groups, of which each is of one value.

    The parts of a test, a conjunction or an alternative are about one value. Names inside paths, steps, negations and
    lists, which stand for many values or none, and those of operands that are left are in no group.
    """
    leader: dict[str, str] = {}

    def first(key: str) -> str:
        while leader.setdefault(key, key) != key:
            key = leader[key]
        return key

    done: set[int] = set()
    stack: list[Pattern] = [rule.lhs, *rule.free]
    while stack:
        part = stack.pop()
        if id(part) in done or isinstance(part, Rest):
            continue
        done.add(id(part))
        first(part.key)
        below = part.certain_parts() if isinstance(part, Dominates | Chain | Not) else part.parts()
        joined = below if isinstance(part, Where | And | Or) else ()
        joined = (part.child,) if isinstance(part, Dominates) else joined
        for each in joined:
            leader[first(each.key)] = first(part.key)
        stack.extend(below)
    groups: dict[str, set[str]] = {}
    for key in leader:
        groups.setdefault(first(key), set()).add(key)
    return [frozenset(group) for group in groups.values()]


def compile_injective(rule: Rule, following: Next) -> Next:
    """Returns `following` behind the test that no two names stand for one value, if the rule asks for it."""
    if not rule.injective:
        return following
    groups = names_of_one_value(rule)

    def are_different(bound: Bindings) -> bool:
        found = [{_thing(key, bound) for key in group if key in bound} for group in groups]
        return all(one.isdisjoint(other) for one, other in combinations(found, 2)) and following(bound)

    return are_different


def _thing(key: str, bound: Bindings) -> Any:
    """Returns a value, or an op that is no value. Of a branch with several results it is the one that is matched."""
    found = bound[key]
    if not isinstance(found, Operation):
        return found
    number = bound.get(f"{key}.result", 0 if len(found.results) == 1 else None)
    return found if number is None else found.results[number]


__all__ = ["compile_injective", "names_of_one_value"]
