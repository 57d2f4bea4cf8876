"""Loads and stores of register tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerAttr, MemRefType, VectorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ...core.ir.appending import fill_op
from ...core.ir.number_lists import integers_of
from ...core.ir.reprs import ShownOp
from ..traits import AccessesBoxes, BoxAccess, ElementAccess
from .places import Numbers, ParsedPlace, Place, default_along, numbers, parse_place, print_place, verify_place

LANES = 16
"""
The elements that one value of LLVM holds, whatever their type. A tile is cut into vectors of this size.

A vector register of 64 bytes holds as many f32. LLVM cuts these vectors again where registers are narrower.
"""

Pair = tuple[int, int]


def pair(attribute: Numbers) -> Pair:
    """Returns the two numbers of a pair."""
    first, second = integers_of(attribute)
    return first, second


def resolve(parser: Parser, place: ParsedPlace, type_: Attribute) -> tuple[SSAValue, Pair, Pair]:
    """Returns the buffer of a parsed place, whose type is now known, with `along` and `by`."""
    rank = len(type_.get_shape()) if isinstance(type_, MemRefType) else 0
    along = default_along(rank) if place.along is None else (place.along[0], place.along[1])
    by = (1, 1) if place.by is None else (place.by[0], place.by[1])
    return parser.resolve_operand(place.buffer, type_), along, by


def verify_pairs(op: IRDLOperation, names: Sequence[str]) -> None:
    """Raises where one of these properties is not a pair."""
    for name in names:
        if len(cast(Numbers, op.properties[name])) != 2:
            raise VerifyException(f"'{name}' is {op.properties[name]}, expected two numbers")


def place_at(op: IRDLOperation, buffer: SSAValue, indices: Sequence[SSAValue]) -> Place:
    """Returns the place in a buffer whose `along` and `by` are properties of `op`."""
    along, by = op.properties["along"], op.properties["by"]
    return Place(buffer, tuple(indices), pair(cast(Numbers, along)), pair(cast(Numbers, by)))


def box(place: Place, shape: Sequence[int], *, is_store: bool) -> BoxAccess:
    """Returns the smallest box around a place."""
    sizes = [1] * len(place.indices)
    for dimension, step, extent in zip(place.along, place.by, shape, strict=True):
        if dimension >= 0:
            sizes[dimension] += (extent - 1) * step
    return BoxAccess(place.buffer, place.indices, tuple(sizes), is_store)


def elements(place: Place, shape: Sequence[int], *, is_store: bool) -> ElementAccess:
    """Returns the elements at a place."""
    moves = tuple(move for move in zip(place.along, place.by, shape, strict=True) if move[0] >= 0)
    return ElementAccess(place.buffer, place.indices, moves, is_store)


def is_tile(type_: VectorType) -> bool:
    """Returns whether the type is that of a tile: rows and columns, at least one of each, with known sizes."""
    return type_.get_num_dims() == 2 and not type_.get_num_scalable_dims() and 0 not in type_.get_shape()


def verify_tile(type_: VectorType) -> None:
    """Raises where the type is not that of a tile."""
    if not is_tile(type_):
        raise VerifyException(f"the tile has type {type_}, expected a vector of rows and columns")


@irdl_op_definition
class LoadOp(ShownOp, AccessesBoxes):
    """
    Loads a tile: `result[r, c] = buffer[indices + r * by[0] * e(along[0]) + c * by[1] * e(along[1])]`.

        %t = tile.load %C[%i, %j] : memref<100x96xf32>, vector<8x48xf32>
        %b = tile.load %bias[%j] : memref<96xf32>, vector<8x48xf32>
        %p = tile.load %X[%n, %y, %x, %c] along [2, 3] by [2, 1] : memref<1x28x28x64xf32>, vector<7x64xf32>
        %g = tile.load %X[%n, %y, %x, %c] by [1, 8] repeat 4 : memref<1x28x28x64xf32>, vector<7x16xf32>

    `along` names the dimensions of the buffer in which rows and columns of the tile move, -1 for none (a broadcast).
    These are the last two by default. `by` are the steps, in elements of those dimensions. Every element must be in the
    buffer. With `repeat` so many columns next to each other are the same element: `c floordiv repeat` stands for `c`.
    """

    name = "tile.load"

    buffer = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    along = prop_def(DenseArrayBase.constr(i64))
    by = prop_def(DenseArrayBase.constr(i64))
    repeat = opt_prop_def(IntegerAttr)
    result = result_def(VectorType)

    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        buffer: SSAValue,
        indices: Sequence[SSAValue],
        tile_type: VectorType,
        along: Pair | None = None,
        by: Pair = (1, 1),
        repeat: int = 1,
    ):
        properties: dict[str, Attribute] = {
            "along": numbers(along or default_along(len(indices))),
            "by": numbers(by),
        }
        if repeat != 1:
            properties["repeat"] = IntegerAttr(repeat, i64)
        fill_op(self, (buffer, *indices), (tile_type,), properties)

    @property
    def place(self) -> Place:
        """Returns the place that is loaded."""
        buffer, *indices = self._operands
        return place_at(self, buffer, indices)

    @property
    def repeats(self) -> int:
        """Returns how many columns next to each other are the same element."""
        return 1 if self.repeat is None else self.repeat.value.data

    def _extents(self) -> tuple[int, int]:
        """Returns the numbers of rows and columns of elements that are read."""
        rows, columns = cast(VectorType, self.results[0]._type).get_shape()
        return rows, -(-columns // self.repeats)

    def box_accesses(self) -> tuple[BoxAccess, ...]:
        return (box(self.place, self._extents(), is_store=False),)

    def elements(self) -> tuple[ElementAccess, ...]:
        return (elements(self.place, self._extents(), is_store=False),)

    def verify_(self) -> None:
        verify_pairs(self, ("along", "by"))
        verify_tile(cast(VectorType, self.result.type))
        if self.repeats < 1:
            raise VerifyException(f"the tile repeats elements {self.repeats} times, expected 1 or more")
        verify_place(self.place, "the tile", self._extents())
        if cast(VectorType, self.result.type).element_type != self.place.type.element_type:
            raise VerifyException(f"a tile of {self.result.type} cannot be loaded from {self.buffer.type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parsed = parse_place(parser)
        repeat = parser.parse_integer() if parser.parse_optional_keyword("repeat") is not None else 1
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        buffer_type = parser.parse_type()
        parser.parse_punctuation(",")
        tile_type = parser.parse_type()
        buffer, along, by = resolve(parser, parsed, buffer_type)
        op = cls(buffer, parsed.indices, cast(VectorType, tile_type), along, by, repeat)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_place(printer, self.place)
        if self.repeat is not None:
            printer.print_string(f" repeat {self.repeats}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)
        printer.print_string(", ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class StoreOp(ShownOp, AccessesBoxes):
    """
    Stores a tile: `buffer[indices + r * by[0] * e(along[0]) + c * by[1] * e(along[1])] = tile[r, c]`.

        tile.store %t, %C[%i, %j] : vector<8x48xf32>, memref<100x96xf32>

    It works like `tile.load`, but nothing can be broadcast: two elements would be stored in one place.
    """

    name = "tile.store"

    tile = operand_def(VectorType)
    buffer = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    along = prop_def(DenseArrayBase.constr(i64))
    by = prop_def(DenseArrayBase.constr(i64))

    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        tile: SSAValue,
        buffer: SSAValue,
        indices: Sequence[SSAValue],
        along: Pair | None = None,
        by: Pair = (1, 1),
    ):
        properties = {"along": numbers(along or default_along(len(indices))), "by": numbers(by)}
        fill_op(self, (tile, buffer, *indices), properties=properties)

    @property
    def place(self) -> Place:
        """Returns the place where the tile is stored."""
        _, buffer, *indices = self._operands
        return place_at(self, buffer, indices)

    def box_accesses(self) -> tuple[BoxAccess, ...]:
        return (box(self.place, cast(VectorType, self.tile.type).get_shape(), is_store=True),)

    def elements(self) -> tuple[ElementAccess, ...]:
        return (elements(self.place, cast(VectorType, self.tile.type).get_shape(), is_store=True),)

    def verify_(self) -> None:
        verify_pairs(self, ("along", "by"))
        type_ = cast(VectorType, self.tile.type)
        verify_tile(type_)
        verify_place(self.place, "the tile", type_.get_shape())
        for what, dimension, size in zip(("rows", "columns"), self.place.along, type_.get_shape(), strict=True):
            if dimension < 0 and size != 1:
                raise VerifyException(f"{size} {what} are stored in one place")
        if type_.element_type != self.place.type.element_type:
            raise VerifyException(f"a tile of {type_} cannot be stored to {self.buffer.type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        tile = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        parsed = parse_place(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        tile_type = parser.parse_type()
        parser.parse_punctuation(",")
        buffer, along, by = resolve(parser, parsed, parser.parse_type())
        op = cls(parser.resolve_operand(tile, tile_type), buffer, parsed.indices, along, by)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.tile)
        printer.print_string(", ")
        print_place(printer, self.place)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.tile.type)
        printer.print_string(", ")
        printer.print_attribute(self.buffer.type)
