"""
Products of pairs of bf16 in f32: the conversion of `tile.mma` of groups of two where no instruction is named.

A word of B holds the bf16 of two steps of the sum. Each of them is the upper half of an f32, so a shift makes one out
of the lower bf16, and a mask out of the upper one. A vector takes one instruction, which reads its words from memory on
AVX-512. For a row of bf16 it takes two, a widening load and a shift, both of which compete with multiply-adds.

Words are read for each of their steps. Kept in registers in between, as LLVM would have it, they take those of the
sums. So the second time their address is another one to LLVM, by a zero that it does not know.
"""

from __future__ import annotations

from copy import copy

from xdsl.dialects import llvm
from xdsl.dialects.builtin import VectorType, i8, i32, i64
from xdsl.ir import SSAValue

from ....dialects import tile
from ..attributes import number as number_of
from ..llvm_body import LLVMBody
from ..pieces import pieces_of
from ..types import F32
from .cursor import PlaceCursor
from .hidden import hidden_constant
from .spread import spread

IN_WORD, BF16_BYTES = 2, 2
"""The bf16 of a word, and the alignment of them and of the word."""


def convert_mma_of_pairs(builder: LLVMBody, op: tile.MmaOp) -> None:
    """Emits, per step of the sum, the vectors of a row of B, then the products with one element of each row of A."""
    assert isinstance(op.acc.type, VectorType)
    left, right = PlaceCursor(builder, op.a_place), PlaceCursor(builder, op.b_place)
    if right.steps[1] != IN_WORD or right.layout.strides[-1] != 1:
        builder.error("groups are not next to each other in memory")
        return
    again = copy(right)
    again.corner = builder.gep(right.corner, hidden_constant(builder, number_of(0), i64), i8)
    in_row = [piece for piece in pieces_of(op.acc.type) if piece.row == 0]
    totals = list(builder.pieces[op.acc])
    for step in range(IN_WORD * op.depth.value.data):
        pair, upper = divmod(step, IN_WORD)
        words = again if upper else right
        vectors = [_extended(builder, words.at(pair, piece.column), piece.lanes, bool(upper)) for piece in in_row]
        for number_of_row, row in enumerate(op.row_range):
            scalar = left.scalar(number_of_row, step)
            for number, vector in enumerate(vectors):
                place = row * len(in_row) + number
                factors = (spread(builder, scalar, vector.type), vector)
                totals[place] = builder.intrinsic_value("llvm.fmuladd", (*factors, totals[place]), vector.type)
    builder.pieces[op.result] = totals


def _extended(builder: LLVMBody, words: SSAValue, lanes: int, upper: bool) -> SSAValue:
    """Returns the lower or upper bf16 of the words at an address as f32."""
    type_ = builder.types.vector(i32, lanes)
    loaded = builder.load(words, type_, BF16_BYTES)
    if upper:
        bits = builder.binary(llvm.AndOp, loaded, builder.constant(-(1 << 16), type_))
    else:
        bits = builder.shl(loaded, builder.constant(16, type_))
    return builder.bitcast(bits, builder.types.vector(F32, lanes))
