"""
Finds the loops that LLVM makes no vectors of though they ask for them.

It would say so on standard error for each, from the middle of a library, and leave the loop as it is.
"""

from __future__ import annotations

from typing import Final

from xdsl.dialects import arith, cf, memref, scf
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...core.ir.literals import constant_of
from ...core.ir.walk import ops_of

_ROUNDINGS: Final = (arith.TruncFOp, arith.TruncIOp, arith.BitcastOp)
"""A sum or an extremum that is carried through one of these is none to LLVM, since each turn needs the one before."""


def has_no_vectors(loop: Operation) -> bool:
    """
    Returns whether LLVM has none for a loop: it carries what is rounded, its last turn has its own branch, or each turn
    may fail.
    """
    if not isinstance(loop, scf.ForOp):
        return False
    end = loop.body.block.last_op
    carried = () if end is None else end.operands
    return any(isinstance(each.owner, _ROUNDINGS) for each in carried) or _ends_by_itself(loop) or _may_fail(loop)


def _may_fail(loop: scf.ForOp) -> bool:
    """Returns whether a check depends on the turn. LLVM takes one that does not out of the loop."""
    seen: set[SSAValue] = set()
    pending: list[SSAValue] = [each.arg for each in ops_of(loop, cf.AssertOp)]
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        op = owner if isinstance(owner, Operation) else owner.parent_op()
        if op is None or not loop.is_ancestor(op):
            continue
        if isinstance(value, BlockArgument) or isinstance(op, memref.LoadOp):
            return True
        pending += op.operands
    return False


def _ends_by_itself(loop: scf.ForOp) -> bool:
    """
    Returns whether a branch is taken in the first or the last turn alone. LLVM makes an exit of such a branch, and then
    the loop has several.
    """
    lower, upper, step = (constant_of(each) for each in (loop.lb, loop.ub, loop.step))
    if lower is None or upper is None or step != 1:
        return False
    conditions = [each.cond.owner for each in ops_of(loop, scf.IfOp)]
    bounds = [_bound(each, loop.body.block.args[0]) for each in conditions if isinstance(each, arith.CmpiOp)]
    return any(bound in (lower + 1, upper - 1) for bound in bounds)


def _bound(comparison: arith.CmpiOp, variable: SSAValue) -> int | None:
    """Returns the number that a comparison compares the variable of a loop with."""
    sides = comparison.lhs, comparison.rhs
    if variable not in sides:
        return None
    return constant_of(sides[0] if sides[1] is variable else sides[1])
