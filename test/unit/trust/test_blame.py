"""`--blame` and `--became`: from what a part of a program was made, and what became of a part of the source."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.passes.applications import counting
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.tools.import_onnx import main as import_onnx
from stepwell.tools.opt import main as opt
from stepwell.trust.blame.history import History
from stepwell.trust.blame.naming import Names
from stepwell.trust.blame.report import MOST_ORIGINS, MOST_STEPS, became, blame
from xdsl.dialects.builtin import ModuleOp

CTX = make_context()
TWICE = """func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %7 = graph.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.tanh %7 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %soft = graph.softmax %3, axis = 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = graph.exp %soft : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.tanh %5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
"""
FUNCTIONS = """func.func @one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @two(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
"""


def ran(text: str, pipeline: str) -> tuple[History, ModuleOp]:
    history, module = History(), parse_text(CTX, text, "a.mlir")
    with counting(watch=history.applied):
        run_pipeline(CTX, module, pipeline, instruments=[history])
    return history, module


def blamed(text: str, pipeline: str, name: str) -> str:
    history, module = ran(text, pipeline)
    return blame(history, Names(module, history.lineages, "it").find(name))


def what_became(text: str, pipeline: str, name: str) -> str:
    history = History()
    named = Names(parse_text(CTX, text, "a.mlir"), history.lineages, "it", {"a.mlir": text}).find(name)
    return became(*ran(text, pipeline), named)


def refusal(text: str, name: str, sources: dict[str, str] | None = None) -> str:
    with pytest.raises(StepwellError) as raised:
        Names(parse_text(CTX, text, "a.mlir"), History().lineages, "the program", sources).find(name)
    return str(raised.value)


def model() -> onnx.ModelProto:
    """Two layers with the same product, in parts of a model."""
    draw = np.random.default_rng(0).standard_normal
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["p"], "/encoder/layer.0/MatMul"),
        helper.make_node("Relu", ["p"], ["q"], "/encoder/layer.0/Relu"),
        helper.make_node("MatMul", ["q", "b"], ["r"], "/encoder/layer.1/MatMul"),
        helper.make_node("Relu", ["r"], ["y"], "/encoder/layer.1/Relu"),
    ]
    stored = [numpy_helper.from_array(draw((32, 32)).astype(np.float32), name) for name in ("a", "b")]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 32])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, 32])
    graph = helper.make_graph(nodes, "net", [x], [y], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_a_kernel_of_several_ops_names_each_with_its_place() -> None:
    lines = blamed(TWICE, "O3", "@main").splitlines()
    assert lines[0].startswith("@main: llvm.func of ")
    text = blamed(TWICE, "graph-optimize,lower-graph-to-loops", "@exp").splitlines()
    assert text[:5] == [text[0], "made from", "  a.mlir:2:3  graph.exp", "  a.mlir:5:3  graph.exp", "by"]


def test_the_chain_names_passes_and_what_they_applied_in_order() -> None:
    text = what_became(TWICE, "O3", "4")
    passes = [line.split()[0] for line in text.partition("by\n")[2].partition("now\n")[0].splitlines()]
    assert passes[0] == "(source)" and passes[-1] == "lower-to-llvm-dialect"
    assert passes.index("lower-graph-to-loops") < passes.index("bufferize") < passes.index("lower-loops-to-scf")
    assert "lowering 'graph.softmax'" in text and "math 'math.exp'" in text


def test_a_pass_that_does_nothing_to_an_op_is_left_out() -> None:
    text = what_became(TWICE, "canonicalize,cse,lower-graph-to-loops", "%soft")
    assert "canonicalize" not in text and "cse" not in text and "lower-graph-to-loops" in text


def test_numbers_of_values_are_those_of_the_text() -> None:
    assert "a.mlir:3:3  graph.tanh" in what_became(TWICE, "", "%3")
    assert "a.mlir:6:3  graph.tanh" in what_became(TWICE, "", "%1")


def test_an_argument_stands_for_its_function() -> None:
    text = blamed(TWICE, "", "%x")
    assert text.startswith("%x in @main: argument of func.func\nmade from\n  a.mlir:1:1  func.func")


def test_what_was_folded_has_become_nothing() -> None:
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %unused = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      return %x : tensor<4xf32>
    }"""
    assert what_became(text, "canonicalize", "%unused").endswith(
        "canonicalize  nothing\nnow\n  nothing: it was folded, merged into others or not used"
    )


def test_all_fits_on_a_screen() -> None:
    body = [f"  %v{n + 1} = graph.exp %v{n} : (tensor<4xf32>) -> tensor<4xf32>" for n in range(40)]
    text = "\n".join(
        [
            "func.func @main(%v0: tensor<4xf32>) -> tensor<4xf32> {",
            *body,
            "return %v40 : tensor<4xf32>\n}",
        ]
    )
    lines = what_became(text, "O3", "@main").splitlines()
    assert len(lines) <= 5 + 2 * (MOST_ORIGINS + 1) + MOST_STEPS and max(map(len, lines)) <= 120
    assert f"  … and {42 - MOST_ORIGINS} more ops of the source" in lines


def test_a_value_of_two_functions_has_to_be_told_with_its_function() -> None:
    assert refusal(FUNCTIONS, "%y") == (
        "error: 2 functions of the program have a value %y\nhint: name one: @one:%y, @two:%y"
    )
    assert "graph.tanh" in blamed(FUNCTIONS, "", "@two:%y")


def test_unknown_names_are_told_with_the_nearest() -> None:
    assert refusal(FUNCTIONS, "@too") == "error: the program has no function @too\nhint: did you mean '@two'?"
    assert refusal(FUNCTIONS, "%abc") == "error: the program has no value %abc\nhint: it has %x, %y"
    assert refusal(FUNCTIONS, "@one:%z").startswith("error: the program has no value %z\nhint: ")
    assert refusal(FUNCTIONS, "99") == "error: the program has 10 lines when it is printed, found line 99"
    assert refusal(FUNCTIONS, "99", {"a.mlir": FUNCTIONS}) == (
        "error: no op of the program begins on line 99\nhint: the nearest op is on line 7"
    )
    assert refusal(FUNCTIONS, "b.mlir:3") == "error: the program has nothing made of b.mlir:3"


def test_nodes_of_a_model_are_asked_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(model(), str(tmp_path / "m.onnx"))
    assert import_onnx([str(tmp_path / "m.onnx"), "-o", str(tmp_path / "m.mlir"), "--print-debuginfo"]) == 0
    ask = [str(tmp_path / "m.mlir"), "-p", "O3"]
    capsys.readouterr()
    assert opt([*ask, "--became", "/encoder/layer.1/MatMul"]) == 0
    said = capsys.readouterr().out
    assert "node '/encoder/layer.1/MatMul' (MatMul) at" in said and "m.onnx:3:1" in said
    assert "@fused_matmul_relu0" in said.partition("now\n")[2]
    assert opt([*ask, "--blame", "@fused_matmul_relu0"]) == 0
    said = capsys.readouterr().out.partition("by\n")[0]
    assert all(f"'/encoder/layer.{layer}/{op}'" in said for layer in (0, 1) for op in ("MatMul", "Relu"))
    assert opt([*ask, "--blame", "/encoder/layer.0/Relu"]) == 0
    assert capsys.readouterr().out.startswith("node '/encoder/layer.0/Relu' (Relu) at")
    assert opt([*ask, "--became", "/encoder/layer.1/MatMull"]) == 1
    said = capsys.readouterr().err
    assert "the program has nothing made of a node '/encoder/layer.1/MatMull'" in said
    assert "hint: did you mean '/encoder/layer.1/MatMul'?" in said
