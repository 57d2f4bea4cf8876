"""
The forms in which caches keep keys and values: as they are, or as integers with a scale.

Source: GroupQueryAttention in the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from ....dialects.graph.shapes import Shaped
from ....lazy_dataclass import dataclass
from ..emitting.forms import reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of
from ..errors import ConversionError
from ..value import Value
from .packed_weights import check_numbers
from .signed_bytes import cast

MODES: Final = ("NONE", "PER_TENSOR", "PER_CHANNEL")
MIDDLE: Final = 8
"""What stands for 0 in 4 bits."""


@dataclass(frozen=True)
class Kept:
    """The form in which a cache keeps rows of `batch x heads x sequence x size`."""

    scale: Value | None = None
    """The scale of all numbers, or of each head and column as `1 x heads x 1 x size`. `None` for floats."""
    bits: int = 8

    def shaped(self, new: Value) -> Shaped:
        """Returns the shape and element type of a cache for rows like these."""
        if self.scale is None:
            return new.shaped
        *outer, size = new.shape
        width = size if size is None or self.bits == 8 else size // 2
        return Shaped((*outer, width), "i8" if self.bits == 8 else "ui8")

    def closed(self, b: GraphBuilder, rows: Value) -> Value:
        """Returns rows as the cache has them: `round(row / scale)`, as near as the integers get."""
        if self.scale is None:
            return rows
        most = 2 ** (self.bits - 1) - 1
        steps = b.round(b.divide(cast(b, rows, "f32"), self.scale))
        numbers = b.astype(b.clip(steps, min=float(-most - 1), max=float(most)), dtype="i8")
        if self.bits == 8:
            return numbers
        bytes_ = b.astype(b.add(numbers, MIDDLE), dtype="ui8")
        first, second = _in_turns(b, bytes_)
        return b.bitwise_or(first, b.left_shift(second, 4))

    def opened(self, b: GraphBuilder, cache: Value, dtype: str) -> Value:
        """Returns the rows of a cache as floats, in the order of `ordered`."""
        if self.scale is None:
            return cache
        if self.bits == 8:
            return cast(b, b.multiply(b.astype(cache, dtype="f32"), self.scale), dtype)
        halves = [b.astype(each, dtype="f32") for each in (b.bitwise_and(cache, 15), b.right_shift(cache, 4))]
        numbers = b.subtract(b.concat(*halves, axis=3), float(MIDDLE))
        return cast(b, b.multiply(numbers, self.scale if not self.scale.rank else self.ordered(b, self.scale)), dtype)

    def ordered(self, b: GraphBuilder, x: Value) -> Value:
        """
        Returns the columns of `x` in the order in which `opened` has them: of 4 bits those of the low halves of bytes
        come first, since to put them in turns would take longer than the products.
        """
        if self.scale is None or self.bits == 8:
            return x
        return b.concat(*_in_turns(b, x), axis=3)

    def restored(self, b: GraphBuilder, x: Value) -> Value:
        """Returns the opposite of `ordered`."""
        if self.scale is None or self.bits == 8:
            return x
        halves = b.split(x, sections=2, axis=3)
        together = b.concat(*(b.expand_dims(each, axis=(4,)) for each in halves), axis=4)
        return reshaped(b, together, extents_of(x))


def _in_turns(b: GraphBuilder, x: Value) -> list[Value]:
    """Returns the even and the odd columns."""
    return [b.strided_slice(x, axes=(3,), begin=(each,), end=(x.shape[3],), strides=(2,)) for each in (0, 1)]


def kept_of(b: GraphBuilder, new: Value, scale: Value | None, mode: str, bits: int, what: str) -> Kept:
    """Returns how the cache of `what`, keys or values, keeps rows like `new`. Raises `ConversionError`."""
    if mode not in MODES:
        raise ConversionError(f"{what}_quant_type is '{mode}', expected {', '.join(MODES)}")
    if (mode == "NONE") != (scale is None):
        found = "missing" if scale is None else "given"
        raise ConversionError(f"{what}_quant_type is '{mode}' and {what}_scale is {found}, expected both or neither")
    if scale is None:
        return Kept()
    if bits not in (4, 8):
        raise ConversionError(f"kv_cache_bit_width is {bits}, expected 4 or 8 with k_quant_type or v_quant_type")
    size = b.extent(new, 3, what)
    if bits == 4 and size % 2:
        raise ConversionError(f"heads have {size} numbers, expected an even number with kv_cache_bit_width 4")
    heads = b.extent(new, 1, what)
    count = 1 if mode == "PER_TENSOR" else heads * size
    if scale.dtype != "f32" or (None not in scale.shape and prod(each or 0 for each in scale.shape) != count):
        raise ConversionError(f"{what}_scale is {scale.shaped}, expected {count} elements of f32 with '{mode}'")
    check_numbers(f"{what}_scale", scale)
    if scale.known is not None and not np.all(scale.known):
        raise ConversionError(f"{what}_scale has a 0, expected other numbers")
    return Kept(_in_shape(b, scale, () if count == 1 else (1, heads, 1, size)), bits)


def _in_shape(b: GraphBuilder, scale: Value, shape: tuple[int, ...]) -> Value:
    return scale if extents_of(scale) == shape else reshaped(b, scale, shape)
