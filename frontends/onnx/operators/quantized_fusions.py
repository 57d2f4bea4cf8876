"""
Quantised operators of the set `com.microsoft`, which the quantiser of onnxruntime writes.

Other than products they are computed on the real numbers: every operand becomes floats, the result is quantised again.
All of it is one kernel. Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .quantized import (
    dequantize_linear,
    dynamic_quantize_linear,
    matmul_integer,
    quantize_linear,
    requantized,
    rescaled,
)
from .reduction import flattened
from .signed_bytes import cast

DOMAIN: Final = "com.microsoft"

_FLATTENED_SOFTMAX: Final = flattened(lambda b, x, axis: b.softmax(x, axis=axis))

converter("QuantizeLinear", domain=DOMAIN)(quantize_linear)
converter("DequantizeLinear", domain=DOMAIN)(dequantize_linear)


def _zero_of(b: GraphBuilder, zero_point: Value | None, like: Value) -> tuple[Value | None, str]:
    """Returns a zero point as a scalar, and the element type that it says."""
    if zero_point is None:
        return None, "i8" if like.dtype == "i8" else "ui8"
    return b.reshape(zero_point, shape=()) if zero_point.rank else zero_point, zero_point.dtype


def quantised(b: GraphBuilder, x: Value, scale: Value, zero_point: Value | None, like: Value) -> Value:
    """Quantises to the element type of the zero point, or without one to that of `like`."""
    if zero_point is None and like.dtype == "i8":
        zero_point = b.constant(np.zeros((), np.int8))
    return quantize_linear(b, x, scale, zero_point)


def _binary(op: str) -> Callable[..., Value]:
    def convert(
        b: GraphBuilder,
        x: Value,
        x_scale: Value,
        x_zero: Value,
        y: Value,
        y_scale: Value,
        y_zero: Value,
        scale: Value,
        zero_point: Value | None = None,
    ) -> Value:
        scales = [each.known for each in (x_scale, y_scale, scale)]
        if any(each is None or each.size != 1 for each in scales):
            found = getattr(b, op)(dequantize_linear(b, x, x_scale, x_zero), dequantize_linear(b, y, y_scale, y_zero))
            return quantised(b, found, scale, zero_point, x)
        # What is divided by in the end can divide the scales of the operands now, as it does in onnxruntime.
        first, second, last = (np.float32(np.asarray(each).reshape(())) for each in scales)
        right = b.constant(np.asarray(second / last if op == "add" else second))
        left = b.constant(np.asarray(first / last))
        found = getattr(b, op)(dequantize_linear(b, x, left, x_zero), dequantize_linear(b, y, right, y_zero))
        return requantized(b, found, *_zero_of(b, zero_point, x))

    return convert


converter("QLinearAdd", domain=DOMAIN)(_binary("add"))
converter("QLinearMul", domain=DOMAIN)(_binary("multiply"))


def _tabulated(b: GraphBuilder, x: Value, function: Callable[[Value], Value], *constants: Value | None) -> Value:
    """
    Returns `function(x)`. Where it depends on nothing but `constants` that are known, it is looked up in a table of all
    256 bytes.
    """
    if x.dtype not in ("ui8", "i8") or any(each is not None and each.known is None for each in constants):
        return function(x)
    table = function(b.constant(np.arange(256, dtype=np.uint8).view("int8" if x.dtype == "i8" else "uint8")))
    return b.take(table, x if x.dtype == "ui8" else b.astype(x, dtype="ui8"), axis=0)


@converter("QLinearSigmoid", domain=DOMAIN)
def qlinear_sigmoid(
    b: GraphBuilder, x: Value, x_scale: Value, x_zero: Value, scale: Value, zero_point: Value | None = None
) -> Value:
    def value(x: Value) -> Value:
        return quantised(b, b.sigmoid(dequantize_linear(b, x, x_scale, x_zero)), scale, zero_point, x)

    return _tabulated(b, x, value, x_scale, x_zero, scale, zero_point)


@converter("QLinearLeakyRelu", domain=DOMAIN)
def qlinear_leaky_relu(
    b: GraphBuilder,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    scale: Value,
    zero_point: Value | None = None,
    *,
    alpha: float = 0.01,
) -> Value:
    real = b.leaky_relu(dequantize_linear(b, x, x_scale, x_zero), alpha=alpha)
    return quantised(b, real, scale, zero_point, x)


@converter("QLinearSoftmax", domain=DOMAIN)
def qlinear_softmax(
    b: GraphBuilder,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    scale: Value,
    zero_point: Value | None = None,
    *,
    axis: int = -1,
    opset: int,
) -> Value:
    """Returns the quantised softmax. `opset` is the version of `Softmax` that it stands for."""
    real = dequantize_linear(b, x, x_scale, x_zero)
    found = b.softmax(real, axis=axis) if opset >= 13 else _FLATTENED_SOFTMAX(b, real, axis=axis)
    return quantised(b, found, scale, zero_point, x)


@converter("QLinearConcat", domain=DOMAIN)
def qlinear_concat(b: GraphBuilder, scale: Value, zero_point: Value, *inputs: Value, axis: int) -> Value:
    """Concatenates tensors, each given with its scale and zero point."""
    if not inputs or len(inputs) % 3:
        raise ConversionError(f"the node has {len(inputs)} inputs after the zero point, expected groups of 3")
    parts = [dequantize_linear(b, *inputs[at : at + 3]) for at in range(0, len(inputs), 3)]
    return quantize_linear(b, b.concat(*parts, axis=axis), scale, zero_point)


@converter("QLinearWhere", domain=DOMAIN)
def qlinear_where(
    b: GraphBuilder,
    condition: Value,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    y: Value,
    y_scale: Value,
    y_zero: Value,
    scale: Value,
    zero_point: Value,
) -> Value:
    chosen = b.where(condition, dequantize_linear(b, x, x_scale, x_zero), dequantize_linear(b, y, y_scale, y_zero))
    return quantize_linear(b, chosen, scale, zero_point)


@converter("QLinearReduceMean", domain=DOMAIN)
def qlinear_reduce_mean(
    b: GraphBuilder,
    x: Value,
    x_scale: Value,
    x_zero: Value | None = None,
    scale: Value | None = None,
    zero_point: Value | None = None,
    *,
    axes: tuple[int, ...],
    keepdims: int,
) -> Value:
    """The mean along axes, or of everything where there are none. onnxruntime defines it, and runs it on no CPU."""
    if scale is None:
        raise ConversionError("reduced_scale is missing")
    real = dequantize_linear(b, x, x_scale, x_zero)
    found = b.mean(real, axis=axes or tuple(range(x.rank)), keepdims=bool(keepdims))
    return quantised(b, found, scale, zero_point, x)


# Products


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
    sums = matmul_integer(b, x, y, x_zero, y_zero)
    if z is not None:
        sums = b.add(sums, z)
    factor = b.multiply(cast(b, x_scale, "f32"), cast(b, y_scale, "f32"))
    if alpha != 1:
        factor = b.multiply(factor, alpha)
    if scale is None:
        return b.multiply(b.astype(sums, dtype="f32"), factor)
    real = b.divide(factor, cast(b, scale, "f32"))
    if zero_point is None:
        raise ConversionError("y_zero_point is missing, expected it with y_scale")
    return rescaled(b, sums, real, zero_point)


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
    sums = b.astype(matmul_integer(b, x, y, x_zero, y_zero), dtype="f32")
    found = b.multiply(sums, b.multiply(x_scale, y_scale))
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
    return matmul_integer_to_float(b, quantised, y, x_scale, y_scale, x_zero, y_zero, bias)
