"""The row that an index of a buffer stands for, where loops take one row or several rows at a time."""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.ir import BlockArgument, SSAValue

from ...core.ir.literals import constant_of


def rows_at(index: SSAValue, variable: SSAValue) -> int:
    """
    Returns how many rows an iteration of `variable` touches by way of `index`, 0 where it does not tell the iteration.

    It is 1 for the variable itself, and 4 for `%i * 4 + %r` with the variable %r of a loop from 0 to 4.
    """
    if index is variable:
        return 1
    inside = row_inside(index)
    if inside is None or not isinstance(index.owner, arith.AddiOp):
        return 0
    first, loop = index.owner.lhs.owner, inside.block.parent_op()
    if not isinstance(first, arith.MuliOp) or first.lhs is not variable or not isinstance(loop, scf.ForOp):
        return 0
    rows, last = constant_of(first.rhs), constant_of(loop.ub)
    return rows if rows is not None and rows == last and constant_of(loop.lb) == 0 else 0


def row_inside(index: SSAValue) -> BlockArgument | None:
    """Returns `%r` of an index `%i * 4 + %r` that is the variable of a loop, and not what the loop carries."""
    if not isinstance(index.owner, arith.AddiOp) or not isinstance(index.owner.rhs, BlockArgument):
        return None
    return index.owner.rhs if index.owner.rhs.index == 0 else None
