"""The floats of 8 bits in NumPy: their types, all their patterns, and results compared by bits."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

Array = np.ndarray[Any, Any]

TYPES = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
ALL_BITS = np.arange(256, dtype=np.uint8)

each_type = pytest.mark.parametrize("dtype", TYPES)
ignores_nan = pytest.mark.filterwarnings("ignore::RuntimeWarning")
"""NumPy warns of NaN and overflow in casts."""


def same(found: Array, wanted: Array) -> bool:
    """Whether all bits are the same, those of NaN aside."""
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    unsigned = np.dtype(f"u{found.dtype.itemsize}")
    both_nan = np.isnan(found.astype(np.float64)) & np.isnan(wanted.astype(np.float64))
    return bool(np.all(both_nan | (found.view(unsigned) == wanted.view(unsigned))))


@cache
def positive_values(dtype: str) -> tuple[Array, int]:
    """
    The values of the patterns 0, 1, 2 … that are not negative, as if those of the largest exponent were numbers too,
    and the index of the greatest that is a number.
    """
    exponent_bits, fraction_bits, greatest = {"f8E4M3FN": (4, 3, 0x7E), "f8E5M2": (5, 2, 0x7B)}[dtype]
    bias = 2 ** (exponent_bits - 1) - 1
    values = []
    for bits in range(128):
        exponent, fraction = bits >> fraction_bits, bits % 2**fraction_bits
        implicit = 2**fraction_bits if exponent else 0
        values.append((implicit + fraction) * 2.0 ** (max(exponent, 1) - bias - fraction_bits))
    return np.array(values), greatest


def by_the_table(x: Array, dtype: str, saturate: bool) -> Array:
    """
    The rows of the tables of ONNX's Cast for floats of 8 bits. `[x]` there is x rounded to the digits of the type,
    to nearest, ties to even: of neighbours, the pattern that is even.
    """
    values, greatest = positive_values(dtype)
    wide = np.abs(x.astype(np.float64))
    above = np.clip(np.searchsorted(values, wide), 1, 127)
    middle = (values[above - 1] + values[above]) / 2
    up = (wide > middle) | ((wide == middle) & (above % 2 == 0))
    rounded = np.where(up, above, above - 1)
    overflow = greatest if saturate else {"f8E4M3FN": 0x7F, "f8E5M2": 0x7C}[dtype]
    bits = np.where(rounded > greatest, overflow, rounded)
    bits = np.where(np.isnan(wide), 0x7F, bits) | np.where(np.signbit(x), 0x80, 0)
    return bits.astype(np.uint8).view(TYPES[dtype])
