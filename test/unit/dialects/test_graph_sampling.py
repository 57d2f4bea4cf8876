"""Samples of many channels, and sums and maxima over regions whose bounds are computed, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell.reference.registry import evaluate
from stepwell.runtime.errors import ExecutionError

OPERANDS = "%x: tensor<2x9x7x5xf32>, %i: tensor<4xi64>, %h: tensor<4x3x9xf32>, %w: tensor<4x2x7xf32>"
TYPES = "(tensor<2x9x7x5xf32>, tensor<4xi64>, tensor<4x3x9xf32>, tensor<4x2x7xf32>) -> tensor<4x3x2x5xf32>"


def program(reduction: str) -> str:
    return f"""
func.func @main({OPERANDS}) -> tensor<4x3x2x5xf32> {{
  %y = graph.pool_regions %x, %i, %h, %w, reduction = "{reduction}" : {TYPES}
  func.return %y : tensor<4x3x2x5xf32>
}}
"""


def test_a_cell_is_the_sum_of_what_counts() -> None:
    """The infinities have the weight 0, and some rows count before and after one that does not."""
    random = np.random.default_rng(3)
    x = random.integers(-9, 9, (2, 9, 7, 5)).astype(np.float32)
    h, w = (random.integers(0, 2, shape).astype(np.float32) * 0.5 for shape in ((4, 3, 9), (4, 2, 7)))
    h[0, 0], h[:, :, 4] = 0, 0
    images = np.array([0, 1, -1, 0])
    expected = np.einsum("rph,rqw,rhwc->rpqc", h, w, x[images])
    greatest = np.zeros_like(expected)
    for at in np.ndindex(*expected.shape):
        r, p, q, c = at
        found = x[images[r], :, :, c][np.outer(h[r, p], w[r, q]) != 0]
        greatest[at] = found.max() if found.size else 0
    x[:, 4] = np.inf
    for reduction, wanted in (("sum", expected), ("max", greatest)):
        np.testing.assert_array_equal(stepwell.compile(program(reduction), cache=False)(x, images, h, w)[0], wanted)


def test_an_image_that_is_not_there_fails() -> None:
    x, h, w = np.ones((2, 9, 7, 5), np.float32), np.ones((4, 3, 9), np.float32), np.ones((4, 2, 7), np.float32)
    with pytest.raises(ExecutionError, match="graph.pool_regions: index out of range"):
        stepwell.compile(program("sum"), cache=False)(x, np.array([0, 1, 2, 0]), h, w)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_many_channels_are_sampled_side_by_side(mode: str) -> None:
    """The image and the result are turned, so that each point finds its neighbours once."""
    random = np.random.default_rng(4)
    x = random.integers(-9, 9, (2, 9, 6, 5)).astype(np.float32)
    points = (random.integers(-8, 28, (2, 4, 7, 2)) / 4).astype(np.float32)
    types = "tensor<2x9x6x5xf32>, tensor<2x4x7x2xf32>"
    text = f"""
func.func @main(%x: tensor<2x9x6x5xf32>, %p: tensor<2x4x7x2xf32>) -> tensor<2x9x4x7xf32> {{
  %y = graph.sample %x, %p, mode = "{mode}" : ({types}) -> tensor<2x9x4x7xf32>
  func.return %y : tensor<2x9x4x7xf32>
}}
"""
    (expected,) = evaluate("graph.sample", {"mode": mode}, x, points)
    (found,) = stepwell.compile(text, cache=False, threads=1)(x, points)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
