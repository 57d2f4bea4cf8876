"""What formulas over sizes and attributes (`dialects/pattern/formulas.py`) are for a match, and conditions on them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ShapedType,
    StringAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute, Operation

from ...dialects.pattern.formulas import OF_VALUES, Formula, FormulaError, formula_text, parse_formula
from .loops import axis_of
from .match import Match, as_value, users_of
from .registry import CONDITIONS, RuleError, condition, plain_parameters
from .rules import Computed, Require, Rule

COMPARE: Final = "compare"
NOT: Final = "not"


class Unknown(Exception):
    """A formula has no value: a size is `?`, an item is not there, a number is divided by 0."""


@condition(COMPARE)
def compare(match: Match, *things: Any, formula: StringAttr) -> bool:
    """The two numbers of `formula` compare so. It does not hold where one of them is unknown, such as a size `?`."""
    try:
        return bool(value_of(read_formula(formula.data), things))
    except Unknown:
        return False


@condition(NOT)
def not_(match: Match, *things: Any, condition: StringAttr, **parameters: Attribute) -> bool:
    """The condition named `condition` does not hold. A comparison of something unknown does not hold either way."""
    function = CONDITIONS[condition.data].function
    plain = plain_parameters(function, tuple(parameters.items()))
    if function is compare:
        try:
            return not value_of(read_formula(parameters["formula"].data), things)  # pyright: ignore
        except Unknown:
            return False
    return not function(match, *things, **plain)


@lru_cache(maxsize=4096)
def read_formula(text: str) -> Formula:
    """Returns a formula whose names are places. Raises `RuleError` for a text that is none."""
    try:
        found, end = parse_formula(text)
    except FormulaError as error:
        raise RuleError(error.message) from None
    if text[end:].strip():
        raise RuleError(f"expected the end of the formula, found '{text[end:].strip()}'")
    return found


_SIGNS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "min": min,
    "max": max,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def value_of(formula: Formula, things: Sequence[Any]) -> Any:
    """Returns what a formula is for `things`: a number, a list, an attribute, or a truth value. Raises `Unknown`."""
    kind = formula.kind
    if kind == "number":
        return float(formula.text) if "." in formula.text else int(formula.text)
    if kind == "name":
        return _plain(things[int(formula.text)])
    if kind in OF_VALUES:
        thing = things[int(formula.parts[0].text)]
        return _of_value(kind, thing, [value_of(part, things) for part in formula.parts[1:]])
    parts = [value_of(part, things) for part in formula.parts]
    match kind:
        case "list":
            return tuple(parts)
        case "==" | "!=":
            return (parts[0] == parts[1]) is (kind == "==")
        case "length" | "item":
            return _of_list(parts)
        case _:
            return _arithmetic(kind, parts)


def _arithmetic(kind: str, parts: list[Any]) -> Any:
    if not all(isinstance(part, int | float) for part in parts):
        raise Unknown
    if kind == "negative":
        return -parts[0]
    if kind not in ("/", "mod"):
        return _SIGNS[kind](*parts)
    if parts[1] == 0:
        raise Unknown
    if kind == "mod":
        return parts[0] % parts[1]
    return parts[0] // parts[1] if all(isinstance(part, int) for part in parts) else parts[0] / parts[1]


def _of_list(parts: list[Any]) -> Any:
    if not isinstance(parts[0], tuple):
        raise Unknown
    if len(parts) == 1:
        return len(parts[0])
    if not isinstance(parts[1], int) or not -len(parts[0]) <= parts[1] < len(parts[0]):
        raise Unknown
    return parts[0][parts[1]]


def _of_value(kind: str, thing: Any, more: list[Any]) -> int:
    if kind in ("users", "uses"):
        values = thing.results if isinstance(thing, Operation) else (thing,)
        return len(users_of(values)) if kind == "users" else sum(value.uses.get_length() for value in values)
    if kind == "extent":
        found = axis_of(as_value(thing))
        if found is None or not isinstance(found[1], int):
            raise Unknown
        return found[1]
    type_ = as_value(thing).type
    if not isinstance(type_, ShapedType):
        raise Unknown
    shape = type_.get_shape()
    if kind == "rank":
        return len(shape)
    if kind == "elements":
        wanted = tuple(shape)
    else:
        if not isinstance(more[0], int) or not -len(shape) <= more[0] < len(shape):
            raise Unknown
        wanted = (shape[more[0]],)
    number = 1
    for size in wanted:
        if size == DYNAMIC_INDEX:
            raise Unknown
        number *= size
    return number


def _plain(attribute: Any) -> Any:
    """Returns a number or a list of an attribute, and any other attribute as it is."""
    match attribute:
        case IntegerAttr():
            number = attribute.value.data
            return number & 1 if isinstance(attribute.type, IntegerType) and attribute.type.width.data == 1 else number
        case FloatAttr():
            return attribute.value.data
        case ArrayAttr():
            return tuple(_plain(item) for item in attribute.data)
        case DenseArrayBase():
            return tuple(attribute.get_values())
        case _:
            return attribute


def formula_keys(rule: Rule) -> frozenset[str]:
    """Returns the keys of the things that formulas of a rule are about."""
    keys = [key for required in rule.when if "formula" in dict(required.parameters) for key in required.keys]
    stack: list[Any] = [*rule.rhs, *rule.decisions]
    while stack:
        part = stack.pop()
        computed = (wanted for _, wanted in getattr(part, "attributes", ()) if isinstance(wanted, Computed))
        keys += [key for wanted in computed for key in wanted.keys]
        stack += [*getattr(part, "operands", ()), *getattr(part, "made", ())]
    return frozenset(keys)


def counts_users(rule: Rule) -> bool:
    """Returns whether a formula of a rule counts users."""
    formulas = (value for required in rule.when for name, value in required.parameters if name == "formula")
    return any(isinstance(each, StringAttr) and re.search(r"\bus(es|ers)\(", each.data) for each in formulas)


def attribute_of_number(value: Any) -> Attribute:
    """Returns a number, a list or an attribute as an attribute."""
    if isinstance(value, tuple):
        return ArrayAttr(attribute_of_number(item) for item in value)
    if isinstance(value, int):
        return IntegerAttr(int(value), i64)
    return FloatAttr(value, f64) if isinstance(value, float) else value


def shown_formula(formula: Formula, keys: Sequence[str]) -> str:
    """Returns the text of a formula with the names that the author of a rule gave to things, else with `$0`."""

    def name(place: str) -> str:
        key = keys[int(place)] if place.isdigit() and int(place) < len(keys) else ""
        if key and key[0] not in "#.":
            return f"%{key.partition('.')[0]}"
        return f"${place}" if place.isdigit() else f"%{place}"

    return formula_text(formula, name)


def shown_condition(required: Require) -> str:
    """Returns what messages call a condition: its name, or the comparison as an equation has it."""
    given = dict(required.parameters)
    inner, formula = given.get("condition"), given.get("formula")
    if required.name == NOT and isinstance(inner, StringAttr):
        kept = tuple((name, value) for name, value in required.parameters if name != "condition")
        return f"not {shown_condition(Require(inner.data, required.keys, kept))}"
    if required.name == COMPARE and isinstance(formula, StringAttr):
        return shown_formula(read_formula(formula.data), required.keys)
    return required.name


def check_formula(text: str, keys: Sequence[str], is_attribute: Sequence[bool | None], *, comparison: bool) -> None:
    """
    Raises `RuleError` unless a formula is valid for things of which each is an attribute, a value, or not known.

    `keys` are their names.
    """
    formula = read_formula(text)
    text = shown_formula(formula, keys)
    if (formula.kind in ("==", "!=", "<", "<=", ">", ">=")) is not comparison:
        raise RuleError(f"the formula '{text}' compares {'nothing' if comparison else 'numbers'}")
    _check_names(formula, text, keys, is_attribute, False)


def _check_names(
    formula: Formula, text: str, keys: Sequence[str], is_attribute: Sequence[bool | None], of_value: bool
) -> None:
    if formula.kind == "name":
        number = int(formula.text) if formula.text.isdigit() else len(is_attribute)
        if number >= len(is_attribute):
            sign = "$" if formula.text.isdigit() else "%"
            known = ", ".join(f"${place}" for place in range(len(is_attribute))) or "none"
            raise RuleError(f"the formula '{text}' has no thing {sign}{formula.text}", hint=f"there are {known}")
        if is_attribute[number] is of_value:
            hint = (
                None if of_value else "a number of a value is size(%x, 0), rank(%x), elements(%x), users(%x), uses(%x)"
            )
            found = "an attribute" if of_value else "a value"
            raise RuleError(f"{shown_formula(formula, keys)} of the formula '{text}' is {found}", hint=hint)
    elif of_value:
        raise RuleError(f"a function of values takes a name in the formula '{text}'")
    for number, part in enumerate(formula.parts):
        _check_names(part, text, keys, is_attribute, formula.kind in OF_VALUES and number == 0)


__all__ = [
    "COMPARE",
    "NOT",
    "Unknown",
    "attribute_of_number",
    "check_formula",
    "counts_users",
    "formula_keys",
    "read_formula",
    "shown_condition",
    "shown_formula",
    "value_of",
]
