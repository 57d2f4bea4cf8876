"""What rounding may change: the terms of sums, and the order in which machine code adds them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.trust.cases import CheckOptions
from stepwell.trust.check import CheckSemantics
from stepwell.trust.compare import Slack
from stepwell.trust.evaluate import INTERPRETER, NATIVE, Outcome
from stepwell.trust.sensitivity import Sensitivity, _terms

OPS = {
    "graph.matmul %x, %w : (tensor<4x32xf32>, tensor<32x6xf32>) -> tensor<4x6xf32>": 32,
    "graph.sum %x, axis = [1] : (tensor<4x32xf32>) -> tensor<4xf32>": 32,
    "graph.add %x, %x : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>": 1,
    "graph.relu %w : (tensor<32x6xf32>) -> tensor<32x6xf32>": 1,
}


@pytest.mark.parametrize("op", OPS)
def test_terms_of_a_sum(op: str):
    module = stepwell.parse(
        "func.func @main(%x: tensor<4x32xf32>, %w: tensor<32x6xf32>) {\n" + f"  %0 = {op}\n  func.return\n}}"
    )
    (found,) = (each for each in module.walk() if each.name.startswith("graph."))
    assert _terms(found, int(np.prod(found.results[0].type.get_shape()))) == pytest.approx(OPS[op])  # pyright: ignore


@pytest.mark.parametrize("how, differs", [(INTERPRETER, True), (NATIVE, False)])
def test_an_exact_pass_keeps_bits_of_the_interpreter_and_sums_of_machine_code(how: str, differs: bool):
    """Found by the check of magika: LLVM adds the terms of a sum in another order where a loop becomes a function."""
    one = np.ones(3, np.float32)
    slack = Sensitivity((Slack(np.full(3, 1e-6), np.zeros(3, bool)),))
    case: Any = SimpleNamespace(sensitivity=slack)
    check = CheckSemantics(CheckOptions())
    outcomes = [Outcome((array,), how=how) for array in (one, np.nextafter(one, np.float32(2)))]
    assert (check._compared(case, *outcomes, "exact").mismatch is not None) is differs
    far = Outcome((one * np.float32(1.001),), how=how)
    assert check._compared(case, outcomes[0], far, "exact").mismatch is not None


def test_machine_code_may_be_further_from_the_interpreter_than_from_other_machine_code():
    """Found by the check of a model that reads text: O0 adds the terms of sums one after the other."""
    slack = Sensitivity((Slack(np.full(3, 1e-3), np.zeros(3, bool)),))
    case: Any = SimpleNamespace(sensitivity=slack)
    check = CheckSemantics(CheckOptions())
    native = Outcome((np.ones(3, np.float32),), how=NATIVE)
    for how, apart, differs in (
        (NATIVE, 0.9e-3, False),
        (NATIVE, 3e-3, True),
        (INTERPRETER, 3e-3, False),
        (INTERPRETER, 5e-3, True),
    ):
        before = Outcome((np.full(3, 1 + apart, np.float32),), how=how)
        assert (check._compared(case, before, native, "rounding").mismatch is not None) is differs, (how, apart)
