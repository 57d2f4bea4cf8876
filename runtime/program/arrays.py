"""NumPy arrays that enter and leave a compiled program: element types, checks, alignment."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from math import prod
from typing import Any, Final

import numpy as np

from ...core.messages.articles import with_article
from ...core.roles import BUFFER_ALIGNMENT, aligned
from ...lazy_dataclass import dataclass
from ...te.dtypes import numpy_dtype
from ..errors import ArgumentError


@dataclass(frozen=True)
class ArrayType:
    """The element type and the shape of an argument or result. A size of None stands for any size."""

    dtype: str
    shape: tuple[int | None, ...]

    def __str__(self) -> str:
        return "tensor<" + "".join(f"{'?' if size is None else size}x" for size in self.shape) + f"{self.dtype}>"

    @property
    def is_static(self) -> bool:
        """True where all sizes are known."""
        return None not in self.shape

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of a static array."""
        return tuple([size or 0 for size in self.shape])

    @property
    def nbytes(self) -> int:
        """The size in bytes of a static array."""
        return prod(self.sizes) * numpy_dtype(self.dtype).itemsize

    def allocate(self, apart_from: np.ndarray[Any, Any] | None = None) -> np.ndarray[Any, Any]:
        """
        Returns a new array, not initialised, aligned to `BUFFER_ALIGNMENT`.

        An array for results that are made of `apart_from` begins `APART` bytes behind that one, modulo a page.
        """
        dtype = numpy_dtype(self.dtype)
        if apart_from is None:
            return aligned_bytes(self.nbytes).view(dtype).reshape(self.sizes)
        return array_apart(self.sizes, dtype, self.nbytes, apart_from.ctypes.data)

    def fits(self, shape: Sequence[int]) -> bool:
        """Returns whether an array of this shape is of this type, as far as sizes go."""
        return len(shape) == len(self.shape) and all(
            want is None or want == found for want, found in zip(self.shape, shape, strict=True)
        )


HUGE_PAGE: Final = 2 << 20
"""Bytes of the larger pages of x86-64, and of Arm with pages of 4 KB."""


def aligned_bytes(count: int) -> np.ndarray[Any, Any]:
    """
    Returns `count` new bytes, aligned to `BUFFER_ALIGNMENT`.

    The system is asked for large pages where there are some whole ones. New memory then takes a third of the time to
    write, and reading it few entries of the TLB. Memory that the C library has had before would keep its small pages.
    """
    if count >= HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            return _in_huge_pages(count)
        except OSError as err:
            raise MemoryError(f"unable to allocate {count} bytes") from err
    raw = np.empty(count + BUFFER_ALIGNMENT, dtype=np.uint8)
    offset = -raw.ctypes.data % BUFFER_ALIGNMENT
    return raw[offset : offset + count]


def _in_huge_pages(count: int) -> np.ndarray[Any, Any]:
    """Returns new bytes that begin with a large page. What is left behind the last whole one is in small pages."""
    mapping = mmap.mmap(-1, count + HUGE_PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    raw = np.frombuffer(mapping, np.uint8)
    offset = -raw.ctypes.data % HUGE_PAGE
    with suppress(OSError):  # It is advice, which some systems do not take.
        mapping.madvise(mmap.MADV_HUGEPAGE, offset, count // HUGE_PAGE * HUGE_PAGE)
    return raw[offset : offset + count]


PAGE: Final = 4096

APART: Final = 43 * BUFFER_ALIGNMENT
"""
The bytes, modulo a page, between the first array that is read and a large result.

Processors compare the low 12 bits of addresses to see whether a load reads what was just stored. Where a result begins
right behind its operand, as arrays that are allocated one after the other do, the loads of the next elements wait for
stores that do not concern them (measured on Zen 4: a depthwise convolution takes up to twice as long). An odd number of
lines keeps pixels of a power of 2 of channels apart as well. Source: Intel, Optimization Reference Manual, "4K
aliasing"; AMD, Software Optimization Guide for Zen 4, 2.12.
"""

LARGE: Final = 1 << 18
"""The bytes of a result from which it is placed so. A smaller one is made in less time than a place is looked for."""


def array_apart(sizes: tuple[int, ...], dtype: np.dtype[Any], nbytes: int, address: int) -> np.ndarray[Any, Any]:
    """Returns a new array, not initialised, that begins `APART` bytes behind `address`, modulo a page."""
    raw = np.empty(nbytes + PAGE, dtype=np.uint8)
    offset = (address // BUFFER_ALIGNMENT * BUFFER_ALIGNMENT + APART - raw.ctypes.data) % PAGE
    return raw[offset : offset + nbytes].view(dtype).reshape(sizes)


def allocate_together(types: Sequence[ArrayType]) -> list[np.ndarray[Any, Any]]:
    """Returns new arrays of static types, aligned to `BUFFER_ALIGNMENT`, in one piece of memory."""
    sizes = [type_.nbytes for type_ in types]
    starts = [0, *accumulate(aligned(size) for size in sizes)]
    memory = aligned_bytes(starts[-1])
    pieces = [memory[start : start + size] for start, size in zip(starts, sizes, strict=False)]
    return [piece.view(numpy_dtype(t.dtype)).reshape(t.sizes) for piece, t in zip(pieces, types, strict=True)]


def check_input(value: Any, type_: ArrayType, name: str) -> np.ndarray[Any, Any]:
    """
    Returns `value` as an array that native code can read: itself when contiguous and aligned, else a copy.

    Nothing is converted. Raises ArgumentError when it is no array or has another element type, rank or shape.
    """
    check_type(value, type_, name)
    if value.flags.c_contiguous and value.flags.aligned:
        return value
    return np.array(value, order="C", copy=True)


def unshared(value: Any) -> np.ndarray[Any, Any]:
    """
    Returns an array that stays as it is: a read-only one itself, such as a memory map of mode "r", else a copy.

    Raises TypeError or ValueError for what is no array, and for one with a mask.
    """
    refuse_mask(value, "it")
    array = np.asarray(value)
    return array if isinstance(value, np.ndarray) and not array.flags.writeable else np.array(array)


def refuse_mask(value: Any, what: str) -> None:
    """Raises ArgumentError for an array with a mask, whose hidden elements would count."""
    if isinstance(value, np.ma.MaskedArray):
        hint = "array.filled(…) gives the masked elements a value"
        raise ArgumentError(f"{what} has a mask, expected an array without one; {hint}")


def note_size(sizes: dict[str, tuple[int, str]], name: str, size: int, argument: str) -> None:
    """Adds a size of an argument under the name of its dimension. Raises ArgumentError where another one has it."""
    first, owner = sizes.setdefault(name, (size, argument)) if name else (size, "")
    if first != size:
        raise ArgumentError(f"dimension '{name}' is {first} in '{owner}' and {size} in '{argument}'")


def check_type(value: Any, type_: ArrayType, name: str) -> None:
    """Raises ArgumentError when `value` is no array or has another element type, rank or shape. Strides may be any."""
    if not isinstance(value, np.ndarray):
        raise ArgumentError(
            f"argument '{name}' is {with_article(type(value).__name__)}, expected a numpy array of type {type_}"
        )
    if value.dtype != numpy_dtype(type_.dtype):
        raise ArgumentError(
            f"argument '{name}' has element type {value.dtype}, expected {numpy_dtype(type_.dtype)} ({type_})"
        )
    if not type_.fits(value.shape):
        what = "rank" if len(value.shape) != len(type_.shape) else "shape"
        raise ArgumentError(f"argument '{name}' has {what} {_shown(value.shape, what)}, expected {type_}")


def check_output(value: Any, type_: ArrayType, name: str) -> np.ndarray[Any, Any]:
    """Returns `value` if native code can write into it in place. Raises ArgumentError otherwise."""
    checked = check_input(value, type_, name)
    if checked is not value:
        raise ArgumentError(f"output '{name}' is not contiguous and aligned, expected an array to write in place")
    if not value.flags.writeable:
        raise ArgumentError(f"output '{name}' is read-only, expected an array to write in place")
    return value


def _shown(shape: Sequence[int], what: str) -> str:
    sizes = "x".join(map(str, shape)) or "()"
    return f"{len(shape)} (shape {sizes})" if what == "rank" else sizes
