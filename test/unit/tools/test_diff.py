"""`stepwell diff A B`: results and ops that are the same, that differ, and that cannot be compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from stepwell.tools.main import main
from stepwell.trust.inputs import KINDS

A = """\
func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = graph.negative %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.add %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
"""
FILE = "inputs of the user"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.mlir").write_text(A)
    np.savez("in.npz", x=np.array([[1, 2, 3], [4, 5, 6]], np.float32))
    return tmp_path


def diff(other: str, *words: str) -> int:
    Path("b.mlir").write_text(other)
    return main(["diff", "a.mlir", "b.mlir", *words])


def test_other_names_are_no_difference(capsys: pytest.CaptureFixture[str]) -> None:
    assert diff(A.replace("%0", "%n").replace("%x", "%y"), "--seed", "3") == 0
    lines = [f"@main, inputs '{kind}' of seed 3: same bits" for kind in KINDS]
    assert capsys.readouterr().out.splitlines() == [*lines, "ops, aligned by what they say: no place differs"]


def test_the_result_that_differs_is_told_with_value_and_place(capsys: pytest.CaptureFixture[str]) -> None:
    other = A.replace("graph.add %x, %x", "graph.multiply %x, %x")
    assert diff(other, "--inputs", "in.npz") == 1
    assert capsys.readouterr().out == (
        f"@main, {FILE}: different\n"
        "  result 1 at [1, 2] is 12.0 in A, 36.0 in B, expected the same within 0.0001\n"
        "  A makes it at a.mlir:3:3\n"
        "  B makes it at b.mlir:3:3\n"
        "ops, aligned by what they say: 1 place differs\n"
        "@@ a.mlir:3:3 @@\n"
        "- %1 = graph.add %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n"
        "+ %1 = graph.multiply %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n"
    )


def test_a_difference_by_rounding_is_none_unless_asked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.mlir").write_text(A.replace("graph.negative", "graph.softmax").replace("2x3", "40x30"))
    np.savez("in.npz", x=np.random.default_rng(0).standard_normal((40, 30)).astype(np.float32))
    words = ["diff", "a.mlir", "a.mlir", "--passes-b", "O1", "--inputs", "in.npz", "--only", "results"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"@main, {FILE}: same but for rounding, at most ") and said.endswith(" apart\n")
    assert main([*words, "--exact"]) == 1
    assert "in B, expected the same exactly\n" in capsys.readouterr().out


def test_ops_are_aligned_by_what_they_came_from(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.mlir").write_text(A.replace("graph.add %x, %x", "graph.subtract %x, %0").replace("%0, %1 :", "%1, %1 :"))
    assert main(["diff", "a.mlir", "a.mlir", "--passes-b", "simplify-expr", "--only", "ops"]) == 1
    assert capsys.readouterr().out == (
        "ops, aligned by what they came from: 1 place differs\n"
        "@@ a.mlir:2:3, a.mlir:3:3 @@\n"
        "- %0 = graph.negative %x : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
        "- %1 = graph.subtract %x, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n"
        "+ %0 = graph.full 2.0 : tensor<f32>\n"
        "+ %1 = graph.multiply %x, %0 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>\n"
    )


def test_only_some_places_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    def text(first: str, last: str) -> str:
        between = "  %2 = graph.exp %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>\n  %1 ="
        return A.replace("graph.negative", first).replace("graph.add", last).replace("  %1 =", between)

    Path("a.mlir").write_text(text("graph.negative", "graph.add"))
    assert diff(text("graph.abs", "graph.power"), "--only", "ops", "--most", "1") == 1
    assert capsys.readouterr().out.endswith("and 1 more; --most 2 shows all\n")


def test_failures_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    take = "func.func @main(%i: tensor<2xi64>) -> tensor<2xf32> {{\n  %c = graph.full 1.0 : tensor<{0}xf32>\n"
    take += "  %0 = graph.take %c, %i, axis = 0 : (tensor<{0}xf32>, tensor<2xi64>) -> tensor<2xf32>\n"
    take += "  func.return %0 : tensor<2xf32>\n}}\n"
    Path("a.mlir").write_text(take.format(4))
    np.savez("in.npz", i=np.array([7, 0]))
    assert diff(take.format(5), "--inputs", "in.npz", "--only", "results") == 0
    assert ": same bits, both fail: graph.take: index out of range\n" in capsys.readouterr().out
    assert diff(take.format(9), "--inputs", "in.npz", "--only", "results") == 1
    assert "  A: graph.take: index out of range; B: has results\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "other, words, said",
    [
        (A + A.replace("@main", "@two"), [], None),
        (A.replace("2x3", "?x3"), [], "error: @main takes f32[2, 3] in A, but f32[?, 3] in B\n"),
        (A.replace("2x3", "3x2"), [], "error: @main takes f32[2, 3] in A, but f32[3, 2] in B\n"),
        (
            A.replace("func.func", "func.func private"),
            [],
            "error: the programs have no entry in common that can be run",
        ),
        (A, ["--inputs", "none.npz"], "error: cannot read"),
        (A, ["--most", "0"], "error: argument --most: it is '0', expected a number of at least 1\n"),
        (A.replace("graph.negative", "graph.negate"), [], "b.mlir:2:8: error: "),
    ],
)
def test_what_cannot_be_compared(
    other: str, words: list[str], said: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert diff(other, *words) == (0 if said is None else 1)
    assert said is None or capsys.readouterr().err.startswith(said)


def test_both_from_standard_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "-", "-"]) == 1
    assert capsys.readouterr().err == "error: both programs come from standard input, expected one there at most\n"


def model(weights: float) -> onnx.ModelProto:
    """Returns `relu(x @ w)`, with weights that are too many for the text."""
    w = numpy_helper.from_array(np.full((40, 40), weights, np.float32), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"], "/mm"), helper.make_node("Relu", ["p"], ["y"], "/relu")]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 40]) for name in "xy")
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y], [w]), opset_imports=[helper.make_opsetid("", 17)])


def test_models_are_compared_with_the_weights_that_each_has(capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(model(0.5), "a.onnx")
    onnx.save(model(0.25), "b.onnx")
    assert main(["import-onnx", "a.onnx", "-o", "a.mlir", "--print-debuginfo"]) == 0
    assert main(["diff", "a.onnx", "a.mlir"]) == 0
    said = capsys.readouterr().out
    assert said.count("same bits") == len(KINDS) and "ops, aligned by what they came from: no place differs" in said
    assert main(["diff", "a.onnx", "b.onnx", "--only", "results"]) == 1
    said = capsys.readouterr().out
    assert "@main, inputs 'random' of seed 0: different\n  result 0 at " in said
    assert "A makes it at a.onnx:2:1\n  B makes it at b.onnx:2:1" in said


def test_a_model_and_what_passes_make_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(model(0.5), "a.onnx")
    assert main(["diff", "a.onnx", "a.onnx", "--passes-b", "lower-graph-to-loops"]) == 0
    assert "@@ node '/relu' (Relu) at a.onnx:2:1 @@\n- %y = graph.relu" in capsys.readouterr().out


def test_sizes_of_a_model_are_given_as_they_were_at_its_import(capsys: pytest.CaptureFixture[str]) -> None:
    open_model = model(0.5)
    open_model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "rows"
    onnx.save(open_model, "a.onnx")
    assert main(["import-onnx", "a.onnx", "-o", "a.mlir", "--dim", "rows=2"]) == 0
    assert main(["diff", "a.onnx", "a.mlir", "--only", "results", "--dim", "rows=2"]) == 0
    assert capsys.readouterr().out.count("same bits") == len(KINDS)
    assert main(["diff", "a.mlir", "a.mlir", "--dim", "rows=2"]) == 1
    assert capsys.readouterr().err == "error: --dim is for ONNX models\n"
