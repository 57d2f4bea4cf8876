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
from ..inference.quantisation import emit
from .moves import same_scale


@condition("pads-with-zero")
def pads_with_zero(match: Match, op: PadOp) -> bool:
    """The elements around are 0, and not -0."""
    value = plain_properties(op)["value"]
    return value == 0 and copysign(1.0, value) > 0


@condition("one-conversion", otherwise="the operands are not all of one scale, zero point and type")
def one_conversion(match: Match, op: Operation) -> bool:
    """All operands stand for numbers by one known scale, a positive one, and zero point, and have one type."""
    first, *others = (operand.owner for operand in op.operands)
    return isinstance(first, DequantizeOp) and all(
        isinstance(other, DequantizeOp)
        and dtype_and_properties(other) == dtype_and_properties(first)
        and all(same_scale(match, one, each) for one, each in zip(first.operands[1:], other.operands[1:], strict=True))
        for other in others
    )


def dtype_and_properties(op: DequantizeOp) -> object:
    """Returns what says how a conversion reads its integers, beside its scale and zero point."""
    type_ = op.operands[0].type
    return type_.element_type, op.properties  # pyright: ignore[reportAttributeAccessIssue]


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
