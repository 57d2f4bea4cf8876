"""
Rules compiled to Python closures.

A pattern becomes a function `(thing, bound) -> bool` that ends by calling what comes after it, so a failure later in
the rule goes back to the next alternative here (full backtracking over `Or` and over orders of commutative
operands). Only patterns recurse, never chains of ops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Final

from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.irdl import IRDLOperation

from ...dialects.traits import is_commutative
from .constants import constant_attribute, same_number, splat_number
from .match import (
    CONDITIONS,
    Condition,
    Match,
    RuleError,
    Session,
    check_arguments,
    plain_parameters,
    unknown_name,
)
from .patterns import (
    Any_,
    Bound,
    Capture,
    Constant,
    Op,
    Or,
    Pattern,
    Require,
    Rest,
    Result,
    Rule,
    Splat,
    subpatterns,
)
from .replacement import ReplacementMaker, all_values, compile_replacement, used_keys

Bindings = dict[str, Any]
Next = Callable[[Bindings], bool]
ValueMatcher = Callable[[SSAValue, Bindings], bool]
OpMatcher = Callable[[Operation, Bindings], bool]

MATCH: Final = ""
"""The key under which the bindings hold the `Match` itself."""

MOST_PERMUTED_OPERANDS: Final = 4
"""Commutative ops with more operands are matched in the written order only."""


def _bind(key: str, thing: Any, bound: Bindings, following: Next) -> bool:
    """Binds `key` for the rest of the match; a key that is bound already must be the same thing."""
    known = bound.get(key)
    if known is not None:
        return known is thing and following(bound)
    bound[key] = thing
    if following(bound):
        return True
    del bound[key]
    return False


# Values


def compile_value(pattern: Pattern, following: Next) -> ValueMatcher:
    """The matcher of a pattern that stands where a value is used."""
    match pattern:
        case Any_(key):
            return lambda value, bound: _bind(key, value, bound, following)
        case Constant(key):
            return lambda value, bound: (
                constant_attribute(value) is not None and _bind(key, value, bound, following)
            )
        case Splat():
            return _compile_splat(pattern, following)
        case Op():
            return _compile_result(pattern, None, following)
        case Result(op, index, key):
            match_result = _compile_result(op, index, following)
            return lambda value, bound: _bind(key, value, bound, lambda deeper: match_result(value, deeper))
        case Or():
            return _compile_or(pattern, following)
        case _:
            raise RuleError(f"{type(pattern).__name__.lower()} cannot stand for a value")


def _compile_or(pattern: Or, following: Next) -> ValueMatcher:
    arms = [compile_value(alternative, following) for alternative in pattern.alternatives]
    key = pattern.key
    return lambda value, bound: _bind(
        key, value, bound, lambda deeper: any(arm(value, deeper) for arm in arms)
    )


def _compile_splat(pattern: Splat, following: Next) -> ValueMatcher:
    key, wanted = pattern.key, pattern.value

    def match_splat(value: SSAValue, bound: Bindings) -> bool:
        found = splat_number(value)
        return found is not None and same_number(found, wanted) and _bind(key, value, bound, following)

    return match_splat


def _compile_result(pattern: Op, index: int | None, following: Next) -> ValueMatcher:
    """An op by its result `index`; without one, the op must have one result."""
    match_op = compile_op(pattern, following)

    def match_result(value: SSAValue, bound: Bindings) -> bool:
        if not isinstance(value, OpResult):
            return False
        op = value.op
        if index is None:
            return len(op.results) == 1 and match_op(op, bound)
        return value.index == index and match_op(op, bound)

    return match_result


# Ops


def compile_op(pattern: Op, following: Next) -> OpMatcher:
    """The matcher of an op: name, attributes, then operands."""
    names = frozenset(pattern.names)
    key = pattern.key
    after_attributes = _compile_operands(pattern, following)
    for name, wanted in reversed(pattern.attributes):
        after_attributes = _compile_attribute(key, name, wanted, after_attributes)
    after_binding = after_attributes

    def match_op(op: Operation, bound: Bindings) -> bool:
        if names and op.name not in names:
            return False
        known = bound.get(key)
        if known is not None:  # matched before: only its identity matters
            return known is op and following(bound)
        return _bind(key, op, bound, after_binding)

    return match_op


def attribute_of(op: Operation, name: str) -> Attribute | None:
    """A property or attribute of `op`; the default of a property that is absent."""
    found = op.properties.get(name)
    if found is None:
        found = op.attributes.get(name)
    if found is None and isinstance(op, IRDLOperation):
        definition = op.get_irdl_definition().properties.get(name)
        return None if definition is None else definition.default_value
    return found


def _compile_attribute(key: str, name: str, wanted: Attribute | Capture, following: Next) -> Next:
    def match_attribute(bound: Bindings) -> bool:
        return attribute_of(bound[key], name) == wanted and following(bound)

    def capture_attribute(bound: Bindings) -> bool:
        assert isinstance(wanted, Capture)
        found = attribute_of(bound[key], name)
        if found is None:
            return False
        known = bound.get(wanted.key)
        if known is not None:
            return known == found and following(bound)
        return _bind(wanted.key, found, bound, following)

    return capture_attribute if isinstance(wanted, Capture) else match_attribute


def _compile_operands(pattern: Op, following: Next) -> Next:
    """What follows the op itself: its operands, in each order that a commutative op allows."""
    if pattern.operands is None:
        return following
    key, slot = pattern.key, f"{pattern.key}.operands"
    parts = list(pattern.operands)
    last = parts[-1] if parts else None
    rest = last if isinstance(last, Rest) else None
    if rest is not None:
        parts.pop()
    if any(isinstance(part, Rest) for part in parts):
        raise RuleError("a rest of operands must be the last operand")
    step = following if rest is None else _compile_rest(rest, slot, len(parts), following)
    for number in reversed(range(len(parts))):
        step = _compile_operand(parts[number], slot, number, step)
    arity = len(parts)

    def match_operands(bound: Bindings) -> bool:
        op: Operation = bound[key]
        operands = tuple(op.operands)
        if len(operands) < arity if rest is not None else len(operands) != arity:
            return False
        for order in _orders(op, operands):
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


def _compile_operand(pattern: Pattern, slot: str, number: int, following: Next) -> Next:
    match_value = compile_value(pattern, following)
    return lambda bound: match_value(bound[slot][number], bound)


def _compile_rest(pattern: Rest, slot: str, start: int, following: Next) -> Next:
    return lambda bound: _bind(pattern.key, bound[slot][start:], bound, following)


# Conditions


def _compile_conditions(rule: Rule, final: Next) -> Next:
    step = final
    free = {op.key: op for op in rule.free}
    for required in reversed(rule.when):
        known = CONDITIONS.get(required.name)
        if known is None:
            raise RuleError(unknown_name("condition", required.name, CONDITIONS))
        finder = free.pop(required.keys[0], None) if required.keys and known.candidates else None
        step = _compile_condition(known, required, step)
        if finder is not None:
            step = _compile_candidates(known, required, finder, step)
    if free:
        raise RuleError(f"op {next(iter(free))} is not connected to the root, and no condition finds it")
    return step


def _compile_condition(known: Condition, required: Require, following: Next) -> Next:
    keys, parameters, function, remark = (
        required.keys,
        plain_parameters(required.parameters),
        known.function,
        required.remark,
    )
    check_arguments("condition", required.name, function, len(keys), parameters)

    def check(bound: Bindings) -> bool:
        match: Match = bound[MATCH]
        if function(match, *[bound[key] for key in keys], **parameters):
            return following(bound)
        if remark is not None:
            match.remarks.append((remark, tuple(bound[key] for key in keys)))
        return False

    return check


def _compile_candidates(known: Condition, required: Require, pattern: Op, following: Next) -> Next:
    keys, parameters, candidates = required.keys[1:], plain_parameters(required.parameters), known.candidates
    assert candidates is not None
    match_op = compile_op(pattern, following)

    def find(bound: Bindings) -> bool:
        found = candidates(bound[MATCH], *[bound[key] for key in keys], **parameters)
        return any(match_op(op, bound) for op in found)

    return find


# Rules


@dataclass(frozen=True)
class CompiledRule:
    """A rule ready to run: `match` finds it at an op, `make` builds what replaces the results of that op."""

    rule: Rule
    _matcher: OpMatcher
    _makers: tuple[ReplacementMaker, ...]

    def match(self, op: Operation, session: Session) -> Match:
        """The match at `op`; `matched` says whether there is one."""
        match = Match(self.rule, op, {}, session)
        match.bound[MATCH] = match
        match.matched = self._matcher(op, match.bound)
        return match

    def make(self, match: Match) -> list[SSAValue] | None:
        """The replacement of the results of the root; `None` (and nothing made) when a builder declines."""
        values: list[SSAValue] = []
        for maker in self._makers:
            made = maker(match)
            if made is None:
                match.discard()
                return None
            values += made
        return values


def _certain_keys(pattern: Pattern) -> set[str]:
    """The keys that are bound in every match of `pattern`: of alternatives those that all of them bind."""
    key: str = getattr(pattern, "key")  # noqa: B009
    if isinstance(pattern, Or):
        arms = [_certain_keys(alternative) for alternative in pattern.alternatives]
        return {key} | set.intersection(*arms)
    captured = {wanted.key for _, wanted in getattr(pattern, "attributes", ()) if isinstance(wanted, Capture)}
    return {key} | captured | {each for part in subpatterns(pattern) for each in _certain_keys(part)}


def _check_keys(rule: Rule) -> None:
    certain = _certain_keys(rule.lhs) | {key for op in rule.free for key in _certain_keys(op)}
    used = {key for item in rule.rhs for key in used_keys(item)} | {
        key for each in rule.when for key in each.keys
    }
    if unbound := sorted(used - certain):
        names = ", ".join(f"%{key.partition('.')[0]}" for key in unbound)
        raise RuleError(f"{names} is not bound by every match of the root")


def compile_rule(rule: Rule) -> CompiledRule:
    """Raises `RuleError` for names of conditions, builders or keys that do not exist."""
    _check_keys(rule)
    makers = tuple(
        compile_replacement(
            item, types_of_root=slice(None) if len(rule.rhs) == 1 else slice(number, number + 1)
        )
        for number, item in enumerate(rule.rhs)
    )
    kept = [item.key for item in rule.rhs if isinstance(item, Bound)] if len(rule.rhs) == 1 else []

    def same_types(bound: Bindings) -> bool:
        root: Operation = bound[MATCH].root
        values = [value for key in kept for value in all_values(bound[key])]
        return not kept or (
            len(values) == len(root.results)
            and all(
                value is not result and (value.type is result.type or value.type == result.type)
                for value, result in zip(values, root.results, strict=True)
            )
        )

    return CompiledRule(rule, compile_op(rule.lhs, _compile_conditions(rule, same_types)), makers)
