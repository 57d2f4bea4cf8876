"""
The functions sigmoid and silu on tiles of a machine with AVX-512.

Method (P. T. P. Tang, Table-driven implementation of the exponential function in IEEE floating-point arithmetic, 1989):
n is the multiple of 1/32 nearest to -x log2(e), r = x + n ln 2, exp(-x) = 2^floor(n) T exp(-r) with T from a table of
2^(k/32), |r| <= ln(2)/64, and exp(-r) by a polynomial of degree 3. The power of two is applied to T, which is known
before r: so the way from x to the quotient is short.

The denominator is 2^-34 (1 + exp(-x)): a normal number as far as the result is not 0.
"""

from __future__ import annotations

from .exponential import LOG2_E
from .math_ops import MathOps, Value

PARTS = 32
MAGIC_OF_PARTS = 393216.0
"""1.5 * 2^18: adding it rounds |x| < 2^17 to a multiple of 1/32, whose number is in the low bits of the sum."""

LN2 = 0.6931471824645996
"""ln 2 as an f32: its product with n, less x, is exact."""
LN2_REST = -1.904654299957768e-09

FAR = 110.0
"""The bound of |x|: exp(-110) 110 is below half of the least denormal."""

SMALL = 2.0**-34
"""The factor of the denominator: exp(110) times it is finite, and so is its inverse times the other."""

POWERS = tuple(SMALL * 2.0 ** (k / PARTS) for k in range(PARTS))


def scaled_denominator(m: MathOps, x: Value) -> Value:
    """Computes 2^-34 (1 + exp(-x)) for |x| <= 110."""
    rounded = m.fma(x, -LOG2_E, MAGIC_OF_PARTS)
    n = rounded - MAGIC_OF_PARTS
    power = m.scale(m.lookup(rounded.bits(), POWERS), n)
    near = m.fma(n, LN2, x)
    r = m.fma(n, LN2_REST, near)
    return m.fma(power * r, m.polynomial(near, (-1.0, 1 / 2, -1 / 6)), power + SMALL)


def sigmoid(m: MathOps, x: Value) -> Value:
    """Computes 1 / (1 + exp(-x)). The quotient is rounded to a denormal where it is one."""
    return x.like(SMALL) / scaled_denominator(m, x.maximum(-FAR).minimum(FAR))


def silu(m: MathOps, x: Value) -> Value:
    """
    Computes x / (1 + exp(-x)).

    The factor 2^-34 comes last, so that the result is rounded to a denormal once. The quotient of a large x overflows,
    and the smaller of two numbers of one sign is x. The result from -110 down rounds to -0.
    """
    quotient = x.maximum(-FAR) / scaled_denominator(m, m.limit(x, FAR))
    return m.limit(quotient * SMALL, x)
