"""Running sums and products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .element_types import Array, is_small_float

Properties = dict[str, Any]


def _scan(accumulate: Callable[..., Array], neutral: int) -> Callable[..., tuple[Array, ...]]:
    def reference(properties: Properties, x: Array) -> tuple[Array, ...]:
        rows = np.moveaxis(x, int(properties["axis"]), -1)
        if properties.get("reverse", False):
            rows = rows[..., ::-1]
        wide = rows.astype(np.float32) if is_small_float(x.dtype) else rows
        if properties.get("exclusive", False):
            first = np.full((*wide.shape[:-1], min(wide.shape[-1], 1)), neutral, wide.dtype)
            wide = np.concatenate([first, wide[..., :-1]], axis=-1)
        with np.errstate(all="ignore"):
            result = accumulate(wide, axis=-1, dtype=wide.dtype).astype(x.dtype)
        if properties.get("reverse", False):
            result = result[..., ::-1]
        return (np.moveaxis(result, -1, int(properties["axis"])).copy(),)

    return reference


OPS: dict[str, Any] = {
    "graph.cumulative_sum": _scan(np.add.accumulate, 0),
    "graph.cumulative_prod": _scan(np.multiply.accumulate, 1),
}
