"""Operators that read images between their pixels, or in regions that are computed."""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from ....te.dtypes import is_small_float, numpy_dtype
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of, vector
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .regions import is_pooled, mean_of_regions, pooled
from .windows import window_of

Ints = tuple[int, ...] | None

MODES: Final = {
    "bilinear": "linear",
    "linear": "linear",
    "bicubic": "cubic",
    "cubic": "cubic",
    "nearest": "nearest",
}
"""Names of interpolations before and since version 20."""


@converter("GridSample")
def grid_sample(
    b: GraphBuilder,
    x: Value,
    grid: Value,
    *,
    align_corners: int = 0,
    mode: str = "linear",
    padding_mode: str = "zeros",
) -> Value:
    """
    Images at points, the last dimension first, where -1 and 1 are the borders, or the centres of the elements there.
    """
    if mode not in MODES:
        raise ConversionError(f"mode is '{mode}', expected linear, nearest or cubic")
    paddings = {"zeros": "zeros", "border": "edge", "reflection": "reflect" if align_corners else "symmetric"}
    if padding_mode not in paddings:
        raise ConversionError(f"padding_mode is '{padding_mode}', expected zeros, border or reflection")
    if not x.dtype.startswith(("f", "bf")):
        raise ConversionError(f"the input is {x.shaped}, expected floats")
    backwards = b.strided_slice(_wide(b, grid), axes=(-1,), begin=(-1,), end=(1 - x.rank,), strides=(-1,))
    shifted, sizes = b.add(backwards, 1), _spatial(b, x, backwards.dtype)
    last = b.subtract(sizes, 1)
    if align_corners:
        points = b.multiply(b.multiply(shifted, 0.5), last)
    else:
        points = b.multiply(b.subtract(b.multiply(shifted, sizes), 1), 0.5)
    if padding_mode == "border" and MODES[mode] == "cubic":
        margin = 0.0 if align_corners else 0.5
        inside = b.minimum(b.maximum(points, 0), last)
        outside = b.logical_or(b.less(points, -margin), b.greater(points, b.add(last, margin)))
        points = b.where(outside, inside, points)
    return b.sample(x, points, mode=MODES[mode], padding=paddings[padding_mode])


@converter("GridSample", domain="com.microsoft")
def grid_sample_of_images(
    b: GraphBuilder,
    x: Value,
    grid: Value,
    *,
    align_corners: int = 0,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
) -> Value:
    """The same of images with two dimensions, by the names that ONNX had before. Source: ContribOperators."""
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ConversionError(f"mode is '{mode}', expected bilinear, nearest or bicubic")
    if x.rank != 4:
        raise ConversionError(f"the input is {x.shaped}, expected rank 4")
    return grid_sample(b, x, grid, align_corners=align_corners, mode=mode, padding_mode=padding_mode)


def _spatial(b: GraphBuilder, x: Value, dtype: str) -> Value:
    """The extents of an image as a vector of floats."""
    sizes = vector(b, extents_of(x)[2:])
    return b.astype(sizes, dtype=dtype) if sizes.known is None else b.constant(sizes.known.astype(numpy_dtype(dtype)))


def _wide(b: GraphBuilder, x: Value) -> Value:
    """Casts to at least f32."""
    return b.astype(x, dtype="f32") if is_small_float(x.dtype) else x


def _like(array: Any, value: Value) -> Any:
    return array.astype(numpy_dtype(value.dtype))


@converter("DeformConv")
def deform_conv(
    b: GraphBuilder,
    x: Value,
    w: Value,
    offset: Value,
    bias: Value | None = None,
    mask: Value | None = None,
    *,
    dilations: Ints = None,
    group: int = 1,
    kernel_shape: Ints = None,
    offset_group: int = 1,
    pads: Ints = None,
    strides: Ints = None,
) -> Value:
    """
    A convolution whose taps are moved by `offset` and weighed by `mask`, each its own for every place: a product of the
    filter and the samples.

    Source: X. Zhu et al., "Deformable ConvNets v2: More Deformable, Better Results", CVPR 2019.
    """
    window = window_of(x, w.shape[2:], "NOTSET", dilations, kernel_shape, pads, strides)
    batch, channels, *extents = b.static_shape(x, "the input")
    outputs, inputs, *kernel = b.static_shape(w, "the filter")
    rank, taps = len(extents), prod(kernel)
    places = [window.count(number, size) for number, size in enumerate(extents)]
    if group < 1 or outputs % group or channels != inputs * group:
        raise ConversionError(f"{channels} channels and the filter {w.shaped} do not divide into {group} groups")
    if offset_group < 1 or channels % offset_group:
        raise ConversionError(f"{channels} channels do not divide into {offset_group} groups of offsets")
    if offset.shape != (batch, offset_group * taps * rank, *places):
        wanted = [batch, offset_group * taps * rank, *places]
        raise ConversionError(f"offset is {offset.shaped}, expected the extents {wanted}")
    lines = [
        np.arange(kernel[d])[:, None] * window.dilations[d]
        + np.arange(places[d])[None, :] * window.strides[d]
        - window.before[d]
        for d in range(rank)
    ]
    base = np.zeros((*kernel, *places, rank), np.float32)
    for d, line in enumerate(lines):
        shape = [1] * (2 * rank)
        shape[d], shape[rank + d] = kernel[d], places[d]
        base[..., d] = line.reshape(shape)
    images = b.reshape(x, shape=(batch * offset_group, channels // offset_group, *extents))
    moved = b.reshape(_wide(b, offset), shape=(batch * offset_group, taps, rank, *places))
    moved = b.permute_dims(moved, axes=(0, 1, *range(3, 3 + rank), 2))
    points = b.add(moved, _like(base.reshape(taps, *places, rank), moved))
    samples = b.sample(images, points)
    if mask is not None:
        samples = b.multiply(samples, b.reshape(mask, shape=(batch * offset_group, 1, taps, *places)))
    columns = b.reshape(samples, shape=(batch, group, inputs * taps, prod(places)))
    rows = b.reshape(w, shape=(group, outputs // group, inputs * taps))
    result = b.reshape(b.matmul(rows, columns), shape=(batch, outputs, *places))
    return result if bias is None else b.add(result, b.reshape(bias, shape=(-1, *(1,) * rank)))


# Regions


@converter("RoiAlign", since=16)
def roi_align(
    b: GraphBuilder,
    x: Value,
    rois: Value,
    images: Value,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Value:
    """
    Returns the mean, or maximum, of samples in the cells of regions `(x1, y1, x2, y2)`.

    The maximum is that of the four weighed neighbours of each sample, as the specification has it.

    Source: K. He et al., "Mask R-CNN", ICCV 2017.
    """
    if mode not in ("avg", "max") or coordinate_transformation_mode not in (
        "half_pixel",
        "output_half_pixel",
    ):
        raise ConversionError(
            f"mode is '{mode}' and coordinate_transformation_mode '{coordinate_transformation_mode}', "
            "expected avg or max, and half_pixel or output_half_pixel"
        )
    if sampling_ratio < 0 or (sampling_ratio == 0 and mode == "max"):
        hint = "with 0 the number of samples depends on the regions"
        raise ConversionError(f"sampling_ratio is {sampling_ratio}, expected at least 1, or 0 with mode avg", hint)
    channels, height, width = (b.extent(x, axis, "the input") for axis in (1, 2, 3))
    half = coordinate_transformation_mode == "half_pixel"
    scaled = b.multiply(_wide(b, rois), float(spatial_scale))
    scaled = b.subtract(scaled, 0.5) if half else scaled
    if sampling_ratio == 0:
        return mean_of_regions(b, x, scaled, images, (output_height, output_width), half)
    rows = _neighbours(b, scaled, 1, height, output_height, sampling_ratio, half)
    columns = _neighbours(b, scaled, 0, width, output_width, sampling_ratio, half)
    flat = b.reshape(b.permute_dims(x, axes=(0, 2, 3, 1)), shape=(-1, channels))
    first = b.reshape(b.multiply(b.astype(images, dtype="i64"), height * width), shape=(-1, 1, 1))
    terms: list[Value] = []
    for row, row_weight in rows:
        for column, column_weight in columns:
            line = b.multiply(b.expand_dims(row, axis=(2,)), width)
            place = b.add(first, b.add(line, b.expand_dims(column, axis=(1,))))
            weight = b.multiply(b.expand_dims(row_weight, axis=(2,)), b.expand_dims(column_weight, axis=(1,)))
            weight = b.expand_dims(weight, axis=(3,))
            value = b.take(flat, place, axis=0)
            terms.append(b.multiply(value, b.astype(weight, dtype=x.dtype)))
    combine, reduce = (b.add, b.mean) if mode == "avg" else (b.maximum, b.max)
    total = combine(combine(terms[0], terms[1]), combine(terms[2], terms[3]))
    cells = (-1, output_height, sampling_ratio, output_width, sampling_ratio, channels)
    pooled = reduce(b.reshape(total, shape=cells), axis=(2, 4))
    return b.permute_dims(pooled, axes=(0, 3, 1, 2))


@converter("RoiAlign", since=10)
def roi_align_10(
    b: GraphBuilder,
    x: Value,
    rois: Value,
    images: Value,
    *,
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Value:
    """Coordinates are those of the corners of pixels."""
    return roi_align(
        b,
        x,
        rois,
        images,
        coordinate_transformation_mode="output_half_pixel",
        mode=mode,
        output_height=output_height,
        output_width=output_width,
        sampling_ratio=sampling_ratio,
        spatial_scale=spatial_scale,
    )


def _neighbours(
    b: GraphBuilder, rois: Value, number: int, size: int, cells: int, ratio: int, half: bool
) -> list[tuple[Value, Value]]:
    """(index, weight) of the two neighbours, along a dimension of `size`, of each sample of each region."""
    start = b.strided_slice(rois, axes=(1,), begin=(number,), end=(number + 1,))
    end = b.strided_slice(rois, axes=(1,), begin=(number + 2,), end=(number + 3,))
    extent = b.subtract(end, start)
    extent = extent if half else b.maximum(extent, 1)
    steps = (np.arange(cells * ratio) + 0.5) / (cells * ratio)
    place = b.add(start, b.multiply(extent, _like(steps[None, :], rois)))
    counts = b.logical_and(b.greater_equal(place, -1), b.less_equal(place, size))
    place = b.minimum(b.maximum(place, 0), size - 1)
    low = b.floor(place)
    share = b.subtract(place, low)
    inside = b.astype(counts, dtype=rois.dtype)
    high = b.minimum(b.add(low, 1), size - 1)
    pairs = ((low, b.add(b.negative(share), 1)), (high, share))
    return [(b.astype(index, dtype="i64"), b.multiply(weight, inside)) for index, weight in pairs]


@converter("MaxRoiPool")
def max_roi_pool(
    b: GraphBuilder, x: Value, rois: Value, *, pooled_shape: tuple[int, ...], spatial_scale: float = 1.0
) -> Value:
    """
    Returns the maximum of each cell of regions `(image, x1, y1, x2, y2)`, whose corners are rounded to pixels.

    An empty cell gives 0.

    Source: R. Girshick, "Fast R-CNN", ICCV 2015.
    """
    height, width = (b.extent(x, axis, "the input") for axis in (2, 3))
    regions = _wide(b, rois)
    number = b.astype(b.strided_slice(regions, axes=(1,), begin=(0,), end=(1,)), dtype="i64")
    image = b.squeeze(number, axis=(1,))
    corners = b.multiply(b.strided_slice(regions, axes=(1,), begin=(1,), end=(5,)), float(spatial_scale))
    corners = b.multiply(b.sign(corners), b.floor(b.add(b.abs(corners), 0.5)))
    rows = _cells(b, corners, 1, height, pooled_shape[0])
    columns = _cells(b, corners, 0, width, pooled_shape[1])
    if is_pooled(x, rows, columns, image):
        return pooled(b, x, image, (b.astype(rows, dtype=x.dtype), b.astype(columns, dtype=x.dtype)), "max")
    images, lowest = b.take(x, image, axis=0), float("-inf")
    tall = b.where(b.expand_dims(rows, axis=(1, 4)), b.expand_dims(images, axis=(2,)), _filled(lowest, x))
    lines = b.max(tall, axis=(3,))
    wide = b.where(b.expand_dims(columns, axis=(1, 2)), b.expand_dims(lines, axis=(3,)), _filled(lowest, x))
    filled = b.logical_and(
        b.expand_dims(b.any(rows, axis=(2,)), axis=(1, 3)), b.expand_dims(b.any(columns, axis=(2,)), axis=(1, 2))
    )
    return b.where(filled, b.max(wide, axis=(4,)), _filled(0.0, x))


def _filled(value: float, like: Value) -> Any:
    return _like(np.asarray(value), like)


def _cells(b: GraphBuilder, corners: Value, number: int, size: int, cells: int) -> Value:
    """Returns which of `size` pixels of a dimension are in each of the cells of each region."""
    start = b.strided_slice(corners, axes=(1,), begin=(number,), end=(number + 1,))
    end = b.strided_slice(corners, axes=(1,), begin=(number + 2,), end=(number + 3,))
    extent = b.divide(b.maximum(b.add(b.subtract(end, start), 1), 1), float(cells))
    first = b.add(b.floor(b.multiply(extent, _like(np.arange(cells)[None, :], corners))), start)
    last = b.add(b.ceil(b.multiply(extent, _like(np.arange(1, cells + 1)[None, :], corners))), start)
    pixels = _like(np.arange(size).reshape(1, 1, size), corners)
    after = b.less_equal(b.expand_dims(first, axis=(2,)), pixels)
    return b.logical_and(after, b.greater(b.expand_dims(last, axis=(2,)), pixels))
