"""
The functions tanh, sinh, cosh and their inverses in f32, on top of expm1, exp and log1p.

The sign is put on last, so odd functions keep -0.
"""

from __future__ import annotations

import math as pymath

from .coefficients import SINH
from .exponential import TWO_BIASES, exp_parts, expm1_positive, scale
from .inverse_trigonometric import odd_polynomial
from .logarithm import log1p_plus
from .math_ops import MathOps, Value
from .power import ONE_BITS

TWO_TO_30_BITS = 0x4E800000


def tanh(m: MathOps, x: Value) -> Value:
    """Computes tanh|x| = t/(t + 2) with t = expm1(2|x|), and 1 from |x| = 10 on."""
    size = x.abs().minimum(10.0)
    t = expm1_positive(m, size + size)
    return (t / (t + 2.0)).copysign(x)


def half_exp(m: MathOps, size: Value) -> Value:
    """Computes exp(size)/2, which is finite up to the largest finite cosh."""
    p, biased = exp_parts(m, size.minimum(92.0), TWO_BIASES - 1)
    return scale(p, biased)


def sinh(m: MathOps, x: Value) -> Value:
    """Computes sinh|x| = h - 1/(4 h) with h = exp|x|/2, and x + x^3 P(x^2) below 1 (degree 9)."""
    size = x.abs()
    h = half_exp(m, size)
    near = odd_polynomial(m, size, size * size, SINH)
    return m.select(size.bits().less(ONE_BITS), near, h - 0.25 / h).copysign(x)


def cosh(m: MathOps, x: Value) -> Value:
    """Computes cosh(x) = h + 1/(4 h) with h = exp|x|/2."""
    h = half_exp(m, x.abs())
    return h + 0.25 / h


def log1p_or_doubled_log(m: MathOps, size: Value, argument: Value) -> Value:
    """
    Computes log(1 + argument), or log(1 + size) + ln 2 where size >= 2^30.

    There the argument, about 2 size, may overflow.
    """
    large = size.bits().greater(TWO_TO_30_BITS - 1)
    doublings = m.select(large, 1.0, size.like(0.0))
    return log1p_plus(m, m.select(large, size, argument), doublings)


def asinh(m: MathOps, x: Value) -> Value:
    """Computes asinh(a) = log1p(a + a^2/(1 + sqrt(1 + a^2))) with a = |x|."""
    size = x.abs()
    square = size * size
    argument = size + square / ((square + 1.0).sqrt() + 1.0)
    return log1p_or_doubled_log(m, size, argument).copysign(x)


def acosh(m: MathOps, x: Value) -> Value:
    """Computes acosh(x) = log1p(t + sqrt(t^2 + 2 t)) with t = x - 1, and NaN below 1."""
    t = x - 1.0
    result = log1p_or_doubled_log(m, x.abs(), t + m.fma(t, t, t + t).sqrt())
    below = x.bits().less(0) | x.abs().bits().less(ONE_BITS)
    return m.select(below, pymath.nan, result)


def atanh(m: MathOps, x: Value) -> Value:
    """Computes atanh(a) = log1p(2 a/(1 - a))/2 with a = |x|, inf at 1, and NaN beyond."""
    size = x.abs()
    return (log1p_plus(m, (size + size) / (1.0 - size)) * 0.5).copysign(x)
