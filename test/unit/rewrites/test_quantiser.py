"""Grids, observers, equalisation and bias correction against NumPy written anew; every message of the quantiser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import StepwellError, render
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.errors import diagnostic_of
from stepwell.core.text.parsing import make_context, parse
from stepwell.core.weights import write_weights
from stepwell.reference.run import run
from stepwell.rewrites.calibration.names import value_names
from stepwell.rewrites.calibration.statistics import TensorStatistics, save_statistics
from stepwell.rewrites.quantiser.grids import Grid, grid_of, quantized_weights
from stepwell.rewrites.quantiser.layers import entry_of
from stepwell.rewrites.quantiser.observers import observed_grid, outside
from stepwell.runtime.calibration.values import calibrate_values
from xdsl.utils.exceptions import DiagnosticException

OBSERVERS = ("min-max", "moving-average", "percentile", "entropy", "mse")


def statistics_of(*arrays: Any) -> TensorStatistics:
    statistics = TensorStatistics("tensor<?xf32>")
    for array in arrays:
        statistics.update(np.asarray(array, np.float32))
    return statistics


# Grids


@pytest.mark.parametrize("low, high", [(-1.0, 3.0), (0.0, 6.0), (2.0, 5.0), (-7.0, -1.0), (-1e-3, 1e3), (0.0, 0.0)])
@pytest.mark.parametrize("symmetric", [False, True])
def test_a_grid_reaches_over_its_range_and_has_zero(low: float, high: float, symmetric: bool) -> None:
    grid = grid_of(low, high, symmetric=symmetric)
    assert grid.low - grid.scale / 2 <= min(low, 0) and max(high, 0) <= grid.high + grid.scale / 2
    assert grid.rounded(np.zeros(1)) == 0
    assert (grid.zero_point == 0) if symmetric else (-128 <= grid.zero_point <= 127)
    steps = 254 if symmetric else 255
    wide = 2 * max(-low, high) if symmetric else max(high, 0) - min(low, 0)
    assert grid.scale == pytest.approx(wide / steps if wide else 1.0)


@pytest.mark.parametrize("high", [1e-42, 1e-30, 1e38])
def test_scales_are_normal_numbers(high: float) -> None:
    assert 2.0**-100 < grid_of(0.0, high, symmetric=False).scale < 2.0**100


def test_weights_have_a_scale_for_each_channel() -> None:
    random = np.random.default_rng(0)
    weights = (random.standard_normal((5, 3, 2, 2)) * 10.0 ** np.arange(-2, 3)[:, None, None, None]).astype(np.float32)
    weights[3] = 0
    steps, scales = quantized_weights(weights, 0)
    assert steps.dtype == np.int8 and steps.min() >= -127 and scales[3] == 1
    for channel in range(5):
        off = np.abs(steps[channel] * scales[channel] - weights[channel])
        assert off.max() <= scales[channel] / 2 * 1.0001
        assert channel == 3 or np.abs(steps[channel]).max() == 127


# Observers


def test_the_extremes_of_observers() -> None:
    random = np.random.default_rng(1)
    batches = [random.standard_normal(4000), random.standard_normal(4000) * 2]
    statistics, every = statistics_of(*batches), np.concatenate(batches).astype(np.float32)
    found = {name: observed_grid(statistics, name, 99.0, symmetric=False) for name in OBSERVERS}
    step = statistics.histogram.width + found["min-max"].scale  # pyright: ignore[reportOptionalMemberAccess]
    assert found["min-max"].high == pytest.approx(every.max(), abs=step)
    mean = np.mean([batch.max() for batch in batches])
    assert found["moving-average"].high == pytest.approx(mean, abs=step)
    assert found["percentile"].high == pytest.approx(np.percentile(every, 99), abs=step)
    for name in ("percentile", "moving-average"):
        assert outside(statistics, found[name]) == pytest.approx(
            np.mean((every > found[name].high) | (every < found[name].low)), abs=0.003
        )
    assert outside(statistics, found["min-max"]) == 0


def squared_error(grid: Grid, x: Any) -> float:
    return float(np.square(grid.rounded(x) - x).mean())


def test_mse_finds_what_no_other_range_beats() -> None:
    x = np.random.default_rng(2).standard_t(4, 20000).astype(np.float32)
    found = observed_grid(statistics_of(x), "mse", 0, symmetric=True)
    tried = [grid_of(-high, high, symmetric=True) for high in np.linspace(0.1, 1, 80) * np.abs(x).max()]
    assert squared_error(found, x) <= 1.02 * min(squared_error(grid, x) for grid in tried)


def test_entropy_cuts_long_tails_and_leaves_short_ones() -> None:
    random = np.random.default_rng(3)
    longest = np.append(random.standard_normal(50000), [300.0, -300.0])
    found = observed_grid(statistics_of(longest), "entropy", 0, symmetric=False)
    assert found.high < 150
    found = observed_grid(statistics_of(np.maximum(random.uniform(-1, 1, 50000), 0)), "entropy", 0, symmetric=False)
    assert found.high > 0.95


@pytest.mark.parametrize("observer", OBSERVERS)
@pytest.mark.parametrize("number", [0.0, 3.0, -2.0])
def test_a_value_that_is_always_the_same_is_exact_enough(observer: str, number: float) -> None:
    grid = observed_grid(statistics_of(np.full(9, number)), observer, 99.9, symmetric=False)
    assert np.abs(grid.rounded(np.float32(number)) - number) <= abs(number) / 2**7


# Programs

CONVOLUTIONS = """
func.func @main(%x: tensor<2x3x8x8xf32>) -> tensor<2x6x8x8xf32> {
  %w1 = graph.weight "w1" : tensor<8x3x3x3xf32>
  %c1 = graph.conv2d %x, %w1, padding = [1, 1, 1, 1] : (tensor<2x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<2x8x8x8xf32>
  %b1 = graph.weight "b1" : tensor<1x8x1x1xf32>
  %0 = graph.add %b1, %c1 : (tensor<1x8x1x1xf32>, tensor<2x8x8x8xf32>) -> tensor<2x8x8x8xf32>
  %r1 = graph.leaky_relu %0 : (tensor<2x8x8x8xf32>) -> tensor<2x8x8x8xf32>
  %w2 = graph.weight "w2" : tensor<8x1x3x3xf32>
  %c2 = graph.conv2d %r1, %w2, padding = [1, 1, 1, 1], groups = 8
      : (tensor<2x8x8x8xf32>, tensor<8x1x3x3xf32>) -> tensor<2x8x8x8xf32>
  %w3 = graph.weight "w3" : tensor<6x8x1x1xf32>
  %c3 = graph.conv2d %c2, %w3 : (tensor<2x8x8x8xf32>, tensor<6x8x1x1xf32>) -> tensor<2x6x8x8xf32>
  func.return %c3 : tensor<2x6x8x8xf32>
}
"""


def weights_of(seed: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    shapes = {"w1": (8, 3, 3, 3), "b1": (1, 8, 1, 1), "w2": (8, 1, 3, 3), "w3": (6, 8, 1, 1)}
    sizes = {name: np.exp2(random.uniform(-6, 6, (shape[0], *[1] * 3))) for name, shape in shapes.items()}
    return {name: (random.standard_normal(shape) * sizes[name]).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture
def convolutions(tmp_path: Path) -> Path:
    write_weights(tmp_path / "m.safetensors", weights_of(4))
    path = tmp_path / "m.mlir"
    path.write_text(f'builtin.module attributes {{stepwell.weights = "m.safetensors"}} {{{CONVOLUTIONS}}}')
    return path


def passed(path: Path, pipeline: str) -> Any:
    module = parse(path)
    run_pipeline(make_context(), module, pipeline)
    return module


def test_equalised_layers_give_the_bits_that_they_gave(convolutions: Path) -> None:
    module = passed(convolutions, "equalize-layers")
    x = np.random.default_rng(5).standard_normal((2, 3, 8, 8)).astype(np.float32)
    (wanted,) = run(parse(convolutions), "main", x, weights=weights_of(4))
    (found,) = run(module, "main", x)
    assert (found == wanted).all()
    largest = [np.abs(array).max((1, 2, 3)) for array in _constants(module, 4) if array.shape[1] != 8]
    spread_of = [each.max() / each.min() for each in largest]
    assert max(spread_of) < max(w.max((1, 2, 3)).max() / np.abs(w).max((1, 2, 3)).min() for w in weights_of(4).values())


def _constants(module: Any, rank: int) -> list[Any]:
    from stepwell.rewrites.constants.constant_values import array_of

    found = [array_of(op) for op in module.walk() if op.name == "graph.constant"]
    return [each for each in found if each.ndim == rank and each.dtype == np.float32 and each.shape[0] != 1]


def quantised_by_hand(x: Any, scale: float, zero: int) -> Any:
    steps = np.clip(np.rint(x.astype(np.float64) / scale) + zero, -128, 127)
    return (steps - zero) * scale


CORRECTED = """
func.func @main(%x: tensor<4x4x12x12xf32>) -> (tensor<4x6x10x10xf32>, tensor<1152x5xf32>) {
  %w = graph.weight "w" : tensor<6x2x3x3xf32>
  %c = graph.conv2d %x, %w, groups = 2 : (tensor<4x4x12x12xf32>, tensor<6x2x3x3xf32>) -> tensor<4x6x10x10xf32>
  %f = graph.reshape %x, shape = [1152, 2] : (tensor<4x4x12x12xf32>) -> tensor<1152x2xf32>
  %v = graph.weight "v" : tensor<2x5xf32>
  %b = graph.weight "b" : tensor<5xf32>
  %p = graph.matmul %f, %v : (tensor<1152x2xf32>, tensor<2x5xf32>) -> tensor<1152x5xf32>
  %y = graph.add %p, %b : (tensor<1152x5xf32>, tensor<5xf32>) -> tensor<1152x5xf32>
  func.return %c, %y : tensor<4x6x10x10xf32>, tensor<1152x5xf32>
}
"""


def test_the_means_of_channels_are_right_after_bias_correction(tmp_path: Path) -> None:
    """The input lies on its grid, so that only weights are rounded: means over all data are as before."""
    random = np.random.default_rng(6)
    x = random.integers(-100, 127, (4, 4, 12, 12)).astype(np.float32)
    x[:, 1] += x[:, 1] < 0
    x.flat[0], x.flat[1] = -128, 127
    shapes = {"w": (6, 2, 3, 3), "v": (2, 5), "b": (5,)}
    weights = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    weights["w"][:, :, 0, 0] = 3  # so that others are rounded coarsely
    write_weights(tmp_path / "m.safetensors", weights)
    path = tmp_path / "m.mlir"
    path.write_text(f'builtin.module attributes {{stepwell.weights = "m.safetensors"}} {{{CORRECTED}}}')
    table = tmp_path / "s.json"
    save_statistics(table, calibrate_values(path, [{"x": x}], cache=False))
    wanted = run(parse(path), "main", x, weights=weights)
    off: dict[str, Any] = {}
    for flag in ("true", "false"):
        module = passed(path, f'quantize{{table="{table}" bias-correction={flag}}}')
        conv, rows = run(module, "main", x, weights=weights)
        errors = (conv - wanted[0]).mean((0, 2, 3), dtype=np.float64), (rows - wanted[1]).mean(0, dtype=np.float64)
        off[flag] = [np.abs(each).max() for each in errors]
    assert off["true"][0] < 0.2 * off["false"][0]  # Not all elements are in as many windows.
    assert off["true"][1] <= 1e-4 < 0.01 < off["false"][1]


def test_a_quantised_layer_is_that_of_rounded_operands(tmp_path: Path) -> None:
    """The program against products of operands that are rounded here, in float64."""
    random = np.random.default_rng(7)
    w = random.standard_normal((16, 5)).astype(np.float32)
    x = [random.standard_normal((4, 16)).astype(np.float32) for _ in range(4)]
    builder = stepwell.GraphBuilder()
    from stepwell.dialects import graph

    with builder.function("main", x="tensor<4x16xf32>") as (value,):
        kernel = builder.emit(graph.ConstantOp.from_array(w))
        builder.emit_func_output(builder.emit(graph.MatmulOp(value, kernel)))
    module = builder.get()
    save_statistics(tmp_path / "s.json", calibrate_values(module, [{"x": each} for each in x], cache=False))
    run_pipeline(make_context(), module, f'quantize{{table="{tmp_path}/s.json" bias-correction=false}}')
    every = np.concatenate(x)
    scale = np.float32((every.max() - every.min()) / 255)
    zero = round(-128 - every.min() / scale)
    scales = np.abs(w).max(0) / 127
    for each in x:
        wanted = quantised_by_hand(each, scale, zero) @ (np.rint(w / scales) * scales)
        np.testing.assert_allclose(run(module, "main", each)[0], wanted, rtol=1e-5, atol=1e-5)


def test_names_are_those_of_the_text() -> None:
    text = """
    func.func @main(%x: tensor<4xf32>, %0: tensor<4xf32>) -> tensor<4xf32> {
      %a = graph.add %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = graph.exp %a : (tensor<4xf32>) -> tensor<4xf32>
      %a_1 = graph.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
      %2 = graph.exp %a_1 : (tensor<4xf32>) -> tensor<4xf32>
      func.return %2 : tensor<4xf32>
    }
    """
    module = parse(text)
    from io import StringIO

    from xdsl.printer import Printer

    stream = StringIO()
    Printer(stream).print_op(module)
    printed = re.findall(r"%([\w$.-]+)(?: =|: tensor)", stream.getvalue())
    assert list(value_names(entry_of(module, "main")).values()) == printed


# Messages

LAYER = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = graph.full 1.0 : tensor<8x8xf32>
  %y = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
"""


def refusal(pipeline: str, text: str = LAYER) -> str:
    with pytest.raises((StepwellError, DiagnosticException)) as caught:
        run_pipeline(make_context(), parse(text), pipeline)
    return render(diagnostic_of(caught.value))


def table_of(tmp_path: Path, values: dict[str, TensorStatistics], entry: str = "main") -> str:
    save_statistics(tmp_path / "t.json", {entry: {"values": values}})
    return f'table="{tmp_path}/t.json"'


@pytest.mark.parametrize(
    "options, message",
    [
        ("", "there is neither a table of ranges nor a type for weights alone"),
        ("weights=int5", "weights is 'int5', expected one of int8, int4"),
        ('table="t.json" weights=int4', "weights are int4 and there is a table, but products of bytes have int8"),
        ("observer=minmax weights=int8", "observer is 'minmax', expected one of min-max, moving-average, percentile,"),
        ("activations=none weights=int8", "activations is 'none', expected one of asymmetric, symmetric"),
        ("percentile=50 weights=int8", "percentile is 50.0, expected a number above 50, and at most 100"),
        ('table="nowhere.json"', "cannot read 'nowhere.json'"),
    ],
)
def test_options_that_are_wrong(options: str, message: str) -> None:
    assert message in refusal(f"quantize{{{options}}}" if options else "quantize")


def statistics(type_: str, *values: float) -> TensorStatistics:
    found = TensorStatistics(type_)
    found.update(np.array(values, np.float32))
    return found


def test_tables_that_are_of_something_else(tmp_path: Path) -> None:
    own = statistics("tensor<4x8xf32>", 1.0, 2.0)
    options = table_of(tmp_path, {"x": own}, "other")
    found = refusal(f"quantize{{{options}}}")
    assert "has no values of @main" in found and "it has those of @other; stepwell calibrate --values" in found
    save_statistics(tmp_path / "g.json", {"g0": {"inputs": [own], "outputs": []}})
    assert "it has none of any function" in refusal(f'quantize{{table="{tmp_path}/g.json"}}')
    assert "has no value %x" in refusal(f"quantize{{{table_of(tmp_path, {'y': own})}}}")
    assert "did you mean 'xx'" in refusal(f"quantize{{{table_of(tmp_path, {'xx': own})}}}")
    other = statistics("tensor<8x8xf32>", 1.0)
    found = refusal(f"quantize{{{table_of(tmp_path, {'x': other})}}}")
    assert "%x is tensor<4x8xf32>, but table" in found and "has a tensor<8x8xf32>" in found
    empty = statistics("tensor<4x8xf32>", np.nan)
    assert "knows no finite element of %x" in refusal(f"quantize{{{table_of(tmp_path, {'x': empty})}}}")


def test_layers_that_are_not_there(tmp_path: Path) -> None:
    options = table_of(tmp_path, {"x": statistics("tensor<4x8xf32>", 1.0)})
    found = refusal(f'quantize{{{options} keep="conv*"}}')
    assert "no layer is called 'conv*', which is to be kept in floats" in found and "its layers are %y" in found
    assert "'pool' is no kind of layer, expected one of matmul, conv2d" in refusal(
        f"quantize{{{options} keep-kinds=pool}}"
    )
    assert "there is no func.func @mian of one block" in refusal(f"quantize{{{options} entry=mian}}")
    assert "there is no func.func @mian of one block" in refusal("equalize-layers{entry=mian}")
