"""
Puts one element of A in all lanes of a register, as an f32 where it is a bf16.

`vpbroadcastw` takes a bf16 from memory into all pairs of bytes. The upper half of each word alone is the f32. With
AVX-512 a mask of the instruction leaves the other half zero, and with AVX2 a shift does, which takes no register for a
mask. An element that goes through general registers takes a load, a shift, with AVX2 a move, and a shuffle.
"""

from __future__ import annotations

from xdsl.dialects.builtin import BFloat16Type, Float32Type, IntegerAttr, VectorType, i1, i16, i32
from xdsl.ir import Attribute, SSAValue

from ....dialects.tile.ops import LANES
from ..convert_vector import broadcast
from ..llvm_body import LLVMBody
from ..small_floats import change_format, element_type
from .hidden import hidden_constant

BF16_BITS = 16

ODD_PLACES = IntegerAttr(-0x55555556, i32)
"""The bits of a mask that leaves the upper half of each word, 0xaaaaaaaa."""

LEAST_LANES = 4
"""The lanes of the smallest register."""


def spread(builder: LLVMBody, scalar: SSAValue, type_: Attribute) -> SSAValue:
    """Returns `scalar` in all lanes of the vector `type_`, made once per block."""
    if _is_spread_as_words(builder, scalar, type_):
        return builder.cached(("spread", scalar, type_), lambda: _spread_bf16(builder, scalar, type_))
    wanted = element_type(type_)
    if isinstance(scalar.type, BFloat16Type) and scalar.type != wanted:
        source = scalar
        scalar = builder.cached(("extended", source), lambda: change_format(builder, source, wanted))
    return builder.cached(("broadcast", scalar, type_), lambda: broadcast(builder, scalar, type_))


def _is_spread_as_words(builder: LLVMBody, scalar: SSAValue, type_: Attribute) -> bool:
    if not builder.state.spreads_words or not isinstance(scalar.type, BFloat16Type):
        return False
    assert isinstance(type_, VectorType)
    return isinstance(type_.element_type, Float32Type) and type_.get_shape()[0] >= LEAST_LANES


def _spread_bf16(builder: LLVMBody, scalar: SSAValue, type_: Attribute) -> SSAValue:
    assert isinstance(type_, VectorType)
    (lanes,) = type_.get_shape()
    halves, words = builder.types.vector(i16, 2 * lanes), builder.types.vector(i32, lanes)
    everywhere = broadcast(builder, builder.bitcast(scalar, i16), halves)
    if builder.state.wide and lanes == LANES:
        # LLVM would make a second shuffle of a mask that it knows.
        mask = builder.cached(("odd places",), lambda: _odd_places(builder))
        return builder.bitcast(builder.select(mask, everywhere, builder.constant(0, halves)), type_)
    bits = builder.shl(builder.bitcast(everywhere, words), builder.constant(BF16_BITS, words))
    return builder.bitcast(bits, type_)


def _odd_places(builder: LLVMBody) -> SSAValue:
    return builder.bitcast(hidden_constant(builder, ODD_PLACES, i32), builder.types.vector(i1, 2 * LANES))
