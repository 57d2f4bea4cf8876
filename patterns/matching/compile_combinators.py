"""Patterns of several things at once compiled to closures: ops that share values, whole expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from xdsl.ir import Operation, OpResult, SSAValue

from ...core.ir.normal_form import normal_properties
from ..language.combinators import Expression, Together, expression_names
from ..language.constants import is_constant_op, same_number, splat_number
from ..language.constraints import And, Where
from ..language.equivalence import BlockOrder
from ..language.match import Match
from ..language.patterns import Op, Or, Pattern, Rest, Result, all_below
from ..language.registry import RuleError
from ..language.structures import CALLS, Call, If
from ..language.users import Users
from .closed_parts import count_step
from .jumping_back import END, FurtherRoot
from .matcher import (
    MEANINGS,
    Meaning,
    OpMatcher,
    bind,
    compile_root,
    compile_value,
    root_names,
)
from .tracing import MATCH, TRACER, Bindings, Next, ValueMatcher, value_name

Levels = tuple[frozenset[str], ...]
"""The names of the ops on the way from a value up to a root, one set per level. An empty set stands for any op."""


# Several ops


def _compile_together(pattern: Together, following: Next) -> ValueMatcher:
    """Returns the matcher of several ops by a value that the first one computes."""
    key = pattern.key
    match_first = compile_value(pattern.patterns[0], _compile_others(pattern, following))
    return lambda value, bound: bind(key, value, bound, lambda deeper: match_first(value, deeper))


def _compile_together_root(pattern: Together, following: Next) -> OpMatcher:
    """Returns the matcher of several ops, the first of which is visited."""
    key = pattern.key
    match_first = compile_root(pattern.patterns[0], _compile_others(pattern, following))
    return lambda op, bound: bind(key, op, bound, lambda deeper: match_first(op, deeper))


def _compile_others(pattern: Together, following: Next) -> Next:
    for number in range(len(pattern.patterns) - 1, 0, -1):
        following = _compile_other(pattern, number, following)
    return following


def _compile_other(pattern: Together, number: int, following: Next) -> Next:
    part, before = pattern.patterns[number], pattern.patterns[:number]
    known = {each.key for one in before for each in all_below(one)}
    ways = ways_up(part, known)
    if not ways:
        raise RuleError(f"pattern {number + 1} of several shares no value with those before it", at=part)
    match_other = compile_root(part, following)
    keys = [each.key for each in before]
    tracer = TRACER.get()
    end = END.get()
    further = FurtherRoot(end, number) if end is not None and end.pattern is pattern and number > 1 else None

    def find(bound: Bindings) -> bool:
        taken = [_op_of(bound.get(key)) for key in keys]
        if further is not None:
            return further.find(bound, taken, lambda: candidates(ways, bound), match_other)
        found = (op for op in candidates(ways, bound) if op not in taken)
        if tracer is not None and not (found := list(found)):
            tracer.structure(bound, f"no other op has what pattern {number + 1} of several shares with the rest")
        for op in found:
            count_step(bound)
            if match_other(op, bound):
                return True
        return False

    return find


def ways_up(pattern: Pattern, known: set[str]) -> list[tuple[str, Levels]]:
    """Returns the keys of `known` that occur in `pattern`, each with the ops on the way from there up to its root."""
    found: dict[tuple[str, Levels], None] = {}
    stack: list[tuple[Pattern, Levels]] = [(pattern, ())]
    while stack:
        current, above = stack.pop()
        if above and current.key in known and not isinstance(current, Rest):
            found[current.key, above[::-1]] = None
        match current:
            case Op(names, operands):
                below, names = operands or (), frozenset(names)
            case Call():
                below, names = current.operands or (), frozenset(CALLS)
            case If():
                below, names = (current.condition,), frozenset({"scf.if"})
            case Result(inner):
                stack.append((inner, above))
                continue
            case Where() | And() | Or():
                stack.extend((part, above) for part in reversed(current.parts()))
                continue
            case Together():
                stack.append((current.patterns[0], above))
                continue
            case _:
                continue
        stack.extend((part, (*above, names)) for part in reversed(below))
    return list(found)


def candidates(ways: Sequence[tuple[str, Levels]], bound: Bindings) -> Iterable[Operation]:
    """Returns the ops at the upper ends of `ways`, which begin at what is bound, in program order."""
    if len(ways) == 1 and (direct := _direct_users(*ways[0], bound)) is not None:
        return direct
    found: dict[Operation, None] = {}
    for key, levels in ways:
        start = bound.get(key)
        if start is not None:
            found.update(dict.fromkeys(_users_up(start, levels)))
    match: Match = bound[MATCH]
    return match.session.index(BlockOrder).ordered(list(found))


def _direct_users(key: str, levels: Levels, bound: Bindings) -> Iterator[Operation] | None:
    """Returns the users of one value in program order, or `None` where the way is another one."""
    start: Any = bound.get(key)
    if len(levels) != 1 or not isinstance(start, SSAValue):
        return None
    match: Match = bound[MATCH]
    users = match.session.index(Users).of(start, levels[0])
    return None if users is None else (op for op in users if op.results)


def _users_up(start: Any, levels: Levels) -> list[Operation]:
    values: Sequence[SSAValue] = start.results if isinstance(start, Operation) else (start,)
    ops: dict[Operation, None] = {}
    for names in levels:
        uses = (use.operation for value in values for use in value.uses)
        ops = dict.fromkeys(op for op in uses if op.results and (not names or op.name in names))
        values = [result for op in ops for result in op.results]
    return list(ops)


def _op_of(thing: Any) -> Operation | None:
    owner = thing if isinstance(thing, Operation) else getattr(thing, "owner", None)
    return owner if isinstance(owner, Operation) else None


# Whole expressions


def ops_key(key: str) -> str:
    """Returns the key under which the ops that an expression stands for are bound."""
    return f"{key}|ops"


def _compile_expression(pattern: Expression, following: Next) -> ValueMatcher:
    key, slot, ops = pattern.key, f"{pattern.key}.holes", ops_key(pattern.key)
    step = following
    for number, (_, part) in reversed(list(enumerate(pattern.holes))):
        step = _compile_hole(part, slot, number, step)
    holes = [hole for hole, _ in pattern.holes]
    missing = [hole for hole in holes if hole not in _Comparison(holes).run(pattern.value, pattern.value).values]
    if missing:
        raise RuleError(f"the expression does not depend on %{missing[0].name_hint or 'a hole'}")

    def match_expression(value: SSAValue, bound: Bindings) -> bool:
        known = bound.get(key)
        if known is not None:  # It has been matched before, so only its identity matters.
            return known is value and following(bound)
        comparison = _Comparison(holes).run(pattern.value, value)
        if comparison.difference is not None or not all(hole in comparison.values for hole in holes):
            return False  # No hole is left where the expression itself has been rewritten.
        bound[slot] = tuple(comparison.values[hole] for hole in holes)
        bound[ops] = tuple(comparison.ops.values())
        if bind(key, value, bound, step):
            return True
        del bound[slot], bound[ops]
        return False

    return match_expression


def _compile_hole(pattern: Pattern, slot: str, number: int, following: Next) -> Next:
    match_value = compile_value(pattern, following)
    return lambda bound: match_value(bound[slot][number], bound)


def _why_not_expression(pattern: Expression, value: SSAValue, bound: Bindings) -> str | None:
    """Returns the first place where the ops that compute `value` differ from the expression."""
    return _Comparison([hole for hole, _ in pattern.holes]).run(pattern.value, value).difference


class _Comparison:
    """Walks two expressions side by side, by an explicit stack, since chains may be long."""

    def __init__(self, holes: Sequence[SSAValue]):
        self._holes = frozenset(holes)
        self.values: dict[SSAValue, SSAValue] = {}
        """Maps the values of the wanted expression to those found."""
        self.ops: dict[Operation, Operation] = {}
        self.difference: str | None = None

    def run(self, wanted: SSAValue, found: SSAValue) -> _Comparison:
        """Compares two expressions. `difference` stays `None` when they are the same."""
        stack = [(wanted, found)]
        while stack and self.difference is None:
            one, other = stack.pop()
            if one in self.values:
                if self.values[one] is not other:
                    self.difference = f"expected {value_name(one)} to be one value, found two"
                continue
            self.values[one] = other
            if one in self._holes:
                continue
            if isinstance(one, OpResult) and isinstance(other, OpResult):
                if one.index != other.index:
                    self.difference = f"expected result {one.index} of '{one.op.name}', found {other.index}"
                elif one.op in self.ops:
                    self._expect(self.ops[one.op] is other.op, one.op, other.op, "op that is there already")
                else:
                    stack += reversed(self._whole(one.op, other.op))
            elif one is not other:
                self.difference = f"expected {value_name(one)}, found {value_name(other)}"
        return self

    def _expect(self, holds: bool, wanted: Operation, found: Operation, what: str) -> bool:
        if not holds and self.difference is None:
            self.difference = f"expected '{wanted.name}', found '{found.name}' with another {what}"
        return holds

    def _whole(self, wanted: Operation, found: Operation) -> list[tuple[SSAValue, SSAValue]]:
        """Compares two ops with their regions. Returns pairs of the values that they take."""
        self.ops[wanted] = found
        pairs: list[tuple[SSAValue, SSAValue]] = []
        inner, others = list(wanted.walk()), list(found.walk())
        if not self._expect(len(inner) == len(others), wanted, found, "body"):
            return []
        for one, other in zip(inner, others, strict=True):
            if not self._alike(one, other):
                return []
            if one is not wanted:
                self.values.update(zip(one.results, other.results, strict=True))
            for region, region_ in zip(one.regions, other.regions, strict=True):
                for block, block_ in zip(region.blocks, region_.blocks, strict=True):
                    self.values.update(zip(block.args, block_.args, strict=True))
            pairs += zip(one.operands, other.operands, strict=True)
        return pairs

    def _alike(self, wanted: Operation, found: Operation) -> bool:
        """Returns whether two ops are the same apart from the values that they take."""
        if wanted.name != found.name and not (is_constant_op(wanted) and is_constant_op(found)):
            self.difference = f"expected '{wanted.name}', found '{found.name}'"
            return False
        types = [result.type for result in wanted.results] == [result.type for result in found.results]
        if not self._expect(types, wanted, found, "type"):
            return False
        if is_constant_op(wanted):
            return self._expect(_same_constant(wanted, found), wanted, found, "value")
        return (
            self._expect(len(wanted.operands) == len(found.operands), wanted, found, "number of operands")
            and self._expect(_shape_of(wanted) == _shape_of(found), wanted, found, "body")
            and self._expect(_same_attributes(wanted, found), wanted, found, "attribute")
        )


def _same_constant(wanted: Operation, found: Operation) -> bool:
    if wanted.properties == found.properties:
        return True
    one, other = splat_number(wanted.results[0]), splat_number(found.results[0])
    return one is not None and other is not None and same_number(other, float(one))


def _same_attributes(wanted: Operation, found: Operation) -> bool:
    return normal_properties(wanted) == normal_properties(found) and all(
        found.attributes.get(name) == value for name, value in wanted.attributes.items()
    )


def _shape_of(op: Operation) -> list[Any]:
    """Returns for each region and block the types of its arguments, the number of its ops and its successors."""
    shape: list[Any] = []
    for region in op.regions:
        places = {block: number for number, block in enumerate(region.blocks)}
        shape.append(len(places))
        for block in region.blocks:
            last = block.last_op
            successors = () if last is None else tuple(places.get(each, -1) for each in last.successors)
            shape.append((tuple(arg.type for arg in block.args), sum(1 for _ in block.ops), successors))
    return shape


MEANINGS.update(
    {
        Together: Meaning(
            _compile_together, root=_compile_together_root, names=lambda pattern: root_names(pattern.patterns[0])
        ),
        Expression: Meaning(
            _compile_expression,
            names=lambda pattern: expression_names(pattern) or frozenset(),
            why_not=_why_not_expression,
        ),
    }
)

__all__ = ["candidates", "ops_key", "ways_up"]
