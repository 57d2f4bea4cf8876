"""Data that the quantiser is given: batches of any kind, numbers that are not finite, and weights that are not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import listening
from stepwell.core.text.parsing import parse
from stepwell.runtime import ArgumentError, CalibrationWarning, QuantizationWarning, Quantized, calibrate_values
from stepwell.tools.calibrate import main as calibrate
from stepwell.tools.quantize import main

Array = np.ndarray[Any, Any]


def program(weights: Array) -> Any:
    return parse(f"""
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {{
      %w = graph.constant dense<"0x{weights.astype(np.float32).tobytes().hex().upper()}"> : tensor<8x8xf32>
      %y = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      func.return %y : tensor<4x8xf32>
    }}
    """)


def random(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def quantised(batches: Any, matrix: Array | None = None, **options: Any) -> Quantized:
    given = program(random(8, 8) if matrix is None else matrix)
    return stepwell.quantize(given, batches, timed=False, cache=False, **options)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("options", [{}, {"weights": "int4"}])
def test_weights_that_are_not_finite_stay_in_floats(value: float, options: dict[str, Any]) -> None:
    weights, x = random(8, 8), random(4, 8)
    weights[0, 0] = value
    told: list[str] = []
    with listening(lambda diagnostic: told.append(diagnostic.message)):
        found = quantised([{"x": x}], weights, **options)
    assert not found.report.layers[0].quantised
    assert any("the weights of %y stay in floats: they are not all finite" in each for each in told)
    np.testing.assert_array_equal(found.compile()(x)[0], stepwell.compile(program(weights), cache=False)(x)[0])


def test_data_of_arguments_of_no_axes_is_one_number_for_each_batch(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text("""
    func.func @main(%x: tensor<4x8xf32>, %s: tensor<f32>) -> tensor<4x8xf32> {
      %w = graph.full 1.0 : tensor<8x8xf32>
      %y = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %z = graph.multiply %y, %s : (tensor<4x8xf32>, tensor<f32>)
      func.return %z : tensor<4x8xf32>
    }
    """)
    np.savez(tmp_path / "d.npz", x=random(3, 4, 8), s=np.arange(3, dtype=np.float32))
    assert main([str(tmp_path / "m.mlir"), "--data", str(tmp_path / "d.npz"), "--no-times", "--no-cache"]) == 0


def buffers() -> Iterator[dict[str, Array]]:
    """Yields one dictionary of one array again and again, the widest numbers first."""
    buffer = {"x": np.empty((4, 8), np.float32)}
    for number, x in enumerate(random(3, 4, 8)):
        buffer["x"][:] = x * (10 - 3 * number)
        yield buffer


def scales(found: Quantized) -> tuple[float, ...]:
    return found.report.layers[0].scales


def test_a_buffer_that_is_filled_again_is_read_in_time() -> None:
    wanted = scales(quantised([{"x": batch["x"].copy()} for batch in buffers()]))
    assert scales(quantised(buffers())) == wanted
    assert scales(quantised(buffers(), evaluation=buffers())) == wanted


def test_batches_are_whatever_a_call_takes() -> None:
    x = random(4, 8)
    wanted = scales(quantised([{"x": x}]))
    assert scales(quantised({"x": x})) == wanted
    assert scales(quantised([{"x": x.tolist()}], evaluation={"x": x.tolist()})) == wanted
    torch = pytest.importorskip("torch")
    assert scales(quantised(iter([{"x": torch.from_numpy(x)}]))) == wanted


@pytest.mark.parametrize("data, found", [("d.npz", "a str"), (None, "a NoneType"), (3, "an int")])
def test_what_is_no_data(data: Any, found: str) -> None:
    with pytest.raises(ArgumentError, match=f"the data is {found}, expected dictionaries of arrays by argument name"):
        quantised(data)


@pytest.mark.parametrize("options", [{}, {"weights": "int4"}])
def test_data_that_is_not_finite_is_told_by_argument_and_batch(options: dict[str, Any]) -> None:
    x = random(2, 4, 8)
    x[1, 0, :3] = np.nan, np.nan, np.inf
    text = "argument 'x' of batch 2: 2 NaN and 1 infinite elements of 32 are left out"
    with pytest.warns(CalibrationWarning, match=text):
        quantised([{"x": each} for each in x], **options)
    with pytest.warns(CalibrationWarning, match=text):
        calibrate_values(program(random(8, 8)), [{"x": each} for each in x], cache=False)


def test_the_commands_tell_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.mlir").write_text(str(program(random(8, 8))))
    x = random(4, 8)
    x[0, 0] = np.inf
    np.savez(tmp_path / "d.npz", x=x)
    words = [str(tmp_path / "m.mlir"), "--data", str(tmp_path / "d.npz"), "--no-cache"]
    told = "warning: argument 'x' of batch 1: 0 NaN and 1 infinite elements of 32 are left out\n"
    assert main([*words, "--no-times"]) == 0
    assert capsys.readouterr().err == told
    assert calibrate([*words, "--values"]) == 0
    assert capsys.readouterr().err == told


def test_values_that_are_not_finite_are_told_where_data_is() -> None:
    module = parse("""
    func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
      %a = graph.log %x : (tensor<4x8xf32>)
      %y = graph.matmul %a, %w : (tensor<4x8xf32>, tensor<8x8xf32>)
      func.return %y : tensor<4x8xf32>
    }
    """)
    x = np.ones((4, 8), np.float32)
    x[0, 0] = 0
    with pytest.warns(CalibrationWarning, match="%a: 0 NaN and 1 infinite elements of 32 are left out"):
        calibrate_values(module, {"x": x, "w": random(8, 8)}, cache=False)


def test_data_wider_than_any_bytes_is_told() -> None:
    with pytest.warns(QuantizationWarning, match="%y reads numbers of up to 1e[+]33, more than bytes stand for"):
        quantised({"x": np.full((4, 8), 1e33, np.float32)})


ROWS = """
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %w = graph.full 1.0 : tensor<8x8xf32>
  %y = graph.matmul %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  func.return %y : tensor<?x8xf32>
}
"""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [{}, {"weights": "int8"}])
def test_a_batch_without_rows_is_an_error(options: dict[str, Any]) -> None:
    some, none = {"x": random(4, 8)}, {"x": random(0, 8)}
    with pytest.raises(ArgumentError, match="batch 2 has no rows: nothing flows through the layers"):
        stepwell.quantize(parse(ROWS), [some, none], timed=False, cache=False, **options)
    with pytest.raises(ArgumentError, match=r"batch 1: the result is of shape \(0, 8\), expected rows to count"):
        stepwell.quantize(parse(ROWS), [some], evaluation=[none], timed=False, cache=False, **options)


DONATED = """
func.func @main(%s: tensor<4x8xf32> {stepwell.donated}, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = graph.constant dense<"0xWEIGHTS"> : tensor<8x8xf32>
  %y = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %z = graph.add %s, %y : (tensor<4x8xf32>, tensor<4x8xf32>)
  func.return %z : tensor<4x8xf32>
}
"""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [{}, {"weights": "int8"}, {"drop": 0.01}, {"timed": True}])
def test_batches_are_left_alone_where_arguments_are_donated(options: dict[str, Any]) -> None:
    text = DONATED.replace("WEIGHTS", random(8, 8).tobytes().hex().upper())
    batches = [{"s": np.zeros((4, 8), np.float32), "x": x} for x in random(3, 4, 8)]
    given = {"timed": False, "cache": False} | options
    wanted = stepwell.quantize(parse(text.replace(" {stepwell.donated}", "")), batches, **given).report
    found = stepwell.quantize(parse(text), batches, **given).report
    assert not any(batch["s"].any() for batch in batches)
    assert found.decibels == pytest.approx(wanted.decibels) and 20 < found.decibels < 80
    assert [each.decibels for each in found.layers] == pytest.approx([each.decibels for each in wanted.layers])


def test_apart_copies_what_a_call_overwrites() -> None:
    text = DONATED.replace("WEIGHTS", random(8, 8).tobytes().hex().upper())
    program, s, x = stepwell.compile(text, cache=False), np.zeros((4, 8), np.float32), random(4, 8)
    given = program.apart(s, x)
    assert given[0] is not s and given[1] is x
    program(*given)
    assert not s.any() and given[0].any()
