"""
Formulas of several functions that have an expansion of their own.

They are found by their shape, as `te` and the graph dialect write them, and replaced as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, inf, isclose, pi, sqrt

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, FloatAttr
from xdsl.ir import Operation, SSAValue

from ....core.ir.kinds import is_kind
from ....lazy_dataclass import dataclass
from .coefficients import NORMAL_TAIL
from .logistic import sigmoid, silu
from .math_ops import MathOps, Value
from .piecewise import gelu_by_tanh_in_wide_registers, gelu_in_wide_registers

TAIL_MIDDLE = 2.75
"""Half of the interval on which NORMAL_TAIL holds, and its middle."""

Shape = str | float | tuple["Shape", ...]
"""
The variable `x`, a constant, or the name of an op with the shapes of its operands.

The name of a comparison has its predicate.
"""

COMMUTATIVE = ("arith.addf", "arith.mulf")
OEQ, OGE, OLT = 1, 3, 4
"""The predicates of `arith.cmpf`."""

GELU: Shape = (
    "arith.mulf",
    ("arith.mulf", "x", 0.5),
    ("arith.addf", 1.0, ("math.erf", ("arith.mulf", "x", sqrt(0.5)))),
)
_CUBIC = ("arith.addf", sqrt(2 / pi), ("arith.mulf", sqrt(2 / pi) * 0.044715, ("arith.mulf", "x", "x")))
GELU_BY_TANH: Shape = (
    "arith.mulf",
    ("arith.mulf", "x", 0.5),
    ("arith.addf", 1.0, ("math.tanh", ("arith.mulf", "x", _CUBIC))),
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
LIMITED_SILU: Shape = ("arith.select", (f"arith.cmpf {OEQ}", "x", -inf), -0.0, SILU)
_FALLING: Shape = ("math.exp", ("arith.negf", ("math.absf", "x")))
SIGMOID: Shape = (
    "arith.divf",
    ("arith.select", (f"arith.cmpf {OGE}", "x", 0.0), 1.0, _FALLING),
    ("arith.addf", 1.0, _FALLING),
)


@dataclass(frozen=True)
class Composite:
    """A formula, and what takes its place."""

    name: str
    shape: Shape
    expand: Callable[[MathOps, Value], Value]
    wide: bool
    """The replacement needs `tile.scale` and the like."""


def gelu(m: MathOps, x: Value) -> Value:
    """
    Computes x/2 (1 + erf(x / sqrt 2)) = max(x, -0) - |x| Q(|x|).

    Q(a) = erfc(a / sqrt 2) / 2 is a polynomial of degree 17 around 2.75.

    Beyond 5.5 the second term counts as it does there, 1e-7. That is -0 at both zeros, and the first term has the sign
    of `x`.
    """
    size = x.abs().minimum(2 * TAIL_MIDDLE)
    tail = m.polynomial(size - TAIL_MIDDLE, NORMAL_TAIL)
    return m.fma(-size, tail, x.maximum(-0.0))


COMPOSITES = (
    Composite("limited silu", LIMITED_SILU, silu, wide=True),
    Composite("silu", SILU, silu, wide=True),
    Composite("sigmoid", SIGMOID, sigmoid, wide=True),
    Composite("gelu", GELU, gelu_in_wide_registers, wide=True),
    Composite("gelu by tanh", GELU_BY_TANH, gelu_by_tanh_in_wide_registers, wide=True),
    Composite("gelu", GELU, gelu, wide=False),
)
"""All formulas: those that hold others first, and of two with one shape the better."""

_BY_LAST_OP = {
    name: [each for each in COMPOSITES if isinstance(each.shape, tuple) and each.shape[0] == name]
    for name in ("arith.mulf", "arith.divf", "arith.select")
}

LAST_OPS = (arith.MulfOp, arith.DivfOp, arith.SelectOp)
"""The last ops of these shapes."""


def composite_of(op: Operation, wide: bool) -> tuple[Composite, SSAValue] | None:
    """Returns the formula on f32 that `op` is the last op of, and its variable."""
    if not is_kind(op.__class__, LAST_OPS) or type(op.results[0].type) is not Float32Type:
        return None
    for found in _BY_LAST_OP.get(op.name, ()):
        variables: dict[str, SSAValue] = {}
        if (wide or not found.wide) and _fits(op.results[0], found.shape, variables):
            return found, variables["x"]
    return None


def _fits(value: SSAValue, shape: Shape, variables: dict[str, SSAValue]) -> bool:
    if isinstance(shape, str):
        return variables.setdefault(shape, value) is value
    if isinstance(shape, float):
        number = _number(value)
        return number is not None and isclose(number, shape, rel_tol=1e-7) and copysign(1, number) == copysign(1, shape)
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
    """Returns the number that a constant is."""
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, FloatAttr):
        return op.value.value.data
    return None
