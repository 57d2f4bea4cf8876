"""
Conditions and builders of `integer_arithmetic.mlir`: scales and zero points of results, and what is known of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...dialects.graph.quantisation import QuantizeOp
from ...dialects.traits import LoopSemantics, constant_kind, is_pure
from ...patterns.language.constants import splat_number
from ...patterns.language.match import Match, as_value
from ...patterns.language.registry import Thing, builder, condition
from ...te.dtypes import integer_range, is_integer
from ..inference.quantisation import dtype_of, emit, shape_of
from .moves import full


@condition("prepared", protects="cost")
def prepared(match: Match, thing: Thing) -> bool:
    """The value follows from constants and weights, so it is computed once, when they are loaded."""
    return is_prepared(as_value(thing))


def is_prepared(value: SSAValue) -> bool:
    """Returns whether a value follows from constants and weights."""
    waiting, seen = [value], set[Operation]()
    while waiting:
        owner = waiting.pop().owner
        if not isinstance(owner, Operation):
            return False
        if owner in seen or constant_kind(owner):
            continue
        if not isinstance(owner, LoopSemantics) or not owner.operands or not is_pure(owner):
            return False
        seen.add(owner)
        waiting += owner.operands
    return True


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
