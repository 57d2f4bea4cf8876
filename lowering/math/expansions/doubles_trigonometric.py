"""
The functions sin, cos and tan in f64, for |x| <= `FARTHEST`.

Reduction (W. J. Cody and W. Waite, 1980): x = n pi/2 + r with pi/2 in three parts of 53 bits. The first product and its
difference from x are exact in one fma, as both are multiples of 2^-53. The rest is a sum of two numbers, so that r has
100 bits and more even next to a multiple of pi/2 (no double is nearer to one than 2^-62). Then r = high + low,
|r| <= pi/4, and polynomials follow: sin of degree 13, cos of degree 14.
"""

from __future__ import annotations

from .coefficients import COS_F64, SIN_F64
from .doubles import ABS64
from .math_ops import MathOps, Value
from .power import MAGIC64

TWO_OVER_PI = 0.6366197723675814
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)

FARTHEST = 2.0**25
"""Up to here the error of the first part of pi/2, times n, stays far below the rest."""
FARTHEST_BITS = (1023 + 25) << 52


def reduce(m: MathOps, x: Value) -> tuple[Value, Value, Value]:
    """Returns (bits whose last two are n mod 4, high, low) with x = n pi/2 + high + low."""
    first, second, third = HALF_PI
    biased = m.fma(x, TWO_OVER_PI, MAGIC64)
    n = biased - MAGIC64
    rest = m.fma(n, -first, x)
    product = n * second
    high = rest - product
    moved = high - rest
    low = (rest - (high - moved)) - (product + moved)
    return biased.bits(), high, low - m.fma(n, third, m.fma(n, second, -product))


def kernels(m: MathOps, high: Value, low: Value) -> tuple[Value, Value]:
    """Returns sin and cos of high + low, |high| <= 0.79."""
    z = high * high
    sine = high + m.fma(high * z, m.polynomial(z, SIN_F64), m.fma(z * -0.5, low, low))
    half = z * 0.5
    near = 1.0 - half
    cosine = near + (((1.0 - near) - half) + m.fma(z * z, m.polynomial(z, COS_F64), -(high * low)))
    return sine, cosine


def sin_or_cos(m: MathOps, x: Value, shift: int) -> Value:
    """Computes sin(x + shift pi/2): by quadrant sin(r), cos(r), -sin(r), -cos(r)."""
    bits, high, low = reduce(m, x)
    n = bits + shift
    sine, cosine = kernels(m, high, low)
    result = m.select((n & 1).equal(0), sine, cosine)
    return (result.bits() ^ ((n & 2) << 62)).as_float("f64")


def sin(m: MathOps, x: Value) -> Value:
    """Computes sin(x). The reduction loses the sign of -0."""
    return m.select((x.bits() & ABS64).equal(0), x, sin_or_cos(m, x, 0))


def cos(m: MathOps, x: Value) -> Value:
    """Computes cos(x) = sin(x + pi/2)."""
    return sin_or_cos(m, x, 1)


def tan(m: MathOps, x: Value) -> Value:
    """Computes tan(x) = sin(r)/cos(r), or -cos(r)/sin(r) in odd quadrants."""
    bits, high, low = reduce(m, x)
    sine, cosine = kernels(m, high, low)
    odd = (bits & 1).equal(1)
    result = m.select(odd, -cosine, sine) / m.select(odd, sine, cosine)
    return m.select((x.bits() & ABS64).equal(0), x, result)
