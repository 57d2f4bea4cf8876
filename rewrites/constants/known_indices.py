"""Indices that are constants, of ops that fail where one is out of range."""

from __future__ import annotations

from itertools import cycle

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Operation, SSAValue

from ...dialects.graph.base import plain_properties
from ...dialects.graph.constants import ConstantOp, FullOp
from ...dialects.graph.indexing import GatherNdOp, ScatterElementsOp, ScatterNdOp, TakeAlongAxisOp
from ...dialects.graph.movement import TakeOp


def indices_are_inside(op: Operation) -> bool:
    """Returns whether `op` reads or writes elements at constant indices, all of which are in range."""
    extents = _extents(op)
    if extents is None:
        return False
    numbers = known_indices(op.operands[1])
    if numbers is None or DYNAMIC_INDEX in extents:
        return False
    return all(-extent <= number < extent for number, extent in zip(numbers, cycle(extents), strict=False))


def known_indices(value: SSAValue) -> list[int] | None:
    """Returns the elements of a constant of integers, in the order of memory, and `None` for another value."""
    if not isinstance(value.owner, ConstantOp | FullOp):
        return None
    from .constant_values import array_of

    return array_of(value.owner).reshape(-1).tolist()


def _extents(op: Operation) -> tuple[int, ...] | None:
    """Returns the extents that indices count in, by their last dimension. Returns `None` for another op."""
    if not isinstance(op, TakeOp | TakeAlongAxisOp | GatherNdOp | ScatterElementsOp | ScatterNdOp):
        return None
    operand, indices = (value.type for value in op.operands[:2])
    assert isinstance(operand, TensorType) and isinstance(indices, TensorType)
    shape, properties = operand.get_shape(), plain_properties(op)
    if "axis" in properties:
        return (shape[properties["axis"]],)
    first = properties.get("batch_dims", 0)
    return shape[first : first + indices.get_shape()[-1]]
