"""
Relaxes maxima of which only the number counts, not the sign of a zero. They take three instructions a step instead of
six.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...analysis.reductions import Accumulator, accumulators
from ...core.roles import MAXIMUM
from ...dialects.tensor_loop import AllocOp, BlockOp
from ..kernels.given_tiling import refuse
from .nan import exponential_of, nan_reaches_the_row

NONE, ZEROS, NAN = "none", "zeros", "nan"
"""What a maximum may pass over, as `stepwell.maximum` says it: nothing, the sign of a zero, or NaNs as well."""

SIGN_FREE = arith.FastMathFlagsAttr([FastMathFlag.NO_SIGNED_ZEROS])


def relax_maxima(blocks: Iterable[BlockOp], wide: bool = False) -> int:
    """
    Marks the maxima that are only subtracted before an exponential, as in softmax, and returns how many those are.

    Before, %max in an array of this function that nothing else reads:

        %m = arith.maximumf %max, %x : f32
        %d = arith.subf %x, %max : f32
        %e = math.exp %d : f32

    After:

        %m = arith.maximumf %max, %x fastmath<nsz> : f32

    The sign of a zero maximum only decides that of a zero difference, and the exponential of both zeros is 1.

    With `wide` (registers of 64 bytes, where `vectorize-loops` takes it up), it becomes `arith.maxnumf`, which passes
    over NaNs, where those reach all results in other ways (`nan.py`). A `stepwell.maximum` of the block goes before
    these rules, and fails where it would change results.
    """
    count = 0
    for block in blocks:
        given = block.attributes.get(MAXIMUM)
        count += relax_block(block, relaxed(block, wide) if given is None else _given(block, given))
    return count


def relax_block(block: BlockOp, chosen: str | None) -> int:
    """Has the maxima of one block pass over what was chosen, and returns how many there are."""
    count = 0
    for accumulator in _maxima(block) if chosen in (ZEROS, NAN) else ():
        update = accumulator.store.value.owner
        assert isinstance(update, arith.MaximumfOp)
        if chosen == NAN:
            _replace(update)
        else:
            update.properties["fastmath"] = SIGN_FREE
        count += 1
    return count


def relaxed(block: BlockOp, wide: bool) -> str | None:
    """Returns what the maxima that `block` takes may pass over, `ZEROS` or `NAN`, or `None` where it takes none."""
    found = list(_maxima(block))
    if not found:
        return None
    return NAN if wide and all(nan_reaches_the_row(block, each) for each in found) else ZEROS


def _given(block: BlockOp, given: Attribute) -> str:
    """Returns what the block asks for. Fails at the block where that changes results."""
    chosen = given.data if isinstance(given, StringAttr) else None
    if chosen not in (NONE, ZEROS, NAN):
        refuse(block, given, f'expected "{NONE}", "{ZEROS}" or "{NAN}"', MAXIMUM)
    found = list(_maxima(block))
    if chosen != NONE and not found:
        refuse(block, given, "it takes no maximum that is only subtracted before an exponential", MAXIMUM)
    if chosen == NAN and not all(nan_reaches_the_row(block, each) for each in found):
        refuse(block, given, "a NaN would not reach all results of its row in another way", MAXIMUM)
    return chosen


def _maxima(block: BlockOp) -> Iterator[Accumulator]:
    """Yields the maxima of a block that are only subtracted before an exponential."""
    for accumulator in accumulators(block) or ():
        update = accumulator.store.value.owner
        if not isinstance(update, arith.MaximumfOp) or update.fastmath.data:
            continue
        if isinstance(accumulator.buffer.owner, AllocOp) and _only_before_exp(accumulator, update, block):
            yield accumulator


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
    """
    Returns whether `value`, extended or not, is only subtracted from something, and `exp` taken of the differences or
    of their products with positive constants.
    """
    differences = [use.operation for use in value.uses]
    return all(
        (isinstance(op, arith.ExtFOp) and _is_subtracted(op.result))
        or (isinstance(op, arith.SubfOp) and all(exponential_of(use.operation) for use in op.result.uses))
        for op in differences
    )
