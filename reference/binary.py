"""Elementwise ops with two or three operands. All broadcast as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .element_types import Array, is_float, is_signed, round_to, single_op_dtype, to_odd_sum, widen
from .elementwise import Properties, Reference, maximum_of, minimum_of
from .failure import ReferenceFailure

ZERO_DIVISOR = "integer division by zero"


def _arithmetic(function: Callable[[Array, Array], Array]) -> Reference:
    """Makes the reference of `add`, `subtract` and `multiply`. They round once on floats and wrap on integers."""

    def reference(properties: Properties, x: Array, y: Array) -> tuple[Array, ...]:
        compute = single_op_dtype(x.dtype)
        with np.errstate(all="ignore"):
            return (round_to(function(x.astype(compute), y.astype(compute)), x.dtype),)

    return reference


def _check_divisor(op: str, x: Array, y: Array) -> None:
    """Fails when an element that is computed has divisor 0. An empty result computes none."""
    divisors = np.broadcast_to(y, np.broadcast_shapes(x.shape, y.shape))
    if np.any(divisors == 0):
        raise ReferenceFailure(op, ZERO_DIVISOR)


def _floor_division(x: Array, y: Array) -> tuple[Array, Array]:
    """Returns the quotient rounded towards -inf and its remainder. It wraps where the divisor is -1."""
    with np.errstate(all="ignore"):
        minus_one = y == -1 if is_signed(y.dtype) else np.zeros(y.shape, np.bool_)
        divisor = np.where(minus_one, np.ones((), y.dtype), y)
        quotient, remainder = np.divmod(x, divisor)
        return (
            np.where(minus_one, (~x + np.ones((), x.dtype)), quotient).astype(x.dtype),
            np.where(minus_one, np.zeros((), x.dtype), remainder).astype(x.dtype),
        )


def _divide(properties: Properties, x: Array, y: Array) -> tuple[Array, ...]:
    if is_float(x.dtype):
        return _arithmetic(np.divide)(properties, x, y)
    _check_divisor("graph.divide", x, y)
    quotient, remainder = _floor_division(x, y)
    # Rounding towards -inf and towards zero differ where the quotient is negative and not exact.
    negative = (x < 0) != (y < 0)
    return (np.where(negative & (remainder != 0), quotient + 1, quotient).astype(x.dtype),)


def _exact_floor_of_quotient(x: float, y: float) -> float:
    """
    Returns `floor(x / y)` by exact arithmetic, rounded to a double. It is NaN for an infinite `x`, and `x / y` for a
    zero `y`.
    """
    if abs(x) == np.inf and y != 0:
        return np.nan  # `mod` gives NaN here too.
    if x != x or y != y or y == 0:
        return float(np.divide(np.float64(x), np.float64(y)))
    if abs(y) == np.inf:
        # The quotient is a zero. It has the sign of an infinitely small number when x is not 0.
        return -1.0 if x != 0 and (x < 0) != (y < 0) else float(np.divide(np.float64(x), np.float64(y)))
    whole = Fraction(x) / Fraction(y)
    whole = whole.numerator // whole.denominator
    if whole == 0:
        return float(np.copysign(0.0, x) * np.copysign(1.0, y))
    try:
        return float(whole)
    except OverflowError:
        return np.inf if whole > 0 else -np.inf


_exact_floor_elements = np.frompyfunc(_exact_floor_of_quotient, 2, 1)


def _floor_divide(properties: Properties, x: Array, y: Array) -> tuple[Array, ...]:
    if is_float(x.dtype):
        with np.errstate(all="ignore"):
            floors = np.asarray(_exact_floor_elements(x.astype(np.float64), y.astype(np.float64)), np.float64)
        return (round_to(floors.reshape(np.broadcast_shapes(x.shape, y.shape)), x.dtype),)
    _check_divisor("graph.floor_divide", x, y)
    return (_floor_division(x, y)[0],)


def _mod(properties: Properties, x: Array, y: Array) -> tuple[Array, ...]:
    if not is_float(x.dtype):
        _check_divisor("graph.mod", x, y)
        return (_floor_division(x, y)[1],)
    compute = single_op_dtype(x.dtype)
    with np.errstate(all="ignore"):
        dividend, divisor = x.astype(compute), y.astype(compute)
        remainder = np.fmod(dividend, divisor)
        moved = np.where((remainder < 0) != (divisor < 0), remainder + divisor, remainder)
        result = np.where(remainder == 0, np.copysign(np.zeros((), compute), divisor), moved)
    return (round_to(result.astype(compute), x.dtype),)


def _integer_power(x: Array, y: Array) -> Array:
    """
    Returns the power by square and multiply modulo 2^64, then modulo the width. Negative exponents follow
    docs/semantics.md.
    """
    shape = np.broadcast_shapes(x.shape, y.shape)
    base = np.broadcast_to(x, shape).astype(np.int64 if is_signed(x.dtype) else np.uint64)
    exponent = np.broadcast_to(y, shape)
    negative = exponent < 0
    square = base.astype(np.uint64)
    left = np.where(negative, 0, exponent).astype(np.uint64)
    product = np.ones(shape, np.uint64)
    for _ in range(64):
        product = np.where(left & np.uint64(1), product * square, product)
        square = square * square
        left = left >> np.uint64(1)
    result = product.astype(x.dtype)
    odd = (exponent & 1) == 1
    minus_one = np.invert(np.zeros((), x.dtype)).astype(x.dtype)
    of_minus_one = np.where(odd, minus_one, np.ones((), x.dtype))
    inverse = np.where(base == 1, np.ones((), x.dtype), np.where(base == -1, of_minus_one, np.zeros((), x.dtype)))
    return np.where(negative, inverse, result).astype(x.dtype)


def _float_power(x: Array, y: Array) -> Array:
    """Returns `x ** y`. Where all exponents are one 0.5, NumPy takes square roots, which are others of -0 and -inf."""
    return np.where((y == 0.5) & ((x == 0) | np.isinf(x)), np.abs(x), np.power(x, y))


def _power(properties: Properties, x: Array, y: Array) -> tuple[Array, ...]:
    with np.errstate(all="ignore"):
        if is_float(x.dtype):
            wide = _float_power(widen(x), widen(y))
            if x.dtype == np.float64:
                # glibc's powl(-inf, -2^63) is inf. Powers of infinities are exact in any type.
                wide = np.where(np.isinf(x), _float_power(x, y), wide)
            return (round_to(wide, x.dtype),)
        return (_integer_power(x, y),)


def _maximum(properties: Properties, x: Array, y: Array) -> tuple[Array, ...]:
    return (maximum_of(x, y),)


def _minimum(properties: Properties, x: Array, y: Array) -> tuple[Array, ...]:
    return (minimum_of(x, y),)


def _comparison(function: Callable[[Array, Array], Array]) -> Reference:
    def reference(properties: Properties, x: Array, y: Array) -> tuple[Array, ...]:
        compute = single_op_dtype(x.dtype)
        return (np.asarray(function(x.astype(compute), y.astype(compute)), np.bool_),)

    return reference


def _plain(function: Callable[[Array, Array], Array]) -> Reference:
    def reference(properties: Properties, x: Array, y: Array) -> tuple[Array, ...]:
        return (np.asarray(function(x, y)),)

    return reference


def _counts(x: Array, y: Array) -> tuple[Array, Array]:
    """Returns shift counts as unsigned numbers limited to the bit width, and where they reach it."""
    width = x.dtype.itemsize * 8
    unsigned = y.view(np.dtype(f"u{y.dtype.itemsize}")).astype(np.uint64)
    too_far = unsigned >= width
    return np.where(too_far, np.uint64(0), unsigned).astype(x.dtype), too_far


def _left_shift(properties: Properties, x: Array, y: Array) -> tuple[Array, ...]:
    counts, too_far = _counts(x, np.ascontiguousarray(y).reshape(y.shape))
    return (np.where(too_far, np.zeros((), x.dtype), np.left_shift(x, counts)).astype(x.dtype),)


def _right_shift(properties: Properties, x: Array, y: Array) -> tuple[Array, ...]:
    counts, too_far = _counts(x, np.ascontiguousarray(y).reshape(y.shape))
    minus_one = np.invert(np.zeros((), x.dtype)).astype(x.dtype)
    beyond = np.where(x < 0, minus_one, np.zeros((), x.dtype))
    return (np.where(too_far, beyond, np.right_shift(x, counts)).astype(x.dtype),)


def _where(properties: Properties, condition: Array, x: Array, y: Array) -> tuple[Array, ...]:
    return (np.where(condition, x, y).astype(x.dtype),)


def _exact_fma(x: float, y: float, z: float) -> float:
    """Returns `x * y + z` rounded once, for doubles."""
    if not (np.isfinite(x) and np.isfinite(y)):
        return x * y + z
    if not np.isfinite(z):
        return z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        # Zero is exact only when the product is. Then the plain sum has the right sign, unless x * y underflowed.
        return x * y + z
    try:
        return float(exact)
    except OverflowError:
        return np.inf if exact > 0 else -np.inf


_exact_fma_elements = np.frompyfunc(_exact_fma, 3, 1)


def _ewise_fma(properties: Properties, x: Array, y: Array, z: Array) -> tuple[Array, ...]:
    shape = np.broadcast_shapes(x.shape, y.shape, z.shape)
    with np.errstate(all="ignore"):
        if not is_float(x.dtype):
            return ((x * y + z).astype(x.dtype),)
        wide = [operand.astype(np.float64) for operand in (x, y, z)]
        if x.dtype == np.float64:
            return (np.asarray(_exact_fma_elements(*wide), np.float64).reshape(shape),)
        # The product of two f32 is exact in float64. The sum is rounded to odd there, then once to the type.
        return (round_to(to_odd_sum(wide[0] * wide[1], wide[2]), x.dtype),)


OPS: dict[str, Any] = {
    "graph.add": _arithmetic(np.add),
    "graph.subtract": _arithmetic(np.subtract),
    "graph.multiply": _arithmetic(np.multiply),
    "graph.divide": _divide,
    "graph.floor_divide": _floor_divide,
    "graph.mod": _mod,
    "graph.power": _power,
    "graph.maximum": _maximum,
    "graph.minimum": _minimum,
    "graph.equal": _comparison(np.equal),
    "graph.not_equal": _comparison(np.not_equal),
    "graph.less": _comparison(np.less),
    "graph.less_equal": _comparison(np.less_equal),
    "graph.greater": _comparison(np.greater),
    "graph.greater_equal": _comparison(np.greater_equal),
    "graph.logical_and": _plain(np.logical_and),
    "graph.logical_or": _plain(np.logical_or),
    "graph.logical_xor": _plain(np.logical_xor),
    "graph.bitwise_and": _plain(np.bitwise_and),
    "graph.bitwise_or": _plain(np.bitwise_or),
    "graph.bitwise_xor": _plain(np.bitwise_xor),
    "graph.left_shift": _left_shift,
    "graph.right_shift": _right_shift,
    "graph.where": _where,
    "graph.ewise_fma": _ewise_fma,
}
