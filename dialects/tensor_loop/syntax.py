"""Pieces of syntax that several tensor_loop ops share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, DenseArrayBase, IndexType, IntegerType
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from ...core.ir.number_lists import i64_array, integers_of

Extent = int | SSAValue
"""A number of iterations or elements, either known or an `index` value."""

AXIS_KINDS = ("spatial", "reduce")
"""The kinds of the axes of a block."""

Constraint = tuple[AffineExpr, int]
"""The constraint `expression < bound`, over the binding operands of a block."""

Numbers = DenseArrayBase[IntegerType]
"""A list of integers as an attribute."""


def value_name(value: SSAValue) -> str:
    """Returns the name of a value in messages."""
    return f"%{value.name_hint}" if value.name_hint is not None else "a value without a name"


def split_extents(extents: Sequence[Extent]) -> tuple[Numbers, list[SSAValue]]:
    """
    Returns extents as stored in an op: the numbers, with `DYNAMIC_INDEX` for each that is a value, and the values.
    """
    numbers = [extent if isinstance(extent, int) else DYNAMIC_INDEX for extent in extents]
    values = [extent for extent in extents if isinstance(extent, SSAValue)]
    return i64_array(numbers), values


def predicate_properties(num_operands: int, constraints: Sequence[Constraint]) -> dict[str, Attribute | None]:
    """Returns the properties that hold the constraints of a block."""
    if not constraints:
        return {"predicate": None, "predicate_bounds": None}
    exprs = tuple(expr for expr, _ in constraints)
    return {
        "predicate": AffineMapAttr(AffineMap(num_operands, 0, exprs)),
        "predicate_bounds": i64_array(bound for _, bound in constraints),
    }


def join_extents(numbers: Numbers, values: Sequence[SSAValue]) -> tuple[Extent, ...]:
    """Returns the extents that `split_extents` has split. The counts must fit (`verify_extents`)."""
    found = integers_of(numbers)
    if DYNAMIC_INDEX not in found:
        return found
    remaining: Iterator[SSAValue] = iter(values)
    return tuple(next(remaining) if number == DYNAMIC_INDEX else number for number in found)


def verify_extents(subject: str, numbers: Numbers, values: Sequence[SSAValue]) -> None:
    """Raises where an extent is negative, or the number of dynamic extents is not that of their values."""
    found = numbers.get_values()
    dynamic = sum(1 for number in found if number == DYNAMIC_INDEX)
    if dynamic != len(values):
        raise VerifyException(f"{subject} has {dynamic} dynamic extents but {len(values)} values for them")
    for number in found:
        if number < 0 and number != DYNAMIC_INDEX:
            raise VerifyException(f"{subject} has extent {int(number)}, expected 0 or more")


def parse_extent(parser: Parser) -> Extent:
    """Parses `extent ::= integer | ssa-use`, where the value is of type `index`."""
    operand = parser.parse_optional_unresolved_operand()
    if operand is not None:
        return parser.resolve_operand(operand, IndexType())
    position = parser.pos
    extent = parser.parse_optional_integer(allow_boolean=False)
    if extent is None:
        parser.raise_error("expected an extent: an integer or a value of type index")
    if extent < 0:
        parser.raise_error(f"extent must be 0 or more, found {extent}", position, parser.pos)
    return extent


def print_extent(printer: Printer, extent: Extent) -> None:
    if isinstance(extent, int):
        printer.print_string(str(extent))
    else:
        printer.print_ssa_value(extent)


def print_attributes(printer: Printer, op: Operation) -> None:
    printer.print_op_attributes(op.attributes, print_keyword=True)


def print_body(printer: Printer, region: Region, bare: type[Operation] | None = None) -> None:
    """
    Prints ` { ops }` without block arguments and terminator.

    Ops of type `bare` are printed without the prefix of their dialect (`init { ... }`), which `Printer.print_region`
    cannot do.
    """
    printer.print_string(" ")
    with printer.in_braces():
        with printer.indented():
            for op in region.block.ops:
                if op.has_trait(IsTerminator, value_if_unregistered=False):
                    continue
                printer._print_new_line()  # pyright: ignore[reportPrivateUsage]
                if bare is not None and isinstance(op, bare):
                    _print_bare(printer, op)
                else:
                    printer.print_op(op)
        printer._print_new_line()  # pyright: ignore[reportPrivateUsage]


def _print_bare(printer: Printer, op: Operation) -> None:
    printer.print_string(op.name.partition(".")[2])
    op.print(printer)
    if printer.print_debuginfo:
        printer.print_string(" ")
        printer.print_attribute(op.location)
