"""The op math.round in f32. The other roundings are instructions."""

from __future__ import annotations

from .math_ops import MathOps, Value

BELOW_HALF = 0.49999997019767761
"""The largest float below 1/2: added to 0.49999997, or to an odd integer above 2^23, it does not carry as 1/2 would."""


def round_half_away(m: MathOps, x: Value) -> Value:
    """Returns the nearest integer, halves away from zero: trunc(x + copysign(0.5 - 2^-25, x))."""
    return (x + x.like(BELOW_HALF).copysign(x)).trunc()
