"""Softmax and maxima of what a mask lets pass, as in attention, against NumPy: all widths, masks and targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.machine.host import host_machine

Array = Any
TARGETS = ["host", "x86-64-v3", "x86-64"] if host_machine().has_wide_registers else ["host"]
MASKS = {
    "bytes": ("%c: tensor<1x1x{n}xi1>", "", lambda n: np.random.default_rng(n).random((1, 1, n)) < 0.6),
    "places in i32": (
        "%p: tensor<1x1x{n}xi32>, %l: tensor<1x1x1xi32>",
        "%c = graph.less_equal %p, %l : (tensor<1x1x{n}xi32>, tensor<1x1x1xi32>) -> tensor<1x1x{n}xi1>",
        None,
    ),
    "a length in i64": (
        "%p: tensor<1x1x{n}xi32>, %l: tensor<1x1x1xi64>",
        "%k = graph.astype %l, dtype = i32 : (tensor<1x1x1xi64>) -> tensor<1x1x1xi32>\n"
        "  %c = graph.less_equal %p, %k : (tensor<1x1x{n}xi32>, tensor<1x1x1xi32>) -> tensor<1x1x{n}xi1>",
        None,
    ),
}
TEXT = """
func.func @main(%x: tensor<2x3x{n}xf32>, ARGUMENTS) -> (tensor<2x3x{n}xf32>, tensor<2x3xf32>) {
  MASK
  %i = graph.constant dense<0xFF800000> : tensor<f32>
  %w = graph.where %c, %x, %i : (tensor<1x1x{n}xi1>, tensor<2x3x{n}xf32>, tensor<f32>) -> tensor<2x3x{n}xf32>
  %y = graph.softmax %w, axis = -1 : (tensor<2x3x{n}xf32>) -> tensor<2x3x{n}xf32>
  %m = graph.max %w, axis = [2] : (tensor<2x3x{n}xf32>) -> tensor<2x3xf32>
  func.return %y, %m : tensor<2x3x{n}xf32>, tensor<2x3xf32>
}
"""


def check(kind: str, n: int, target: str, seen: int, special: float | None = None) -> None:
    arguments, mask, make = MASKS[kind]
    text = TEXT.replace("ARGUMENTS", arguments).replace("MASK", mask).replace("{n}", str(n))
    program = stepwell.compile(text, target=target, cache=False)
    x = np.random.default_rng(seen).standard_normal((2, 3, n)).astype(np.float32)
    if special is not None:
        x[1, 1, n // 2] = special
    if make is None:
        dtype = np.int64 if "i64" in kind else np.int32
        given: list[Array] = [np.arange(n, dtype=np.int32).reshape(1, 1, n), np.full((1, 1, 1), seen - 1, dtype)]
        kept = given[0] < seen
    else:
        kept = make(n)
        given = [kept]
    soft, most = program(x, *given)
    masked = np.where(kept, x.astype(np.float64), -np.inf)
    with np.errstate(invalid="ignore"):
        powers = np.exp(masked - masked.max(axis=-1, keepdims=True))
        np.testing.assert_allclose(soft, powers / powers.sum(axis=-1, keepdims=True), rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(most, masked.max(axis=-1).astype(np.float32))


@pytest.mark.ci_cases(8)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [1, 15, 16, 17, 63, 64, 100, 257])
@pytest.mark.parametrize("kind", MASKS)
def test_rows_of_any_width(kind: str, n: int, target: str) -> None:
    check(kind, n, target, (n + 1) // 2)


@settings(max_examples=60 if FULL else 5, deadline=None)
@given(st.sampled_from(sorted(MASKS)), st.integers(1, 300), st.integers(0, 300))
def test_any_rows(kind: str, n: int, seen: int) -> None:
    check(kind, n, "host", min(seen, n))


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("seen", [30, 90])
@pytest.mark.parametrize("kind", ["bytes", "places in i32"])
def test_special_numbers_that_are_seen_or_not(kind: str, seen: int, special: float) -> None:
    check(kind, 100, "host", seen, special)
