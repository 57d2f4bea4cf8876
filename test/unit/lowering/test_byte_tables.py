"""Tables of bytes in registers against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell.machine.host import host_machine

TARGETS = ["host", *(["x86-64-v4"] if host_machine().has_wide_registers else [])]
"""With permutations where the machine has them, and with shuffles alone."""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(3, 64), (2, 200), (5, 127), (1031,)])
def test_every_byte(target: str, shape: tuple[int, ...]) -> None:
    sizes = "x".join(str(size) for size in shape)
    text = f"""func.func @main(%x: tensor<{sizes}xui8>, %t: tensor<256xui8>) -> tensor<{sizes}xui8> {{
      %y = graph.take %t, %x, axis = 0 : (tensor<256xui8>, tensor<{sizes}xui8>) -> tensor<{sizes}xui8>
      func.return %y : tensor<{sizes}xui8>
    }}"""
    random = np.random.default_rng(3)
    table = random.permutation(256).astype(np.uint8)
    x = random.integers(0, 256, shape, np.uint8)
    x.ravel()[: min(x.size, 256)] = np.arange(min(x.size, 256))
    found = stepwell.compile(text, target=target, cache=False)(x, table)[0]
    np.testing.assert_array_equal(found, table[x])
