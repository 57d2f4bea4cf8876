"""The conversion of `math`: LLVM intrinsics that need no library, and calls of libm for the rest."""

from __future__ import annotations

from xdsl.dialects import llvm, math
from xdsl.dialects.builtin import Float32Type, Float64Type, VectorType, i1
from xdsl.ir import Operation, SSAValue

from ...dialects import llvm_ext
from .attributes import fastmath
from .convert_arith import NO_BF16
from .llvm_body import ConversionTable, LLVMBody
from .small_floats import element_type, is_bf16

FLOAT_INTRINSIC: dict[type[Operation], str] = {
    math.AbsFOp: "llvm.fabs",
    math.FloorOp: "llvm.floor",
    math.CeilOp: "llvm.ceil",
    math.SqrtOp: "llvm.sqrt",
    math.FmaOp: "llvm.fma",
    math.RoundEvenOp: "llvm.roundeven",
    math.RoundOp: "llvm.round",
    math.TruncOp: "llvm.trunc",
    math.CopySignOp: "llvm.copysign",
}
SIGN_ONLY = (math.AbsFOp, math.CopySignOp)
"""Ops that touch the sign bit alone, so that bf16 needs no arithmetic."""

COUNT_INTRINSIC: dict[type[Operation], str] = {
    math.CtPopOp: "llvm.ctpop",
    math.CountLeadingZerosOp: "llvm.ctlz",
    math.CountTrailingZerosOp: "llvm.cttz",
    math.AbsIOp: "llvm.abs",
}
LIBM: dict[type[Operation], str] = {
    math.AcosOp: "acos",
    math.AcoshOp: "acosh",
    math.AsinOp: "asin",
    math.AsinhOp: "asinh",
    math.AtanOp: "atan",
    math.Atan2Op: "atan2",
    math.AtanhOp: "atanh",
    math.CbrtOp: "cbrt",
    math.CosOp: "cos",
    math.CoshOp: "cosh",
    math.ErfOp: "erf",
    math.ExpOp: "exp",
    math.Exp2Op: "exp2",
    math.ExpM1Op: "expm1",
    math.LogOp: "log",
    math.Log10Op: "log10",
    math.Log1pOp: "log1p",
    math.Log2Op: "log2",
    math.PowFOp: "pow",
    math.SinOp: "sin",
    math.SinhOp: "sinh",
    math.TanOp: "tan",
    math.TanhOp: "tanh",
}
"""The C function for f64. The one for f32 has an `f` at its end."""


def convert_float_intrinsic(builder: LLVMBody, op: Operation) -> None:
    operands = builder.values_of(op.operands)
    if is_bf16(operands[0].type) and not isinstance(op, SIGN_ONLY):
        builder.error(NO_BF16)
        return
    flags = fastmath(op.properties.get("fastmath"))
    result = builder.intrinsic_value(FLOAT_INTRINSIC[type(op)], operands, operands[0].type, flags)
    builder.bind(op.results[0], result)


def convert_count(builder: LLVMBody, op: Operation) -> None:
    """Converts so that nothing is poison: bit counts give the width for 0, `absi` the minimum for the minimum."""
    operands = builder.values_of(op.operands)
    result_type = operands[0].type
    if not isinstance(op, math.CtPopOp):
        operands.append(builder.constant(0, i1))
    builder.bind(op.results[0], builder.intrinsic_value(COUNT_INTRINSIC[type(op)], operands, result_type))


def convert_rsqrt(builder: LLVMBody, op: math.RsqrtOp) -> None:
    """Computes `1 / sqrt(x)`, both rounded."""
    operand = builder.value(op.operand)
    if is_bf16(operand.type):
        builder.error(NO_BF16)
        return
    flags = fastmath(op.properties.get("fastmath"))
    root = builder.intrinsic_value("llvm.sqrt", (operand,), operand.type, flags)
    one = builder.float_constant(1.0, operand.type)
    builder.bind(op.result, builder.binary(llvm.FDivOp, one, root, {"fastmathFlags": flags}))


def call_libm(builder: LLVMBody, name: str, operands: list[SSAValue]) -> SSAValue | None:
    """Calls the C function on scalars, lane by lane on vectors. Returns None after noting an error."""
    value_type = operands[0].type
    element = element_type(value_type)
    if not isinstance(element, Float32Type | Float64Type):
        builder.error(f"the C library has no function for {element}; run expand-math first")
        return None
    symbol = builder.state.external(
        f"{name}f" if isinstance(element, Float32Type) else name, [element] * len(operands), element
    )
    if not isinstance(value_type, VectorType):
        return builder.call(symbol, operands, element)
    result: SSAValue = builder.emit(llvm_ext.PoisonOp, (), value_type)
    for lane in range(value_type.get_shape()[0]):
        index = builder.constant(lane)
        scalars = [builder.emit(llvm_ext.ExtractElementOp, (v, index), element) for v in operands]
        called = builder.call(symbol, scalars, element)
        assert called is not None
        result = builder.emit(llvm.InsertElementOp, (result, called, index), value_type)
    return result


def convert_libm(builder: LLVMBody, op: Operation) -> None:
    result = call_libm(builder, LIBM[type(op)], builder.values_of(op.operands))
    if result is not None:
        builder.bind(op.results[0], result)


CONVERSIONS: ConversionTable = {
    **dict.fromkeys(FLOAT_INTRINSIC, convert_float_intrinsic),
    **dict.fromkeys(COUNT_INTRINSIC, convert_count),
    **dict.fromkeys(LIBM, convert_libm),
    math.RsqrtOp: convert_rsqrt,
}
