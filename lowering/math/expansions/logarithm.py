"""
The functions log, log2, log10 and log1p in f32.

Method: x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), log(1 + f) = f - f^2/2 + f^3 P(f), degree 11. e ln 2 is
added in two parts. f is exact, so the result keeps its relative precision near x = 1.
"""

from __future__ import annotations

import math as pymath

from .coefficients import LOG1P
from .exponential import LN2_HIGH, LN2_LOW, integer_to_float, power_of_two
from .math_ops import MathOps, Value

SQRT_HALF_BITS = 0x3F3504F3
INFINITY_BITS = 0x7F800000
ABS = 0x7FFFFFFF
LOG2_E_HIGH, LOG2_E_LOW = 1.4426950216293335, 1.925963033500e-08
LOG10_E_HIGH, LOG10_E_LOW = 0.4342944920063019, -1.0103050118726031e-08
LOG10_2_HIGH, LOG10_2_LOW = 0.30102539062500000, 4.6050389811952137e-06
"""log10(2) to 12 bits, and the rest: the product of the first with an exponent is exact."""


def split(m: MathOps, x: Value) -> tuple[Value, Value]:
    """Returns (e, f) as f32 with x = 2^e (1 + f), for 0 < x < inf. A denormal x is scaled by 2^24 first."""
    denormal = (x.bits() & ABS).less(0x00800000)
    bits = m.select(denormal, x * 16777216.0, x).bits()
    e = (bits - SQRT_HALF_BITS) >> 23
    f = (bits - (e << 23)).as_float("f32") - 1.0
    e = integer_to_float(e)
    return m.select(denormal, e - 24.0, e), f


def log1p_tail(m: MathOps, f: Value) -> Value:
    """Computes log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)]."""
    return (f * f) * m.fma(f, m.polynomial(f, LOG1P), -0.5)


def with_edges(m: MathOps, x: Value, result: Value) -> Value:
    """Corrects the logarithm at its edges: inf and NaN are themselves, 0 gives -inf, negative x NaN."""
    bits = x.bits()
    size = bits & ABS
    zero = size.equal(0)
    result = m.select(size.less(INFINITY_BITS), result, x)
    result = m.select(zero, -pymath.inf, result)
    return m.select(bits.less(0) & ~zero, pymath.nan, result)


def add_exponent(m: MathOps, e: Value, f: Value, tail: Value) -> Value:
    """Computes e ln 2 + f + tail, the smallest first."""
    return m.fma(e, LN2_HIGH, f + m.fma(e, LN2_LOW, tail))


def log(m: MathOps, x: Value) -> Value:
    """Computes log(x) = e ln 2 + log(1 + f)."""
    e, f = split(m, x)
    return with_edges(m, x, add_exponent(m, e, f, log1p_tail(m, f)))


def log2(m: MathOps, x: Value) -> Value:
    """Computes log2(x) = e + log(1 + f) log2(e)."""
    e, f = split(m, x)
    low = m.fma(f, LOG2_E_LOW, log1p_tail(m, f) * LOG2_E_HIGH)
    return with_edges(m, x, m.fma(f, LOG2_E_HIGH, low) + e)


def log10(m: MathOps, x: Value) -> Value:
    """Computes log10(x) = e log10(2) + log(1 + f) log10(e)."""
    e, f = split(m, x)
    low = m.fma(f, LOG10_E_LOW, log1p_tail(m, f) * LOG10_E_HIGH)
    low = m.fma(e, LOG10_2_LOW, low)
    return with_edges(m, x, m.fma(e, LOG10_2_HIGH, m.fma(f, LOG10_E_HIGH, low)))


def log1p_plus(m: MathOps, x: Value, doublings: Value | None = None) -> Value:
    """
    Computes log(1 + x) + doublings ln 2, edges included.

    u = 1 + x gives e. Then f = x 2^-e + (2^-e - 1) is 1 + x scaled with one rounding. From 2^30 on, the 1 no longer
    counts and f comes from the bits of u.
    """
    bits = (x + 1.0).bits()
    e = (bits - SQRT_HALF_BITS) >> 23
    large = (x.bits() & ABS).greater(0x4E7FFFFF)
    s = power_of_two(0 - m.select(large, 0, e))
    f = m.fma(x, s, s - 1.0)
    f = m.select(large, (bits - (e << 23)).as_float("f32") - 1.0, f)
    exponent = integer_to_float(e)
    if doublings is not None:
        exponent = exponent + doublings
    result = add_exponent(m, exponent, f, log1p_tail(m, f))
    return log1p_edges(m, x, result)


def log1p_edges(m: MathOps, x: Value, result: Value) -> Value:
    """Corrects log(1 + x) at its edges: tiny, inf and NaN are themselves, -1 gives -inf, x < -1 NaN."""
    bits = x.bits()
    size = bits & ABS
    itself = size.less(0x33000000) | size.greater(INFINITY_BITS - 1)
    result = m.select(itself, x, result)
    beyond = bits.less(0) & size.greater(0x3F800000 - 1)
    result = m.select(beyond & size.less(INFINITY_BITS + 1), pymath.nan, result)
    return m.select(bits.equal(0xBF800000 - (1 << 32)), -pymath.inf, result)


def log1p(m: MathOps, x: Value) -> Value:
    """Computes log(1 + x)."""
    return log1p_plus(m, x)
