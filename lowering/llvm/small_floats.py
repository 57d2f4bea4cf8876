"""
Conversions to and from the 16-bit floats without help of a run-time library.

LLVM turns `fptrunc float to bfloat` and `fptrunc double to half` into library calls (`__truncsfbf2`, `__truncdfhf2`) on
targets without an instruction for them. Here they are integer operations.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, VectorType, i16, i32
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from .llvm_body import LLVMBody
from .types import F32, F64


def element_type(value_type: Attribute) -> Attribute:
    """Returns the element type of a vector, or the type itself."""
    return value_type.element_type if type(value_type) is VectorType else value_type


def is_bf16(value_type: Attribute) -> bool:
    """Returns whether a type is `bf16` or a vector of it."""
    return isinstance(element_type(value_type), BFloat16Type)


def carry_as_bits(blocks: Sequence[Block]) -> None:
    """
    Lets branches of a function hand over a bf16 as an i16.

    LLVM may hold a bf16 in a register as an f32, and takes denormals for zeros on the way back. `blocks` are all of the
    function, the entry first.

    Before: `llvm.br ^1(%x : bf16)` to `^1(%y: bf16)`. After: `%0 = llvm.bitcast %x : bf16 to i16`,
    `llvm.br ^1(%0 : i16)` to `^1(%1: i16)`, `%y = llvm.bitcast %1 : i16 to bf16`.
    """
    for block in blocks[1:]:
        for argument in [each for each in block.args if isinstance(each.type, BFloat16Type)]:
            bits = block.insert_arg(i16, argument.index)
            bits.name_hint = argument.name_hint
            value = _bitcast(bits, argument.type, InsertPoint.at_start(block))
            argument.replace_all_uses_with(value)
            block.erase_arg(argument)
    for block in blocks:
        branch = block.last_op
        if branch is None or not branch.successors:
            continue
        for index, operand in enumerate(branch.operands):
            if isinstance(operand.type, BFloat16Type):
                branch.operands[index] = _bitcast(operand, i16, InsertPoint.before(branch))


def _bitcast(value: SSAValue, target: Attribute, place: InsertPoint) -> SSAValue:
    op = llvm.BitcastOp(value, target)
    if place.insert_before is not None:
        op.location = place.insert_before.location
    Rewriter.insert_op(op, place)
    return op.result


def extend(builder: LLVMBody, value: SSAValue, target: Attribute) -> SSAValue:
    """Extends `value` to the wider float type `target`, exactly."""
    source = element_type(value.type)
    wide = element_type(target)
    if isinstance(source, BFloat16Type):
        value = _bf16_to_f32(builder, value)
    elif isinstance(source, Float16Type) and isinstance(wide, Float64Type):
        value = builder.emit(llvm.FPExtOp, (value,), builder.types.like(F32, target))
    if value.type == target:
        return value
    return builder.emit(llvm.FPExtOp, (value,), target)


def truncate(builder: LLVMBody, value: SSAValue, target: Attribute) -> SSAValue:
    """Rounds `value` once, to nearest even, to the narrower float type `target`. A NaN stays a quiet NaN."""
    source, narrow = element_type(value.type), element_type(target)
    if isinstance(source, Float64Type) and not isinstance(narrow, Float32Type):
        value = _f64_to_odd_f32(builder, value)
    elif isinstance(source, Float16Type):
        value = builder.emit(llvm.FPExtOp, (value,), builder.types.like(F32, target))
    if isinstance(narrow, BFloat16Type):
        return _f32_to_bf16(builder, value, target)
    return builder.emit(llvm.FPTruncOp, (value,), target)


def change_format(builder: LLVMBody, value: SSAValue, target: Attribute) -> SSAValue:
    """Converts `value` to any other float type."""
    source, wanted = element_type(value.type), element_type(target)
    if source == wanted:
        return value
    order = (BFloat16Type, Float16Type, Float32Type, Float64Type)
    if isinstance(source, BFloat16Type) and isinstance(wanted, Float16Type):
        return truncate(builder, extend(builder, value, builder.types.like(F32, target)), target)
    if order.index(type(source)) < order.index(type(wanted)):
        return extend(builder, value, target)
    return truncate(builder, value, target)


def _bf16_to_f32(builder: LLVMBody, value: SSAValue) -> SSAValue:
    """Extends a bf16, which is the upper half of the f32 of the same value."""
    return bf16_of_bits(builder, builder.bitcast(value, builder.types.like(i16, value.type)))


def bf16_of_bits(builder: LLVMBody, bits: SSAValue) -> SSAValue:
    """Returns the f32 of a bf16 whose bits are in an i16."""
    like = builder.types.like
    word = like(i32, bits.type)
    shifted = builder.shl(builder.emit(llvm.ZExtOp, (bits,), word), builder.constant(16, word))
    return builder.bitcast(shifted, like(F32, bits.type))


def _f32_to_bf16(builder: LLVMBody, value: SSAValue, target: Attribute) -> SSAValue:
    """
    Computes `(bits + 0x7fff + bit 16) >> 16`.

    This adds just under half a unit, or half of one when the kept part is odd. That carries into the kept part exactly
    when rounding to nearest even goes up, to infinity included. A NaN is cut instead, with its quiet bit set.
    """
    like = builder.types.like
    short, word = like(i16, target), like(i32, target)

    def number(n: int) -> SSAValue:
        return builder.constant(n, word)

    bits = builder.bitcast(value, word)
    upper = builder.binary(llvm.LShrOp, bits, number(16))
    odd = builder.binary(llvm.AndOp, upper, number(1))
    rounded = builder.add(builder.add(bits, number(0x7FFF)), odd)
    kept = builder.binary(llvm.LShrOp, rounded, number(16))
    quiet = builder.binary(llvm.OrOp, upper, number(0x40))
    result = builder.select(builder.fcmp_named("uno", value, value), quiet, kept)
    return builder.bitcast(builder.resize_integer(result, short, signed=False), target)


def _f64_to_odd_f32(builder: LLVMBody, value: SSAValue) -> SSAValue:
    """
    Rounds `value` to odd: cuts it towards zero, and sets the last bit when anything was cut.

    Rounding that to a format with at least two bits fewer gives the same as rounding `value` to it directly.

    Source: S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
    rounding to odd", IEEE Transactions on Computers 57(4), 2008.
    """
    like = builder.types.like
    single, word = like(F32, value.type), like(i32, value.type)
    double = like(F64, value.type)
    nearest = builder.emit(llvm.FPTruncOp, (value,), single)
    back = builder.emit(llvm.FPExtOp, (nearest,), double)
    inexact = builder.fcmp_named("one", back, value)
    magnitude = [builder.intrinsic_value("llvm.fabs", (v,), double) for v in (back, value)]
    too_far = builder.fcmp_named("ogt", *magnitude)
    bits = builder.bitcast(nearest, word)
    cut = builder.sub(bits, builder.emit(llvm.ZExtOp, (too_far,), word))
    odd = builder.binary(llvm.OrOp, cut, builder.emit(llvm.ZExtOp, (inexact,), word))
    return builder.bitcast(odd, single)
