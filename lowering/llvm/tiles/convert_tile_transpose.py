"""The conversion of `tile.transpose` to shuffles of vector registers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.ir import SSAValue

from ....dialects import tile
from ....dialects.tile.ops import LANES
from ..attributes import numbers32
from ..llvm_body import ConversionTable, LLVMBody

QUARTER = 4

LOW = tuple(lane + offset for block in range(0, LANES, QUARTER) for lane in (block, block + 1) for offset in (0, LANES))
"""a0 b0 a1 b1, in each quarter of the vectors: `vunpcklps`."""
HIGH = tuple(lane + 2 for lane in LOW)
LOW_PAIRS = tuple(
    lane for block in range(0, LANES, QUARTER) for lane in (block, block + 1, block + LANES, block + 1 + LANES)
)
"""a0 a1 b0 b1 in each quarter: `vunpcklpd`."""
HIGH_PAIRS = tuple(lane + 2 for lane in LOW_PAIRS)
EVEN_QUARTERS = tuple(block * QUARTER + lane for block in (0, 2, 4, 6) for lane in range(QUARTER))
"""Quarters 0 and 2 of a, then of b: `vshuff32x4`."""
ODD_QUARTERS = tuple(lane + QUARTER for lane in EVEN_QUARTERS)


def convert_transpose(builder: LLVMBody, op: tile.TransposeOp) -> None:
    """
    Emits four rounds of 16 shuffles, each one instruction of x86.

    They transpose the 4x4 blocks inside the quarters of the vectors, then the quarters change places.
    """

    def shuffled(first: SSAValue, second: SSAValue, lanes: Sequence[int]) -> SSAValue:
        properties = {"mask": numbers32(tuple(lanes))}
        return builder.emit(llvm.ShuffleVectorOp, (first, second), first.type, properties)

    def both(first: SSAValue, second: SSAValue, masks: tuple[Sequence[int], Sequence[int]]) -> list[SSAValue]:
        return [shuffled(first, second, lanes) for lanes in masks]

    rows = builder.pieces[op.tile]
    blocks: list[list[SSAValue]] = []
    for start in range(0, LANES, QUARTER):
        first, second, third, fourth = rows[start : start + QUARTER]
        low, high = both(first, second, (LOW, HIGH)), both(third, fourth, (LOW, HIGH))
        pairs = (both(a, b, (LOW_PAIRS, HIGH_PAIRS)) for a, b in zip(low, high, strict=True))
        blocks.append([value for pair in pairs for value in pair])
    columns: dict[int, SSAValue] = {}
    for column, (a, b, c, d) in enumerate(zip(*blocks, strict=True)):
        first = both(a, b, (EVEN_QUARTERS, ODD_QUARTERS))
        second = both(c, d, (EVEN_QUARTERS, ODD_QUARTERS))
        for odd, (left, right) in enumerate(zip(first, second, strict=True)):
            for upper, value in enumerate(both(left, right, (EVEN_QUARTERS, ODD_QUARTERS))):
                columns[column + QUARTER * odd + 2 * QUARTER * upper] = value
    builder.pieces[op.result] = [columns[number] for number in range(LANES)]


CONVERSIONS: ConversionTable = {tile.TransposeOp: convert_transpose}
