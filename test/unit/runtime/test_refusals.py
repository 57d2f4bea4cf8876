"""AUDIT C6, G5: entries and arguments that `compile` and `run_into` refuse, and what the messages say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import OperationError
from stepwell.core.weights import WeightsError
from stepwell.runtime.errors import ArgumentError, CompileError
from stepwell.tools.run import main as run

RELU = """func.func @main(%x: tensor<SIZExf32>) -> tensor<SIZExf32> {
  %y = graph.relu %x : (tensor<SIZExf32>) -> tensor<SIZExf32>
  func.return %y : tensor<SIZExf32>
}"""


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("i1", "tensor<i1>: a number is a tensor of rank 0"),
        ("i32", "tensor<i32>: a number is a tensor of rank 0"),
        ("f32", "tensor<f32>: a number is a tensor of rank 0"),
        ("index", "tensor<i64>: a number is a tensor of rank 0"),
        ("vector<4xf32>", "tensors of known rank only"),
    ],
)
def test_a_scalar_argument_is_told_to_be_a_tensor(type_: str, expected: str):
    text = f"func.func @main(%x: tensor<4xf32>, %n: {type_}) -> tensor<4xf32> {{\n  func.return %x : tensor<4xf32>\n}}"
    with pytest.raises(CompileError) as caught:
        stepwell.compile(text)
    assert str(caught.value) == f"function @main takes or returns {type_}, expected {expected}"


@pytest.mark.parametrize("size", ["?", "4"])
def test_an_entry_on_the_tensor_loop_level_takes_buffers(size: str):
    text = f"tensor_loop.func @f(%n: index, %A: memref<{size}xf32>) outs(%B: memref<{size}xf32>) {{\n}}\n"
    with pytest.raises(OperationError) as caught:
        stepwell.compile(text, entry="f")
    message = "'tensor_loop.func': an entry takes buffers only, found an argument of type index"
    assert caught.value.diagnostic.message == message
    assert str(caught.value.diagnostic.point) == "<text>:1:1"


def test_arguments_whose_bytes_no_i64_counts():
    size = str((1 << 61) - 1)
    with pytest.raises(CompileError) as caught:
        stepwell.compile(RELU.replace("SIZE", size))
    assert str(caught.value) == f"function @main takes or returns tensor<{size}xf32>, expected at most 2^60 elements"


def test_random_arguments_of_a_type_that_is_too_large(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "large.mlir"
    file.write_text(RELU.replace("SIZE", "99999999999999999999"))
    assert run([str(file), "--random", "1"]) == 1
    message = "an extent is at most 9223372036854775807, found 99999999999999999999"
    assert capsys.readouterr().err.startswith(f"{file}:1:28: error: {message}\n")


def test_a_weights_file_with_a_nul_in_its_name():
    text = (
        'module attributes {stepwell.weights = "w\\00.safetensors"} {\nfunc.func @main() -> tensor<4xf32> {\n'
        '  %y = graph.weight "a" : tensor<4xf32>\n  func.return %y : tensor<4xf32>\n}\n}'
    )
    with pytest.raises(WeightsError) as caught:
        stepwell.compile(text)
    assert str(caught.value).startswith("<text>:3:3: error: weights file 'w\\x00.safetensors': embedded null byte")


@pytest.mark.parametrize(
    ("outputs", "found"), [(None, "None"), ((each for each in ()), "of type generator"), (5, "of type int")]
)
@pytest.mark.parametrize("size", ["?", "4"])
def test_outputs_that_are_no_list(outputs: Any, found: str, size: str):
    program = stepwell.compile(RELU.replace("SIZE", size))
    with pytest.raises(ArgumentError) as caught:
        program.run_into(outputs, np.zeros(4, np.float32))
    assert str(caught.value) == f"the outputs are {found}, expected a list of 1 numpy arrays"
