"""
The function exp where some more units of error are allowed: `math.exp %x fastmath<afn>`, as in softmax.

Method (P. T. P. Tang, Table-driven implementation of the exponential function in IEEE floating-point arithmetic, 1989):
n is the multiple of 1/32 nearest to x log2(e), r = x log2(e) - n, exp(x) = 2^floor(n) T 2^r with T from a table of
2^(k/32), |r| <= 1/64, and 2^r by a polynomial of degree 2. Without tables n is an integer, and the degree is 6.

One multiply-add makes r of x itself, so the product is not rounded. Only the constant log2(e) is, which costs |x| 2^-26
of the result. A factor of x goes into that constant, and may cost up to |factor x| 2^-24.
"""

from __future__ import annotations

from .coefficients import EXP2_OF_PARTS
from .exponential import LOG2_E, MAGIC, TWO_BIASES, exp2_of_fraction, scale
from .logistic import MAGIC_OF_PARTS, PARTS
from .math_ops import MathOps, Value

LARGEST_REST_OF_PARTS = 1 / 64

POWERS = tuple(2.0 ** (k / PARTS) for k in range(PARTS))


def relaxed_exp(m: MathOps, x: Value, factor: float = 1.0) -> Value:
    """Computes exp(factor x). Bounds of x as in `exp`."""
    by = LOG2_E * factor
    low, high = sorted((-104.0 / factor, 89.0 / factor))
    x = x.maximum(low).minimum(high)
    biased = m.fma(x, by, MAGIC + TWO_BIASES)
    k = biased - (MAGIC + TWO_BIASES)
    return scale(exp2_of_fraction(m, m.fma(x, by, -k)), biased.bits())


def relaxed_exp_in_wide_registers(m: MathOps, x: Value, factor: float = 1.0) -> Value:
    """
    Computes exp(factor x) in the body of a `tile.map`. As the scaling comes last, overflow and denormals are rounded
    once. An infinite x is inf or 0 by it, as `tile.limit` keeps the rest finite.
    """
    by = LOG2_E * factor
    rounded = m.fma(x, by, MAGIC_OF_PARTS)
    n = rounded - MAGIC_OF_PARTS
    r = m.limit(m.fma(x, by, -n), LARGEST_REST_OF_PARTS)
    power = m.lookup(rounded.bits(), POWERS)
    return m.scale(m.fma(power * r, m.polynomial(r, EXP2_OF_PARTS), power), n)
