"""
The index of the rules that can match at an op at all.

It looks at the name of the op, the names of the ops that make its operands, and the names one level further down. It
never leaves out a rule that would match. It takes a look-up or two per op, however many rules there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from xdsl.ir import Operation, OpResult, SSAValue

from ...dialects.traits import is_commutative
from ..language.constraints import And, Where
from ..language.patterns import Op, Or, Pattern, Rest, Result, bottom_up
from .compiled_rule import CompiledRule
from .matcher import root_names

Rules = tuple[CompiledRule, ...]
Producers = tuple[str, ...]
"""The names of the ops that make the operands, empty for an argument."""

LOOKED_INTO: Final = (Op, Result, Where, And, Or)
"""The classes of patterns whose parts the index looks at."""

MOST_OPERANDS: Final = 4
"""The number of operands of an op that the index looks at."""


class Dispatch:
    """The rules that are worth a try at an op, in their order."""

    def __init__(self, rules: Iterable[CompiledRule]):
        self._rules = tuple(rules)
        names = frozenset(name for rule in self._rules for name in rule.names)
        self._known: dict[str, dict[Producers | str, Rules | _Below]] = {name: {} for name in names}
        self._any_name = any(not rule.names for rule in self._rules)

    def candidates(self, op: Operation) -> Rules:
        """Returns the rules whose root, and what they want on the next two levels, may be there."""
        known = self._known.get(op.name)
        if known is None:
            if not self._any_name:
                return ()
            known = self._known[op.name] = {}
        operands = op._operands  # pyright: ignore[reportPrivateUsage]
        if len(operands) == 1:  # By far the most frequent case. A name is quicker to look up than a tuple.
            (value,) = operands
            key = value.op.name if type(value) is OpResult else ""
        else:
            key = _producers(operands)
        found = known.get(key)
        if found is None:
            found = known[key] = self._look_up(op)
        return found if type(found) is tuple else found.candidates(op)  # pyright: ignore

    def _look_up(self, op: Operation) -> Rules | _Below:
        named = [rule for rule in self._rules if not rule.names or op.name in rule.names]
        rules = tuple(rule for rule in named if _may_match(rule.rule.lhs, op, 1))
        return _Below(rules) if any(_named_levels(rule.rule.lhs) > 2 for rule in rules) else rules


class _Below:
    """The index one level further down, for rules that look there."""

    def __init__(self, rules: Rules):
        self._rules = rules
        self._known: dict[tuple[Producers, ...], Rules] = {}

    def candidates(self, op: Operation) -> Rules:
        key = tuple(
            [
                _producers(value.op._operands) if type(value) is OpResult else ()  # pyright: ignore
                for value in op._operands[:MOST_OPERANDS]  # pyright: ignore[reportPrivateUsage]
            ]
        )
        found = self._known.get(key)
        if found is None:
            found = tuple(rule for rule in self._rules if _may_match(rule.rule.lhs, op, 2))
            self._known[key] = found
        return found


def _producers(operands: Sequence[SSAValue]) -> Producers:
    return tuple([value.op.name if type(value) is OpResult else "" for value in operands[:MOST_OPERANDS]])


def _may_match(pattern: Pattern, op: Operation, levels: int) -> bool:
    """Returns whether `pattern` can match `op`, judged by names only, `levels` down."""
    match pattern:
        case Op(names, operands):
            if names and op.name not in names:
                return False
            if pattern.is_unordered and len(op.operands) > MOST_OPERANDS:
                return True
            return operands is None or levels == 0 or _may_have(operands, op, levels, pattern.is_unordered)
        case Result(inner) | Where(inner):
            return _may_match(inner, op, levels)
        case And(parts):
            return all(_may_match(part, op, levels) for part in parts)
        case Or(parts):
            return any(_may_match(part, op, levels) for part in parts)
        case _:
            names = root_names(pattern)
            return not names or op.name in names


def _may_have(patterns: Sequence[Pattern], op: Operation, levels: int, unordered: bool) -> bool:
    operands = op.operands[:MOST_OPERANDS]
    for number, pattern in enumerate(patterns):
        if isinstance(pattern, Rest) or number >= len(operands):
            break
        places = operands if unordered or is_commutative(op) else (operands[number],)
        if not any(_may_stand_for(pattern, value, levels - 1) for value in places):
            return False
    return True


def _may_stand_for(pattern: Pattern, value: SSAValue, levels: int) -> bool:
    if isinstance(value, OpResult):
        return _may_match(pattern, value.op, levels)
    return not root_names(pattern)


def _named_levels(pattern: Pattern) -> int:
    """Returns how many levels down `pattern` wants ops of certain names."""
    levels: dict[int, int] = {}
    for part in bottom_up([pattern]):
        below = max((levels[id(each)] for each in part.parts()), default=0) if isinstance(part, LOOKED_INTO) else 0
        own = isinstance(part, Op) or (below == 0 and bool(root_names(part)))
        levels[id(part)] = below + own if below or root_names(part) else 0
    return levels[id(pattern)]
