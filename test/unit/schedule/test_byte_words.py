"""
Bytes multiplied in 16 bits, on targets of x86-64 without dot products: by `vpmaddwd` of operands that are extended in
registers, for few rows, or in memory. All sums are those of NumPy.
"""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from counts import FULL
from named_machines import runs_here
from stepwell.machine.host import host_machine

TARGETS = ("x86-64", "x86-64-v3", "x86-64-v4")

DTYPES = {"s": ("i8", np.int8), "u": ("ui8", np.uint8)}
ROWS = (1, 3, 15, 16, 33) if FULL else (3, 17)
DEPTHS = (64, 65, 67, 130) if FULL else (67,)

pytestmark = pytest.mark.skipif(not host_machine().code_target.is_x86_64, reason="runs code for x86-64")


def drawn(sign: str, shape: tuple[int, ...]) -> np.ndarray:
    """Returns bytes with both ends of their range side by side, whose products are the greatest."""
    limits = np.iinfo(DTYPES[sign][1])
    array = np.random.default_rng(len(shape)).integers(limits.min, limits.max, shape, DTYPES[sign][1], endpoint=True)
    array.flat[: array.size // 3] = limits.min
    array.flat[array.size // 3 : array.size // 2] = limits.max
    return array


def compiled(text: str, target: str, weights: dict[str, np.ndarray]) -> stepwell.Executable:
    if not runs_here(target):
        pytest.skip(f"this processor cannot run code for {target}")
    found = stepwell.compile(text, weights=weights, target=target, threads=1, cache=False)
    assert "pmaddwd" in found.ir("asm")
    return found


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("signs", ["ss", "su", "us", "uu"])
@pytest.mark.parametrize("target", TARGETS)
def test_products_with_weights_are_exact(target: str, signs: str, rows: int, depth: int) -> None:
    (left, _), (right, _) = (DTYPES[sign] for sign in signs)
    sums = "ui32" if signs == "uu" else "i32"
    text = f"""
    func.func @main(%x: tensor<{rows}x{depth}x{left}>) -> tensor<{rows}x70x{sums}> {{
      %w = graph.weight "w" : tensor<{depth}x70x{right}>
      %y = graph.matmul %x, %w, out_dtype = {sums}
          : (tensor<{rows}x{depth}x{left}>, tensor<{depth}x70x{right}>) -> tensor<{rows}x70x{sums}>
      func.return %y : tensor<{rows}x70x{sums}>
    }}"""
    x, w = drawn(signs[0], (rows, depth)), drawn(signs[1], (depth, 70))
    (found,) = compiled(text, target, {"w": w})(x)
    np.testing.assert_array_equal(found, x.astype(np.int64) @ w.astype(np.int64))
