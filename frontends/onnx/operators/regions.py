"""Regions of images that are sampled as densely as they are large."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..emitting.graph_builder import GraphBuilder
from ..value import Value


def share_of_pixels(b: GraphBuilder, rois: Value, number: int, size: int, cells: int, half: bool) -> Value:
    """
    Returns the share of each of `size` pixels of a dimension in the mean of each cell of each region.

    The result is `(regions, cells, size)` of f64.

    A cell of extent `e` has `n = ceil(e)` samples at `a + e / n (i + 1/2)`, each of which is interpolated between its
    two neighbours. What all of them give a pixel is a sum of two arithmetic series, of the samples before and after it,
    so that `n` need not be known. Samples up to one pixel outside count as the border, those further off as 0.
    """
    wide = b.astype(rois, dtype="f64")
    start = b.strided_slice(wide, axes=(1,), begin=(number,), end=(number + 1,))
    end = b.strided_slice(wide, axes=(1,), begin=(number + 2,), end=(number + 3,))
    extent = b.subtract(end, start)
    cell = b.divide(extent if half else b.maximum(extent, 1.0), float(cells))
    first = b.add(start, b.multiply(cell, b.constant(np.arange(cells, dtype=np.float64)[None, :])))
    first, cell = b.expand_dims(first, axis=(2,)), b.expand_dims(cell, axis=(2,))
    count = b.maximum(b.ceil(cell), 0.0)
    step = b.divide(cell, b.maximum(count, 1.0))
    step = b.where(b.greater(step, 0.0), step, b.full((), 1.0, "f64"))

    def place(bound: Any) -> Value:
        return b.subtract(b.divide(b.subtract(b.constant(bound), first), step), 0.5)

    def within(value: Value) -> Value:
        return b.minimum(b.maximum(value, 0.0), count)

    def series(low: Value, high: Value) -> tuple[Value, Value]:
        """Returns the number of samples from number `low` to before `high`, and the sum of their places."""
        many = b.subtract(high, low)
        middle = b.add(first, b.multiply(step, b.multiply(b.add(low, high), 0.5)))
        return many, b.multiply(many, middle)

    pixels = np.arange(size, dtype=np.float64)[None, None, :]
    before, here, after = (within(b.ceil(place(pixels + by))) for by in (-1, 0, 1))
    last = within(b.add(b.floor(place(np.array(float(size)))), 1.0))
    many, total = series(before, here)
    rising = b.add(b.multiply(many, b.constant(1 - pixels)), total)
    rising = b.where(b.constant(pixels == 0), many, rising)
    many, total = series(here, after)
    falling = b.subtract(b.multiply(many, b.constant(1 + pixels)), total)
    falling = b.where(b.constant(pixels == size - 1), b.subtract(last, here), falling)
    return b.divide(b.add(rising, falling), b.maximum(count, 1.0))


def mean_of_regions(b: GraphBuilder, x: Value, rois: Value, images: Value, cells: tuple[int, int], half: bool) -> Value:
    """
    The mean of the samples in each cell, `(regions, channels, *cells)`: two products with the shares of rows and
    columns.
    """
    rows, columns = (
        b.astype(share_of_pixels(b, rois, 1 - d, b.extent(x, 2 + d, "the input"), cells[d], half), dtype=x.dtype)
        for d in (0, 1)
    )
    if is_pooled(x, rows, columns, images):
        return pooled(b, x, b.astype(images, dtype="i64"), (rows, columns), "sum")
    own = b.take(x, b.astype(images, dtype="i64"), axis=0)
    lines = b.matmul(b.expand_dims(rows, axis=(1,)), own)
    return b.matmul(lines, b.permute_dims(b.expand_dims(columns, axis=(1,)), axes=(0, 1, 3, 2)))


def is_pooled(*values: Value) -> bool:
    """Returns whether `graph.pool_regions` takes an image and what comes with it: their sizes are known."""
    return values[0].dtype in ("f32", "f64") and not any(None in value.shape for value in values)


def pooled(b: GraphBuilder, x: Value, images: Value, weights: tuple[Value, Value], reduction: str) -> Value:
    """The cells of regions of images `(N, C, H, W)`, `(regions, channels, *cells)`."""
    last = b.permute_dims(x, axes=(0, 2, 3, 1))
    return b.permute_dims(b.pool_regions(last, images, *weights, reduction=reduction), axes=(0, 3, 1, 2))
