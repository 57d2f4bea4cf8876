"""Integers of 4 and 2 bits in NumPy: their types, their values, and conversions written out."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

Array = np.ndarray[Any, Any]

TYPES = {"i4": ml_dtypes.int4, "ui4": ml_dtypes.uint4, "i2": ml_dtypes.int2, "ui2": ml_dtypes.uint2}
BITS = {"i4": 4, "ui4": 4, "i2": 2, "ui2": 2}
RANGES = {"i4": (-8, 7), "ui4": (0, 15), "i2": (-2, 1), "ui2": (0, 3)}

each_type = pytest.mark.parametrize("dtype", TYPES)


def wrapped(numbers: Array, dtype: str) -> Array:
    """The values of the lowest bits of integers, as `int64`."""
    low, high = RANGES[dtype]
    return (numbers.astype(object) - low) % (high - low + 1) + low


def saturated(numbers: Array, dtype: str) -> Array:
    """Floats without their fraction, moved into the range; NaN is 0."""
    low, high = RANGES[dtype]
    wide = np.nan_to_num(numbers.astype(np.float64), nan=0.0, posinf=1e9, neginf=-1e9)
    return np.clip(np.trunc(wide), low, high).astype(np.int64)


def values_of(array: Array) -> Array:
    """The values of an array of any of the types."""
    return array.astype(np.int8).astype(np.int64)


def any_bytes(random: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """An array whose upper bits hold anything, and its values."""
    data = np.asarray(random.integers(0, 256, shape, np.uint8))
    return data.view(TYPES[dtype]), np.asarray(wrapped(data.astype(np.int64), dtype)).astype(np.int64)


def packed(numbers: Array, dtype: str) -> bytes:
    """The bytes that a file holds, written with Python's integers."""
    bits, data = BITS[dtype], bytearray()
    flat = [int(number) % 2**bits for number in numbers.reshape(-1)]
    for first in range(0, len(flat), 8 // bits):
        data.append(sum(number << place * bits for place, number in enumerate(flat[first : first + 8 // bits])))
    return bytes(data)
