"""
The base of the steps of a schedule, which take handles and parameters and make handles.

The syntax is `schedule.<step> %handle, ... <parameters> attr-dict (: number of results)?`. It is read and written here
by a table per op. `assembly_format` has no form for a list such as `[?, 8]`, nor for results whose number follows from
nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    DenseArrayBase,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from ...core.ir.reprs import ShownOp
from ...lazy_dataclass import dataclass
from .handles import BLOCK, NUMBER, TYPES, BlockType, LoopType, NumberType

FieldKind = Literal["string", "number", "numbers", "symbol", "flag", "attribute", "map"]

Kinds = tuple[str, ...]
"""
The kinds of handles, one per handle: `loop`, `block`, `any` of these two, or `number`. A last `...` stands for any
number of the kind before it.
"""

FROM_HANDLE = DYNAMIC_INDEX + 1
"""Stands in a list of numbers for the next number handle of the step."""


MOST_RESULTS = 1024
"""The most results that the text of a step may ask for. No nest has so many loops."""


@dataclass(frozen=True)
class Field:
    """A parameter: the property that holds it, its kind, the keyword before it, and whether it may be left out."""

    name: str
    kind: FieldKind
    keyword: str | None = None
    optional: bool = False


def numbers_attribute(numbers: Sequence[int | None]) -> DenseArrayBase:
    """Returns a list of integers as a property, where `None` stands for an integer that is to be inferred."""
    return DenseArrayBase.from_list(i64, [DYNAMIC_INDEX if number is None else number for number in numbers])


def numbers_of(attribute: Attribute) -> list[int | None]:
    """Returns the integers of a property. It is the inverse of `numbers_attribute`."""
    assert isinstance(attribute, DenseArrayBase)
    return [None if number == DYNAMIC_INDEX else int(number) for number in attribute.get_values()]


def known_numbers(attribute: Attribute) -> list[int]:
    """Returns the numbers that are written in a list, without those that are to be inferred or are handles."""
    return [number for number in numbers_of(attribute) if number is not None and number != FROM_HANDLE]


class StepOp(ShownOp):
    """One step of a schedule."""

    handles = var_operand_def(LoopType | BlockType | NumberType)
    """The loops and blocks, then the numbers that stand in its lists, in order of their places there."""
    made = var_result_def(LoopType | BlockType | NumberType)

    TAKES: ClassVar[Kinds] = ()
    MAKES: ClassVar[Kinds] = ()
    FIELDS: ClassVar[tuple[Field, ...]] = ()

    def __init__(
        self, handles: Sequence[SSAValue] = (), num_results: int | None = None, **properties: Attribute | None
    ):
        kinds = _spread(self.MAKES, num_results if num_results is not None else len(self.MAKES))
        super().__init__(
            operands=[handles], result_types=[[TYPES.get(kind, BLOCK) for kind in kinds]], properties=properties
        )

    @property
    def num_made(self) -> int | None:
        """
        Returns how many handles the step makes when its parameters tell. It is `None` where the number is written after
        a colon.
        """
        return None if "..." in self.MAKES else len(self.MAKES)

    @property
    def step(self) -> str:
        """Returns the name of the step without that of the dialect."""
        return self.name.partition(".")[2]

    def slots(self, field: Field) -> int:
        """Returns how many numbers of a parameter are handles."""
        value = self.properties.get(field.name)
        return numbers_of(value).count(FROM_HANDLE) if isinstance(value, DenseArrayBase) else 0

    @property
    def targets(self) -> tuple[SSAValue, ...]:
        """Returns the handles of loops and blocks."""
        return tuple(self.handles[: len(self.handles) - sum(map(self.slots, self.FIELDS))])

    def numbers(self, field: Field) -> tuple[SSAValue, ...]:
        """Returns the handles that stand in a list of numbers."""
        first = len(self.targets) + sum(map(self.slots, self.FIELDS[: self.FIELDS.index(field)]))
        return tuple(self.handles[first : first + self.slots(field)])

    def verify_(self) -> None:
        """
        Checks the number and types of handles and results, then the parameters.

        Raises `VerifyException` at the first that is wrong.
        """
        if any(value.type != NUMBER for value in self.handles[len(self.targets) :]):
            raise VerifyException("a handle in a list of numbers is no number")
        for what, kinds, values in (
            ("handles", self.TAKES, self.targets),
            ("results", self.MAKES, self.made),
        ):
            least = len([kind for kind in kinds if kind != "..."])
            if what == "results" and "..." in kinds:
                least = 0
            if len(values) < least or ("..." not in kinds and len(values) > least):
                more = " or more" if "..." in kinds else ""
                raise VerifyException(f"{len(values)} {what}, expected {least}{more}")
            for value, kind in zip(values, _spread(kinds, len(values)), strict=True):
                if kind == "any" and value.type == NUMBER:
                    raise VerifyException("a handle is a number, expected a loop or block")
                if kind != "any" and value.type != TYPES[kind]:
                    raise VerifyException(f"a handle is of type {value.type}, expected {TYPES[kind]}")
        expected = self.num_made
        if expected is not None and len(self.made) != expected:
            raise VerifyException(f"{len(self.made)} results, expected {expected}")
        self.verify_parameters()

    def verify_parameters(self) -> None:
        """Raises VerifyException where the parameters do not hold what the step requires."""

    @classmethod
    def parse(cls, parser: Parser) -> StepOp:
        """
        Reads handles, parameters, attributes and, where needed, the number of results, and returns the step.

        Raises `ParseError`.
        """
        handles: list[SSAValue] = []
        while (value := _parse_optional_handle(parser)) is not None:
            handles.append(value)
            if parser.parse_optional_punctuation(",") is None:
                break
        properties = {field.name: _parse_field(parser, field, handles) for field in cls.FIELDS}
        attributes = parser.parse_optional_attr_dict()
        op = cls.__new__(cls)
        count = None
        if "..." in cls.MAKES and parser.parse_optional_punctuation(":") is not None:
            start = parser.pos
            count = parser.parse_integer(allow_boolean=False, allow_negative=False)
            if count > MOST_RESULTS:
                parser.raise_error(f"{cls.name} makes at most {MOST_RESULTS} results, found {count}", start, parser.pos)
        StepOp.__init__(op, handles, 0 if "..." in cls.MAKES else None, **properties)
        if "..." in cls.MAKES:
            count = op.num_made if count is None else count
            op = cls.__new__(cls)
            StepOp.__init__(op, handles, 1 if count is None else count, **properties)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        """Prints what `parse` reads."""
        if self.targets:
            printer.print_string(" ")
            printer.print_list(self.targets, printer.print_ssa_value)
        for field in self.FIELDS:
            value = self.properties.get(field.name)
            if value is not None:
                _print_field(printer, field, value, self.numbers(field))
        printer.print_op_attributes(self.attributes)
        if self.num_made is None:
            printer.print_string(f" : {len(self.made)}")


def _spread(kinds: Kinds, count: int) -> list[str]:
    """Returns the kind of each of `count` handles."""
    if "..." not in kinds:
        return list(kinds)
    fixed = [kind for kind in kinds if kind != "..."]
    return (fixed + [fixed[-1]] * count)[:count]


def _parse_optional_handle(parser: Parser) -> SSAValue | None:
    operand = parser.parse_optional_unresolved_operand()
    if operand is None:
        return None
    values = parser.ssa_values.get(operand.operand_name)
    if values is None or operand.index >= len(values):
        raise ParseError(operand.span, f"handle %{operand.operand_name} is not defined before this step")
    return values[operand.index]


def _parse_field(parser: Parser, field: Field, handles: list[SSAValue]) -> Attribute | None:
    """Returns the value of a parameter. Handles that stand in it are appended to `handles`."""
    if field.kind == "flag":
        return UnitAttr() if parser.parse_optional_keyword(field.keyword or field.name) is not None else None
    if field.keyword is not None:
        if field.optional:
            if parser.parse_optional_keyword(field.keyword) is None:
                return None
        else:
            parser.parse_keyword(field.keyword)
    match field.kind:
        case "string":
            return StringAttr(parser.parse_str_literal(f" for the {field.name}"))
        case "number":
            return IntegerAttr(parser.parse_integer(allow_boolean=False, context_msg=f" for the {field.name}"), i64)
        case "numbers":
            return numbers_attribute(
                parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_number(parser, handles))
            )
        case "symbol":
            return SymbolRefAttr(parser.parse_symbol_name())
        case "map":
            attribute = parser.parse_attribute()
            if not isinstance(attribute, AffineMapAttr):
                parser.raise_error(f"expected an affine map for the {field.name}")
            return attribute
        case _:
            return parser.parse_attribute()


def _parse_number(parser: Parser, handles: list[SSAValue]) -> int | None:
    if parser.parse_optional_punctuation("?") is not None:
        return None
    handle = _parse_optional_handle(parser)
    if handle is not None:
        handles.append(handle)
        return FROM_HANDLE
    return parser.parse_integer(allow_boolean=False)


def _print_number(printer: Printer, number: int | None, handles: Iterator[SSAValue]) -> None:
    if number == FROM_HANDLE:
        printer.print_ssa_value(next(handles))
    else:
        printer.print_string("?" if number is None else str(number))


def _print_field(printer: Printer, field: Field, value: Attribute, handles: Sequence[SSAValue]) -> None:
    printer.print_string(" ")
    if field.kind == "flag":
        printer.print_string(field.keyword or field.name)
        return
    if field.keyword is not None:
        printer.print_string(f"{field.keyword} ")
    match value:
        case StringAttr() if field.kind == "string":
            printer.print_string_literal(value.data)
        case IntegerAttr() if field.kind == "number":
            printer.print_string(str(value.value.data))
        case DenseArrayBase() if field.kind == "numbers":
            given = iter(handles)
            with printer.in_square_brackets():
                printer.print_list(numbers_of(value), lambda number: _print_number(printer, number, given))
        case SymbolRefAttr() if field.kind == "symbol":
            printer.print_symbol_name(value.root_reference.data)
        case _:
            printer.print_attribute(value)


def empty_program() -> Region:
    """Makes a region of one block without ops."""
    return Region(Block())
