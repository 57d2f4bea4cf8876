"""
Finds the loops that are too long for LLVM to unroll.

LLVM makes a loop of few iterations straight code, also where the iterations hold loops that stay loops, or a hundred
instructions on vectors. Three heads of attention were three copies of their loops. That takes time to compile and gains
nothing: what is left of a loop is a branch per iteration.
"""

from __future__ import annotations

from math import inf
from typing import Final, NamedTuple

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue

from ...core.ir.literals import constant_of
from ...core.ir.walk import ops_in

MOST_OPS: Final = 64
"""The ops of one iteration of an innermost loop on vectors that may be unrolled."""

MOST_UNROLLED: Final = 256
"""The ops of all iterations of a loop that holds others and may be unrolled, these unrolled too."""


class Iteration(NamedTuple):
    """One iteration of a loop: its ops once all loops in it are unrolled, and what is among them."""

    ops: float = 0
    has_loops: bool = False
    has_vectors: bool = False


class LoopLengths:
    """The lengths of loops, each found out once."""

    def __init__(self) -> None:
        self._known: dict[Operation, Iteration] = {}

    def is_long(self, loop: scf.ForOp) -> bool:
        """
        Returns whether LLVM is to leave `loop` a loop.

        Innermost loops on numbers are left to LLVM: it takes conditions out of them, and makes several loops of one.
        """
        one = self._iteration(loop)
        if one.has_loops:
            return iterations_of(loop) * one.ops > MOST_UNROLLED
        return one.has_vectors and one.ops > MOST_OPS

    def _iteration(self, loop: Operation) -> Iteration:
        known = self._known.get(loop)
        if known is None:
            ops, has_loops, has_vectors = 0.0, False, False
            for inner in (op for region in loop.regions for block in region.blocks for op in ops_in(block)):
                part = Iteration(1, has_vectors=any(_is_vector(result) for result in inner.results))
                if inner.regions:
                    part = self._iteration(inner)
                if isinstance(inner, scf.ForOp):
                    part = Iteration(iterations_of(inner) * part.ops, True, part.has_vectors)
                ops += part.ops
                has_loops, has_vectors = has_loops or part.has_loops, has_vectors or part.has_vectors
            known = self._known[loop] = Iteration(ops, has_loops, has_vectors)
        return known


def _is_vector(value: SSAValue) -> bool:
    return isinstance(value.type, VectorType)


def iterations_of(loop: scf.ForOp) -> float:
    """Returns how often a loop runs, infinity where that is not known."""
    lower, upper, step = (constant_of(each) for each in (loop.lb, loop.ub, loop.step))
    if lower is None or upper is None or step is None or step <= 0:
        return inf
    return max(0, -(-(upper - lower) // step))
