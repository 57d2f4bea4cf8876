"""The conversion of `arith`: one op each where LLVM has it, a short expansion where not."""

from __future__ import annotations

from math import copysign

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import llvm_ext
from .addressing import moved_as
from .attributes import NSW, NUW, fastmath, number
from .llvm_body import ConversionTable, LLVMBody
from .small_floats import change_format, element_type, extend, is_bf16
from .types import F32

_OVERFLOW_BITS = {"nsw": NSW, "nuw": NUW}

OVERFLOWING: dict[type[Operation], type[Operation]] = {
    arith.AddiOp: llvm.AddOp,
    arith.SubiOp: llvm.SubOp,
    arith.MuliOp: llvm.MulOp,
    arith.ShLIOp: llvm.ShlOp,
}
INTEGER_BINARY: dict[type[Operation], type[Operation]] = {
    arith.DivSIOp: llvm.SDivOp,
    arith.DivUIOp: llvm.UDivOp,
    arith.RemSIOp: llvm.SRemOp,
    arith.RemUIOp: llvm.URemOp,
    arith.AndIOp: llvm.AndOp,
    arith.OrIOp: llvm.OrOp,
    arith.XOrIOp: llvm.XOrOp,
    arith.ShRUIOp: llvm.LShrOp,
    arith.ShRSIOp: llvm.AShrOp,
}
INTEGER_INTRINSIC: dict[type[Operation], str] = {
    arith.MinSIOp: "llvm.smin",
    arith.MaxSIOp: "llvm.smax",
    arith.MinUIOp: "llvm.umin",
    arith.MaxUIOp: "llvm.umax",
}
FLOAT_BINARY: dict[type[Operation], type[Operation]] = {
    arith.AddfOp: llvm.FAddOp,
    arith.SubfOp: llvm.FSubOp,
    arith.MulfOp: llvm.FMulOp,
    arith.DivfOp: llvm.FDivOp,
}
FLOAT_INTRINSIC: dict[type[Operation], str] = {
    arith.MaximumfOp: "llvm.maximum",
    arith.MinimumfOp: "llvm.minimum",
    arith.MaxnumfOp: "llvm.maxnum",
    arith.MinnumfOp: "llvm.minnum",
}
TO_INTEGER: dict[type[Operation], type[Operation]] = {
    arith.FPToSIOp: llvm_ext.FPToSIOp,
    arith.FPToUIOp: llvm_ext.FPToUIOp,
}
FROM_INTEGER: dict[type[Operation], type[Operation]] = {
    arith.SIToFPOp: llvm.SIToFPOp,
    arith.UIToFPOp: llvm_ext.UIToFPOp,
}
NO_BF16 = "has no native bf16 form; run expand-math first"


def converted_constant(builder: LLVMBody, value: Attribute, new_type: Attribute) -> Attribute:
    """Returns the attribute of an `arith.constant` with `index` replaced by `i64`."""
    if isinstance(value, IntegerAttr):
        return number(value.value.data) if isinstance(value.type, IndexType) else value
    if isinstance(value, DenseIntOrFPElementsAttr) and isinstance(value.type.element_type, IndexType):
        assert isinstance(new_type, VectorType)
        return DenseIntOrFPElementsAttr(new_type, value.data)
    return value


def convert_constant(builder: LLVMBody, op: arith.ConstantOp) -> None:
    new_type = builder.types.convert(op.result.type)
    if not isinstance(op.value, IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr):
        builder.error(f"value {op.value} is no number and no dense list of numbers")
        return
    value = converted_constant(builder, op.value, new_type)
    builder.bind(op.result, builder.emit(llvm.ConstantOp, (), new_type, {"value": value}))


def convert_overflowing(builder: LLVMBody, op: Operation) -> None:
    lhs, rhs = builder.values_of(op.operands)
    flags = op.properties.get("overflowFlags")
    bits = 0 if flags is None else sum(_OVERFLOW_BITS[str(flag.value)] for flag in flags.data)  # type: ignore[attr-defined]
    properties = {"overflowFlags": _OVERFLOW_ATTRS[bits]}
    builder.bind(op.results[0], builder.binary(OVERFLOWING[type(op)], lhs, rhs, properties))


_OVERFLOW_ATTRS = tuple(IntegerAttr(bits, 32) for bits in range(4))


def convert_integer_binary(builder: LLVMBody, op: Operation) -> None:
    lhs, rhs = builder.values_of(op.operands)
    builder.bind(op.results[0], builder.binary(INTEGER_BINARY[type(op)], lhs, rhs))


def convert_integer_intrinsic(builder: LLVMBody, op: Operation) -> None:
    lhs, rhs = builder.values_of(op.operands)
    builder.bind(op.results[0], builder.intrinsic_value(INTEGER_INTRINSIC[type(op)], (lhs, rhs), lhs.type))


def _refuse_bf16(builder: LLVMBody, value_type: Attribute) -> bool:
    if is_bf16(value_type):
        builder.error(NO_BF16)
        return True
    return False


def convert_float_binary(builder: LLVMBody, op: Operation) -> None:
    lhs, rhs = builder.values_of(op.operands)
    if _refuse_bf16(builder, lhs.type):
        return
    properties = {"fastmathFlags": fastmath(op.properties.get("fastmath"))}
    builder.bind(op.results[0], builder.binary(FLOAT_BINARY[type(op)], lhs, rhs, properties))


def convert_float_intrinsic(builder: LLVMBody, op: Operation) -> None:
    lhs, rhs = builder.values_of(op.operands)
    if _refuse_bf16(builder, lhs.type):
        return
    flags = fastmath(op.properties.get("fastmath"))
    if isinstance(op, arith.MaximumfOp) and not flags.data:
        for value, source, other in ((lhs, op.rhs, rhs), (rhs, op.lhs, lhs)):
            if (sign := _sign_of_zero(source)) is not None:
                # exact for NaN and zeros too, and two instructions of x86 (one for -0) where the intrinsic is three or
                # more
                chosen = builder.fcmp_named("ugt" if sign > 0 else "uge", value, other)
                builder.bind(op.result, builder.select(chosen, value, other))
                return
    lhs, rhs = _kept_apart(builder, op, lhs, rhs)
    name = FLOAT_INTRINSIC[type(op)]
    builder.bind(op.results[0], builder.intrinsic_value(name, (lhs, rhs), lhs.type, flags))


def _kept_apart(builder: LLVMBody, op: Operation, lhs: SSAValue, rhs: SSAValue) -> tuple[SSAValue, SSAValue]:
    """
    Returns the operands of a maximum. Where one is what has been seen so far, a choice stays apart as the other.

    LLVM makes a choice between maxima of the maximum of a choice, as in a softmax of what a mask lets pass. Its
    vectoriser does not know that one, so the loop stayed one on single numbers.
    """
    values = [lhs, rhs]
    for at, source in enumerate(op.operands):
        if isinstance(source.owner, arith.SelectOp) and isinstance(op.operands[1 - at].owner, Block):
            values[at] = builder.emit(llvm_ext.FreezeOp, (values[at],), values[at].type, {})
    return values[0], values[1]


def _sign_of_zero(source: SSAValue) -> float | None:
    """Returns 1 or -1 where `source` is the constant 0.0 or -0.0 in all lanes."""
    value = source.owner.value if isinstance(source.owner, arith.ConstantOp) else None
    if isinstance(value, DenseIntOrFPElementsAttr) and value.is_splat():
        number_: object = value.get_values()[0]
    else:
        number_ = value.value.data if isinstance(value, FloatAttr) else None
    return copysign(1, number_) if isinstance(number_, float) and number_ == 0 else None


def convert_negf(builder: LLVMBody, op: arith.NegfOp) -> None:
    operand = builder.value(op.operand)
    properties = {"fastmathFlags": fastmath(op.properties.get("fastmath"))}
    builder.bind(op.result, builder.emit(llvm.FNegOp, (operand,), operand.type, properties))


def convert_cmpi(builder: LLVMBody, op: arith.CmpiOp) -> None:
    lhs, rhs = builder.values_of(op.operands)
    properties = {"predicate": number(op.predicate.value.data)}
    result_type = builder.types.like(i1, lhs.type)
    builder.bind(op.result, builder.emit(llvm.ICmpOp, (lhs, rhs), result_type, properties))


def convert_cmpf(builder: LLVMBody, op: arith.CmpfOp) -> None:
    lhs, rhs = builder.values_of(op.operands)
    if is_bf16(lhs.type):
        single = builder.types.like(F32, lhs.type)
        lhs, rhs = extend(builder, lhs, single), extend(builder, rhs, single)
    flags = fastmath(op.properties.get("fastmath"))
    builder.bind(op.result, builder.fcmp(number(op.predicate.value.data), lhs, rhs, flags))


def convert_select(builder: LLVMBody, op: arith.SelectOp) -> None:
    condition, *choices = builder.values_of(op.operands)
    lhs, rhs = (builder.bitcast(value, moved_as(value.type)) for value in choices)
    chosen = builder.select(condition, lhs, rhs)
    builder.bind(op.result, builder.bitcast(chosen, choices[0].type))


def convert_bitcast(builder: LLVMBody, op: arith.BitcastOp) -> None:
    target = builder.types.convert(op.result.type)
    builder.bind(op.result, builder.bitcast(builder.value(op.input), target))


def convert_index_cast(builder: LLVMBody, op: arith.IndexCastOp) -> None:
    target = builder.types.convert(op.result.type)
    builder.bind(op.result, builder.resize_integer(builder.value(op.input), target, signed=True))


def convert_integer_cast(builder: LLVMBody, op: Operation) -> None:
    target = builder.types.convert(op.results[0].type)
    value = builder.value(op.operands[0])
    signed = isinstance(op, arith.ExtSIOp)
    if isinstance(op, arith.TruncIOp) and (flags := op.properties.get("overflowFlags")) is not None:
        overflow = llvm.OverflowAttr([llvm.OverflowFlag(str(f.value)) for f in flags.data])  # type: ignore[attr-defined]
        result = builder.emit(llvm.TruncOp, (value,), target, {"overflowFlags": overflow})
    else:
        result = builder.resize_integer(value, target, signed=signed)
    builder.bind(op.results[0], result)


def convert_to_integer(builder: LLVMBody, op: Operation) -> None:
    value = builder.value(op.operands[0])
    if is_bf16(value.type):
        value = extend(builder, value, builder.types.like(F32, value.type))
    target = builder.types.convert(op.results[0].type)
    builder.bind(op.results[0], builder.emit(TO_INTEGER[type(op)], (value,), target))


def convert_from_integer(builder: LLVMBody, op: Operation) -> None:
    target = builder.types.convert(op.results[0].type)
    if _refuse_bf16(builder, target):
        return
    value = builder.value(op.operands[0])
    builder.bind(op.results[0], builder.emit(FROM_INTEGER[type(op)], (value,), target))


def convert_float_cast(builder: LLVMBody, op: Operation) -> None:
    target = builder.types.convert(op.results[0].type)
    builder.bind(op.results[0], change_format(builder, builder.value(op.operands[0]), target))


def convert_floor_or_ceil_division(builder: LLVMBody, op: Operation) -> None:
    """Cuts `a / b` towards zero, then takes one less (floor) or more (ceil) when it was cut the wrong way."""
    lhs, rhs = builder.values_of(op.operands)
    unsigned = isinstance(op, arith.CeilDivUIOp)
    quotient = builder.binary(llvm.UDivOp if unsigned else llvm.SDivOp, lhs, rhs)
    remainder = builder.binary(llvm.URemOp if unsigned else llvm.SRemOp, lhs, rhs)
    zero = builder.constant(0, lhs.type)
    adjust = builder.icmp("ne", remainder, zero)
    if not unsigned:
        signs = builder.binary(llvm.XOrOp, lhs, rhs)
        wrong_way = builder.icmp("slt" if isinstance(op, arith.FloorDivSIOp) else "sge", signs, zero)
        adjust = builder.binary(llvm.AndOp, adjust, wrong_way)
    step = builder.resize_integer(adjust, lhs.type, signed=False)
    if isinstance(op, arith.FloorDivSIOp):
        builder.bind(op.results[0], builder.sub(quotient, step))
    else:
        builder.bind(op.results[0], builder.add(quotient, step))


def convert_add_extended(builder: LLVMBody, op: arith.AddUIExtendedOp) -> None:
    lhs, rhs = builder.values_of(op.operands)
    carry_type = builder.types.convert(op.overflow.type)
    pair_type = llvm.LLVMStructType.from_type_list([lhs.type, carry_type])
    pair = builder.intrinsic_value("llvm.uadd.with.overflow", (lhs, rhs), pair_type)
    builder.bind(op.sum, builder.extract_field(pair, 0, lhs.type))
    builder.bind(op.overflow, builder.extract_field(pair, 1, carry_type))


def convert_mul_extended(builder: LLVMBody, op: arith.MulUIExtendedOp | arith.MulSIExtendedOp) -> None:
    """Computes the product in twice the width, cut into halves."""
    lhs, rhs = builder.values_of(op.operands)
    element = element_type(lhs.type)
    assert isinstance(element, IntegerType)
    width = element.width.data
    double = builder.types.like(IntegerType(2 * width), lhs.type)
    signed = isinstance(op, arith.MulSIExtendedOp)
    wide_lhs = builder.resize_integer(lhs, double, signed=signed)
    wide_rhs = builder.resize_integer(rhs, double, signed=signed)
    product = builder.mul(wide_lhs, wide_rhs)
    upper = builder.binary(llvm.LShrOp, product, builder.constant(width, double))
    builder.bind(op.low, builder.resize_integer(product, lhs.type, signed=False))
    builder.bind(op.high, builder.resize_integer(upper, lhs.type, signed=False))


CONVERSIONS: ConversionTable = {
    arith.ConstantOp: convert_constant,
    **dict.fromkeys(OVERFLOWING, convert_overflowing),
    **dict.fromkeys(INTEGER_BINARY, convert_integer_binary),
    **dict.fromkeys(INTEGER_INTRINSIC, convert_integer_intrinsic),
    **dict.fromkeys(FLOAT_BINARY, convert_float_binary),
    **dict.fromkeys(FLOAT_INTRINSIC, convert_float_intrinsic),
    **dict.fromkeys(TO_INTEGER, convert_to_integer),
    **dict.fromkeys(FROM_INTEGER, convert_from_integer),
    **dict.fromkeys((arith.ExtFOp, arith.TruncFOp), convert_float_cast),
    **dict.fromkeys((arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp), convert_integer_cast),
    **dict.fromkeys((arith.FloorDivSIOp, arith.CeilDivSIOp, arith.CeilDivUIOp), convert_floor_or_ceil_division),
    **dict.fromkeys((arith.MulUIExtendedOp, arith.MulSIExtendedOp), convert_mul_extended),
    arith.AddUIExtendedOp: convert_add_extended,
    arith.NegfOp: convert_negf,
    arith.CmpiOp: convert_cmpi,
    arith.CmpfOp: convert_cmpf,
    arith.SelectOp: convert_select,
    arith.BitcastOp: convert_bitcast,
    arith.IndexCastOp: convert_index_cast,
}
