"""
The conversion of what `tile.map` applies to elements to instructions of AVX-512, and of `tile.reduce`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    f32,
    i32,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import SSAValue

from ....dialects import llvm_ext, tile
from ....dialects.tile.ops import LANES
from ..addressing import address, layout_of
from ..attributes import fastmath
from ..llvm_body import ConversionTable, LLVMBody
from ..small_floats import element_type

I16 = IntegerType(16)

SMALLER_SIZE = 0b0010
"""Selects that operand of `vrangeps` which is smaller in size, with the sign of the first."""

SMALLER, LARGER = 0b0100, 0b0101
"""Select that operand of `vrangeps` which is smaller or larger, with its own sign."""

AS_THE_PROCESSOR_ROUNDS = 4

CACHE_LINE = 64
NEAREST, SECOND, DATA = 3, 2, 1
"""Operands of `llvm.prefetch`: into all caches, into all but the first, and data, not instructions."""

REGROUPED = arith.FastMathFlagsAttr([FastMathFlag.REASSOC])


def _resized(builder: LLVMBody, value: SSAValue, lanes: int) -> SSAValue:
    """Returns the first `lanes` lanes of a vector, with lanes of any value after its last."""
    assert isinstance(value.type, VectorType)
    (before,) = value.type.get_shape()
    if before == lanes:
        return value
    mask = [lane if lane < before else -1 for lane in range(lanes)]
    type_ = builder.types.vector(element_type(value.type), lanes)
    properties = {"mask": DenseArrayBase.from_list(i32, mask)}
    return builder.emit(llvm.ShuffleVectorOp, (value, value), type_, properties)


def _on_whole_registers(builder: LLVMBody, operands: Sequence[SSAValue], name: str, *more: int) -> SSAValue:
    """Calls a masked intrinsic of two operands on registers of 16 lanes, none of which is masked."""
    type_ = operands[0].type
    assert isinstance(type_, VectorType)
    first, second = (_resized(builder, operand, LANES) for operand in operands)
    numbers = [builder.constant(number, i32) for number in more]
    every = builder.constant(-1, I16)
    rounding = builder.constant(AS_THE_PROCESSOR_ROUNDS, i32)
    arguments = (first, second, *numbers, first, every, rounding)
    result = builder.intrinsic_value(name, arguments, first.type)
    return _resized(builder, result, type_.get_shape()[0])


def convert_scale(builder: LLVMBody, op: tile.ScaleOp) -> None:
    operands = builder.values_of(op.operands)
    builder.bind(op.result, _on_whole_registers(builder, operands, "llvm.x86.avx512.mask.scalef.ps.512"))


def convert_limit(builder: LLVMBody, op: tile.LimitOp) -> None:
    builder.bind(op.result, _in_range(builder, op.operands, SMALLER_SIZE))


def convert_larger(builder: LLVMBody, op: tile.LargerOp) -> None:
    builder.bind(op.result, _in_range(builder, op.operands, LARGER))


def convert_smaller(builder: LLVMBody, op: tile.SmallerOp) -> None:
    builder.bind(op.result, _in_range(builder, op.operands, SMALLER))


def _in_range(builder: LLVMBody, operands: Sequence[SSAValue], selected: int) -> SSAValue:
    return _on_whole_registers(builder, builder.values_of(operands), "llvm.x86.avx512.mask.range.ps.512", selected)


def convert_lookup(builder: LLVMBody, op: tile.LookupOp) -> None:
    """Permutes the register that holds the table, or the two that do."""
    numbers = op.table.get_values()
    index = builder.value(op.index)
    assert isinstance(index.type, VectorType)
    register = builder.types.vector(f32, LANES)
    halves = [
        builder.cached(("table", half), lambda half=half: _table(builder, half, register))
        for half in (numbers[first : first + LANES] for first in range(0, len(numbers), LANES))
    ]
    whole = _resized(builder, index, LANES)
    if len(halves) == 1:
        name, arguments = "llvm.x86.avx512.permvar.sf.512", (halves[0], whole)
    else:
        name, arguments = "llvm.x86.avx512.vpermi2var.ps.512", (halves[0], whole, halves[1])
    result = builder.intrinsic_value(name, arguments, register)
    builder.bind(op.result, _resized(builder, result, index.type.get_shape()[0]))


def _table(builder: LLVMBody, numbers: Sequence[float], register: VectorType) -> SSAValue:
    dense = DenseIntOrFPElementsAttr.from_list(register, numbers)  # pyright: ignore
    return builder.emit(llvm.ConstantOp, (), register, {"value": dense})


def convert_reduce(builder: LLVMBody, op: tile.ReduceOp) -> None:
    """Combines the registers in pairs, those of a full row first, then the lanes of the last one."""
    pieces = list(builder.pieces[op.tile])
    element = element_type(pieces[0].type)
    while len(pieces) > 1 and pieces[0].type == pieces[1].type:
        half = len(pieces) // 2
        paired = zip(pieces[:half], pieces[half : 2 * half], strict=True)
        if pieces[half - 1].type != pieces[2 * half - 1].type:
            break
        pieces = [*(_combined(builder, op, a, b) for a, b in paired), *pieces[2 * half :]]
    totals = [_across(builder, op, piece) for piece in pieces]
    total = totals[0]
    for each in totals[1:]:
        total = _combined(builder, op, total, each)
    assert total.type == element
    builder.bind(op.result, total)


def _flags(op: tile.ReduceOp) -> llvm.FastMathAttr:
    return fastmath(REGROUPED if op.kind.data == "addf" else op.fastmath)


def _combined(builder: LLVMBody, op: tile.ReduceOp, a: SSAValue, b: SSAValue) -> SSAValue:
    flags = _flags(op)
    if op.kind.data == "addi":
        return builder.binary(llvm.AddOp, a, b, {"overflowFlags": IntegerAttr(0, i32)})
    if op.kind.data == "addf":
        return builder.binary(llvm.FAddOp, a, b, {"fastmathFlags": flags})
    if op.kind.data == "maxnumf":
        return builder.select(builder.fcmp_named("ogt", a, b), a, b)
    return builder.intrinsic_value(f"llvm.{op.kind.data.removesuffix('f')}", (a, b), a.type, flags)


def _across(builder: LLVMBody, op: tile.ReduceOp, vector: SSAValue) -> SSAValue:
    element, flags = element_type(vector.type), _flags(op)
    if op.kind.data == "maxnumf":
        return _largest_lane(builder, op, vector)
    if op.kind.data == "addi":
        return builder.intrinsic_value("llvm.vector.reduce.add", (vector,), element)
    if op.kind.data == "addf":
        start = builder.float_constant(-0.0, element)
        return builder.intrinsic_value("llvm.vector.reduce.fadd", (start, vector), element, flags)
    name = f"llvm.vector.reduce.f{op.kind.data.removesuffix('f')}"
    return builder.intrinsic_value(name, (vector,), element, flags)


def _largest_lane(builder: LLVMBody, op: tile.ReduceOp, vector: SSAValue) -> SSAValue:
    """Compares the lanes in halves. When their number is odd, the last one is compared with the first."""
    assert isinstance(vector.type, VectorType)
    (lanes,) = vector.type.get_shape()
    while lanes > 1:
        half = (lanes + 1) // 2
        lower = _resized(builder, vector, half)
        mask = [min(lane + half, lanes - 1) for lane in range(half)]
        properties = {"mask": DenseArrayBase.from_list(i32, mask)}
        upper = builder.emit(llvm.ShuffleVectorOp, (vector, vector), lower.type, properties)
        vector, lanes = _combined(builder, op, lower, upper), half
    element = element_type(vector.type)
    return builder.emit(llvm_ext.ExtractElementOp, (vector, builder.constant(0)), element)


def convert_prefetch(builder: LLVMBody, op: tile.PrefetchOp) -> None:
    """Emits one instruction per cache line."""
    layout = layout_of(builder, op.buffer)
    corner = address(builder, op.buffer, layout, op.indices, inbounds=op.second is None)
    step = max(1, CACHE_LINE // layout.element_bytes)
    level = NEAREST if op.second is None else SECOND
    flags = [builder.constant(number, i32) for number in (int(op.write is not None), level, DATA)]
    for offset in range(0, op.count.value.data, step):
        pointer = builder.gep(corner, op.ahead.value.data + offset, layout.memory_type, inbounds=False)
        builder.intrinsic("llvm.prefetch.p0", (pointer, *flags), None)


CONVERSIONS: ConversionTable = {
    tile.LookupOp: convert_lookup,
    tile.ScaleOp: convert_scale,
    tile.LargerOp: convert_larger,
    tile.LimitOp: convert_limit,
    tile.SmallerOp: convert_smaller,
    tile.ReduceOp: convert_reduce,
    tile.PrefetchOp: convert_prefetch,
}
