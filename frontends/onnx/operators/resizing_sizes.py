"""
Resizing along an axis whose extent, before or after, is computed at run time: what is a table elsewhere is ops here.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

import numpy as np

from ..emitting.forms import broadcast, counted, reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import Extent, Size, combined, extents_of, product, scalar
from ..errors import ConversionError
from ..value import Value
from .resizing_tables import Line, Sampling, taps_of

CENTRED: Final = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel")
"""Coordinates by which the centre of an image stays there."""


def scaled(size: Extent, scale: float) -> Extent:
    """`floor(size * scale)`."""
    if not isinstance(size, Size):
        return int(scale * size)
    ratio = Fraction(scale)
    return combined("divide", combined("multiply", size, ratio.numerator), ratio.denominator)


def repeated(b: GraphBuilder, x: Value, times: Mapping[int, int]) -> Value:
    """
    Repeats each element along these axes the given number of times, one after the other.

    All axes are repeated in one go, so that the layout passes see it.
    """
    spread: list[Extent] = []
    shape = list(extents_of(x))
    added: list[int] = []
    for axis, extent in enumerate(shape):
        spread.append(extent)
        if axis in times:
            added.append(len(spread))
            spread.append(times[axis])
            shape[axis] = product([extent, times[axis]])
    return reshaped(b, broadcast(b, b.expand_dims(x, axis=tuple(added)), spread), shape)


def along_unknown(b: GraphBuilder, x: Value, axis: int, line: Line, sampling: Sampling) -> Value:
    """Returns `x` resized along an axis. Raises `ConversionError` for what needs the sizes."""
    if sampling.coordinates == "tf_crop_and_resize":
        raise ConversionError("tf_crop_and_resize is asked for, expected the extents of the input to be known")
    if sampling.mode == "nearest":
        return b.take(x, _nearest(b, line, sampling), axis=axis)
    positions, weights = _table(b, line, sampling)
    return b.resample(x, positions, weights, axis=axis)


def times_of(line: Line, sampling: Sampling) -> int | None:
    """Returns how often each element stands there, if the nearest ones are a repetition whatever the size is."""
    if sampling.mode != "nearest":
        return None
    exact = sampling.coordinates == "asymmetric" and sampling.nearest == "floor"
    centred = sampling.coordinates in CENTRED and sampling.nearest.startswith("round")
    times = line.scale
    return int(times) if (exact or centred) and times is not None and times > 1 and times == int(times) else None


def _float(b: GraphBuilder, extent: Extent) -> Value:
    return b.astype(scalar(b, extent), dtype="f64")


def _places(b: GraphBuilder, line: Line, coordinates: str) -> Value:
    """Computes what `places_of` does for known sizes."""
    at = b.astype(counted(b, 0, line.wanted), dtype="f64")
    size, wanted = _float(b, line.size), _float(b, line.wanted)
    scale = b.divide(wanted, size) if line.scale is None else b.full((), line.scale, "f64")
    length = wanted if line.scale is None else b.multiply(size, scale)
    middle = b.divide(b.add(at, 0.5), scale)
    centred = b.subtract(middle, 0.5)
    match coordinates:
        case "align_corners":
            inner = b.divide(b.multiply(at, b.subtract(size, 1.0)), b.subtract(length, 1.0))
            return b.where(b.equal(length, 1.0), b.multiply(at, 0.0), inner)
        case "asymmetric":
            return b.divide(at, scale)
        case "tf_half_pixel_for_nn":
            return middle
        case "pytorch_half_pixel":
            return b.where(b.equal(length, 1.0), b.subtract(b.multiply(at, 0.0), 0.5), centred)
        case "half_pixel_symmetric":
            share = b.subtract(b.full((), 1.0, "f64"), b.divide(wanted, length))
            return b.add(b.multiply(b.multiply(size, 0.5), share), centred)
    return centred


def _nearest(b: GraphBuilder, line: Line, sampling: Sampling) -> Value:
    places = _places(b, line, sampling.coordinates)
    match sampling.nearest:
        case "round_prefer_floor":
            places = b.ceil(b.subtract(places, 0.5))
        case "round_prefer_ceil":
            places = b.floor(b.add(places, 0.5))
        case "floor":
            places = b.floor(places)
        case _:
            places = b.ceil(places)
    last = b.subtract(_float(b, line.size), 1.0)
    return b.astype(b.maximum(b.minimum(places, last), 0.0), dtype="i64")


def _table(b: GraphBuilder, line: Line, sampling: Sampling) -> tuple[Value, Value]:
    """Returns (positions, weights), as for known sizes. Positions outside are left to `graph.resample`."""
    if sampling.antialias and line.scale is None:
        raise ConversionError("antialias is set, expected scales, or sizes that are known")
    stretch = min(line.scale or 1.0, 1.0) if sampling.antialias else 1.0
    places = b.expand_dims(_places(b, line, sampling.coordinates), axis=(1,))
    taps = b.add(b.floor(places), b.constant(taps_of(sampling, stretch).astype(np.float64)[None, :]))
    distance = b.multiply(b.abs(b.subtract(taps, places)), stretch)
    weights = _linear(b, distance) if sampling.mode == "linear" else _cubic(b, distance, sampling.cubic)
    if not sampling.outside:
        inside = b.logical_and(b.greater_equal(taps, 0.0), b.less(taps, _float(b, line.size)))
        weights = b.multiply(weights, b.astype(inside, dtype="f64"))
    if sampling.antialias or not sampling.outside:
        total = b.sum(weights, axis=(1,), keepdims=True)
        weights = b.divide(weights, b.where(b.equal(total, 0.0), b.full((), 1.0, "f64"), total))
    return b.astype(taps, dtype="i64"), weights


def _linear(b: GraphBuilder, distance: Value) -> Value:
    return b.maximum(b.subtract(b.full((), 1.0, "f64"), distance), 0.0)


def _cubic(b: GraphBuilder, distance: Value, a: float) -> Value:
    """Computes what `resizing_tables.cubic` does for known sizes."""
    inner = b.subtract(b.multiply(distance, a + 2), a + 3)
    near = b.add(b.multiply(b.multiply(inner, distance), distance), 1.0)
    outer = b.add(b.multiply(b.subtract(distance, 5.0), distance), 8.0)
    far = b.subtract(b.multiply(b.multiply(outer, distance), a), 4 * a)
    nothing = b.multiply(distance, 0.0)
    return b.where(b.less_equal(distance, 1.0), near, b.where(b.less(distance, 2.0), far, nothing))
