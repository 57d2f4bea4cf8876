"""Patterns of values compiled to closures: constants, arguments, alternatives, tests."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from ..language.constants import (
    CONSTANT_OPS,
    constant_attribute,
    element_type,
    is_literal,
    nearest,
    same_number,
    splat_number,
)
from ..language.constraints import And, Argument, Holds, Literal, Not, Where
from ..language.patterns import Any_, Constant, Or, Splat
from .closed_parts import count_step
from .early_conditions import after_binding, conditions_at_the_end
from .matcher import (
    MEANINGS,
    Meaning,
    bind,
    compile_value,
    root_names,
    with_late_tests,
)
from .tracing import MATCH, Bindings, Next, ValueMatcher, value_name

# Leaves


def _compile_any(pattern: Any_, following: Next) -> ValueMatcher:
    key, checked = pattern.key, after_binding(pattern.key, following)
    return lambda value, bound: bind(key, value, bound, checked, following)


def _why_not_any(pattern: Any_, value: SSAValue, bound: Bindings) -> str | None:
    known = bound.get(pattern.key)
    if known is None or known is value:
        return None
    return f"expected {value_name(known)} again, found {value_name(value)}"


def _compile_constant(pattern: Constant, following: Next) -> ValueMatcher:
    key, checked = pattern.key, after_binding(pattern.key, following)
    return lambda value, bound: constant_attribute(value) is not None and bind(key, value, bound, checked, following)


def _why_not_constant(pattern: Constant, value: SSAValue, bound: Bindings) -> str | None:
    return None if constant_attribute(value) is not None else f"expected a constant, found {value_name(value)}"


def _against_leaf(pattern: Splat | Literal | Argument, value: SSAValue) -> str | None:
    """Returns why a value is not the constant or argument that is wanted, or `None` when it is."""
    match pattern:
        case Splat(wanted):
            found = splat_number(value)
            if found is not None and same_number(found, nearest(wanted, element_type(value.type))):
                return None
            return f"expected a constant of {wanted}, found {'another value' if found is None else found}"
        case Literal(wanted):
            return None if is_literal(value, wanted) else f"expected the constant {wanted}"
        case Argument():
            return pattern.why_not(value)


def _compile_leaf(pattern: Splat | Literal | Argument, following: Next) -> ValueMatcher:
    key, checked = pattern.key, after_binding(pattern.key, following)
    return lambda value, bound: _against_leaf(pattern, value) is None and bind(key, value, bound, checked, following)


def _why_not_leaf(pattern: Splat | Literal | Argument, value: SSAValue, bound: Bindings) -> str | None:
    reason = _against_leaf(pattern, value)
    return None if reason is None else f"{reason} ({value_name(value)})"


# Alternatives


def arm_key(pattern: Or) -> str:
    """Returns the key under which the number of the alternative that matched is bound."""
    return f"{pattern.key}|arm"


def _compile_or(pattern: Or, following: Next) -> ValueMatcher:
    arms = [compile_value(alternative, following) for alternative in pattern.alternatives]
    key, chosen = pattern.key, arm_key(pattern)

    def match_arms(value: SSAValue, bound: Bindings) -> bool:
        known = bound.get(chosen)  # An alternative that was met before in this match stays the same.
        for number, arm in enumerate(arms) if known is None else ((known, arms[known]),):
            count_step(bound)
            bound[chosen] = number
            if arm(value, bound):
                return True
        if known is None:
            del bound[chosen]
        return False

    return lambda value, bound: bind(key, value, bound, lambda deeper: match_arms(value, deeper))


def _names_of_arms(pattern: Or) -> frozenset[str]:
    arms = [root_names(part) for part in pattern.alternatives]
    return frozenset().union(*arms) if all(arms) else frozenset()


# Tests


def _compile_test(pattern: And | Where | Not, following: Next) -> ValueMatcher:
    key = pattern.key
    if isinstance(pattern, Not):
        with conditions_at_the_end():
            inner = compile_value(pattern.pattern, with_late_tests(pattern.pattern, lambda bound: True))
        return lambda value, bound: not inner(value, dict(bound)) and bind(key, value, bound, following)
    step = following
    for part in reversed(pattern.parts()):
        step = _matching_again(compile_value(part, step), key)
    if isinstance(pattern, And):
        return lambda value, bound: bind(key, value, bound, step)
    test = pattern.test
    if isinstance(test, Holds) and test.others:
        return lambda value, bound: (
            (not _all_bound(test, bound) or test.why_not_with(value, bound[MATCH], bound) is None)
            and bind(key, value, bound, step)
        )
    return lambda value, bound: test.why_not(value, bound[MATCH]) is None and bind(key, value, bound, step)


def _matching_again(match_part: ValueMatcher, key: str) -> Next:
    return lambda bound: match_part(bound[key], bound)


def _all_bound(test: Holds, bound: Bindings) -> bool:
    return all(key in bound for key in test.others)


def _why_not_where(pattern: Where, value: SSAValue, bound: Bindings) -> str | None:
    test = pattern.test
    if isinstance(test, Holds) and test.others:
        reason = test.why_not_with(value, bound[MATCH], bound) if _all_bound(test, bound) else None
    else:
        reason = test.why_not(value, bound[MATCH])
    return None if reason is None else f"{value_name(value)}: {reason}"


def _why_not_not(pattern: Not, value: SSAValue, bound: Bindings) -> str | None:
    return f"{value_name(value)} is what it must not be"


def _names_of_all(pattern: And) -> frozenset[str]:
    return next((names for part in pattern.patterns if (names := root_names(part))), frozenset())


def _constant_names(pattern: Any) -> frozenset[str]:
    return CONSTANT_OPS


MEANINGS.update(
    {
        Any_: Meaning(_compile_any, why_not=_why_not_any),
        Constant: Meaning(_compile_constant, names=_constant_names, why_not=_why_not_constant),
        Splat: Meaning(_compile_leaf, names=_constant_names, why_not=_why_not_leaf),
        Literal: Meaning(_compile_leaf, names=_constant_names, why_not=_why_not_leaf),
        Argument: Meaning(_compile_leaf, why_not=_why_not_leaf),
        Or: Meaning(_compile_or, names=_names_of_arms),
        And: Meaning(_compile_test, names=_names_of_all),
        Where: Meaning(_compile_test, names=lambda pattern: root_names(pattern.pattern), why_not=_why_not_where),
        Not: Meaning(
            _compile_test, why_not=lambda pattern, value, bound: f"{value_name(value)} is what it must not be"
        ),
    }
)
