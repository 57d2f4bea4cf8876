"""
Evaluates a straight-line `func.func` of arith and math ops on NumPy arrays, each op in its own format.

Independent of LLVM: what an expansion computes by the definition of its ops. An i1 is a bool array. `math.fma` is
correctly rounded: from an exact product and a sum rounded to odd (S. Boldo and G. Melquiond, 2008).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects import arith, func, math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

Array = Any

DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}


def dtype_of(type_: Attribute) -> np.dtype[Any]:
    return np.dtype(DTYPES[str(type_)])


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    total = a + b
    from_b = total - a
    return total, (a - (total - from_b)) + (b - from_b)


def _odd_sum(a: Array, b: Array) -> Array:
    """a + b in f64 rounded to odd."""
    total, rest = _two_sum(a, b)
    bits = total.view(np.int64)
    away = np.where((rest > 0) == (total > 0), 1, -1)
    adjust = (rest != 0) & np.isfinite(rest) & (bits & 1 == 0)
    return np.where(adjust, bits + away, bits).view(np.float64)


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """a * b in f64 and its rounding error (G. W. Veltkamp's splitting); exact away from over- and underflow."""

    def halves(x: Array) -> tuple[Array, Array]:
        scaled = x * 134217729.0
        high = scaled - (scaled - x)
        return high, x - high

    product = a * b
    (a_high, a_low), (b_high, b_low) = halves(a), halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, np.where(np.isfinite(error), error, 0.0)


def fma(x: Array, y: Array, z: Array) -> Array:
    """x * y + z rounded once, on f32 or f64 arrays."""
    if x.dtype == np.float32:
        product = x.astype(np.float64) * y.astype(np.float64)
        return _odd_sum(product, z.astype(np.float64)).astype(np.float32)
    high, low = _two_product(x, y)
    sum_high, sum_low = _two_sum(z, low)
    total, rest = _two_sum(high, sum_high)
    result = total + _odd_sum(sum_low, rest)
    return np.where(np.isfinite(result), result, x * y + z)


_BINARY: dict[type[Operation], Callable[[Array, Array], Array]] = {
    arith.AddfOp: np.add,
    arith.SubfOp: np.subtract,
    arith.MulfOp: np.multiply,
    arith.DivfOp: np.divide,
    arith.MaximumfOp: np.maximum,
    arith.MinimumfOp: np.minimum,
    arith.AddiOp: np.add,
    arith.SubiOp: np.subtract,
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
    arith.ShLIOp: np.left_shift,
    arith.ShRSIOp: np.right_shift,
    math.CopySignOp: np.copysign,
}
_UNARY: dict[type[Operation], Callable[[Array], Array]] = {
    arith.NegfOp: np.negative,
    math.AbsFOp: np.abs,
    math.SqrtOp: np.sqrt,
    math.RoundEvenOp: np.rint,
    math.TruncOp: np.trunc,
    math.FloorOp: np.floor,
    math.CeilOp: np.ceil,
}
_PREDICATES: dict[int, Callable[[Array, Array], Array]] = {0: np.equal, 1: np.not_equal, 2: np.less}
_FLOAT_PREDICATES: dict[int, Callable[[Array, Array], Array]] = {2: np.greater}


def evaluate(function: func.FuncOp, *arguments: Array) -> Array:
    """The one result of `function` on arrays of one length."""
    values: dict[SSAValue, Array] = dict(zip(function.body.block.args, arguments, strict=True))
    with np.errstate(all="ignore"):
        for op in function.body.block.ops:
            operands = [values[operand] for operand in op.operands]
            if isinstance(op, func.ReturnOp):
                return operands[0]
            result = _apply(op, operands)
            values[op.results[0]] = np.asarray(result, dtype_of(op.results[0].type))
    raise ValueError("no func.return")


def _apply(op: Operation, operands: list[Array]) -> Array:
    if isinstance(op, arith.ConstantOp):
        assert isinstance(op.value, FloatAttr | IntegerAttr)
        return np.full(1, op.value.value.data)
    if isinstance(op, arith.CmpiOp):
        return _PREDICATES[op.predicate.value.data](*operands)
    if isinstance(op, arith.CmpfOp):
        return _FLOAT_PREDICATES[op.predicate.value.data](*operands)
    if isinstance(op, arith.SelectOp):
        return np.where(*operands)
    if isinstance(op, arith.BitcastOp):
        return operands[0].view(dtype_of(op.result.type))
    if isinstance(op, arith.ExtFOp | arith.TruncFOp):
        return operands[0].astype(dtype_of(op.result.type))
    if isinstance(op, math.FmaOp):
        return fma(*np.broadcast_arrays(*operands))
    if type(op) in _UNARY:
        return _UNARY[type(op)](operands[0])
    return _BINARY[type(op)](*operands)
