"""Ops that read and write elements at indices, one element after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .element_types import Array
from .elementwise import Properties
from .failure import ReferenceFailure
from .movement import OUT_OF_RANGE
from .reduction import normalised_axes


def position(op: str, index: int, size: int) -> int:
    """Returns the position that an index means. Raises `ReferenceFailure` where there is none."""
    if not -size <= index < size:
        raise ReferenceFailure(op, OUT_OF_RANGE)
    return index + size if index < 0 else index


def _take_along_axis(properties: Properties, x: Array, indices: Array) -> tuple[Array, ...]:
    (axis,) = normalised_axes(properties["axis"], x.ndim)
    result = np.empty(indices.shape, x.dtype)
    for place in np.ndindex(*indices.shape):
        found = position("graph.take_along_axis", int(indices[place]), x.shape[axis])
        result[place] = x[(*place[:axis], found, *place[axis + 1 :])]
    return (result,)


def _gather_nd(properties: Properties, x: Array, indices: Array) -> tuple[Array, ...]:
    batch = int(properties.get("batch_dims", 0))
    width = indices.shape[-1]
    result = np.empty((*indices.shape[:-1], *x.shape[batch + width :]), x.dtype)
    if result.size == 0:
        # No element is computed, so no index is looked at.
        return (result,)
    for place in np.ndindex(*indices.shape[:-1]):
        target = [
            position("graph.gather_nd", int(index), size)
            for index, size in zip(indices[place], x.shape[batch:], strict=False)
        ]
        result[place] = x[(*place[:batch], *target)]
    return (result,)


def _maximum(old: Any, new: Any, sign: float) -> Any:
    """Returns the greater value, or the smaller one with `sign` -1. NaN wins, and `-0 < +0`."""
    if old != old or new != new:
        return old if old != old else new
    if old == new:
        return old if np.copysign(1.0, float(old)) * sign > np.copysign(1.0, float(new)) * sign else new
    return old if (old > new) == (sign > 0) else new


_COMBINATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "none": lambda old, new: new,
    "add": lambda old, new: old + new,
    "multiply": lambda old, new: old * new,
    "maximum": lambda old, new: _maximum(old, new, 1.0),
    "minimum": lambda old, new: _maximum(old, new, -1.0),
}


def _scatter_elements(properties: Properties, x: Array, indices: Array, updates: Array) -> tuple[Array, ...]:
    (axis,) = normalised_axes(properties["axis"], x.ndim)
    combine = _COMBINATIONS[str(properties.get("reduction", "none"))]
    result = x.copy()
    for place in np.ndindex(*indices.shape):
        found = position("graph.scatter_elements", int(indices[place]), x.shape[axis])
        target = (*place[:axis], found, *place[axis + 1 :])
        result[target] = combine(result[target], updates[place])
    return (result,)


def _scatter_nd(properties: Properties, x: Array, indices: Array, updates: Array) -> tuple[Array, ...]:
    combine = _COMBINATIONS[str(properties.get("reduction", "none"))]
    result = x.copy()
    if updates.size == 0:
        return (result,)
    for place in np.ndindex(*indices.shape[:-1]):
        target = tuple(
            position("graph.scatter_nd", int(index), size) for index, size in zip(indices[place], x.shape, strict=False)
        )
        for inner in np.ndindex(*x.shape[len(target) :]):
            spot = (*target, *inner)
            result[spot] = combine(result[spot], updates[(*place, *inner)])
    return (result,)


OPS: dict[str, Any] = {
    "graph.take_along_axis": _take_along_axis,
    "graph.gather_nd": _gather_nd,
    "graph.scatter_elements": _scatter_elements,
    "graph.scatter_nd": _scatter_nd,
}
