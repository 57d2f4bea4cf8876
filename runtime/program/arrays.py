"""NumPy arrays at the border of a compiled program: element types, checks, alignment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from .errors import ArgumentError

_DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i1": np.bool_,
    **{f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
}

ARENA_ALIGNMENT = 64
"""Bytes: the alignment of arenas and of the arrays that we allocate."""


@cache
def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """The NumPy type of an element type as MLIR prints it; bf16 is `ml_dtypes.bfloat16`."""
    return np.dtype(_DTYPES[dtype])


@dataclass(frozen=True)
class ArrayType:
    """Element type and shape (elements; None = any size) of an argument or result."""

    dtype: str
    shape: tuple[int | None, ...]

    def __str__(self) -> str:
        return "tensor<" + "".join(f"{'?' if size is None else size}x" for size in self.shape) + f"{self.dtype}>"

    @property
    def is_static(self) -> bool:
        return None not in self.shape

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape of a static array."""
        return tuple([size or 0 for size in self.shape])

    @property
    def nbytes(self) -> int:
        """Size in bytes of a static array."""
        return prod(self.sizes) * numpy_dtype(self.dtype).itemsize

    def allocate(self) -> np.ndarray[Any, Any]:
        """A new array, not initialised, aligned to `ARENA_ALIGNMENT`."""
        return aligned_bytes(self.nbytes).view(numpy_dtype(self.dtype)).reshape(self.sizes)

    def fits(self, shape: Sequence[int]) -> bool:
        return len(shape) == len(self.shape) and all(
            want is None or want == found for want, found in zip(self.shape, shape, strict=True)
        )


def aligned_bytes(count: int) -> np.ndarray[Any, Any]:
    """`count` bytes, aligned to `ARENA_ALIGNMENT`."""
    raw = np.empty(count + ARENA_ALIGNMENT, dtype=np.uint8)
    offset = -raw.ctypes.data % ARENA_ALIGNMENT
    return raw[offset : offset + count]


def allocate_together(types: Sequence[ArrayType]) -> list[np.ndarray[Any, Any]]:
    """
    New arrays of static types, not initialised, aligned to `ARENA_ALIGNMENT`, in one piece of memory.

    NumPy asks the system for pages of 2 MB where it allocates 4 MB or more. Memory that is new takes a third of the time to write then,
    and reading it fewer entries of the TLB.
    """
    sizes = [type_.nbytes for type_ in types]
    starts = [0, *accumulate(-(-size // ARENA_ALIGNMENT) * ARENA_ALIGNMENT for size in sizes)]
    memory = aligned_bytes(starts[-1])
    pieces = [memory[start : start + size] for start, size in zip(starts, sizes, strict=False)]
    return [piece.view(numpy_dtype(t.dtype)).reshape(t.sizes) for piece, t in zip(pieces, types, strict=True)]


def check_input(value: Any, type_: ArrayType, name: str) -> np.ndarray[Any, Any]:
    """
    `value` as an array native code can read: itself when contiguous and aligned, else a copy.

    Raises ArgumentError when it is no array or has another element type, rank or shape; nothing is converted.
    """
    check_type(value, type_, name)
    if value.flags.c_contiguous and value.flags.aligned:
        return value
    return np.array(value, order="C", copy=True)


def check_type(value: Any, type_: ArrayType, name: str) -> None:
    """Raises ArgumentError when `value` is no array or has another element type, rank or shape; strides may be any."""
    if not isinstance(value, np.ndarray):
        raise ArgumentError(f"argument '{name}' is a {type(value).__name__}, expected a numpy array of type {type_}")
    if value.dtype != numpy_dtype(type_.dtype):
        raise ArgumentError(
            f"argument '{name}' has element type {value.dtype}, expected {numpy_dtype(type_.dtype)} ({type_})"
        )
    if not type_.fits(value.shape):
        what = "rank" if len(value.shape) != len(type_.shape) else "shape"
        raise ArgumentError(f"argument '{name}' has {what} {_shown(value.shape, what)}, expected {type_}")


def check_output(value: Any, type_: ArrayType, name: str) -> np.ndarray[Any, Any]:
    """`value` if native code can write into it in place. Raises ArgumentError otherwise."""
    checked = check_input(value, type_, name)
    if checked is not value:
        raise ArgumentError(f"output '{name}' is not contiguous and aligned, expected an array to write in place")
    if not value.flags.writeable:
        raise ArgumentError(f"output '{name}' is read-only, expected an array to write in place")
    return value


def _shown(shape: Sequence[int], what: str) -> str:
    sizes = "x".join(map(str, shape)) or "()"
    return f"{len(shape)} (shape {sizes})" if what == "rank" else sizes
