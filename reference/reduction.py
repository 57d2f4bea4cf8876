"""Reductions over one, several or all axes, `argmax`/`argmin`, `softmax` and `log_softmax`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .element_types import Array, is_float, is_small_float, round_to, widen
from .elementwise import Properties, Reference, maximum_of, minimum_of
from .failure import ReferenceFailure


def normalised_axes(axis: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Returns axes as numbers from 0, in the order given. `None` stands for all axes."""
    if axis is None:
        return tuple(range(rank))
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    for number in axes:
        if not -rank <= number < rank:
            raise ValueError(f"axis {number} is out of range for rank {rank}")
    result = tuple(number % rank for number in axes)
    if len(set(result)) != len(result):
        raise ValueError(f"axes {axes} repeat a dimension of rank {rank}")
    return result


def _kept(array: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    return np.expand_dims(array, axes) if keepdims and axes else array


def _sum(properties: Properties, x: Array) -> tuple[Array, ...]:
    return _accumulate(properties, x, np.sum)


def _prod(properties: Properties, x: Array) -> tuple[Array, ...]:
    return _accumulate(properties, x, np.prod)


def _accumulate(properties: Properties, x: Array, function: Callable[..., Any]) -> tuple[Array, ...]:
    axes = normalised_axes(properties.get("axis"), x.ndim)
    keepdims = properties.get("keepdims", False)
    with np.errstate(all="ignore"):
        if is_float(x.dtype):
            wide = widen(x)
            return (round_to(function(wide, axis=axes, keepdims=keepdims, dtype=wide.dtype), x.dtype),)
        return (np.asarray(function(x, axis=axes, keepdims=keepdims, dtype=x.dtype)),)


def _mean(properties: Properties, x: Array) -> tuple[Array, ...]:
    axes = normalised_axes(properties.get("axis"), x.ndim)
    wide = widen(x)
    count = int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
    with np.errstate(all="ignore"):
        total = np.asarray(np.sum(wide, axis=axes, keepdims=properties.get("keepdims", False)))
        return (round_to(total / np.asarray(count, wide.dtype), x.dtype),)


def _extreme(name: str, better: Callable[[Array, Array], Array]) -> Reference:
    def reference(properties: Properties, x: Array) -> tuple[Array, ...]:
        axes = normalised_axes(properties.get("axis"), x.ndim)
        kept = [axis for axis in range(x.ndim) if axis not in axes]
        shape = tuple(x.shape[axis] for axis in kept)
        count = int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
        if count == 0:
            raise ReferenceFailure(name, "reduction over an empty axis")
        rows = np.transpose(x, (*axes, *kept)).reshape(count, *shape)
        result = rows[0]
        for row in rows[1:]:
            result = better(result, row)
        return (_kept(np.asarray(result).reshape(shape), tuple(sorted(axes)), properties.get("keepdims", False)),)

    return reference


def _logical(function: Callable[..., Any]) -> Reference:
    def reference(properties: Properties, x: Array) -> tuple[Array, ...]:
        axes = normalised_axes(properties.get("axis"), x.ndim)
        return (np.asarray(function(x, axis=axes, keepdims=properties.get("keepdims", False)), np.bool_),)

    return reference


def _best_index(name: str, function: Callable[..., Any]) -> Reference:
    def reference(properties: Properties, x: Array) -> tuple[Array, ...]:
        axis = properties.get("axis")
        values = x.astype(np.float32) if is_small_float(x.dtype) else x
        if axis is not None:
            (axis,) = normalised_axes(axis, x.ndim)
        if (x.size if axis is None else x.shape[axis]) == 0:
            raise ReferenceFailure(name, "reduction over an empty axis")
        # NumPy too takes the first of equal elements, and the first NaN before everything else.
        result = function(values, axis=axis, keepdims=properties.get("keepdims", False))
        return (np.asarray(result, np.int64),)

    return reference


def _shifted(properties: Properties, x: Array) -> tuple[Array, int]:
    """Returns `x - max(x)` along the axis in the wide type."""
    (axis,) = normalised_axes(properties.get("axis", -1), x.ndim)
    wide = widen(x)
    return (wide - np.max(wide, axis=axis, keepdims=True) if x.size else wide), axis


def _softmax(properties: Properties, x: Array) -> tuple[Array, ...]:
    with np.errstate(all="ignore"):
        shifted, axis = _shifted(properties, x)
        exponentials = np.exp(shifted)
        return (round_to(exponentials / np.sum(exponentials, axis=axis, keepdims=True), x.dtype),)


def _log_softmax(properties: Properties, x: Array) -> tuple[Array, ...]:
    with np.errstate(all="ignore"):
        shifted, axis = _shifted(properties, x)
        return (round_to(shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True)), x.dtype),)


OPS: dict[str, Any] = {
    "graph.sum": _sum,
    "graph.prod": _prod,
    "graph.mean": _mean,
    "graph.max": _extreme("graph.max", maximum_of),
    "graph.min": _extreme("graph.min", minimum_of),
    "graph.any": _logical(np.any),
    "graph.all": _logical(np.all),
    "graph.argmax": _best_index("graph.argmax", np.argmax),
    "graph.argmin": _best_index("graph.argmin", np.argmin),
    "graph.softmax": _softmax,
    "graph.log_softmax": _log_softmax,
}
