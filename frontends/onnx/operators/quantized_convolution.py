"""Convolutions of integers that stand for real numbers."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import Final

from ..emitter import Emitter
from ..errors import ConversionError
from ..registry import converter
from ..values import KnownValue, Value
from .convolution import convolve
from .movement import pad_constant
from .quantized import factor_of, rescaled
from .signed_bytes import centred, check_bytes, in_shape, int32, signed, signed_zero, sums_of, times
from .windows import Window, window_of

LEAST_EXTENT: Final = 16
"""Outputs, terms of a sum and places from which on a convolution is a product of matrices."""

LARGEST_PATCHES: Final = 1 << 24
"""Most bytes of the patches of an image."""


@converter("ConvInteger", since=10)
def conv_integer(
    b: Emitter,
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
    window = window_of(x, w.shape[2:], auto_pad, dilations, kernel_shape, pads, strides)
    return _conv(b, x, x_zero, w, w_zero, window, group)


@converter("QLinearConv", since=10)
def qlinear_conv(
    b: Emitter,
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
    window = window_of(x, w.shape[2:], auto_pad, dilations, kernel_shape, pads, strides)
    sums = _conv(b, x, x_zero, w, w_zero, window, group)
    if bias is not None:
        sums = b.add(sums, _per_channel(b, bias, x))
    return rescaled(b, sums, factor_of(b, x_scale, _per_channel(b, w_scale, x), scale), zero_point)


def _conv(
    b: Emitter, x: Value, x_zero: Value | None, w: Value, w_zero: Value | None, window: Window, groups: int
) -> Value:
    """Padding has the value of the zero point, so that every window has as many terms."""
    check_bytes(x, w)
    if x_zero is not None and x_zero.shape not in ((), (1,)):
        raise ConversionError(f"the zero point of the input is {x_zero.shaped}, expected one element")
    a_zero, c_zero = signed_zero(b, x_zero, x.dtype), signed_zero(b, w_zero, w.dtype)
    a_zero = None if a_zero is None else in_shape(b, a_zero, ())
    c = signed(b, w)
    a = _padded(b, signed(b, x), a_zero, window)
    terms = prod(dim or 0 for dim in w.shape[1:])
    if c_zero is not None and (groups > 1 or None in w.shape):
        filters = c_zero if c_zero.rank == 0 else in_shape(b, c_zero, (-1, *(1,) * (w.rank - 1)))
        wide = centred(b, c, filters)
        return _windows(b, centred(b, a, a_zero), wide, window, groups)
    result = _windows(b, a, c, window, groups)
    if a_zero is not None:
        sums = sums_of(b, c, tuple(range(1, w.rank)))
        result = b.subtract(result, times(b, a_zero, in_shape(b, sums, (-1, *(1,) * (x.rank - 2)))))
    if c_zero is not None:
        sums = _windows(b, a, _ones(w), window, groups)
        if a_zero is not None:
            sums = b.subtract(sums, times(b, a_zero, KnownValue(int32(terms))))
        result = b.subtract(result, b.multiply(_per_channel(b, c_zero, x), sums))
    return result


def _ones(w: Value) -> Value:
    """A filter that sums up."""
    import numpy as np

    return KnownValue(np.ones((1, *(dim or 0 for dim in w.shape[1:])), np.int8))


def _padded(b: Emitter, x: Value, zero_point: Value | None, window: Window) -> Value:
    """`x` with the elements of padding around it that stand for 0."""
    before, after = [0, 0, *window.before], [0, 0, *window.after]
    known = int32(0) if zero_point is None else zero_point.known
    if known is not None or not any(before + after):
        return pad_constant(b, x, before, after, 0 if known is None else int(known.reshape(())))
    assert zero_point is not None
    byte = b.astype(zero_point, dtype="i8")  # the sum below wraps, as the difference does
    return b.add(pad_constant(b, b.subtract(x, byte), before, after, 0), byte)


def _windows(b: Emitter, x: Value, w: Value, window: Window, groups: int) -> Value:
    """The sums of windows without padding, in 32 bits."""
    rank = x.rank - 2
    window = replace(window, before=(0,) * rank, after=(0,) * rank)
    if x.dtype == "i8" and groups == 1 and (places := _places(x, w, window)):
        return _product_of_patches(b, x, w, window, places)
    return convolve(b, x, w, window, groups, out_dtype="i32")


def _places(x: Value, w: Value, window: Window) -> tuple[int, ...]:
    """
    The extents of the result where patches pay off, else none.

    Each byte is copied as often as windows reach it, for a product that machines with instructions for bytes form several times faster
    than a convolution; they want vectors of `LEAST_EXTENT`.
    """
    outputs, inputs, *sizes = w.shape
    extents = x.shape[2:]
    if outputs is None or inputs is None or None in extents or None in sizes:
        return ()
    places = tuple(
        ((extent or 0) - window.reach(axis)) // window.strides[axis] + 1
        for axis, extent in enumerate(extents)
    )
    terms, count = inputs * prod(window.kernel), prod(places)
    if min(places) < 1 or min(outputs, terms, count) < LEAST_EXTENT or terms * count > LARGEST_PATCHES:
        return ()
    return places


def _product_of_patches(b: Emitter, x: Value, w: Value, window: Window, places: tuple[int, ...]) -> Value:
    """`conv(x, w)[n, o, …] = sum over t, c of w[o, c, t] * patches[n, t, c, …]`, a patch being `x` moved by the place of t in the window."""
    axes = tuple(range(2, x.rank))
    patches: list[Value] = []
    for taps in product(*map(range, window.kernel)):
        begin = tuple(tap * step for tap, step in zip(taps, window.dilations, strict=True))
        last = ((count - 1) * step for count, step in zip(places, window.strides, strict=True))
        end = tuple(first + reach + 1 for first, reach in zip(begin, last, strict=True))
        whole = places == x.shape[2:]
        patches.append(
            x if whole else b.strided_slice(x, axes=axes, begin=begin, end=end, strides=window.strides)
        )
    columns = patches[0] if len(patches) == 1 else b.concat(*patches, axis=1)
    outputs, terms = w.shape[0], columns.shape[1]
    assert outputs is not None and terms is not None
    columns = b.reshape(columns, shape=(-1, terms, prod(places)))
    order = (0, *axes, 1)
    known = w.known
    if known is None:
        rows = b.reshape(b.permute_dims(w, axes=order), shape=(outputs, terms))
    else:
        rows = KnownValue(known.transpose(order).reshape(outputs, terms), getattr(w, "key", "constant"))
    return b.reshape(b.matmul(rows, columns, out_dtype="i32"), shape=(-1, outputs, *places))


def _per_channel(b: Emitter, value: Value, x: Value) -> Value:
    """A scalar, or a vector with an element per channel, in a shape that broadcasts against images."""
    return value if value.rank == 0 else in_shape(b, value, (-1, *(1,) * (x.rank - 2)))
