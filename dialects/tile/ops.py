"""Loads, stores and the multiply-accumulate of register tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseArrayBase,
    Float16Type,
    Float32Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ..traits import AccessesBoxes, BoxAccess
from .places import (
    Numbers,
    ParsedPlace,
    Place,
    default_along,
    numbers,
    parse_place,
    print_place,
    verify_place,
)

Pair = tuple[int, int]

MAX_DEPTH = 64
"""Most steps of the sum that one `tile.mma` may spell out."""


def _pair(attribute: Numbers) -> Pair:
    first, second = attribute.get_values()
    return int(first), int(second)


def _resolve(parser: Parser, place: ParsedPlace, type_: Attribute) -> tuple[SSAValue, Pair, Pair]:
    rank = len(type_.get_shape()) if isinstance(type_, MemRefType) else 0
    along = default_along(rank) if place.along is None else (place.along[0], place.along[1])
    by = (1, 1) if place.by is None else (place.by[0], place.by[1])
    return parser.resolve_operand(place.buffer, type_), along, by


def _verify_pairs(op: IRDLOperation, names: Sequence[str]) -> None:
    for name in names:
        if len(cast(Numbers, op.properties[name])) != 2:
            raise VerifyException(f"'{name}' is {op.properties[name]}, expected two numbers")


def _box(place: Place, shape: Sequence[int], *, is_store: bool) -> BoxAccess:
    """The smallest box around a place."""
    sizes = [1] * len(place.indices)
    for dimension, step, extent in zip(place.along, place.by, shape, strict=True):
        if dimension >= 0:
            sizes[dimension] += (extent - 1) * step
    return BoxAccess(place.buffer, place.indices, tuple(sizes), is_store)


def _verify_tile(type_: VectorType) -> None:
    if type_.get_num_dims() != 2 or type_.get_num_scalable_dims() or 0 in type_.get_shape():
        raise VerifyException(f"the tile has type {type_}, expected a vector of rows and columns")


@irdl_op_definition
class LoadOp(IRDLOperation, AccessesBoxes):
    """
    Loads a tile: `result[r, c] = buffer[indices + r * by[0] * e(along[0]) + c * by[1] * e(along[1])]`.

        %t = tile.load %C[%i, %j] : memref<100x96xf32>, vector<8x48xf32>
        %b = tile.load %bias[%j] : memref<96xf32>, vector<8x48xf32>
        %p = tile.load %X[%n, %y, %x, %c] along [2, 3] by [2, 1] : memref<1x28x28x64xf32>, vector<7x64xf32>

    `along` names the dimensions of the buffer in which rows and columns of the tile move, -1 for none (a broadcast); the
    last two by default. `by` are the steps, in elements of those dimensions. Every element must be in the buffer.
    """

    name = "tile.load"

    buffer = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    along = prop_def(DenseArrayBase.constr(i64))
    by = prop_def(DenseArrayBase.constr(i64))
    result = result_def(VectorType)

    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        buffer: SSAValue,
        indices: Sequence[SSAValue],
        tile_type: VectorType,
        along: Pair | None = None,
        by: Pair = (1, 1),
    ):
        super().__init__(
            operands=[buffer, list(indices)],
            result_types=[tile_type],
            properties={"along": numbers(along or default_along(len(indices))), "by": numbers(by)},
        )

    @property
    def place(self) -> Place:
        """What is loaded."""
        return Place(self.buffer, tuple(self.indices), _pair(self.along), _pair(self.by))

    def box_accesses(self) -> tuple[BoxAccess, ...]:
        return (_box(self.place, cast(VectorType, self.result.type).get_shape(), is_store=False),)

    def verify_(self) -> None:
        _verify_pairs(self, ("along", "by"))
        _verify_tile(cast(VectorType, self.result.type))
        verify_place(self.place, "the tile")
        if cast(VectorType, self.result.type).element_type != self.place.type.element_type:
            raise VerifyException(f"a tile of {self.result.type} cannot be loaded from {self.buffer.type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parsed = parse_place(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        buffer_type = parser.parse_type()
        parser.parse_punctuation(",")
        tile_type = parser.parse_type()
        buffer, along, by = _resolve(parser, parsed, buffer_type)
        op = cls(buffer, parsed.indices, cast(VectorType, tile_type), along, by)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_place(printer, self.place)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)
        printer.print_string(", ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class StoreOp(IRDLOperation, AccessesBoxes):
    """
    Stores a tile: `buffer[indices + r * by[0] * e(along[0]) + c * by[1] * e(along[1])] = tile[r, c]`.

        tile.store %t, %C[%i, %j] : vector<8x48xf32>, memref<100x96xf32>

    As `tile.load`, but nothing can be broadcast: two elements would be stored in one place.
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
        super().__init__(
            operands=[tile, buffer, list(indices)],
            properties={"along": numbers(along or default_along(len(indices))), "by": numbers(by)},
        )

    @property
    def place(self) -> Place:
        """Where it is stored."""
        return Place(self.buffer, tuple(self.indices), _pair(self.along), _pair(self.by))

    def box_accesses(self) -> tuple[BoxAccess, ...]:
        return (_box(self.place, cast(VectorType, self.tile.type).get_shape(), is_store=True),)

    def verify_(self) -> None:
        _verify_pairs(self, ("along", "by"))
        type_ = cast(VectorType, self.tile.type)
        _verify_tile(type_)
        verify_place(self.place, "the tile")
        for what, dimension, size in zip(
            ("rows", "columns"), self.place.along, type_.get_shape(), strict=True
        ):
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
        buffer, along, by = _resolve(parser, parsed, parser.parse_type())
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


@irdl_op_definition
class MmaOp(IRDLOperation, AccessesBoxes):
    """
    Multiplies and accumulates: `result[r, c] = acc[r, c] + sum over d < depth of A(r, d) * B(d, c)`, one `d` after the other.

        %next = tile.mma %acc, %A[%i, %k], %B[%k, %j] depth 4
            : vector<8x48xf32>, memref<100x64xf32>, memref<64x96xf32>

    `A(r, d)` walks the rows of the tile and the depth, `B(d, c)` the depth and the columns, as places do (`tile.load`). Floats are
    multiplied and added with one rounding; f16 and bf16 elements are widened to an f32 tile, small integers to an i32 one.
    """

    name = "tile.mma"

    acc = operand_def(VectorType)
    a = operand_def(MemRefType)
    a_indices = var_operand_def(IndexType)
    b = operand_def(MemRefType)
    b_indices = var_operand_def(IndexType)
    a_along = prop_def(DenseArrayBase.constr(i64))
    a_by = prop_def(DenseArrayBase.constr(i64))
    b_along = prop_def(DenseArrayBase.constr(i64))
    b_by = prop_def(DenseArrayBase.constr(i64))
    depth = prop_def(IntegerAttr)
    result = result_def(VectorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect())

    def __init__(self, acc: SSAValue, a: Place, b: Place, depth: int):
        super().__init__(
            operands=[acc, a.buffer, list(a.indices), b.buffer, list(b.indices)],
            result_types=[acc.type],
            properties={
                "a_along": numbers(a.along),
                "a_by": numbers(a.by),
                "b_along": numbers(b.along),
                "b_by": numbers(b.by),
                "depth": IntegerAttr(depth, i64),
            },
        )

    @property
    def a_place(self) -> Place:
        """Rows and depth of the left operand."""
        return Place(self.a, tuple(self.a_indices), _pair(self.a_along), _pair(self.a_by))

    @property
    def b_place(self) -> Place:
        """Depth and columns of the right operand."""
        return Place(self.b, tuple(self.b_indices), _pair(self.b_along), _pair(self.b_by))

    def box_accesses(self) -> tuple[BoxAccess, ...]:
        rows, columns = cast(VectorType, self.acc.type).get_shape()
        depth = self.depth.value.data
        return (
            _box(self.a_place, (rows, depth), is_store=False),
            _box(self.b_place, (depth, columns), is_store=False),
        )

    def verify_(self) -> None:
        _verify_pairs(self, ("a_along", "a_by", "b_along", "b_by"))
        type_ = cast(VectorType, self.acc.type)
        _verify_tile(type_)
        if self.result.type != type_:
            raise VerifyException(f"the result has type {self.result.type}, expected {type_}")
        verify_place(self.a_place, "the left operand")
        verify_place(self.b_place, "the right operand")
        if not 1 <= self.depth.value.data <= MAX_DEPTH:
            raise VerifyException(f"the depth is {self.depth.value.data}, expected 1 to {MAX_DEPTH}")
        left, right = self.a_place.type.element_type, self.b_place.type.element_type
        if not _fits(left, right, type_.element_type):
            raise VerifyException(f"a product of {left} and {right} cannot be added to a tile of {type_}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        acc = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        left = parse_place(parser)
        parser.parse_punctuation(",")
        right = parse_place(parser)
        parser.parse_keyword("depth")
        depth = parser.parse_integer()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        if len(types) != 3:
            parser.raise_error(f"expected the types of the tile and of two buffers, found {len(types)}")
        a, a_along, a_by = _resolve(parser, left, types[1])
        b, b_along, b_by = _resolve(parser, right, types[2])
        op = cls(
            parser.resolve_operand(acc, types[0]),
            Place(a, tuple(left.indices), a_along, a_by),
            Place(b, tuple(right.indices), b_along, b_by),
            depth,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.acc)
        for place in (self.a_place, self.b_place):
            printer.print_string(", ")
            print_place(printer, place)
        printer.print_string(f" depth {self.depth.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list((self.acc.type, self.a.type, self.b.type), printer.print_attribute)


def _fits(left: Attribute, right: Attribute, tile: Attribute) -> bool:
    """Whether products of these elements can be summed up in a tile of that element."""
    if isinstance(tile, IntegerType):
        widths = [each.width.data for each in (left, right) if isinstance(each, IntegerType)]
        return len(widths) == 2 and 1 < max(widths) <= tile.width.data
    if left != right or not isinstance(left, AnyFloat):
        return False
    return left == tile or (isinstance(left, Float16Type | BFloat16Type) and isinstance(tile, Float32Type))
