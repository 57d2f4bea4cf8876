"""Products of signed bytes are exact, by whatever instructions the machine has."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell


@pytest.mark.parametrize(("m", "k", "n"), [(17, 33, 50), (16, 16, 16), (31, 66, 97), (15, 64, 64)])
def test_products_of_bytes_are_exact(m: int, k: int, n: int) -> None:
    types = f"(tensor<{m}x{k}xi8>, tensor<{k}x{n}xi8>) -> tensor<{m}x{n}xi32>"
    text = f"""func.func @main(%x: tensor<{m}x{k}xi8>, %y: tensor<{k}x{n}xi8>) -> tensor<{m}x{n}xi32> {{
  %r = graph.matmul %x, %y, out_dtype = i32 : {types}
  func.return %r : tensor<{m}x{n}xi32>
}}"""
    rng = np.random.default_rng(m)
    x, y = rng.integers(-128, 128, (m, k), dtype=np.int8), rng.integers(-128, 128, (k, n), dtype=np.int8)
    x[0], y[:, 0] = -128, -128
    found = np.asarray(stepwell.compile(text, opt_level=2, cache=False)(x, y))
    np.testing.assert_array_equal(found.reshape(m, n), x.astype(np.int32) @ y.astype(np.int32))
