"""
Resize and Upsample: per axis a table of which elements each element of the result is made of, and how much of each.
"""

from __future__ import annotations

from math import inf
from typing import Any, Final

import numpy as np

from ....te.dtypes import numpy_dtype
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import Extent, Size, extents_of
from ..errors import ConversionError
from ..registry import Known, converter
from ..value import Value
from .dynamic import entries
from .movement import ints
from .resizing_sizes import along_unknown, repeated, scaled, times_of
from .resizing_tables import Line, Sampling, is_repetition, nearest_indices, places_of, table_of

MOST_PLACES: Final = 2**31
"""The most elements of an axis after resizing. There is a table of where each of them comes from."""


@converter("Resize", since=18)
def resize(
    b: GraphBuilder,
    x: Value,
    roi: Known | None = None,
    scales: Known | None = None,
    sizes: Known | None = None,
    *,
    antialias: int = 0,
    axes: tuple[int, ...] | None = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Value:
    """Resizes an image, or any tensor, along some axes."""
    sampling = Sampling(
        mode,
        coordinate_transformation_mode,
        nearest_mode,
        cubic_coeff_a,
        not exclude_outside,
        bool(antialias),
        extrapolation_value,
    )
    factors = _scales(scales)
    extents = None if sizes is None or not _numbers(sizes) else ints(sizes)
    if (extents is None) == (not factors):
        raise ConversionError("scales and sizes are both given or both missing, expected one of them")
    crops = _numbers(roi) if coordinate_transformation_mode == "tf_crop_and_resize" else ()
    along = tuple(range(x.rank)) if axes is None else tuple(axis % x.rank for axis in axes)
    if len(extents or factors) != len(along) or len(crops) not in (0, 2 * len(along)):
        raise ConversionError(f"roi, scales or sizes do not have one entry for each of {len(along)} axes")
    shared = _shared_scale(x, along, extents, keep_aspect_ratio_policy)
    lines: dict[int, Line] = {}
    for number, axis in enumerate(along):
        crop = (crops[number], crops[number + len(along)]) if crops else None
        if factors and factors[number] == 1 and crop in (None, (0.0, 1.0)):
            continue
        size = extents_of(x)[axis]
        if extents is None:
            lines[axis] = Line(size, scaled(size, factors[number]), factors[number], crop)
        elif shared is not None and not isinstance(size, Size):
            lines[axis] = Line(size, int(shared * size + 0.5), shared, crop)
        else:
            lines[axis] = _stretched(size, extents[number], crop)
    return resized(b, x, lines, sampling)


def _stretched(size: Extent, wanted: Extent, crop: tuple[float, float] | None = None) -> Line:
    if isinstance(size, Size) or isinstance(wanted, Size):
        return Line(size, wanted, None, crop)
    return Line(size, wanted, wanted / size if size else 1.0, crop)


@converter("Resize", since=11, at_run_time=True)
def resize_to_sizes(
    b: GraphBuilder,
    x: Value,
    roi: Known | None = None,
    scales: Known | None = None,
    sizes: Value | None = None,
    *,
    antialias: int = 0,
    axes: tuple[int, ...] | None = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Value:
    """Resizes to sizes that are computed from shapes."""
    if sizes is None or _numbers(scales) or keep_aspect_ratio_policy != "stretch":
        raise ConversionError("sizes are computed at run time, expected no scales and keep_aspect_ratio_policy stretch")
    sampling = Sampling(
        mode, coordinate_transformation_mode, nearest_mode, cubic_coeff_a, not exclude_outside, bool(antialias)
    )
    along = tuple(range(x.rank)) if axes is None else tuple(axis % x.rank for axis in axes)
    source, lines = extents_of(x), dict[int, Line]()
    for axis, wanted in zip(along, entries(sizes, "sizes"), strict=True):
        if wanted != source[axis]:
            lines[axis] = _stretched(source[axis], wanted)
    return resized(b, x, lines, sampling)


@converter("Resize", since=11)
def resize_11(
    b: GraphBuilder,
    x: Value,
    roi: Known | None = None,
    scales: Known | None = None,
    sizes: Known | None = None,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Value:
    """Resizes without axes and filters."""
    return resize(
        b,
        x,
        roi,
        scales,
        sizes,
        coordinate_transformation_mode=coordinate_transformation_mode,
        cubic_coeff_a=cubic_coeff_a,
        exclude_outside=exclude_outside,
        extrapolation_value=extrapolation_value,
        mode=mode,
        nearest_mode=nearest_mode,
    )


@converter("Resize", since=10)
@converter("Upsample", since=9)
def upsample(b: GraphBuilder, x: Value, scales: Known, *, mode: str = "nearest") -> Value:
    """Resizes as the first versions do: `place = i / scale`, and the nearest element is the one before."""
    return _upsampled(b, x, _scales(scales), mode)


@converter("Upsample", since=7)
def upsample_by_attribute(b: GraphBuilder, x: Value, *, scales: tuple[float, ...], mode: str = "nearest") -> Value:
    return _upsampled(b, x, _scales(np.array(scales)), mode)


def _upsampled(b: GraphBuilder, x: Value, scales: tuple[float, ...], mode: str) -> Value:
    if len(scales) != x.rank:
        raise ConversionError(f"scales are {list(scales)}, expected {x.rank}")
    lines: dict[int, Line] = {}
    for axis, (size, scale) in enumerate(zip(extents_of(x), scales, strict=True)):
        if scale != 1:
            lines[axis] = Line(size, scaled(size, scale), scale)
    return resized(b, x, lines, Sampling(mode, "asymmetric", "floor"))


def _numbers(array: Any) -> tuple[float, ...]:
    return () if array is None else tuple(float(each) for each in array.reshape(-1))


def _scales(array: Any) -> tuple[float, ...]:
    """Returns scales. Raises `ConversionError` for one that is not above 0, or not finite."""
    found = _numbers(array)
    if any(not 0 < scale < inf for scale in found):
        raise ConversionError(f"scales are {list(found)}, expected finite numbers above 0")
    return found


def _shared_scale(x: Value, along: tuple[int, ...], sizes: tuple[int, ...] | None, policy: str) -> float | None:
    """Returns the scale of all axes, if their ratio is kept."""
    if policy not in ("stretch", "not_larger", "not_smaller"):
        raise ConversionError(f"keep_aspect_ratio_policy is '{policy}', expected stretch, not_larger or not_smaller")
    if sizes is None or policy == "stretch":
        return None
    ratios: list[float] = []
    for axis, wanted in zip(along, sizes, strict=True):
        size = x.shape[axis]
        if not size:
            raise ConversionError(f"the input is {x.shaped}, expected extent {axis} to be known and not 0")
        ratios.append(wanted / size)
    return min(ratios) if policy == "not_larger" else max(ratios)


# One axis after the other


def resized(b: GraphBuilder, x: Value, lines: dict[int, Line], sampling: Sampling) -> Value:
    """Returns `x` with other extents along the axes of `lines`. Integers are rounded to the nearest at the end."""
    sampling.check()
    for axis, line in lines.items():
        if (line.scale or 1) <= 0 or (line.size == 0 and line.wanted):
            raise ConversionError(f"axis {axis} of {line.size} elements has the scale {line.scale}")
        if not isinstance(line.wanted, Size) and line.wanted > MOST_PLACES:
            raise ConversionError(f"axis {axis} would have {line.wanted:.6g} elements, expected at most 2^31")
    dtype = x.dtype
    if sampling.mode != "nearest" and not dtype.startswith(("f", "b")):
        x = b.astype(x, dtype="f32" if dtype in ("i8", "ui8", "i16", "ui16") else "f64")
    missing: list[tuple[int, Any]] = []
    times: dict[int, int] = {}
    """How often the elements of an axis are repeated."""
    for axis in sorted(lines, key=lambda axis: _order(axis, lines[axis])):
        known = lines[axis].known
        if known is None:
            count = times_of(lines[axis], sampling)
            if count is None:
                x = along_unknown(b, x, axis, lines[axis], sampling)
            else:
                times[axis] = count
            continue
        places = places_of(*known, lines[axis].crop, sampling.coordinates)
        if sampling.coordinates == "tf_crop_and_resize":
            missing.append((axis, (places < 0) | (places > known[0] - 1)))
        if sampling.mode == "nearest":
            indices = nearest_indices(places, known[0], sampling.nearest)
            if is_repetition(indices, known[0]):
                times[axis] = len(indices) // known[0]
            else:
                x = picked(b, x, axis, indices)
        else:
            x = _weighed(b, x, axis, *table_of(places, known[0], known[2], sampling))
    x = repeated(b, x, times) if times else x
    for axis, mask in missing:
        if mask.any():
            shape = [1] * x.rank
            shape[axis] = -1
            fill = np.asarray(sampling.extrapolation)
            x = b.where(b.constant(mask.reshape(shape)), _typed(fill, x.dtype), x)
    return b.astype(b.round(x), dtype=dtype) if x.dtype != dtype else x


def _order(axis: int, line: Line) -> tuple[float, int]:
    """
    Returns where an axis comes: what shrinks is first. Of axes that grow alike the last one is first, since its
    elements are picked one by one where those of the others are read in rows.
    """
    known = line.known
    growth = (line.scale or 1.0) if known is None else known[1] / max(known[0], 1)
    return growth, -axis if growth > 1 else axis


def _typed(array: Any, dtype: str) -> Any:
    return array.astype(numpy_dtype(dtype))


def picked(b: GraphBuilder, x: Value, axis: int, indices: Any) -> Value:
    """Returns the elements at known indices of an axis, by a repetition, a slice with a stride, or a gather."""
    size, count = x.shape[axis], len(indices)
    if size == count and (indices == np.arange(count)).all():
        return x
    if size and is_repetition(indices, size):
        return repeated(b, x, {axis: count // size})
    steps = np.unique(np.diff(indices))
    if len(steps) == 1 and steps[0] > 0:
        end = int(indices[-1]) + 1
        return b.strided_slice(x, axes=(axis,), begin=(int(indices[0]),), end=(end,), strides=(int(steps[0]),))
    return b.take(x, b.constant(indices), axis=axis)


def _weighed(b: GraphBuilder, x: Value, axis: int, positions: Any, weights: Any) -> Value:
    """Weighted sums of elements of an axis."""
    if positions.shape[1] == 1 and (weights == 1).all():
        return picked(b, x, axis, positions[:, 0])
    dtype = np.float64 if x.dtype == "f64" else np.float32
    return b.resample(x, b.constant(positions), b.constant(weights.astype(dtype)), axis=axis)
