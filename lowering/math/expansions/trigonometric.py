"""
The functions sin, cos and tan in f32, for every finite argument, without a branch.

Reduction (after M. Payne and R. Hanek, 1983): only x 2/pi mod 4 matters. A float |x| >= 2^E is a multiple of 2^(E-23),
so bits of 2/pi of weight 2^(25-E) and more contribute multiples of 4 and are left out. `TWO_OVER_PI` holds the
remaining bits for windows of |x| as two doubles c0 + c1. p = x c0 and its rounding error (one fma) are exact. p is
below 2^41, so the fraction is known to 2^-65. The closest approach of a float to a multiple of pi/2 (2^-31) keeps 30
good bits. Then r = fraction * pi/2, |r| <= pi/4, and polynomials follow: sin of degree 9, cos of degree 8. Arguments up
to 2^40 are the first window. The others cost one selection each.
"""

from __future__ import annotations

from .coefficients import COS, COS64, SIN, SIN64, TWO_OVER_PI
from .exponential import MAGIC
from .logarithm import ABS
from .math_ops import MathOps, Value
from .power import MAGIC64

HALF_PI = 1.5707963267948966
ABS64 = (1 << 63) - 1


def reduce(m: MathOps, x: Value) -> tuple[Value, Value]:
    """
    Returns (q, r), both f64: x = (q + 4 i) pi/2 + r for some integer i, with an integer |q| <= 3, |r| <= 0.786.

    inf and NaN give NaN.
    """
    wide = x.extend("f64")
    size = wide.bits() & ABS64
    (_, c0, c1), *windows = TWO_OVER_PI
    high, low = wide.like(c0), wide.like(c1)
    for exponent, c0, c1 in windows:
        beyond = size.greater(((1023 + exponent) << 52) - 1)
        high, low = m.select(beyond, c0, high), m.select(beyond, c1, low)
    p = wide * high
    error = m.fma(wide, high, -p)
    k = p.round_even()
    fraction = (p - k) + m.fma(wide, low, error)
    quadrant = m.fma((k * 0.25).trunc(), -4.0, k)
    return quadrant, fraction * HALF_PI


def sin_or_cos(m: MathOps, x: Value, shift: int) -> Value:
    """Computes sin(x + shift pi/2): by quadrant sin(r), cos(r), -sin(r), -cos(r)."""
    quadrant, wide = reduce(m, x)
    n = (quadrant.narrow("f32") + MAGIC).bits() + shift  # The low two bits of MAGIC are 0.
    r = wide.narrow("f32")
    z = r * r
    sine = m.fma(r * z, m.polynomial(z, SIN), r)
    cosine = m.fma(z * z, m.polynomial(z, COS), m.fma(z, -0.5, 1.0))
    result = m.select((n & 1).equal(0), sine, cosine)
    return (result.bits() ^ ((n & 2) << 30)).as_float("f32")


def sin(m: MathOps, x: Value) -> Value:
    """Computes sin(x). The reduction loses the sign of -0."""
    return m.select((x.bits() & ABS).equal(0), x, sin_or_cos(m, x, 0))


def cos(m: MathOps, x: Value) -> Value:
    """Computes cos(x) = sin(x + pi/2)."""
    return sin_or_cos(m, x, 1)


def tan(m: MathOps, x: Value) -> Value:
    """Computes tan(x) = sin(r)/cos(r), or -cos(r)/sin(r) in odd quadrants, in f64 (error below 2^-40), rounded once."""
    quadrant, r = reduce(m, x)
    odd = ((quadrant + MAGIC64).bits() & 1).equal(1)
    z = r * r
    sine = m.fma(r * z, m.polynomial(z, SIN64), r)
    cosine = m.fma(z, m.polynomial(z, COS64), 1.0)
    result = m.select(odd, -cosine, sine) / m.select(odd, sine, cosine)
    return m.select((x.bits() & ABS).equal(0), x, result.narrow("f32"))
