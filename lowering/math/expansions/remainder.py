"""The remainder of floats, llvm.frem in f32, computed in f64."""

from __future__ import annotations

from .math_ops import MathOps, Value

STEP = 50
"""The bits of a quotient that one step finds. An f64 holds all multiples of a divisor of 24 bits that it subtracts."""

STEPS = 6
"""The number of steps: quotients of f32 are below `2^277`."""

LARGE = 2.0**200
"""Takes the place of an infinite divisor, and is beyond every dividend."""

INFINITY = 0x7FF0000000000000


def fmod(m: MathOps, x: Value, y: Value) -> Value:
    """
    Returns `x - trunc(x / y) * y`, exactly. It has the sign of `x`.

    Each step subtracts about the nearest multiple of `y * 2^(STEP * k)`. What is left is at most 3/4 of that, and a
    multiple of the last place of `x` or of `y`. So it is exact, and may be negative.
    """
    rest, divisor = x.abs().extend("f64"), y.abs().extend("f64")
    divisor = m.select(divisor.bits().equal(INFINITY), LARGE, divisor)
    reciprocal = 1.0 / divisor
    for number in reversed(range(STEPS)):
        scale = 2.0 ** (STEP * number)
        share, part = (reciprocal, divisor) if number == 0 else (reciprocal * (1 / scale), divisor * scale)
        rest = m.fma(-(rest * share).round_even(), part, rest)
    rest = m.select(rest.bits().less(0), rest + divisor, rest)
    return rest.narrow("f32").copysign(x)
