"""Numbers of 2 and 4 bits that stand in bytes, the first one in the lowest bits."""

from __future__ import annotations

import numpy as np

from ..emitting.forms import reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import combined, extents_of
from ..emitting.values import KnownValue
from ..value import Value
from .signed_bytes import in_shape


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


def numbers_of(b: GraphBuilder, packed: Value, bits: int, count: int) -> Value:
    """Returns what `unpacked` does, known where the bytes are. That suits few numbers, such as zero points."""
    known = packed.known
    if known is None:
        return unpacked(b, packed, bits, count)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    numbers = (np.asarray(known)[..., None] >> shifts & np.uint8(2**bits - 1)).reshape(*known.shape[:-1], -1)
    return KnownValue(np.ascontiguousarray(numbers[..., :count]))


def as_four_bits(b: GraphBuilder, packed: Value, shape: tuple[int, int]) -> Value:
    """Returns numbers of 2 bits with 4 bits each, for which there are kernels. It is done as weights are loaded."""

    def pair(low: int) -> Value:
        first, second = (b.bitwise_and(b.right_shift(packed, low + n), 3) for n in (0, 2))
        return b.bitwise_or(first, b.left_shift(second, 4))

    halves = [b.expand_dims(pair(low), axis=(2,)) for low in (0, 4)]
    return in_shape(b, b.concat(*halves, axis=2), shape)
