"""The conversion of the `tile` dialect: loads, stores, broadcasts and fused multiply-adds of vector registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    i16,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ....core.ir.kinds import is_kind
from ....core.ir.walk import ops_in
from ....dialects import tile
from ....dialects.tile.ops import LANES
from .. import convert_arith
from ..addressing import lane_alignment, load_value
from ..convert_memref import is_place_of_views
from ..lanes import as_before, carried, whole_lanes
from ..llvm_body import ConversionTable, LLVMBody
from ..pieces import Piece, is_tile, piece_types, pieces_of
from ..small_floats import bf16_of_bits, change_format, element_type, is_bf16
from ..types import F32
from .bf16_registers import extend_bf16, round_to_bf16
from .cursor import PlaceCursor
from .groups import convert_mma_of_groups
from .interleaved import is_interleaved, put_interleaved
from .left_elements import HalfElements
from .registers import convert_store_of_tile_registers
from .repeated import repeated_row
from .saturation import Saturation, saturation_at
from .spread import spread

SIDE_BY_SIDE = 4
"""The registers of a tile on which a `tile.map` works at a time."""


def convert_load(builder: LLVMBody, op: tile.LoadOp) -> None:
    assert isinstance(op.result.type, VectorType)
    cursor = PlaceCursor(builder, op.place)
    same_rows = cursor.steps[0] == 0
    made: dict[tuple[int, int], SSAValue] = {}
    pieces: list[SSAValue] = []
    for row, column, lanes in pieces_of(op.result.type):
        key = (0 if same_rows else row, column)
        if key not in made:
            made[key] = cursor.row(*key, lanes) if op.repeats == 1 else repeated_row(cursor, *key, lanes, op.repeats)
        pieces.append(made[key])
    builder.pieces[op.result] = pieces


def convert_store(builder: LLVMBody, op: tile.StoreOp) -> None:
    assert isinstance(op.tile.type, VectorType)
    if convert_store_of_tile_registers(builder, op):
        return
    cursor, rows = PlaceCursor(builder, op.place), op.tile.type.get_shape()[0]
    if is_interleaved(cursor, rows):
        put_interleaved(cursor, rows, builder.pieces[op.tile])
        return
    for (row, column, _), value in zip(pieces_of(op.tile.type), builder.pieces[op.tile], strict=True):
        cursor.put_row(row, column, value)


def convert_mma(builder: LLVMBody, op: tile.MmaOp) -> None:
    """
    Emits, per step of the depth, the vectors of a row of B, then the products with each row of the tile.

    For these, one element of A is in all lanes. The accumulators stay in registers: they are values.
    """
    assert isinstance(op.acc.type, VectorType)
    if op.groups is not None:
        convert_mma_of_groups(builder, op)
        return
    left, right = PlaceCursor(builder, op.a_place), PlaceCursor(builder, op.b_place)
    element = builder.types.convert(op.acc.type.element_type)
    halves = None
    if isinstance(left.layout.value_type, Float16Type) and element == F32:
        halves = HalfElements(builder, left, len(op.row_range), op.depth.value.data)
    pieces = pieces_of(op.acc.type)
    in_row = [piece for piece in pieces if piece.row == 0]
    totals = carried(builder, builder.pieces[op.acc])
    for step in range(op.depth.value.data):
        vectors = carried(builder, [_row(builder, op, right, step, piece) for piece in in_row])
        for number_of_row, row in enumerate(op.row_range):
            if halves is not None:
                scalar = halves.element(number_of_row, step)
            else:
                scalar = left.scalar(number_of_row, step)
                if not is_bf16(scalar.type):
                    scalar = _widened(builder, scalar, element, signed=op.unsigned is None)
            for number, vector in enumerate(vectors):
                place = row * len(in_row) + number
                totals[place] = _accumulate(builder, scalar, vector, totals[place])
    builder.pieces[op.result] = as_before(builder, totals, [each.type for each in builder.pieces[op.acc]])


def _row(builder: LLVMBody, op: tile.MmaOp, right: PlaceCursor, step: int, piece: Piece) -> SSAValue:
    """Returns a piece of a row of B in the type of the sums."""
    assert isinstance(op.acc.type, VectorType)
    type_ = builder.types.vector(builder.types.convert(op.acc.type.element_type), piece.lanes)
    if is_bf16(right.layout.value_type) and right.steps[1] == 1 and whole_lanes(type_) > piece.lanes:
        # LLVM cannot put the last of 9 bf16 into a register, which it tries where 16 lanes are made of them.
        bits = builder.types.vector(i16, piece.lanes)
        return bf16_of_bits(builder, load_value(builder, right.at(step, piece.column), bits, lane_alignment(bits)))
    loaded = right.row(step, piece.column, piece.lanes)
    return _widened(builder, loaded, type_, signed=op.right_unsigned is None)


def _widened(builder: LLVMBody, value: SSAValue, target: Attribute, *, signed: bool = True) -> SSAValue:
    wanted = element_type(target)
    if element_type(value.type) == wanted:
        return value
    if isinstance(wanted, IntegerType):
        return builder.resize_integer(value, target, signed=signed)
    return change_format(builder, value, target)


def _accumulate(builder: LLVMBody, scalar: SSAValue, vector: SSAValue, total: SSAValue) -> SSAValue:
    return _multiply_add(builder, spread(builder, scalar, total.type), vector, total)


def _multiply_add(builder: LLVMBody, a: SSAValue, b: SSAValue, total: SSAValue) -> SSAValue:
    if isinstance(element_type(total.type), IntegerType):
        return builder.add(total, builder.mul(a, b))
    # `fma` would be a call of the library where there is no such instruction.
    return builder.intrinsic_value("llvm.fmuladd", (a, b, total), total.type)


def convert_multiply_add(builder: LLVMBody, op: tile.MultiplyAddOp) -> None:
    pieces = zip(*(builder.pieces[each] for each in (op.a, op.b, op.acc)), strict=True)
    builder.pieces[op.result] = [_multiply_add(builder, *each) for each in pieces]


def convert_constant(builder: LLVMBody, op: arith.ConstantOp) -> None:
    """
    Converts a constant. A tile of one number, or a number in the body of a `tile.map`, is in all lanes.

    Places of views become part of them.
    """
    value = op.properties["value"]
    if builder.types.lanes is not None and isinstance(value, FloatAttr | IntegerAttr):
        (result,) = op.results
        type_ = builder.types.convert(result._type)
        assert isinstance(type_, VectorType)
        builder.bind(result, builder.shared_constant(builder.splat(value.value.data, type_), type_))
    elif is_place_of_views(op):
        return
    elif is_tile(op.result.type):
        _convert_splat(builder, op)
    else:
        convert_arith.convert_constant(builder, op)


def _convert_splat(builder: LLVMBody, op: arith.ConstantOp) -> None:
    """Converts a constant tile, all elements of which are one number."""
    assert isinstance(op.result.type, VectorType)
    if not isinstance(op.value, DenseIntOrFPElementsAttr) or not op.value.is_splat():
        builder.error("a constant tile must be a splat")
        return
    made: dict[Attribute, SSAValue] = {}
    number = op.value.get_values()[0]
    for type_ in dict.fromkeys(piece_types(builder.types, op.result.type)):
        if isinstance(number, float):
            made[type_] = builder.float_constant(number, type_)
        else:
            assert isinstance(number, int)
            made[type_] = builder.constant(number, type_)
    builder.pieces[op.result] = [made[type_] for type_ in piece_types(builder.types, op.result.type)]


def convert_map(builder: LLVMBody, op: tile.MapOp, convert: Callable[[LLVMBody, Operation], None]) -> None:
    """
    Converts the body on vectors, for a few pieces at a time.

    Each op is done for all of them before the next op, so that the processor need not look far ahead for work while one
    of them waits. Values that the body uses from outside are spread over all lanes.
    """
    assert isinstance(op.result.type, VectorType)
    outside = {value: builder.values[value] for value in _outside_values(op)}
    steps = _steps_of(op)
    made: list[SSAValue] = []
    for first, count, lanes in _groups_of(pieces_of(op.result.type)):
        for value, scalar in outside.items():
            builder.values[value] = spread(builder, scalar, builder.types.vector(scalar.type, lanes))
        with builder.types.cut_to(lanes):
            made += _map_pieces(builder, op, steps, range(first, first + count), convert)
    builder.values.update(outside)
    builder.source = op
    builder.pieces[op.result] = made


def _groups_of(pieces: Sequence[Piece]) -> list[tuple[int, int, int]]:
    """Returns first piece, number of pieces and lanes of the groups that a map works on: neighbours of one width."""
    groups: list[tuple[int, int, int]] = []
    for number, piece in enumerate(pieces):
        if groups and groups[-1][1] < SIDE_BY_SIDE and groups[-1][2] == piece.lanes:
            first, count, lanes = groups[-1]
            groups[-1] = (first, count + 1, lanes)
        else:
            groups.append((number, 1, piece.lanes))
    return groups


def _steps_of(op: tile.MapOp) -> list[Operation | Saturation]:
    """Returns the ops of the body but the last, constants first, with each saturating conversion as one step."""
    ops = ops_in(op.body.block)[:-1]
    steps: list[Operation | Saturation] = [each for each in ops if not each._operands]
    rest = [each for each in ops if each._operands]
    position = 0
    while position < len(rest):
        each = rest[position]
        if each.__class__ is arith.CmpfOp and (found := saturation_at(rest, position)) is not None:
            steps.append(found[0])
            position += found[1]
        else:
            steps.append(each)
            position += 1
    return steps


def _map_pieces(
    builder: LLVMBody,
    op: tile.MapOp,
    steps: Sequence[Operation | Saturation],
    numbers: range,
    convert: Callable[[LLVMBody, Operation], None],
) -> list[SSAValue]:
    """
    Returns the registers of the result for these pieces of one width. Constants are made once for all.

    What stands for a value of the body in each piece is found by `id`, since the hash of a value is a call.
    """
    pieces = [(id(each), builder.pieces[tile]) for each, tile in zip(op.body.block.args, op.tiles, strict=True)]
    known = [{argument: registers[number] for argument, registers in pieces} for number in numbers]
    for each in steps:
        if each.__class__ is Saturation:
            assert isinstance(each, Saturation)
            inputs = [values.get(id(each.number)) or builder.value(each.number) for values in known]
            for values, converted in zip(known, each.convert(builder, inputs), strict=True):
                values[id(each.result)] = converted
            continue
        assert isinstance(each, Operation)
        operands = each._operands
        if not operands:
            convert(builder, each)
            continue
        if (convert_all := _conversion_of_bf16(builder, each)) is not None:
            (operand,) = operands
            inputs = [values.get(id(operand)) or builder.value(operand) for values in known]
            for values, converted in zip(known, convert_all(builder, inputs), strict=True):
                values[id(each.results[0])] = converted
            continue
        for values in known:
            for operand in operands:
                if (value := values.get(id(operand))) is not None:
                    builder.values[operand] = value
            convert(builder, each)
            for result in each.results:
                values[id(result)] = builder.values[result]
    yielded = op.yielded
    return [values.get(id(yielded)) or builder.value(yielded) for values in known]


def _conversion_of_bf16(
    builder: LLVMBody, op: Operation
) -> Callable[[LLVMBody, Sequence[SSAValue]], list[SSAValue]] | None:
    """Returns how to do `op` for whole registers, where it extends bf16 to f32 or rounds f32 to bf16."""
    if not is_kind(op.__class__, arith.ExtFOp | arith.TruncFOp) or builder.types.lanes != LANES:
        return None
    types = type(op.operands[0].type), type(op.results[0].type)
    if types == (Float32Type, BFloat16Type) and builder.state.wide:
        return round_to_bf16
    if types == (BFloat16Type, Float32Type) and builder.state.permutes_bytes:
        return lambda builder, registers: [extend_bf16(builder, each) for each in registers]
    return None


def _outside_values(op: tile.MapOp) -> list[SSAValue]:
    block = op.body.block
    found: dict[SSAValue, None] = {}
    for each in ops_in(block):
        for operand in each._operands:
            owner = operand.owner
            if owner is not block and not (isinstance(owner, Operation) and owner.parent is block):
                found[operand] = None
    return list(found)


CONVERSIONS: ConversionTable = {
    tile.LoadOp: convert_load,
    tile.StoreOp: convert_store,
    tile.MmaOp: convert_mma,
    tile.MultiplyAddOp: convert_multiply_add,
}
