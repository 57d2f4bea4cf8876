"""
Arguments of a call that are plainly the same memory: a loop function takes for granted that what it writes is in no
other of its buffers.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final, NamedTuple

from xdsl.dialects import memref
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType
from xdsl.ir import Operation, SSAValue

from ...core.ir.walk import ops_of
from ...dialects.tensor_loop import CallOp
from .plain import Fault
from .races import root_of
from .values import element_bytes

HINT: Final = "give the call a buffer of its own for what it writes"


class _Place(NamedTuple):
    """The bytes `low` to `high` of a buffer, without the last. `is_dense`: all of them are elements."""

    root: SSAValue
    low: int
    high: int
    layout: object
    is_dense: bool

    def plainly_meets(self, other: _Place) -> bool:
        if self.root is not other.root or self.low >= other.high or other.low >= self.high:
            return False
        same = (self.low, self.high, self.layout) == (other.low, other.high, other.layout)
        return same or (self.is_dense and other.is_dense)


def shared_arguments(function: Operation) -> Iterator[Fault]:
    """Yields the calls of loop functions in which an output and another argument share elements for certain."""
    for call in ops_of(function, CallOp):
        outputs, inputs = list(call.outputs), list(call.inputs)
        for number, output in enumerate(outputs):
            written = _place(output)
            for other in [*inputs, *outputs[:number]]:
                place = _place(other)
                if written is not None and place is not None and written.plainly_meets(place):
                    what = f"{_shown(output)} is written by the call, and shares elements with {_shown(other)}"
                    yield Fault(call, what, HINT)


def _place(buffer: SSAValue) -> _Place | None:
    """Returns where a buffer is in its root, or None where that is not known from the types."""
    kind = buffer.type
    if not isinstance(kind, MemRefType):
        return None
    strides, offset, shape = kind.get_strides(), kind.get_offset(), kind.get_shape()
    shift = _shift(buffer)
    if shift is None or strides is None or DYNAMIC_INDEX in (*strides, offset, *shape) or None in (*strides, offset):
        return None
    if 0 in shape or any(stride is None or stride < 0 for stride in strides):
        return None
    size = element_bytes(kind)
    span = 1 + sum((extent - 1) * (stride or 0) for extent, stride in zip(shape, strides, strict=True))
    low = shift + (offset or 0) * size
    return _Place(root_of(buffer), low, low + span * size, (tuple(shape), tuple(strides)), span == prod(shape))


def _shift(buffer: SSAValue) -> int | None:
    """Returns the bytes by which `memref.view`s move a buffer, or None where that is not known."""
    total = 0
    while isinstance(op := buffer.owner, Operation) and op.operands and isinstance(op.operands[0].type, MemRefType):
        if isinstance(op, memref.ReinterpretCastOp):
            return None
        if isinstance(op, memref.ViewOp):
            shift = op.byte_shift.owner
            if not isinstance(shift, ConstantOp) or not isinstance(shift.value, IntegerAttr):
                return None
            total += shift.value.value.data
        buffer = op.operands[0]
    return total


def _shown(buffer: SSAValue) -> str:
    return f"%{buffer.name_hint}" if buffer.name_hint else "a buffer"
