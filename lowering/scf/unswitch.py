"""
Takes a condition that is the same in all iterations out of a loop.

Before, a copy with zeros around it:

    scf.for %j = %c0 to %c64 step %c1 {
      %x = scf.if %inside -> (f32) { %y = memref.load %a[%i, %j] … scf.yield %y } else { scf.yield %zero }
      memref.store %x, %b[%i, %j]
    }

After:

    scf.if %inside {
      scf.for %j = %c0 to %c64 step %c1 { %y = memref.load %a[%i, %j] … memref.store %y, %b[%i, %j] }
    } else {
      scf.for %j = %c0 to %c64 step %c1 { memref.store %zero, %b[%i, %j] }
    }
"""

from __future__ import annotations

from typing import Final

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from ...core.ir.cloning import clone_op
from ...core.ir.walk import walk
from .vector_body import TRAPPING

MOST_LOOPS: Final = 16
"""The most loops in the place of one: the parts of a concatenation, say."""


def unswitch(loop: scf.ForOp) -> list[scf.ForOp]:
    """
    Returns the loops in the place of `loop`, or `loop` itself where its body has no such condition, or more than one
    `scf.if` beside each other. Conditions in branches are taken out as well, as long as there are few.
    """
    branches = [op for op in walk(loop) if isinstance(op, scf.IfOp)]
    if len(branches) >= MOST_LOOPS:
        return [loop]
    done, waiting = list[scf.ForOp](), [loop]
    while waiting:
        each = waiting.pop()
        made = _taken_out(each)
        if len(made) > 1:
            waiting += made
        else:
            done += made
    return done


def _taken_out(loop: scf.ForOp) -> list[scf.ForOp]:
    """Returns the two loops in the place of `loop`, or `loop` itself."""
    branch = _branch(loop)
    if branch is None or (needed := _above(branch.cond, loop.body.block)) is None:
        return [loop]
    block = loop.parent_block()
    assert block is not None
    for op in needed:
        op.detach()
    block.insert_ops_before(needed, loop)
    loops = [clone_op(loop) for _ in range(2)]
    for number, each in enumerate(loops):
        each.location = loop.location
        taken = _branch(each)
        assert taken is not None
        _take(taken, number)
    regions = [Region(Block([each, scf.YieldOp(*each.results)])) for each in loops]
    outer = scf.IfOp(branch.cond, loop.result_types, regions[0], regions[1])
    outer.location = branch.location
    block.insert_op_before(outer, loop)
    Rewriter.replace_op(loop, [], outer.results)
    return loops


def _branch(loop: scf.ForOp) -> scf.IfOp | None:
    """Returns the only op with regions in the body of a loop, where it is an `scf.if`."""
    found = [op for op in loop.body.block.ops if op.regions]
    branch = found[0] if len(found) == 1 else None
    if not isinstance(branch, scf.IfOp) or any(len(region.blocks) != 1 for region in branch.regions):
        return None
    inner = [op for region in branch.regions for op in region.block.ops if op.regions]
    return branch if all(isinstance(op, scf.IfOp) for op in inner) else None


def _above(condition: SSAValue, body: Block) -> list[Operation] | None:
    """Returns the ops of `body` that `condition` is made of, in order, or `None` where it changes with the loop."""
    needed: set[Operation] = set()
    waiting = [condition]
    while waiting:
        value = waiting.pop()
        if value.owner is body:
            return None
        if isinstance(value.owner, Operation) and value.owner.parent is body and value.owner not in needed:
            if value.owner.dialect_name() != "arith" or isinstance(value.owner, TRAPPING):
                return None  # Without iterations nothing in the body may fail.
            needed.add(value.owner)
            waiting += value.owner.operands
    return [op for op in body.ops if op in needed]


def _take(branch: scf.IfOp, number: int) -> None:
    """Puts the ops of one of the regions of `branch` in its place."""
    block = branch.parent_block()
    assert block is not None
    ops = list(branch.regions[number].block.ops)
    for op in ops:
        op.detach()
    last = ops.pop()
    block.insert_ops_before(ops, branch)
    for result, value in zip(branch.results, last.operands, strict=True):
        result.replace_all_uses_with(value)
    last.erase()
    block.erase_op(branch)
