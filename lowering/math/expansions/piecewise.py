"""
Functions by tables in registers, on tiles of a machine with AVX-512: a polynomial of degree 4 on each of 32 pieces.

Against one polynomial of a high degree, or a quotient, the operations of an element depend on fewer others, and two
processor ports do them at two a cycle. A division would keep the divider busy for ten cycles.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import pieces
from .math_ops import MathOps, Value

EXPONENT_AND_EIGHTH = 20
"""Bits of an f32 after the three that follow its exponent."""

FIRST = 1.25
FIRST_PLACE = 0x3FA00000 >> EXPONENT_AND_EIGHTH
"""The rest of the bits of 1.25: the place of the first piece in the tables, of which the last five bits count."""

TANH_LIMIT, TANH_SLOPE = 9.0625, 2.06
ERF_LIMIT, ERF_SLOPE = 3.9375, 4.75
GELU_LIMIT, GELU_SLOPE = 5.5, 3.4

Rows = Sequence[Sequence[float]]
"""The centre of each piece and the coefficients there, lowest power first: `pieces.py`."""


def piecewise(m: MathOps, size: Value, slope: float, rows: Rows, precise: bool = False) -> Value:
    """
    Computes the polynomial of the piece in which `size` is, for 0 <= size and 1.25 + slope size < 20.

    `size` is added on the first piece if `precise`.

    The exponent of `1.25 + slope size` and the three bits after it choose the piece. A size near an edge may get the
    piece beside, which is as good there. Of a NaN the result is one.
    """
    index = m.fma(size, slope, FIRST).bits() >> EXPONENT_AND_EIGHTH
    count = len(rows)
    placed = [rows[(place - FIRST_PLACE) % count] for place in range(count)]
    centre, value, *coefficients = (m.lookup(index, column) for column in zip(*placed, strict=True))
    rest = size - centre
    total = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = m.fma(total, rest, coefficient)
    # The value is 0 on the first piece, and more than the rest on the others.
    return m.fma(total, rest, m.larger(value, rest) if precise else value)


def tanh_in_wide_registers(m: MathOps, x: Value) -> Value:
    """Computes tanh|x|, which rounds to 1 at the limit, with the sign of x."""
    return piecewise(m, x.abs().minimum(TANH_LIMIT), TANH_SLOPE, pieces.TANH).copysign(x)


def erf_in_wide_registers(m: MathOps, x: Value) -> Value:
    """Computes erf|x|, which rounds to 1 at the limit, with the sign of x. Near 0 it is x + 0.128 x."""
    return piecewise(m, x.abs().minimum(ERF_LIMIT), ERF_SLOPE, pieces.ERF, precise=True).copysign(x)


def gelu_in_wide_registers(m: MathOps, x: Value) -> Value:
    """Computes x/2 (1 + erf(x / sqrt 2)), with Q(a) = erfc(a / sqrt 2) / 2."""
    return _rectified(m, x, pieces.NORMAL_TAIL)


def gelu_by_tanh_in_wide_registers(m: MathOps, x: Value) -> Value:
    """Computes x/2 (1 + tanh z) with z = sqrt(2 / pi) (x + 0.044715 x^3) and Q(a) = (1 - tanh z) / 2."""
    return _rectified(m, x, pieces.TANH_TAIL)


def _rectified(m: MathOps, x: Value, tail: Rows) -> Value:
    """Computes max(x, -0) - |x| Q(|x|). Beyond 5.5 the second term counts as it does there."""
    size = x.abs().minimum(GELU_LIMIT)
    return m.fma(-size, piecewise(m, size, GELU_SLOPE, tail), x.maximum(-0.0))
