"""
What a convolution may give where weights that are no numbers meet padding (docs/numerics.md, "Padding of
convolutions").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from stepwell.reference.contraction import OPS

Array = np.ndarray[Any, Any]


def numbers_only(w: Array) -> Array:
    """`w` with zeros in the place of what is no number."""
    return np.where(np.isfinite(w.astype(np.float64)), w, np.zeros_like(w))


def padding_left_out(properties: Mapping[str, Any], x: Array, w: Array, found: Array, expected: Array) -> Array:
    """
    `expected`, of which 0 times an infinite or NaN weight made elements NaN, with what `found` may have there instead:
    the sum of the other products where such weights meet padding alone, anything that is no number where they meet the
    image too.
    """
    odd = ~np.isfinite(w.astype(np.float64))
    if not odd.any() or not any(properties.get("padding", ())):
        return expected
    image = np.zeros_like(x, np.float64)
    axes = (1, 2) if properties.get("data_layout", "NCHW") == "NHWC" else (2, 3)
    top, left, bottom, right = properties["padding"]
    around = [(0, 0)] * 4
    around[axes[0]], around[axes[1]] = (top, bottom), (left, right)
    bare = {name: value for name, value in properties.items() if name not in ("padding", "out_dtype")}

    def meets(picture: Array) -> Array:
        return OPS["graph.conv2d"](bare, picture, odd.astype(np.float64))[0] > 0

    at_padding = meets(np.pad(image, around, constant_values=1.0)) & np.isnan(expected)
    inside = meets(np.pad(image + 1.0, around))
    others = OPS["graph.conv2d"](properties, x, numbers_only(w))[0]
    free = at_padding & ~np.isnan(found)
    result = np.where(free & ~inside, others, expected)
    return np.where(free & inside & np.isinf(found), found, result)
