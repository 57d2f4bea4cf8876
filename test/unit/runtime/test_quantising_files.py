"""The files that quantisation writes: their names, what is never replaced, and that all of them come or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.text.parsing import parse
from stepwell.core.weights import write_weights
from stepwell.runtime import Quantized
from stepwell.runtime.quantising.outputs import replacing, weights_beside
from stepwell.tools.quantize import main

PROGRAM = """
builtin.module attributes {stepwell.weights = "m.safetensors"} {
  func.func @main(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
    %w = graph.weight "w" : tensor<16x16xf32>
    %y = graph.matmul %x, %w : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    func.return %y : tensor<4x16xf32>
  }
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program, its weights and data, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    (tmp_path / "m.mlir").write_text(PROGRAM)
    write_weights(tmp_path / "m.safetensors", {"w": random.standard_normal((16, 16)).astype(np.float32)})
    np.savez(tmp_path / "d.npz", x=random.standard_normal((2, 4, 16)).astype(np.float32))
    return tmp_path


def command(*words: str) -> int:
    return main(["m.mlir", "--data", "d.npz", "--no-times", "--no-cache", *words])


def quantised(**options: Any) -> Quantized:
    batches = [{"x": x} for x in np.load("d.npz")["x"]]
    return stepwell.quantize("m.mlir", batches, timed=False, cache=False, **options)


def content(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


@pytest.mark.parametrize(
    "program, weights",
    [
        ("a.mlir", "a.safetensors"),
        ("a.int8", "a.int8.safetensors"),
        ("a", "a.safetensors"),
        ("a.b.mlir", "a.b.safetensors"),
    ],
)
def test_each_program_has_weights_of_its_own(program: str, weights: str) -> None:
    assert weights_beside(program) == Path(weights)


def test_programs_whose_names_differ_in_the_end_do_not_share_weights(folder: Path) -> None:
    assert command("-o", "q.int8") == 0
    (x, _) = np.load("d.npz")["x"]
    (before,) = stepwell.compile(Path("q.int8"), cache=False)(x)
    assert command("-o", "q.int4", "--weights", "int4") == 0
    (after,) = stepwell.compile(Path("q.int8"), cache=False)(x)
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize(
    "words, message",
    [
        (("-o", "m.mlir"), "'m.mlir' would be replaced, which is read as well, expected another name"),
        (("-o", "./d.npz"), "the output './d.npz' ends as weights, models or arrays do, expected a name.mlir"),
        (("-o", "q.ONNX"), "the output 'q.ONNX' ends as weights, models or arrays do, expected a name.mlir"),
        (("-o", "m"), "'m.safetensors' would be replaced, which is read as well"),
        (("--report", "m.mlir"), "the report 'm.mlir' ends in '.mlir', expected one of .html, .svg, .json, .txt"),
        (("-o", "-"), "a program has a file of weights beside it, expected a file for both\nhint: give -o m8.mlir"),
        (("--report", "-"), "the report is printed in any case, expected a file to write it to"),
        (("-o", "no/q.mlir"), "cannot write 'no/q.mlir': there is no directory 'no'"),
        (("-o", "sub"), "cannot write 'sub': it is a directory"),
        (("-o", "taken.mlir"), "cannot write 'taken.safetensors': it is a directory"),
        (("-o", "q.mlir", "--report", "no/r.html"), "cannot write 'no/r.html': there is no directory 'no'"),
        (("--report", "r.json", "--report", "r.json"), "'r.json' would be written twice"),
        (("-o", "r.json", "--report", "r.json"), "'r.json' would be written twice"),
    ],
)
def test_outputs_that_are_refused_before_any_work(
    words: tuple[str, ...], message: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    (folder / "sub").mkdir()
    (folder / "taken.safetensors").mkdir()
    before = content(folder)
    monkeypatch.setattr("stepwell.runtime.quantising.quantize.quantize", None)
    assert command(*words) == 1
    assert message in capsys.readouterr().err
    assert content(folder) == before


def test_a_saved_program_replaces_nothing_that_it_was_made_of(folder: Path) -> None:
    found = quantised()
    with pytest.raises(StepwellError, match="'m.mlir' would be replaced"):
        found.save("m.mlir")
    with pytest.raises(StepwellError, match="ends as weights, models or arrays do"):
        found.save("q.safetensors")
    module = stepwell.quantize(parse(Path("m.mlir")), [{"x": np.ones((4, 16), np.float32)}], timed=False, cache=False)
    with pytest.raises(StepwellError, match="m.safetensors' would be replaced"):
        module.save(folder / "m.mlir")
    found.save("q.mlir")
    found.save("q.mlir")
    with pytest.raises(StepwellError, match="the report 'r.csv' ends in '.csv'"):
        found.report.save("r.csv")
    found.report.save("R.JSON")
    assert Path("R.JSON").read_text().startswith("{")


def test_weights_that_stay_as_they_are_go_along(folder: Path) -> None:
    """The text would name the weights of the program in floats, in another folder."""
    (folder / "sub").mkdir()
    found = quantised(keep=["%y"])
    found.save("sub/q.mlir")
    (x, _) = np.load("d.npz")["x"]
    np.testing.assert_array_equal(stepwell.compile(Path("sub/q.mlir"), cache=False)(x)[0], found.compile()(x)[0])


def test_a_failure_leaves_all_files_as_they_were(folder: Path) -> None:
    (folder / "a").write_text("old")
    before = content(folder)
    with pytest.raises(RuntimeError), replacing() as beside:
        beside("a").write_text("new")
        beside("b").write_text("new")
        raise RuntimeError
    assert content(folder) == before
    with replacing() as beside:
        beside("a").write_text("new")
        beside("not written")
    assert content(folder) == before | {"a": b"new"}


def test_a_model_of_onnx_is_imported(folder: Path) -> None:
    onnx = pytest.importorskip("onnx")
    weights = onnx.numpy_helper.from_array(np.eye(8, dtype=np.float32), "w")
    x, y = (onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4, 8]) for name in "xy")
    graph = onnx.helper.make_graph([onnx.helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y], [weights])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), "n.onnx")
    batch = {"x": np.ones((4, 8), np.float32)}
    for path in ("n.onnx", Path("n.onnx")):
        assert stepwell.quantize(path, batch, timed=False, cache=False).report.layers[0].quantised
