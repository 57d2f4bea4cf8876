"""Subnormal weights: zeros by default, what they are when every rounding is to be kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell

MATMUL = """func.func @main(%x: tensor<5x40xf32>) -> tensor<5x24xf32> {
  %w = graph.weight "w" : tensor<40x24xf32>
  %0 = graph.matmul %x, %w : (tensor<5x40xf32>, tensor<40x24xf32>)
  func.return %0 : tensor<5x24xf32>
}"""

SQUARES = """func.func @main(%x: tensor<1x24x24x32xf32>) -> tensor<1x24x24x32xf32> {
  %w = graph.weight "w" : tensor<3x3x32x32xf32>
  %0 = graph.conv2d %x, %w, padding = [1, 1, 1, 1], data_layout = "NHWC", kernel_layout = "HWIO"
      : (tensor<1x24x24x32xf32>, tensor<3x3x32x32xf32>)
  func.return %0 : tensor<1x24x24x32xf32>
}"""


def run(text: str, x: Any, w: Any, numerics: str) -> Any:
    return stepwell.compile(text, weights={"w": w}, numerics=numerics, cache=False)(x)[0]


def small_weights(dtype: type) -> tuple[Any, Any, Any]:
    """
    x, weights half of which are subnormal, and those without these: products with all of them are large enough to be
    seen.
    """
    random = np.random.default_rng(0)
    x = (random.integers(1, 9, (5, 40)) * 2.0**100).astype(dtype)
    w = (random.integers(1, 9, (40, 24)) * 2.0**-123).astype(dtype)
    subnormal = random.random(w.shape) < 0.5
    w[subnormal] *= 2.0**-8
    w[0, :3] = [np.float32(2.0**-126), -np.float32(2.0**-126), np.float32(2.0**-126 - 2.0**-149)]
    cleaned = np.where(abs(w) < 2.0**-126, 0, w)
    assert (cleaned != w).any() and cleaned[0, 1] == w[0, 1] and cleaned[0, 2] == 0
    return x, w, cleaned


@pytest.mark.parametrize("numerics", ["default", "fast", "strict"])
def test_products(numerics: str) -> None:
    x, w, cleaned = small_weights(np.float32)
    used = w if numerics == "strict" else cleaned
    expected = x.astype(np.float64) @ used.astype(np.float64)
    other = x.astype(np.float64) @ (cleaned if numerics == "strict" else w).astype(np.float64)
    assert abs(expected - other).max() > 1e-3 * abs(expected).max()
    np.testing.assert_allclose(run(MATMUL, x, w, numerics), expected, rtol=1e-5)


def test_doubles_keep_what_is_normal_to_them() -> None:
    x, w, _ = small_weights(np.float64)
    w[1] = 2.0**-1030
    cleaned = w.copy()
    cleaned[1] = 0
    text = MATMUL.replace("f32", "f64")
    np.testing.assert_allclose(run(text, x, w, "default"), x @ cleaned, rtol=1e-12)
    w[:] = 2.0**-1030
    assert (run(text, x, w, "default") == 0).all()
    assert (run(text, x, w, "strict") != 0).all()


def test_halves_keep_theirs() -> None:
    x = np.full((5, 40), 1024.0, np.float16)
    w = np.full((40, 24), 2.0**-20, np.float16)
    assert (run(MATMUL.replace("f32", "f16"), x, w, "default") == np.float16(40 * 2.0**-10)).all()


def test_transformed_filters() -> None:
    """Where Winograd's transform makes subnormal numbers of filters, these are zeros too."""
    x = np.full((1, 24, 24, 32), 2.0**100, np.float32)
    w = np.full((3, 3, 32, 32), 2.0**-132, np.float32)
    assert (run(SQUARES, x, w, "default") == 0).all()
    inside = run(SQUARES, x, w, "strict")[0, 1:-1, 1:-1]
    np.testing.assert_allclose(inside, 9 * 32 * 2.0**-32, rtol=1e-6)


DEPTHWISE = """func.func @main(%x: tensor<1x33x9x9xf32>) -> tensor<1x33x9x9xf32> {
  %w = graph.weight "w" : tensor<33x1x3x3xf32>
  %b = graph.weight "b" : tensor<33xf32>
  %0 = graph.conv2d %x, %w, padding = [1, 1, 1, 1], groups = 33 : (tensor<1x33x9x9xf32>, tensor<33x1x3x3xf32>)
  %1 = graph.bias_add %0, %b : (tensor<1x33x9x9xf32>, tensor<33xf32>)
  func.return %1 : tensor<1x33x9x9xf32>
}"""


def test_depthwise_filters() -> None:
    """Those of every second channel are subnormal: by default these channels are nothing but their bias."""
    random = np.random.default_rng(0)
    x = (random.integers(1, 9, (1, 33, 9, 9)) * 2.0**100).astype(np.float32)
    w = random.integers(1, 9, (33, 1, 3, 3)).astype(np.float32)
    w[::2] *= np.float32(2.0**-131)
    b = np.arange(33).astype(np.float32)
    weights = {"w": w, "b": b}
    usual = stepwell.compile(DEPTHWISE, weights=weights, cache=False)(x)[0]
    strict = stepwell.compile(DEPTHWISE, weights=weights, cache=False, numerics="strict")(x)[0]
    wide = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    sums = sum(wide[:, :, i : i + 9, j : j + 9] * w[None, :, 0, i, j, None, None] for i in range(3) for j in range(3))
    expected = sums + b[None, :, None, None]
    np.testing.assert_allclose(strict, expected, rtol=1e-6)
    np.testing.assert_allclose(usual[:, 1::2], expected[:, 1::2], rtol=1e-6)
    np.testing.assert_array_equal(usual[:, ::2], np.broadcast_to(b[::2, None, None], (1, 17, 9, 9)))
