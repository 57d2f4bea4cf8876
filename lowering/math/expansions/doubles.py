"""
The functions exp, exp2, expm1, log, log2, log10 and tanh in f64.

Methods are as in f32, with longer polynomials. Only a logarithm divides: log(1 + f) = f - s (f - R), s = f / (2 + f),
where 2 atanh(s) = 2 s + s R (the method of K. C. Ng in FDLIBM, 1993). A polynomial in f would have twice the degree.
"""

from __future__ import annotations

import math as pymath

from .coefficients import ATANH_F64, EXP2_F64, EXP_F64, EXPM1_F64
from .math_ops import MathOps, Value
from .power import MAGIC64, MAGIC64_BITS, SQRT_HALF_BITS64

LOG2_E = 1.4426950408889634
LOG2_E_REST = 2.0355273740931033e-17
LOG10_E = 0.4342944819032518
LOG10_E_REST = 1.098319650216765e-17
LN2_HIGH, LN2_LOW = 0.6931471805601177, -1.7239444525614835e-13
"""ln 2 to 40 bits: its product with an exponent is exact. The rest."""
LOG10_2_HIGH, LOG10_2_LOW = 0.3010299956640665, -8.532344317057107e-14

ABS64 = (1 << 63) - 1
INFINITY_BITS64 = 0x7FF << 52
BIAS = 1023
TWO_BIASES64 = 2 * BIAS
TWO_TO_54 = 18014398509481984.0


def within(m: MathOps, x: Value, low: float, high: float) -> Value:
    """Returns `x` moved into the range from `low` to `high`, and a NaN as it is."""
    if m.is_vector:
        return x.maximum(low).minimum(high)
    return m.smaller(x.like(high), m.larger(x.like(low), x))


def power_of_biased(biased: Value) -> Value:
    """Returns 2^n for the bits of `n + MAGIC64 + 1023`, -1023 < n < 1024."""
    return (biased << 52).as_float("f64")


def scale(p: Value, biased: Value) -> Value:
    """Computes p * 2^n for the bits of `n + MAGIC64 + TWO_BIASES64`, 0.5 <= p < 2, rounded at most once."""
    half = biased >> 1
    return (p * power_of_biased(half)) * power_of_biased(biased - half)


def reduce_by_ln2(m: MathOps, x: Value, bias: int) -> tuple[Value, Value]:
    """Returns (the bits of n + MAGIC64 + bias, r) with x = n ln 2 + r and |r| <= 0.3467."""
    biased = m.fma(x, LOG2_E, MAGIC64 + bias)
    n = biased - (MAGIC64 + bias)
    return biased.bits(), m.fma(n, -LN2_LOW, m.fma(n, -LN2_HIGH, x))


def exp(m: MathOps, x: Value) -> Value:
    """Computes exp(x): -746 is below the last result that is not 0, 710 above the last that is not inf."""
    biased, r = reduce_by_ln2(m, within(m, x, -746.0, 710.0), TWO_BIASES64)
    return scale(m.polynomial(r, (1.0, 1.0, *EXP_F64)), biased)


def exp2(m: MathOps, x: Value) -> Value:
    """Computes 2^x = 2^n 2^f with n the nearest integer, so that f = x - n is exact."""
    x = within(m, x, -1077.0, 1025.0)
    biased = x + (MAGIC64 + TWO_BIASES64)
    f = x - (biased - (MAGIC64 + TWO_BIASES64))
    return scale(m.fma(f, m.polynomial(f, EXP2_F64), 1.0), biased.bits())


def expm1_parts(m: MathOps, x: Value, bias: int) -> tuple[Value, Value]:
    """Returns (q, 2^(n + bias - 1023)) with exp(x) = (1 + q) * 2^n, where q is relatively precise."""
    biased, r = reduce_by_ln2(m, x, bias)
    return m.fma(r * r, m.polynomial(r, EXPM1_F64), r), power_of_biased(biased)


def expm1(m: MathOps, x: Value) -> Value:
    """Computes exp(x) - 1 = 2 (q 2^(n-1) + (2^(n-1) - 1/2)), where n = 1024 has a factor. Tiny x is its own result."""
    q, s = expm1_parts(m, within(m, x, -60.0, 710.0), BIAS - 1)
    result = m.fma(q, s, s - 0.5)
    tiny = (x.bits() & ABS64).less(0x3C80 << 48)  # |x| < 2^-55
    return m.select(tiny, x, result + result)


def tanh(m: MathOps, x: Value) -> Value:
    """Computes tanh|x| = t/(t + 2) with t = expm1(2|x|), and 1 from |x| = 20 on."""
    size = x.abs()
    size = size.minimum(20.0) if m.is_vector else m.smaller(size.like(20.0), size)
    q, s = expm1_parts(m, size + size, BIAS)
    t = m.fma(q, s, s - 1.0)
    return (t / (t + 2.0)).copysign(x)


def split(m: MathOps, x: Value) -> tuple[Value, Value]:
    """Returns (e, f) with x = 2^e (1 + f), for 0 < x < inf. A denormal x is scaled by 2^54 first."""
    denormal = (x.bits() & ABS64).less(1 << 52)
    bits = m.select(denormal, x * TWO_TO_54, x).bits()
    e = (bits - SQRT_HALF_BITS64) >> 52
    f = (bits - (e << 52)).as_float("f64") - 1.0
    exponent = (e + MAGIC64_BITS).as_float("f64") - MAGIC64
    return m.select(denormal, exponent - 54.0, exponent), f


def log1p_rest(m: MathOps, f: Value, half_square: Value) -> Value:
    """Computes log(1 + f) - (f - f^2/2) for 1 + f in [sqrt(1/2), sqrt(2)), given f^2/2."""
    s = f / (f + 2.0)
    z = s * s
    return s * m.fma(z, m.polynomial(z, ATANH_F64), half_square)


def with_edges(m: MathOps, x: Value, result: Value) -> Value:
    """Corrects the logarithm at its edges: inf and NaN are themselves, 0 gives -inf, negative x NaN."""
    bits = x.bits()
    size = bits & ABS64
    zero = size.equal(0)
    result = m.select(size.less(INFINITY_BITS64), result, x)
    result = m.select(zero, -pymath.inf, result)
    return m.select(bits.less(0) & ~zero, pymath.nan, result)


def log(m: MathOps, x: Value) -> Value:
    """Computes log(x) = e ln 2 + log(1 + f), the smallest first."""
    e, f = split(m, x)
    half_square = f * f * 0.5
    low = m.fma(e, LN2_LOW, log1p_rest(m, f, half_square))
    return with_edges(m, x, m.fma(e, LN2_HIGH, f - (half_square - low)))


def log_in_two_parts(m: MathOps, f: Value, factor: float, rest: float) -> tuple[Value, Value]:
    """Returns log(1 + f) * (factor + rest) in two parts, whose sum has more places than a number."""
    half_square = f * f * 0.5
    high = f - half_square
    low = ((f - high) - half_square) + log1p_rest(m, f, half_square)
    product = high * factor
    return product, m.fma(high, factor, -product) + m.fma(high, rest, low * factor)


def log2(m: MathOps, x: Value) -> Value:
    """Computes log2(x) = e + log(1 + f) log2(e)."""
    e, f = split(m, x)
    product, low = log_in_two_parts(m, f, LOG2_E, LOG2_E_REST)
    total = e + product
    return with_edges(m, x, total + (((e - total) + product) + low))


def log10(m: MathOps, x: Value) -> Value:
    """Computes log10(x) = e log10(2) + log(1 + f) log10(e)."""
    e, f = split(m, x)
    product, low = log_in_two_parts(m, f, LOG10_E, LOG10_E_REST)
    high = e * LOG10_2_HIGH
    total = high + product
    return with_edges(m, x, total + (((high - total) + product) + m.fma(e, LOG10_2_LOW, low)))
