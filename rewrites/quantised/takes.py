"""Conditions and builders of `integer_arithmetic.mlir`: rows that are looked up in a table of integers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ...dialects.graph.base import plain_properties
from ...dialects.graph.movement import TakeOp
from ...dialects.graph.quantisation import DequantizeOp
from ...patterns.language.match import Match
from ...patterns.language.registry import builder, condition
from ..inference.quantisation import emit, shape_of
from .moves import moved_integers


@condition("takes-scales")
def takes_scales(match: Match, op: Operation, real: DequantizeOp) -> bool:
    """One scale serves all elements, or rows of a matrix are taken that have scales of their own."""
    if not shape_of(real.operands[1]):
        return True
    found, rank = plain_properties(real), len(shape_of(real.operands[0]))
    if not isinstance(op, TakeOp) or rank != 2 or plain_properties(op)["axis"] % rank:
        return False
    return found["axis"] % rank == (1 if found["block_size"] else 0) and shape_of(real.operands[0])[1] > 0


@builder("taken-integers")
def taken_integers(match: Match, op: Operation, real: DequantizeOp) -> Sequence[SSAValue] | None:
    """A `graph.dequantize` of the integers that `op` takes."""
    if not shape_of(real.operands[1]):
        return moved_integers(match, op, real)
    quantized, *points = real.operands
    block_size = plain_properties(real)["block_size"]
    taken = [_taken(match, op, each) for each in (quantized, *points)]
    if not block_size:  # One block is a row.
        taken[1:] = [emit(match, "expand_dims", each, axis=[-1]) for each in taken[1:]]
        block_size = shape_of(quantized)[1]
    return [emit(match, "dequantize", *taken, axis=len(shape_of(taken[0])) - 1, block_size=block_size)]


def _taken(match: Match, op: Operation, value: SSAValue) -> SSAValue:
    """Returns the rows of a tensor that `op` takes of another one."""
    return match.create(op.name, [value, *op.operands[1:]], None, op.properties).results[0]
