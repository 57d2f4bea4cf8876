"""Tiles of small floats extended to the precision in which they are summed up."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects import tile
from .scheduled_nest import ScheduledNest


def widened(builder: ScheduledNest, value: SSAValue, element: Attribute) -> SSAValue:
    """Returns the tile `value` with elements of the float type `element`, which has at least their precision."""
    assert isinstance(value.type, VectorType)
    if value.type.element_type == element:
        return value
    block = Block(arg_types=[value.type.element_type])
    extended = arith.ExtFOp(block.args[0], element)  # pyright: ignore[reportArgumentType]
    block.add_ops([extended, tile.YieldOp(extended.result)])
    return builder.add(tile.MapOp([value], VectorType(element, value.type.get_shape()), Region(block))).result
