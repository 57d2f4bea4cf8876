"""Primitives that choose numbers for later steps: sample_perfect_tile, sample_categorical. They change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, prod
from random import Random

from xdsl.dialects.builtin import IntegerAttr, i64

from ...analysis.divisors import divisors
from ...dialects.schedule.base import numbers_attribute
from ...dialects.schedule.ops import SampleCategoricalOp, SamplePerfectTileOp
from ...dialects.tensor_loop import ForOp
from .errors import refuse
from .nests import loop_name
from .reshape import known_extent
from .steps import step


@step(SamplePerfectTileOp)
def sample_perfect_tile(
    loop: ForOp,
    count: int,
    most: int | None = None,
    decision: Sequence[int] | None = None,
    *,
    random: Random,
    op: SamplePerfectTileOp,
) -> list[int]:
    """
    Chooses factors whose product is the extent of a loop, outermost first, each choice with the same probability.

    What was chosen is written into the step, which then replays as it ran.

    Args:
        loop: The loop, which stays as it is.
        count: How many factors.
        most: The largest innermost factor, any without it.
        decision: The factors to take, as an earlier run has chosen them.

    Legal for a loop of known extent, at least 1, that a decision fits.

    Before and after, nothing changes:

        for %i in 12 { B }      sample_perfect_tile(%i, 2, most=4) is [12, 1], [6, 2], [4, 3] or [3, 4]
    """
    factors = _sampled_tile(loop, count, most, random) if decision is None else list(decision)
    op.decision = numbers_attribute(factors)
    _check_tile(loop, factors)
    return factors


def _sampled_tile(loop: ForOp, count: int, most: int | None, random: Random) -> list[int]:
    rest = _positive_extent(loop)
    factors: list[int] = []
    for left in range(count - 1, -1, -1):
        candidates = [rest] if left == 0 else divisors(rest)
        if not factors and most is not None:
            candidates = [each for each in candidates if each <= most]
        if not candidates:
            refuse(f"the one factor of {loop_name(loop)} is {rest}, expected at most {most}", loop)
        weights = [_ways(rest // each, left) for each in candidates]
        (chosen,) = random.choices(candidates, weights)
        factors.insert(0, chosen)
        rest //= chosen
    return factors


def _check_tile(loop: ForOp, decision: Sequence[int]) -> None:
    """Refuses a decision that was taken for a loop of another extent."""
    extent = _positive_extent(loop)
    if prod(decision) != extent:
        refuse(
            f"the decision {list(decision)} is for {prod(decision)} iterations, {loop_name(loop)} has {extent}",
            loop,
            hint="without the decision factors are sampled anew",
        )


@step(SampleCategoricalOp)
def sample_categorical(
    candidates: Sequence[int],
    weights: Sequence[int] | None = None,
    decision: int | None = None,
    *,
    random: Random,
    op: SampleCategoricalOp,
) -> int:
    """
    Chooses one of several numbers.

    What was chosen is written into the step, which then replays as it ran.

    Args:
        candidates: The numbers.
        weights: How probable each is. Without them all are the same.
        decision: The place of the number to take, as an earlier run has chosen it.

    Legal always.

    Before and after, nothing changes:

        sample_categorical([1, 2, 4], weights=[1, 2, 1]) is 2 half of the time
    """
    if decision is None:
        (decision,) = random.choices(range(len(candidates)), weights)
        op.decision = IntegerAttr(decision, i64)
    return candidates[decision]


def _positive_extent(loop: ForOp) -> int:
    extent = known_extent(loop)
    if extent < 1:
        refuse(f"{loop_name(loop)} has no iterations, so no factors make it up", loop)
    return extent


def _ways(number: int, count: int) -> int:
    """
    Returns in how many ways `number` is a product of `count` factors, counting their order: stars and bars for each
    prime.
    """
    if count == 0:
        return 1
    ways, prime = 1, 2
    while prime * prime <= number:
        exponent = 0
        while number % prime == 0:
            number //= prime
            exponent += 1
        ways *= comb(exponent + count - 1, count - 1)
        prime += 1
    return ways * count if number > 1 else ways
