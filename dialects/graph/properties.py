"""
The properties of graph ops: how each kind is stored, written and given from Python.

A kind is the irdl constraint of a property, so the definition of an op drives its parser, printer, constructor and
verifier. A kind checks in `reason`, which `TensorOp.verify_` calls with the name of the property at hand. As irdl
constraints the kinds accept everything.
"""

from __future__ import annotations

import struct
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from typing_extensions import TypeVar
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import AttrConstraint, IntConstraint, VerificationContext, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from ...core.ir.element_types import ATTRIBUTES, dtype_name
from ...core.ir.literals import i64_attribute
from ...core.messages.diagnostics import did_you_mean
from ...core.text.parsing import HintedParseError
from ...lazy_dataclass import dataclass
from .element_types import rejection
from .numerals import float_of_bits, float_text, parse_number

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer

UI64 = IntegerType(64, Signedness.UNSIGNED)


@dataclass(frozen=True)
class PropertyKind(AttrConstraint[Attribute]):
    """A kind of property, which says what the property may hold. `word` names it in messages: `an integer`."""

    word = "a value"

    @abstractmethod
    def reason(self, attribute: Attribute) -> str | None:
        """Returns what a legal value would be, or `None` when `attribute` is one."""

    @abstractmethod
    def to_python(self, attribute: Attribute) -> Any:
        """Returns the plain Python value of a legal attribute."""

    @abstractmethod
    def from_python(self, value: Any) -> Attribute:
        """Returns the attribute of a plain Python value. Raises `TypeError` for a value of another kind."""

    def legal(self, value: Any) -> Attribute | None:
        """Returns the legal attribute with the value of another one (`[1, 0]`, `2 : i32`) or of Python, or `None`."""
        if isinstance(value, Attribute) and self.reason(value) is None:
            return value
        try:
            return self.from_python(_plain(value))
        except (TypeError, ValueError, VerifyException):
            return None

    def normal(self, attribute: Attribute | None, op: Operation) -> Attribute | None:
        """
        Returns the form in which a legal attribute of `op` is compared with others, `None` being an absent one.

        It is the same for all that say the same. Kinds that can be written in one way only return the attribute.
        """
        return attribute

    @abstractmethod
    def parse(self, parser: Parser, name: str) -> Attribute:
        """Parses the text after `name =`."""

    @abstractmethod
    def print(self, printer: Printer, attribute: Attribute) -> None:
        """Prints a legal attribute."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        """Accepts every attribute, because `reason` does the check."""

    def mapping_type_vars(self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]) -> PropertyKind:
        return self

    def wrong(self, parser: Parser, name: str, hint: str | None = None) -> NoReturn:
        """Raises the parse error for a value of another kind at the current token."""
        span = parser._current_token.span  # pyright: ignore[reportPrivateUsage]
        found = span.text if len(span.text) <= 40 else f"{span.text[:37]}..."
        raise HintedParseError(span, f"'{name}' takes {self.word}, found '{found}'", hint)

    def mismatch(self, value: Any) -> TypeError:
        """Returns the error that says what the property takes and what value of Python was found."""
        return TypeError(f"takes {self.word}, found {value!r}")


@dataclass(frozen=True)
class IntegerKind(PropertyKind):
    """An integer such as `axis = -1`, stored as an i64."""

    word = "an integer"

    def reason(self, attribute: Attribute) -> str | None:
        return None if isinstance(attribute, IntegerAttr) and attribute.type == i64 else "an integer of type i64"

    def to_python(self, attribute: Attribute) -> int:
        assert isinstance(attribute, IntegerAttr)
        return attribute.value.data

    def from_python(self, value: Any) -> Attribute:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise self.mismatch(value)
        return i64_attribute(value.__index__())

    def parse(self, parser: Parser, name: str) -> Attribute:
        return IntegerAttr(self.parse_integer(parser, name), i64)

    def parse_integer(self, parser: Parser, name: str) -> int:
        start = parser.pos
        value = parser.parse_optional_integer(allow_boolean=False)
        if value is None:
            self.wrong(parser, name)
        if not -(2**63) <= value < 2**63:
            parser.raise_error(f"'{name}' takes an integer of 64 bits, found {value}", start, parser.pos)
        return value

    def print(self, printer: Printer, attribute: Attribute) -> None:
        printer.print_string(str(self.to_python(attribute)))


@dataclass(frozen=True)
class BoolKind(PropertyKind):
    """A truth value such as `keepdims = true`, stored as an i1."""

    word = "true or false"

    def reason(self, attribute: Attribute) -> str | None:
        return None if isinstance(attribute, IntegerAttr) and attribute.type == i1 else "true or false"

    def to_python(self, attribute: Attribute) -> bool:
        assert isinstance(attribute, IntegerAttr)
        return attribute.value.data != 0

    def from_python(self, value: Any) -> Attribute:
        if value is not True and value is not False:
            raise self.mismatch(value)
        return IntegerAttr.from_bool(value)

    def parse(self, parser: Parser, name: str) -> Attribute:
        value = parser.parse_optional_boolean()
        if value is None:
            self.wrong(parser, name)
        return IntegerAttr.from_bool(value)

    def print(self, printer: Printer, attribute: Attribute) -> None:
        printer.print_string("true" if self.to_python(attribute) else "false")


@dataclass(frozen=True)
class FloatKind(PropertyKind):
    """A float such as `epsilon = 1.0e-05`, stored as an f64."""

    word = "a number"

    def reason(self, attribute: Attribute) -> str | None:
        return None if isinstance(attribute, FloatAttr) and attribute.type == f64 else "a number of type f64"

    def to_python(self, attribute: Attribute) -> float:
        assert isinstance(attribute, FloatAttr)
        return attribute.value.data

    def from_python(self, value: Any) -> Attribute:
        if isinstance(value, bool | str) or not hasattr(value, "__float__"):
            raise self.mismatch(value)
        return FloatAttr(float(value), f64)

    def parse(self, parser: Parser, name: str) -> Attribute:
        start = parser.pos
        value = parse_number(parser, lambda: self.wrong(parser, name))
        if isinstance(value, bytes):
            return FloatAttr(float_of_bits(parser, value, "f64", start), f64)
        return FloatAttr(float(value), f64)

    def print(self, printer: Printer, attribute: Attribute) -> None:
        printer.print_string(float_text(self.to_python(attribute)))


@dataclass(frozen=True)
class NumberKind(PropertyKind):
    """
    A number of the element type of the operand, such as `min = 0` or `max = 6.5`.

    It is stored as an i64 (from 2^63 on as a ui64) or as an f64.
    """

    word = "a number"

    def reason(self, attribute: Attribute) -> str | None:
        if isinstance(attribute, IntegerAttr) and attribute.type in (i64, UI64):
            return None
        return None if isinstance(attribute, FloatAttr) and attribute.type == f64 else "a number of type i64 or f64"

    def to_python(self, attribute: Attribute) -> int | float:
        assert isinstance(attribute, IntegerAttr | FloatAttr)
        return attribute.value.data

    def from_python(self, value: Any) -> Attribute:
        if isinstance(value, bool | str):
            raise self.mismatch(value)
        if hasattr(value, "__index__"):
            number = value.__index__()
            if not -(2**63) <= number < 2**64:
                raise self.mismatch(value)
            return IntegerAttr(number, i64 if number < 2**63 else UI64)
        return FLOAT.from_python(value)

    def parse(self, parser: Parser, name: str) -> Attribute:
        start = parser.pos
        value = parse_number(parser, lambda: self.wrong(parser, name))
        if isinstance(value, bytes):
            return FloatAttr(float_of_bits(parser, value, "f64", start), f64)
        try:
            return self.from_python(value)
        except TypeError:
            parser.raise_error(f"'{name}' takes a number of 64 bits, found {value}", start, parser.pos)

    def print(self, printer: Printer, attribute: Attribute) -> None:
        value = self.to_python(attribute)
        printer.print_string(str(value) if isinstance(value, int) else float_text(value))


@dataclass(frozen=True)
class TextKind(PropertyKind):
    """
    A string such as `data_layout = "NHWC"`. `choices` lists the legal strings, and is empty when every string is legal.
    """

    choices: tuple[str, ...] = ()

    @property
    def word(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return " or ".join(f'"{choice}"' for choice in self.choices) or "a string"

    def reason(self, attribute: Attribute) -> str | None:
        if isinstance(attribute, StringAttr) and (not self.choices or attribute.data in self.choices):
            return None
        return self.word

    def to_python(self, attribute: Attribute) -> str:
        assert isinstance(attribute, StringAttr)
        return attribute.data

    def from_python(self, value: Any) -> Attribute:
        if not isinstance(value, str) or (self.choices and value not in self.choices):
            raise self.mismatch(value)
        return StringAttr(value)

    def parse(self, parser: Parser, name: str) -> Attribute:
        span = parser._current_token.span  # pyright: ignore[reportPrivateUsage]
        value = parser.parse_optional_str_literal()
        if value is None:
            self.wrong(parser, name)
        if self.choices and value not in self.choices:
            hint = did_you_mean(value, self.choices)
            raise HintedParseError(span, f"'{name}' takes {self.word}, found \"{value}\"", hint)
        return StringAttr(value)

    def print(self, printer: Printer, attribute: Attribute) -> None:
        printer.print_string_literal(self.to_python(attribute))


@dataclass(frozen=True)
class IntegersKind(PropertyKind):
    """
    A list of integers such as `axes = [1, 0]`, stored as a dense array of i64.

    With a `length`, Python code may give one integer for all. For a length of four it may also give two, which hold for
    both sides alike.
    """

    length: int | None = None

    @property
    def word(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        if self.length is None:
            return "a list of integers"
        return f"a list of {self.length} integers"

    def reason(self, attribute: Attribute) -> str | None:
        if not isinstance(attribute, DenseArrayBase) or attribute.elt_type != i64:
            return f"{self.word} of type i64"
        return None if self.length is None or len(attribute) == self.length else self.word

    def to_python(self, attribute: Attribute) -> tuple[int, ...]:
        assert isinstance(attribute, DenseArrayBase)
        data = attribute.data.data
        return struct.unpack(f"<{len(data) // 8}q", data)

    def from_python(self, value: Any) -> Attribute:
        if hasattr(value, "__index__") and not isinstance(value, bool):
            value = (value,) * (self.length or 1)
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise self.mismatch(value)
        numbers = [INTEGER.to_python(INTEGER.from_python(number)) for number in value]
        if self.length == 4 and len(numbers) == 2:
            numbers *= 2
        if self.length is not None and len(numbers) != self.length:
            raise self.mismatch(value)
        return DenseArrayBase.from_list(i64, numbers)

    def parse(self, parser: Parser, name: str) -> Attribute:
        start = parser.pos
        spelled = parser._current_token.text  # pyright: ignore[reportPrivateUsage]
        if spelled != "[":
            self.wrong(parser, name, f"write {name} = [{spelled}]" if spelled.isdecimal() else None)
        numbers = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: INTEGER.parse_integer(parser, name)
        )
        if self.length is not None and len(numbers) != self.length:
            parser.raise_error(f"'{name}' takes {self.word}, found {len(numbers)}", start, parser.pos)
        return DenseArrayBase.from_list(i64, numbers)

    def print(self, printer: Printer, attribute: Attribute) -> None:
        printer.print_string(f"[{', '.join(map(str, self.to_python(attribute)))}]")


@dataclass(frozen=True)
class ElementTypeKind(PropertyKind):
    """An element type such as `dtype = f16`."""

    word = "an element type"

    def reason(self, attribute: Attribute) -> str | None:
        problem = rejection(attribute)
        return None if problem is None else f"an element type ({problem})"

    def to_python(self, attribute: Attribute) -> str:
        name = dtype_name(attribute)
        assert name is not None
        return name

    def from_python(self, value: Any) -> Attribute:
        attribute = ATTRIBUTES.get(value) if isinstance(value, str) else value
        if not isinstance(attribute, Attribute) or rejection(attribute) is not None:
            raise self.mismatch(value)
        return attribute

    def parse(self, parser: Parser, name: str) -> Attribute:
        start = parser.pos
        attribute = parser.parse_optional_type()
        if attribute is None:
            self.wrong(parser, name)
        if (problem := rejection(attribute)) is not None:
            parser.raise_error(problem, start, parser.pos)
        return attribute

    def print(self, printer: Printer, attribute: Attribute) -> None:
        printer.print_attribute(attribute)


def _plain(value: Any) -> Any:
    """Returns the plain Python value of an attribute, and what has none as it is."""
    match value:
        case IntegerAttr():
            return bool(value.value.data) if value.type == i1 else value.value.data
        case FloatAttr():
            return value.value.data
        case StringAttr():
            return value.data
        case ArrayAttr():
            return [_plain(item) for item in value.data]
        case tuple():
            return [_plain(item) for item in value]
        case DenseArrayBase():
            return list(value.get_values())
        case _:
            return value


INTEGER = IntegerKind()
"""A property that holds one integer of 64 bits with a sign."""
BOOL = BoolKind()
"""A property that holds true or false."""
FLOAT = FloatKind()
"""A property that holds one f64."""
NUMBER = NumberKind()
"""A property that holds a number of the element type of the operand, exactly."""
INTEGERS = IntegersKind()
"""A property that holds a list of integers of 64 bits, of any length."""
ELEMENT_TYPE = ElementTypeKind()
"""A property that holds the element type of a tensor."""


def prop(kind: PropertyKind, default: Any = None) -> Any:
    """Declares a property that must be given, or that has `default` (a plain Python value)."""
    return prop_def(kind, default_value=None if default is None else kind.from_python(default))


def optional_prop(kind: PropertyKind) -> Any:
    """Declares a property that may be absent."""
    return opt_prop_def(kind)
