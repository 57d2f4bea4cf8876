"""Batch norms written in IR become part of the convolution before them (AUDIT E1)."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell

PROGRAM = """
func.func @main(%x: tensor<1x16x14x14xf32>) -> tensor<1x32x14x14xf32> {
  %w = graph.weight "w" : tensor<32x16x3x3xf32>
  %gamma = graph.weight "gamma" : tensor<32xf32>
  %beta = graph.weight "beta" : tensor<32xf32>
  %mean = graph.weight "mean" : tensor<32xf32>
  %var = graph.weight "var" : tensor<32xf32>
  %c = graph.conv2d %x, %w, padding = [1, 1, 1, 1]
    : (tensor<1x16x14x14xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x14x14xf32>
  %n, %m, %v = graph.batch_norm %c, %gamma, %beta, %mean, %var
    : (tensor<1x32x14x14xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>)
    -> (tensor<1x32x14x14xf32>, tensor<32xf32>, tensor<32xf32>)
  %y = graph.relu %n : (tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
  func.return %y : tensor<1x32x14x14xf32>
}
"""


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("level", [2, 3])
def test_e1_convolution_batch_norm_and_relu_are_one_kernel(level: int) -> None:
    rng = np.random.default_rng(0)
    weights = {name: rng.standard_normal(32).astype(np.float32) for name in ("gamma", "beta", "mean")}
    weights |= {
        "w": rng.standard_normal((32, 16, 3, 3)).astype(np.float32),
        "var": rng.random(32).astype(np.float32) + 1,
    }
    x = rng.standard_normal((1, 16, 14, 14)).astype(np.float32)
    compiled = stepwell.compile(PROGRAM, weights=weights, opt_level=level, cache=False)
    text = compiled.ir("graph")
    assert "@fused_conv2d_add_relu0" in text and "graph.batch_norm" not in text
    strict = stepwell.compile(PROGRAM, weights=weights, opt_level=level, numerics="strict", cache=False)
    assert "graph.batch_norm" in strict.ir("graph")
    np.testing.assert_allclose(compiled(x)[0], strict(x)[0], rtol=1e-4, atol=1e-4)
