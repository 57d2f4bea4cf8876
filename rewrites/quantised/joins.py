"""
Conditions and builders of `integer_arithmetic.mlir`: ops that put integers of one scale and zero point together, which
stand for numbers in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign

from xdsl.ir import Operation, SSAValue

from ...dialects.graph.base import plain_properties
from ...dialects.graph.movement import PadOp
from ...dialects.graph.quantisation import DequantizeOp
from ...patterns.language.constants import splat_number
from ...patterns.language.match import Match
from ...patterns.language.registry import builder, condition
from ..inference.quantisation import dtype_of, emit
from .moves import same_scale


@condition("pads-with-zero")
def pads_with_zero(match: Match, op: PadOp) -> bool:
    """The elements around are 0, and not -0."""
    value = plain_properties(op)["value"]
    return value == 0 and copysign(1.0, value) > 0


@condition("one-conversion", otherwise="the operands are not all of one scale, zero point and type")
def one_conversion(match: Match, op: Operation) -> bool:
    """All operands stand for numbers by one known scale, a positive one, and zero point, and have one type."""
    conversions = [operand.owner for operand in op.operands if isinstance(operand.owner, DequantizeOp)]
    return 0 < len(conversions) == len(op.operands) and all(
        _is_like(match, each, conversions[0]) for each in conversions
    )


def _is_like(match: Match, op: DequantizeOp, other: DequantizeOp) -> bool:
    """Returns whether both read integers of one type in the same way, by one known scale and zero point."""
    same_type = dtype_of(op.operands[0]) == dtype_of(other.operands[0]) and op.properties == other.properties
    return same_type and all(same_scale(match, op.operands[place], other.operands[place]) for place in (1, 2))


@builder("padded-integers")
def padded_integers(match: Match, op: PadOp, real: DequantizeOp) -> Sequence[SSAValue]:
    """The numbers that integers stand for among which elements of the zero point have been put."""
    quantized, scale, zero = real.operands
    number = splat_number(zero)
    assert number is not None
    padded = emit(match, "pad", quantized, **{**plain_properties(op), "value": int(number)})
    return match.create(real.name, [padded, scale, zero], [op.results[0].type], real.properties).results


@builder("joined-integers")
def joined_integers(match: Match, op: Operation, real: DequantizeOp) -> Sequence[SSAValue]:
    """The numbers that integers stand for which `op` makes of integers of one scale and zero point."""
    integers: list[SSAValue] = []
    for operand in op.operands:
        assert isinstance(operand.owner, DequantizeOp)
        integers.append(operand.owner.operands[0])
    joined = match.create(op.name, integers, None, op.properties).results[0]
    return match.create(real.name, [joined, *real.operands[1:]], [op.results[0].type], real.properties).results
