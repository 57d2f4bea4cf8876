"""Every family of graph ops: te and native code against the NumPy reference, over random shapes, types and values."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numeric import (
    NATIVE_EXAMPLES,
    NATIVE_HIGH,
    NATIVE_LOW,
    TE_EXAMPLES,
    check_by_te,
    check_natively,
    every_op,
)
from stepwell.reference.element_types import DTYPES
from stepwell.testing.ir_generators import ElementType, OpCase, TensorSpec
from stepwell.testing.movement_generators import FAMILIES
from stepwell.testing.strategies import batches, cases, seeds

families = pytest.mark.parametrize("family", FAMILIES)


@families
@settings(max_examples=TE_EXAMPLES)
@given(data=st.data(), seed=seeds())
def test_te_gives_the_reference(family: str, data: st.DataObject, seed: int) -> None:
    check_by_te(data.draw(cases(family)), seed)


@families
def test_te_gives_the_reference_for_every_op(family: str) -> None:
    for number, case in enumerate(every_op(family)):
        check_by_te(case, number)


@families
@settings(max_examples=NATIVE_EXAMPLES)
@given(data=st.data(), seed=seeds())
def test_native_code_gives_the_reference(family: str, data: st.DataObject, seed: int) -> None:
    check_natively(data.draw(batches(family, NATIVE_LOW, NATIVE_HIGH)), seed)


@families
def test_native_code_gives_the_reference_for_every_op(family: str) -> None:
    check_natively(every_op(family), 1)


CASTS = [
    OpCase("astype", (TensorSpec((67,), source),), (("dtype", ElementType(target)),), ("any",))
    for source in DTYPES
    for target in DTYPES
]
"""Every pair of element types."""


def test_te_converts_between_all_pairs_of_types() -> None:
    for seed in range(4):
        for case in CASTS:
            check_by_te(case, seed)


def test_native_code_converts_between_all_pairs_of_types() -> None:
    check_natively(CASTS, 5)
