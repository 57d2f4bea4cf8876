"""Ops that read values between the elements of a grid, in the wide type."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from .element_types import Array, round_to, single_op_dtype, wide_dtype
from .elementwise import Properties
from .indexing import position
from .reduction import normalised_axes

FARTHEST = 2.0**30


def _resample(properties: Properties, x: Array, indices: Array, weights: Array) -> tuple[Array, ...]:
    (axis,) = normalised_axes(properties["axis"], x.ndim)
    wide = wide_dtype(x.dtype)
    factors = round_to(weights, single_op_dtype(x.dtype)).astype(wide)
    rows = np.moveaxis(x, axis, 0).astype(wide)
    total = np.zeros((len(indices), *rows.shape[1:]), wide)
    with np.errstate(all="ignore"):
        for place in range(len(indices)):
            for index, factor in zip(indices[place], factors[place], strict=True):
                total[place] += factor * rows[min(max(int(index), 0), len(rows) - 1)]
    return (round_to(np.moveaxis(total, 0, axis), x.dtype),)


def _kernel(mode: str, distance: Array) -> Array:
    """Returns the weight of an element at a distance from the point."""
    d = np.abs(distance)
    if mode == "linear":
        return np.where(d < 1, 1 - d, d * 0)
    a = d.dtype.type(-0.75)
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    far = a * (d**3 - 5 * d**2 + 8 * d - 4)
    return np.where(d <= 1, near, np.where(d < 2, far, d * 0))


def _source(index: int, size: int, padding: str) -> int | None:
    """Returns the element that stands at a position, or `None` for zero."""
    if padding == "zeros":
        return index if 0 <= index < size else None
    if padding == "edge":
        return min(max(index, 0), size - 1)
    period = 2 * size if padding == "symmetric" else max(2 * size - 2, 1)
    offset = index % period
    return offset if offset < size else (period - 1 if padding == "symmetric" else period) - offset


def _taps(mode: str, point: Any, size: int, padding: str) -> list[tuple[int | None, Any]]:
    """Returns an (element, weight) pair for each tap of a point in one dimension."""
    if mode == "nearest":
        return [(_source(0 if np.isnan(point) else int(np.rint(point)), size, padding), point.dtype.type(1))]
    if np.isnan(point):
        return [(0, point)]
    reach = 1 if mode == "linear" else 2
    first = int(np.floor(point))
    taps = range(first + 1 - reach, first + 1 + reach)
    return [(_source(tap, size, padding), _kernel(mode, point - tap)[()]) for tap in taps]


def _sample(properties: Properties, x: Array, points: Array) -> tuple[Array, ...]:
    mode, padding = properties.get("mode", "linear"), properties.get("padding", "zeros")
    wide = wide_dtype(x.dtype)
    image = x.astype(wide)
    where = round_to(points, single_op_dtype(x.dtype)).astype(wide)
    total = np.zeros((*x.shape[:2], *points.shape[1:-1]), wide)
    with np.errstate(all="ignore"):
        where = np.clip(where, -FARTHEST, FARTHEST)
        for place in np.ndindex(points.shape[:-1]):
            sizes = zip(where[place], x.shape[2:], strict=True)
            for taps in product(*(_taps(mode, point, size, padding) for point, size in sizes)):
                weight = np.prod([each for _, each in taps], dtype=wide)
                if any(index is None for index, _ in taps):
                    value: Any = np.zeros(x.shape[1], wide)
                else:
                    value = image[(place[0], slice(None), *(index for index, _ in taps))]
                total[(place[0], slice(None), *place[1:])] += weight * value
    return (round_to(total, x.dtype),)


def _pool_regions(properties: Properties, x: Array, images: Array, rows: Array, columns: Array) -> tuple[Array, ...]:
    """Cell by cell, from the pixels whose row and column count."""
    largest = properties.get("reduction", "sum") == "max"
    result = np.zeros((*rows.shape[:2], columns.shape[1], x.shape[3]), x.dtype)
    numbers = [position("graph.pool_regions", int(image), x.shape[0]) for image in images]
    for region, row, column in np.ndindex(*result.shape[:3]):
        tall, wide = rows[region, row], columns[region, column]
        pixels = x[numbers[region]][tall != 0][:, wide != 0]
        if largest and pixels.size:
            result[region, row, column] = pixels.max(axis=(0, 1))
        elif not largest:
            weights = tall[tall != 0][:, None] * wide[wide != 0][None, :]
            result[region, row, column] = np.sum(weights[:, :, None].astype(wide_dtype(x.dtype)) * pixels, axis=(0, 1))
    return (result,)


OPS: dict[str, Any] = {
    "graph.resample": _resample,
    "graph.sample": _sample,
    "graph.pool_regions": _pool_regions,
}
