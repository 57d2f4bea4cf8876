"""
Does f16 and bf16 arithmetic through f32, as a part of `expand-math`: extend, compute, round once.

`+ - * / sqrt` rounded to f32 (24 bits) and then to p = 11 or 8 bits equal one rounding, because 24 >= 2 p + 2 (S. A.
Figueroa, When is double rounding innocuous?, 1995). This does not hold for fma, and for f64 or wide integers to a small
float. There the wide step rounds *to odd*: inexact results take the neighbour with an odd last bit. No later rounding
to at least two bits less can mistake it for a tie or an exact value (S. Boldo and G. Melquiond, Emulation of a FMA and
correctly rounded sums, 2008).
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, math, vector
from xdsl.ir import Operation, SSAValue

from ...te.dtypes import SMALL_FLOATS
from .expansions.math_ops import NO_FASTMATH, WIDTH, MathOps, Value, element_kind

ABS64 = (1 << 63) - 1
INFINITY64 = 0x7FF << 52


def odd_neighbour(m: MathOps, rounded: Value, rest: Value) -> Value:
    """
    Rounds to odd. `rounded` is nearest to an exact value, and `rest` has the sign of the rounding error, or is 0 or NaN
    if there is none.

    An even inexact `rounded` moves one step towards the exact value. Its bits grow if signs agree, else they shrink,
    and inf comes down to the largest finite number. `rest` may be inf.
    """
    bits, rest_bits = rounded.bits(), rest.bits()
    width = WIDTH[rounded.kind]
    size = rest_bits & ((1 << (width - 1)) - 1)
    infinity = INFINITY64 if rounded.kind == "f64" else 0x7F800000
    inexact = size.greater(0) & size.less(infinity + 1)
    step = ((bits ^ rest_bits) >> (width - 1)) | 1
    return m.select(inexact & (bits & 1).equal(0), bits + step, bits).as_float(rounded.kind)


def odd_sum(m: MathOps, a: Value, b: Value) -> Value:
    """Computes a + b rounded to odd. The rest is exact (D. E. Knuth's two-sum)."""
    total = a + b
    from_b = total - a
    rest = (a - (total - from_b)) + (b - from_b)
    return odd_neighbour(m, total, rest)


def narrow_from_f64(m: MathOps, x: Value, kind: str) -> Value:
    """Rounds an f64 once to f16 or bf16: to odd in f32 first."""
    nearest = x.narrow("f32")
    rest = x - nearest.extend("f64")
    size = rest.bits() & ABS64
    inexact = size.greater(0) & size.less(INFINITY64 + 1)
    direction = m.select(inexact, rest.like(1.0).copysign(rest), rest.like(0.0))
    return odd_neighbour(m, nearest, direction.narrow("f32")).narrow(kind)


def widen(x: Value, kind: str) -> Value:
    """Extends f16 or bf16 to f32 or f64."""
    wide = x.extend("f32")
    return wide if kind == "f32" else wide.extend("f64")


def small_fma(m: MathOps, a: Value, b: Value, c: Value) -> Value:
    """Computes a * b + c rounded once: an exact product in f64 (22 bits), a sum rounded to odd, then narrowed."""
    product = widen(a, "f64") * widen(b, "f64")
    return narrow_from_f64(m, odd_sum(m, product, widen(c, "f64")), a.kind)


def small_negate(m: MathOps, x: Value) -> Value:
    """Computes -x by its sign bit."""
    del m
    return (x.bits() ^ -0x8000).as_float(x.kind)


def small_abs(m: MathOps, x: Value) -> Value:
    """Computes |x| by its sign bit."""
    del m
    return (x.bits() & 0x7FFF).as_float(x.kind)


def small_copysign(m: MathOps, x: Value, sign: Value) -> Value:
    """Returns the size of x with the sign of `sign`."""
    del m
    return ((x.bits() & 0x7FFF) | (sign.bits() & -0x8000)).as_float(x.kind)


def integer_to_small(op: Operation, m: MathOps) -> SSAValue:
    """
    Rounds an integer once. It is exact in f32 up to 16 bits, in f64 up to 32 bits.

    64 bits are the odd sum of two halves.
    """
    (source,) = op.operands
    kind = _kind(op.results[0])
    value = m.value(source)
    width = WIDTH[value.kind]
    if width <= 16:
        return m.emit(type(op), (value,), "f32").narrow(kind).ssa
    if width == 32:
        return narrow_from_f64(m, m.emit(type(op), (value,), "f64"), kind).ssa
    high = m.emit(arith.ShRUIOp if isinstance(op, arith.UIToFPOp) else arith.ShRSIOp, (value, value.like(32)), "i64")
    low = m.emit(arith.UIToFPOp, (value & 0xFFFFFFFF,), "f64")
    total = odd_sum(m, m.emit(type(op), (high,), "f64") * 4294967296.0, low)
    return narrow_from_f64(m, total, kind).ssa


def truncate_to_small(op: Operation, m: MathOps) -> SSAValue:
    """Rounds f64 to a small float."""
    return narrow_from_f64(m, m.value(op.operands[0]), _kind(op.results[0])).ssa


def small_to_wide(op: Operation, m: MathOps) -> SSAValue:
    """Extends a small float to f64, through f32."""
    return widen(m.value(op.operands[0]), "f64").ssa


def through_f32(op: Operation, m: MathOps) -> SSAValue:
    """Does the op on f32: small operands are extended, a small result is rounded."""
    operands = [_widened(m, operand) for operand in op.operands]
    kind = _kind(op.results[0])
    properties = {name: NO_FASTMATH if name == "fastmath" else value for name, value in op.properties.items()}
    result = m.emit(type(op), operands, "f32" if kind in SMALL_FLOATS else kind, properties)
    return (result.narrow(kind) if kind in SMALL_FLOATS else result).ssa


def _widened(m: MathOps, operand: SSAValue) -> Value:
    value = m.value(operand)
    return widen(value, "f32") if value.kind in SMALL_FLOATS else value


def _bitwise(function: Callable[..., Value]) -> Callable[[Operation, MathOps], SSAValue]:
    def expand(op: Operation, m: MathOps) -> SSAValue:
        return function(m, *(m.value(operand) for operand in op.operands)).ssa

    return expand


def _kind(value: SSAValue) -> str:
    kind = element_kind(value.type)
    assert kind is not None
    return kind


_OWN: dict[type[Operation], Callable[[Operation, MathOps], SSAValue]] = {
    arith.NegfOp: _bitwise(small_negate),
    math.AbsFOp: _bitwise(small_abs),
    math.CopySignOp: _bitwise(small_copysign),
    math.FmaOp: _bitwise(small_fma),
    vector.FMAOp: _bitwise(small_fma),
    arith.SIToFPOp: integer_to_small,
    arith.UIToFPOp: integer_to_small,
}
_THROUGH_F32 = frozenset(
    {
        arith.AddfOp,
        arith.SubfOp,
        arith.MulfOp,
        arith.DivfOp,
        arith.MaximumfOp,
        arith.MinimumfOp,
        arith.MaxnumfOp,
        arith.MinnumfOp,
        arith.CmpfOp,
        arith.FPToSIOp,
        arith.FPToUIOp,
        *(op for op in math.Math.operations if op not in (math.AbsFOp, math.CopySignOp, math.FmaOp)),
    }
)


def small_float_expansion(op: Operation) -> Callable[[Operation, MathOps], SSAValue] | None:
    """
    Returns how to do `op` without f16 or bf16 arithmetic.

    Returns None if it needs none or is a conversion that stays (f32 to and from).
    """
    kinds = [element_kind(value.type) for value in (*op.operands, *op.results)]
    if not any(kind in SMALL_FLOATS for kind in kinds):
        return None
    if isinstance(op, arith.TruncFOp):
        return truncate_to_small if kinds[0] == "f64" else None
    if isinstance(op, arith.ExtFOp):
        return small_to_wide if kinds[1] == "f64" else None
    if (own := _OWN.get(type(op))) is not None:
        return own if None not in kinds else None
    return through_f32 if type(op) in _THROUGH_F32 and None not in kinds else None
