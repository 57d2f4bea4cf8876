"""Tiles that are stored with their rows interleaved: bytes in groups of four, or bf16 in groups of two."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import BFloat16Type, Float16Type, VectorType, i16
from xdsl.ir import SSAValue

from ....dialects.tile.ops import LANES
from ..addressing import lane_alignment, store_value
from ..attributes import numbers32
from ..llvm_body import LLVMBody
from .cursor import PlaceCursor

COUNTS = (2, 4)
"""The numbers of rows that are interleaved by shuffles."""


def is_interleaved(cursor: PlaceCursor, rows: int) -> bool:
    """Returns whether the elements of a column are next to each other in memory, and columns follow each other."""
    return rows in COUNTS and cursor.steps == (1, rows)


def put_interleaved(cursor: PlaceCursor, rows: int, pieces: Sequence[SSAValue]) -> None:
    """
    Stores the registers of a tile by one shuffle of two for each that is stored, for two rows, or for four rows two.

    The first round makes pairs of neighbours, the second one pairs of these: `punpcklbw` and `punpcklwd` for bytes.
    """
    builder = cursor.builder
    moved = list(pieces)
    if isinstance(cursor.layout.value_type, BFloat16Type | Float16Type):  # Shuffles are of bits, not of numbers.
        moved = [builder.bitcast(each, builder.types.like(i16, each.type)) for each in pieces]
    in_row = len(moved) // rows
    lines = [moved[start : start + in_row] for start in range(0, len(moved), in_row)]
    made = _interleaved(builder, lines[0], lines[1], 1)
    if rows == 4:
        made = _interleaved(builder, made, _interleaved(builder, lines[2], lines[3], 1), 2)
    for number, register in enumerate(made):
        place = cursor.at(0, number * LANES // rows)
        store_value(builder, register, place, lane_alignment(cursor.layout.value_type))


def _interleaved(builder: LLVMBody, first: Sequence[SSAValue], second: Sequence[SSAValue], unit: int) -> list[SSAValue]:
    """Returns the registers of two rows that are interleaved, `unit` elements of one at a time."""
    made: list[SSAValue] = []
    for a, b in zip(first, second, strict=True):
        assert isinstance(a.type, VectorType)
        (lanes,) = a.type.get_shape()
        order = [start + lane for at in range(0, lanes, unit) for start in (at, at + lanes) for lane in range(unit)]
        for start in range(0, 2 * lanes, LANES):
            mask = tuple(order[start : start + LANES])
            type_ = builder.types.vector(a.type.element_type, len(mask))
            made.append(builder.emit(llvm.ShuffleVectorOp, (a, b), type_, {"mask": numbers32(mask)}))
    return made
