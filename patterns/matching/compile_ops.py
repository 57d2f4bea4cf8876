"""Patterns of ops compiled to closures: name, attributes, operands in each order, results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from itertools import permutations
from typing import Any, Final

from xdsl.ir import Operation, OpResult, SSAValue

from ...core.ir.normal_form import normal_property
from ...dialects.traits import is_commutative
from ..language.constraints import attribute_of, described, has_attribute
from ..language.patterns import Capture, Op, Pattern, Rest, Result
from ..language.registry import RuleError
from ..language.structures import Call
from .closed_parts import MOST_PERMUTED_OPERANDS, count_step
from .each import compile_each
from .early_conditions import after_binding
from .matcher import (
    MEANINGS,
    Meaning,
    OpMatcher,
    bind,
    by_result,
    compile_any_result,
    compile_result,
    compile_value,
    root_names,
)
from .tracing import TRACER, Bindings, Next, ValueMatcher, value_name

IN_FORMULAS: Final[ContextVar[frozenset[str]]] = ContextVar("IN_FORMULAS", default=frozenset())
"""The keys that formulas of the rule that is compiled are about. Attributes are bound in normal form for them."""


def compile_op(pattern: Op, following: Next) -> OpMatcher:
    """Returns the matcher of an op: name, attributes, then operands."""
    names = frozenset(pattern.names)
    key = pattern.key
    after_attributes = compile_operands(pattern, following)
    inside = after_binding(key, compile_attributes(key, pattern.attributes, after_attributes))

    def match_op(op: Operation, bound: Bindings) -> bool:
        if op.name not in names if names else not op.results:  # Without names any op matches that has a result.
            return False
        return bind(key, op, bound, inside, following)

    return match_op


def compile_attributes(key: str, attributes: Sequence[tuple[str, Any]], following: Next) -> Next:
    """Returns the tests of the attributes of the op bound to `key`."""
    for name, wanted in reversed(attributes):
        following = _compile_attribute(key, name, wanted, following)
    return following


def _compile_attribute(key: str, name: str, wanted: Any, following: Next) -> Next:
    is_number = isinstance(wanted, Capture) and wanted.key in IN_FORMULAS.get()

    def match_attribute(bound: Bindings) -> bool:
        return has_attribute(bound[key], name, wanted) and following(bound)

    def capture_attribute(bound: Bindings) -> bool:
        assert isinstance(wanted, Capture)
        found = attribute_of(bound[key], name)
        if found is None:
            return False
        known = bound.get(wanted.key)
        if known is not None:
            return has_attribute(bound[key], name, known) and following(bound)
        if is_number:
            found = normal_property(bound[key], name, found) or found
        return bind(wanted.key, found, bound, following)

    return capture_attribute if isinstance(wanted, Capture) else match_attribute


def compile_operands(pattern: Op | Call, following: Next) -> Next:
    """Returns the matcher of the operands, in each order that a commutative op allows."""
    if pattern.operands is None:
        return following
    key, slot = pattern.key, f"{pattern.key}.operands"
    parts = list(pattern.operands)
    last = parts[-1] if parts else None
    rest = last if isinstance(last, Rest) else None
    if rest is not None:
        parts.pop()
    if (early := next((part for part in parts if isinstance(part, Rest)), None)) is not None:
        raise RuleError("a rest of operands must be the last operand", at=early)
    step = following if rest is None else _compile_rest(rest, slot, len(parts), following)
    unordered = getattr(pattern, "is_unordered", False)
    for number in reversed(range(len(parts))):
        step = _compile_operand(parts[number], slot, number, step)
    arity = len(parts)

    def match_operands(bound: Bindings) -> bool:
        op: Operation = bound[key]
        operands = tuple(op.operands)
        if len(operands) < arity if rest is not None else len(operands) != arity:
            return False
        orders = _any_orders(operands, arity) if unordered else _orders(op, operands)
        for order in orders:
            if unordered or len(orders) > 1:  # pyright: ignore[reportArgumentType]
                count_step(bound)
            bound[slot] = order
            if step(bound):
                return True
        bound.pop(slot, None)
        return False

    return match_operands


def _orders(op: Operation, operands: tuple[SSAValue, ...]) -> Sequence[tuple[SSAValue, ...]]:
    if not 1 < len(operands) <= MOST_PERMUTED_OPERANDS or not is_commutative(op):
        return (operands,)
    if len(operands) == 2:
        return (operands,) if operands[0] is operands[1] else (operands, (operands[1], operands[0]))
    return list(permutations(operands))


def _any_orders(operands: tuple[SSAValue, ...], arity: int) -> Iterator[tuple[SSAValue, ...]]:
    """Yields the operands in each order of the first `arity`. Those that are left stay as they are written."""
    numbers = range(len(operands))
    for chosen in permutations(numbers, arity):
        yield tuple(operands[each] for each in (*chosen, *(each for each in numbers if each not in chosen)))


def _compile_operand(pattern: Pattern, slot: str, number: int, following: Next) -> Next:
    match_value = compile_value(pattern, following)
    tracer = TRACER.get()
    if tracer is not None:
        match_value = tracer.operand(slot.removesuffix(".operands"), number, match_value)
    return lambda bound: match_value(bound[slot][number], bound)


def _compile_rest(pattern: Rest, slot: str, start: int, following: Next) -> Next:
    if pattern.each is not None:
        following = compile_each(pattern.key, pattern.each, following)
    return lambda bound: bind(pattern.key, bound[slot][start:], bound, following)


# Results


def _compile_result_of(pattern: Result, following: Next) -> ValueMatcher:
    key = pattern.key
    match_result = (
        compile_any_result(pattern.op, following)
        if pattern.index is None
        else compile_result(pattern.op, pattern.index, following)
    )

    def match_owner(bound: Bindings) -> bool:
        return match_result(bound[key], bound)

    checked = after_binding(key, match_owner)
    return lambda value, bound: bind(key, value, bound, checked, match_owner)


def _compile_only_result(pattern: Op, following: Next) -> ValueMatcher:
    return by_result(compile_op(pattern, following), None)


# Why not


def _why_not_result(pattern: Result, value: SSAValue, bound: Bindings) -> str | None:
    if isinstance(pattern.op, Op):
        index = value.index if pattern.index is None and isinstance(value, OpResult) else pattern.index
        return _why_not_op(pattern.op, value, index, bound)
    if isinstance(value, OpResult) and pattern.index is not None and value.index != pattern.index:
        return f"expected result {pattern.index}, found result {value.index} of '{value.op.name}'"
    return None


def _wanted(pattern: Op) -> str:
    return " or ".join(f"'{name}'" for name in pattern.names) or "an op"


def _why_not_op(pattern: Op, value: SSAValue, index: int | None, bound: dict[str, Any]) -> str | None:
    wanted = _wanted(pattern)
    if not isinstance(value, OpResult):
        return f"expected {wanted}, found the block argument {value_name(value)}"
    op = value.op
    if pattern.names and op.name not in pattern.names:
        return f"expected {wanted}, found '{op.name}'"
    if index is None and len(op.results) != 1:
        return f"expected {wanted} with one result, found {len(op.results)}"
    if index is not None and value.index != index:
        return f"expected result {index} of {wanted}, found result {value.index}"
    known = bound.get(pattern.key)
    if known is not None and known is not op:
        return f"expected the same {wanted} again, found another one"
    return why_not_op(pattern, op)


def why_not_op(pattern: Op, op: Operation) -> str | None:
    """Returns why the name, the attributes or the number of operands do not fit `op`."""
    if pattern.names and op.name not in pattern.names:
        return f"expected {_wanted(pattern)}, found '{op.name}'"
    for name, wanted in pattern.attributes:
        found = attribute_of(op, name)
        if not (found is not None if isinstance(wanted, Capture) else has_attribute(op, name, wanted)):
            expected = "a value" if isinstance(wanted, Capture) else described(wanted)
            return f"'{op.name}': expected {name} = {expected}, found {described(found)}"
    if pattern.operands is None:
        return None
    arity, rest = len(pattern.operands), bool(pattern.operands) and isinstance(pattern.operands[-1], Rest)
    found_arity = len(op.operands)
    if found_arity < arity - 1 if rest else found_arity != arity:
        expected = f"at least {arity - 1}" if rest else str(arity)
        return f"'{op.name}': expected {expected} operands, found {found_arity}"
    return None


MEANINGS.update(
    {
        Op: Meaning(
            _compile_only_result,
            lambda pattern, index, following: by_result(compile_op(pattern, following), index),
            compile_op,
            lambda pattern: frozenset(pattern.names),
            lambda pattern, value, bound: _why_not_op(pattern, value, None, bound),
        ),
        Result: Meaning(_compile_result_of, names=lambda pattern: root_names(pattern.op), why_not=_why_not_result),
    }
)
