"""
Makes zeros of constant factors below the least normal number.

Processors take a hundred cycles and more for a product with a subnormal number, and trained weights have such numbers:
weight decay leaves channels that contribute nothing. A convolution with such filters took 40 times as long as with
zeros in their place.
"""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, VectorType
from xdsl.ir import Block, Operation, Region, SSAValue

from ...core.ir.element_types import dtype_name
from ...dialects import tile
from ...te.dtypes import LEAST_NORMAL
from .scheduled_nest import ScheduledNest


def without_subnormals(builder: ScheduledNest, value: SSAValue) -> SSAValue:
    """
    Returns the tile `value` with zeros in the place of subnormal numbers. Elements other than f32 and f64 stay as they
    are.
    """
    assert isinstance(value.type, VectorType)
    block = Block(arg_types=[value.type.element_type])
    ops = _chosen(block.args[0])
    if not ops:
        return value
    block.add_ops([*ops, tile.YieldOp(ops[-1].results[0])])
    return builder.add(tile.MapOp([value], value.type, Region(block))).result


def number_without_subnormals(builder: ScheduledNest, value: SSAValue) -> SSAValue:
    """Returns the number `value`, or zero where it is a subnormal number of f32 or f64."""
    for op in _chosen(value):
        value = builder.add(op).results[0]
    return value


def _chosen(number: SSAValue) -> list[Operation]:
    """Returns ops that compute zero of a subnormal number and else the number, none for other types."""
    element = number.type
    bound = LEAST_NORMAL.get(dtype_name(element) or "")
    if bound is None:
        return []
    size = math.AbsFOp(number)
    least = arith.ConstantOp(FloatAttr(bound, element))  # pyright: ignore[reportArgumentType, reportCallIssue]
    zero = arith.ConstantOp(FloatAttr(0.0, element))  # pyright: ignore[reportArgumentType, reportCallIssue]
    small = arith.CmpfOp(size, least, "olt")
    return [size, least, zero, small, arith.SelectOp(small, zero, number)]
