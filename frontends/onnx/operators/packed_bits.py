"""Numbers of 2 and 4 bits that stand in bytes, the first one in the lowest bits."""

from __future__ import annotations

import numpy as np

from ..emitting.forms import reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import combined, extents_of
from ..value import Value


def unpacked(b: GraphBuilder, packed: Value, bits: int, count: int) -> Value:
    """Returns the first `count` numbers that bytes hold along the last dimension, as one byte each."""
    if bits == 8:
        return packed
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    parts = b.bitwise_and(b.right_shift(b.expand_dims(packed, axis=(packed.rank,)), b.constant(shifts)), 2**bits - 1)
    *outer, size = extents_of(packed)
    size = combined("multiply", size, len(shifts))
    flat = reshaped(b, parts, [*outer, size])
    return flat if size == count else b.strided_slice(flat, axes=(packed.rank - 1,), begin=(0,), end=(count,))
