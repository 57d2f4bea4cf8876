"""
Scalar functions of tensor expressions on NumPy arrays, with the exact results that docs/semantics.md prescribes.

Half floats are computed in f32 and rounded once. Functions of f32 that are not correctly rounded are computed in f64
and rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from . import dtypes
from .dtypes import numpy_dtype
from .expr import TEError

Array = np.ndarray[Any, Any]
_NAMES = {numpy_dtype(dtype): dtype for dtype in dtypes.ALL}


def dtype_of(array: Array) -> str:
    """Returns the element type whose values `array` holds. Raises TEError for a NumPy type that has none."""
    if array.dtype not in _NAMES:
        raise TEError(f"an array has element type {array.dtype}, expected one of {', '.join(map(str, _NAMES))}")
    return _NAMES[array.dtype]


def _erf(x: Array) -> Array:
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x), dtype=np.float64)


_FLOAT_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "erf": _erf,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
    "atan": np.arctan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}
_TESTS: dict[str, Callable[..., Array]] = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}


def unary(function: str, dtype: str, x: Array) -> Array:
    """Returns `function` of values of element type `dtype`."""
    if function == "neg":
        return np.negative(x)
    if function == "abs":
        return np.abs(x)
    if function == "not":
        return np.invert(x)
    if function in _TESTS:
        return _TESTS[function](_widened(dtype, x))
    wide = np.asarray(_FLOAT_FUNCTIONS[function](x.astype(np.float64)))
    return wide if dtype == "f64" else cast("f32", dtype, wide.astype(np.float32))


def _widened(dtype: str, x: Array) -> Array:
    return x.astype(np.float32) if dtypes.is_small_float(dtype) else x


_FLOAT_BINARY: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "fmod": np.fmod,
    "copysign": np.copysign,
}


def _power(x: Array, y: Array) -> Array:
    # Where all exponents are one 0.5, NumPy takes square roots. Those of -0 and -inf are no powers.
    return np.where((y == 0.5) & ((x == 0) | np.isinf(x)), np.abs(x), np.power(x, y))


_THROUGH_F64: dict[str, Callable[..., Array]] = {"pow": _power, "atan2": np.arctan2}


def _truncdiv(x: Array, y: Array) -> Array:
    quotient = np.floor_divide(x, y)
    inexact = np.multiply(quotient, y) != x
    return quotient + (inexact & ((x < 0) != (y < 0))).astype(x.dtype)


def _shift(function: Callable[..., Array], x: Array, y: Array) -> Array:
    # A count outside the width has no meaning, and NumPy's result for it depends on the machine.
    return function(x, np.clip(y, 0, x.dtype.itemsize * 8 - 1).astype(x.dtype))


_INTEGER_BINARY: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "truncdiv": _truncdiv,
    "truncmod": np.fmod,
    "floordiv": np.floor_divide,
    "floormod": np.mod,
    "shl": lambda x, y: _shift(np.left_shift, x, y),
    "shr": lambda x, y: _shift(np.right_shift, x, y),
}


def binary(function: str, dtype: str, x: Array, y: Array) -> Array:
    """Returns `function` of two values of element type `dtype`."""
    if not dtypes.is_float(dtype):
        return _INTEGER_BINARY[function](x, y)
    if dtypes.is_small_float(dtype):
        return cast("f32", dtype, binary(function, "f32", x.astype(np.float32), y.astype(np.float32)))
    if function in ("max", "min"):
        return _extremum(function, x, y)
    if function in _THROUGH_F64:
        return _THROUGH_F64[function](x.astype(np.float64), y.astype(np.float64)).astype(x.dtype)
    return _FLOAT_BINARY[function](x, y)


def _extremum(function: str, x: Array, y: Array) -> Array:
    """
    Returns the `max` or `min` of two floats, and NaN if either is NaN.

    Of two zeros `max` returns the sum, which is +0 unless both are -0. `min` returns the negated sum of the negations.
    """
    if function == "max":
        result, zero = np.maximum(x, y), np.add(x, y)
    else:
        result, zero = np.minimum(x, y), -np.add(-x, -y)
    return np.where((x == 0) & (y == 0), zero, result)


def compare(function: str, x: Array, y: Array) -> Array:
    """Returns a comparison, on any element type."""
    functions: dict[str, Callable[..., Array]] = {
        "eq": np.equal,
        "ne": np.not_equal,
        "lt": np.less,
        "le": np.less_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
    }
    return functions[function](x, y)


def reduce(function: str, dtype: str, x: Array, axes: tuple[int, ...]) -> Array:
    """Returns `function` folded over the dimensions `axes`, none of them empty. Half floats accumulate in f32."""
    if dtypes.is_small_float(dtype):
        return cast("f32", dtype, reduce(function, "f32", x.astype(np.float32), axes))
    table: dict[str, np.ufunc] = {
        "add": np.add,
        "mul": np.multiply,
        "max": np.maximum,
        "min": np.minimum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }
    result = np.asarray(table[function].reduce(x, axis=axes, dtype=x.dtype))
    if function in ("max", "min") and dtypes.is_float(dtype):
        wanted = function == "min"
        has_wanted = np.any((x == 0) & (np.signbit(x) == wanted), axis=axes)
        zero = np.where(has_wanted == wanted, x.dtype.type(-0.0), x.dtype.type(0.0))
        result = np.where(result == 0, zero, result)
    return result


def cast(source: str, target: str, x: Array) -> Array:
    """Returns values of element type `source` as `target`, by the rules of `Cast`."""
    if source == target:
        return x
    if target == "i1":
        return x != 0
    if dtypes.is_float(target):
        return _to_float(source, target, x)
    if dtypes.is_float(source):
        return _float_to_integer(target, x.astype(np.float64))
    if dtypes.is_small_integer(source):
        x = x.astype(np.int8)  # ml_dtypes has no conversion from one small integer to another.
    return x.astype(numpy_dtype(target))


def _float_to_integer(target: str, x: Array) -> Array:
    """
    Truncates towards zero and saturates. NaN gives 0. The bounds are compared as powers of two, which f64 holds
    exactly.
    """
    low, high = dtypes.integer_range(target)
    type_ = numpy_dtype(target)
    truncated = np.trunc(x)
    too_low, too_high = truncated < float(low), truncated >= float(high + 1)
    inside = np.where(too_low | too_high | np.isnan(x), 0.0, truncated).astype(type_)
    return np.where(too_low, type_.type(low), np.where(too_high, type_.type(high), inside))


def _to_float(source: str, target: str, x: Array) -> Array:
    if dtypes.is_small_float(target) and (source == "f64" or (source != "i1" and not dtypes.is_float(source))):
        exact = x if source == "f64" else _sticky(x)
        return _odd(exact.astype(np.float32), exact).astype(numpy_dtype(target))
    if source == "f64" or target == "f64":
        return x.astype(numpy_dtype(target))
    return x.astype(np.float32).astype(numpy_dtype(target))


def _sticky(x: Array) -> Array:
    """
    Returns integers as f64 without rounding. Of a large integer the low 16 bits are replaced by one that tells whether
    any of them is set.
    """
    low = x.astype(np.int64) & 0xFFFF if x.dtype != np.uint64 else (x & np.uint64(0xFFFF)).astype(np.int64)
    large = np.abs(x.astype(np.float64)) >= 2.0**40
    high = (x - low.astype(x.dtype)).astype(np.float64) if x.dtype.itemsize == 8 else x.astype(np.float64)
    return np.where(large, high + np.where(low != 0, 2.0**15, 0.0), x.astype(np.float64))


def _odd(rounded: Array, exact: Array) -> Array:
    """
    Returns `exact` rounded to odd, given `rounded`, which is `exact` rounded to nearest.

    An inexact value gets an odd last digit. Rounding it once more, to a type at least two digits shorter, then gives
    the same result as rounding `exact` once.

    Source: S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Trans. Comp. 57 (2008).
    """
    wide = rounded.astype(np.float64)
    return _toward(rounded, np.sign(np.where(np.isfinite(wide), exact - wide, 0.0)))


def _toward(rounded: Array, direction: Array) -> Array:
    """Returns `rounded`. Where its last digit is even, it is the neighbour up or down by the sign of `direction`."""
    bits = rounded.view(np.uint32 if rounded.dtype == np.float32 else np.uint64)
    move = (direction != 0) & (bits & 1 == 0) & np.isfinite(rounded)
    return np.where(move, np.nextafter(rounded, (direction * np.inf).astype(rounded.dtype)), rounded)


def fma(dtype: str, a: Array, b: Array, c: Array) -> Array:
    """Returns `a * b + c`, rounded once. A small float is rounded directly to `dtype` too."""
    if dtype == "f64":
        return np.asarray(np.frompyfunc(_fma_f64, 3, 1)(a, b, c), dtype=np.float64)
    a, b, c = (x.astype(np.float64) for x in (a, b, c))
    product = a * b  # Exact: at most 48 digits.
    total = np.asarray(product + c)
    # This is the rounding error of the sum by Knuth's TwoSum. Its sign tells which neighbour is the odd one.
    part = total - product
    error = (product - (total - part)) + (c - part)
    odd = _toward(total, np.sign(np.where(np.isfinite(error), error, 0.0)))
    return cast("f64", dtype, odd)


def _fma_f64(a: float, b: float, c: float) -> float:
    plain = a * b + c
    if not (math.isfinite(a) and math.isfinite(b)):
        return plain
    if not math.isfinite(c):
        return c  # This also holds where `a * b` alone would overflow.
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return plain
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
