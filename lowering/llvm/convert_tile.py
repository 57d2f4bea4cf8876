"""The `tile` dialect to loads, stores, broadcasts and fused multiply-adds of vector registers."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
)
from xdsl.ir import Operation, SSAValue

from ...dialects import llvm_ext, tile
from ...dialects.tile import Place
from . import convert_arith
from .addressing import address, lane_alignment, layout_of, load_value, store_value
from .builder import Builder, ConversionTable
from .convert_vector import broadcast
from .small_floats import change_format, element_type
from .tiles import convert_splat, is_tile, pieces_of


class _Cursor:
    """Addresses in the buffer of a place; each is made once per block."""

    def __init__(self, builder: Builder, place: Place):
        self.builder = builder
        self.layout = layout_of(builder, place.buffer)
        self.corner = address(builder, place.buffer, self.layout, place.indices)
        self.steps = tuple(
            0 if dimension < 0 else self.layout.strides[dimension] * step
            for dimension, step in zip(place.along, place.by, strict=True)
        )

    def at(self, first: int, second: int) -> SSAValue:
        """The pointer to element (first, second) of the place."""
        offset = first * self.steps[0] + second * self.steps[1]
        if offset == 0:
            return self.corner
        builder, layout = self.builder, self.layout
        return builder.cached(
            ("tile", self.corner, offset, layout.memory_type),
            lambda: builder.gep(self.corner, offset, layout.memory_type),
        )

    def scalar(self, first: int, second: int) -> SSAValue:
        """That element."""
        type_ = self.layout.value_type
        return load_value(self.builder, self.at(first, second), type_, lane_alignment(type_))

    def row(self, first: int, second: int, lanes: int) -> SSAValue:
        """`lanes` elements from (first, second) on."""
        builder = self.builder
        type_ = builder.types.vector(self.layout.value_type, lanes)
        if self.steps[1] == 1 or lanes == 1:
            return load_value(builder, self.at(first, second), type_, lane_alignment(type_))
        if self.steps[1] == 0:
            return broadcast(builder, self.scalar(first, second), type_)
        gathered = builder.zero(type_)
        for lane in range(lanes):
            element = self.scalar(first, second + lane)
            gathered = builder.emit(llvm.InsertElementOp, (gathered, element, builder.constant(lane)), type_)
        return gathered

    def put_row(self, first: int, second: int, value: SSAValue) -> None:
        """Stores a vector from (first, second) on."""
        builder = self.builder
        assert isinstance(value.type, VectorType)
        (lanes,) = value.type.get_shape()
        if self.steps[1] == 1 or lanes == 1:
            store_value(builder, value, self.at(first, second), lane_alignment(value.type))
            return
        scalar = self.layout.value_type
        for lane in range(lanes):
            element = builder.emit(llvm_ext.ExtractElementOp, (value, builder.constant(lane)), scalar)
            store_value(builder, element, self.at(first, second + lane), lane_alignment(scalar))


def convert_load(builder: Builder, op: tile.LoadOp) -> None:
    assert isinstance(op.result.type, VectorType)
    cursor = _Cursor(builder, op.place)
    same_rows = cursor.steps[0] == 0
    made: dict[tuple[int, int], SSAValue] = {}
    pieces: list[SSAValue] = []
    for row, column, lanes in pieces_of(op.result.type):
        key = (0 if same_rows else row, column)
        if key not in made:
            made[key] = cursor.row(*key, lanes)
        pieces.append(made[key])
    builder.pieces[op.result] = pieces


def convert_store(builder: Builder, op: tile.StoreOp) -> None:
    assert isinstance(op.tile.type, VectorType)
    cursor = _Cursor(builder, op.place)
    for (row, column, _), value in zip(pieces_of(op.tile.type), builder.pieces[op.tile], strict=True):
        cursor.put_row(row, column, value)


def convert_mma(builder: Builder, op: tile.MmaOp) -> None:
    """
    Per step of the depth: the vectors of a row of B, then for each row of the tile one element of A in all lanes, and its
    multiply-adds. The accumulators stay in registers: they are values.
    """
    assert isinstance(op.acc.type, VectorType)
    left, right = _Cursor(builder, op.a_place), _Cursor(builder, op.b_place)
    element = builder.types.convert(op.acc.type.element_type)
    rows, _ = op.acc.type.get_shape()
    pieces = pieces_of(op.acc.type)
    in_row = [piece for piece in pieces if piece.row == 0]
    totals = list(builder.pieces[op.acc])
    for step in range(op.depth.value.data):
        vectors = [
            _widened(
                builder,
                right.row(step, piece.column, piece.lanes),
                builder.types.vector(element, piece.lanes),
            )
            for piece in in_row
        ]
        for row in range(rows):
            scalar = _widened(builder, left.scalar(row, step), element)
            for number, vector in enumerate(vectors):
                place = row * len(in_row) + number
                totals[place] = _accumulate(builder, scalar, vector, totals[place])
    builder.pieces[op.result] = totals


def _widened(builder: Builder, value: SSAValue, target: VectorType | object) -> SSAValue:
    assert isinstance(target, VectorType) or not isinstance(value.type, VectorType)
    wanted = element_type(target)  # pyright: ignore[reportArgumentType]
    if element_type(value.type) == wanted:
        return value
    if isinstance(wanted, IntegerType):
        return builder.resize_integer(value, target, signed=True)  # pyright: ignore[reportArgumentType]
    return change_format(builder, value, target)  # pyright: ignore[reportArgumentType]


def _accumulate(builder: Builder, scalar: SSAValue, vector: SSAValue, total: SSAValue) -> SSAValue:
    key = ("broadcast", scalar, total.type)
    spread = builder.cached(key, lambda: broadcast(builder, scalar, total.type))
    if isinstance(element_type(total.type), IntegerType):
        return builder.add(total, builder.mul(spread, vector))
    return builder.intrinsic_value("llvm.fma", (spread, vector, total), total.type)


def convert_constant(builder: Builder, op: arith.ConstantOp) -> None:
    """A constant; a tile of one number, or a number in the body of a `tile.map`, in all lanes."""
    if is_tile(op.result.type):
        convert_splat(builder, op)
    elif builder.types.lanes is not None and isinstance(op.value, FloatAttr | IntegerAttr):
        type_ = builder.types.convert(op.result.type)
        dense = DenseIntOrFPElementsAttr.from_list(type_, [op.value.value.data])  # pyright: ignore
        builder.bind(op.result, builder.emit(llvm.ConstantOp, (), type_, {"value": dense}))
    else:
        convert_arith.convert_constant(builder, op)


def convert_map(builder: Builder, op: tile.MapOp, convert: Callable[[Builder, Operation], None]) -> None:
    """The body once per piece, on vectors; what it uses from outside is in all lanes."""
    assert isinstance(op.result.type, VectorType)
    block = op.body.block
    outside = _outside_values(op)
    made: list[SSAValue] = []
    for number, piece in enumerate(pieces_of(op.result.type)):
        for argument, source in zip(block.args, op.tiles, strict=True):
            builder.values[argument] = builder.pieces[source][number]
        whole = {value: builder.values[value] for value in outside}
        for value, scalar in whole.items():
            builder.values[value] = broadcast(builder, scalar, builder.types.vector(scalar.type, piece.lanes))
        with builder.types.cut_to(piece.lanes):
            for each in block.ops:
                if not isinstance(each, tile.YieldOp):
                    convert(builder, each)
        made.append(builder.value(op.yielded))
        builder.values.update(whole)
    builder.source = op
    builder.pieces[op.result] = made


def _outside_values(op: tile.MapOp) -> list[SSAValue]:
    block = op.body.block
    inside = {*block.args, *(result for each in block.ops for result in each.results)}
    used = (operand for each in block.ops for operand in each.operands)
    return [operand for operand in dict.fromkeys(used) if operand not in inside]


CONVERSIONS: ConversionTable = {
    tile.LoadOp: convert_load,
    tile.StoreOp: convert_store,
    tile.MmaOp: convert_mma,
}
