"""`stepwell VERB`: the verbs, `compile`, saved programs in `run`, and the cache."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
import stepwell
from stepwell.tools.main import VERBS, main

PROGRAM = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = graph.relu %x : (tensor<2x3xf32>)
  func.return %0 : tensor<2x3xf32>
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "m.mlir").write_text(PROGRAM)
    return tmp_path


def test_a_program_is_compiled_and_run(folder: Path, capsys: pytest.CaptureFixture[str]):
    np.save("x.npy", np.array([[-1, 2, 3], [4, -5, 6]], np.float32))
    assert main(["compile", "m.mlir", "--cpu", "x86-64-v3, x86-64-v4", "--small"]) == 0
    manifest = json.loads(zipfile.ZipFile("m.stepwell").read("stepwell.json"))
    assert [level["name"] for level in manifest["levels"]] == ["x86-64-v3", "x86-64-v4"]
    for words in (["m.mlir"], ["m.stepwell"], ["m.stepwell", "--trust-code"]):
        assert main(["run", *words, "--input", "x.npy", "--output", "y.npz"]) == 0
        assert np.load("y.npz")["result0"].tolist() == [[0, 2, 3], [4, 0, 6]]
    assert main(["cache"]) == 0
    assert f"{folder}/cache: " in capsys.readouterr().out
    assert main(["cache", "--clear"]) == 0
    assert list((folder / "cache").iterdir()) == []


def test_a_model_is_compiled_and_run(capsys: pytest.CaptureFixture[str]):
    shape = ["n", 3]
    values = [onnx.helper.make_tensor_value_info(name, 1, shape) for name in ("x", "y:0")]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y:0"])], "g", values[:1], values[1:])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9), "net.onnx")
    np.save("x.npy", np.array([[-1, 2, 3]], np.float32))
    assert main(["compile", "net.onnx", "-o", "net.stepwell", "--small"]) == 0
    assert main(["compile", "net.onnx", "-o", "one.stepwell", "--dim", "n=1"]) == 0
    for file in ("net.onnx", "net.stepwell", "one.stepwell"):
        assert main(["run", file, "--input", "x.npy", "--output", "y.npz"]) == 0
        assert np.load("y.npz")["y:0"].tolist() == [[0, 2, 3]]
    for file, said in (("net.onnx", "an ONNX model"), ("net.stepwell", "a saved program")):
        capsys.readouterr()
        assert main(["opt", file]) == 1
        assert f"'{file}' is {said}, expected textual IR" in capsys.readouterr().err


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_examples_and_our_version(verb: str, capsys: pytest.CaptureFixture[str]):
    assert main([verb, "--help"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("usage: stepwell") and f"\nexamples:\n  stepwell {verb} " in said
    assert main([verb, "--version"]) == 0
    assert re.fullmatch(
        rf"stepwell[ -]{verb} {stepwell.__version__} \(xDSL 0\.\S+, llvmlite \S+, Python 3\.\S+\)\n",
        capsys.readouterr().out,
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["rnu"],
            "error: there is no verb 'rnu', expected one of opt, run, compile, import-onnx, tune, show, calibrate,",
        ),
        (["compile", "-"], "error: a program from standard input has no name for its file\nhint: give -o"),
        (["compile", "m.mlir", "-o", "m.mlir"], "error: the output 'm.mlir' is the program itself"),
        (["compile", "m.mlir", "--cpu", "x86-64-v9"], "error: unknown target 'x86-64-v9'"),
        (["compile", "m.mlir", "--dim", "n=3"], "error: --dim is for ONNX models"),
        (["run", "m.stepwell", "-p", "O1"], "error: 'm.stepwell' is compiled: -p, --weights and --target are for"),
        (["run", "one.stepwell", "--entry", "two"], "error: there is no function @two; the module has @main"),
        (["run", "none.stepwell"], "error: saved program 'none.stepwell': no such file or directory"),
    ],
)
def test_errors(words: list[str], said: str, capsys: pytest.CaptureFixture[str]):
    if "one.stepwell" in words:
        assert main(["compile", "m.mlir", "-o", "one.stepwell"]) == 0
    assert main(words) == 1
    assert capsys.readouterr().err.startswith(said)


def test_the_cache_is_emptied_and_a_broken_one_is_told(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "cache").mkdir()
    for name, age in (("a.bin", 0), ("old.tmp", 7200), ("new.tmp", 0)):
        (folder / "cache" / name).write_text(name)
        os.utime(folder / "cache" / name, (time.time() - age,) * 2)
    assert main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out == f"deleted 1 entries of {folder}/cache\n"
    assert [path.name for path in (folder / "cache").iterdir()] == ["new.tmp"]
    shutil.rmtree(folder / "cache")
    (folder / "cache").write_text("no folder")
    assert main(["run", "m.mlir", "--random", "0"]) == 0
    assert capsys.readouterr().err == (
        f"remark: nothing is kept in the compile cache '{folder}/cache': file exists\n"
        "hint: STEPWELL_CACHE_DIR names another folder\n"
    )


def test_version_and_usage(capsys: pytest.CaptureFixture[str]):
    assert main(["--version"]) == 0
    assert main([]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"stepwell {stepwell.__version__} (xDSL ") and "usage: stepwell VERB" in said


@pytest.mark.parametrize(
    "words, said",
    [
        (["docs", "opts"], "there is no page 'opts'\nhint: did you mean 'opt'?"),
        (["docs", "7"], "there is no page '7'\nhint: stepwell docs lists the pages"),
        (["example", "serve"], "there is no example 'serve'\nhint: did you mean 'serving'?"),
        (["example", "serving", "-o", "."], "'.' exists, expected a folder to be made\nhint: -o names another folder"),
    ],
)
def test_what_is_not_there_is_named(words: list[str], said: str, capsys: pytest.CaptureFixture[str]):
    assert main(words) == 1
    assert capsys.readouterr().err == f"error: {said}\n"


def test_pages_are_listed_and_printed(capsys: pytest.CaptureFixture[str]):
    assert main(["docs"]) == 0
    assert "saving             Saving programs\n" in capsys.readouterr().out
    assert main(["docs", "docs/saving.md"]) == 0
    assert capsys.readouterr().out.startswith("# Saving programs\n")
    assert main(["docs", "saving", "--path"]) == 0
    assert Path(capsys.readouterr().out.strip()).name == "saving.md"
