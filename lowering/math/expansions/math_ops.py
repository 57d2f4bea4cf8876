"""
Writes straight-line `arith` code as equations: `x * y + 1.0` on `Value` makes the ops, for scalars and vectors alike.

xDSL's `arith` has comparisons, selections and integer casts on scalars only. On vectors a comparison is therefore the
sign of a difference, spread over the lane (a *mask*: all ones or all zeros). A selection is `(a & mask) | (b & ~mask)`.
LLVM recognises both. Comparisons are of integers, mostly of the bits of a float, whose order is that of non-negative
floats.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, LocationAttr, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....core.ir.element_types import ATTRIBUTES, FLOATS
from ....dialects import tile
from ....te import dtypes

Number = int | float

ELEMENT: dict[str, Attribute] = {**FLOATS, **{name: ATTRIBUTES[name] for name in ("i1", *dtypes.SIGNED)}}
KIND_OF = {element: kind for kind, element in ELEMENT.items()}
_CLASSES = frozenset(map(type, ELEMENT.values()))
WIDTH = {kind: dtypes.bit_width(kind) for kind in ELEMENT}
BITS_OF = {kind: f"i{dtypes.bit_width(kind)}" for kind in dtypes.FLOATS}

NO_FASTMATH = arith.FastMathFlagsAttr("none")
NO_OVERFLOW = arith.IntegerOverflowAttr("none")
PREDICATE = {"eq": IntegerAttr(0, 64), "ne": IntegerAttr(1, 64), "slt": IntegerAttr(2, 64)}
GREATER: dict[str, Attribute] = {"predicate": IntegerAttr(2, 64), "fastmath": NO_FASTMATH}

ConstantKey = tuple[Attribute, bytes]


def element_kind(type_: Attribute) -> str | None:
    """Returns `f32` for `f32` and `vector<8xf32>`, or None for types the expansions do not know."""
    if type(type_) is VectorType:
        type_ = type_.element_type
    # Most operands are of a memref type, whose hash takes longer than all else here.
    return KIND_OF.get(type_) if type(type_) in _CLASSES else None


class MathOps:
    """
    Ops before `anchor`. Every value has the shape of `shape_of` (scalar, or its vector shape).

    All expansions in one block share `constants`, so that a constant is written once per block.
    """

    def __init__(self, anchor: Operation, shape_of: Attribute, constants: dict[ConstantKey, SSAValue]):
        self._point = InsertPoint.before(anchor)
        self._location: LocationAttr = anchor.location
        self._shape = shape_of if isinstance(shape_of, VectorType) else None
        self._constants = constants
        self._types: dict[str, Attribute] = {}
        self.created = 0

    @property
    def is_vector(self) -> bool:
        return self._shape is not None

    def type(self, kind: str) -> Attribute:
        """Returns the type of values of element type `kind` here."""
        if self._shape is None:
            return ELEMENT[kind]
        if (found := self._types.get(kind)) is None:
            found = VectorType(ELEMENT[kind], self._shape.shape, self._shape.scalable_dims)  # pyright: ignore[reportArgumentType]
            self._types[kind] = found
        return found

    def value(self, ssa: SSAValue) -> Value:
        """Returns an operand of the op under expansion as a `Value`."""
        kind = element_kind(ssa.type)
        assert kind is not None
        return Value(self, ssa, kind)

    def emit(
        self,
        op_type: type[Operation],
        operands: Sequence[Value],
        kind: str,
        properties: dict[str, Attribute] | None = None,
    ) -> Value:
        """Inserts a new op with one result of element type `kind`."""
        op = op_type.create(
            operands=[operand.ssa for operand in operands], result_types=[self.type(kind)], properties=properties or {}
        )
        return self._insert(op, kind)

    def _insert(self, op: Operation, kind: str) -> Value:
        op.location = self._location
        Rewriter.insert_op(op, self._point)
        self.created += 1
        return Value(self, op.results[0], kind)

    def constant(self, number: Number, kind: str) -> Value:
        """Returns `number` rounded to `kind`, in every lane."""
        type_ = self.type(kind)
        is_float = kind in BITS_OF
        key = (type_, struct.pack("<d", number) if is_float else struct.pack("<q", int(number)))
        if (known := self._constants.get(key)) is not None:
            return Value(self, known, kind)
        attribute: Attribute
        if isinstance(type_, VectorType):
            attribute = DenseIntOrFPElementsAttr.from_list(type_, [number] * type_.element_count())  # pyright: ignore
        elif is_float:
            attribute = FloatAttr(float(number), type_)  # pyright: ignore
        else:
            attribute = IntegerAttr(int(number), type_)  # pyright: ignore
        made = self.emit(arith.ConstantOp, (), kind, {"value": attribute})
        self._constants[key] = made.ssa
        return made

    def fma(self, x: Value, y: Value | Number, z: Value | Number) -> Value:
        """Computes `x * y + z`, rounded once."""
        return self.emit(math.FmaOp, (x, x.like(y), x.like(z)), x.kind, {"fastmath": NO_FASTMATH})

    def polynomial(self, x: Value, coefficients: Sequence[float]) -> Value:
        """Computes `c[0] + c[1] x + c[2] x^2 + ...` by Horner's rule, one fma a step."""
        total = x.like(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            total = self.fma(total, x, coefficient)
        return total

    def scale(self, number: Value, exponent: Value) -> Value:
        """Computes `number * 2^floor(exponent)`, rounded once: `tile.scale`."""
        return self._insert(tile.ScaleOp(number.ssa, exponent.ssa), number.kind)

    def limit(self, number: Value, bound: Value | Number) -> Value:
        """Limits `number` to `bound` around 0, finite even of a NaN: `tile.limit`."""
        return self._insert(tile.LimitOp(number.ssa, number.like(bound).ssa), number.kind)

    def larger(self, x: Value, y: Value) -> Value:
        """Returns `x` where `x > y`, else `y`, for scalars. It treats NaNs as `vmaxps` does, to be one instruction."""
        assert not self.is_vector
        return self.select(self.emit(arith.CmpfOp, (x, y), "i1", GREATER), x, y)

    def smaller(self, x: Value, y: Value) -> Value:
        """Returns `x` where `y > x`, else `y`, for scalars, as `larger`."""
        assert not self.is_vector
        return self.select(self.emit(arith.CmpfOp, (y, x), "i1", GREATER), x, y)

    def lookup(self, index: Value, table: Sequence[float]) -> Value:
        """Returns `table[index mod size]`, of 16 or 32 numbers: `tile.lookup`."""
        return self._insert(tile.LookupOp(index.ssa, table), "f32")

    def select(self, mask: Value, then: Value | Number, otherwise: Value) -> Value:
        """Selects `then` where `mask` holds, else `otherwise`. `mask` comes from a comparison of one lane width."""
        then = otherwise.like(then)
        if not self.is_vector:
            return self.emit(arith.SelectOp, (mask, then, otherwise), otherwise.kind)
        if otherwise.kind in BITS_OF:
            return self.select(mask, then.bits(), otherwise.bits()).as_float(otherwise.kind)
        return (then & mask) | (otherwise & ~mask)


class Value:
    """An SSA value with operators. `kind` is its element type. Integer division and unsigned order are not needed."""

    __slots__ = ("_builder", "kind", "ssa")

    def __init__(self, builder: MathOps, ssa: SSAValue, kind: str):
        self._builder = builder
        self.ssa = ssa
        self.kind = kind

    def like(self, other: Value | Number) -> Value:
        """Returns `other` as a value of the same kind."""
        if isinstance(other, Value):
            assert other.kind == self.kind, f"{other.kind} used with {self.kind}"
            return other
        return self._builder.constant(other, self.kind)

    def _unary(self, op_type: type[Operation]) -> Value:
        return self._builder.emit(op_type, (self,), self.kind, {"fastmath": NO_FASTMATH})

    def _float(self, op_type: type[Operation], other: Value | Number) -> Value:
        return self._builder.emit(op_type, (self, self.like(other)), self.kind, {"fastmath": NO_FASTMATH})

    def _integer(self, op_type: type[Operation], other: Value | Number, flags: bool = False) -> Value:
        properties: dict[str, Attribute] = {"overflowFlags": NO_OVERFLOW} if flags else {}
        return self._builder.emit(op_type, (self, self.like(other)), self.kind, properties)

    # Floats and integers

    def __add__(self, other: Value | Number) -> Value:
        if self.kind in BITS_OF:
            return self._float(arith.AddfOp, other)
        return self._integer(arith.AddiOp, other, flags=True)

    def __sub__(self, other: Value | Number) -> Value:
        if self.kind in BITS_OF:
            return self._float(arith.SubfOp, other)
        return self._integer(arith.SubiOp, other, flags=True)

    def __rsub__(self, other: Number) -> Value:
        return self.like(other) - self

    def __mul__(self, other: Value | Number) -> Value:
        return self._float(arith.MulfOp, other)

    def __truediv__(self, other: Value | Number) -> Value:
        return self._float(arith.DivfOp, other)

    def __rtruediv__(self, other: Number) -> Value:
        return self.like(other) / self

    def __neg__(self) -> Value:
        return self._unary(arith.NegfOp)

    def maximum(self, other: Value | Number) -> Value:
        """Returns the larger, or NaN if either is."""
        return self._float(arith.MaximumfOp, other)

    def minimum(self, other: Value | Number) -> Value:
        """Returns the smaller, or NaN if either is."""
        return self._float(arith.MinimumfOp, other)

    def abs(self) -> Value:
        return self._unary(math.AbsFOp)

    def sqrt(self) -> Value:
        return self._unary(math.SqrtOp)

    def round_even(self) -> Value:
        return self._unary(math.RoundEvenOp)

    def trunc(self) -> Value:
        return self._unary(math.TruncOp)

    def copysign(self, sign: Value) -> Value:
        return self._float(math.CopySignOp, sign)

    # Formats

    def extend(self, kind: str) -> Value:
        """Returns the same number in a wider float format."""
        return self._builder.emit(arith.ExtFOp, (self,), kind)

    def narrow(self, kind: str) -> Value:
        """Rounds to nearest even in a narrower float format."""
        return self._builder.emit(arith.TruncFOp, (self,), kind)

    def bits(self) -> Value:
        """Returns the bits of a float as an integer."""
        return self._builder.emit(arith.BitcastOp, (self,), BITS_OF[self.kind])

    def as_float(self, kind: str) -> Value:
        """Returns the float that has these bits."""
        return self._builder.emit(arith.BitcastOp, (self,), kind)

    # Integers and masks

    def __and__(self, other: Value | Number) -> Value:
        return self._integer(arith.AndIOp, other)

    def __or__(self, other: Value | Number) -> Value:
        return self._integer(arith.OrIOp, other)

    def __xor__(self, other: Value | Number) -> Value:
        return self._integer(arith.XOrIOp, other)

    def __invert__(self) -> Value:
        return self ^ -1

    def __lshift__(self, amount: int) -> Value:
        return self._integer(arith.ShLIOp, amount, flags=True)

    def __rshift__(self, amount: int) -> Value:
        """Shifts arithmetically."""
        return self._integer(arith.ShRSIOp, amount)

    # Comparisons of integers: see the head of the file

    def less(self, other: Value | int) -> Value:
        """Returns the mask of `self < other`, signed. The difference must not overflow (both of one sign, say)."""
        if not self._builder.is_vector:
            return self._builder.emit(arith.CmpiOp, (self, self.like(other)), "i1", {"predicate": PREDICATE["slt"]})
        difference = self if isinstance(other, int) and other == 0 else self - other
        return difference >> (WIDTH[self.kind] - 1)

    def greater(self, other: Value | int) -> Value:
        """Returns the mask of `self > other`, as `less`."""
        return self.like(other).less(self)

    def equal(self, other: Value | int) -> Value:
        """Returns the mask of `self == other`."""
        if not self._builder.is_vector:
            return self._builder.emit(arith.CmpiOp, (self, self.like(other)), "i1", {"predicate": PREDICATE["eq"]})
        difference = self if isinstance(other, int) and other == 0 else self ^ other
        return ~((difference | (0 - difference)) >> (WIDTH[self.kind] - 1))
