"""Faults in what only rules that decide have: numbers in conditions, loops in patterns, alternatives, decisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute

from ...dialects.pattern.formulas import Formula, formula_text, placed_text
from ...patterns.language.loops import Axis, Loops
from ...patterns.language.numbers import COMPARE, NOT, read_formula
from ...patterns.language.patterns import Capture, Or, Pattern, Rest
from ...patterns.language.rules import Computed, Decide, Require, Rule
from .edits import changed_attribute

OTHER_COMPARISON: Final = {"==": "!=", "!=": "==", "<=": "<", "<": "<=", ">=": ">", ">": ">="}
"""What a comparison is mistaken for."""

OTHER_AXIS: Final = {
    "spatial": "reduce",
    "reduce": "spatial",
    "serial": "parallel",
    "parallel": "serial",
    "vectorized": "serial",
    "unrolled": "serial",
}


def comparison_of(required: Require) -> Formula | None:
    """Returns the formula of a comparison, `None` for another condition."""
    text = dict(required.parameters).get("formula")
    return read_formula(text.data) if required.name == COMPARE and isinstance(text, StringAttr) else None


def condition_text(required: Require, names: list[str]) -> str:
    """Returns `'name'(%x, %y)`, or `'size(%x, 0) <= 4'` for a comparison."""
    formula = comparison_of(required)
    if formula is None:
        return f"'{required.name}'({', '.join(names)})"
    return f"'{formula_text(formula, lambda place: names[int(place)])}'"


def other_parameters(required: Require, names: list[str]) -> Iterator[tuple[str, Require]]:
    """Conditions with another comparison or another number, and what they become."""
    formula = comparison_of(required)
    if formula is not None:
        for other in _other_formulas(formula):
            becomes = replace(required, parameters=(("formula", StringAttr(placed_text(other))),))
            yield condition_text(becomes, names), becomes
        return
    for place, (name, value) in enumerate(required.parameters):
        changed = None if required.name == NOT else changed_attribute(value)
        if changed is not None:
            rest = required.parameters[:place], required.parameters[place + 1 :]
            yield f"{name} = {changed}", replace(required, parameters=(*rest[0], (name, changed), *rest[1]))


def _other_formulas(formula: Formula) -> Iterator[Formula]:
    if formula.kind in OTHER_COMPARISON:
        yield replace(formula, kind=OTHER_COMPARISON[formula.kind])
    yield from _other_numbers(formula)


def _other_numbers(formula: Formula) -> Iterator[Formula]:
    if formula.kind == "number":
        number = float(formula.text) + 1 if "." in formula.text else int(formula.text) + 1
        yield replace(formula, text=str(number))
    for place, part in enumerate(formula.parts):
        for other in _other_numbers(part):
            yield replace(formula, parts=(*formula.parts[:place], other, *formula.parts[place + 1 :]))


def other_loops(pattern: Pattern, where: str) -> Iterator[tuple[str, Pattern]]:
    """Patterns of other loops: another kind of axis, arguments in their order, anything at those that are left."""
    match pattern:
        case Axis(kind) if kind in OTHER_AXIS:
            yield f"axis {where} is {OTHER_AXIS[kind]} instead of {kind}", replace(pattern, kind=OTHER_AXIS[kind])
        case Loops(is_unordered=True):
            yield f"the arguments of {where} in their order only", replace(pattern, is_unordered=False)
        case Rest(each=Pattern()):
            yield f"anything at {where}", replace(pattern, each=None)
        case _:
            pass


def fewer_alternatives(pattern: Or, where: str) -> Iterator[tuple[str, Pattern]]:
    """The pattern without each one of its alternatives: a rule that decides in fewer cases."""
    parts = pattern.alternatives
    for place in range(len(parts)):
        rest = (*parts[:place], *parts[place + 1 :])
        yield f"{where} without alternative {place}", rest[0] if len(rest) == 1 else replace(pattern, alternatives=rest)


def other_decisions(rule: Rule) -> Iterator[tuple[str, tuple[Decide, ...]]]:
    """Decisions with another value of each attribute."""
    for place, decision in enumerate(rule.decisions):
        for number, (name, value) in enumerate(decision.attributes):
            changed = None if isinstance(value, Capture | Computed) else _changed(value)
            if changed is not None:
                given = (*decision.attributes[:number], (name, changed), *decision.attributes[number + 1 :])
                other = replace(decision, attributes=given)
                decisions = (*rule.decisions[:place], other, *rule.decisions[place + 1 :])
                yield f"decide {name} = {changed}", decisions


def _changed(value: Attribute) -> Attribute | None:
    """Returns an attribute with another number, anywhere in it."""
    if isinstance(value, IntAttr):
        return IntAttr(value.data + 1)
    changed = changed_attribute(value)
    if changed is None and isinstance(value, ParametrizedAttribute):
        parts = list(value.parameters)
        for place, part in enumerate(parts):
            other = _changed(part)
            if other is not None:
                return type(value).new([*parts[:place], other, *parts[place + 1 :]])
    return changed


__all__ = [
    "comparison_of",
    "condition_text",
    "fewer_alternatives",
    "other_decisions",
    "other_loops",
    "other_parameters",
]
