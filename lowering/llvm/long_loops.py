"""
Which loops are too long for LLVM to unroll.

LLVM makes a loop of few iterations straight code, also where the iterations hold loops that stay loops, or a hundred
instructions on vectors. Three heads of attention were three copies of their loops. That takes time to compile and gains
nothing: what is left of a loop is a branch per iteration.
"""

from __future__ import annotations

from math import inf
from typing import Final

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from ...core.ir.literals import constant_of
from ...core.ir.walk import ops_in

MOST_OPS: Final = 64
"""The ops of one iteration of an innermost loop that may be unrolled."""

MOST_UNROLLED: Final = 256
"""The ops of all iterations of a loop that holds others and may be unrolled, these unrolled too."""


class LoopLengths:
    """The lengths of loops, each found out once."""

    def __init__(self) -> None:
        self._known: dict[Operation, tuple[float, bool]] = {}

    def is_long(self, loop: scf.ForOp) -> bool:
        """Returns whether LLVM is to leave `loop` a loop."""
        ops, holds_loops = self._iteration(loop)
        return iterations_of(loop) * ops > MOST_UNROLLED if holds_loops else ops > MOST_OPS

    def _iteration(self, loop: scf.ForOp) -> tuple[float, bool]:
        """Returns the ops of one iteration once all loops in it are unrolled, and whether there are any."""
        known = self._known.get(loop)
        if known is None:
            known = self._known[loop] = self._ops(loop)
        return known

    def _ops(self, op: Operation) -> tuple[float, bool]:
        ops, holds_loops = 0.0, False
        for region in op.regions:
            for block in region.blocks:
                for inner in ops_in(block):
                    if isinstance(inner, scf.ForOp):
                        count, _ = self._iteration(inner)
                        ops, holds_loops = ops + iterations_of(inner) * count, True
                    elif inner.regions:
                        count, more = self._ops(inner)
                        ops, holds_loops = ops + count, holds_loops or more
                    else:
                        ops += 1
        return ops, holds_loops


def iterations_of(loop: scf.ForOp) -> float:
    """Returns how often a loop runs, infinity where that is not known."""
    bounds: list[SSAValue] = [loop.lb, loop.ub, loop.step]
    lower, upper, step = (constant_of(each) for each in bounds)
    if lower is None or upper is None or step is None or step <= 0:
        return inf
    return max(0, -(-(upper - lower) // step))
