"""
Products of matrices of integers that stand for real numbers, those of the set `com.microsoft` too.

Source: the specification of ONNX, and the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

import numpy as np

from ....dialects.graph.shapes import Shape, compatible
from ..emitting.graph_builder import GraphBuilder
from ..emitting.values import KnownValue
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .quantized import dynamic_quantize_linear, requantized
from .quantized_fusions import DOMAIN
from .quantized_operands import ONE, Allowed, Operand, check_result, per_column, per_row
from .signed_bytes import (
    cast,
    centred,
    check_bytes,
    in_shape,
    int32,
    minus,
    signed,
    signed_zero,
    sums_of,
    times,
    wide_zero,
)


@converter("MatMulInteger", since=10)
def matmul_integer(
    b: GraphBuilder, x: Value, y: Value, x_zero: Value | None = None, y_zero: Value | None = None
) -> Value:
    """`(x - x_zero) @ (y - y_zero)` in 32 bits."""
    return _product(b, Operand("a", x, None, x_zero), Operand("b", y, None, y_zero), per_row(x.shape))


@converter("QLinearMatMul", since=10)
def qlinear_matmul(
    b: GraphBuilder,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    y: Value,
    y_scale: Value,
    y_zero: Value,
    scale: Value,
    zero_point: Value,
) -> Value:
    """The product of two quantised matrices, quantised. The result has one scale, as in onnxruntime."""
    rows = per_row(x.shape) if y.rank > 1 else ONE
    sums = _product(b, Operand("a", x, x_scale, x_zero), Operand("b", y, y_scale, y_zero), rows)
    check_result("y", scale, zero_point)
    return rescaled(b, sums, factor_of(b, _row_zero(b, x, x_scale), _single(b, y_scale), scale), zero_point)


def _product(b: GraphBuilder, left: Operand, right: Operand, rows: Allowed = ONE) -> Value:
    """The product of the integers less their zero points. Raises unless both operands are as the operator wants."""
    x, y = left.value, right.value
    check_bytes(x, y)
    left.check(rows)
    right.check(per_column(y.shape))
    x_zero = None if left.zero_point is None else _row_zero(b, x, left.zero_point)
    return _matmul(b, x, x_zero, y, None if right.zero_point is None else _single(b, right.zero_point))


def _matmul(b: GraphBuilder, x: Value, x_zero: Value | None, y: Value, y_zero: Value | None) -> Value:
    a, a_zero = x, wide_zero(b, x_zero)
    c, c_zero = signed(b, y), signed_zero(b, y_zero, y.dtype)
    steps = x.shape[-1] if y.shape[-2:][0] is None else y.shape[-2:][0]
    if min(x.rank, y.rank) < 2 or (steps is None and a_zero is not None and c_zero is not None):
        return b.matmul(centred(b, a, a_zero), centred(b, c, c_zero))
    product = b.matmul(a, c, out_dtype="i32")
    if a_zero is not None:
        product = b.subtract(product, times(b, a_zero, sums_of(b, c, -2)))
    if c_zero is not None:
        rows = sums_of(b, a, -1)
        if a_zero is not None:
            rows = minus(b, rows, times(b, a_zero, KnownValue(int32(steps))))
        product = b.subtract(product, times(b, c_zero, rows))
    return product


def _row_zero(b: GraphBuilder, x: Value, value: Value) -> Value:
    """A zero point or scale per row, which is a vector, as a column."""
    if value.rank == 1 and value.shape != (1,) and x.rank > 1:
        return in_shape(b, value, (-1, 1))
    return _single(b, value)


def _single(b: GraphBuilder, value: Value) -> Value:
    """Returns what is one for all as a scalar: with a vector a product of vectors would become one."""
    return in_shape(b, value, ()) if value.shape == (1,) else value


# Scales of products


def factor_of(b: GraphBuilder, x_scale: Value, w_scale: Value, scale: Value) -> Value:
    """`x_scale * w_scale / scale`, what integer sums are multiplied by. There is one `scale`."""
    values = [x_scale, w_scale, _single(b, scale)]
    arrays = [value.known for value in values]
    if all(array is not None for array in arrays):
        x, w, y = (np.asarray(array).astype(np.float32) for array in arrays)
        with np.errstate(over="ignore", under="ignore"):  # as when the program computes it
            return KnownValue(np.asarray(x * w / y))
    x, w, y = (cast(b, value, "f32") for value in values)
    return b.divide(b.multiply(x, w), y)


def rescaled(b: GraphBuilder, sums: Value, factor: Value, zero_point: Value) -> Value:
    """`sums * factor`, quantised to the type of its one zero point."""
    real = b.multiply(b.astype(sums, dtype="f32"), factor)
    return requantized(b, real, _single(b, zero_point), zero_point.dtype)


# Products of the set of Microsoft


@converter("QGemm", domain=DOMAIN)
def qgemm(
    b: GraphBuilder,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    y: Value,
    y_scale: Value,
    y_zero: Value,
    z: Value | None = None,
    scale: Value | None = None,
    zero_point: Value | None = None,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Value:
    """
    Returns `alpha * op(x) @ op(y) + z`, where `z` are 32-bit sums.

    The result is quantised when there is a scale, else floats.
    """
    x = b.permute_dims(x, axes=(1, 0)) if transA else x
    y = b.permute_dims(y, axes=(1, 0)) if transB else y
    sums = _product(b, Operand("a", x, x_scale, x_zero), Operand("b", y, y_scale, y_zero))
    if z is not None:
        sums = b.add(sums, _added(z, (x.shape[0], y.shape[1])))
    factor = b.multiply(cast(b, _single(b, x_scale), "f32"), cast(b, _single(b, y_scale), "f32"))
    if alpha != 1:
        factor = b.multiply(factor, alpha)
    if scale is None:
        return b.multiply(b.astype(sums, dtype="f32"), factor)
    if zero_point is None:
        raise ConversionError("y_zero_point is missing, expected it with y_scale")
    check_result("y", scale, zero_point)
    return rescaled(b, sums, b.divide(factor, cast(b, _single(b, scale), "f32")), zero_point)


def _added(z: Value, shape: Shape) -> Value:
    """Returns what is added to sums of a shape. Raises unless it is of 32 bits, and has as many elements or fewer."""
    ones = tuple(1 if found == 1 else size for found, size in zip(z.shape[::-1], shape[::-1], strict=False))
    if z.dtype != "i32" or not compatible(z.shape[::-1], ones):
        sizes = "x".join("?" if size is None else str(size) for size in shape)
        raise ConversionError(f"C is {z.shaped}, expected elements of i32 that broadcast to {sizes}")
    return z


@converter("MatMulIntegerToFloat", domain=DOMAIN)
def matmul_integer_to_float(
    b: GraphBuilder,
    x: Value,
    y: Value,
    x_scale: Value,
    y_scale: Value,
    x_zero: Value | None = None,
    y_zero: Value | None = None,
    bias: Value | None = None,
) -> Value:
    return real_product(b, Operand("a", x, x_scale, x_zero), Operand("b", y, y_scale, y_zero), bias)


def real_product(b: GraphBuilder, left: Operand, right: Operand, bias: Value | None) -> Value:
    """The product of two quantised matrices, as floats."""
    assert left.scale is not None and right.scale is not None
    if bias is not None and not compatible(bias.shape, right.value.shape[-1:]):
        raise ConversionError(f"bias is {bias.shaped}, expected one element for each column of {right.value.shaped}")
    sums = b.astype(_product(b, left, right), dtype="f32")
    found = b.multiply(sums, b.multiply(_single(b, left.scale), _single(b, right.scale)))
    return found if bias is None else b.add(found, bias)


@converter("DynamicQuantizeMatMul", domain=DOMAIN)
def dynamic_quantize_matmul(
    b: GraphBuilder,
    x: Value,
    y: Value,
    y_scale: Value,
    y_zero: Value | None = None,
    bias: Value | None = None,
) -> Value:
    """The product of floats, quantised by their range, and quantised weights."""
    quantised, x_scale, x_zero = dynamic_quantize_linear(b, x)
    return real_product(b, Operand("a", quantised, x_scale, x_zero), Operand("b", y, y_scale, y_zero), bias)
