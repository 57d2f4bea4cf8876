"""
Products of bf16 with weights in pairs of steps, against NumPy in double precision.

Their sums are f32, which is all that they round before the result. Subnormal numbers count in full.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from named_machines import as_machine, runs_here

Array = np.ndarray[Any, Any]
MACHINES = [name for name in ("x86-64-v3", "x86-64-v4") if runs_here(name)]


def numbers(seed: int, *sizes: int) -> Array:
    return np.random.default_rng(seed).standard_normal(sizes).astype(ml_dtypes.bfloat16)


def near(found: Array, expected: Array, size: Array) -> None:
    """Compares bf16 with what they are rounded from. `size` are sums of absolute products, of which f32 lose 2**-20."""
    bound = np.abs(expected) * 2.0**-8 + size * 2.0**-20
    assert (np.abs(found.astype(np.float64) - expected) <= bound).all()


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("sizes", [(37, 66, 70), (130, 2048, 100), (3, 30, 17)])
def test_products(machine: str, sizes: tuple[int, int, int]) -> None:
    """Steps that are no multiple of four, narrow last panels, and panels in parts of the sum."""
    rows, depth, columns = sizes
    x, w = numbers(0, rows, depth), numbers(1, depth, columns)
    w[:, 0], x[0] = 2.0**-130, 4.0
    text = f"""func.func @main(%x: tensor<{rows}x{depth}xbf16>) -> tensor<{rows}x{columns}xbf16> {{
      %w = graph.weight "w" : tensor<{depth}x{columns}xbf16>
      %y = graph.matmul %x, %w : (tensor<{rows}x{depth}xbf16>, tensor<{depth}x{columns}xbf16>)
      func.return %y : tensor<{rows}x{columns}xbf16>
    }}"""
    with as_machine(machine):
        (found,) = stepwell.compile(text, weights={"w": w}, cache=False, threads=1, tuning=False, numerics="strict")(x)
    wide, factors = x.astype(np.float64), w.astype(np.float64)
    near(found[:, 1:], (wide @ factors)[:, 1:], (abs(wide) @ abs(factors))[:, 1:])
    near(found[:1, :1], np.array([[4.0 * depth * 2.0**-130]]), np.zeros((1, 1)))


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("stride", [1, 2])
def test_convolutions(stride: int) -> None:
    """Tiles at the borders of the image, of which some rows take part."""
    x, w = numbers(2, 1, 9, 11, 18), numbers(3, 3, 3, 18, 40)
    high, wide = -(-9 // stride), -(-11 // stride)
    text = f"""func.func @main(%x: tensor<1x9x11x18xbf16>) -> tensor<1x{high}x{wide}x40xbf16> {{
      %w = graph.weight "w" : tensor<3x3x18x40xbf16>
      %y = graph.conv2d %x, %w, strides = [{stride}, {stride}], padding = [1, 1, 1, 1], data_layout = "NHWC",
          kernel_layout = "HWIO" : (tensor<1x9x11x18xbf16>, tensor<3x3x18x40xbf16>)
      func.return %y : tensor<1x{high}x{wide}x40xbf16>
    }}"""
    (found,) = stepwell.compile(text, weights={"w": w}, cache=False, threads=1, tuning=False, numerics="strict")(x)
    padded = np.pad(x.astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
    taps = [(dy, dx) for dy in range(3) for dx in range(3)]
    seen = [padded[:, dy : dy + 9 : stride, dx : dx + 11 : stride] for dy, dx in taps]
    factors = [w[tap].astype(np.float64) for tap in taps]
    expected, size = (
        np.sum([each(a) @ each(b) for a, b in zip(seen, factors, strict=True)], axis=0) for each in (np.asarray, np.abs)
    )
    near(found, expected, size)
