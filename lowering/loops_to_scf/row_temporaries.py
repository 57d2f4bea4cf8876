"""
Temporaries of loops over rows that hold the rows of one iteration. What is written and read in one iteration needs no
buffer for all iterations, which would go through the caches to memory.
"""

from __future__ import annotations

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import DictionaryAttr, IndexType, IntegerAttr, MemRefType, NoneAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...core.ir.element_types import byte_size
from ...core.roles import BUFFER_ALIGNMENT, TEMPORARY
from ..shared.row_indices import row_inside, rows_at

ROWS_BYTES = 16384
"""The most bytes of the rows of an iteration that go on the stack. They are a part of a first-level cache."""


def keep_rows(function: func.FuncOp) -> int:
    """
    Puts temporaries on the stack of which each iteration of the loops around all accesses touches a part of its own.
    Returns how many these are.

    Before (softmax), %e an argument that is a `stepwell.temporary`:

        scf.for %i = %c0 to %c128 step %c1 {
          scf.for %k = %c0 to %c1024 step %c1 { ... memref.store %0, %e[%i, %k] : memref<128x1024xf32> }
          scf.for %j = %c0 to %c1024 step %c1 { %1 = memref.load %e[%i, %j] : memref<128x1024xf32> ... } }

    After:

        %0 = memref.alloca() : memref<1x1024xf32>
        scf.for %i = %c0 to %c128 step %c1 {
          scf.for %k = %c0 to %c1024 step %c1 { ... memref.store %0, %0[%zero, %k] : memref<1x1024xf32> }
          scf.for %j = %c0 to %c1024 step %c1 { %1 = memref.load %0[%zero, %j] : memref<1x1024xf32> ... } }

    Threads that share the iterations of %i have a row each (`outline-parallel-loops`). An iteration may touch several
    rows, `%i * 4 + %r` with %r below 4, which are four rows on the stack.
    """
    known = () if function.arg_attrs is None else function.arg_attrs.data
    count = 0
    for argument, attributes in zip(function.body.block.args, known, strict=False):
        if isinstance(attributes, DictionaryAttr) and TEMPORARY in attributes.data:
            count += _keep_row(argument)
    return count


def _keep_row(buffer: BlockArgument) -> bool:
    """Puts a row of `buffer` on the stack, and returns whether it could."""
    accesses = list(dict.fromkeys(use.operation for use in buffer.uses))
    type_ = buffer.type
    if not accesses or not isinstance(type_, MemRefType) or not isinstance(type_.layout, NoneAttr):
        return False
    if not all(isinstance(op, memref.LoadOp | memref.StoreOp) for op in accesses):
        return False
    rows: dict[int, int] = {}
    for loop in _loops_around(accesses):
        found = _rows_of(loop.body.block.args[0], accesses)
        if found is None:
            break
        rows |= found
    kept = MemRefType(type_.element_type, [rows.get(number, size) for number, size in enumerate(type_.get_shape())])
    if not rows or not 0 < byte_size(kept) <= ROWS_BYTES:
        return False
    _move(buffer, kept, list(rows), accesses)
    return True


def _loops_around(accesses: list[Operation]) -> list[scf.ForOp]:
    """
    Returns the loops around all accesses that have loops inside, outermost first. There are none under conditions.
    """
    found: list[scf.ForOp] = []
    parent = accesses[0].parent_op()
    while parent is not None and not isinstance(parent, func.FuncOp):
        if all(parent.is_ancestor(op) for op in accesses):
            if not isinstance(parent, scf.ForOp):
                return []
            if any(isinstance(op, scf.ForOp) for op in parent.body.block.ops):
                found.insert(0, parent)
        parent = parent.parent_op()
    return found


def _rows_of(variable: SSAValue, accesses: list[Operation]) -> dict[int, int] | None:
    """
    Returns the dimension in which every access has an index that tells the iteration of `variable`, and how many of its
    rows one iteration touches.
    """
    common: dict[int, int] | None = None
    for op in accesses:
        assert isinstance(op, memref.LoadOp | memref.StoreOp)
        rows = {number: rows_at(index, variable) for number, index in enumerate(op.indices)}
        found = {number: each for number, each in rows.items() if each}
        common = found if common is None else dict(common.items() & found.items())
    return None if not common else dict([min(common.items())])


def _move(buffer: BlockArgument, kept: MemRefType, dimensions: list[int], accesses: list[Operation]) -> None:
    """Has `accesses` go to a new buffer of type `kept` on the stack."""
    zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
    stack = memref.AllocaOp.get(kept.element_type, BUFFER_ALIGNMENT, kept.get_shape())
    stack.memref.name_hint = buffer.name_hint
    first = buffer.block.first_op
    assert first is not None
    for op in (zero, stack):
        op.location = buffer.location
        Rewriter.insert_op(op, InsertPoint.before(first))
    for op in accesses:
        start = 2 if isinstance(op, memref.StoreOp) else 1
        op.operands[start - 1] = stack.memref
        for dimension in dimensions:
            inside = row_inside(op.operands[start + dimension])
            op.operands[start + dimension] = zero.result if inside is None else inside
