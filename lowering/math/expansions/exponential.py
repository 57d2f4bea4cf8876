"""
The functions exp, exp2 and expm1 in f32.

Method (W. J. Cody and W. Waite, Software Manual for the Elementary Functions, 1980): n = x log2(e) rounded to an
integer, r = x - n ln 2 with ln 2 in two parts, exp(x) = 2^n exp(r), |r| <= ln(2)/2, exp(r) by a polynomial of degree 6.
The factor 2^n is applied in two halves: overflow gives inf, and denormal results are rounded once.
"""

from __future__ import annotations

from .coefficients import EXP, EXP2, EXPM1
from .math_ops import MathOps, Value

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693359375
"""ln 2 to 9 bits: its product with |n| < 2^15 is exact."""
LN2_LOW = -2.1219444005469057e-4

MAGIC = 12582912.0
"""1.5 * 2^23: adding it rounds |x| < 2^22 to an integer, found in the low bits of the sum."""
MAGIC_BITS = 0x4B400000

LARGEST_REST = 0.35
"""A bound above the size of every r."""

LARGEST_REST_2 = 0.5

TWO_BIASES = 254
"""Twice the bias of the exponent of f32: added to MAGIC, it makes the factors of `scale` two shifts."""


def power_of_biased(biased: Value) -> Value:
    """Returns 2^n for the bits of `n + MAGIC + 127`, -127 < n < 128: all but the low bits n + 127 are shifted out."""
    return (biased << 23).as_float("f32")


def integer_to_float(n: Value) -> Value:
    """Converts an i32 with |n| < 2^22 to f32, exactly."""
    return (n + MAGIC_BITS).as_float("f32") - MAGIC


def power_of_two(n: Value) -> Value:
    """Returns 2^n for an i32 in -126 .. 127."""
    return ((n + 127) << 23).as_float("f32")


def scale(p: Value, biased: Value) -> Value:
    """
    Computes p * 2^n for the bits of `n + MAGIC + TWO_BIASES`, 0.5 <= p < 2 and -250 < n < 250, rounded at most once.

    Each half of n comes with one bias of the exponent. The bits above are shifted out.
    """
    half = biased >> 1
    return (p * power_of_biased(half)) * power_of_biased(biased - half)


def reduce_by_ln2(m: MathOps, x: Value, bias: int) -> tuple[Value, Value]:
    """Returns (the bits of n + MAGIC + bias, r) with x = n ln 2 + r and |r| <= 0.3467."""
    biased = m.fma(x, LOG2_E, MAGIC + bias)
    k = biased - (MAGIC + bias)
    r = m.fma(k, -LN2_HIGH, x)
    return biased.bits(), m.fma(k, -LN2_LOW, r)


def exp_parts(m: MathOps, x: Value, bias: int = TWO_BIASES) -> tuple[Value, Value]:
    """Returns (p, the bits of n + MAGIC + bias) with exp(x) = p * 2^n, 0.7 < p < 1.42, for |x| below 10^4."""
    biased, r = reduce_by_ln2(m, x, bias)
    return m.polynomial(r, (1.0, 1.0, *EXP)), biased


def exp2_of_fraction(m: MathOps, f: Value) -> Value:
    """Computes 2^f for |f| <= 0.5."""
    return m.fma(f, m.polynomial(f, EXP2), 1.0)


def exp(m: MathOps, x: Value) -> Value:
    """Computes exp(x): -104 is below the last result that is not 0, 89 above the last that is not inf."""
    p, biased = exp_parts(m, x.maximum(-104.0).minimum(89.0))
    return scale(p, biased)


def exp_in_wide_registers(m: MathOps, x: Value) -> Value:
    """
    Computes exp(x) in the body of a `tile.map` with `tile.scale`, which overflows and rounds to denormals by itself.

    There are no bounds for x. Where n is not near x / ln 2, as x is infinite or above 2^22, any finite p scaled by it
    is inf or 0. For a NaN n is NaN too.
    """
    biased = m.fma(x, LOG2_E, MAGIC)
    n = biased - MAGIC
    r = m.fma(n, -LN2_LOW, m.fma(n, -LN2_HIGH, x))
    return m.scale(m.polynomial(m.limit(r, LARGEST_REST), (1.0, 1.0, *EXP)), n)


def exp2_in_wide_registers(m: MathOps, x: Value) -> Value:
    """Computes 2^x as `exp_in_wide_registers` does exp."""
    n = (x + MAGIC) - MAGIC
    return m.scale(exp2_of_fraction(m, m.limit(x - n, LARGEST_REST_2)), n)


def exp2(m: MathOps, x: Value) -> Value:
    """Computes 2^x = 2^n 2^f with n the nearest integer, so that f = x - n is exact."""
    x = x.maximum(-151.0).minimum(129.0)
    biased = x + (MAGIC + TWO_BIASES)
    k = biased - (MAGIC + TWO_BIASES)
    return scale(exp2_of_fraction(m, x - k), biased.bits())


def expm1_parts(m: MathOps, x: Value, bias: int) -> tuple[Value, Value]:
    """Returns (q, 2^(n + bias - 127)) with exp(x) = (1 + q) * 2^n, where q is relatively precise."""
    biased, r = reduce_by_ln2(m, x, bias)
    return m.fma(r * r, m.polynomial(r, EXPM1), r), power_of_biased(biased)


def expm1_positive(m: MathOps, x: Value) -> Value:
    """Computes exp(x) - 1 = q 2^n + (2^n - 1) for 0 <= x <= 88."""
    q, s = expm1_parts(m, x, 127)
    return m.fma(q, s, s - 1.0)


def expm1(m: MathOps, x: Value) -> Value:
    """Computes exp(x) - 1 = 2 (q 2^(n-1) + (2^(n-1) - 1/2)), where n = 128 has a factor. Tiny x is its own result."""
    q, s = expm1_parts(m, x.maximum(-30.0).minimum(89.0), 126)
    result = m.fma(q, s, s - 0.5)
    tiny = (x.bits() & 0x7FFFFFFF).less(0x33000000)  # |x| < 2^-25
    return m.select(tiny, x, result + result)
