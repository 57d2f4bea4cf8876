"""
Rows of tiles whose elements are repeated: `tile.load ... repeat`.

The elements that a register needs are few and near each other. They are loaded as one vector, in which only their lanes
are switched on, and one permutation puts each into its lanes.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType, i1
from xdsl.ir import Attribute, SSAValue

from ....dialects import llvm_ext
from ....dialects.tile.ops import LANES
from ..addressing import lane_alignment
from ..attributes import number, numbers32
from ..convert_vector import broadcast
from .cursor import PlaceCursor


def repeated_row(cursor: PlaceCursor, row: int, column: int, lanes: int, repeat: int) -> SSAValue:
    """Loads `lanes` columns from `column` on, where columns `repeat * e` to `repeat * e + repeat - 1` are element e."""
    builder, step = cursor.builder, cursor.steps[1]
    first = column // repeat
    elements = [(column + lane) // repeat - first for lane in range(lanes)]
    count = elements[-1] + 1
    type_ = builder.types.vector(cursor.layout.value_type, lanes)
    if count == 1 or step == 0:
        return broadcast(builder, cursor.scalar(row, first), type_)
    if count == 2:
        halves = [broadcast(builder, cursor.scalar(row, first + element), type_) for element in range(2)]
        mask = {"mask": numbers32(tuple(lane + lanes * element for lane, element in enumerate(elements)))}
        return builder.emit(llvm.ShuffleVectorOp, tuple(halves), type_, mask)
    wide = _power_of_two((count - 1) * step + 1)
    if wide > 2 * LANES or cursor.layout.memory_type != cursor.layout.value_type:
        source, step = cursor.row(row, first, count), 1
        return builder.emit(llvm.ShuffleVectorOp, (source, source), type_, {"mask": numbers32(tuple(elements))})
    lower = _some_lanes(cursor, row, first, min(wide, LANES), range(0, count * step, step))
    upper = lower
    if wide > LANES:
        beyond = [lane - LANES for lane in range(0, count * step, step) if lane >= LANES]
        upper = _some_lanes(cursor, row, first, LANES, beyond, LANES)
    mask = {"mask": numbers32(tuple(element * step for element in elements))}
    return builder.emit(llvm.ShuffleVectorOp, (lower, upper), type_, mask)


def _power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()


def _some_lanes(
    cursor: PlaceCursor, row: int, first: int, lanes: int, wanted: range | list[int], offset: int = 0
) -> SSAValue:
    """Loads a vector, `offset` elements behind element (row, first), in which only some lanes are read."""
    builder = cursor.builder
    type_ = builder.types.vector(cursor.layout.value_type, lanes)
    pointer = cursor.at(row, first)
    if offset:
        pointer = builder.gep(pointer, offset, cursor.layout.memory_type)
    flags = _flags(cursor, [lane in wanted for lane in range(lanes)])
    properties = {"alignment": number(lane_alignment(type_))}
    poison = builder.emit(llvm_ext.PoisonOp, (), type_)
    return builder.emit(llvm_ext.MaskedLoadOp, (pointer, flags, poison), type_, properties)


def _flags(cursor: PlaceCursor, wanted: list[bool]) -> SSAValue:
    builder = cursor.builder
    type_: Attribute = builder.types.vector(i1, len(wanted))

    def make() -> SSAValue:
        dense = DenseIntOrFPElementsAttr.from_list(VectorType(i1, [len(wanted)]), [int(flag) for flag in wanted])
        return builder.emit(llvm.ConstantOp, (), type_, {"value": dense})

    return builder.cached(("lanes", *wanted), make)
