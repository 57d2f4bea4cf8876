"""The function erf in f32."""

from __future__ import annotations

from .coefficients import ERF_SMALL, ERFC_LOG2
from .exponential import MAGIC, exp2_of_fraction, power_of_biased
from .math_ops import MathOps, Value
from .power import ONE_BITS


def erf(m: MathOps, x: Value) -> Value:
    """
    Computes erf(x) = x + x P(x^2) for |x| < 1 (degree 15), 1 - 2^Q(|x|) from 1 to 4 (Q fits log2 of erfc, degree 7), 1
    beyond.

    erfc(4) = 1.5e-8 is below half an ulp of 1. Where erfc matters it is at most 0.16, so its relative error counts
    little.
    """
    near = m.fma(x, m.polynomial(x * x, ERF_SMALL), x)
    size = x.abs()
    exponent = m.polynomial(size.maximum(1.0).minimum(4.0), ERFC_LOG2)
    biased = exponent + (MAGIC + 127)
    k = biased - (MAGIC + 127)
    complement = exp2_of_fraction(m, exponent - k) * power_of_biased(biased.bits())
    return m.select(size.bits().less(ONE_BITS), near, (1.0 - complement).copysign(x))
