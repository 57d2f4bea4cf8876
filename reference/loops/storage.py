"""
Memory: bytes with a mask of those that are written, and typed buffers with sizes and strides on them.

Views of an arena give the same bytes different types, so that the mask holds bytes as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from ...lazy_dataclass import dataclass
from ..element_types import Array

WRITTEN = 255
"""The mask of a byte that is written. A number of several bytes is written where all of them are."""


class Storage:
    """One piece of memory, which no other piece overlaps."""

    def __init__(self, size: int, name: str, *, written: bool = False, owner: str = "", birth: int = 0):
        self.name = name
        self.data = np.zeros(size, np.uint8)
        self.written = np.full(size, WRITTEN if written else 0, np.uint8)
        self.owner = owner
        """The op that has made it, such as `memref.alloc`. It is empty for memory of the caller."""
        self.birth = birth
        """The time at which it was made. Memory that an iteration has made is its own."""
        self.ended_by: Any = None
        """The op after which nothing may use it."""


@dataclass(frozen=True)
class Buffer:
    """
    The value of a memref: element `[i, j, …]` is number `first + i * strides[0] + j * strides[1] + …` of `elements`.

    `elements` and `mask` are views of the bytes of `storage` from `base` on. The mask of an element that is written has
    all bits set.
    """

    storage: Storage
    base: int
    elements: Array = field(repr=False)
    mask: Array = field(repr=False)
    first: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    read_only: str = ""
    """Why it may not be written. Empty where it may."""
    is_shared: bool = False
    """True where the reason is that another argument of the same call is the same memory."""

    @cached_property
    def itemsize(self) -> int:
        return self.elements.dtype.itemsize

    @cached_property
    def full(self) -> int:
        """Returns the mask of an element that is written."""
        return int(np.iinfo(self.mask.dtype).max)

    def places(self) -> Array:
        """Returns the numbers of all elements, in the shape of the buffer."""
        return places_of(self.first, self.sizes, self.strides)

    def array(self) -> Array:
        """Returns a copy of the elements."""
        return self.elements[self.places()]

    def are_written(self) -> Array:
        """Returns which elements are written, in the shape of the buffer."""
        return self.mask[self.places()] == self.full

    def is_row_major(self) -> bool:
        """Returns whether the elements follow each other in memory. Dimensions of one element do not matter."""
        expected = row_major(self.sizes)
        return 0 in self.sizes or all(
            size == 1 or found == wanted for size, found, wanted in zip(self.sizes, self.strides, expected, strict=True)
        )

    def protected(self, why: str, *, is_shared: bool = False) -> Buffer:
        """Returns the same buffer, which may not be written because of `why`. An earlier reason stays."""
        return self if self.read_only else replace(self, read_only=why, is_shared=is_shared)


def row_major(sizes: Sequence[int]) -> tuple[int, ...]:
    """Returns the strides, in elements, of an array whose last dimension is dense."""
    strides = [1] * len(sizes)
    for dimension in range(len(sizes) - 2, -1, -1):
        strides[dimension] = strides[dimension + 1] * sizes[dimension + 1]
    return tuple(strides)


def places_of(first: int, sizes: Sequence[int], strides: Sequence[int]) -> Array:
    """Returns `first + i * strides[0] + j * strides[1] + …` for all indices, in an array of shape `sizes`."""
    result = np.full((1,) * len(sizes), first, np.int64)
    for dimension, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        shape = [1] * len(sizes)
        shape[dimension] = size
        result = result + (np.arange(size, dtype=np.int64) * stride).reshape(shape)
    return np.broadcast_to(result, tuple(sizes))


def span_of(first: int, sizes: Sequence[int], strides: Sequence[int]) -> tuple[int, int] | None:
    """Returns the least and the largest number of an element, or None where there is no element."""
    if 0 in sizes:
        return None
    steps = [(size - 1) * stride for size, stride in zip(sizes, strides, strict=True)]
    return first + sum(min(step, 0) for step in steps), first + sum(max(step, 0) for step in steps)


def typed(storage: Storage, base: int, size: int, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Returns `size` bytes from `base` on as elements of `dtype`, and their mask."""
    mask = np.dtype(f"u{dtype.itemsize}")
    return storage.data[base : base + size].view(dtype), storage.written[base : base + size].view(mask)


def new_buffer(storage: Storage, dtype: np.dtype[Any], sizes: Sequence[int], base: int = 0) -> Buffer:
    """Returns a row-major buffer of `sizes` at byte `base` of `storage`."""
    elements, mask = typed(storage, base, prod(sizes) * dtype.itemsize, dtype)
    return Buffer(storage, base, elements, mask, 0, tuple(sizes), row_major(sizes))


def buffer_of(array: Array, name: str) -> Buffer:
    """Returns a buffer of its own with the elements of `array`, all of them written."""
    storage = Storage(array.nbytes, name, written=True)
    buffer = new_buffer(storage, array.dtype, array.shape)
    buffer.elements[...] = np.ascontiguousarray(array).reshape(-1)
    return buffer


def overlap(one: Buffer, other: Buffer) -> bool:
    """Returns whether two buffers have a byte in common."""
    if one.storage is not other.storage:
        return False
    first, second = (
        (each.base + each.places().reshape(-1, 1) * each.itemsize + np.arange(each.itemsize)).reshape(-1)
        for each in (one, other)
    )
    return bool(np.isin(first, second).any())
