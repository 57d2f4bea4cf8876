"""Results of rules compared: which differences a class of rules allows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.rewrites.shipped import shipped_rules
from stepwell.te.dtypes import integer_range
from stepwell.testing.rules.checking import Settings, check_rule
from stepwell.testing.rules.compare import Outcome, arguments_of, difference, outcome_of, same_bits, sensitivity
from stepwell.testing.rules.instances import Instance
from stepwell.testing.rules.reporting import report_line

CTX = make_context()


# Comparing


def outcome(*values: float, dtype: str = "float32") -> Outcome:
    found = Outcome((np.array(values, dtype),))
    found.observe(None, found.results)
    return found


def test_exact_is_the_same_bits_and_one_nan() -> None:
    nan = np.array([0x7FC00001, 0xFFC00000], np.uint32).view(np.float32)
    assert same_bits(nan, np.array([np.nan, np.nan], np.float32))
    assert not same_bits(np.array([0.0]), np.array([-0.0]))
    assert difference(outcome(1.0), outcome(1.0 + 2**-23), "exact") is not None


def test_rounding_allows_some_units_of_the_largest_number() -> None:
    assert difference(outcome(1.0, 100.0), outcome(1.00001, 100.0), "rounding") is None
    assert difference(outcome(1.0), outcome(1.0001), "rounding") == "result 0[0] was 1.0, became 1.0001"
    assert difference(outcome(np.nan), outcome(1.0), "rounding") is not None
    assert difference(outcome(np.nan), outcome(1.0), "fast") is None
    assert difference(outcome(1.0), outcome(np.inf), "fast") is not None


def test_seeds_give_the_same_report() -> None:
    one, other = (check_rule(shipped_rules("simplify")[0], Settings(7, 10), CTX) for _ in range(2))
    assert report_line(one) == report_line(other)


def test_a_difference_of_nearly_equal_numbers_may_be_as_far_off_as_its_inputs() -> None:
    text = """
    func.func @main(%x: tensor<2xf64>, %y: tensor<2xf64>) -> tensor<2xf64> {
      %0 = graph.subtract %x, %y : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %1 = graph.full 1000000.0 : tensor<2xf64>
      %2 = graph.multiply %0, %1 : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      func.return %2 : tensor<2xf64>
    }"""
    module = parse_text(CTX, text, "test")
    arguments = [np.array([1e6, 1.0]), np.array([1e6 + 1e-6, 1.0])]
    (slack,) = sensitivity(module, arguments, outcome_of(module, arguments))
    assert ((slack > 1e-4) & (slack < 1e-1)).all()


def test_results_that_rounding_can_make_infinite_may_be_any() -> None:
    text = """
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = graph.expm1 %x : (tensor<2xf32>) -> tensor<2xf32>
      %1 = graph.log1p %0 : (tensor<2xf32>) -> tensor<2xf32>
      func.return %1 : tensor<2xf32>
    }"""
    module = parse_text(CTX, text, "test")
    arguments = [np.array([-16.640396, 0.5], np.float32)]
    before = outcome_of(module, arguments)
    (slack,) = sensitivity(module, arguments, before)
    assert np.isinf(slack[0]) and np.isfinite(slack[1])
    assert difference(before, replace(before, results=(arguments[0],)), "fast", [slack]) is None


@pytest.mark.parametrize("dtype", ["i2", "ui2", "i4", "ui4", "i8", "ui64"])
def test_special_integers_have_their_type(dtype: str) -> None:
    """Those of less than a byte too, for which NumPy has no limits."""
    text = f"func.func @main(%q: tensor<50x{dtype}>) -> tensor<50x{dtype}> {{ func.return %q : tensor<50x{dtype}> }}"
    module = parse_text(CTX, text, "test")
    (array,) = arguments_of(Instance(module, None, []), 0, "special")
    least, most = integer_range(dtype)
    assert {int(array.min()), int(array.max())} == {least, most}
    outcome = outcome_of(module, [array])
    assert difference(outcome, outcome, "exact") is None
