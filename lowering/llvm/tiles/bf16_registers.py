"""
Extends registers of bf16 and rounds those of f32 in pairs, on machines with AVX-512.

A bf16 is the upper half of an f32. `vpermb` of AVX-512 VBMI moves 16 of them to their places at once, with zeros from
the upper half of their register between them. (`vpermw` takes two shuffles on Intel's processors.) LLVM would make a
shuffle of two registers of it, which is slower there. So it does not get to know the places.

`vcvtneps2bf16` takes subnormal numbers for zeros, so rounding is arithmetic on bits. The words of two registers are
sorted into upper and lower ones first. Then each instruction works on 32 numbers, and no result must be narrowed. Two
registers take eight instructions, where one alone takes ten (`small_floats.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, VectorType, bf16, f32, i8, i16, i32
from xdsl.ir import SSAValue

from ....dialects.tile.ops import LANES
from ..llvm_body import LLVMBody
from .hidden import hidden_constant

NAN_FOR_NAN = 0x33
"""The table of `vfixupimmps` that puts the default NaN in the place of quiet and of signalling ones."""

AS_THE_PROCESSOR_ROUNDS = 4


def extend_bf16(builder: LLVMBody, register: SSAValue) -> SSAValue:
    """Extends `LANES` bf16 to f32. The machine has AVX-512 VBMI."""
    half, whole = builder.types.vector(i8, 2 * LANES), builder.types.vector(i8, 4 * LANES)
    mask = DenseArrayBase.from_list(i32, range(4 * LANES))
    operands = (builder.bitcast(register, half), builder.constant(0, half))
    source = builder.emit(llvm.ShuffleVectorOp, operands, whole, {"mask": mask})
    places = builder.cached(("places of bf16",), lambda: _places(builder))
    moved = builder.intrinsic_value("llvm.x86.avx512.permvar.qi.512", (source, places), whole)
    return builder.bitcast(moved, builder.types.vector(f32, LANES))


def _places(builder: LLVMBody) -> SSAValue:
    """Returns the byte that goes to each place: the first after the bf16, which is zero, or one of a bf16."""
    zero = 2 * LANES
    places = [place for lane in range(LANES) for place in (zero, zero, 2 * lane, 2 * lane + 1)]
    type_ = VectorType(i8, [4 * LANES])
    return hidden_constant(builder, DenseIntOrFPElementsAttr.from_list(type_, places), type_)


def round_to_bf16(builder: LLVMBody, registers: Sequence[SSAValue]) -> list[SSAValue]:
    """Rounds registers of `LANES` f32 to nearest even. A NaN becomes the default NaN."""
    found: list[SSAValue] = []
    for first in range(0, len(registers), 2):
        pair = registers[first : first + 2]
        words = _rounded(builder, [_with_one_nan(builder, each) for each in (*pair, pair[0])[:2]])
        found += [_half(builder, words, half) for half in range(len(pair))]
    return found


def _with_one_nan(builder: LLVMBody, register: SSAValue) -> SSAValue:
    """Returns the words of a register whose NaNs are the default NaN, which no carry can turn into a number."""
    word, short = builder.types.vector(i32, LANES), builder.types.vector(i16, 2 * LANES)
    table = builder.constant(NAN_FOR_NAN, word)
    numbers = (builder.constant(0, i32), builder.constant(-1, i16), builder.constant(AS_THE_PROCESSOR_ROUNDS, i32))
    name = "llvm.x86.avx512.mask.fixupimm.ps.512"
    kept = builder.intrinsic_value(name, (register, register, table, *numbers), builder.types.vector(f32, LANES))
    return builder.bitcast(kept, short)


def _rounded(builder: LLVMBody, pair: Sequence[SSAValue]) -> SSAValue:
    """
    Returns the rounded upper words of two registers.

    One is added where the lower word is above a half, or is a half and the upper word is odd. The last bit of the upper
    word, set in the lower one, makes the second case the first. The mean with 0x7ffe, rounded up, has bit 15 then.
    """
    short = builder.types.vector(i16, 2 * LANES)
    upper, lower = (_every_second(builder, pair, odd) for odd in (1, 0))
    last_bit = builder.binary(llvm.AndOp, upper, builder.constant(1, short))
    sticky = builder.binary(llvm.OrOp, lower, last_bit)
    mean = builder.intrinsic_value("llvm.x86.avx512.pavg.w.512", (sticky, builder.constant(0x7FFE, short)), short)
    return builder.add(upper, builder.binary(llvm.LShrOp, mean, builder.constant(15, short)))


def _every_second(builder: LLVMBody, pair: Sequence[SSAValue], odd: int) -> SSAValue:
    lanes = 2 * LANES
    mask = DenseArrayBase.from_list(i32, range(odd, 2 * lanes, 2))
    return builder.emit(llvm.ShuffleVectorOp, tuple(pair), builder.types.vector(i16, lanes), {"mask": mask})


def _half(builder: LLVMBody, words: SSAValue, half: int) -> SSAValue:
    mask = DenseArrayBase.from_list(i32, range(half * LANES, (half + 1) * LANES))
    short = builder.types.vector(i16, LANES)
    part = builder.emit(llvm.ShuffleVectorOp, (words, words), short, {"mask": mask})
    return builder.bitcast(part, VectorType(bf16, [LANES]))
