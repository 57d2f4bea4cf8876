"""
Relaxes maxima of which only the number counts, not the sign of a zero. They take three instructions a step instead of
six.
"""

from __future__ import annotations

from xdsl.dialects import arith, math, memref
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...analysis.reductions import Accumulator, accumulators
from ...core.ir.walk import ops_of
from ...dialects.tensor_loop import AllocOp, BlockOp, FuncOp
from .nan import nan_reaches_the_row

SIGN_FREE = arith.FastMathFlagsAttr([FastMathFlag.NO_SIGNED_ZEROS])


def relax_maxima(function: FuncOp, wide: bool = False) -> int:
    """
    Marks the maxima that are only subtracted before an exponential, as in softmax, and returns how many those are.

    Before, %max in an array of this function that nothing else reads:

        %m = arith.maximumf %max, %x : f32
        %d = arith.subf %x, %max : f32
        %e = math.exp %d : f32

    With `wide` it becomes `arith.maxnumf`, which passes over NaNs, where those reach all results in other ways
    (`nan.py`). `wide` stands for registers of 64 bytes, where `vectorize-loops` takes it up.

        %m = arith.maximumf %max, %x fastmath<nsz> : f32

    The sign of a zero maximum only decides that of a zero difference, and the exponential of both zeros is 1.

    With `wide` (registers of 64 bytes, where `vectorize-loops` takes it up), it becomes `arith.maxnumf`, which passes
    over NaNs, where those reach all results in other ways (`nan.py`).
    """
    count = 0
    for block in ops_of(function, BlockOp):
        for accumulator in accumulators(block) or ():
            update = accumulator.store.value.owner
            if not isinstance(update, arith.MaximumfOp) or update.fastmath.data:
                continue
            if isinstance(accumulator.buffer.owner, AllocOp) and _only_before_exp(accumulator, update, block):
                if wide and nan_reaches_the_row(block, accumulator):
                    _replace(update)
                else:
                    update.properties["fastmath"] = SIGN_FREE
                count += 1
    return count


def _replace(update: arith.MaximumfOp) -> None:
    """Replaces a maximum that may be NaN by one of numbers."""
    relaxed = arith.MaxnumfOp(update.lhs, update.rhs, SIGN_FREE)
    relaxed.location = update.location
    Rewriter.replace_op(update, relaxed)


def _only_before_exp(accumulator: Accumulator, update: Operation, block: BlockOp) -> bool:
    """Returns whether all values loaded from the accumulator go into `update`, or in other blocks into exponentials."""
    if any(not _only_used_by(load.res, update) for load in accumulator.loads):
        return False
    others = [use.operation for use in accumulator.buffer.uses if not block.is_ancestor(use.operation)]
    others = [op for op in others if not isinstance(op, BlockOp)]  # blocks only name their regions
    return all(isinstance(op, memref.LoadOp) and _is_subtracted(op.res) for op in others)


def _only_used_by(value: SSAValue, op: Operation) -> bool:
    return all(use.operation is op for use in value.uses)


def _is_subtracted(value: SSAValue) -> bool:
    """Returns whether `value` is only subtracted from something, and `exp` taken of the differences."""
    differences = [use.operation for use in value.uses]
    return all(
        isinstance(op, arith.SubfOp) and all(isinstance(use.operation, math.ExpOp) for use in op.result.uses)
        for op in differences
    )
