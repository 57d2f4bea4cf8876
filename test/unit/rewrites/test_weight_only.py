"""Weights alone quantised: the nearest numbers of their grids, programs that compute with them, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.rewrites.quantiser.weight_only import packed_weights

MATRIX = np.random.default_rng(0).standard_normal((70, 9)).astype(np.float32)


@pytest.mark.parametrize(("bits", "block"), [(4, 16), (4, 64), (8, 32)])
def test_numbers_are_the_nearest_of_their_grid(bits: int, block: int) -> None:
    weights = packed_weights(MATRIX, bits, block)
    assert weights.packed.shape == (9, -(-70 // block) * block * bits // 8)
    steps = np.abs(np.repeat(weights.scale, block, axis=1)[:, :70].T)
    error = np.abs(weights.real(70) - MATRIX)
    # The number opposite to the one farthest from 0 may be one step beyond the grid.
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    signed = MATRIX / np.repeat(weights.scale, block, axis=1)[:, :70].T
    inside = signed <= most + 0.5
    assert (error <= steps * 0.5000001)[inside].all() and (error <= steps * 1.0000001).all()
    assert signed.min() >= least - 1e-4 and not np.isnan(weights.real(70)).any()


def test_blocks_of_zeros_stay_zero() -> None:
    assert not packed_weights(np.zeros((40, 3), np.float32), 4, 32).real(40).any()


@pytest.mark.parametrize(("weights", "error"), [("int4", 0.1), ("int8", 0.007)])
def test_a_program_with_packed_weights(weights: str, error: float) -> None:
    rows = ", ".join(f"[{', '.join(map(repr, map(float, row)))}]" for row in MATRIX)
    module = parse(f"""
func.func @main(%x: tensor<2x5x70xf32>) -> tensor<2x5x9xf32> {{
  %w = graph.constant dense<[{rows}]> : tensor<70x9xf32>
  %y = graph.matmul %x, %w : (tensor<2x5x70xf32>, tensor<70x9xf32>) -> tensor<2x5x9xf32>
  func.return %y : tensor<2x5x9xf32>
}}""")
    run_pipeline(make_context(), module, f"quantize{{weights={weights} block=32}}")
    compiled = stepwell.compile(module, cache=False)
    assert ("nibbles" in compiled.ir("scf")) == (weights == "int4")
    x = np.random.default_rng(1).standard_normal((2, 5, 70)).astype(np.float32)
    real = packed_weights(MATRIX, 4 if weights == "int4" else 8, 32).real(70)
    np.testing.assert_allclose(compiled(x)[0], x @ real, rtol=1e-4, atol=1e-5)
    wanted = x @ MATRIX
    assert np.sqrt(np.mean((compiled(x)[0] - wanted) ** 2) / np.mean(wanted**2)) < error


@pytest.mark.parametrize("block", [8, 24])
def test_a_block_that_is_refused(block: int) -> None:
    module = parse("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  func.return %x : tensor<2xf32>\n}")
    message = f"quantize: block is {block}, expected a power of 2 of at least 16"
    with pytest.raises(StepwellError, match=message):
        run_pipeline(make_context(), module, f"quantize{{weights=int4 block={block}}}")


def test_weights_that_are_not_finite_stay() -> None:
    module = parse("""
func.func @main(%x: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %w = graph.constant dense<0x7F800000> : tensor<1x1xf32>
  %y = graph.matmul %x, %w : (tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  func.return %y : tensor<2x1xf32>
}""")
    run_pipeline(make_context(), module, "quantize{weights=int4}")
    assert "matmul_packed" not in str(module)
