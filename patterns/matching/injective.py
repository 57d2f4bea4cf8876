"""The test of injective rules: different names stand for different values."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from xdsl.ir import Operation

from ..language.chains import Chain
from ..language.combinators import Together
from ..language.constraints import And, Not, Where
from ..language.patterns import Or, Pattern, Rest, Result, all_below
from ..language.rules import Rule
from ..language.structures import Dominates
from .jumping_back import blame_everything
from .tracing import Bindings, Next


def names_of_one_value(rule: Rule) -> list[frozenset[str]]:
    """
    Returns the names of a rule in groups, of which each is of one value.

    The parts of a test, a conjunction or an alternative are about one value, for example. Names inside paths, steps,
    negations and lists, which stand for many values or none, and those of operands that are left are in no group.
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
        for each in _of_its_value(part):
            leader[first(each.key)] = first(part.key)
        stack.extend(below)
    groups: dict[str, set[str]] = {}
    for key in leader:
        groups.setdefault(first(key), set()).add(key)
    return [frozenset(group) for group in groups.values()]


def _of_its_value(part: Pattern) -> tuple[Pattern, ...]:
    """Returns the parts of `part` that are, or may be, of the value or op that it stands for itself."""
    match part:
        case Where() | And() | Or():
            return part.parts()
        case Dominates():
            return (part.child,)
        case Together():
            return part.patterns[:1]
        case Chain():  # Without a step it is where it begins.
            return (part.start,)
        case _:
            return ()


def compile_injective(rule: Rule, following: Next) -> Next:
    """Returns `following` behind the test that no two names stand for one value, if the rule asks for it."""
    if not rule.injective:
        return following
    pairs = [pair for pair in combinations(names_of_one_value(rule), 2) if not _is_result_of_op(rule, *pair)]

    def are_different(bound: Bindings) -> bool:
        if all(_things(one, bound).isdisjoint(_things(other, bound)) for one, other in pairs):
            return following(bound)
        blame_everything(bound)
        return False

    return are_different


def _is_result_of_op(rule: Rule, one: frozenset[str], other: frozenset[str]) -> bool:
    """Returns whether one of two names is an op and the other one a result of it, which is the op where it has one."""
    results = (part for root in (rule.lhs, *rule.free) for part in all_below(root) if isinstance(part, Result))
    return any(
        (each.key in one and each.op.key in other) or (each.key in other and each.op.key in one) for each in results
    )


def _things(names: frozenset[str], bound: Bindings) -> set[Any]:
    return {_thing(name, bound) for name in names if name in bound}


def _thing(key: str, bound: Bindings) -> Any:
    """Returns a value, or an op that is no value. Of a branch with several results it is the one that is matched."""
    found = bound[key]
    if not isinstance(found, Operation):
        return found
    number = bound.get(f"{key}.result", 0 if len(found.results) == 1 else None)
    return found if number is None else found.results[number]


__all__ = ["compile_injective", "names_of_one_value"]
