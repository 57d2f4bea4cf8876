"""Weights laid out when a program is loaded: what several kernels or results share."""

from __future__ import annotations

import numpy as np
import stepwell

HALVES = """func.func @main(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
  %w = graph.weight "w" : tensor<64x128xf32>
  %e = graph.exp %w : (tensor<64x128xf32>)
  %a, %b = graph.split %e, sections = 2, axis = 1 : (tensor<64x128xf32>)
  %0 = graph.matmul %x, %a : (tensor<4x64xf32>, tensor<64x64xf32>)
  %1 = graph.matmul %y, %b : (tensor<4x64xf32>, tensor<64x64xf32>)
  func.return %0, %1 : tensor<4x64xf32>, tensor<4x64xf32>
}"""


def test_two_weights_may_be_results_of_one_prepare_function() -> None:
    rng = np.random.default_rng(0)
    w = rng.standard_normal((64, 128)).astype(np.float32)
    x, y = rng.standard_normal((2, 4, 64)).astype(np.float32)
    first, second = stepwell.compile(HALVES, weights={"w": w}, cache=False)(x, y)
    np.testing.assert_allclose(first, x @ np.exp(w[:, :64]), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(second, y @ np.exp(w[:, 64:]), rtol=1e-4, atol=1e-4)
