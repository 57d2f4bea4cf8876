"""Normalisation and pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

from .binary import OPS as BINARY
from .contraction import pad_windows, window_extents, window_view
from .element_types import Array, is_float, round_to, widen
from .elementwise import Properties, maximum_of
from .reduction import normalised_axes


def _batch_norm(
    properties: Properties, x: Array, gamma: Array, beta: Array, mean: Array, var: Array
) -> tuple[Array, ...]:
    (axis,) = normalised_axes(properties.get("axis", 1), x.ndim)
    shape = [1] * x.ndim
    shape[axis] = -1
    scale, shift, center, variance = (widen(vector).reshape(shape) for vector in (gamma, beta, mean, var))
    epsilon = np.asarray(properties.get("epsilon", 1e-5), scale.dtype)
    with np.errstate(all="ignore"):
        y = (widen(x) - center) / np.sqrt(variance + epsilon) * scale + shift
        return round_to(y, x.dtype), mean.copy(), var.copy()


def along_axes(vector: Array, axes: tuple[int, ...], rank: int) -> Array:
    """Returns `vector`, whose dimensions stand for `axes` in this order, made to broadcast against that rank."""
    ordered = np.transpose(vector, np.argsort(axes)) if axes else vector
    return np.expand_dims(ordered, tuple(axis for axis in range(rank) if axis not in axes))


def _standardised(properties: Properties, wide: Array, axes: tuple[int, ...]) -> Array:
    """`wide` less its mean over `axes`, divided by the root of its variance plus epsilon."""
    epsilon = np.asarray(properties.get("epsilon", 1e-5), wide.dtype)
    count = np.asarray(np.prod([wide.shape[axis] for axis in axes], dtype=np.int64), wide.dtype)
    centered = wide - np.sum(wide, axis=axes, keepdims=True) / count
    variance = np.sum(centered * centered, axis=axes, keepdims=True) / count
    return centered / np.sqrt(variance + epsilon)


def _scaled(normal: Array, gamma: Array, beta: Array, axes: tuple[int, ...], dtype: Any) -> tuple[Array, ...]:
    scale, shift = (along_axes(widen(vector), axes, normal.ndim) for vector in (gamma, beta))
    return (round_to(normal * scale + shift, dtype),)


def _layer_norm(properties: Properties, x: Array, gamma: Array, beta: Array) -> tuple[Array, ...]:
    axes = normalised_axes(properties.get("axes", [-1]), x.ndim)
    with np.errstate(all="ignore"):
        return _scaled(_standardised(properties, widen(x), axes), gamma, beta, axes, x.dtype)


def _bias_add(properties: Properties, x: Array, bias: Array) -> tuple[Array, ...]:
    axes = normalised_axes(properties.get("axis", 1), x.ndim)
    return BINARY["graph.add"]({}, x, along_axes(bias, axes, x.ndim))


def _instance_norm(properties: Properties, x: Array, gamma: Array, beta: Array) -> tuple[Array, ...]:
    channels = normalised_axes(properties.get("axis", 1), x.ndim)
    axes = tuple(axis for axis in range(x.ndim) if axis not in (0, *channels))
    with np.errstate(all="ignore"):
        return _scaled(_standardised(properties, widen(x), axes), gamma, beta, channels, x.dtype)


def _group_norm(properties: Properties, x: Array, gamma: Array, beta: Array) -> tuple[Array, ...]:
    (axis,) = normalised_axes(properties.get("axis", 1), x.ndim)
    groups = properties["num_groups"]
    wide = np.moveaxis(widen(x), axis, 1)
    rows = wide.reshape(wide.shape[0], groups, wide.shape[1] // groups, *wide.shape[2:])
    with np.errstate(all="ignore"):
        normal = _standardised(properties, rows, tuple(range(2, rows.ndim)))
        return _scaled(np.moveaxis(normal.reshape(wide.shape), 1, axis), gamma, beta, (axis,), x.dtype)


def _l2_normalize(properties: Properties, x: Array) -> tuple[Array, ...]:
    axes = normalised_axes(properties.get("axes", [-1]), x.ndim)
    wide = widen(x)
    epsilon = np.asarray(properties.get("epsilon", 1e-12), wide.dtype)
    with np.errstate(all="ignore"):
        squares = np.sum(wide * wide, axis=axes, keepdims=True)
        return (round_to(wide / np.sqrt(np.maximum(squares, epsilon)), x.dtype),)


def _rms_norm(properties: Properties, x: Array, gamma: Array) -> tuple[Array, ...]:
    axes = normalised_axes(properties.get("axes", [-1]), x.ndim)
    wide = widen(x)
    epsilon = np.asarray(properties.get("epsilon", 1e-5), wide.dtype)
    count = np.asarray(np.prod([x.shape[axis] for axis in axes], dtype=np.int64), wide.dtype)
    with np.errstate(all="ignore"):
        size = np.sqrt(np.sum(wide * wide, axis=axes, keepdims=True) / count + epsilon)
        return (round_to(wide / size * along_axes(widen(gamma), axes, x.ndim), x.dtype),)


def _dropout(properties: Properties, x: Array) -> tuple[Array, ...]:
    return x.copy(), np.ones(x.shape, np.bool_)


def _to_nchw(properties: Properties, x: Array) -> Array:
    return np.moveaxis(x, -1, 1) if properties.get("layout", "NCHW") == "NHWC" else x


def _from_nchw(properties: Properties, x: Array) -> Array:
    return np.moveaxis(x, 1, -1) if properties.get("layout", "NCHW") == "NHWC" else x


def _max_pool2d(properties: Properties, x: Array) -> tuple[Array, ...]:
    data = _to_nchw(properties, x)
    height, width = properties["pool_size"]
    extents = window_extents(data, (height, width), properties)
    lowest = np.asarray(-np.inf, x.dtype) if is_float(x.dtype) else np.asarray(np.iinfo(x.dtype).min, x.dtype)
    padded = pad_windows(data, properties, lowest)
    result = np.full((*data.shape[:2], *extents), lowest, x.dtype)
    for row in range(height):
        for column in range(width):
            result = maximum_of(result, window_view(padded, properties, row, column, extents))
    return (_from_nchw(properties, result),)


def _avg_pool2d(properties: Properties, x: Array) -> tuple[Array, ...]:
    data = widen(_to_nchw(properties, x))
    height, width = properties["pool_size"]
    extents = window_extents(data, (height, width), properties)
    padded = pad_windows(data, properties, np.zeros((), data.dtype))
    inside = np.ones((1, 1, *data.shape[2:]), data.dtype)
    counted = pad_windows(inside, properties, np.asarray(properties.get("count_include_pad", False), data.dtype))
    total = np.zeros((*data.shape[:2], *extents), data.dtype)
    count = np.zeros((1, 1, *extents), data.dtype)
    with np.errstate(all="ignore"):
        for row in range(height):
            for column in range(width):
                total += window_view(padded, properties, row, column, extents)
                count += window_view(counted, properties, row, column, extents)
        return (_from_nchw(properties, round_to(total / count, x.dtype)),)


OPS: dict[str, Any] = {
    "graph.batch_norm": _batch_norm,
    "graph.layer_norm": _layer_norm,
    "graph.bias_add": _bias_add,
    "graph.instance_norm": _instance_norm,
    "graph.group_norm": _group_norm,
    "graph.l2_normalize": _l2_normalize,
    "graph.rms_norm": _rms_norm,
    "graph.dropout": _dropout,
    "graph.max_pool2d": _max_pool2d,
    "graph.avg_pool2d": _avg_pool2d,
}
