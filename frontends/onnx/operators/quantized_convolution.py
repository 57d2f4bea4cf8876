"""Convolutions of integers that stand for real numbers."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import Final

import numpy as np

from ....dialects.graph.shapes import compatible, text
from ..emitting.graph_builder import GraphBuilder
from ..emitting.values import KnownValue
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .convolution import convolve
from .movement import channels_first, channels_last_of, pad_constant
from .quantized_fusions import DOMAIN
from .quantized_operands import Operand, check_result, per_channel
from .quantized_products import factor_of, rescaled
from .signed_bytes import centred, check_bytes, in_shape, int32, signed, signed_zero, sums_of, times, wide_zero
from .windows import Window, window_of

LEAST_EXTENT: Final = 16
"""Channels from which on machines have products of bytes for convolutions."""

LARGEST_PATCHES: Final = 1 << 24
"""Most bytes of an image with axes of the window in its channels."""

LARGEST_EXACT: Final = 1 << 24
"""All integers up to this one are numbers of f32, so sums of integers are exact in any order while none exceeds it."""


@converter("ConvInteger", since=10)
def conv_integer(
    b: GraphBuilder,
    x: Value,
    w: Value,
    x_zero: Value | None = None,
    w_zero: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: tuple[int, ...] | None = None,
    group: int = 1,
    kernel_shape: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Value:
    """The convolution of `x - x_zero` with `w - w_zero`, in 32 bits."""
    _check_operands(Operand("x", x, None, x_zero), Operand("w", w, None, w_zero))
    window = window_of(x, w.shape[2:], auto_pad, dilations, kernel_shape, pads, strides)
    return _conv(b, x, x_zero, w, w_zero, window, group)


@converter("QLinearConv", since=10)
def qlinear_conv(
    b: GraphBuilder,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    w: Value,
    w_scale: Value,
    w_zero: Value,
    scale: Value,
    zero_point: Value,
    bias: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: tuple[int, ...] | None = None,
    group: int = 1,
    kernel_shape: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Value:
    """The convolution of quantised images with quantised filters, plus a bias of 32-bit sums, quantised."""
    _check_operands(Operand("x", x, x_scale, x_zero), Operand("w", w, w_scale, w_zero))
    check_result("y", scale, zero_point)
    if bias is not None and (bias.dtype != "i32" or not compatible(bias.shape, w.shape[:1])):
        raise ConversionError(f"B is {bias.shaped}, expected {text(w.shape[:1])} elements of i32")
    window = window_of(x, w.shape[2:], auto_pad, dilations, kernel_shape, pads, strides)
    sums = _conv(b, x, x_zero, w, w_zero, window, group)
    if bias is not None:
        sums = b.add(sums, _per_channel(b, bias, x))
    factor = factor_of(b, in_shape(b, x_scale, ()), _per_channel(b, w_scale, x), scale)
    return rescaled(b, sums, factor, zero_point)


@converter("QLinearConv", domain=DOMAIN)
def qlinear_conv_of_microsoft(
    b: GraphBuilder,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    w: Value,
    w_scale: Value,
    w_zero: Value,
    scale: Value,
    zero_point: Value,
    bias: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    channels_last: int = 0,
    dilations: tuple[int, ...] | None = None,
    group: int = 1,
    kernel_shape: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Value:
    """The same, where channels may be the last dimension of `x` and of the result. Filters stay as they are."""
    found = qlinear_conv(
        b,
        channels_first(b, x) if channels_last else x,
        x_scale,
        x_zero,
        w,
        w_scale,
        w_zero,
        scale,
        zero_point,
        bias,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    return channels_last_of(b, found) if channels_last else found


def _check_operands(x: Operand, w: Operand) -> None:
    check_bytes(x.value, w.value)
    x.check()
    w.check(per_channel(w.value.shape))


def _conv(
    b: GraphBuilder, x: Value, x_zero: Value | None, w: Value, w_zero: Value | None, window: Window, groups: int
) -> Value:
    """Convolves bytes. Padding has the value of the zero point, so that every window has as many terms."""
    a_zero, c_zero = wide_zero(b, x_zero), signed_zero(b, w_zero, w.dtype)
    a_zero = None if a_zero is None else in_shape(b, a_zero, ())
    c = signed(b, w)
    a = _padded(b, x, a_zero, window)
    terms = prod(dim or 0 for dim in w.shape[1:])
    if c_zero is not None and (groups > 1 or None in w.shape):
        filters = c_zero if c_zero.rank == 0 else in_shape(b, c_zero, (-1, *(1,) * (w.rank - 1)))
        wide = centred(b, c, filters)
        return _wide_windows(b, centred(b, a, a_zero), wide, window, groups)
    result = _windows(b, a, c, window, groups)
    if a_zero is not None:
        sums = sums_of(b, c, tuple(range(1, w.rank)))
        result = b.subtract(result, times(b, a_zero, in_shape(b, sums, (-1, *(1,) * (x.rank - 2)))))
    if c_zero is not None:
        sums = _sums_of_windows(b, a, w, window)
        if a_zero is not None:
            sums = b.subtract(sums, times(b, a_zero, KnownValue(int32(terms))))
        result = b.subtract(result, b.multiply(_per_channel(b, c_zero, x), sums))
    return result


def _sums_of_windows(b: GraphBuilder, x: Value, w: Value, window: Window) -> Value:
    """The sums of windows over all channels, which are summed up first. So a window is a sum of few numbers."""
    sums = sums_of(b, x, 1)
    if {*window.kernel, *window.strides} == {1}:
        return sums
    ones = KnownValue(np.ones((1, 1, *(dim or 0 for dim in w.shape[2:])), np.int32))
    return convolve(b, sums, ones, window.bare(), 1)


def _padded(b: GraphBuilder, x: Value, zero_point: Value | None, window: Window) -> Value:
    """`x` with the elements of padding around it that stand for 0."""
    before, after = [0, 0, *window.before], [0, 0, *window.after]
    known = int32(0) if zero_point is None else zero_point.known
    if known is not None or not any(before + after):
        return pad_constant(b, x, before, after, 0 if known is None else int(known.reshape(())))
    assert zero_point is not None
    byte = b.astype(zero_point, dtype=x.dtype)  # the sum below wraps, as the difference does
    return b.add(pad_constant(b, b.subtract(x, byte), before, after, 0), byte)


def _windows(b: GraphBuilder, x: Value, w: Value, window: Window, groups: int) -> Value:
    """The sums of windows without padding, in 32 bits."""
    window = window.bare()
    axes = _axes_into_channels(x, w, window) if x.dtype in ("i8", "ui8") and groups == 1 else 0
    if axes:
        x, w, window = _with_axes_in_channels(b, x, w, window, axes)
    return convolve(b, x, w, window, groups, out_dtype="i32")


def _places(x: Value, window: Window) -> tuple[int, ...]:
    """The extents of the result."""
    return tuple(
        ((extent or 0) - window.reach(axis)) // window.strides[axis] + 1 for axis, extent in enumerate(x.shape[2:])
    )


def _wide_windows(b: GraphBuilder, x: Value, w: Value, window: Window, groups: int) -> Value:
    """
    The sums of windows of differences of bytes, without padding. They are formed in f32 where they are numbers of f32:
    machines have products of those, and none of 32-bit integers.
    """
    terms = prod(-1 if dim is None else dim for dim in w.shape[1:])
    if not 0 <= terms * 255 * 255 <= LARGEST_EXACT:
        return _windows(b, x, w, window, groups)
    sums = convolve(b, b.astype(x, dtype="f32"), b.astype(w, dtype="f32"), window.bare(), groups)
    return b.astype(sums, dtype="i32")


def _axes_into_channels(x: Value, w: Value, window: Window) -> int:
    """
    How many of the first axes of the window become channels: none where there are `LEAST_EXTENT` channels, else as few
    as make as many.

    Each byte is copied as often as windows reach it along those axes, for sums that machines with instructions for
    bytes form several times faster; they want vectors of `LEAST_EXTENT` channels. Rows of images move as a whole, so
    the first axes are cheaper.
    """
    outputs, inputs, *sizes = w.shape
    if outputs is None or inputs is None or None in x.shape[2:] or None in sizes:
        return 0
    if inputs >= LEAST_EXTENT or min(_places(x, window)) < 1:
        return 0
    for count in range(1, len(window.kernel) + 1):
        terms = inputs * prod(window.kernel[:count])
        if terms >= LEAST_EXTENT:
            extents = (*_places(x, window)[:count], *x.shape[2 + count :])
            return count if terms * prod(extent or 0 for extent in extents) <= LARGEST_PATCHES else 0
    return 0


def _with_axes_in_channels(
    b: GraphBuilder, x: Value, w: Value, window: Window, count: int
) -> tuple[Value, Value, Window]:
    """
    The same convolution, in which the first `count` axes of the window are channels: `x` moved by each place t along
    them, all as channels of one image, and `w[o, c, t, ...]` as `w[o, (t, c), 1, ...]`.
    """
    axes = tuple(range(2, 2 + count))
    kernel, strides, dilations = (each[:count] for each in (window.kernel, window.strides, window.dilations))
    places = _places(x, window)[:count]
    parts: list[Value] = []
    for taps in product(*map(range, kernel)):
        begin = tuple(tap * step for tap, step in zip(taps, dilations, strict=True))
        last = ((size - 1) * step for size, step in zip(places, strides, strict=True))
        end = tuple(first + reach + 1 for first, reach in zip(begin, last, strict=True))
        parts.append(b.strided_slice(x, axes=axes, begin=begin, end=end, strides=strides))
    order = (0, *axes, 1, *range(2 + count, x.rank))
    outputs, inputs, *_ = w.shape
    assert outputs is not None and inputs is not None
    shape = (outputs, inputs * prod(kernel), *(1,) * count, *window.kernel[count:])
    known = w.known
    if known is None:
        w = b.reshape(b.permute_dims(w, axes=order), shape=shape)
    else:
        w = KnownValue(known.transpose(order).reshape(shape), getattr(w, "key", "constant"))
    ones = (1,) * count
    narrow = replace(
        window,
        kernel=(*ones, *window.kernel[count:]),
        strides=(*ones, *window.strides[count:]),
        dilations=(*ones, *window.dilations[count:]),
    )
    return b.concat(*parts, axis=1), w, narrow


def _per_channel(b: GraphBuilder, value: Value, x: Value) -> Value:
    """A scalar, or a vector with an element per channel, in a shape that broadcasts against images."""
    return value if value.rank == 0 else in_shape(b, value, (-1, *(1,) * (x.rank - 2)))
