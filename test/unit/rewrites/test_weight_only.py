"""Weights alone quantised: the nearest numbers of their grids, programs that compute with them, and what is refused."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import StepwellError, listening
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.core.weights import write_weights
from stepwell.rewrites.quantiser.weight_only import packed_weights
from xdsl.utils.exceptions import DiagnosticException

MATRIX = np.random.default_rng(0).standard_normal((70, 9)).astype(np.float32)


def dense(matrix: np.ndarray) -> str:
    """The matrix as the elements of a constant."""
    return f"dense<[{', '.join(str(list(map(float, row))) for row in matrix)}]>"


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


SKEWED = MATRIX + np.where(np.arange(70) < 32, -3, 3)[:, None].astype(np.float32)
"""Numbers that are mostly below 0 in the first half of a column, and mostly above 0 in the other."""


@pytest.mark.parametrize(("bits", "block"), [(4, 16), (4, 64), (8, 32)])
def test_zero_points_are_those_of_the_range_of_each_block(bits: int, block: int) -> None:
    """Against a loop over the blocks: the range has 0 in it, which is an integer exactly."""
    weights = packed_weights(SKEWED, bits, block, zero_points=True)
    numbers = weights.packed if bits == 8 else np.stack([weights.packed % 16, weights.packed // 16], -1).reshape(9, -1)
    assert isinstance(weights.zero_point, np.ndarray) and weights.zero_point.dtype == np.uint8
    for output in range(9):
        for number, start in enumerate(range(0, 70, block)):
            part = [float(each) for each in SKEWED[start : start + block, output]]
            low, high = min([*part, 0.0]), max([*part, 0.0])
            scale = float(np.float32((high - low) / (2**bits - 1)))
            zero = round(-low / scale)
            found = [max(0, min(2**bits - 1, round(each / scale) + zero)) for each in part]
            assert weights.scale[output, number] == np.float32(scale) and weights.zero_point[output, number] == zero
            assert list(numbers[output, start : start + len(part)]) == found
            real = weights.real(70)[start : start + block, output]
            # The zero point is rounded too, so the numbers at the ends may be one step off.
            np.testing.assert_allclose(real, part, rtol=0, atol=1.0000001 * scale)


@pytest.mark.parametrize("compensated", [False, True])
@pytest.mark.parametrize("bits", [4, 8])
def test_zero_points_halve_the_error_of_skewed_weights(bits: int, compensated: bool) -> None:
    x = correlated(300, 70)
    moments = x.T @ x if compensated else None
    errors = [
        np.linalg.norm(x @ (packed_weights(SKEWED, bits, 16, moments, zero_points=each).real(70) - SKEWED))
        for each in (False, True)
    ]
    assert errors[1] < 0.6 * errors[0]


@pytest.mark.parametrize("number", [0.0, 2.5, -2.5, 3e38, 1e-45])
def test_blocks_of_one_number_with_zero_points(number: float) -> None:
    wanted = np.full((40, 3), number, np.float32)
    found = packed_weights(wanted, 4, 32, zero_points=True).real(40)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=2e-45)
    mixed = wanted * np.where(np.arange(40) % 2, 1, -1)[:, None]
    found = packed_weights(mixed, 4, 32, zero_points=True).real(40)
    np.testing.assert_allclose(found, mixed, rtol=0.07, atol=2e-45)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(
    ("weights", "options", "error"),
    [("int4", "", 0.1), ("int8", "", 0.007), ("int4", " zero-points", 0.1), ("int8", " zero-points", 0.007)],
)
def test_a_program_with_packed_weights(weights: str, options: str, error: float) -> None:
    module = parse(f"""
func.func @main(%x: tensor<2x5x70xf32>) -> tensor<2x5x9xf32> {{
  %w = graph.constant {dense(MATRIX)} : tensor<70x9xf32>
  %y = graph.matmul %x, %w : (tensor<2x5x70xf32>, tensor<70x9xf32>) -> tensor<2x5x9xf32>
  func.return %y : tensor<2x5x9xf32>
}}""")
    run_pipeline(make_context(), module, f"quantize{{weights={weights} block=32{options}}}")
    compiled = stepwell.compile(module, cache=False)
    assert ("nibbles" in compiled.ir("scf")) == (weights == "int4")
    x = np.random.default_rng(1).standard_normal((2, 5, 70)).astype(np.float32)
    real = packed_weights(MATRIX, 4 if weights == "int4" else 8, 32, zero_points=bool(options)).real(70)
    np.testing.assert_allclose(compiled(x)[0], x @ real, rtol=1e-4, atol=1e-5)
    wanted = x @ MATRIX
    assert np.sqrt(np.mean((compiled(x)[0] - wanted) ** 2) / np.mean(wanted**2)) < error


@pytest.mark.parametrize(("weights", "constants"), [("int8", 2), ("int4", 2), ("f16", 1)])
def test_a_matrix_that_several_layers_read_is_one_constant(weights: str, constants: int) -> None:
    square = MATRIX[:64, :8] @ MATRIX[:64, :8].T / 64
    text = f"""
func.func @main(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {{
  %w = graph.constant {dense(square)} : tensor<64x64xf32>
  %v = graph.constant {dense(square)} : tensor<64x64xf32>
  %0 = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %1 = graph.tanh %0 : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %2 = graph.matmul %1, %v : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  func.return %2 : tensor<4x64xf32>
}}"""
    x = np.random.default_rng(1).standard_normal((4, 64)).astype(np.float32)
    found = stepwell.quantize(parse(text), [{"x": x}], weights=weights)
    assert str(found.module).count("graph.constant") == constants
    wanted = np.tanh(x @ square) @ square
    np.testing.assert_allclose(found.compile(cache=False)(x)[0], wanted, atol=0.1 * np.abs(wanted).max())


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


# Rounding that makes up for its errors


def correlated(rows: int, inputs: int) -> np.ndarray:
    """Returns inputs that depend on each other, as those of trained layers do."""
    random = np.random.default_rng(2)
    base = random.standard_normal((inputs, max(inputs // 4, 1)))
    return random.standard_normal((rows, base.shape[1])) @ base.T + 0.3 * random.standard_normal((rows, inputs))


@pytest.mark.parametrize("bits, block", [(4, 16), (4, 32), (8, 64)])
def test_compensation_more_than_halves_the_error_of_results(bits: int, block: int) -> None:
    x = correlated(300, 70)
    nearest = packed_weights(MATRIX, bits, block).real(70)
    compensated = packed_weights(MATRIX, bits, block, x.T @ x).real(70)
    errors = [np.linalg.norm(x @ (each - MATRIX)) for each in (nearest, compensated)]
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.parametrize("zero_points", [False, True])
@pytest.mark.parametrize("moments", [np.eye(70), np.zeros((70, 70)), 3e30 * np.eye(70)])
def test_inputs_that_tell_nothing_of_each_other_give_the_nearest(moments: np.ndarray, zero_points: bool) -> None:
    wanted, found = (packed_weights(SKEWED, 4, 32, each, zero_points=zero_points) for each in (None, moments))
    assert (wanted.packed == found.packed).all() and (wanted.scale == found.scale).all()
    assert np.array_equal(wanted.zero_point, found.zero_point)


@pytest.mark.parametrize("zero_points", [False, True])
def test_compensation_is_what_its_definition_says(zero_points: bool) -> None:
    """One output and one block: after each weight the others are solved for anew, by least squares."""
    x = correlated(50, 16)
    weights, moments = MATRIX[:16, :1], x.T @ x
    damped = moments + 0.01 * np.diag(moments).mean() * np.eye(16)
    plain = packed_weights(weights, 4, 16, zero_points=zero_points)
    scale, zero = float(plain.scale[0, 0]), int(np.ravel(plain.zero_point)[0])
    assert zero_points == (zero != 8)
    left, numbers = weights[:, 0].astype(np.float64), np.zeros(16)
    for i in range(16):
        numbers[i] = np.clip(np.rint(left[i] / scale), -zero, 15 - zero)
        error = left[i] - numbers[i] * scale
        # The error e of the weights costs eᵀ H e. With e[i] given, the rest is least where its gradient is 0.
        rest = damped[i + 1 :, i + 1 :]
        left[i + 1 :] += np.linalg.solve(rest, damped[i + 1 :, i] * error) if i < 15 else 0
    found = packed_weights(weights, 4, 16, moments, zero_points=zero_points)
    np.testing.assert_allclose(found.real(16)[:, 0], numbers * scale, rtol=1e-6, atol=1e-7)


PRODUCT = """func.func @main(%x: tensor<4x70xf32>) -> tensor<4x9xf32> {
  %w = graph.constant dense<0x3F800000> : tensor<70x9xf32>
  %y = graph.matmul %x, %w : (tensor<4x70xf32>, tensor<70x9xf32>) -> tensor<4x9xf32>
  func.return %y : tensor<4x9xf32>
}"""


@pytest.mark.parametrize(
    "moments, message",
    [
        ({"z": np.eye(70)}, "there are no second moments of %x"),
        ({"x": np.eye(9)}, "the second moments of %x are 9x9, expected 70x70"),
        ({"x": np.full((70, 70), np.nan)}, "the second moments of %x are not all finite"),
    ],
)
def test_moments_that_do_not_fit(moments: dict[str, np.ndarray], message: str, tmp_path: Path) -> None:
    file = tmp_path / "moments.safetensors"
    write_weights(file, moments)
    with pytest.raises(DiagnosticException, match=message):
        run_pipeline(make_context(), parse(PRODUCT), f'quantize{{weights=int4 moments="{file}"}}')


def test_a_table_and_moments_are_refused() -> None:
    with pytest.raises(StepwellError, match="quantize: there are a table of ranges and second moments, expected one"):
        run_pipeline(make_context(), parse(PRODUCT), 'quantize{table="t.json" moments="m.safetensors"}')


def test_a_table_and_zero_points_are_refused() -> None:
    message = "quantize: there are a table of ranges and zero points of weights, expected one of them"
    with pytest.raises(StepwellError, match=message):
        run_pipeline(make_context(), parse(PRODUCT), 'quantize{table="t.json" zero-points}')


# Half floats


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("rows", [1, 5])
def test_half_floats_stay_in_memory_and_sums_are_of_f32(dtype: str, rows: int) -> None:
    module = parse(PRODUCT.replace("tensor<4x", f"tensor<{rows}x").replace("dense<0x3F800000>", dense(MATRIX)))
    run_pipeline(make_context(), module, f"quantize{{weights={dtype}}}")
    compiled = stepwell.compile(module, cache=False)
    (product,) = [line for line in compiled.ir("scf").splitlines() if "func.func private @matmul(" in line]
    assert f"x{dtype}>" in product.split("%out")[0]
    x = np.random.default_rng(1).standard_normal((rows, 70)).astype(np.float32)
    halves = MATRIX.astype(np.float16 if dtype == "f16" else ml_dtypes.bfloat16).astype(np.float64)
    np.testing.assert_allclose(compiled(x)[0], x.astype(np.float64) @ halves, rtol=2e-5, atol=2e-5)


def test_weights_beyond_the_greatest_half_float_stay() -> None:
    module = parse(PRODUCT.replace("dense<0x3F800000>", "dense<1.0e+05>"))
    found: list[str] = []
    with listening(lambda diagnostic: found.append(str(diagnostic))):
        run_pipeline(make_context(), module, "quantize{weights=f16}")
    assert "xf16>" not in str(module)
    assert any("the weights of %y stay in floats: some are beyond the greatest f16" in each for each in found)


@pytest.mark.parametrize("option, name", [("zero-points", "zero_points"), ("block=64", "block")])
def test_options_of_integers_are_refused_for_half_floats(option: str, name: str) -> None:
    with pytest.raises(StepwellError, match=f"quantize: {name} is for integers, and weights are 'bf16'"):
        run_pipeline(make_context(), parse(PRODUCT), f"quantize{{weights=bf16 {option}}}")
