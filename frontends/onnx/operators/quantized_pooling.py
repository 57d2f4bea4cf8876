"""
Pooling of quantised images, whose channels may be last: operators of the set `com.microsoft`.

Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from ..emitting.graph_builder import GraphBuilder
from ..registry import converter
from ..value import Value
from .movement import channels_first, channels_last_of
from .pooling import average_pool, max_pool
from .quantized_fusions import DOMAIN, quantised, real
from .quantized_operands import Operand
from .signed_bytes import check_bytes

Ints = tuple[int, ...] | None


@converter("QLinearGlobalAveragePool", domain=DOMAIN)
def qlinear_global_average_pool(
    b: GraphBuilder,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    scale: Value,
    zero_point: Value | None = None,
    *,
    channels_last: int = 0,
) -> Value:
    axes = tuple(range(1, x.rank - 1) if channels_last else range(2, x.rank))
    operand = Operand("x", x, x_scale, x_zero)
    return quantised(b, b.mean(real(b, operand), axis=axes, keepdims=True), "y", scale, zero_point, operand)


@converter("QLinearAveragePool", domain=DOMAIN)
def qlinear_average_pool(
    b: GraphBuilder,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    scale: Value,
    zero_point: Value | None = None,
    *,
    kernel_shape: tuple[int, ...],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    channels_last: int = 0,
    count_include_pad: int = 0,
    pads: Ints = None,
    strides: Ints = None,
) -> Value:
    operand = Operand("x", channels_first(b, x) if channels_last else x, x_scale, x_zero)
    found = average_pool(
        b,
        real(b, operand),
        kernel_shape=kernel_shape,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        pads=pads,
        strides=strides,
    )
    found = quantised(b, found, "y", scale, zero_point, operand)
    return channels_last_of(b, found) if channels_last else found


@converter("NhwcMaxPool", domain=DOMAIN)
def nhwc_max_pool(
    b: GraphBuilder,
    x: Value,
    *,
    kernel_shape: tuple[int, ...],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Ints = None,
    pads: Ints = None,
    strides: Ints = None,
) -> Value:
    """The greatest bytes of each window of images whose channels are last."""
    check_bytes(x, x)
    found = max_pool(
        b,
        channels_first(b, x),
        kernel_shape=kernel_shape,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
        dilations=dilations,
        pads=pads,
        strides=strides,
    )
    return channels_last_of(b, found)
