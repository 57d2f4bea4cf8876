"""The types of the values of a schedule: handles of loops and blocks, and sampled numbers."""

from __future__ import annotations

from xdsl.ir import ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition


@irdl_attr_definition
class LoopType(ParametrizedAttribute, TypeAttribute):
    """The handle of a `tensor_loop.for` of the function that is scheduled."""

    name = "schedule.loop"


@irdl_attr_definition
class BlockType(ParametrizedAttribute, TypeAttribute):
    """The handle of a `tensor_loop.block` of the function that is scheduled."""

    name = "schedule.block"


@irdl_attr_definition
class NumberType(ParametrizedAttribute, TypeAttribute):
    """A number that a step has sampled. It may stand in lists of numbers, such as the factors of a split."""

    name = "schedule.number"


LOOP = LoopType()
"""The type of the handle of a loop."""
BLOCK = BlockType()
"""The type of the handle of a block."""
NUMBER = NumberType()
"""The type of the handle of a number that was sampled."""

TYPES = {"loop": LOOP, "block": BLOCK, "number": NUMBER}
