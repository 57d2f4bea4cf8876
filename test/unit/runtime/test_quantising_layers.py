"""Which layers `stepwell.quantize` sees, and what they are called: models, loops, programs that are quantised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from onnx import ModelProto, TensorProto, helper, numpy_helper, save
from stepwell.core.ir.model_names import value_name
from stepwell.core.messages.diagnostics import OperationError
from stepwell.core.text.parsing import parse
from stepwell.frontends.onnx.importer import from_onnx
from stepwell.runtime import QuantizationWarning, Quantized

RANDOM = np.random.default_rng(3)
ROWS = RANDOM.standard_normal((4, 3, 8, 8)).astype(np.float32)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("val_80", "val.80"),
        ("/layer.0/MatMul_output_0", "layer.0_MatMul_output.0"),
        ("x", "x"),
        ("a_1_2", "a_1.2"),
        ("12", "v12"),
        ("_7", "v7"),
        ("::", None),
        ("", None),
    ],
)
def test_names_of_models(name: str, expected: str | None) -> None:
    assert value_name(name) == expected


def model(path: Path) -> str:
    """Two convolutions, the first with a bias, and a product with one."""
    weights = {
        "k": RANDOM.standard_normal((4, 3, 3, 3)),
        "k2": RANDOM.standard_normal((4, 4, 1, 1)),
        "b": np.ones(4),
        "w": RANDOM.standard_normal((256, 5)),
        "c": np.ones(5),
    }
    nodes = [
        helper.make_node("Conv", ["x", "k", "b"], ["conv_3"], "/body/first/Conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["conv_3"], ["relu_4"], "/body/Relu"),
        helper.make_node("Conv", ["relu_4", "k2"], ["conv_7"], "/body/second/Conv"),
        helper.make_node("Flatten", ["conv_7"], ["flat"], "/head/Flatten"),
        helper.make_node("Gemm", ["flat", "w", "c"], ["y"], "/head/Gemm"),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 5])],
        [numpy_helper.from_array(array.astype(np.float32), name) for name, array in weights.items()],
    )
    found: ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    file = str(path / "net.onnx")
    save(found, file)
    return file


def quantised(program: Any, **options: Any) -> Quantized:
    return stepwell.quantize(program, {"x": ROWS}, timed=False, cache=False, **options)


def test_layers_have_the_names_of_the_model(tmp_path: Path) -> None:
    layers = quantised(model(tmp_path)).report.layers
    assert [layer.name for layer in layers] == ["conv.3.conv2d", "conv.7", "y.matmul"]
    assert [layer.node for layer in layers] == ["/body/first/Conv", "/body/second/Conv", "/head/Gemm"]
    assert '"node": "/head/Gemm"' in quantised(model(tmp_path)).report.to_json()


@pytest.mark.parametrize(
    "pattern", ["%conv.3.conv2d", "conv_3", "conv.3", "/body/first/Conv", "/body/first/*", "*first*"]
)
def test_a_layer_is_kept_by_any_of_its_names(pattern: str, tmp_path: Path) -> None:
    layers = quantised(model(tmp_path), keep=pattern).report.layers
    assert [layer.quantised for layer in layers] == [False, True, True]


@pytest.mark.parametrize("pattern", ["conv_?", "onv_3", "/first/Conv", "relu_4"])
def test_names_that_no_layer_has(pattern: str, tmp_path: Path) -> None:
    with pytest.raises(OperationError, match=r"no layer is called '.*', which is to be kept in floats"):
        quantised(model(tmp_path), keep=pattern)


def test_a_name_stays_when_the_model_is_changed_elsewhere(tmp_path: Path) -> None:
    """Numbers of names are those of the model: they are no count of values that are alike."""
    text = str(from_onnx(model(tmp_path)))
    assert "%conv.3.conv2d = graph.conv2d" in text and "%conv.7 = graph.conv2d" in text


@pytest.mark.parametrize("options", [{}, {"weights": "int4"}])
def test_a_quantised_program_is_left_as_it_is(options: dict[str, Any], tmp_path: Path) -> None:
    once = quantised(model(tmp_path))
    with pytest.warns(QuantizationWarning, match="there is no layer to quantise: its layers are on integers already"):
        again = quantised(once.module, **options)
    assert again.report.layers == () and again.report.decibels == float("inf")
    np.testing.assert_array_equal(again.compile()(ROWS)[0], once.compile()(ROWS)[0])


def test_the_layers_that_are_left_are_quantised(tmp_path: Path) -> None:
    first = stepwell.quantize(model(tmp_path), {"x": ROWS}, keep="/head/Gemm", cache=False, timed=False)
    rest = stepwell.quantize(first.module, {"x": ROWS}, cache=False)
    (layer,) = rest.report.layers
    assert layer.name == "y.matmul" and layer.quantised and layer.microseconds is not None
    assert str(rest.module).count("graph.conv2d") == 2 and rest.report.decibels > 30


LOOP = """
func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i3 = arith.constant 3 : index
  %first = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = scf.for %i = %i0 to %i3 step %i1 iter_args(%h = %first) -> (tensor<4x4xf32>) {
    %m = graph.matmul %h, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %m : tensor<4x4xf32>
  }
  func.return %r : tensor<4x4xf32>
}
"""


@pytest.mark.parametrize("options", [{}, {"weights": "int8"}])
def test_products_in_loops_are_counted(options: dict[str, Any]) -> None:
    square = np.eye(4, dtype=np.float32)
    report = stepwell.quantize(parse(LOOP), {"x": square, "w": square}, timed=False, cache=False, **options).report
    assert report.elsewhere == 1 and '"elsewhere": 1' in report.to_json()
    assert ("products in loops, functions", "1", "0") in report.summary


def test_no_row_for_loops_where_there_are_none(tmp_path: Path) -> None:
    report = quantised(model(tmp_path)).report
    assert report.elsewhere == 0 and "loops" not in str(report)
