"""Ops that take sizes as tensors. Here they are what NumPy does with the values at hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .element_types import Array, number

Properties = Mapping[str, Any]


def _shape_of(properties: Properties, x: Array) -> tuple[Array, ...]:
    return (np.array(x.shape, np.int64),)


def _reshape(properties: Properties, x: Array, shape: Array) -> tuple[Array, ...]:
    wanted = shape.astype(np.int64)
    if properties.get("copy_zeros", False):
        for place in np.flatnonzero(wanted == 0):
            wanted[place] = x.shape[place]
    return (x.reshape(tuple(wanted)).copy(),)


def _broadcast_to(properties: Properties, x: Array, shape: Array) -> tuple[Array, ...]:
    target = np.broadcast_shapes(x.shape, tuple(int(extent) for extent in shape))
    return (np.broadcast_to(x, target).copy(),)


def _slice(properties: Properties, x: Array, begin: Array, end: Array, strides: Array) -> tuple[Array, ...]:
    chosen = [slice(None)] * x.ndim
    for axis, *bounds in zip(properties["axes"], begin, end, strides, strict=True):
        chosen[axis] = slice(*(int(bound) for bound in bounds))
    return (x[tuple(chosen)].copy(),)


def _pad(properties: Properties, x: Array, pad_width: Array) -> tuple[Array, ...]:
    widths = pad_width.astype(np.int64).reshape(x.ndim, 2)
    kept = tuple(
        slice(max(-int(before), 0), max(size + min(int(after), 0), 0))
        for (before, after), size in zip(widths, x.shape, strict=True)
    )
    fill = number(properties.get("value", 0), x.dtype)
    return (np.pad(x[kept], np.maximum(widths, 0), constant_values=fill),)


def _arange(properties: Properties, start: Array, limit: Array, delta: Array) -> tuple[Array, ...]:
    wide = np.float64 if start.dtype.kind not in "iu" else object
    first, last, step = (np.asarray(each).astype(wide).item() for each in (start, limit, delta))
    return (np.array([first + step * i for i in range(len(np.arange(first, last, step)))]).astype(start.dtype),)


OPS: dict[str, Any] = {
    "graph.shape_of": _shape_of,
    "graph.dynamic_reshape": _reshape,
    "graph.dynamic_broadcast_to": _broadcast_to,
    "graph.dynamic_slice": _slice,
    "graph.dynamic_pad": _pad,
    "graph.arange": _arange,
}
