"""The place of a tile in a buffer: the element of its corner, and how its rows and columns walk from there."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, IntegerType, MemRefType
from xdsl.ir import SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...core.ir.number_lists import i64_array
from ...lazy_dataclass import dataclass

Numbers = DenseArrayBase[IntegerType]

BROADCAST = -1
"""
Stands for a dimension when the tile does not move in the buffer, so that all its rows (or columns) are the same
elements.
"""


@dataclass(frozen=True)
class Place:
    """
    The place of a tile in a buffer. Element `(r, c)` of the tile is element `indices + r * by[0] * e(along[0]) + c *
    by[1] * e(along[1])` of the buffer. Here `e(d)` is the unit vector of dimension `d`, and 0 for `BROADCAST`.
    """

    buffer: SSAValue
    indices: tuple[SSAValue, ...]
    along: tuple[int, int]
    by: tuple[int, int]

    @property
    def type(self) -> MemRefType:
        """Returns the type of the buffer."""
        assert isinstance(self.buffer.type, MemRefType)
        return self.buffer.type


def numbers(values: Sequence[int]) -> Numbers:
    """Returns a list of integers as an attribute."""
    return i64_array(values)


def default_along(rank: int) -> tuple[int, int]:
    """Returns the last two dimensions. With one dimension the rows are broadcast, and with none everything is."""
    if rank >= 2:
        return (rank - 2, rank - 1)
    return (BROADCAST, rank - 1)


def verify_place(place: Place, what: str, extents: Sequence[int]) -> None:
    """Raises where a place with these numbers of rows and columns is not one of its buffer."""
    shape = place.type.get_shape()
    rank = len(shape)
    if len(place.indices) != rank:
        raise VerifyException(
            f"{what} has {len(place.indices)} indices into a buffer of {rank} dimensions, expected one for each"
        )
    for dimension in place.along:
        if dimension != BROADCAST and dimension not in range(rank):
            raise VerifyException(
                f"{what} runs along dimension {dimension}, expected {BROADCAST} or one of the {rank} dimensions"
            )
    if place.along[0] == place.along[1] != BROADCAST:
        raise VerifyException(f"{what} runs along dimension {place.along[0]} with its rows and its columns")
    for step in place.by:
        if step < 1:
            raise VerifyException(f"{what} has step {step}, expected 1 or more")
    for dimension, step, extent in zip(place.along, place.by, extents, strict=True):
        span = 1 + (extent - 1) * step
        if dimension != BROADCAST and shape[dimension] != DYNAMIC_INDEX and span > shape[dimension]:
            raise VerifyException(
                f"{what} spans {span} elements of dimension {dimension}, which has {shape[dimension]}"
            )


# `%buffer[%i, %j] (along [r, c])? (by [r, c])?`


@dataclass
class ParsedPlace:
    """A place before the type of its buffer is known."""

    buffer: UnresolvedOperand
    indices: Sequence[SSAValue]
    along: list[int] | None
    by: list[int] | None


def parse_place(parser: Parser) -> ParsedPlace:
    buffer = parser.parse_unresolved_operand()
    indices = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.resolve_operand(parser.parse_unresolved_operand(), IndexType())
    )
    return ParsedPlace(buffer, indices, parse_pair(parser, "along"), parse_pair(parser, "by"))


def parse_pair(parser: Parser, keyword: str) -> list[int] | None:
    """Parses `keyword [a, b]`, or returns `None` where the keyword is not there."""
    if parser.parse_optional_keyword(keyword) is None:
        return None
    position = parser.pos
    found = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    if len(found) != 2:
        parser.raise_error(f"expected two numbers after '{keyword}', found {len(found)}", position)
    return found


def print_place(printer: Printer, place: Place) -> None:
    printer.print_ssa_value(place.buffer)
    with printer.in_square_brackets():
        printer.print_list(place.indices, printer.print_ssa_value)
    if place.along != default_along(len(place.indices)):
        printer.print_string(f" along [{place.along[0]}, {place.along[1]}]")
    if place.by != (1, 1):
        printer.print_string(f" by [{place.by[0]}, {place.by[1]}]")
