"""
Conversions of floats to narrow integers that saturate, as they stand in the body of a `tile.map`: one op of `llvm_ext`
for the registers side by side in place of eight ops for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, f32, f64
from xdsl.ir import Attribute, Operation, SSAValue

from ....core.ir.appending import append_op
from ....dialects import llvm_ext
from ....dialects.llvm_ext.saturation import WIDEST
from ..attributes import UNIT, Properties
from ..llvm_body import LLVMBody

NO_NAN_STEPS, NAN_STEPS = 6, 8
"""The ops of an unsigned and of a signed conversion."""

_UNSIGNED: Properties = {"is_unsigned": UNIT}
_SIGNED: Properties = {}


class Saturation(NamedTuple):
    """A conversion in the body of a map: `result` is `number`, cut to its integer type."""

    number: SSAValue
    result: SSAValue
    is_unsigned: bool

    def convert(self, builder: LLVMBody, numbers: Sequence[SSAValue]) -> list[SSAValue]:
        """Returns the results for some registers of one type."""
        target = builder.types.convert(self.result.type)
        location = None if builder.source is None else builder.source.location
        properties = _UNSIGNED if self.is_unsigned else _SIGNED
        types = [target] * len(numbers)
        return list(append_op(builder.block, llvm_ext.SaturateOp, numbers, types, properties, location).results)


def saturation_at(ops: Sequence[Operation], first: int) -> tuple[Saturation, int] | None:
    """
    Returns the conversion that begins with `ops[first]`, and how many ops it takes. Its ops stand one after the other
    as `emit_cast` makes them, and only its result is used elsewhere. So the text for LLVM is that of these ops.
    """
    compare, raised, above, inside, whole, narrow = _six(ops[first : first + NO_NAN_STEPS])
    if not isinstance(compare, arith.CmpfOp) or compare.lhs.type not in (f32, f64):
        return None
    number = compare.lhs
    low, high = _bound(raised, compare, "ogt", number), None
    if low is not None and raised is not None and isinstance(above, arith.CmpfOp):
        high = _bound(inside, above, "olt", raised.results[0])
    if (
        high is None
        or inside is None
        or not isinstance(whole, arith.FPToSIOp)
        or not isinstance(narrow, arith.TruncIOp)
    ):
        return None
    target = narrow.result.type
    if (whole.input, narrow.input) != (inside.results[0], whole.result) or "overflowFlags" in narrow.properties:
        return None
    if (
        not isinstance(target, IntegerType)
        or not 1 < (bits := target.width.data) <= WIDEST
        or whole.result.type != IntegerType(32)
    ):
        return None
    if (low, high) == (0, 2**bits - 1) and _only_inside(ops[first : first + NO_NAN_STEPS]):
        return Saturation(number, narrow.result, is_unsigned=True), NO_NAN_STEPS
    steps = ops[first : first + NAN_STEPS]
    if (low, high) != (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) or len(steps) < NAN_STEPS or not _only_inside(steps):
        return None
    if not _is_zero_for_nan(steps[-2], steps[-1], number, narrow.result):
        return None
    return Saturation(number, steps[-1].results[0], is_unsigned=False), NAN_STEPS


def _six(ops: Sequence[Operation]) -> Sequence[Operation | None]:
    return ops if len(ops) == NO_NAN_STEPS else (None,) * NO_NAN_STEPS


def _predicate(op: arith.CmpfOp) -> str:
    """Returns the name of the predicate of a comparison without fast-math flags, else nothing."""
    flags: object = op.properties.get("fastmath")
    if isinstance(flags, arith.FastMathFlagsAttr) and flags.data:
        return ""
    return arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]


def _bound(op: Operation | None, compare: arith.CmpfOp, predicate: str, number: SSAValue) -> float | None:
    """Returns c where the two ops are `compare predicate number, c` and `select compare, number, c`."""
    if not isinstance(op, arith.SelectOp) or compare.lhs is not number or _predicate(compare) != predicate:
        return None
    if (op.cond, op.lhs, op.rhs) != (compare.result, number, compare.rhs):
        return None
    return _literal(compare.rhs, FloatAttr)


def _literal(value: SSAValue, kind: type[FloatAttr] | type[IntegerAttr]) -> float | None:
    attribute: Attribute | None = value.owner.value if isinstance(value.owner, arith.ConstantOp) else None
    return attribute.value.data if isinstance(attribute, kind) else None


def _is_zero_for_nan(compare: Operation, select: Operation, number: SSAValue, narrow: SSAValue) -> bool:
    """Returns whether `select` is 0 where `number` is NaN, else `narrow`."""
    if not isinstance(compare, arith.CmpfOp) or not isinstance(select, arith.SelectOp):
        return False
    if (compare.lhs, compare.rhs) != (number, number) or _predicate(compare) != "uno":
        return False
    return (select.cond, select.rhs) == (compare.result, narrow) and _literal(select.lhs, IntegerAttr) == 0


def _only_inside(ops: Sequence[Operation]) -> bool:
    """Returns whether results of all ops but the last are used by these ops alone."""
    own = set(ops)
    return all(use.operation in own for op in ops[:-1] for result in op.results for use in result.uses)
