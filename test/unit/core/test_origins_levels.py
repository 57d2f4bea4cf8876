"""Every op on every level down to the llvm dialect knows the ops of the source that it was made from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import stepwell
from layered_nets import encoder
from onnx import TensorProto, helper, numpy_helper
from stepwell.core.messages.origins import origins_of, unknown_ops
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse, parse_text
from stepwell.runtime.stairs import expand_pipeline
from stepwell.testing.programs.program_generators import random_program
from xdsl.dialects.builtin import ModuleOp

PROGRAMS = Path(__file__).parents[2] / "programs"
EXAMPLES = Path(__file__).parents[3] / "examples/passes"
CTX = make_context()

ATTENTION = """func.func @main(%q: tensor<2x16x32xf32>, %k: tensor<2x16x32xf32>, %v: tensor<2x16x32xf32>)
    -> tensor<2x16x32xf32> {
  %kt = graph.permute_dims %k, axes = [0, 2, 1] : (tensor<2x16x32xf32>) -> tensor<2x32x16xf32>
  %s = graph.matmul %q, %kt : (tensor<2x16x32xf32>, tensor<2x32x16xf32>) -> tensor<2x16x16xf32>
  %p = graph.softmax %s, axis = 2 : (tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
  %r = graph.matmul %p, %v : (tensor<2x16x16xf32>, tensor<2x16x32xf32>) -> tensor<2x16x32xf32>
  func.return %r : tensor<2x16x32xf32>
}
"""


def network() -> onnx.ModelProto:
    """A convolution of 3x3, one of each channel alone, a mean, a product, as networks for images have them."""
    draw = np.random.default_rng(0).standard_normal
    weights = {"w": (16, 3, 3, 3), "b": (16,), "d": (16, 1, 3, 3), "m": (16, 10)}
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "first", strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("Conv", ["r", "d"], ["e"], "alone", group=16, pads=[1, 1, 1, 1]),
        helper.make_node("Clip", ["e", "low", "high"], ["f"], "clip"),
        helper.make_node("GlobalAveragePool", ["f"], ["g"], "mean"),
        helper.make_node("Flatten", ["g"], ["h"], "flatten"),
        helper.make_node("MatMul", ["h", "m"], ["y"], "last"),
    ]
    given = [numpy_helper.from_array(draw(shape).astype(np.float32), name) for name, shape in weights.items()]
    given += [numpy_helper.from_array(np.float32(value), name) for name, value in (("low", 0), ("high", 6))]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 32, 32])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])
    graph = helper.make_graph(nodes, "net", [x], [y], given)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def program(name: str) -> ModuleOp:
    if name == "network":
        return stepwell.from_onnx(network())
    if name == "encoder":
        return stepwell.from_onnx(encoder(layers=1))
    if name == "attention":
        return parse_text(CTX, ATTENTION, "attention.mlir")
    if name.isdigit():
        return parse_text(CTX, random_program(int(name)).text, "random.mlir")
    return parse(PROGRAMS / name if (PROGRAMS / name).exists() else EXAMPLES / name, ctx=CTX)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(
    "name",
    [
        *("network", "attention", "combine_parallel_conv2d.mlir", "normalise_and_fuse.mlir", "mixed_dtypes.mlir"),
        *("encoder", "0", "1", "2", "4", "5", "6", "115", "240"),
    ],
)
def test_no_op_of_any_level_is_without_an_origin(name: str) -> None:
    module = program(name)
    assert [op.name for op in unknown_ops(module)] == []
    passes = expand_pipeline("O3")
    assert passes[-1].name == "lower-to-llvm-dialect"
    for each in passes:
        run_pipeline(CTX, module, str(each))
        assert (each.name, [op.name for op in unknown_ops(module)]) == (each.name, [])
    assert any(op.name == "llvm.func" for op in module.walk())


@pytest.mark.ci_cases(0)
def test_code_of_a_model_names_its_nodes() -> None:
    module = program("network")
    for each in expand_pipeline("O3"):
        run_pipeline(CTX, module, str(each))
    named = {origin.name for op in module.walk() for origin in origins_of(op.location)}
    assert {"first", "relu", "alone", "clip", "mean", "flatten", "last"} - named == set()
    loads = {each.name for op in module.walk() if op.name == "llvm.load" for each in origins_of(op.location)}
    assert {"first", "alone", "mean", "last"} - loads == set()
