"""Every family of graph ops: te and native code against the NumPy reference, over random shapes, types and values."""

from __future__ import annotations

import numpy as np
import pytest
from counts import FULL
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
from stepwell.testing.programs.ir_generators import ElementType, OpCase, TensorSpec
from stepwell.testing.programs.movement_generators import FAMILIES
from stepwell.testing.programs.strategies import batches, cases, seeds
from tolerances import check_case

families = pytest.mark.parametrize("family", FAMILIES)


@pytest.mark.ci_cases(3)
@families
@settings(max_examples=TE_EXAMPLES)
@given(data=st.data(), seed=seeds())
def test_te_gives_the_reference(family: str, data: st.DataObject, seed: int) -> None:
    check_by_te(data.draw(cases(family)), seed)


@pytest.mark.ci_cases(6)
@families
def test_te_gives_the_reference_for_every_op(family: str) -> None:
    for number, case in enumerate(every_op(family)):
        check_by_te(case, number)


@pytest.mark.ci_cases(4)
@families
@settings(max_examples=NATIVE_EXAMPLES)
@given(data=st.data(), seed=seeds())
def test_native_code_gives_the_reference(family: str, data: st.DataObject, seed: int) -> None:
    check_natively(data.draw(batches(family, NATIVE_LOW, NATIVE_HIGH)), seed)


@pytest.mark.ci_cases(4)
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
    for seed in range(4 if FULL else 1):
        for case in CASTS:
            check_by_te(case, seed)


@pytest.mark.ci_cases(0)
def test_native_code_converts_between_all_pairs_of_types() -> None:
    check_natively(CASTS, 5)


def test_packed_products_of_no_rows() -> None:
    """The reference did not round blocks of no rows. Found by the test of the families."""
    operands = [TensorSpec(*each) for each in (((1, 0, 16), "f32"), ((1, 8), "ui8"), ((1, 8), "f32"), ((1, 8), "ui8"))]
    properties = (("bits", 4), ("block_size", 2), ("rounded_bits", 8))
    packed = OpCase("matmul_packed", tuple(operands), properties, ("moderate", "any", "moderate", "any"))
    check_by_te(packed, 1)
    check_natively([packed], 1)


def test_infinite_weights_at_padding() -> None:
    """
    Products with padding are left out here: a sum is a number where the reference has NaN. Found by the test of the
    families.
    """
    operands = (TensorSpec((1, 3, 4, 4), "f64"), TensorSpec((2, 1, 3, 2), "f64"))
    properties = (
        ("strides", [1, 2]),
        ("padding", [1, 0, 0, 0]),
        ("dilation", [1, 1]),
        ("kernel_layout", "HWIO"),
    )
    check_natively([OpCase("conv2d", operands, properties, ("moderate", "moderate"))], 4691)


@pytest.mark.parametrize(
    ("wrong", "place"),
    [(5.0, (0, 0, 0, 0)), (1.0, (0, 0, 1, 1)), (np.inf, (0, 0, 0, 0)), (np.nan, (0, 0, 2, 2))],
)
def test_only_what_meets_padding_may_differ(wrong: float, place: tuple[int, ...]) -> None:
    """
    Padding of 1 around 3x3 and an infinite weight in the first place of the window: what the tests of the families take
    and refuse.
    """
    operands = (TensorSpec((1, 1, 3, 3), "f32"), TensorSpec((1, 1, 3, 3), "f32"))
    case = OpCase("conv2d", operands, (("padding", [1, 1, 1, 1]),), ("moderate", "moderate"))
    x, w = np.ones((1, 1, 3, 3), np.float32), np.ones((1, 1, 3, 3), np.float32)
    w[0, 0, 0, 0] = np.inf
    expected = case.evaluate([x, w])
    assert np.isnan(expected[0]).sum() == 5  # the upper and the left border
    without = expected[0].copy()
    without[0, 0, 0], without[0, 0, :, 0] = (4, 6, 4), (4, 6, 4)
    for one in (expected[0], without):
        check_case(case, [x, w], [one], expected)
    without[place] = wrong
    with pytest.raises(AssertionError):
        check_case(case, [x, w], [without], expected)
