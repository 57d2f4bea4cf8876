"""The right sides of rules compiled to functions from a match to the values that replace the root."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Attribute, Operation, SSAValue

from ...core.messages.diagnostics import OperationError
from ..checking.definitions import Definition, checked_property, definition_of
from ..language.chains import all_key
from ..language.match import Match, as_value
from ..language.numbers import Unknown, attribute_of_number, read_formula, value_of
from ..language.patterns import Capture
from ..language.registry import RuleError, known_builder, plain_parameters
from ..language.rules import Bound, Build, Computed, Create, Replacement

ReplacementMaker = Callable[[Match], Sequence[SSAValue] | None]


def compile_replacement(item: Replacement, *, types_of_root: slice | None) -> ReplacementMaker:
    """Returns what makes the values of one item of a replacement. It makes them once per match."""
    match item:
        case Bound(key):
            return lambda match: values_bound(key, match.bound)
        case Create():
            make = _compile_create(item, types_of_root)
        case Build():
            make = _compile_build(item)

    def make_once(match: Match) -> Sequence[SSAValue] | None:
        if item.key not in match.bound:
            made = make(match)
            if made is None:
                return None
            match.bound[item.key] = tuple(made)
        return match.bound[item.key]

    return make_once


def _compile_build(item: Build) -> ReplacementMaker:
    function = known_builder(item.name, len(item.keys), item.parameters)
    keys, plain = item.keys, plain_parameters(function, item.parameters)
    if not item.made:
        return lambda match: function(match, *[match.bound[key] for key in keys], **plain)
    makers = [(each, compile_replacement(each, types_of_root=None)) for each in item.made]

    def make(match: Match) -> Sequence[SSAValue] | None:
        new: dict[str, Any] = {}
        for each, maker in makers:
            values = maker(match)
            if values is None:
                return None
            new[each.key] = values[0].owner if isinstance(each, Create) else values[0] if len(values) == 1 else values
        return function(match, *[new[key] if key in new else match.bound[key] for key in keys], **plain)

    return make


def all_values(bound: Any) -> Sequence[SSAValue]:
    """Returns the results of a bound op, the values of a list, or the one bound value."""
    if isinstance(bound, Operation):
        return bound.results
    return tuple(as_value(each) for each in bound) if isinstance(bound, tuple) else (bound,)


def values_bound(key: str, bound: dict[str, Any]) -> Sequence[SSAValue]:
    """Returns the values that `key` is bound to, or those of all places where it stands for many."""
    return all_values(bound[key] if key in bound else bound[all_key(key)])


def _compile_create(item: Create, types_of_root: slice | None) -> ReplacementMaker:
    fixed: dict[str, Attribute] = {}
    operand_makers = [compile_replacement(operand, types_of_root=None) for operand in item.operands]

    def make(match: Match) -> Sequence[SSAValue] | None:
        operands: list[SSAValue] = []
        for operand_maker in operand_makers:
            values = operand_maker(match)
            if values is None:
                return None
            operands += values
        if not fixed and item.attributes:
            fixed.update(_stored(match, item))
        attributes = {name: match.bound[wanted.key] for name, wanted in item.attributes if isinstance(wanted, Capture)}
        try:
            attributes |= _computed(match, item)
        except Unknown:
            return None
        types: Sequence[Attribute] | None = None
        if types_of_root is not None:
            types = [result.type for result in match.replaced[types_of_root]]
        elif item.like is not None:
            types = [as_value(match.bound[item.like]).type]
        return match.create(item.name, operands, types, fixed | attributes).results

    return make


def _stored(match: Match, item: Create) -> dict[str, Attribute]:
    """Returns the attributes of a new op that the rule gives, as the op stores them."""
    op_type = match.session.op_type(item.name)
    definition = None if op_type is None else definition_of(op_type)
    given = {name: wanted for name, wanted in item.attributes if not isinstance(wanted, Capture | Computed)}
    if definition is None:
        return given
    return {name: checked_property(definition, name, wanted, item, exact=False) for name, wanted in given.items()}


def _computed(match: Match, item: Create) -> dict[str, Attribute]:
    """Returns the attributes of a new op that formulas compute. Raises `Unknown` where one has no value."""
    op_type = match.session.op_type(item.name)
    definition = None if op_type is None else definition_of(op_type)
    found: dict[str, Attribute] = {}
    for name, wanted in item.attributes:
        if isinstance(wanted, Computed):
            things = [match.bound[key] for key in wanted.keys]
            value = attribute_of_number(value_of(read_formula(wanted.formula), things))
            found[name] = value if definition is None else _legal(match, definition, name, value, item)
    return found


def _legal(match: Match, definition: Definition, name: str, value: Attribute, item: Create) -> Attribute:
    try:
        return checked_property(definition, name, value, item, exact=False)
    except RuleError as error:
        raise OperationError(match.root, f"rule '{match.rule.name}': {error.message}") from error


def compile_callback(function: Callable[[Match], Any]) -> ReplacementMaker:
    """
    Returns the replacement that a Python function makes of a match: a value, an op or several values.

    `None` declines. The results of the root themselves are no change. An empty list erases a root without results.
    """

    def make(match: Match) -> Sequence[SSAValue] | None:
        made = function(match)
        if made is None:
            return None
        several = made if isinstance(made, list | tuple) else (made,)
        if wrong := [each for each in several if not isinstance(each, Operation | SSAValue)]:
            name = match.rule.name
            message = f"the function of rule '{name}' gives values and ops, or None to decline, found {wrong[0]!r}"
            raise OperationError(match.root, message)
        values = all_values(tuple(made) if isinstance(made, list) else made)
        results = match.replaced
        same = len(values) == len(results) and all(a is b for a, b in zip(values, results, strict=True))
        return None if same and (results or made is match.root) else values

    return make


def used_keys(item: Replacement) -> set[str]:
    """Returns the keys that a replacement needs."""
    match item:
        case Bound(key):
            return {key}
        case Build():
            below = {key for made in item.made for key in used_keys(made)}
            return (set(item.keys) - {made.key for made in item.made}) | below
        case Create():
            captured = {wanted.key for _, wanted in item.attributes if isinstance(wanted, Capture)}
            captured |= {key for _, wanted in item.attributes if isinstance(wanted, Computed) for key in wanted.keys}
            below = {key for operand in item.operands for key in used_keys(operand)}
            return captured | below | ({item.like} if item.like is not None else set())
