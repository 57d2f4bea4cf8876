"""What the numeric tests share: running ops by te and natively, and comparing them with the reference."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import stepwell
from counts import FULL
from stepwell.dialects.traits import LoopTemplate
from stepwell.testing.programs.ir_generators import OpCase, RandomChooser, batch_text
from stepwell.testing.programs.movement_generators import FAMILIES, random_case
from tolerances import check_case

Array = np.ndarray[Any, Any]

TE_EXAMPLES = 250 if FULL else 25
"""Hypothesis examples per family of te against the reference; one op each."""

NATIVE_EXAMPLES, NATIVE_LOW, NATIVE_HIGH = (200, 1, 3) if FULL else (5, 5, 5)
"""Hypothesis examples per family of native code against the reference, and how many ops one module holds."""

INSTANCES = 4 if FULL else 2
"""Instances of every op of a family in the tests that leave no op out."""


def check_by_te(case: OpCase, seed: int) -> None:
    """
    The te of the op, evaluated on NumPy arrays, gives what the reference gives; ops with loop templates have none.
    """
    check_te_on(case, case.arrays(seed))


def check_te_on(case: OpCase, arrays: Sequence[Array]) -> None:
    """Like `check_by_te`, on given arrays."""
    from stepwell.te.evaluation import evaluate_op

    expected = case.evaluate(arrays)
    module = stepwell.parse(batch_text([case]))
    op = next(op for op in module.walk() if op.name == case.name)
    if isinstance(op, LoopTemplate):
        return
    check_case(case, arrays, evaluate_op(op, arrays), expected)


def check_natively(cases: Sequence[OpCase], seed: int) -> None:
    """One native program made of all the ops gives what the reference gives."""
    check_natively_on(cases, [case.arrays(seed + number) for number, case in enumerate(cases)])


def check_natively_on(cases: Sequence[OpCase], arrays: Sequence[Sequence[Array]]) -> None:
    """Like `check_natively`, on given arrays."""
    program = stepwell.compile(batch_text(cases), cache=False)
    found = list(program(*(array for group in arrays for array in group)))
    for case, group in zip(cases, arrays, strict=True):
        expected = case.evaluate(group)
        own, found = found[: len(expected)], found[len(expected) :]
        check_case(case, group, own, expected)


@cache
def every_op(family: str) -> tuple[OpCase, ...]:
    """Some instances of each op of a family; always the same."""
    return tuple(
        random_case(RandomChooser(7919 * number + instance), family, op)
        for number, op in enumerate(FAMILIES[family])
        for instance in range(INSTANCES)
    )
