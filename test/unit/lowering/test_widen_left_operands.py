"""
Tensors of f16 that are kept in f32 for products: the same bits as without where each op rounds, and nearer to NumPy in
double precision where it need not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from named_machines import as_machine, runs_here
from stepwell import PassContext

Array = np.ndarray[Any, Any]

PASS = "widen-left-operands"

MACHINES = [name for name in ("x86-64-v3", "x86-64-v4") if runs_here(name)]

CHAIN = """func.func @main(%x: tensor<{rows}x24xf16>) -> tensor<{rows}x200xf16> {{
  %v = graph.weight "v" : tensor<24x40xf16>
  %w = graph.weight "w" : tensor<40x200xf16>
  %h = graph.matmul %x, %v : (tensor<{rows}x24xf16>, tensor<24x40xf16>) -> tensor<{rows}x40xf16>
  %a = graph.relu %h : (tensor<{rows}x40xf16>) -> tensor<{rows}x40xf16>
  %y = graph.matmul %a, %w : (tensor<{rows}x40xf16>, tensor<40x200xf16>) -> tensor<{rows}x200xf16>
  func.return %y : tensor<{rows}x200xf16>
}}"""

IMAGE = """func.func @main(%x: tensor<1x9x11x8xf16>) -> (tensor<1x5x6x192xf16>, tensor<1x9x11x8xf16>) {
  %v = graph.weight "v" : tensor<1x1x8x8xf16>
  %w = graph.weight "w" : tensor<3x3x8x192xf16>
  %h = graph.conv2d %x, %v, data_layout = "NHWC", kernel_layout = "HWIO"
      : (tensor<1x9x11x8xf16>, tensor<1x1x8x8xf16>) -> tensor<1x9x11x8xf16>
  %y = graph.conv2d %h, %w, strides = [2, 2], padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO"
      : (tensor<1x9x11x8xf16>, tensor<3x3x8x192xf16>) -> tensor<1x5x6x192xf16>
  %z = graph.conv2d %x, %v, data_layout = "NHWC", kernel_layout = "HWIO"
      : (tensor<1x9x11x8xf16>, tensor<1x1x8x8xf16>) -> tensor<1x9x11x8xf16>
  %s = graph.add %z, %h : (tensor<1x9x11x8xf16>, tensor<1x9x11x8xf16>) -> tensor<1x9x11x8xf16>
  func.return %y, %s : tensor<1x5x6x192xf16>, tensor<1x9x11x8xf16>
}"""


def halves(seed: int, *sizes: int) -> Array:
    return np.random.default_rng(seed).standard_normal(sizes).astype(np.float16)


ROUNDED = "finish"
"""The pipeline in which each op rounds its result."""


def run(text: str, weights: dict[str, Array], x: Array, disabled: list[str], pipeline: str = "O3") -> list[Array]:
    with PassContext(disabled=disabled):
        program = stepwell.compile(text, weights=weights, pipeline=pipeline, cache=False, threads=1, tuning=False)
    assert ("_wide" in program.ir("tensor_loop")) != bool(disabled)
    return [np.asarray(each) for each in program(x)]


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("rows", [13, 200] if FULL else [200])
def test_a_chain_of_products(machine: str, rows: int) -> None:
    """Rows with subnormal numbers, infinities and NaN as well. 200 rows read panels that are extended first."""
    x, weights = halves(0, rows, 24), {"v": halves(1, 24, 40), "w": halves(2, 40, 200)}
    x[0], x[1, 3], x[2, 5] = 2.0**-24, np.inf, np.nan
    weights["w"][7] = 2.0**-20
    with as_machine(machine):
        (found,), (kept,) = (run(CHAIN.format(rows=rows), weights, x, disabled, ROUNDED) for disabled in ([], [PASS]))
        (wide,) = run(CHAIN.format(rows=rows), weights, x, [])
    np.testing.assert_array_equal(found.view(np.uint16), kept.view(np.uint16))
    first = np.maximum(x[3:].astype(np.float64) @ weights["v"].astype(np.float64), 0)
    w = weights["w"].astype(np.float64)
    for result, left in ((found, first.astype(np.float16).astype(np.float64)), (wide, first)):
        slack = np.abs(left) @ np.abs(w) * 2.0**-11  # Sums in f32 may be rounded to a neighbour.
        assert (np.abs(result[3:].astype(np.float64) - left @ w) <= np.abs(left @ w) * 2.0**-11 + slack).all()
        assert np.isnan(result[2]).all()
    errors = [np.abs(result[3:].astype(np.float64) - first @ w).mean() for result in (wide, found)]
    assert errors[0] < 0.8 * errors[1]


@pytest.mark.ci_cases(0)
def test_an_image_with_a_border_and_a_sum() -> None:
    x, weights = halves(3, 1, 9, 11, 8), {"v": halves(4, 1, 1, 8, 8), "w": halves(5, 3, 3, 8, 192)}
    found, kept = (run(IMAGE, weights, x, disabled, ROUNDED) for disabled in ([], [PASS]))
    for one, other in zip(found, kept, strict=True):
        np.testing.assert_array_equal(one.view(np.uint16), other.view(np.uint16))


def test_a_rounding_that_is_written_stays() -> None:
    """The cast is an op of its own, so the product takes rounded numbers: 40, not 40.02, which is 40.03 in f16."""
    text = """func.func @main(%x: tensor<13x40xf32>) -> tensor<13x200xf32> {
      %w = graph.weight "w" : tensor<40x200xf16>
      %h = graph.relu %x : (tensor<13x40xf32>) -> tensor<13x40xf32>
      %a = graph.astype %h, dtype = f16 : (tensor<13x40xf32>) -> tensor<13x40xf16>
      %p = graph.matmul %a, %w : (tensor<13x40xf16>, tensor<40x200xf16>) -> tensor<13x200xf16>
      %y = graph.astype %p, dtype = f32 : (tensor<13x200xf16>) -> tensor<13x200xf32>
      func.return %y : tensor<13x200xf32>
    }"""
    x = np.full((13, 40), 1 + 2.0**-11, np.float32)
    (found,) = run(text, {"w": np.ones((40, 200), np.float16)}, x, [])
    np.testing.assert_array_equal(found, np.float32(40))
