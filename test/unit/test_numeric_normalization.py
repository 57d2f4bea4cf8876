"""Numeric tests of `batch_norm`, `layer_norm` and the ops that come with them: te and native code against the NumPy reference."""

from __future__ import annotations

from hypothesis import given, settings
from numeric import (
    NATIVE_EXAMPLES,
    NATIVE_HIGH,
    NATIVE_LOW,
    TE_EXAMPLES,
    check_by_te,
    check_natively,
    every_op,
)
from stepwell.testing.ir_generators import OpCase
from stepwell.testing.strategies import batches, cases, seeds

FAMILY = "normalization"


@settings(max_examples=TE_EXAMPLES)
@given(case=cases(FAMILY), seed=seeds())
def test_te_gives_the_reference(case: OpCase, seed: int) -> None:
    check_by_te(case, seed)


def test_te_gives_the_reference_for_every_op() -> None:
    for number, case in enumerate(every_op(FAMILY)):
        check_by_te(case, number)


@settings(max_examples=NATIVE_EXAMPLES)
@given(batch=batches(FAMILY, NATIVE_LOW, NATIVE_HIGH), seed=seeds())
def test_native_code_gives_the_reference(batch: list[OpCase], seed: int) -> None:
    check_natively(batch, seed)


def test_native_code_gives_the_reference_for_every_op() -> None:
    check_natively(every_op(FAMILY), 1)
