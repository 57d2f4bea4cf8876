"""Indices of the source program in parts: something that is not negative, times a constant, plus a constant."""

from __future__ import annotations

from typing import Final, NamedTuple

from xdsl.dialects import arith, scf
from xdsl.ir import BlockArgument, SSAValue

from ...core.ir.literals import constant_of

DEEPEST: Final = 8
"""The ops one after the other that are looked at."""


class Parts(NamedTuple):
    """An index as `factor * value + constant`, none of which is negative."""

    value: SSAValue
    factor: int = 1
    constant: int = 0


def parts_of(index: SSAValue) -> Parts:
    """
    Returns an index in parts. Indices that differ by constants have the same value and factor, as far as is seen.

    `Parts(index)` is an answer for any. Index arithmetic does not wrap: it is about elements of memory.
    """
    value, factor, constant = index, 1, 0
    while type(owner := value.owner) is arith.AddiOp or type(owner) is arith.MuliOp:
        for other, number in (owner.operands, reversed(owner.operands)):
            known = constant_of(number)
            if known is not None and known >= 0 and not _may_be_negative(other, DEEPEST):
                break
        else:
            break
        value = other
        if type(owner) is arith.AddiOp:
            constant += factor * known
        else:
            factor *= known
    return Parts(value, factor, constant)


def _may_be_negative(value: SSAValue, depth: int) -> bool:
    """Returns whether an index may be negative, as far as its last ops tell."""
    if depth == 0:
        return True
    known = constant_of(value)
    if known is not None:
        return known < 0
    if isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        return type(loop) is not scf.ForOp or value.index != 0 or _may_be_negative(loop.lb, depth - 1)
    owner = value.owner
    if isinstance(owner, arith.AddiOp | arith.MuliOp):
        return any(_may_be_negative(operand, depth - 1) for operand in owner.operands)
    if isinstance(owner, arith.DivUIOp | arith.RemUIOp):
        divisor = constant_of(owner.operands[1])
        return divisor is None or divisor < 2
    return True
