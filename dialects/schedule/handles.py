"""The types of the values of a schedule: handles of loops and blocks."""

from __future__ import annotations

from xdsl.ir import ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition


@irdl_attr_definition
class LoopType(ParametrizedAttribute, TypeAttribute):
    """A `tensor_loop.for` of the function that is scheduled."""

    name = "schedule.loop"


@irdl_attr_definition
class BlockType(ParametrizedAttribute, TypeAttribute):
    """A `tensor_loop.block` of the function that is scheduled."""

    name = "schedule.block"


LOOP = LoopType()
BLOCK = BlockType()

TYPES = {"loop": LOOP, "block": BLOCK}
