"""
Conditions and builders of `integer_arithmetic.mlir`: scales and zero points of results, and what is known of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...core.ir.kinds import is_kind
from ...dialects.graph.constants import ConstantOp
from ...dialects.graph.quantisation import DequantizeOp, QuantizeOp
from ...dialects.traits import LoopSemantics, constant_kind, is_pure
from ...patterns.language.constants import splat_number
from ...patterns.language.match import Index, Match, Session, as_value
from ...patterns.language.registry import Thing, builder, condition
from ...te.dtypes import integer_range, is_integer
from ..inference.quantisation import converted, dtype_of, emit, shape_of
from .moves import full

# pyright: reportPrivateUsage=false


@builder("byte-table")
def byte_table(match: Match, op: QuantizeOp, real: Operation, data: DequantizeOp) -> Sequence[SSAValue]:
    """What stands for each byte in a table of what `op`, `real` and `data` make of all 256."""
    integers = data.operands[0]
    given = np.arange(256, dtype=np.uint8).view(np.uint8 if dtype_of(integers) == "ui8" else np.int8)
    every = match.add(ConstantOp.from_array(given)).results[0]
    number = match.create(data.name, [every, *data.operands[1:]]).results[0]
    made = match.create(real.name, [number], None, real.properties).results[0]
    table = match.create(op.name, [made, *op.operands[1:]]).results[0]
    return (emit(match, "take", table, converted(match, integers, "ui8"), axis=0),)


@condition("prepared", protects="cost")
def prepared(match: Match, thing: Thing) -> bool:
    """The value follows from constants and weights, so it is computed once, when they are loaded."""
    return is_prepared(match, as_value(thing))


def is_prepared(match: Match, value: SSAValue) -> bool:
    """Returns whether a value follows from constants and weights."""
    return match.session.index(_Computed).is_prepared(value)


class _Computed(Index):
    """
    The ops that are known to be computed in each call. A question about a value late in a net would else go all the way
    back to its inputs.
    """

    def __init__(self, session: Session):
        super().__init__(session)
        self._known = set[Operation]()

    def is_prepared(self, value: SSAValue) -> bool:
        """Returns whether `value` follows from constants and weights."""
        waiting: list[tuple[SSAValue, Operation | None]] = [(value, None)]
        asked_by: dict[Operation, Operation | None] = {}
        while waiting:
            each, user = waiting.pop()
            owner: Any = each.owner
            if not is_kind(owner.__class__, Operation):
                return self._note(user, asked_by)
            if owner in asked_by or constant_kind(owner):
                continue
            asked_by[owner] = user
            operands = owner._operands
            if (
                owner in self._known
                or not is_kind(owner.__class__, LoopSemantics)
                or not operands
                or not is_pure(owner)
            ):
                return self._note(owner, asked_by)
            waiting += [(operand, owner) for operand in operands]
        return True

    def _note(self, op: Operation | None, asked_by: Mapping[Operation, Operation | None]) -> bool:
        """Notes that `op`, and what it was asked for, are computed in each call."""
        while op is not None:
            self._known.add(op)
            op = asked_by[op]
        return False

    def linked(self, op: Operation) -> None:
        """Forgets all where `op` may follow from constants now. Its operands are others than before."""
        known = self._known
        if op in known and not any(each.owner in known or isinstance(each, BlockArgument) for each in op._operands):
            known.clear()


@condition("not-zero")
def not_zero(match: Match, thing: Thing) -> bool:
    """The number is known and not 0."""
    return splat_number(as_value(thing)) not in (None, 0)


@condition("least-number")
def least_number(match: Match, thing: Thing) -> bool:
    """The integer is the least of its type."""
    value = as_value(thing)
    dtype = dtype_of(value)
    return is_integer(dtype) and splat_number(value) == integer_range(dtype)[0]


@builder("offset-quantize")
def offset_quantize(match: Match, op: QuantizeOp, x: Thing, offset: Thing, zero: Thing) -> Sequence[SSAValue] | None:
    """The `graph.quantize` of x plus an offset, to which the zero point is added before it is rounded."""
    number = splat_number(as_value(zero))
    if number is None or dtype_of(as_value(offset)) != "f32":
        return None
    moved = emit(match, "add", as_value(offset), full(match, float(number), "f32"))
    total = emit(match, "add", as_value(x), moved)
    none = full(match, 0, dtype_of(as_value(zero)), shape_of(as_value(zero)))
    return match.create(op.name, [total, op.operands[1], none], [op.results[0].type], op.properties).results


@condition("not-one")
def not_one(match: Match, thing: Thing) -> bool:
    """The number is known, normal as its reciprocal is, and not 1."""
    number = splat_number(as_value(thing))
    return isinstance(number, float) and number != 1 and 2.0**-100 < number < 2.0**100


@builder("quantized-product")
def quantized_product(match: Match, op: QuantizeOp, scale: Thing) -> Sequence[SSAValue] | None:
    """The `graph.quantize` of `x` times one over the scale. Declines scales of other types than f32."""
    number = splat_number(as_value(scale))
    if not number or dtype_of(as_value(scale)) != "f32":
        return None
    factor = full(match, float(np.float32(1) / np.float32(number)), "f32")
    x = emit(match, "multiply", op.operands[0], factor)
    one = full(match, 1.0, "f32", shape_of(as_value(scale)))
    return match.create(op.name, [x, one, op.operands[2]], [op.results[0].type], op.properties).results
