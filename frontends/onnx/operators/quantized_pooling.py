"""
Pooling of quantised images, whose channels may be last: operators of the set `com.microsoft`.

Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from ..emitting.graph_builder import GraphBuilder
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .pooling import average_pool, max_pool
from .quantized import dequantize_linear
from .quantized_fusions import DOMAIN, quantised
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
    real = b.mean(dequantize_linear(b, x, x_scale, x_zero), axis=axes, keepdims=True)
    return quantised(b, real, scale, zero_point, x)


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
    real = average_pool(
        b,
        dequantize_linear(b, _channels_first(b, x) if channels_last else x, x_scale, x_zero),
        kernel_shape=kernel_shape,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        pads=pads,
        strides=strides,
    )
    found = quantised(b, real, scale, zero_point, x)
    return _channels_last(b, found) if channels_last else found


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
        _channels_first(b, x),
        kernel_shape=kernel_shape,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
        dilations=dilations,
        pads=pads,
        strides=strides,
    )
    return _channels_last(b, found)


def _channels_first(b: GraphBuilder, x: Value) -> Value:
    if x.rank < 3:
        raise ConversionError(f"the input is {x.shaped}, expected rank 3, 4 or 5")
    return b.permute_dims(x, axes=(0, x.rank - 1, *range(1, x.rank - 1)))


def _channels_last(b: GraphBuilder, x: Value) -> Value:
    return b.permute_dims(x, axes=(0, *range(2, x.rank), 1))
