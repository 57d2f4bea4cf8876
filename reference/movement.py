"""Ops that only move elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from .element_types import Array, number
from .elementwise import Properties
from .failure import ReferenceFailure
from .reduction import normalised_axes

OUT_OF_RANGE = "index out of range"


def _permute_dims(properties: Properties, x: Array) -> tuple[Array, ...]:
    axes = properties.get("axes")
    if axes is not None:
        axes = normalised_axes(axes, x.ndim)
    return (np.transpose(x, axes),)


def _reshape(properties: Properties, x: Array) -> tuple[Array, ...]:
    return (np.reshape(x, tuple(properties["shape"])),)


def _expand_dims(properties: Properties, x: Array) -> tuple[Array, ...]:
    axes = properties["axis"]
    count = 1 if isinstance(axes, int) else len(axes)
    return (np.expand_dims(x, normalised_axes(axes, x.ndim + count)),)


def _squeeze(properties: Properties, x: Array) -> tuple[Array, ...]:
    axes = properties.get("axis")
    if axes is None:
        return (np.squeeze(x),)
    return (np.squeeze(x, axis=normalised_axes(axes, x.ndim)),)


def _broadcast_to(properties: Properties, x: Array) -> tuple[Array, ...]:
    return (np.broadcast_to(x, tuple(properties["shape"])).copy(),)


def _concat(properties: Properties, *operands: Array) -> tuple[Array, ...]:
    (axis,) = normalised_axes(properties.get("axis", 0), operands[0].ndim)
    return (np.concatenate(operands, axis=axis),)


def _split(properties: Properties, x: Array) -> tuple[Array, ...]:
    (axis,) = normalised_axes(properties.get("axis", 0), x.ndim)
    indices = properties.get("indices")
    parts = np.split(x, int(properties["sections"]) if indices is None else list(indices), axis=axis)
    return tuple(part.copy() for part in parts)


def _strided_slice(properties: Properties, x: Array) -> tuple[Array, ...]:
    axes = normalised_axes(properties["axes"], x.ndim)
    begin, end = properties["begin"], properties["end"]
    strides = properties.get("strides")
    steps = [1] * len(axes) if strides is None else strides
    slices = [slice(None)] * x.ndim
    for axis, first, last, step in zip(axes, begin, end, steps, strict=True):
        slices[axis] = slice(first, last, step)
    return (x[tuple(slices)].copy(),)


def _pad(properties: Properties, x: Array) -> tuple[Array, ...]:
    widths = np.asarray(properties["pad_width"], np.int64).reshape(x.ndim, 2)
    if np.any(widths < 0):
        raise ValueError("pad_width has a negative entry")
    shape = tuple(size + int(width.sum()) for size, width in zip(x.shape, widths, strict=True))
    result = np.full(shape, number(properties.get("value", 0), x.dtype), x.dtype)
    inside = tuple(slice(int(before), int(before) + size) for (before, _), size in zip(widths, x.shape, strict=True))
    result[inside] = x
    return (result,)


def _take(properties: Properties, x: Array, indices: Array) -> tuple[Array, ...]:
    (axis,) = normalised_axes(properties.get("axis", 0), x.ndim)
    size = x.shape[axis]
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if 0 in shape:
        # No element is computed, so no index is looked at.
        return (np.empty(shape, x.dtype),)
    if np.any((indices < -size) | (indices >= size)):
        raise ReferenceFailure("graph.take", OUT_OF_RANGE)
    positions = indices.astype(np.int64)
    return (np.take(x, np.where(positions < 0, positions + size, positions), axis=axis),)


OPS: dict[str, Any] = {
    "graph.permute_dims": _permute_dims,
    "graph.reshape": _reshape,
    "graph.expand_dims": _expand_dims,
    "graph.squeeze": _squeeze,
    "graph.broadcast_to": _broadcast_to,
    "graph.concat": _concat,
    "graph.split": _split,
    "graph.strided_slice": _strided_slice,
    "graph.pad": _pad,
    "graph.take": _take,
}
