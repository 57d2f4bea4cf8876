"""Buffers in blocks of memory of their own, for tools that watch the borders of such blocks."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import UnitAttr
from xdsl.rewriter import Rewriter

from ...core.messages.locations import copy_location
from ...core.roles import SEPARATE
from .arena import Lifetime

Requests = Sequence[tuple[arith.ConstantOp, Lifetime]]
"""The constants that say where views of the arena begin, and when their buffers are alive."""


def separate_buffers(requests: Requests) -> list[tuple[arith.ConstantOp, Lifetime]]:
    """
    Replaces the views of the arena by allocations, each freed at the end of its block, and returns what is left: none.

    A buffer is used in the block that makes it and in blocks inside, because what leaves a block is copied.
    """
    for offset, _ in requests:
        for use in list(offset.result.uses):
            view = use.operation
            assert isinstance(view, memref.ViewOp)
            _allocate(view)
        Rewriter.erase_op(offset)
    return []


def _allocate(view: memref.ViewOp) -> None:
    """Replaces a view by an allocation of its own."""
    block = view.parent_block()
    assert block is not None and block.last_op is not None
    allocation = memref.AllocOp([], [], view.result.type)
    allocation.attributes[SEPARATE] = UnitAttr()
    free = memref.DeallocOp.get(allocation.memref)
    allocation.memref.name_hint = view.result.name_hint
    copy_location(view, allocation)
    copy_location(view, free)
    block.insert_op_before(free, block.last_op)
    Rewriter.replace_op(view, allocation)
