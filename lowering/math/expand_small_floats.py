"""
Does arithmetic on small floats through f32, as a part of `expand-math`: extend, compute, round once.

`+ - * / sqrt` rounded to f32 (24 bits) and then to p = 11 or 8 bits equal one rounding, because 24 >= 2 p + 2 (S. A.
Figueroa, When is double rounding innocuous?, 1995). This does not hold for fma, and for f64 or wide integers to a small
float. There the wide step rounds *to odd*: inexact results take the neighbour with an odd last bit. No later rounding
to at least two bits less can mistake it for a tie or an exact value (S. Boldo and G. Melquiond, Emulation of a FMA and
correctly rounded sums, 2008).

The floats of 8 bits, which LLVM does not know, are bytes after it: their conversions become operations on bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, math, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, VectorType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from ...core.messages.diagnostics import fail
from ...core.roles import IMPLIED
from ...te.dtypes import SMALL_FLOATS, STORED_FLOATS, TABLE
from .expansions.math_ops import NO_FASTMATH, WIDTH, MathOps, Value, element_kind

APPROXIMATE = arith.FastMathFlagsAttr([FastMathFlag.APPROX_FUNC])

ABS64 = (1 << 63) - 1
INFINITY64 = 0x7FF << 52
INFINITY32 = 0xFF << 23
BIAS32, FRACTION32 = TABLE["f32"].bias, TABLE["f32"].mantissa_bits


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
    """Rounds an f64 once to a small float: to odd in f32 first."""
    nearest = x.narrow("f32")
    rest = x - nearest.extend("f64")
    size = rest.bits() & ABS64
    inexact = size.greater(0) & size.less(INFINITY64 + 1)
    direction = m.select(inexact, rest.like(1.0).copysign(rest), rest.like(0.0))
    return narrow(m, odd_neighbour(m, nearest, direction.narrow("f32")), kind)


def narrow(m: MathOps, x: Value, kind: str) -> Value:
    """Rounds an f32 to a small float."""
    return byte_of_f32(m, x, kind) if kind in STORED_FLOATS else x.narrow(kind)


def widen(m: MathOps, x: Value, kind: str) -> Value:
    """Extends a small float to f32 or f64."""
    wide = f32_of_byte(m, x) if x.kind in STORED_FLOATS else x.extend("f32")
    return wide if kind == "f32" else wide.extend("f64")


def f32_of_byte(m: MathOps, x: Value) -> Value:
    """
    Extends a float of 8 bits to f32, exactly.

    Its bits, moved to the places of those of f32, need another bias. Subnormals are integers times a power of two.
    """
    row = TABLE[x.kind]
    bits = m.emit(arith.ExtUIOp, (x.bits(),), "i32")
    size = bits & 0x7F
    moved = size << (FRACTION32 - row.mantissa_bits)
    subnormal = m.emit(arith.SIToFPOp, (size,), "f32") * 2.0 ** (1 - row.bias - row.mantissa_bits)
    normal = moved + ((BIAS32 - row.bias) << FRACTION32)
    special = moved | INFINITY32
    finite = m.select(size.less(1 << row.mantissa_bits), subnormal.bits(), normal)
    magnitude = m.select(size.greater(row.overflow_bits - 1), special, finite)
    return (magnitude | (bits & 0x80) << 24).as_float("f32")


def byte_of_f32(m: MathOps, x: Value, kind: str) -> Value:
    """
    Rounds an f32 to a float of 8 bits, to nearest even. What is too large becomes infinite, or NaN for want of that.

    Adding just under half a unit, and the last bit kept, carries into the bits kept exactly when rounding goes up. A
    sum with a power of two whose unit is that of the subnormals rounds those.
    """
    row = TABLE[kind]
    cut = FRACTION32 - row.mantissa_bits
    bits = x.bits()
    size = bits & 0x7FFFFFFF
    rebias = (BIAS32 - row.bias) << FRACTION32
    normal = (size + ((size >> cut) & 1) + ((1 << (cut - 1)) - 1 - rebias)) >> cut
    exponent = 1 - row.bias - row.mantissa_bits + FRACTION32
    subnormal = (size.as_float("f32") + 2.0**exponent).bits() - ((exponent + BIAS32) << FRACTION32)
    rounded = m.select(size.less(rebias + (1 << FRACTION32)), subnormal, normal)
    result = m.select(rounded.greater(row.overflow_bits), row.overflow_bits, rounded)
    if row.has_infinity:
        quiet_nan = row.overflow_bits | 1 << (row.mantissa_bits - 1)
        result = m.select(size.greater(INFINITY32), quiet_nan, result)
    return m.emit(arith.TruncIOp, (result | ((bits >> 24) & 0x80),), "i8").as_float(kind)


def small_fma(m: MathOps, a: Value, b: Value, c: Value) -> Value:
    """Computes a * b + c rounded once: an exact product in f64 (22 bits), a sum rounded to odd, then narrowed."""
    product = widen(m, a, "f64") * widen(m, b, "f64")
    return narrow_from_f64(m, odd_sum(m, product, widen(m, c, "f64")), a.kind)


def sign_bit(x: Value) -> int:
    """Returns the bit of the sign, as a signed integer."""
    return -(1 << (WIDTH[x.kind] - 1))


def small_negate(m: MathOps, x: Value) -> Value:
    """Computes -x by its sign bit."""
    del m
    return (x.bits() ^ sign_bit(x)).as_float(x.kind)


def small_abs(m: MathOps, x: Value) -> Value:
    """Computes |x| by its sign bit."""
    del m
    return (x.bits() & ~sign_bit(x)).as_float(x.kind)


def small_copysign(m: MathOps, x: Value, sign: Value) -> Value:
    """Returns the size of x with the sign of `sign`."""
    del m
    return ((x.bits() & ~sign_bit(x)) | (sign.bits() & sign_bit(x))).as_float(x.kind)


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
        return narrow(m, m.emit(type(op), (value,), "f32"), kind).ssa
    if width == 32:
        return narrow_from_f64(m, m.emit(type(op), (value,), "f64"), kind).ssa
    high = m.emit(arith.ShRUIOp if isinstance(op, arith.UIToFPOp) else arith.ShRSIOp, (value, value.like(32)), "i64")
    low = m.emit(arith.UIToFPOp, (value & 0xFFFFFFFF,), "f64")
    total = odd_sum(m, m.emit(type(op), (high,), "f64") * 4294967296.0, low)
    return narrow_from_f64(m, total, kind).ssa


def change_format(op: Operation, m: MathOps) -> SSAValue:
    """Converts to or from a small float, through f32."""
    x, kind = m.value(op.operands[0]), _kind(op.results[0])
    if kind not in SMALL_FLOATS:
        return widen(m, x, kind).ssa
    return (narrow_from_f64(m, x, kind) if x.kind == "f64" else narrow(m, _widened(m, op.operands[0]), kind)).ssa


def constant_bits(op: Operation, m: MathOps) -> SSAValue:
    """Spells the bits of a constant that LLVM has no type for."""
    value, type_ = op.properties["value"], m.type("i8")
    if isinstance(value, DenseIntOrFPElementsAttr):
        bits: Attribute = DenseIntOrFPElementsAttr(type_, value.data)  # pyright: ignore[reportArgumentType]
    else:
        assert isinstance(value, FloatAttr)
        number = int.from_bytes(value.type.pack([value.value.data]), "little", signed=True)
        bits = IntegerAttr(number, type_)  # pyright: ignore[reportArgumentType,reportCallIssue]
    return m.emit(arith.ConstantOp, (), "i8", {"value": bits}).as_float(_kind(op.results[0])).ssa


def through_f32(op: Operation, m: MathOps, operands: Sequence[Value] | None = None) -> SSAValue:
    """Does the op on f32: small operands are extended, unless `operands` are given, and a small result is rounded."""
    operands = [_widened(m, operand) for operand in op.operands] if operands is None else operands
    kind = _kind(op.results[0])
    properties = {name: _flags(value) if name == "fastmath" else value for name, value in op.properties.items()}
    result = m.emit(type(op), operands, "f32" if kind in SMALL_FLOATS else kind, properties)
    return (narrow(m, result, kind) if kind in SMALL_FLOATS else result).ssa


def _flags(given: Attribute) -> Attribute:
    """Returns the flags that hold for the op on f32 as well: the functions may be approximate."""
    approximate = isinstance(given, arith.FastMathFlagsAttr) and FastMathFlag.APPROX_FUNC in given.data
    return APPROXIMATE if approximate else NO_FASTMATH


def _widened(m: MathOps, operand: SSAValue) -> Value:
    value = m.value(operand)
    return widen(m, value, "f32") if value.kind in SMALL_FLOATS else value


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


CONTINUOUS = (
    *(arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp),
    *(arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp),
    *(math.ExpOp, math.Exp2Op, math.ExpM1Op, math.LogOp, math.Log1pOp, math.TanhOp, math.ErfOp, math.SqrtOp),
    math.RsqrtOp,
)
"""Ops of which a small change of an operand changes the result by little, as far as there is one."""


class SmallFloats:
    """
    Expands arithmetic on small floats. With `excess`, `CONTINUOUS` ops take results of one another before these are
    rounded, and sums before the rounding that an op implies (`IMPLIED`).
    """

    def __init__(self, excess: bool = False):
        self.excess = excess
        self.unrounded: dict[SSAValue, SSAValue] = {}
        """The f32 that a small float was rounded from."""

    def expansion_of(self, op: Operation) -> Callable[[Operation, MathOps], SSAValue] | None:
        """Returns how to do `op` without arithmetic on small floats, `None` where it stays."""
        if self.excess and op.attributes and isinstance(op, arith.ExtFOp) and IMPLIED in op.attributes:
            wide = self._before_rounding(op.input)
            if wide is not None and wide.type == op.result.type:
                return lambda _op, _m: wide
        found = small_float_expansion(op)
        return self._in_excess if found is not None and self.excess and isinstance(op, CONTINUOUS) else found

    def _in_excess(self, op: Operation, m: MathOps) -> SSAValue:
        operands = [self._operand(m, each) for each in op.operands]
        result = through_f32(op, m, operands)
        if isinstance(result.owner, arith.TruncFOp):
            self.unrounded[result] = result.owner.input
        return result

    def _operand(self, m: MathOps, operand: SSAValue) -> Value:
        """Returns an operand in f32, before the rounding that the op which made it implies."""
        found = self._before_rounding(operand)
        return _widened(m, operand) if found is None else m.value(found)

    def _before_rounding(self, value: SSAValue) -> SSAValue | None:
        """Returns what `value` is rounded from, where the op which made it implies the rounding."""
        rounding = value.owner
        if isinstance(rounding, arith.TruncFOp) and IMPLIED in rounding.attributes:
            self.unrounded.setdefault(value, rounding.input)
        return self.unrounded.get(value)

    def erase_unused(self) -> None:
        """Erases the roundings that nothing uses."""
        for rounded in self.unrounded:
            op = rounded.owner
            if rounded.first_use is None and isinstance(op, Operation):
                op.detach()
                op.erase()


_SMALL_FLOATS = frozenset(SMALL_FLOATS)


def _name_of_element(value: SSAValue) -> str:
    """Returns the name of the class of a type, which is the kind of a float."""
    kind = value.type
    return kind.element_type.name if type(kind) is VectorType else kind.name


def small_float_expansion(op: Operation) -> Callable[[Operation, MathOps], SSAValue] | None:
    """
    Returns how to do `op` without arithmetic on small floats.

    Returns None if it needs none or is a conversion that stays (f32 to and from).
    """
    values = (*op.operands, *op.results)
    if _SMALL_FLOATS.isdisjoint(map(_name_of_element, values)):  # as of nearly all ops
        return None
    kinds = [element_kind(value.type) for value in values]
    stored = [kind for kind in kinds if kind in STORED_FLOATS]
    if isinstance(op, arith.ConstantOp):
        return constant_bits if stored else None
    if isinstance(op, arith.ExtFOp | arith.TruncFOp):
        expansion = change_format if stored or "f64" in kinds else None
    elif None in kinds:
        return None
    else:
        expansion = _OWN.get(type(op)) or (through_f32 if type(op) in _THROUGH_F32 else None)
    if expansion is not None and stored and isinstance(op.results[0].type, VectorType):
        fail(op, f"nothing is computed on vectors of {stored[0]}, only on scalars")
    return expansion
