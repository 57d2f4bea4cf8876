"""
Quantised operators of the set `com.microsoft`, which the quantiser of onnxruntime writes.

Other than products they are computed on the real numbers: every operand becomes floats, the result is quantised again.
All of it is one kernel. Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .quantized import dequantize_linear, quantize_linear, requantized
from .quantized_operands import Operand, check_result, check_type
from .reduction import flattened

DOMAIN: Final = "com.microsoft"

_FLATTENED_SOFTMAX: Final = flattened(lambda b, x, axis: b.softmax(x, axis=axis))

converter("QuantizeLinear", domain=DOMAIN)(quantize_linear)
converter("DequantizeLinear", domain=DOMAIN)(dequantize_linear)


def real(b: GraphBuilder, operand: Operand) -> Value:
    """Returns the numbers that an operand stands for, by one scale and zero point."""
    operand.check()
    assert operand.scale is not None
    return dequantize_linear(b, operand.value, operand.scale, operand.zero_point)


def quantised(b: GraphBuilder, x: Value, name: str, scale: Value, zero_point: Value | None, like: Operand) -> Value:
    """Quantises the result `name` to the element type of `like`."""
    check_result(name, scale, zero_point, like)
    if zero_point is None and like.value.dtype == "i8":
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
        left, right = Operand("A", x, x_scale, x_zero), Operand("B", y, y_scale, y_zero)
        check_type("B", y, x, "A")
        scales = [each.known for each in (x_scale, y_scale, scale)]
        if any(each is None for each in scales):
            return quantised(b, getattr(b, op)(real(b, left), real(b, right)), "C", scale, zero_point, left)
        for operand in (left, right):
            operand.check()
        check_result("C", scale, zero_point, left)
        # What is divided by in the end can divide the scales of the operands now, as it does in onnxruntime.
        first, second, last = (np.float32(np.asarray(each).reshape(())) for each in scales)
        with np.errstate(over="ignore", under="ignore"):
            found = np.asarray(first / last), np.asarray(second / last if op == "add" else second)
        steps = [replace(each, scale=b.constant(scale)) for each, scale in zip((left, right), found, strict=True)]
        zero = None if zero_point is None else b.reshape(zero_point, shape=()) if zero_point.rank else zero_point
        return requantized(b, getattr(b, op)(*(real(b, each) for each in steps)), zero, x.dtype)

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
        operand = Operand("X", x, x_scale, x_zero)
        return quantised(b, b.sigmoid(real(b, operand)), "Y", scale, zero_point, operand)

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
    operand = Operand("X", x, x_scale, x_zero)
    return quantised(b, b.leaky_relu(real(b, operand), alpha=alpha), "Y", scale, zero_point, operand)


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
    operand = Operand("X", x, x_scale, x_zero)
    numbers = real(b, operand)
    found = b.softmax(numbers, axis=axis) if opset >= 13 else _FLATTENED_SOFTMAX(b, numbers, axis=axis)
    return quantised(b, found, "Y", scale, zero_point, operand)


@converter("QLinearConcat", domain=DOMAIN)
def qlinear_concat(b: GraphBuilder, scale: Value, zero_point: Value, *inputs: Value, axis: int) -> Value:
    """Concatenates tensors, each given with its scale and zero point."""
    if not inputs or len(inputs) % 3:
        raise ConversionError(f"the node has {len(inputs)} inputs after the zero point, expected groups of 3")
    parts = [Operand(f"X{at // 3}", *inputs[at : at + 3]) for at in range(0, len(inputs), 3)]
    for part in parts[1:]:
        check_type(part.name, part.value, parts[0].value, parts[0].name)
    found = b.concat(*(real(b, part) for part in parts), axis=axis)
    return quantised(b, found, "Y", scale, zero_point, parts[0])


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
    first, second = Operand("X", x, x_scale, x_zero), Operand("Y", y, y_scale, y_zero)
    check_type("Y", y, x, "X")
    return quantised(b, b.where(condition, real(b, first), real(b, second)), "Z", scale, zero_point, first)


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
    operand = Operand("data", x, x_scale, x_zero)
    found = b.mean(real(b, operand), axis=axes or tuple(range(x.rank)), keepdims=bool(keepdims))
    return quantised(b, found, "reduced", scale, zero_point, operand)
