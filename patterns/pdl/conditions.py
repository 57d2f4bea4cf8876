"""The conditions that PDL patterns are made of: order of operands, exact attributes, types that agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue, TypedAttribute

from ..language.match import Match
from ..language.registry import CONDITIONS, condition, plain_parameters

ITSELF = -1
"""The place of the type of a value or attribute itself, as opposed to the type of a result of an op."""


def values_of(thing: Any) -> Sequence[SSAValue]:
    """Returns the results of an op, the values of a list, or the one value."""
    if isinstance(thing, Operation):
        return thing.results
    return thing if isinstance(thing, tuple) else (thing,)


def type_at(thing: Any, place: int) -> Attribute | None:
    """Returns the type of a value or attribute, or of result `place` of an op. It is `None` when there is none."""
    if isinstance(thing, Operation):
        return thing.results[place].type if place < len(thing.results) else None
    if isinstance(thing, SSAValue):
        return thing.type
    return thing.get_type() if isinstance(thing, TypedAttribute) else None


def types_from(thing: Any, place: int) -> tuple[Attribute, ...]:
    """Returns the types of a list of values, or of the results of an op from number `place` on."""
    return tuple(value.type for value in values_of(thing)[max(place, 0) :])


def _places(parameters: dict[str, Any], things: Sequence[Any]) -> Sequence[int]:
    places = parameters.get("places")
    return places.get_values() if isinstance(places, DenseArrayBase) else [ITSELF] * len(things)


@condition("operands-in-order")
def operands_in_order(match: Match, op: Operation, *things: Any) -> bool:
    """The operands of the op are exactly these, in this order, even when the op commutes."""
    wanted = [value for thing in things for value in values_of(thing)]
    return len(wanted) == len(op.operands) and all(
        found is value for found, value in zip(op.operands, wanted, strict=True)
    )


@condition("result-count")
def result_count(
    match: Match, op: Operation, *, exactly: IntegerAttr | None = None, at_least: IntegerAttr | None = None
) -> bool:
    """The op has as many results as `exactly` says, or at least as many as `at-least` says."""
    found = len(op.results)
    return (exactly is None or found == exactly.value.data) and (at_least is None or found >= at_least.value.data)


@condition("attribute-is")
def attribute_is(match: Match, found: Attribute, *, value: Attribute) -> bool:
    """An attribute equals `value` to the bit, its type included."""
    return found == value


@condition("types-agree")
def types_agree(match: Match, first: Any, *others: Any, **parameters: Any) -> bool:
    """All values and attributes have one type, which is `type` if given. `places` picks results of ops."""
    things = (first, *others)
    types = [type_at(thing, place) for thing, place in zip(things, _places(parameters, things), strict=True)]
    wanted = parameters.get("type", types[0])
    return wanted is not None and all(found is wanted or found == wanted for found in types)


@condition("type-lists-agree")
def type_lists_agree(match: Match, first: Any, *others: Any, **parameters: Any) -> bool:
    """
    All lists of values have the same types, which are `types` if given. `places` says from which result on the results
    of an op count.
    """
    things = (first, *others)
    lists = [types_from(thing, place) for thing, place in zip(things, _places(parameters, things), strict=True)]
    types = parameters.get("types")
    wanted = tuple(types.data) if isinstance(types, ArrayAttr) else lists[0]
    return all(found == wanted for found in lists)


@condition("same-values")
def same_values(match: Match, first: Any, second: Any) -> bool:
    """Both lists of operands hold the same values."""
    one, other = values_of(first), values_of(second)
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def argument(thing: Any, take: str, place: int) -> Any:
    """Returns what a native constraint or rewrite gets of a bound thing: itself, a type, results, or an item."""
    match take:
        case "type":
            return type_at(thing, place)
        case "types":
            return types_from(thing, place)
        case "result":
            return thing.results[place]
        case "results":
            return tuple(values_of(thing))
        case "item":
            return thing[place]
        case _:
            return thing


@condition("native-constraint")
def native_constraint(match: Match, *things: Any, **parameters: Any) -> bool:
    """
    The condition named `condition` holds for the `arguments` (constants, types, results of ops), or fails when
    `negated`.
    """
    wanted, arguments, negated = parameters["condition"], parameters["arguments"], parameters["negated"]
    assert isinstance(wanted, StringAttr) and isinstance(arguments, ArrayAttr) and isinstance(negated, IntegerAttr)
    function = CONDITIONS[wanted.data].function
    named = plain_parameters(function, tuple(parameters["parameters"].data.items()))
    given = [_given(each.data, things) for each in arguments.data if isinstance(each, DictionaryAttr)]
    return function(match, *given, **named) != bool(negated.value.data)  # pyright: ignore


def _given(described: Mapping[str, Any], things: Sequence[Any]) -> Any:
    if "value" in described:
        return described["value"]
    return argument(things[described["of"].value.data], described["take"].data, described["place"].value.data)


__all__ = ["ITSELF", "argument", "type_at", "types_from", "values_of"]
