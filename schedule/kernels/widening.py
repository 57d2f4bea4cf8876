"""Tiles of small floats and of bytes extended to the precision in which they are summed up, and sums in integers."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, VectorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects import tile
from .scheduled_nest import ScheduledNest


def widened(builder: ScheduledNest, value: SSAValue, element: Attribute, unsigned: bool = False) -> SSAValue:
    """
    Returns the tile `value` with elements of the float type `element`, which has at least their precision. Integers
    have signs unless they are `unsigned`.
    """
    from_integer = arith.UIToFPOp if unsigned else arith.SIToFPOp
    return _mapped(builder, value, element, from_integer if _is_integer(value) else arith.ExtFOp)


def whole_numbers(builder: ScheduledNest, value: SSAValue, element: Attribute) -> SSAValue:
    """Returns the tile `value` with elements of the type `element`: integers of it where it holds them as floats."""
    return _mapped(builder, value, element, arith.FPToSIOp)


def _mapped(
    builder: ScheduledNest, value: SSAValue, element: Attribute, conversion: Callable[..., Operation]
) -> SSAValue:
    assert isinstance(value.type, VectorType)
    if value.type.element_type == element:
        return value
    block = Block(arg_types=[value.type.element_type])
    converted = conversion(block.args[0], element)
    block.add_ops([converted, tile.YieldOp(converted.results[0])])
    return builder.add(tile.MapOp([value], VectorType(element, value.type.get_shape()), Region(block))).result


def _is_integer(value: SSAValue) -> bool:
    return isinstance(value.type, VectorType) and isinstance(value.type.element_type, IntegerType)
