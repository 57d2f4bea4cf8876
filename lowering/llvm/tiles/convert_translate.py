"""The conversion of `tile.translate` to permutations of registers."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import SSAValue

from ....dialects import tile
from ....dialects.tile.translate import BYTES, BYTES_OF_A_REGISTER
from ..llvm_body import ConversionTable, LLVMBody

PIECE = 16
"""The bytes within which `vpshufb` moves."""


def convert_translate(builder: LLVMBody, op: tile.TranslateOp) -> None:
    x, *table = builder.values_of(op.operands)
    convert: Callable[..., SSAValue] = _shuffled if op.permuted is None else _permuted
    builder.bind(op.result, convert(builder, x, table))


def _permuted(builder: LLVMBody, x: SSAValue, table: list[SSAValue]) -> SSAValue:
    """Looks up the low seven bits in either half of the table, and chooses by the highest bit."""
    name = "llvm.x86.avx512.vpermi2var.qi.512"
    low, high = (
        builder.intrinsic_value(name, (table[half], x, table[half + 1]), BYTES_OF_A_REGISTER) for half in (0, 2)
    )
    is_high = builder.icmp("slt", x, builder.constant(0, BYTES_OF_A_REGISTER))
    return builder.select(is_high, high, low)


def _shuffled(builder: LLVMBody, x: SSAValue, table: list[SSAValue]) -> SSAValue:
    """Looks up the low four bits in each piece of the table, and keeps those whose high four bits are its number."""
    low = builder.binary(llvm.AndOp, x, builder.constant(PIECE - 1, BYTES_OF_A_REGISTER))
    high = builder.binary(llvm.XOrOp, x, low)
    result: SSAValue | None = None
    for number in range(PIECE):
        part, piece = divmod(number * PIECE, BYTES)
        mask = [piece + byte % PIECE for byte in range(BYTES)]
        properties = {"mask": DenseArrayBase.from_list(i32, mask)}
        entries = (table[part], table[part])
        repeated = builder.emit(llvm.ShuffleVectorOp, entries, BYTES_OF_A_REGISTER, properties)
        found = builder.intrinsic_value("llvm.x86.avx512.pshuf.b.512", (repeated, low), BYTES_OF_A_REGISTER)
        if result is None:
            result = found
            continue
        signed = (number * PIECE + 128) % 256 - 128
        is_here = builder.icmp("eq", high, builder.constant(signed, BYTES_OF_A_REGISTER))
        result = builder.select(is_here, found, result)
    assert result is not None
    return result


CONVERSIONS: ConversionTable = {tile.TranslateOp: convert_translate}
