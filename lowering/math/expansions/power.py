"""
The functions powf, fpowi, cbrt and rsqrt in f32.

Method: |x|^y = 2^(y log2|x|) with log2 and the product in f64 (relative error of log2 below 2^-44, so the exponent, at
most 150, is known to 2^-36). The fraction of the exponent goes through the f32 polynomial of exp2. f64 vectors cost
less than a double-float logarithm.
"""

from __future__ import annotations

import math as pymath

from .coefficients import LOG2_ATANH
from .exponential import MAGIC, TWO_BIASES, exp2_of_fraction, integer_to_float, scale
from .logarithm import ABS, INFINITY_BITS
from .math_ops import MathOps, Value

SQRT_HALF_BITS64 = 0x3FE6A09E667F3BCD
MAGIC64 = 6755399441055744.0
"""1.5 * 2^52, as `MAGIC` for f64."""
MAGIC64_BITS = 0x4338000000000000
ONE_BITS = 0x3F800000
SIGN = -(1 << 31)


def log2_f64(m: MathOps, x: Value) -> Value:
    """
    Computes log2 of a positive normal f64.

    x = 2^e c with c in [sqrt(1/2), sqrt(2)), s = (c - 1)/(c + 1), log2(c) = 2 atanh(s)/ln 2 = s Q(s^2). Q has degree 5
    (largest relative error 2^-45).
    """
    bits = x.bits()
    e = (bits - SQRT_HALF_BITS64) >> 52
    c = (bits - (e << 52)).as_float("f64")
    s = (c - 1.0) / (c + 1.0)
    exponent = (e + MAGIC64_BITS).as_float("f64") - MAGIC64
    return m.fma(s, m.polynomial(s * s, LOG2_ATANH), exponent)


def exp2_of_f64(m: MathOps, t: Value) -> Value:
    """Computes 2^t in f32 for an f64. It overflows to inf, and underflows to 0 through the denormals."""
    t = t.maximum(-160.0).minimum(160.0)
    k = t.round_even()
    biased = k.narrow("f32") + (MAGIC + TWO_BIASES)
    return scale(exp2_of_fraction(m, (t - k).narrow("f32")), biased.bits())


def is_integer(y: Value) -> Value:
    """Returns the mask of floats without fraction, infinities included."""
    return y.trunc().bits().equal(y.bits())


def power_with_edges(m: MathOps, x: Value, exponent: Value, signed: tuple[Value, Value, Value]) -> Value:
    """
    Computes x^y for `exponent` = y in f64. `signed` are the masks y < 0, y odd, y an integer.

    The magnitude of 0 and inf to a power is 0 or inf: the base itself, or for y < 0 the other one (the sum of their
    bits is that of inf). |x| = 1 has magnitude 1, even for an infinite y. An odd y keeps the sign of x, and a y with a
    fraction makes a negative finite x NaN.
    """
    negative, odd, integer = signed
    bits = x.bits()
    size = bits & ABS
    magnitude = exp2_of_f64(m, exponent * log2_f64(m, x.abs().extend("f64")))
    extreme = size.equal(0) | size.equal(INFINITY_BITS)
    extreme_bits = m.select(negative, INFINITY_BITS - size, size)
    magnitude = m.select(extreme, extreme_bits.as_float("f32"), magnitude)
    magnitude = m.select(size.equal(ONE_BITS), 1.0, magnitude)
    sign = m.select(odd, bits & SIGN, size.like(0))
    result = (magnitude.bits() | sign).as_float("f32")
    return m.select(bits.less(0) & ~extreme & ~integer, pymath.nan, result)


def powf(m: MathOps, x: Value, y: Value) -> Value:
    """Computes x^y as IEEE 754 `pow`: pow(x, 0) = pow(1, y) = 1 even for a NaN, other NaNs propagate."""
    bits_x, bits_y = x.bits(), y.bits()
    size_x, size_y = bits_x & ABS, bits_y & ABS
    integer = is_integer(y)
    odd = integer & ~is_integer(y * 0.5)
    result = power_with_edges(m, x, y.extend("f64"), (bits_y.less(0), odd, integer))
    unordered = size_x.greater(INFINITY_BITS) | size_y.greater(INFINITY_BITS)
    result = m.select(unordered, pymath.nan, result)
    return m.select(size_y.equal(0) | bits_x.equal(ONE_BITS), 1.0, result)


def fpowi(m: MathOps, x: Value, n: Value) -> Value:
    """Computes x^n for an i32 n: as powf, with n exact in f64 from its two halves."""
    high, low = n >> 16, n & 0xFFFF
    exponent = m.fma(integer_to_float(high).extend("f64"), 65536.0, integer_to_float(low).extend("f64"))
    always = n.equal(n)
    result = power_with_edges(m, x, exponent, (n.less(0), (n & 1).equal(1), always))
    result = m.select((x.bits() & ABS).greater(INFINITY_BITS), pymath.nan, result)
    return m.select(n.equal(0), 1.0, result)


def cbrt(m: MathOps, x: Value) -> Value:
    """Computes sign(x) 2^(log2|x| / 3). 0, inf and NaN are themselves."""
    size = x.bits() & ABS
    root = exp2_of_f64(m, log2_f64(m, x.abs().extend("f64")) * (1.0 / 3.0)).copysign(x)
    ordinary = size.greater(0) & size.less(INFINITY_BITS)
    return m.select(ordinary, root, x)


def rsqrt(m: MathOps, x: Value) -> Value:
    """Computes 1/sqrt(x) in two correctly rounded steps. rsqrt(-0) is -inf."""
    del m
    return 1.0 / x.sqrt()
