"""Ops that put elements in order."""

from __future__ import annotations

from typing import Any

import numpy as np

from .element_types import Array
from .elementwise import Properties
from .reduction import normalised_axes


def _ranks(x: Array) -> Array:
    """
    Returns integers in the order of the values of a row. NaN comes last, and equal values (both zeros) get the same
    one.
    """
    if x.dtype.kind in "iu":
        return np.unique(x, return_inverse=True)[1].reshape(x.shape)
    wide = x.astype(np.float64) + 0.0
    ranks = np.unique(np.where(np.isnan(wide), 0.0, wide), return_inverse=True)[1].reshape(x.shape)
    return np.where(np.isnan(wide), x.size, ranks)


def _top_k(properties: Properties, x: Array) -> tuple[Array, ...]:
    (axis,) = normalised_axes(properties.get("axis", -1), x.ndim)
    k = int(properties["k"])
    largest = properties.get("largest", True)
    rows = np.moveaxis(x, axis, -1)
    shape = (*rows.shape[:-1], k)
    values, indices = np.empty(shape, x.dtype), np.empty(shape, np.int64)
    for place in np.ndindex(*rows.shape[:-1]):
        row = rows[place]
        ranks = _ranks(row)
        order = np.argsort(-ranks if largest else ranks, kind="stable")[:k]
        values[place], indices[place] = row[order], order
    return np.moveaxis(values, -1, axis).copy(), np.moveaxis(indices, -1, axis).copy()


OPS: dict[str, Any] = {"graph.top_k": _top_k}
