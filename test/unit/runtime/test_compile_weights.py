"""`stepwell.compile` and weights: files beside a program, arrays by key, and what does not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import listening, render
from stepwell.core.weights import WeightsError, write_weights
from stepwell.runtime.errors import CompileError

WEIGHTS = """
builtin.module attributes {stepwell.weights = "w.safetensors"} {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %w = graph.weight "layer.w" : tensor<2xf32>
    %0 = graph.multiply %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    func.return %0 : tensor<2xf32>
  }
}
"""


def test_weights_come_from_the_file_beside_the_program(tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(WEIGHTS)
    write_weights(tmp_path / "w.safetensors", {"layer.w": np.array([2, 3], np.float32)})
    exe = stepwell.compile(tmp_path / "p.mlir")
    assert exe(np.array([1, 1], np.float32))[0].tolist() == [2, 3]


def test_weights_can_be_given_as_arrays() -> None:
    exe = stepwell.compile(WEIGHTS, weights={"layer.w": np.array([4, 5], np.float32)})
    assert exe(np.array([1, 1], np.float32))[0].tolist() == [4, 5]


def test_unknown_keys_among_given_weights_are_errors() -> None:
    """AUDIT B3."""
    layer = np.array([4, 5], np.float32)
    message = "the program asks for no weight 'layer.b', 'layer.v', which weights= gives; did you mean 'layer.w'"
    with pytest.raises(CompileError, match=message):
        stepwell.compile(WEIGHTS, weights={"layer.w": layer, "layer.b": layer, "layer.v": layer})
    plain = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  func.return %x : tensor<2xf32>\n}\n"
    with pytest.raises(CompileError, match="asks for no weight 'w', which weights= gives; it has no weights"):
        stepwell.compile(plain, weights={"w": layer})


def test_a_weight_that_the_optimiser_removes_may_be_given() -> None:
    text = WEIGHTS.replace("func.return", '%v = graph.weight "unused" : tensor<2xf32>\n    func.return')
    layer = np.array([4, 5], np.float32)
    exe = stepwell.compile(text, weights={"layer.w": layer, "unused": layer})
    assert exe(np.array([1, 1], np.float32))[0].tolist() == [4, 5]


def test_unused_keys_of_a_side_car_are_a_remark(tmp_path: Path) -> None:
    """AUDIT B3."""
    (tmp_path / "p.mlir").write_text(WEIGHTS)
    one = np.array([2, 3], np.float32)
    write_weights(tmp_path / "w.safetensors", dict.fromkeys(("layer.w", "a", "b", "c", "d"), one))
    heard: list[str] = []
    with listening(lambda diagnostic: heard.append(render(diagnostic))):
        stepwell.compile(tmp_path / "p.mlir")
    found = next(each for each in heard if "weights file" in each)
    assert "remark: 'builtin.module': weights file" in found
    assert "w.safetensors': the program does not ask for 'a', 'b', 'c' and 1 more" in found


TWO_WEIGHTS = """builtin.module attributes {stepwell.weights = "w.safetensors"} {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %v = graph.weight "v" : tensor<2xf32>
    %w = graph.weight "w" : tensor<2xf32>
    %0 = graph.add %x, %v : (tensor<2xf32>, tensor<2xf32>)
    %1 = graph.add %0, %w : (tensor<2xf32>, tensor<2xf32>)
    func.return %1 : tensor<2xf32>
  }
}
"""


def test_weights_that_do_not_fit_are_named(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="the weights given have no 'layer.w'; did you mean 'layer.v'"):
        stepwell.compile(WEIGHTS, weights={"layer.v": np.zeros(2, np.float32)})
    with pytest.raises(CompileError, match="weight 'layer.w' is given as 3xfloat32, the program expects tensor<2xf32>"):
        stepwell.compile(WEIGHTS, weights={"layer.w": np.zeros(3, np.float32)})
    with pytest.raises(CompileError, match="the weights given have no 'v', 'w'$"):
        stepwell.compile(TWO_WEIGHTS, weights={"x": np.zeros(2, np.float32)})
    (tmp_path / "two.mlir").write_text(TWO_WEIGHTS)
    write_weights(tmp_path / "w.safetensors", {"layer.x": np.zeros(2, np.float32)})
    with pytest.raises(WeightsError, match="there are no tensors 'v', 'w'\n(.*\n)*hint: it holds 'layer.x'"):
        stepwell.compile(tmp_path / "two.mlir")
    (tmp_path / "w.safetensors").unlink()
    (tmp_path / "p.mlir").write_text(WEIGHTS)
    with pytest.raises(WeightsError, match="w.safetensors"):
        stepwell.compile(tmp_path / "p.mlir")
    write_weights(tmp_path / "w.safetensors", {"layer.x": np.zeros(2, np.float32)})
    with pytest.raises(WeightsError, match="there is no tensor 'layer.w'"):
        stepwell.compile(tmp_path / "p.mlir")
    write_weights(tmp_path / "w.safetensors", {"layer.w": np.zeros(2, np.float64)})
    with pytest.raises(WeightsError, match="tensor 'layer.w' is .*f64.*, expected .*f32"):
        stepwell.compile(tmp_path / "p.mlir")


def test_without_a_file_the_error_says_what_to_add() -> None:
    with pytest.raises(CompileError, match="reads weights \\('layer.w'\\) but the module names no file"):
        stepwell.compile(WEIGHTS.replace('attributes {stepwell.weights = "w.safetensors"} ', ""))
