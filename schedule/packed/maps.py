"""Maps of register tiles, written by functions of their elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, VectorType, f32, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects import tile
from ..kernels.scheduled_nest import ScheduledNest


class MapBody:
    """The body of a `tile.map`."""

    def __init__(self, *types: Attribute):
        self.block = Block(arg_types=types)

    def __call__(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def number(self, value: float) -> SSAValue:
        return self(arith.ConstantOp(FloatAttr(value, f32)))

    def whole(self, value: int) -> SSAValue:
        return self(arith.ConstantOp(IntegerAttr(value, i32)))


def mapped(
    builder: ScheduledNest, sources: Sequence[SSAValue], element: Attribute, make: Callable[..., SSAValue]
) -> SSAValue:
    """Emits a map of tiles to another of their shape. `make` gets the body and an element of each."""
    types = [cast(VectorType, source.type) for source in sources]
    body = MapBody(*(type_.element_type for type_ in types))
    body.block.add_op(tile.YieldOp(make(body, *body.block.args)))
    return builder.add(tile.MapOp(sources, VectorType(element, types[0].get_shape()), Region(body.block))).result
