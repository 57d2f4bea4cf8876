"""`stepwell-import-onnx`: what it writes, and its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx_broken_models import info, model, node, tensor
from stepwell.core.passes import progress
from stepwell.core.passes.progress import Progress
from stepwell.frontends.onnx import registry
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.import_onnx import main
from stepwell.tools.run import main as run_main

X = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def saved(made: onnx.ModelProto) -> str:
    Path("net.onnx").write_bytes(made.SerializeToString())
    return "net.onnx"


def large() -> onnx.ModelProto:
    """x · w, the weight too large for the text."""
    matrix = np.arange(3 * 400).reshape(3, 400) / 1000
    return model([node("MatMul", "x w", "y", "mm")], outputs=[info("y", (2, 400))], tensors=[tensor("w", matrix)])


def run(path: str, **arrays: np.ndarray) -> list[np.ndarray]:
    np.savez("in.npz", **arrays)
    finished = call_tool(run_main, Command(["stepwell-run", path, "--inputs", "in.npz", "--output", "out.npz"]), b"")
    assert finished.exit_code == 0, finished.stderr.decode()
    with np.load("out.npz") as found:
        return [found[name] for name in found.files]


def written(*words: str) -> str:
    assert main([*words, "-o", "net.mlir"]) == 0
    return Path("net.mlir").read_text()


def test_names_in_other_letters_run() -> None:
    """AUDIT G2: a model with a weight `poids_é` became a file that nothing could read."""
    matrix = np.arange(3 * 400).reshape(3, 400) / 1000
    made = model(
        [node("MatMul", "x poids_é", "y", "mm")], outputs=[info("y", (2, 400))], tensors=[tensor("poids_é", matrix)]
    )
    text = written(saved(made))
    assert r'graph.weight "poids_\C3\A9"' in text
    (found,) = run("net.mlir", x=X)
    np.testing.assert_allclose(found, X @ matrix.astype("f"), rtol=1e-4, atol=1e-4)


def test_a_contradicted_shape_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """AUDIT D11."""
    written(saved(model(outputs=[info("y", (7,))])))
    assert "warning: model 'net.onnx': 'y' is declared as tensor<7xf32>, but its node" in capsys.readouterr().err


def test_the_output_runs() -> None:
    text = written(saved(large()))
    assert "graph.weight" in text and 'stepwell.weights = "net.safetensors"' in text
    (found,) = run("net.mlir", x=X)
    np.testing.assert_allclose(found, X @ (np.arange(1200).reshape(3, 400) / 1000).astype("f"), rtol=1e-4, atol=1e-4)


def test_the_weights_go_where_they_are_wanted(folder: Path) -> None:
    (folder / "data").mkdir()
    text = written(saved(large()), "--weights", "data/w.safetensors")
    assert 'stepwell.weights = "data/w.safetensors"' in text
    assert sorted(path.name for path in folder.iterdir()) == ["data", "net.mlir", "net.onnx"]
    run("net.mlir", x=X)


def test_standard_output(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    path = saved(model())
    assert main([path]) == 0
    printed, error = capsys.readouterr()
    assert "graph.relu" in printed and error == ""
    assert sorted(path.name for path in folder.iterdir()) == ["net.onnx"]


def test_weights_are_named_by_the_output_alone(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """AUDIT D9: the weights of a program on standard output appeared in the working directory."""
    path = saved(large())
    assert main([path]) == 1
    assert capsys.readouterr() == (
        "",
        "error: the weights of 'net.onnx' do not go into the text, and standard output names no file for them\n"
        "hint: give -o FILE.mlir, or --weights FILE.safetensors\n",
    )
    assert sorted(path.name for path in folder.iterdir()) == ["net.onnx"]
    assert main([path, "--weights", "w.safetensors"]) == 0
    assert 'stepwell.weights = "w.safetensors"' in capsys.readouterr().out


def test_small_weights_are_no_long_lines() -> None:
    """AUDIT D9: less than 1024 floats became one line of digits."""
    numbers = {"s": np.arange(300.0), "ones": np.ones(300), "few": np.arange(60.0).repeat(5)[::5]}
    nodes = [node("Mul", "x s", "t"), node("Add", "t ones", "u"), node("Gather", "u i", "v", axis=1)]
    nodes.append(node("Add", "v few", "y"))
    tensors = [tensor(name, array) for name, array in numbers.items()]
    tensors.append(tensor("i", np.arange(60), np.int64))
    path = saved(model(nodes, inputs=[info("x", (2, 300))], outputs=[info("y", (2, 60))], tensors=tensors))
    text = written(path)
    assert [line.split(" = ")[1] for line in text.splitlines() if "graph.weight" in line] == [
        'graph.weight "s" : tensor<300xf32>'
    ]
    assert "dense<1.0> : tensor<300xf32>" in text and "dense<[0.0, 1.0," in text and "dense<[0, 1, 2," in text
    x = np.ones((2, 300), np.float32)
    expected = (x * numbers["s"] + 1)[:, :60] + numbers["few"]
    np.testing.assert_allclose(run("net.mlir", x=x)[0], expected)


def test_a_terminal_gets_no_long_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(
        model(
            [node("Mul", "x s", "y")],
            inputs=[info("x", (300,))],
            outputs=[info("y", (300,))],
            tensors=[tensor("s", np.arange(300.0))],
        )
    )
    assert main([path]) == 0 and "__elided__" not in capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main([path, "--color=never"]) == 0 and "dense<__elided__>" in capsys.readouterr().out


def test_entry_and_places() -> None:
    text = written(saved(model()), "--entry", "net", "--print-debuginfo")
    assert "func.func @net(" in text
    assert 'loc("act"("Relu"("net.onnx":1:1)))' in text


def test_sizes() -> None:
    shape = ["batch", None]
    path = saved(model(inputs=[info("x", shape)], outputs=[info("y", shape)]))
    assert "tensor<?x?xf32>" in written(path)
    assert "tensor<4x?xf32>" in written(path, "--dim", "batch=4")
    assert "tensor<4x5xf32>" in written(path, "--dim", "batch=4", "--dim", "x:1=5")


@pytest.mark.parametrize("value", ["3,2", "shape.npy"])
def test_bound_inputs(value: str) -> None:
    np.save("shape.npy", np.array([3, 2]))
    inputs = [info("x"), info("s", (2,), T.INT64)]
    path = saved(model([node("Reshape", "x s", "y")], inputs=inputs, outputs=[info("y", (3, 2))]))
    assert "(%x: tensor<2x3xf32>)" in written(path, "--bind", f"s={value}")


@pytest.mark.parametrize(("value", "type_"), [("2", "i64"), ("2.5", "f32")])
def test_bound_scalars(value: str, type_: str) -> None:
    number = T.INT64 if type_ == "i64" else T.FLOAT
    inputs = [info(name, shape, number) for name, shape in (("x", (2, 3)), ("k", ()))]
    path = saved(model([node("Mul", "x k", "y")], inputs=inputs, outputs=[info("y", (2, 3), number)]))
    assert f"tensor<{type_}>" in written(path, "--bind", f"k={value}")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--dim", "batch"], "--dim 'batch' is malformed, expected NAME=N"),
        (["--dim", "batch=x"], "--dim 'batch=x' is malformed, expected NAME=N"),
        (["--dim", "=1"], "--dim '=1' is malformed, expected NAME=N"),
        (
            ["--dim", "batch=1"],
            "model 'net.onnx': there is no size 'batch' to give a value\nhint: sizes are none",
        ),
        (["--bind", "s"], "--bind 's' is malformed, expected INPUT=VALUE"),
        (["--bind", "s=a,b"], "--bind 's=a,b': 'a,b' is no list of numbers and no .npy file"),
        (["--bind", "q=1"], "model 'net.onnx': there is no input 'q' to give a value\nhint: inputs are 'x'"),
    ],
)
def test_malformed_options(words: list[str], message: str, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main([saved(model()), *words, "-o", "net.mlir"]) == 1
    assert capsys.readouterr() == ("", f"error: {message}\n")
    assert sorted(path.name for path in folder.iterdir()) == ["net.onnx"]


def test_a_stub_is_written(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    path = saved(model([node("Wobble", "x", "y", "act", by=2)]))
    assert main([path, "-o", "net.mlir", "--stub", "mine.py"]) == 1
    said = capsys.readouterr().err
    assert "Wobble (opset 20), node 'act'" in said
    assert said.endswith("hint: 'mine.py' has a function for each: fill it in and give --converters mine.py\n")
    assert "def wobble(b: Emitter, x0: Value, *, by=None) -> Value:" in Path("mine.py").read_text()
    assert sorted(path.name for path in folder.iterdir()) == ["mine.py", "net.onnx"]


def test_converters_of_a_file(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    registry.load()
    monkeypatch.setattr(registry, "_table", {key: list(found) for key, found in registry._table.items()})
    path = saved(model([node("Wobble", "x", "y", "act")]))
    Path("mine.py").write_text(
        "from stepwell.frontends import converter\n\n@converter('Wobble')\ndef wobble(b, x):\n    return b.relu(x)\n"
    )
    assert "graph.relu" in written(path, "--converters", "mine.py")
    assert main([path, "--converters", "mine.py"]) == 1
    assert main([path, "--converters", "nowhere.py"]) == 1
    assert capsys.readouterr().err == (
        "mine.py:3:2: error: --converters 'mine.py': ValueError: Wobble has a converter since version 1 already\n"
        "  @converter('Wobble')\n   ^\n"
        "error: --converters 'nowhere.py': no such file or directory\n"
    )


def test_an_output_that_cannot_be_written(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main([saved(large()), "-o", "nowhere/net.mlir"]) == 1
    assert "nowhere" in capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == ["net.onnx"]


def test_a_bar_counts_the_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    class Recorded(Progress):
        def __init__(self, what: str, total: float = 1.0, shown: bool | None = None):
            super().__init__(what, total, shown)
            seen.append((what, shown))

        def at(self, done: float, name: str = "", total: float | None = None) -> None:
            seen.append((done, name, total))

    monkeypatch.setattr(progress, "Progress", Recorded)
    path = saved(large())
    written(path)
    assert seen[:2] == [("import", None), (1, "1 of 1 nodes", 1)]
    seen.clear()
    written(path, "--quiet")
    assert seen[0] == ("import", False)


class TestFailures:
    """What stands in the folder stays when an import fails, and nothing comes to it."""

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("-o", "out"), "error: cannot write 'out': is a directory"),
            (("-o", "no/net.mlir"), "error: cannot write 'no/net.safetensors': no such file or directory"),
            (("-o", "net.mlir", "--weights", "out"), "error: cannot write 'out': it is no regular file"),
            (("-o", "net.onnx"), "error: the output 'net.onnx' is the model itself"),
            (("-o", "x.mlir", "--weights", "net.onnx"), "error: the output 'net.onnx' is the model itself"),
            (("-o", "net.mlir", "--dim", "n=2"), "error: model 'net.onnx': there is no size 'n'"),
            (("-o", "net.mlir", "--bind", "x=a,b"), "error: --bind 'x=a,b': 'a,b' is no list of numbers"),
        ],
    )
    def test_all_files_stay(
        self, words: tuple[str, ...], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = saved(large())
        (folder / "out").mkdir()
        for name in ("net.mlir", "net.safetensors", "out.safetensors"):
            Path(name).write_text("old")
        before = {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()}
        assert main([path, *words]) == 1
        assert capsys.readouterr().err.startswith(message)
        assert {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()} == before

    def test_a_model_that_is_not_there(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["no.onnx", "-o", "net.mlir"]) == 1
        assert "model 'no.onnx': cannot read it: no such file" in capsys.readouterr().err
        assert list(folder.iterdir()) == []

    def test_weights_behind_a_link_are_written_there(self, folder: Path) -> None:
        (folder / "data").mkdir()
        Path("net.safetensors").symlink_to("data/real.safetensors")
        written(saved(large()))
        assert Path("net.safetensors").is_symlink() and (folder / "data" / "real.safetensors").is_file()
        assert sorted(each.name for each in folder.iterdir()) == [
            "data",
            "net.mlir",
            "net.onnx",
            "net.safetensors",
        ]


def test_a_full_disk_is_told_with_the_name_of_the_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("stepwell.core.weights._write", full)
    assert main([saved(large()), "-o", "net.mlir"]) == 1
    errors = capsys.readouterr().err
    assert errors == "error: weights file 'net.safetensors': cannot write it: no space left on device\n"
    assert [str(path) for path in Path().iterdir()] == ["net.onnx"]
