"""ONNX models that shrink: each move, against another runtime, by a pipeline, by a command, and the tests written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from stepwell import te
from stepwell.tools.main import main
from stepwell.trust.reduce.moves import onnx_model as moves
from stepwell.trust.reduce.onnx_model import Model, are_different, results_elsewhere

PLUGIN = """
from stepwell.core import StepwellPass
class Fails(StepwellPass):
    \"\"\"Fails at an op.\"\"\"
    name = "fails-at-erf"
    def apply(self, ctx, op):
        if any(each.name == "graph.erf" for each in op.walk()):
            raise KeyError("erf")
"""


def model(dtype: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """Two branches of layers, a function `Erf` in one of them, and weights."""
    random = np.random.default_rng(0)
    kind = helper.tensor_dtype_to_np_dtype(dtype)
    weights = [
        numpy_helper.from_array(random.standard_normal(shape).astype(kind), name)
        for name, shape in (("w", (6, 8)), ("b", (8,)), ("v", (8, 6)))
    ]
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["g"], alpha=1.0),
        helper.make_node("Relu", ["g"], ["r"]),
        helper.make_node("Erf", ["r"], ["e"], doc_string="it"),
        helper.make_node("MatMul", ["e", "v"], ["m"]),
        helper.make_node("Softmax", ["m"], ["y"], axis=-1),
        helper.make_node("Tanh", ["x"], ["t"]),
        helper.make_node("Clip", ["t", "", ""], ["c"]),
        helper.make_node("Add", ["c", "y"], ["z"]),
    ]
    values = {name: helper.make_tensor_value_info(name, dtype, [4, 6]) for name in "xyz"}
    graph = helper.make_graph(nodes, "g", [values["x"]], [values["y"], values["z"]], weights, doc_string="a net")
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    onnx.save(model(), "net.onnx")
    return tmp_path


def small() -> onnx.ModelProto:
    found = onnx.load("small.onnx")
    onnx.checker.check_model(found, full_check=True)
    return found


def run_test(file: str) -> None:
    """Runs the test in a file as pytest does."""
    names = {"__file__": str(Path(file).resolve())}
    exec(compile(Path(file).read_text(), file, "exec"), names)
    names["test_small"]()  # pyright: ignore[reportCallIssue]


def test_a_model_that_another_runtime_computes_otherwise(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = onnx.load("net.onnx")
    del whole.graph.node[3:], whole.graph.output[:], whole.graph.node[0]
    whole.graph.node[0].input[0] = "x"
    whole.graph.output.append(helper.make_tensor_value_info("e", 1, [4, 6]))
    onnx.save(whole, "net.onnx")
    words = ["reduce", "net.onnx", "--against", "onnxruntime", "-o", "small.onnx", "--jobs", "2"]
    assert main(words) == 1
    said = "error: 'net.onnx' is not interesting: onnxruntime gives the same results\nhint: reduce needs a program"
    assert capsys.readouterr().err.startswith(said)
    monkeypatch.setattr(te.library, "erf", te.library.tanh)
    assert main([*words, "--test", "test_small.py"]) == 0
    assert [node.op_type for node in small().graph.node] == ["Erf"]
    assert not small().graph.initializer and "reduce: 2 nodes, now 1; " in capsys.readouterr().err
    with pytest.raises(AssertionError):
        run_test("test_small.py")
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    run_test("test_small.py")


def test_a_model_that_a_pass_cannot_take(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "one.py").write_text(PLUGIN)
    words = ["reduce", "net.onnx", "--crash", "-p", "fails-at-erf", "--load-plugin", "one.py", "-o", "small.onnx"]
    assert main([*words, "--test", "test_small.py"]) == 0
    assert [node.op_type for node in small().graph.node] == ["Erf"]
    text = (folder / "test_small.py").read_text()
    assert '"""A model that stepwell reduce has made small: KeyError in one.py:apply."""' in text
    assert "run_pipeline(stepwell.core.make_context(), module, 'fails-at-erf')" in text
    compile(text, "test_small.py", "exec")


def test_a_command_decides(folder: Path) -> None:
    command = "grep -q Softmax {}"
    words = ["reduce", "net.onnx", "--command", command, "-o", "small.onnx", "--test", "test_small.py"]
    assert main(words) == 0
    found = small()
    assert [node.op_type for node in found.graph.node] == ["Softmax"]
    with pytest.raises(AssertionError):
        run_test("test_small.py")
    del found.graph.node[:]
    onnx.save(found, "small.onnx")
    run_test("test_small.py")


def moved(move: object, change: Callable[[onnx.ModelProto], None] = lambda _: None, **given: int) -> onnx.ModelProto:
    """Returns the model after all edits of a move that leave it valid, one by one."""
    made = model(**given)
    change(made)
    subject = Model(made.SerializeToString())
    for edit in move.edits(subject):  # pyright: ignore
        before = subject.data()
        try:
            move.apply(subject, [edit])  # pyright: ignore
            subject.check()
        except Exception:
            subject.load(before)
    return subject.model


def test_nodes_are_cut_and_bypassed() -> None:
    assert len(moved(moves.CutNodes()).graph.node) == 1
    assert len(moved(moves.BypassNodes()).graph.node) < 6


def test_results_attributes_and_texts_are_dropped() -> None:
    assert [each.name for each in moved(moves.DropOutputs()).graph.output] == ["y"]
    found = moved(moves.DropDetails())
    assert not found.graph.doc_string and not any(node.attribute or node.doc_string for node in found.graph.node)
    assert [len(node.input) for node in found.graph.node][:1] == [2]


def test_weights_become_inputs_or_plain() -> None:
    found = moved(moves.WeightsToInputs())
    assert not found.graph.initializer and {each.name for each in found.graph.input} == set("xwbv")
    plain = [numpy_helper.to_array(each) for each in moved(moves.SimplifyWeights()).graph.initializer]
    assert all((each == 1).all() for each in plain)


def test_sizes_and_element_types_change_in_the_whole_model() -> None:
    found = moved(moves.ShrinkDims())
    assert {size for each in found.graph.initializer for size in each.dims} == {1}
    assert [dim.dim_value for dim in found.graph.output[0].type.tensor_type.shape.dim] == [1, 1]

    def open_batch(made: onnx.ModelProto) -> None:
        for each in (*made.graph.input, *made.graph.output):
            each.type.tensor_type.shape.dim[0].dim_param = "n"

    found = moved(moves.ShrinkDims(), open_batch)
    assert found.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 1
    found = moved(moves.SimplifyFloats(), dtype=TensorProto.DOUBLE)
    assert {each.data_type for each in found.graph.initializer} == {TensorProto.FLOAT}


def test_other_runtimes_agree_with_each_other() -> None:
    x = np.random.default_rng(1).standard_normal((4, 6)).astype(np.float32)
    one, other = (results_elsewhere(name, model(), [x]) for name in ("onnxruntime", "reference"))
    assert one is not None and other is not None and not are_different(one, other)
    assert are_different(one, [other[0] + 1, other[1]]) and are_different(one, [other[0][:2], other[1]])
    assert are_different([np.arange(3)], [np.array([0, 1, 3])])
    broken = model()
    broken.graph.node[0].op_type = "NoSuchOperator"
    assert results_elsewhere("onnxruntime", broken, [x]) is None


@pytest.mark.parametrize(
    "words, said",
    [
        (["net.onnx", "--crash", "-p", "cse"], "a model cannot go to standard output\nhint: -o OUT.onnx\n"),
        (["net.onnx", "--against", "onnxruntime", "-p", "cse", "-o", "s"], "--against compiles the model, so it goes"),
        (["m.mlir", "--against", "onnxruntime"], "--against compares ONNX models\nhint: --wrong -p PIPELINE compares"),
        (["bad.onnx", "--crash", "-o", "s"], "'bad.onnx' is no ONNX model that can be read: "),
        (["none.onnx", "--crash", "-o", "s"], "cannot use 'none.onnx': no such file or directory\n"),
    ],
)
def test_errors(words: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.onnx").write_bytes(b"no model")
    assert main(["reduce", *words]) == 1
    assert capsys.readouterr().err.startswith(f"error: {said}")
