"""
The joining of reductions inside a loop function: pass `join-reductions`.

Before: block "max" reads all of `%x`, and block "min" reads all of `%x` again.
After: block "max_min" reads each element once and updates both.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...core.ir.cloning import clone_op
from ...core.ir.walk import ops_of, walk
from ...core.messages.locations import copy_location
from ...core.messages.origins import fuse, inherit
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass
from ...dialects import tensor_loop
from ...lazy_dataclass import dataclass
from .fuse_loops import make_unique
from .inline_blocks import erase
from .sibling_reductions import RowReduction, are_siblings, effects_of, row_reduction


@dataclass(frozen=True)
class JoinReductionsPass(StepwellPass):
    """
    Joins reductions of one tensor over the same axes, neither of which needs the other, so that it is read once.

    Before:

        tensor_loop.grid (%i, %k) in (64, 256) { tensor_loop.block "max" … { <%a[%vi] from it and %x[%vi, %vk]> } }
        tensor_loop.grid (%i, %k) in (64, 256) { tensor_loop.block "min" … { <%b[%vi] from it and %x[%vi, %vk]> } }

    After:

        tensor_loop.grid (%i, %k) in (64, 256) { tensor_loop.block "max_min" …
          { <%a[%vi] from it and %x[%vi, %vk]>
            <%b[%vi] from it and the same element> } }

    Both are grids at the top of a loop function with the same loops, apart from those of one iteration. What is between
    them must not touch what the one that moves writes, nor write what it reads. Contractions and windows stay apart.
    So does a sum that may not be regrouped from a reduction that may, since it would take that off vectors, and so do
    equal sums of floats. A joined reduction has at most 6 results. Grids and blocks that ask for a schedule stay.
    """

    name = "join-reductions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, tensor_loop.FuncOp) and allowed("loops", self.name, function):
                self.count("reductions joined", _join_in(function))


def _join_in(function: tensor_loop.FuncOp) -> int:
    """Joins the reductions of one function, each with the first before it that it may join. Returns how many went."""
    count = 0
    body = function.body.block
    candidates: list[RowReduction] = []
    for op in list(body.ops):
        second = row_reduction(op)
        if second is None:
            continue
        for number, first in enumerate(candidates):
            if are_siblings(first, second) and _brought_together(first.grid, second.grid):
                joined = row_reduction(_joined(first, second))
                assert joined is not None
                candidates[number] = joined
                count += 1
                break
        else:
            candidates.append(second)
    if count:
        names: set[str] = set()
        for block in ops_of(function, tensor_loop.BlockOp):
            make_unique(block, names)
    return count


def _brought_together(first: Operation, second: Operation) -> bool:
    """Moves one of two grids next to the other, and returns whether that is allowed."""
    between: list[Operation] = []
    op = first.next_op
    while op is not None and op is not second:
        between.append(op)
        op = op.next_op
    assert op is second
    allocs = [each for each in between if isinstance(each, tensor_loop.AllocOp) and not each.dynamic_sizes]
    if _may_pass(second, [first, *between]) and not _uses_any(second, [each for each in between if each not in allocs]):
        for each in (*(alloc for alloc in allocs if _uses_any(second, [alloc])), second):
            each.detach()
            Rewriter.insert_op(each, InsertPoint.before(first))
        return True
    if _may_pass(first, [*between, second]):
        first.detach()
        Rewriter.insert_op(first, InsertPoint.before(second))
        return True
    return False


def _may_pass(op: Operation, others: Sequence[Operation]) -> bool:
    """Returns whether `op` may stand on the other side of all of `others`."""
    own = effects_of(op)
    found = [effects_of(each) for each in others]
    return own is not None and all(each is not None and own.commute(each) for each in found)


def _uses_any(op: Operation, others: Sequence[Operation]) -> bool:
    """Returns whether `op` uses a result of one of `others`."""
    results = {result for each in others for result in each.results}
    return any(operand in results for each in walk(op) for operand in each.operands)


def _joined(first: RowReduction, second: RowReduction) -> tensor_loop.GridOp:
    """Puts the block of `second`, which stands beside `first`, into that of `first`, and returns the grid of both."""
    block, other = first.block, second.block
    assert block.init is not None and other.init is not None
    alike = block.extents == other.extents and block.kinds == other.kinds
    axes = dict(enumerate(range(len(block.axes)))) if alike else dict(zip(second.long, first.long, strict=True))
    pairs = [(argument, axes.get(axis)) for axis, argument in enumerate(other.axes)]
    for source, target in ((other.init.body.block, block.init.body.block), (other.body.block, block.body.block)):
        values: dict[SSAValue, SSAValue] = {}
        for argument, axis in pairs:
            values[argument] = _zero(target) if axis is None else block.axes[axis]
        _copy_ops(source, target, values)
    block.properties["block_name"] = StringAttr(f"{block.block_name.data}_{other.block_name.data}")
    block.location = fuse((block.location, other.location))
    first.grid.location = fuse((first.grid.location, second.grid.location))
    inherit(first.grid)
    erase(second.grid)
    block.refresh_regions()
    return first.grid


def _zero(target: Block) -> SSAValue:
    """Returns the index of an axis of one iteration, which the loops of the joined block may do without."""
    zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
    _insert(zero, target)
    return zero.result


def _copy_ops(source: Block, target: Block, values: dict[SSAValue, SSAValue]) -> None:
    """Copies the ops of `source` to the end of `target`. What is loaded there already is not loaded again."""
    loaded: dict[tuple[SSAValue, ...], SSAValue] = {}
    for op in target.ops:
        if isinstance(op, memref.LoadOp):
            loaded.setdefault((op.memref, *op.indices), op.res)
    for op in source.ops:
        if isinstance(op, tensor_loop.InitOp | tensor_loop.YieldOp):
            continue
        if isinstance(op, memref.LoadOp):
            place = (op.memref, *(values.get(index, index) for index in op.indices))
            if place in loaded:
                values[op.res] = loaded[place]
                continue
        clone = clone_op(op, values)
        for old, new in zip(walk(op), walk(clone), strict=True):
            copy_location(old, new)
        _insert(clone, target)


def _insert(op: Operation, target: Block) -> None:
    assert target.last_op is not None
    Rewriter.insert_op(op, InsertPoint.before(target.last_op))
