"""
Rules compiled to Python closures.

A pattern becomes a function `(thing, bound) -> bool` that ends by calling what comes after it, so a failure later in
the rule goes back to the next alternative here (full backtracking over `Or` and over orders of commutative
operands). Only patterns recurse, never chains of ops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import permutations
from typing import Any, Final

from xdsl.ir import Operation, OpResult, SSAValue

from ...dialects.traits import is_commutative
from .combinators import Expression, Together, expression_names
from .constants import CONSTANT_OPS, constant_attribute, is_literal, same_number, splat_number
from .constraints import And, Argument, Holds, Literal, Not, Where, attribute_of, same_attribute
from .match import (
    RuleError,
)
from .patterns import (
    Any_,
    Capture,
    Constant,
    Op,
    Or,
    Pattern,
    Rest,
    Result,
    Splat,
)
from .structures import CALLS, Call, Dominates, Function, If
from .tracing import TRACER

Bindings = dict[str, Any]
Next = Callable[[Bindings], bool]
ValueMatcher = Callable[[SSAValue, Bindings], bool]
OpMatcher = Callable[[Operation, Bindings], bool]

MATCH: Final = ""
"""The key under which the bindings hold the `Match` itself."""

MOST_PERMUTED_OPERANDS: Final = 4
"""Commutative ops with more operands are matched in the written order only."""


def bind(key: str, thing: Any, bound: Bindings, following: Next) -> bool:
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
    compiled = _compile_value(pattern, following)
    tracer = TRACER.get()
    return compiled if tracer is None else tracer.value(pattern, compiled)


def _compile_value(pattern: Pattern, following: Next) -> ValueMatcher:
    match pattern:
        case Any_(key):
            return lambda value, bound: bind(key, value, bound, following)
        case Constant(key):
            return lambda value, bound: constant_attribute(value) is not None and bind(key, value, bound, following)
        case Splat() | Literal() | Argument():
            return _compile_leaf(pattern, following)
        case Op():
            return _compile_result(pattern, None, following)
        case Call() | If():
            return _compile_result(pattern, None, following)
        case Result(op, index, key):
            match_result = _compile_result(op, index, following)
            return lambda value, bound: bind(key, value, bound, lambda deeper: match_result(value, deeper))
        case Or():
            return _compile_or(pattern, following)
        case And() | Where() | Not():
            return _compile_test(pattern, following)
        case Dominates():
            from . import compile_structures

            return compile_structures.compile_dominates(pattern, following)
        case Together() | Expression():
            from . import compile_combinators

            return compile_combinators.compile_combinator(pattern, following)
        case _:
            raise RuleError(f"{type(pattern).__name__.lower()} cannot stand for a value")


def arm_key(pattern: Or) -> str:
    """The key under which the number of the alternative that matched is bound."""
    return f"{pattern.key}|arm"


def _compile_or(pattern: Or, following: Next) -> ValueMatcher:
    arms = [compile_value(alternative, following) for alternative in pattern.alternatives]
    key, chosen = pattern.key, arm_key(pattern)

    def match_arms(value: SSAValue, bound: Bindings) -> bool:
        known = bound.get(chosen)  # met before in this match: the same alternative
        for number, arm in enumerate(arms) if known is None else ((known, arms[known]),):
            bound[chosen] = number
            if arm(value, bound):
                return True
        if known is None:
            del bound[chosen]
        return False

    return lambda value, bound: bind(key, value, bound, lambda deeper: match_arms(value, deeper))


def why_not_leaf(pattern: Splat | Literal | Argument, value: SSAValue) -> str | None:
    """Why a value is not the constant or argument that is wanted; `None` when it is."""
    match pattern:
        case Splat(wanted):
            found = splat_number(value)
            if found is not None and same_number(found, wanted):
                return None
            return f"expected a constant of {wanted}, found {'another value' if found is None else found}"
        case Literal(wanted):
            return None if is_literal(value, wanted) else f"expected the constant {wanted}"
        case Argument():
            return pattern.why_not(value)


def _compile_leaf(pattern: Splat | Literal | Argument, following: Next) -> ValueMatcher:
    key = pattern.key
    return lambda value, bound: why_not_leaf(pattern, value) is None and bind(key, value, bound, following)


def _compile_test(pattern: And | Where | Not, following: Next) -> ValueMatcher:
    key = pattern.key
    if isinstance(pattern, Not):
        inner = compile_value(pattern.pattern, with_late_tests(pattern.pattern, lambda bound: True))
        return lambda value, bound: not inner(value, dict(bound)) and bind(key, value, bound, following)
    step = following
    for part in reversed(pattern.parts()):
        match_part = compile_value(part, step)
        step = partial(_match_again, match_part, key)
    if isinstance(pattern, And):
        return lambda value, bound: bind(key, value, bound, step)
    test = pattern.test
    if isinstance(test, Holds) and test.others:
        return lambda value, bound: (
            (not _all_bound(test, bound) or test.why_not_with(value, bound[MATCH], bound) is None)
            and bind(key, value, bound, step)
        )
    return lambda value, bound: test.why_not(value, bound[MATCH]) is None and bind(key, value, bound, step)


def _match_again(match_part: ValueMatcher, key: str, bound: Bindings) -> bool:
    return match_part(bound[key], bound)


def _all_bound(test: Holds, bound: Bindings) -> bool:
    return all(key in bound for key in test.others)


def with_late_tests(pattern: Pattern, following: Next) -> Next:
    """`following` after the tests in `pattern` that are about several things: now all of these are bound."""
    late = list(_late_tests(pattern))
    if not late:
        return following
    tracer = TRACER.get()

    def check(bound: Bindings) -> bool:
        for key, test in late:
            if key not in bound:  # in an alternative that did not match
                continue
            reason = test.why_not_with(bound[key], bound[MATCH], bound)
            if reason is not None:
                if tracer is not None:
                    tracer.structure(bound, reason)
                return False
        return following(bound)

    return check


def _late_tests(pattern: Pattern) -> Iterator[tuple[str, Holds]]:
    """Those whose end is that of `pattern`: not what is inside `Not` or a path, of which nothing stays bound."""
    done: set[int] = set()
    stack = [pattern]
    while stack:
        current = stack.pop()
        if id(current) in done:
            continue
        done.add(id(current))
        if isinstance(current, Where) and isinstance(current.test, Holds) and current.test.others:
            yield current.key, current.test
        stack.extend(reversed(current.certain_parts()))


def _compile_result(pattern: Pattern, index: int | None, following: Next) -> ValueMatcher:
    """An op by its result `index`; without one, the op must have one result."""
    if isinstance(pattern, If) and not pattern.has_all_results:
        from . import compile_structures

        return compile_structures.compile_if_result(pattern, index, following)
    match_op = compile_op_like(pattern, following)

    def match_result(value: SSAValue, bound: Bindings) -> bool:
        if not isinstance(value, OpResult):
            return False
        op = value.op
        if index is None:
            return len(op.results) == 1 and match_op(op, bound)
        return value.index == index and match_op(op, bound)

    return match_result


# Ops


def compile_root(pattern: Pattern, following: Next) -> OpMatcher:
    """The matcher of what stands at the root: an op, or the only result of one."""
    if isinstance(pattern, Op | Call | Function) or (isinstance(pattern, If) and pattern.has_all_results):
        return compile_op_like(pattern, following)
    if isinstance(pattern, Together):
        from . import compile_combinators

        return compile_combinators.compile_together_root(pattern, following)
    match_value = compile_value(pattern, following)
    index = pattern.index if isinstance(pattern, Result) else 0
    several = isinstance(pattern, Result)
    return lambda op, bound: (
        (index < len(op.results) if several else len(op.results) == 1) and match_value(op.results[index], bound)
    )


def compile_op_like(pattern: Pattern, following: Next) -> OpMatcher:
    """The matcher of a pattern that stands for an op, with however many results."""
    from . import compile_structures

    match pattern:
        case Op():
            return compile_op(pattern, following)
        case Call():
            return compile_structures.compile_call(pattern, following)
        case If():
            return compile_structures.compile_if(pattern, following)
        case Function():
            return compile_structures.compile_function(pattern, following)
        case _:
            raise RuleError(f"{type(pattern).__name__.lower()} has no results to choose from")


def root_names(pattern: Pattern) -> frozenset[str]:
    """The names of the ops that `pattern` can match; empty when that may be any."""
    match pattern:
        case Op(names):
            return frozenset(names)
        case Result(inner) | Where(inner):
            return root_names(inner)
        case And(patterns):
            return next((names for part in patterns if (names := root_names(part))), frozenset())
        case Or(alternatives):
            arms = [root_names(part) for part in alternatives]
            return frozenset().union(*arms) if all(arms) else frozenset()
        case Dominates():
            return root_names(pattern.child)
        case Together():
            return root_names(pattern.patterns[0])
        case Expression():
            return expression_names(pattern) or frozenset()
        case Constant() | Splat() | Literal():
            return CONSTANT_OPS
        case Call():
            return frozenset(CALLS)
        case If():
            return frozenset({"scf.if"})
        case Function():
            return frozenset({"func.func"})
        case _:
            return frozenset()


def compile_op(pattern: Op, following: Next) -> OpMatcher:
    """The matcher of an op: name, attributes, then operands."""
    names = frozenset(pattern.names)
    key = pattern.key
    after_attributes = compile_operands(pattern, following)
    after_binding = compile_attributes(key, pattern.attributes, after_attributes)

    def match_op(op: Operation, bound: Bindings) -> bool:
        if op.name not in names if names else not op.results:  # any op is any with a result
            return False
        known = bound.get(key)
        if known is not None:  # matched before: only its identity matters
            return known is op and following(bound)
        return bind(key, op, bound, after_binding)

    return match_op


def compile_attributes(key: str, attributes: Sequence[tuple[str, Any]], following: Next) -> Next:
    """Tests of the attributes of the op bound to `key`."""
    for name, wanted in reversed(attributes):
        following = _compile_attribute(key, name, wanted, following)
    return following


def _compile_attribute(key: str, name: str, wanted: Any, following: Next) -> Next:
    def match_attribute(bound: Bindings) -> bool:
        return same_attribute(attribute_of(bound[key], name), wanted) and following(bound)

    def capture_attribute(bound: Bindings) -> bool:
        assert isinstance(wanted, Capture)
        found = attribute_of(bound[key], name)
        if found is None:
            return False
        known = bound.get(wanted.key)
        if known is not None:
            return known == found and following(bound)
        return bind(wanted.key, found, bound, following)

    return capture_attribute if isinstance(wanted, Capture) else match_attribute


def compile_operands(pattern: Op | Call, following: Next) -> Next:
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
    tracer = TRACER.get()
    if tracer is not None:
        match_value = tracer.operand(slot.removesuffix(".operands"), number, match_value)
    return lambda bound: match_value(bound[slot][number], bound)


def _compile_rest(pattern: Rest, slot: str, start: int, following: Next) -> Next:
    return lambda bound: bind(pattern.key, bound[slot][start:], bound, following)
