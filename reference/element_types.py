"""
Element types in NumPy: names of the IR to dtypes and back, the type to compute in, and correct rounding.

Conversions between integers and floats are exact here where NumPy's are not. `float64` to `bfloat16` and `int64` to
`float16` round twice in NumPy and once here.
"""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

from ..te import dtypes

Array = np.ndarray[Any, Any]

DTYPES: Final[dict[str, np.dtype[Any]]] = {name: dtypes.numpy_dtype(name) for name in dtypes.ALL}
"""The NumPy dtype of each element type, by its name in the IR."""

NAMES: Final = {dtype: name for name, dtype in DTYPES.items()}


def is_float(dtype: np.dtype[Any]) -> bool:
    return NAMES.get(np.dtype(dtype)) in dtypes.FLOATS


def is_signed(dtype: np.dtype[Any]) -> bool:
    return NAMES.get(np.dtype(dtype)) in dtypes.SIGNED


def is_unsigned(dtype: np.dtype[Any]) -> bool:
    return NAMES.get(np.dtype(dtype)) in dtypes.UNSIGNED


def is_integer(dtype: np.dtype[Any]) -> bool:
    return is_signed(dtype) or is_unsigned(dtype)


def is_small_integer(dtype: np.dtype[Any]) -> bool:
    """Returns whether values of `dtype` are integers of less than a byte."""
    return NAMES.get(np.dtype(dtype)) in dtypes.SMALL_INTEGERS


def is_small_float(dtype: np.dtype[Any]) -> bool:
    """Returns whether `dtype` is `f16` or `bf16`. Every op on them computes in `f32` and rounds once."""
    return NAMES.get(np.dtype(dtype)) in dtypes.SMALL_FLOATS


def single_op_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the type in which one IEEE operation on `dtype` runs: `f32` for `f16` and `bf16`, else `dtype`."""
    return DTYPES["f32"] if is_small_float(dtype) else np.dtype(dtype)


def wide_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """
    Returns the type in which functions and sums of `dtype` are evaluated before the one rounding to `dtype`.

    It is `float64` for the floats up to `f32`. For `f64` it is `longdouble`, which has 80 bits on x86-64 and at least
    those of `float64` elsewhere.
    """
    if not is_float(dtype):
        return np.dtype(dtype)
    return np.dtype(np.longdouble) if np.dtype(dtype) == np.float64 else np.dtype(np.float64)


def widen(array: Array) -> Array:
    """Returns the exact values of a float array in its wide type."""
    return array.astype(wide_dtype(array.dtype))


def round_to(array: Array, dtype: np.dtype[Any]) -> Array:
    """Returns floats rounded once, to nearest even, to the float type `dtype`. Overflow gives inf."""
    array, dtype = np.asarray(array), np.dtype(dtype)
    with np.errstate(all="ignore"):
        if not is_small_float(dtype) or is_small_float(array.dtype):
            return array.astype(dtype)
        if array.dtype == np.longdouble:
            array = _to_odd_float64(array)
        if dtype == np.float16 or array.dtype != np.float64:
            return array.astype(dtype)
        return _to_odd_float32(array).astype(dtype)


def _to_odd_float64(array: Array) -> Array:
    """Converts `longdouble` to `float64`. An inexact value becomes the neighbour with an odd last bit."""
    nearest = array.astype(np.float64)
    error = array - nearest.astype(np.longdouble)
    return _make_odd(nearest, error, np.int64)


def _to_odd_float32(array: Array) -> Array:
    """
    Converts `float64` to `float32`. An inexact value becomes the neighbour with an odd last bit, so that rounding again
    is harmless.
    """
    nearest = array.astype(np.float32)
    error = array - nearest.astype(np.float64)
    return _make_odd(nearest, error, np.int32)


def _make_odd(nearest: Array, error: Array, bits_dtype: type) -> Array:
    """
    Returns `nearest`. Where it is inexact and its last bit is even, it is moved one step towards the exact value
    `nearest + error`.
    """
    bits = np.array(nearest, copy=True).view(bits_dtype)
    even = (bits & 1) == 0
    inexact = np.isfinite(nearest) & np.isfinite(error) & (error != 0)
    towards = np.where(error > 0, np.inf, -np.inf).astype(nearest.dtype)
    return np.where(inexact & even, np.nextafter(nearest, towards), nearest)


def to_odd_sum(x: Array, y: Array) -> Array:
    """
    Returns `x + y` in `float64`, rounded to odd, so that one more rounding to at most 51 bits is correct.

    The exact error of the sum is Knuth's TwoSum (The Art of Computer Programming 2, section 4.2.2, theorem B).
    """
    total = x + y
    x_part = total - y
    error = (x - x_part) + (y - (total - x_part))
    return _make_odd(total, error, np.int64)


def integers_to_float(array: Array, dtype: np.dtype[Any]) -> Array:
    """Returns integers rounded once, to nearest even, to the float type `dtype`."""
    dtype = np.dtype(dtype)
    if dtype == np.float64 or array.dtype.itemsize < 8:
        return round_to(array.astype(np.float64), dtype)
    negative = array < 0 if array.dtype.kind == "i" else np.zeros(array.shape, np.bool_)
    magnitude = np.where(negative, ~array.astype(np.uint64) + np.uint64(1), array.astype(np.uint64))
    # Only 53 bits are kept. The last of them is odd when anything was cut off.
    sticky = ((magnitude & np.uint64(2047)) != 0).astype(np.uint64)
    cut = ((magnitude >> np.uint64(11)) | sticky) << np.uint64(11)
    kept = np.where(magnitude < np.uint64(1 << 53), magnitude, cut)
    return round_to(np.where(negative, -1.0, 1.0) * kept.astype(np.float64), dtype)


def float_to_integers(array: Array, dtype: np.dtype[Any]) -> Array:
    """Returns floats truncated towards zero and saturated to the range of the integer type `dtype`. NaN gives 0."""
    limits = ml_dtypes.iinfo(dtype)
    value = np.trunc(array.astype(np.float64))
    above = value >= float(limits.max + 1)
    below = value < float(limits.min)
    inside = np.where(np.isnan(value) | above | below, 0.0, value).astype(dtype)
    return np.where(above, limits.max, np.where(below, limits.min, inside)).astype(dtype)


def convert(array: Array, dtype: np.dtype[Any]) -> Array:
    """Converts any element type to any other, as `astype` of docs/semantics.md."""
    source, dtype = array.dtype, np.dtype(dtype)
    with np.errstate(all="ignore"):
        if dtype == np.bool_:
            return array != np.zeros((), source)
        if source == np.bool_:
            return array.astype(np.uint8).astype(dtype)
        if is_float(dtype):
            return round_to(array, dtype) if is_float(source) else integers_to_float(array, dtype)
        if is_float(source):
            return float_to_integers(array, dtype)
        # ml_dtypes has no conversion from one small integer to another. A byte holds all values of both.
        return (array.astype(np.int8) if is_small_integer(source) else array).astype(dtype)


def number(value: float | int | bool, dtype: np.dtype[Any]) -> Array:
    """Returns a number of a property as a rank-0 array, rounded to `dtype`. An integer type wraps an integer."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return np.asarray(bool(value), np.bool_)
    if is_float(dtype):
        if isinstance(value, int) and abs(value) >= 1 << 53:
            return integers_to_float(np.asarray(value, np.int64 if value < 1 << 63 else np.uint64), dtype)
        return round_to(np.asarray(float(value), np.float64), dtype)
    wrapped = int(value) & ((1 << ml_dtypes.iinfo(dtype).bits) - 1)
    return np.asarray(wrapped, np.dtype(f"u{dtype.itemsize}")).view(dtype)
