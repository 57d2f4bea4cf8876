"""Operators that rearrange images: blocks of pixels and channels, crops, windows that overlap, grids of coordinates."""

from __future__ import annotations

from functools import reduce
from math import prod
from typing import Any

import numpy as np

from ....te.dtypes import numpy_dtype
from ..emitting.forms import reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import Extent, Size, combined, extents_of, product
from ..errors import ConversionError
from ..registry import Known, converter
from ..value import Value
from .movement import ints, pad_constant

Ints = tuple[int, ...] | None

MOST_TAPS = 16
"""The most taps of a window whose sums are written out."""


@converter("DepthToSpace")
def depth_to_space(b: GraphBuilder, x: Value, *, blocksize: int, mode: str = "DCR") -> Value:
    """Turns channels into blocks of pixels. The channels of a block lie together (`CRD`) or apart."""
    batch, channels, height, width = _image(x)
    if isinstance(channels, Size) or blocksize < 1 or channels % blocksize**2:
        raise ConversionError(f"{channels} channels do not divide into blocks of {blocksize} by {blocksize}")
    depth, block = channels // blocksize**2, (blocksize, blocksize)
    if _blocks_first(mode):
        x = reshaped(b, x, [batch, *block, depth, height, width])
        x = b.permute_dims(x, axes=(0, 3, 4, 1, 5, 2))
    else:
        x = reshaped(b, x, [batch, depth, *block, height, width])
        x = b.permute_dims(x, axes=(0, 1, 4, 2, 5, 3))
    return reshaped(b, x, [batch, depth, product([height, blocksize]), product([width, blocksize])])


@converter("SpaceToDepth")
def space_to_depth(b: GraphBuilder, x: Value, *, blocksize: int, mode: str = "DCR") -> Value:
    """The inverse of `DepthToSpace`."""
    batch, channels, height, width = _image(x)
    known = [each for each in (height, width) if not isinstance(each, Size)]
    if blocksize < 1 or any(each % blocksize for each in known):
        raise ConversionError(f"{height} by {width} pixels do not divide into blocks of {blocksize}")
    high, wide = combined("divide", height, blocksize), combined("divide", width, blocksize)
    x = reshaped(b, x, [batch, channels, high, blocksize, wide, blocksize])
    x = b.permute_dims(x, axes=(0, 3, 5, 1, 2, 4) if _blocks_first(mode) else (0, 1, 3, 5, 2, 4))
    return reshaped(b, x, [batch, product([channels, blocksize**2]), high, wide])


def _image(x: Value) -> tuple[Extent, ...]:
    """The extents of an image."""
    if x.rank != 4:
        raise ConversionError(f"the input is {x.shaped}, expected rank 4")
    return extents_of(x)


def _blocks_first(mode: str) -> bool:
    if mode not in ("DCR", "CRD"):
        raise ConversionError(f"mode is '{mode}', expected DCR or CRD")
    return mode == "DCR"


@converter("CenterCropPad")
def center_crop_pad(b: GraphBuilder, x: Value, shape: Known, *, axes: Ints = None) -> Value:
    """Cuts or pads with zeros to a shape, as much at either end. An odd element falls at the end."""
    wanted = ints(shape)
    along = tuple(range(x.rank)) if axes is None else axes
    if len(along) != len(wanted):
        raise ConversionError(f"the shape is {list(wanted)}, expected {len(along)} extents")
    before, after = [0] * x.rank, [0] * x.rank
    for axis, extent in zip(along, wanted, strict=True):
        size = x.shape[axis]
        if size is None:
            raise ConversionError(f"the input is {x.shaped}, expected extent {axis} to be known")
        more = extent - size
        first = more // 2 if more > 0 else -(-more // 2)
        before[axis], after[axis] = first, more - first
    return pad_constant(b, x, before, after, 0)


@converter("AffineGrid")
def affine_grid(b: GraphBuilder, theta: Value, size: Known, *, align_corners: int = 0) -> Value:
    """Places (x, y) or (x, y, z), from -1 to 1, of the pixels of an image of `size` under affine maps."""
    spatial = ints(size)[2:]
    rank = len(spatial)
    if rank not in (2, 3) or theta.rank != 3 or theta.shape[1:] != (rank, rank + 1):
        raise ConversionError(f"theta is {theta.shaped} for {rank} spatial dimensions, expected Nx2x3 or Nx3x4")
    lines: list[Any] = []
    for extent in spatial:
        reach = 1.0 if align_corners else 1 - 1 / max(extent, 1)
        lines.append(np.linspace(-reach, reach, extent) if extent > 1 else np.zeros(extent))
    places = np.meshgrid(*lines, indexing="ij")
    base = np.stack([*reversed(places), np.ones(spatial)], axis=-1).reshape(-1, rank + 1)
    moved = b.matmul(b.constant(base.astype(numpy_dtype(theta.dtype))), b.permute_dims(theta, axes=(0, 2, 1)))
    return b.reshape(moved, shape=(-1, *spatial, rank))


@converter("Col2Im")
def col2im(
    b: GraphBuilder,
    x: Value,
    image: Known,
    block: Known,
    *,
    dilations: Ints = None,
    pads: Ints = None,
    strides: Ints = None,
) -> Value:
    """
    The sum of windows at their places: `y[p] = sum over t, i with p + before = i * stride + t * dilation of x[t, i]`.

    Dimension after dimension, the last one first.
    """
    extents, kernel = ints(image), ints(block)
    rank = len(extents)
    before = (pads or (0,) * (2 * rank))[:rank]
    after = (pads or (0,) * (2 * rank))[rank:]
    steps, reach = strides or (1,) * rank, dilations or (1,) * rank
    if not len(kernel) == len(before) == len(after) == len(steps) == len(reach) == rank:
        raise ConversionError(f"the image has {rank} dimensions, expected as many of each attribute")
    counts = [(extents[d] + before[d] + after[d] - reach[d] * (kernel[d] - 1) - 1) // steps[d] + 1 for d in range(rank)]
    channels, columns = (b.extent(x, axis, "the input") for axis in (1, 2))
    if channels % prod(kernel) or columns != prod(counts):
        raise ConversionError(f"the input is {x.shaped}, expected windows of {list(kernel)} at {counts} places")
    x = reshaped(b, x, [extents_of(x)[0], channels // prod(kernel), *kernel, *counts])
    for d in reversed(range(rank)):
        parts = _moved(kernel[d], counts[d], extents[d], reach[d], before[d]) if steps[d] == 1 else []
        if 0 < len(parts) <= MOST_TAPS:
            x = _shifted_sum(b, x, d, extents[d], parts)
        else:
            x = _gathered_sum(b, x, d, _meeting(extents[d], kernel[d], counts[d], steps[d], reach[d], before[d]))
    return x


def _moved(kernel: int, count: int, size: int, dilation: int, before: int) -> list[tuple[int, int, int, int]]:
    """
    Returns the taps of windows at every place that lie in an image of `size`: their number, the first and the end of
    their places that do, and where the first one lies.
    """
    parts: list[tuple[int, int, int, int]] = []
    for tap in range(kernel):
        start = tap * dilation - before
        begin, end = max(0, -start), min(count, size - start)
        if begin < end:
            parts.append((tap, begin, end, start + begin))
    return parts


def _shifted_sum(b: GraphBuilder, x: Value, d: int, size: int, parts: list[tuple[int, int, int, int]]) -> Value:
    """
    Sums up windows at every place along dimension `d`, the last one whose taps are left: `(n, c, k0 … kd, p0 … pd, …)`
    becomes `(n, c, k0 …, p0 …, size, …)`. Each tap is moved to its places, with zeros around it.
    """
    taps, places = 2 + d, 3 + 2 * d
    terms: list[Value] = []
    for tap, begin, end, first in parts:
        each = b.strided_slice(x, axes=(taps, places), begin=(tap, begin), end=(tap + 1, end), strides=(1, 1))
        each = b.squeeze(each, axis=(taps,))
        widths = [0] * (2 * each.rank)
        widths[2 * (places - 1)], widths[2 * (places - 1) + 1] = first, size - first - (end - begin)
        terms.append(b.pad(each, pad_width=tuple(widths)))
    return reduce(b.add, terms)


def _meeting(size: int, kernel: int, count: int, stride: int, dilation: int, before: int) -> Any:
    """Returns the positions `t * count + i` that meet at each place, `kernel * count` where there are fewer."""
    meeting: list[list[int]] = [[] for _ in range(size)]
    for tap in range(kernel):
        for number in range(count):
            place = number * stride + tap * dilation - before
            if 0 <= place < size:
                meeting[place].append(tap * count + number)
    most = max(map(len, meeting), default=0)
    rows = [row + [kernel * count] * (most - len(row)) for row in meeting]
    return np.array(rows, np.int64).reshape(size, most)


def _gathered_sum(b: GraphBuilder, x: Value, d: int, table: Any) -> Value:
    """The same as a gather of what meets at each place, with a zero for what is not there."""
    tap, place = 2 + d, 3 + 2 * d
    order = [each for each in range(x.rank) if each not in (tap, place)]
    x = b.permute_dims(x, axes=(*order[: place - 1], tap, place, *order[place - 1 :]))
    shape = extents_of(x)
    axis = place - 1
    flat = reshaped(b, x, [*shape[:axis], product(shape[axis : axis + 2]), *shape[axis + 2 :]])
    widths = [0] * (2 * flat.rank)
    widths[2 * axis + 1] = 1
    flat = b.pad(flat, pad_width=tuple(widths))
    return b.sum(b.take(flat, b.constant(table), axis=axis), axis=(axis + 1,))


@converter("MaxUnpool", since=9)
def max_unpool(
    b: GraphBuilder,
    x: Value,
    places: Value,
    shape: Known | None = None,
    *,
    kernel_shape: tuple[int, ...],
    pads: Ints = None,
    strides: Ints = None,
) -> Value:
    """
    Returns zeros with the elements at their places in the flattened result of the inferred shape.

    A larger shape is filled up with zeros.
    """
    rank = len(kernel_shape)
    widths, steps = pads or (0,) * (2 * rank), strides or (1,) * rank
    batch, channels, *extents = b.static_shape(x, "the input")
    if len(extents) != rank or len(widths) != 2 * rank or len(steps) != rank:
        raise ConversionError(f"the input is {x.shaped}, expected {rank} spatial dimensions")
    inferred = [
        (size - 1) * steps[d] - widths[d] - widths[d + rank] + kernel_shape[d] for d, size in enumerate(extents)
    ]
    full = (batch, channels, *inferred)
    zeros = b.full((prod(full),), 0, x.dtype)
    flat = b.scatter_elements(zeros, b.reshape(places, shape=(-1,)), b.reshape(x, shape=(-1,)), axis=0)
    result = b.reshape(flat, shape=full)
    if shape is None:
        return result
    wanted = ints(shape)
    if len(wanted) != len(full) or any(a < c for a, c in zip(wanted, full, strict=True)):
        raise ConversionError(f"output_shape is {list(wanted)}, expected at least {list(full)}")
    return pad_constant(b, result, [0] * len(full), [a - c for a, c in zip(wanted, full, strict=True)], 0)
