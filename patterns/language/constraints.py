"""
Patterns that test a value by its type, attributes or kind, their conjunction and negation, arguments and literals.
"""

from __future__ import annotations

import struct
from dataclasses import field
from typing import Any, ClassVar

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FloatAttr, IntegerAttr, IntegerType, ShapedType, StringAttr
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.irdl import IRDLOperation

from ...analysis.kinds import OpKind
from ...analysis.op_kind import kind_of_op
from ...core.ir.normal_form import normal_property
from ...core.roles import NAME
from ...lazy_dataclass import dataclass
from . import conditions as conditions  # registers the conditions
from .constants import element_type
from .match import Match
from .patterns import Pattern, form, fresh_key
from .registry import CONDITIONS, RuleError, known_condition, plain_parameters, unknown_name


def attribute_of(op: Operation, name: str) -> Attribute | None:
    """Returns a property or attribute of `op`. For a property that is absent it is the default."""
    found = op.properties.get(name)
    if found is None:
        found = op.attributes.get(name)
    if found is None and isinstance(op, IRDLOperation):
        definition = op.get_irdl_definition().properties.get(name)
        return None if definition is None else definition.default_value
    return found


def _comparable(value: Any) -> Any:
    """
    Returns a number, string or list as `(kind, value)`, so that attributes of different width compare by value.

    Integers and floats differ (1 is not 1.0), and floats are compared by their bits.
    """
    match value:
        case IntegerAttr():
            number = value.value.data
            type_ = value.type
            return "int", number & 1 if isinstance(type_, IntegerType) and type_.width.data == 1 else number
        case bool() | int():
            return "int", int(value)
        case FloatAttr():
            return "float", struct.pack("<d", value.value.data)
        case float():
            return "float", struct.pack("<d", value)
        case StringAttr():
            return "string", value.data
        case str():
            return "string", value
        case ArrayAttr():
            return "list", tuple(_comparable(item) for item in value.data)
        case DenseArrayBase():
            return "list", tuple(_comparable(item) for item in value.get_values())
        case tuple() | list():
            return "list", tuple(_comparable(item) for item in value)
        case _:
            return value


def same_attribute(found: Attribute | None, wanted: Any) -> bool:
    """
    Returns whether an attribute is `wanted`: an attribute, a plain Python value, or `None` for an absent one.

    A type may be wanted by its text (`"f32"`).
    """
    if found is None or wanted is None:
        return found is wanted
    if found == wanted:
        return True
    one, other = _comparable(found), _comparable(wanted)
    if isinstance(one, tuple):
        return one == other
    return isinstance(wanted, str) and str(found) == wanted


def has_attribute(op: Operation, name: str, wanted: Any) -> bool:
    """
    Returns whether property or attribute `name` of `op` is `wanted`, as in `same_attribute`.

    Both are compared in the normal form that they have on `op`: on rank 2, axis -1 is axis 1.
    """
    found = attribute_of(op, name)
    return same_attribute(found, wanted) or same_attribute(
        normal_property(op, name, found), normal_property(op, name, wanted)
    )


def described(attribute: Any) -> str:
    """Returns an attribute as text for messages."""
    return "nothing" if attribute is None else str(attribute)


# Tests of a value


@dataclass(frozen=True)
class Test:
    """A test of one value."""

    def why_not(self, value: SSAValue, match: Match) -> str | None:
        """Returns what was expected and what was found, or `None` when the test holds."""
        raise NotImplementedError


@form
@dataclass(frozen=True)
class HasDtype(Test):
    """A test of the element type, given as an attribute or as text."""

    dtype: Attribute | str

    def why_not(self, value: SSAValue, match: Match) -> str | None:
        found = element_type(value.type)
        holds = found == self.dtype or (isinstance(self.dtype, str) and str(found) == self.dtype)
        return None if holds else f"expected element type {self.dtype}, found {found}"


@form
@dataclass(frozen=True)
class HasShape(Test):
    """A test of the shape of a shaped value. `None` accepts any size, and only `None` accepts `?`."""

    sizes: tuple[int | None, ...]

    def __post_init__(self) -> None:
        for size in self.sizes:
            if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 0):
                raise TypeError(f"a shape has integers from 0 on and None, found {size!r}")

    def why_not(self, value: SSAValue, match: Match) -> str | None:
        wanted = "x".join("?" if size is None else str(size) for size in self.sizes) or "rank 0"
        if not isinstance(value.type, ShapedType):
            return f"expected shape {wanted}, found type {value.type}"
        found = value.type.get_shape()
        holds = len(found) == len(self.sizes) and all(
            size in (None, actual) for size, actual in zip(self.sizes, found, strict=True)
        )
        return None if holds else f"expected shape {wanted}, found type {value.type}"


@form
@dataclass(frozen=True)
class HasType(Test):
    """A test of the whole type."""

    type: Attribute

    def why_not(self, value: SSAValue, match: Match) -> str | None:
        return None if value.type == self.type else f"expected type {self.type}, found {value.type}"


@form
@dataclass(frozen=True)
class HasAttr(Test):
    """A test of attributes of the op that defines the value. Without any, every value fits, arguments included."""

    attributes: tuple[tuple[str, Any], ...]

    def why_not(self, value: SSAValue, match: Match) -> str | None:
        for name, wanted in self.attributes:
            if not isinstance(value, OpResult):
                return f"expected an op with {name} = {described(wanted)}, found a block argument"
            if not has_attribute(value.op, name, wanted):
                found = described(attribute_of(value.op, name))
                return f"expected {name} = {described(wanted)}, found {found}"
        return None


@form
@dataclass(frozen=True)
class HasKind(Test):
    """A test of the fusion kind of the op that defines the value (`analysis/op_kind.py`)."""

    kinds: tuple[str, ...]

    def __post_init__(self) -> None:
        known = {_kind_name(kind): None for kind in OpKind}
        for kind in self.kinds:
            if kind not in known:
                raise RuleError(unknown_name("op kind", kind, known))

    def why_not(self, value: SSAValue, match: Match) -> str | None:
        found = _kind_name(kind_of_op(value.op)) if isinstance(value, OpResult) else "block argument"
        return None if found in self.kinds else f"expected kind {' or '.join(self.kinds)}, found {found}"


def _kind_name(kind: Any) -> str:
    return kind.name.lower().replace("_", "-")


@form
@dataclass(frozen=True)
class Holds(Test):
    """A test by a named condition of the value and of what the keys `others` are bound to."""

    condition: str
    parameters: tuple[tuple[str, Attribute], ...] = ()
    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known_condition(self.condition, 1 + len(self.others), self.parameters)

    def why_not(self, value: SSAValue, match: Match) -> str | None:
        return self.why_not_with(value, match, match.bound if self.others else {})

    def why_not_with(self, value: SSAValue, match: Match, bound: dict[str, Any]) -> str | None:
        """
        Returns what `why_not` returns, with the others taken from `bound`. The test fails when one of them took no
        part.
        """
        if not all(key in bound for key in self.others):
            return f"condition '{self.condition}' is about something that took no part"
        function = CONDITIONS[self.condition].function
        thing = value.op if isinstance(value, OpResult) and len(value.op.results) == 1 else value
        others = [bound[key] for key in self.others]
        holds = function(match, thing, *others, **plain_parameters(function, self.parameters))
        return None if holds else f"condition '{self.condition}' does not hold"


# Patterns


@form
@dataclass(frozen=True, repr=False)
class Where(Pattern):
    """A value that `pattern` matches and `test` accepts."""

    same_value: ClassVar[bool] = True

    pattern: Pattern
    test: Test
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        return (self.pattern,)


@form
@dataclass(frozen=True, repr=False)
class And(Pattern):
    """A value that all of `patterns` match."""

    same_value: ClassVar[bool] = True

    patterns: tuple[Pattern, ...]
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        return self.patterns


@form
@dataclass(frozen=True, repr=False)
class Not(Pattern):
    """A value that `pattern` does not match, given the current bindings. Nothing inside is bound."""

    pattern: Pattern
    key: str = field(default_factory=fresh_key)

    def parts(self) -> tuple[Pattern, ...]:
        return (self.pattern,)

    def certain_parts(self) -> tuple[Pattern, ...]:
        return ()


@dataclass(frozen=True, repr=False)
class Argument(Pattern):
    """An argument of a block. It may be at any place or have any name when these are not given."""

    index: int | None = None
    name: str | None = None
    key: str = field(default_factory=fresh_key)

    def why_not(self, value: SSAValue) -> str | None:
        """Returns what was expected and what was found, or `None` when the value fits."""
        owner = value.owner
        if isinstance(owner, Operation):
            return f"expected a block argument, found the result of '{owner.name}'"
        index: int = value.index  # pyright: ignore[reportAttributeAccessIssue]
        if self.index is not None and index != self.index:
            return f"expected argument {self.index}, found argument {index}"
        if self.name is not None and argument_name(value) != self.name:
            return f"expected argument '{self.name}', found '{argument_name(value) or f'argument {index}'}'"
        return None


def argument_name(value: SSAValue) -> str | None:
    """
    Returns the name of a block argument, from the attributes of its function or else from the hint of the SSA name.
    """
    holder = value.owner.parent_op()  # pyright: ignore
    attributes = None if holder is None else holder.properties.get("arg_attrs")
    index: int = value.index  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(attributes, ArrayAttr) and index < len(attributes.data):
        named = attributes.data[index].data.get(NAME)  # pyright: ignore
        if isinstance(named, StringAttr):
            return named.data
    return value.name_hint


@dataclass(frozen=True, repr=False)
class Literal(Pattern):
    """The constant with exactly this value and type, compared by bits. So 0.0 is neither -0.0 nor 0."""

    levels: ClassVar[int] = 1

    value: Attribute
    key: str = field(default_factory=fresh_key)


def literal(value: Attribute) -> Literal:
    """Returns the pattern of the constant `value`, for example a dense elements attribute."""
    return Literal(value)


__all__ = [
    "And",
    "Argument",
    "HasAttr",
    "HasDtype",
    "HasKind",
    "HasShape",
    "HasType",
    "Holds",
    "Literal",
    "Not",
    "Test",
    "Where",
    "attribute_of",
    "has_attribute",
    "literal",
    "same_attribute",
]
