"""Indices of the source program in parts: a value, times a constant, plus a constant."""

from __future__ import annotations

from typing import Final, NamedTuple

from xdsl.dialects import arith, scf
from xdsl.ir import BlockArgument, SSAValue

from ...core.ir.literals import constant_of

DEEPEST: Final = 8
"""The ops one after the other that are looked at."""

INDICES: Final = 1 << 64
"""The number of values of an index. Taken without sign, it is below this number."""

LEAST_NEGATIVE: Final = 1 << 63
"""The least index that is negative when it is taken with a sign."""


class Parts(NamedTuple):
    """An index as `factor * value + constant`, all taken without sign. Nothing wraps."""

    value: SSAValue
    factor: int = 1
    constant: int = 0


def parts_of(index: SSAValue) -> Parts:
    """
    Returns an index in parts. Indices that differ by constants have the same value and factor, as far as is seen.

    `Parts(index)` is an answer for any. No part of an index that exists in a buffer is greater than that index.
    """
    value, factor, constant = index, 1, 0
    while isinstance(owner := value.owner, arith.AddiOp | arith.MuliOp):
        is_sum = isinstance(owner, arith.AddiOp)
        for other, number in (owner.operands, reversed(owner.operands)):
            known = constant_of(number)
            if known is None or known < 0:
                continue
            found = (
                Parts(other, factor, constant + factor * known) if is_sum else Parts(other, factor * known, constant)
            )
            if found.factor * _most(other, DEEPEST) + found.constant < INDICES:
                break
        else:
            break
        value, factor, constant = found
    return Parts(value, factor, constant)


def _most(value: SSAValue, depth: int) -> int:
    """Returns what an index is at most when it is taken without sign, as far as its last ops tell."""
    known = constant_of(value)
    if known is not None:
        return known % INDICES
    if depth == 0:
        return INDICES - 1
    if isinstance(value, BlockArgument):
        return _most_of_argument(value, depth)
    owner = value.owner
    if isinstance(owner, arith.AddiOp | arith.MuliOp):
        one, other = (_most(operand, depth - 1) for operand in owner.operands)
        result = one + other if isinstance(owner, arith.AddiOp) else one * other
        return result if result < INDICES else INDICES - 1
    if isinstance(owner, arith.DivUIOp | arith.RemUIOp):
        most, divisor = _most(owner.operands[0], depth - 1), constant_of(owner.operands[1])
        if divisor is not None and divisor > 0:
            return most // divisor if isinstance(owner, arith.DivUIOp) else min(most, divisor - 1)
    return INDICES - 1


def _most_of_argument(value: BlockArgument, depth: int) -> int:
    """The variable of a loop that begins at 0 or above is below its end, which is taken with a sign."""
    loop = value.block.parent_op()
    if type(loop) is not scf.ForOp or value.index != 0 or _most(loop.lb, depth - 1) >= LEAST_NEGATIVE:
        return INDICES - 1
    end = constant_of(loop.ub)
    return LEAST_NEGATIVE - 1 if end is None else max(end - 1, 0)
