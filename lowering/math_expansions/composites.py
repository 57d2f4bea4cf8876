"""
Formulas of several functions that have a form of their own: found by their shape, as `te` and the graph dialect write them, and replaced
as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isclose, sqrt

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, FloatAttr
from xdsl.ir import Operation, SSAValue

from .builder import MathBuilder, Value
from .coefficients import EXP, NORMAL_TAIL
from .exponential import LARGEST_REST, LN2_HIGH, LN2_LOW, LOG2_E, MAGIC

EXP_OF_MINUS = tuple(-c if power % 2 else c for power, c in enumerate(EXP, 2))

TAIL_MIDDLE = 2.75
"""Half of the interval on which NORMAL_TAIL holds, and its middle."""

Shape = str | float | tuple["Shape", ...]
"""The variable `x`; a constant; or the name of an op, for a comparison with its predicate, and the shapes of its operands."""

COMMUTATIVE = ("arith.addf", "arith.mulf")
OLT = 4
"""`arith.cmpf olt`."""

GELU: Shape = (
    "arith.mulf",
    ("arith.mulf", "x", 0.5),
    ("arith.addf", 1.0, ("math.erf", ("arith.mulf", "x", sqrt(0.5)))),
)
_NEGATIVE: Shape = (f"arith.cmpf {OLT}", "x", 0.0)
_ROOT: Shape = ("math.exp", ("arith.mulf", ("math.absf", "x"), -0.5))
SILU: Shape = (
    "arith.mulf",
    ("arith.select", _NEGATIVE, ("arith.mulf", "x", _ROOT), "x"),
    (
        "arith.divf",
        ("arith.select", _NEGATIVE, _ROOT, 1.0),
        ("arith.addf", 1.0, ("arith.mulf", _ROOT, _ROOT)),
    ),
)


@dataclass(frozen=True)
class Composite:
    """A formula, and what takes its place."""

    name: str
    shape: Shape
    expand: Callable[[MathBuilder, Value], Value]
    wide: bool
    """Whether that needs `tile.scale`."""


def gelu(m: MathBuilder, x: Value) -> Value:
    """
    x/2 (1 + erf(x / sqrt 2)) = max(x, -0) - |x| Q(|x|), Q(a) = erfc(a / sqrt 2) / 2 by a polynomial of degree 17 around 2.75.

    Beyond 5.5 the second term counts as it does there, 1e-7. That is -0 at both zeros, and the first term has the sign of `x`.
    """
    size = x.abs().minimum(2 * TAIL_MIDDLE)
    tail = m.polynomial(size - TAIL_MIDDLE, NORMAL_TAIL)
    return m.fma(-size, tail, x.maximum(-0.0))


def silu(m: MathBuilder, x: Value) -> Value:
    """
    x / (1 + exp(-x)) = 2^-n x / (p + 2^-n) with exp(-x) = p 2^n: the factor 2^-n is applied last, so that the result is rounded to a
    denormal once.

    From x = 42 on, n stays at -60, and p + 2^60 is 2^60.
    """
    n = m.fma(x, -LOG2_E, MAGIC) - MAGIC
    r = m.fma(n, LN2_LOW, m.fma(n, LN2_HIGH, x))
    p = m.polynomial(m.limit(r, LARGEST_REST), (1.0, -1.0, *EXP_OF_MINUS))
    back = -(n.maximum(-60.0))
    return m.scale(x / (p + m.scale(x.like(1.0), back)), back)


COMPOSITES = (Composite("gelu", GELU, gelu, wide=False), Composite("silu", SILU, silu, wide=True))


def composite_of(op: Operation, wide: bool) -> tuple[Composite, SSAValue] | None:
    """The formula on f32 that `op` is the last op of, and its variable."""
    if not isinstance(op, arith.MulfOp) or op.result.type != Float32Type():
        return None
    for found in COMPOSITES:
        variables: dict[str, SSAValue] = {}
        if (wide or not found.wide) and _fits(op.result, found.shape, variables):
            return found, variables["x"]
    return None


def _fits(value: SSAValue, shape: Shape, variables: dict[str, SSAValue]) -> bool:
    if isinstance(shape, str):
        return variables.setdefault(shape, value) is value
    if isinstance(shape, float):
        number = _number(value)
        return number is not None and isclose(number, shape, rel_tol=1e-7)
    assert isinstance(shape, tuple)
    op = value.owner
    name, operands = shape[0], shape[1:]
    if not isinstance(op, Operation) or _name(op) != name or len(op.operands) != len(operands):
        return False
    orders = [operands, operands[::-1]] if name in COMMUTATIVE else [operands]
    for order in orders:
        tried = dict(variables)
        if all(_fits(operand, each, tried) for operand, each in zip(op.operands, order, strict=True)):
            variables.update(tried)
            return True
    return False


def _name(op: Operation) -> str:
    return f"{op.name} {op.predicate.value.data}" if isinstance(op, arith.CmpfOp) else op.name


def _number(value: SSAValue) -> float | None:
    """The number that a constant is."""
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, FloatAttr):
        return op.value.value.data
    return None
