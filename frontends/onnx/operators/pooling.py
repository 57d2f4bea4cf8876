"""Pooling over windows of 1, 2 and 3 spatial dimensions, on the two-dimensional ops of the graph dialect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from itertools import product
from math import inf, prod
from typing import Any

import numpy as np

from ....te.dtypes import numpy_dtype
from ..emitting.forms import filled, reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import Extent, chosen, combined, extents_of, vector
from ..emitting.sizes import product as product_of
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .windows import Window, window_of

MOST_PLANES = 8
"""The greatest extent of a window whose maxima of planes are written out."""

Ints = tuple[int, ...] | None


@converter("MaxPool")
def max_pool(
    b: GraphBuilder,
    x: Value,
    *,
    kernel_shape: tuple[int, ...],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Ints = None,
    pads: Ints = None,
    storage_order: int = 0,
    strides: Ints = None,
) -> Any:
    """
    Returns the maximum of each window, and its place in the flattened input.

    Of equal maxima it is the first one in the order of the window.
    """
    if ceil_mode and None in x.shape[2:] and b.output_count == 1:
        plain = pooling_window(x, kernel_shape, auto_pad, dilations, pads, strides, False)
        return over_windows(b, padded_up(b, x, plain, _lowest(x.dtype)), plain.bare(), b.max_pool2d)
    window = pooling_window(x, kernel_shape, auto_pad, dilations, pads, strides, bool(ceil_mode))
    if b.output_count > 1:
        return _max_and_places(b, x, window, bool(storage_order))
    if x.rank == 5 and x.shape[2] is not None and window.kernel[0] <= MOST_PLANES:
        x, window = _max_of_planes(b, x, x.shape[2], window), window.flat_in(0)
    return over_windows(b, x, window, b.max_pool2d)


@converter("AveragePool")
def average_pool(
    b: GraphBuilder,
    x: Value,
    *,
    kernel_shape: tuple[int, ...],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Ints = None,
    pads: Ints = None,
    strides: Ints = None,
) -> Value:
    """Averages each window. What `ceil_mode` adds at the end is never counted."""
    plain = pooling_window(x, kernel_shape, auto_pad, dilations, pads, strides, False)
    if ceil_mode and None in x.shape[2:]:
        return _average_of_open(b, x, plain, bool(count_include_pad))
    window = pooling_window(x, kernel_shape, auto_pad, dilations, pads, strides, bool(ceil_mode))
    if window == plain and (x.rank < 5 or not any((*window.before, *window.after))):
        return over_windows(b, x, window, b.avg_pool2d, count_include_pad=bool(count_include_pad))
    return b.divide(sum_pool(b, x, window), _counts(x, window, plain, bool(count_include_pad)))


@converter("LpPool")
def lp_pool(
    b: GraphBuilder,
    x: Value,
    *,
    kernel_shape: tuple[int, ...],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Ints = None,
    p: float = 2,
    pads: Ints = None,
    strides: Ints = None,
) -> Value:
    """`(sum |x|^p)^(1/p)` over each window."""
    if ceil_mode and None in x.shape[2:]:
        plain = pooling_window(x, kernel_shape, auto_pad, dilations, pads, strides, False)
        return root(b, sum_pool(b, padded_up(b, powered(b, x, p), plain, 0), plain.bare()), p)
    window = pooling_window(x, kernel_shape, auto_pad, dilations, pads, strides, bool(ceil_mode))
    return root(b, sum_pool(b, powered(b, x, p), window), p)


@converter("GlobalLpPool")
def global_lp_pool(b: GraphBuilder, x: Value, *, p: float = 2) -> Value:
    return root(b, b.sum(powered(b, x, p), axis=tuple(range(2, x.rank)), keepdims=True), p)


def powered(b: GraphBuilder, x: Value, p: float) -> Value:
    """`|x|^p`. Raises `ConversionError` unless `p` is a number above 0."""
    if not 0 < p < inf:
        raise ConversionError(f"p is {p:g}, expected a number above 0")
    if p == 1:
        return b.abs(x)
    return b.square(x) if p == 2 else b.power(b.abs(x), float(p))


def root(b: GraphBuilder, x: Value, p: float) -> Value:
    """`x^(1/p)`."""
    if p == 1:
        return x
    return b.sqrt(x) if p == 2 else b.power(x, 1 / p)


# Windows


def pooling_window(
    x: Value,
    kernel: tuple[int, ...],
    auto_pad: str,
    dilations: Ints,
    pads: Ints,
    strides: Ints,
    ceil: bool,
) -> Window:
    """
    Returns the window of a pooling operator. With `ceil` the padding at the end lets the last, partial windows in.
    """
    window = window_of(x, (), auto_pad, dilations, kernel, pads, strides)
    if not ceil:
        return window
    after = list(window.after)
    for number, size in enumerate(x.shape[2:]):
        if size is None:
            raise ConversionError(f"the input is {x.shaped}, expected its extents to be known for ceil_mode")
        reach, stride, before = window.reach(number), window.strides[number], window.before[number]
        padded = size + before + window.after[number]
        count = -(-(padded - reach) // stride) + 1
        if (count - 1) * stride >= size + before:  # a window may not start in the padding at the end
            count -= 1
        after[number] = max(after[number], (count - 1) * stride + reach - size - before)
    return replace(window, after=tuple(after))


def padded_up(b: GraphBuilder, x: Value, plain: Window, value: float) -> Value:
    """
    `x` with the padding of `plain` and the rest that `ceil_mode` adds, where the extents of the image are not all
    known.
    """
    pairs: list[Extent] = [0] * 4
    for number, size in enumerate(extents_of(x)[2:]):
        before, after, stride = plain.before[number], plain.after[number], plain.strides[number]
        reach = plain.reach(number)
        free = combined("subtract", combined("add", size, before + after), reach)
        turns = combined("divide", combined("add", free, stride - 1), stride)
        start = combined("multiply", turns, stride)
        late = combined("greater_equal", start, combined("add", size, before))
        start = chosen(late, combined("subtract", start, stride), start)
        needed = combined("subtract", combined("add", start, reach - before), size)
        pairs += [before, combined("maximum", needed, after)]
    return b.dynamic_pad(x, vector(b, pairs), value=value)


def _average_of_open(b: GraphBuilder, x: Value, plain: Window, with_padding: bool) -> Value:
    """
    The average with `ceil_mode` of an image whose extents are not all known: a sum over the number of elements that
    count.
    """
    ones = filled(b, [1, 1, *extents_of(x)[2:]], 1.0, x.dtype)
    rest = plain
    if with_padding and any((*plain.before, *plain.after)):
        widths = (0, 0, 0, 0, *(w for pair in zip(plain.before, plain.after, strict=True) for w in pair))
        ones = b.pad(ones, pad_width=widths, value=1.0)
        rest = plain.bare()
    total = sum_pool(b, padded_up(b, x, plain, 0.0), plain.bare())
    return b.divide(total, sum_pool(b, padded_up(b, ones, rest, 0.0), plain.bare()))


def over_windows(b: GraphBuilder, x: Value, window: Window, op: Callable[..., Value], **properties: Any) -> Value:
    """Applies a separable pooling op to the windows of an input of rank 3, 4 or 5."""

    def pool(images: Value, part: Window) -> Value:
        return op(
            images,
            pool_size=part.kernel,
            strides=part.strides,
            padding=(*part.before, *part.after),
            dilation=part.dilations,
            **properties,
        )

    if x.rank == 3:
        return b.squeeze(pool(b.expand_dims(x, axis=(2,)), window.flat()), axis=(2,))
    if x.rank == 4:
        return pool(x, window)
    if x.rank != 5:
        raise ConversionError(f"the input is {x.shaped}, expected rank 3, 4 or 5")
    batch, channels, depth, height, width = extents_of(x)
    planes = pool(reshaped(b, x, [batch, product_of([channels, depth]), height, width]), window.part(1, 3))
    high, wide = extents_of(planes)[2:]
    if window == window.flat_in(0):
        return reshaped(b, planes, [batch, channels, depth, high, wide])
    rows = reshaped(b, planes, [batch, channels, depth, product_of([high, wide])])
    columns = pool(rows, window.part(0, 1).tall())
    return reshaped(b, columns, [batch, channels, extents_of(columns)[2], high, wide])


def _max_of_planes(b: GraphBuilder, x: Value, depth: int, window: Window) -> Value:
    """
    The greatest elements of each window along its first dimension: maxima of whole planes, which are long rows. The
    other dimensions have less to do then.
    """
    before, after, reach = window.before[0], window.after[0], window.reach(0)
    if before or after:
        x = b.pad(x, pad_width=(0, 0, 0, 0, before, after, 0, 0, 0, 0), value=_lowest(x.dtype))
    last = depth + before + after - reach + 1
    planes = [
        b.strided_slice(x, axes=(2,), begin=(tap,), end=(tap + last,), strides=(window.strides[0],))
        for tap in range(0, reach, window.dilations[0])
    ]
    return reduce(b.maximum, planes)


def sum_pool(b: GraphBuilder, x: Value, window: Window) -> Value:
    """Returns the sum of each window. Padding is zero."""
    mean = over_windows(b, x, window, b.avg_pool2d, count_include_pad=True)
    return b.multiply(mean, float(prod(window.kernel)))


def _counts(x: Value, window: Window, plain: Window, with_padding: bool) -> Any:
    """Counts the elements of each window that are in the input or, with `with_padding`, in the declared padding."""
    result = np.ones((), np.float64)
    for number, size in enumerate(x.shape[2:]):
        assert size is not None
        first = -plain.before[number] if with_padding else 0
        last = size + plain.after[number] if with_padding else size
        starts = np.arange(window.count(number, size)) * window.strides[number] - window.before[number]
        taps = starts[:, None] + np.arange(window.kernel[number]) * window.dilations[number]
        result = result[..., None] * ((taps >= first) & (taps < last)).sum(axis=1)
    return result.astype(numpy_dtype(x.dtype))


def _max_and_places(b: GraphBuilder, x: Value, window: Window, columns_first: bool) -> tuple[Value, Value]:
    """Computes maxima and their places tap by tap, from strided slices of the padded input and known places."""
    shape = b.static_shape(x, "the input")
    spatial = shape[2:]
    lowest = _lowest(x.dtype)
    widths = (0, 0, 0, 0, *(w for pair in zip(window.before, window.after, strict=True) for w in pair))
    padded = b.pad(x, pad_width=widths, value=lowest) if any(widths) else x
    counts = [window.count(number, size) for number, size in enumerate(spatial)]
    image = np.arange(prod(spatial), dtype=np.int64)
    places = image.reshape(spatial, order="F" if columns_first else "C")
    places = np.pad(places, list(zip(window.before, window.after, strict=True)), constant_values=-1)
    axes = tuple(range(2, x.rank))
    best: Value | None = None
    where: Any = None
    for tap in product(*map(range, window.kernel)):
        begin = tuple(t * d for t, d in zip(tap, window.dilations, strict=True))
        end = tuple(s + (c - 1) * step + 1 for s, c, step in zip(begin, counts, window.strides, strict=True))
        value = b.strided_slice(padded, axes=axes, begin=begin, end=end, strides=window.strides)
        cut = tuple(slice(s, e, step) for s, e, step in zip(begin, end, window.strides, strict=True))
        place = np.ascontiguousarray(places[cut])
        if best is None:
            best, where = value, b.broadcast_to(b.constant(place), shape=(*shape[:2], *counts))
            continue
        better = b.logical_or(b.greater(value, best), b.less(where, np.int64(0)))
        better = b.logical_and(better, b.constant(place >= 0))
        where = b.where(better, b.constant(place), where)
        best = b.where(better, value, best)
    assert best is not None
    offsets = np.arange(prod(shape[:2]), dtype=np.int64).reshape(*shape[:2], *(1,) * len(spatial))
    return best, b.add(where, b.constant(offsets * prod(spatial)))


def _lowest(dtype: str) -> float | int:
    kind = numpy_dtype(dtype)
    return -np.inf if kind.kind in "fV" else int(np.iinfo(kind).min)
