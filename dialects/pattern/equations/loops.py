"""
Blocks, loops and loop functions in equations, and the decisions about them.

```mlir
pattern.rule "copy" : block(spatial %i in %n, spatial %j) {%y[%i, %j] = %x[%j, %i]} as %b
  => decide(%b, my.turned = true) because "rows become columns" where %n >= 16
```
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue

from ..formulas import Formula
from .numbers import computed_property, read_size
from .scope import Scope, Size, named, property_name

KINDS: Final = ("block", "nest", "kernel")
"""The words that begin a pattern of something with a body."""

AXES: Final = ("spatial", "reduce", "serial", "parallel", "vectorized", "unrolled")

LOAD: Final = "memref.load"
STORE: Final = "memref.store"
"""The ops of `%x[%i]`, where it is read and where it is written."""


class Matches(Protocol):
    """What reads the patterns of values, in `matches.py`."""

    def read(self) -> SSAValue: ...

    def variable(self, at: int) -> SSAValue: ...

    def property_value(self) -> Attribute | str | Formula: ...

    def capture(self, value: SSAValue, properties: Mapping[str, Attribute | str | Formula], at: int) -> None: ...


def read_loops(matches: Matches, scope: Scope, kind: str, at: int, *, unordered: bool) -> SSAValue:
    """Reads what follows the word `block`, `nest` or `kernel`: its arguments, properties, and what it does."""
    tokens = scope.tokens
    tokens.expect("(", f"after '{kind}'")
    arguments: list[SSAValue] = []
    properties: dict[str, Attribute | str | Formula] = {}
    while not tokens.take_if(")"):
        if arguments or properties:
            tokens.expect(",", f"or ')' between the arguments of '{kind}'")
        if (name := property_name(scope)) is not None:
            properties[name] = matches.property_value()
        else:
            arguments.append(_argument(matches, scope))
    parts: list[SSAValue] = []
    tokens.expect("{", f"before what the {kind} does")
    while not tokens.take_if("}"):
        if parts:
            tokens.expect(",", f"or '}}' between the parts of a {kind}")
        parts.append(_part(matches, scope))
    fixed = {name: value for name, value in properties.items() if isinstance(value, Attribute)}
    given: dict[str, Attribute] = {"unordered": UnitAttr()} if unordered else {}
    if fixed:
        given["wanted"] = DictionaryAttr(fixed)
    value = scope.add_segments(kind, at, (arguments, parts), given).results[0]
    matches.capture(value, properties, at)
    return value


def _argument(matches: Matches, scope: Scope) -> SSAValue:
    """Reads an axis, `spatial %i in 16`, or a pattern of a buffer or of all arguments that are left."""
    tokens = scope.tokens
    at = tokens.position
    if tokens.text in AXES:
        return read_axis(scope, at)
    if tokens.is_variable() and tokens.text[1:] not in scope.names and not tokens.text.endswith("..."):
        name = tokens.variable("a name")
        if tokens.text == "in":
            return _extent(scope, at, name, {})
        value = scope.add("any", at).results[0]
        scope.bind(name, value, at)
        return value
    return matches.read()


def read_axis(scope: Scope, at: int) -> SSAValue:
    """Reads an axis that begins with its kind."""
    tokens = scope.tokens
    kind = tokens.take()
    name = tokens.variable("a name") if tokens.is_variable() else None
    return _extent(scope, at, name, {"kind": StringAttr(kind)})


def _extent(scope: Scope, at: int, name: str | None, properties: dict[str, Attribute]) -> SSAValue:
    """Reads `in 16` or `in %n` if it is there, and makes the axis."""
    op = scope.add("axis", at, (), properties)
    value = op.results[0]
    if name is not None:
        scope.bind(name, value, at)
    if scope.tokens.take_if("in"):
        number = read_size(scope, Size("extent", value), at, "an extent")
        if number is not None:
            op.properties["extent"] = IntegerAttr(number, i64)
    return value


def _part(matches: Matches, scope: Scope) -> SSAValue:
    """Reads a store, `%y[%i] = %x[%i]`, which may stand in parentheses to get a name, or another part."""
    tokens = scope.tokens
    at = tokens.position
    if tokens.take_if("("):
        value = _part(matches, scope)
        tokens.expect(")", "after the part in parentheses")
    elif tokens.is_variable() and not tokens.text.endswith("..."):
        value = _store(matches, scope, at)
    else:
        return matches.read()
    if tokens.take_if("as"):
        scope.bind(tokens.variable("a name after 'as'"), value, at)
    return value


def _store(matches: Matches, scope: Scope, at: int) -> SSAValue:
    tokens = scope.tokens
    buffer = matches.variable(at)
    if not tokens.take_if("["):
        tokens.fail(f"expected '[' after the buffer that is written, found {tokens.found()}")
    indices = read_indices(matches, scope)
    tokens.expect("=", "after the element that is written")
    return scope.add("op", at, [matches.read(), buffer, *indices], named([STORE], {})).results[0]


def read_indices(matches: Matches, scope: Scope) -> list[SSAValue]:
    """Reads the indices of an element up to the bracket."""
    indices: list[SSAValue] = []
    while not scope.tokens.take_if("]"):
        if indices:
            scope.tokens.expect(",", "or ']' between indices")
        indices.append(matches.read())
    return indices


# Decisions


def read_decisions(scope: Scope) -> tuple[list[tuple[int, SSAValue, dict[str, Attribute], list[SSAValue]]], int]:
    """Reads `decide(%b, my.attribute = 4) because "…"`, one or several, and returns them with the place behind them."""
    tokens = scope.tokens
    found = [_decision(scope)]
    while tokens.take_if(","):
        if tokens.text != "decide":
            tokens.fail(f"expected another 'decide' after ',', found {tokens.found()}")
        found.append(_decision(scope))
    return found, tokens.position


def _decision(scope: Scope) -> tuple[int, SSAValue, dict[str, Attribute], list[SSAValue]]:
    tokens = scope.tokens
    at = tokens.position
    tokens.take()
    tokens.expect("(", "after 'decide'")
    target = scope.bound(tokens.variable("the name of a block, nest or kernel"), at)
    fixed: dict[str, Attribute] = {}
    computed: dict[str, SSAValue] = {}
    while not tokens.take_if(")"):
        tokens.expect(",", "or ')' between the attributes of a decision")
        if (name := property_name(scope)) is None:
            tokens.fail(f"expected an attribute and its value, found {tokens.found()}")
        elif (value := computed_property(scope)) is not None:
            computed[name] = value
        else:
            fixed[name] = tokens.attribute("an attribute, a name or a formula")
    tokens.expect("because", "and the reason of the decision")
    properties: dict[str, Attribute] = {"because": StringAttr(tokens.string("a reason"))}
    if fixed:
        properties["parameters"] = DictionaryAttr(fixed)
    if computed:
        properties["captured_names"] = ArrayAttr(StringAttr(name) for name in computed)
    return at, target, properties, list(computed.values())
