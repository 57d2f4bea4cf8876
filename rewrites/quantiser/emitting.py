"""New ops of the graph dialect at a place of the program, with names."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from ...core.ir.element_types import ATTRIBUTES
from ...core.messages.locations import copy_location
from ...dialects.graph.constants import FullOp
from ...lazy_dataclass import dataclass
from ...te.dtypes import of_numpy
from ..constants.constant_values import constant_of

Array = np.ndarray[Any, Any]


@dataclass
class Place:
    """A place for new ops, before `before` and behind those put there so far. They get the location of `origin`."""

    block: Block
    before: Operation
    origin: Operation

    @staticmethod
    def at(op: Operation) -> Place:
        """Returns the place before an op."""
        assert op.parent is not None
        return Place(op.parent, op, op)

    @staticmethod
    def after(value: SSAValue, origin: Operation) -> Place:
        """Returns the first place where `value` can be used. `origin` is what it is used for."""
        if isinstance(value.owner, Block):
            block, first = value.owner, value.owner.first_op
        else:
            block, first = value.owner.parent, value.owner.next_op
            origin = value.owner
        assert block is not None and first is not None
        return Place(block, first, origin)

    def put(self, op: Operation, name: str | None = None) -> SSAValue:
        """Puts an op there and returns its result, which gets a name where it can have it."""
        copy_location(self.origin, op)
        self.block.insert_op_before(op, self.before)
        if name is not None:
            with suppress(ValueError):
                op.results[0].name_hint = name
        return op.results[0]

    def constant(self, array: Array, name: str | None = None) -> SSAValue:
        """Puts a constant there."""
        dtype = of_numpy(array.dtype.name)
        assert dtype is not None
        return self.put(constant_of(array, TensorType(ATTRIBUTES[dtype], list(array.shape))), name)

    def full(self, number: float, dtype: str, *shape: int) -> SSAValue:
        """Puts a tensor of one number there."""
        return self.put(FullOp(number, TensorType(ATTRIBUTES[dtype], list(shape))))


def hint_of(value: SSAValue, ending: str, otherwise: str) -> str:
    """Returns the name of `value` with an ending, or of what else it is called."""
    return f"{value.name_hint or otherwise}_{ending}"
