"""
The distance that results may be off by rounding. The reference runs with every operation off
by some units of the last place.

This is stochastic arithmetic (Vignes, CESTAC): what differs between such runs is what rounding decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod, sqrt

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.ir import Operation

from ..analysis.kinds import OpKind
from ..analysis.op_kind import facts_of_op, kind_of_op
from ..lazy_dataclass import dataclass
from ..reference.element_types import Array, is_float
from .compare import Slack, slack_of
from .evaluate import STEPS_TO_BE_SURE, CannotRunError, Outcome, evaluate, interpreted
from .inputs import InputSet

SAMPLES = 3
UNITS = 2.0
"""The number of units of the last place that each operation is off."""

UNITS_OF_A_PRODUCT = 0.3
"""
A sum of n products is off by so many units for the square root of n: roundings of half a unit at most, which are
independent of each other (Higham and Mary, A New Approach to Probabilistic Rounding Error Analysis, 2019).
"""

TERMS_OF_A_UNIT = 64
"""
The terms of a sum along a row for each unit that it is off. They may be nearly equal, and then all round the same way.
"""

HEADROOM = 64.0
"""A value that is within this factor of the greatest number may overflow where it is computed in another order."""

STEPS = ("graph.quantize", "graph.requantize")
"""The ops whose results a pass of the class `quantised` may change by one step."""

GIVEN = ("graph.constant", "graph.weight", "graph.full")


@dataclass(frozen=True)
class Sensitivity:
    """The slack of each result. `overflows` is set where an intermediate is so large that its value is left open."""

    slacks: tuple[Slack, ...]
    overflows: bool = False


def sensitivity(
    module: ModuleOp,
    entry: str,
    inputs: InputSet,
    weights: Mapping[str, Array],
    results: Sequence[Array],
    numerics: str = "rounding",
) -> Sensitivity:
    """
    Returns the sensitivity of a program at some inputs, to what a pass of the class `numerics` may change. Below the
    graph level only the inputs are off.
    """
    steps = numerics == "quantised"
    is_graph = any(op.name.startswith("graph.") for op in module.walk())
    watching = _Watching(inputs.is_finite, inputs.kind in ("extremes", "given"))
    if is_graph:
        interpreted(module, entry, inputs.arrays, weights, observe=watching.observe, max_steps=STEPS_TO_BE_SURE)
    samples: list[tuple[Array, ...]] = []
    for number in range(SAMPLES):
        outcome = _sample(module, entry, inputs, weights, results, number, is_graph, steps)
        if outcome.is_right and len(outcome.arrays) == len(results):
            if all(a.shape == b.shape for a, b in zip(outcome.arrays, results, strict=True)):
                samples.append(outcome.arrays)
    slacks = [slack_of(each, [sample[number] for sample in samples], steps) for number, each in enumerate(results)]
    return Sensitivity(tuple(slacks), watching.overflows or not samples)


def _sample(
    module: ModuleOp,
    entry: str,
    inputs: InputSet,
    weights: Mapping[str, Array],
    results: Sequence[Array],
    seed: int,
    is_graph: bool,
    steps: bool,
) -> Outcome:
    random = np.random.default_rng([inputs.seed, seed])
    arrays = [_shaken(each, random) for each in inputs.arrays]
    own = {key: _shaken(each, random) for key, each in weights.items()}

    def observe(op: Operation, found: tuple[Array, ...]) -> None:
        if op.name in GIVEN:
            return
        for array in found:
            if not array.flags.owndata or not array.flags.writeable:
                continue
            if is_float(array.dtype):
                array[...] = _shaken(array, random, _units(op, array.size))
            elif steps and op.name in STEPS:
                array[...] = _stepped(array, random)

    try:
        if is_graph:
            return interpreted(module, entry, arrays, own, observe=observe, max_steps=STEPS_TO_BE_SURE)
        return evaluate(module, entry, arrays, own, results)
    except CannotRunError:
        return Outcome(failure="no sample")


def _units(op: Operation, results: int) -> float:
    """
    Returns the units of the last place that results of an op are off.

    A product of m x k by k x n elements sums k for each of its m * n results, and k is the root of
    (m * k) * (k * n) / (m * n). That of a convolution is less than its terms by the root of its window.
    """
    facts = facts_of_op(op)
    if not results or facts.kind not in (OpKind.REDUCTION, OpKind.OUT_FUSABLE):
        return UNITS
    if facts.rows is not None:
        terms = prod(facts.rows.space[dimension] for dimension in facts.rows.reduced)
        return max(UNITS, terms / TERMS_OF_A_UNIT)
    shapes = [each.type.get_shape() for each in op.operands if isinstance(each.type, TensorType)]
    first, second, *_ = (*(prod(shape) if DYNAMIC_INDEX not in shape else 0 for shape in shapes), 0, 0)
    return max(UNITS, UNITS_OF_A_PRODUCT * sqrt(sqrt(first * second / results)))


def _shaken(array: Array, random: np.random.Generator, units: float = UNITS) -> Array:
    """Returns floats that are off by `units`, and others as they are."""
    if not is_float(array.dtype):
        return np.array(array)
    eps = float(ml_dtypes.finfo(array.dtype).eps)
    with np.errstate(all="ignore"):
        wide = array.astype(np.float64)
        return np.asarray((wide * (1 + units * eps * random.choice([-1.0, 1.0], array.shape))).astype(array.dtype))


def _stepped(array: Array, random: np.random.Generator) -> Array:
    """Returns integers of which each is the same, one more or one less."""
    limits = ml_dtypes.iinfo(array.dtype)
    moved = array.astype(np.int64) + random.integers(-1, 2, array.shape)
    return np.clip(moved, int(limits.min), int(limits.max)).astype(array.dtype)


@dataclass
class _Watching:
    """Looks for values so large that another order of operations may overflow."""

    finite_inputs: bool
    has_huge_inputs: bool
    overflows: bool = False

    def observe(self, op: Operation, found: tuple[Array, ...]) -> None:
        if op.name in GIVEN:
            return
        for array in found:
            if not is_float(array.dtype) or array.size == 0:
                continue
            greatest = float(ml_dtypes.finfo(array.dtype).max)
            with np.errstate(all="ignore"):
                wide = np.abs(array.astype(np.float64))
                finite = np.isfinite(wide)
                largest = float(np.max(wide, where=finite, initial=0.0))
            self.overflows |= largest > greatest / HEADROOM
            if not finite.all():
                self.overflows |= self.finite_inputs or (self.has_huge_inputs and _adds_up(op))


def _adds_up(op: Operation) -> bool:
    """
    Returns whether an op sums or multiplies many numbers.

    Where these are huge, sums that overflow both ways are infinite in one order, and NaN in another.
    """
    return kind_of_op(op) >= OpKind.REDUCTION
