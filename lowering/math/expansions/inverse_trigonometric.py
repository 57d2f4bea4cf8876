"""
The functions asin, acos, atan and atan2 in f32.

atan(q) = q + q^3 P(q^2) on [0, 1] (degree 21), atan(q) = pi/2 - atan(1/q) beyond. asin(x) = x + x^3 P(x^2) on [0, 1/2]
(degree 13), asin(x) = pi/2 - 2 asin(sqrt((1 - x)/2)) beyond. The number pi is in two parts.
"""

from __future__ import annotations

import math as pymath

from .coefficients import ASIN, ATAN
from .logarithm import ABS, INFINITY_BITS
from .math_ops import MathOps, Value
from .power import ONE_BITS

HALF_PI_HIGH, HALF_PI_LOW = 1.5707963705062866, -4.371139000186241e-08
HALF_BITS = 0x3F000000


def odd_polynomial(m: MathOps, x: Value, z: Value, coefficients: tuple[float, ...]) -> Value:
    """Computes x + x z P(z)."""
    return m.fma(x * z, m.polynomial(z, coefficients), x)


def atan2(m: MathOps, y: Value, x: Value) -> Value:
    """
    Computes the angle of (x, y) in (-pi, pi]: atan of smaller/larger, then by octant.

    The quotient of equal magnitudes (inf too) is 1, that of two zeros 0.
    """
    size_y, size_x = y.bits() & ABS, x.bits() & ABS
    steep = size_y.greater(size_x)
    low = m.select(steep, size_x, size_y).as_float("f32")
    high = m.select(steep, size_y, size_x).as_float("f32")
    quotient = m.select(size_x.equal(size_y), 1.0, low / high)
    quotient = m.select((size_x | size_y).equal(0), 0.0, quotient)
    angle = odd_polynomial(m, quotient, quotient * quotient, ATAN)
    angle = m.select(steep, HALF_PI_HIGH - (angle - HALF_PI_LOW), angle)
    angle = m.select(x.bits().less(0), 2 * HALF_PI_HIGH - (angle - 2 * HALF_PI_LOW), angle)
    unordered = size_x.greater(INFINITY_BITS) | size_y.greater(INFINITY_BITS)
    return m.select(unordered, pymath.nan, angle.copysign(y))


def atan(m: MathOps, x: Value) -> Value:
    """Computes atan(x)."""
    size = x.abs()
    steep = size.bits().greater(ONE_BITS)
    quotient = m.select(steep, 1.0 / size, size)
    angle = odd_polynomial(m, quotient, quotient * quotient, ATAN)
    return m.select(steep, HALF_PI_HIGH - (angle - HALF_PI_LOW), angle).copysign(x)


def folded_asin(m: MathOps, x: Value) -> tuple[Value, Value]:
    """Returns (mask of |x| > 1/2, asin(s)) with s = |x|, or sqrt((1 - |x|)/2) under the mask, NaN for |x| > 1."""
    size = x.abs()
    folded = size.bits().greater(HALF_BITS)
    z = m.select(folded, m.fma(size, -0.5, 0.5), size * size)
    return folded, odd_polynomial(m, m.select(folded, z.sqrt(), size), z, ASIN)


def asin(m: MathOps, x: Value) -> Value:
    """Computes asin(x)."""
    folded, angle = folded_asin(m, x)
    result = m.select(folded, HALF_PI_HIGH - (angle + angle - HALF_PI_LOW), angle)
    return result.copysign(x)


def acos(m: MathOps, x: Value) -> Value:
    """Computes acos(x) = pi/2 - asin(x), or 2 asin(s) for x > 1/2, or pi - 2 asin(s) for x < -1/2."""
    folded, angle = folded_asin(m, x)
    twice = angle + angle
    outer = m.select(x.bits().less(0), 2 * HALF_PI_HIGH - (twice - 2 * HALF_PI_LOW), twice)
    return m.select(folded, outer, HALF_PI_HIGH - (angle.copysign(x) - HALF_PI_LOW))
