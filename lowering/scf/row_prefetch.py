"""
The rows that loops prefetch.

Where several loops work on one row after the other, all but the first find it in the first-level cache. The processor,
which fetches what follows on a stream of misses, sees none meanwhile and starts anew with each row. So the loops that
miss nothing prefetch the next row.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Block, Operation, SSAValue

from ...core.ir.literals import constant_of
from ...lazy_dataclass import dataclass
from .vector_body import VectorBody

BYTES = 4
"""Size of an f32 in bytes."""


@dataclass(frozen=True)
class Request:
    """A prefetch of the elements of `access` in the next iteration of the loop around, `ahead` elements further on."""

    access: memref.LoadOp | memref.StoreOp
    ahead: int


def requests_of(bodies: Sequence[VectorBody], l1_bytes: int) -> dict[Operation, list[Request]]:
    """
    Returns the rows that each loop prefetches.

    These are rows that an earlier loop beside it has read, and rows that it is the first to write.

    A loop prefetches nothing where this row and the next one of all of that do not fit the first-level cache together.
    """
    beside: dict[Block, list[VectorBody]] = {}
    for body in bodies:
        parent = body.loop.parent
        if parent is not None and isinstance(parent.parent_op(), scf.ForOp):
            beside.setdefault(parent, []).append(body)
    found: dict[Operation, list[Request]] = {}
    for block, group in beside.items():
        outer = block.parent_op()
        assert isinstance(outer, scf.ForOp)
        asked = _of_rows(group, outer)
        size = sum(2 * BYTES * body.extent * len(asked[body.loop]) for body in group)
        if len(group) > 1 and size <= l1_bytes:
            found |= asked
    return found


def _of_rows(group: Sequence[VectorBody], outer: scf.ForOp) -> dict[Operation, list[Request]]:
    found: dict[Operation, list[Request]] = {}
    read: set[SSAValue] = set()
    asked: set[SSAValue] = set()
    for body in group:
        here = found.setdefault(body.loop, [])
        for op in body.moving:
            assert isinstance(op, memref.LoadOp | memref.StoreOp)
            ahead = _ahead(op, outer)
            due = isinstance(op, memref.StoreOp) or op.memref in read
            if ahead is not None and due and op.memref not in asked:
                asked.add(op.memref)
                here.append(Request(op, ahead))
        read.update(op.memref for op in body.moving if isinstance(op, memref.LoadOp))
    return found


def _ahead(op: memref.LoadOp | memref.StoreOp, outer: scf.ForOp) -> int | None:
    """
    Returns how many elements further on the access is in the next iteration of `outer`.

    Returns None where that is not known, or not further.
    """
    step = constant_of(outer.step)
    rows = [number for number, index in enumerate(op.indices) if index is outer.body.block.args[0]]
    assert isinstance(op.memref.type, MemRefType)
    shape = op.memref.type.get_shape()
    if step is None or len(rows) != 1 or DYNAMIC_INDEX in shape or rows[0] == len(shape) - 1:
        return None
    return step * prod(shape[rows[0] + 1 :])
