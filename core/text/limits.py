"""What a type may hold at most, so that its bytes can be counted and its elements fit in memory."""

from __future__ import annotations

from math import prod
from typing import Final

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType

MOST_INLINE_ELEMENTS: Final = 1 << 27
"""The most elements of a `dense<…>` attribute. xDSL stores splats expanded, so a larger one would not fit in memory."""

LARGEST_EXTENT: Final = (1 << 63) - 1
"""The greatest extent of a dimension, which is an i64 at run time."""

MOST_DIMENSIONS: Final = 64
"""The most dimensions of a shaped type, as of NumPy's arrays."""

MOST_ALIASES: Final = 1 << 16
"""
The most aliases that an alias may stand for, one for each use. Each of `!t1 = tuple<!t0, !t0>` … doubles their number,
and what works on a type works on all of its parts.
"""


def holds_too_much(type: TensorType) -> bool:
    """Returns whether the elements of a tensor take more bytes than an i64 counts. A `?` counts as one element."""
    width = getattr(type.element_type, "bitwidth", 64)
    elements = prod(extent for extent in type.get_shape() if extent != DYNAMIC_INDEX)
    return elements * ((width + 7) // 8) > LARGEST_EXTENT


__all__ = ["LARGEST_EXTENT", "MOST_ALIASES", "MOST_DIMENSIONS", "MOST_INLINE_ELEMENTS", "holds_too_much"]
