"""What rounding may change: the terms of sums, and the order in which machine code adds them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.trust.cases import CheckOptions
from stepwell.trust.check import CheckSemantics
from stepwell.trust.compare import Slack, nearly, slack_of
from stepwell.trust.evaluate import INTERPRETER, NATIVE, Outcome
from stepwell.trust.inputs import InputSet
from stepwell.trust.sensitivity import Sensitivity, _units

OPS = {
    "graph.matmul %x, %w : (tensor<4x6400xf32>, tensor<6400x6xf32>) -> tensor<4x6xf32>": 0.3 * 80,
    "graph.sum %x, axis = [1] : (tensor<4x6400xf32>) -> tensor<4xf32>": 100,
    "graph.softmax %x, axis = 1 : (tensor<4x6400xf32>) -> tensor<4x6400xf32>": 100,
    "graph.softmax %x, axis = 0 : (tensor<4x6400xf32>) -> tensor<4x6400xf32>": 2,
    "graph.add %x, %x : (tensor<4x6400xf32>, tensor<4x6400xf32>) -> tensor<4x6400xf32>": 2,
    "graph.relu %w : (tensor<6400x6xf32>) -> tensor<6400x6xf32>": 2,
}


@pytest.mark.parametrize("op", OPS)
def test_units_of_an_op(op: str):
    """A softmax of 18 710 numbers that are nearly equal was 986 units off at O0: its terms all round the same way."""
    module = stepwell.parse(
        "func.func @main(%x: tensor<4x6400xf32>, %w: tensor<6400x6xf32>) {\n" + f"  %0 = {op}\n  func.return\n}}"
    )
    (found,) = (each for each in module.walk() if each.name.startswith("graph."))
    assert _units(found, int(np.prod(found.results[0].type.get_shape()))) == pytest.approx(OPS[op])  # pyright: ignore


@pytest.mark.parametrize("how, differs", [(INTERPRETER, True), (NATIVE, False)])
def test_an_exact_pass_keeps_bits_of_the_interpreter_and_sums_of_machine_code(how: str, differs: bool):
    """Found by the check of magika: LLVM adds the terms of a sum in another order where a loop becomes a function."""
    one = np.ones(3, np.float32)
    slack = Sensitivity((Slack(np.full(3, 1e-6), np.zeros(3, bool)),))
    case: Any = SimpleNamespace(sensitivities={False: slack}, inputs=InputSet("given", 0, (one,)))
    check = CheckSemantics(CheckOptions())
    outcomes = [Outcome((array,), how=how) for array in (one, np.nextafter(one, np.float32(2)))]
    assert (check._compared(case, *outcomes, "exact").mismatch is not None) is differs
    far = Outcome((one * np.float32(1.001),), how=how)
    assert check._compared(case, outcomes[0], far, "exact").mismatch is not None


def test_what_is_nan_at_infinities_is_open_but_for_exact_passes() -> None:
    """x * sigmoid(x) is NaN at -inf, where silu(x) is -0."""
    x = np.array([-np.inf, np.inf, 1.0, -2.0], np.float32)
    with np.errstate(all="ignore"):
        before = x * (1 / (1 + np.exp(-x)))
    after = np.array([-0.0, *before[1:]], np.float32)
    slacks = [slack_of(before, [before])]
    assert np.isnan(before[0])
    assert nearly([before], [after], slacks, "rounding", infinite=True).mismatch is None
    assert nearly([before], [after], slacks, "rounding").mismatch is not None
    assert nearly([before], [after], slacks, "exact", infinite=True).mismatch is not None
    assert nearly([after], [before], slacks, "rounding", infinite=True).mismatch is not None


def test_inputs_are_infinite_or_not() -> None:
    assert InputSet("given", 0, (np.array([-np.inf], np.float32),)).is_infinite
    assert not InputSet("given", 0, (np.array([np.nan], np.float32), np.array([1]))).is_infinite


def test_integers_of_a_quantised_pass_may_be_a_step_off_but_not_indices() -> None:
    for dtype, steps, far in ((np.int8, 1, 3), (np.uint8, 1, 3), (np.int64, 0, 1), (np.bool_, 0, 1)):
        before = np.ones(2, dtype)
        slacks = [slack_of(before, [before], steps=True)]
        near = (before.astype(np.int64) - steps).astype(dtype)
        other = (before.astype(np.int64) - far).astype(dtype)
        assert nearly([before], [near], slacks, "quantised").mismatch is None
        assert nearly([before], [other], slacks, "quantised").mismatch is not None
