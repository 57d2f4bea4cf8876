"""Broken models: one clear error each, nothing written, exit code 1, no traceback."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import onnx
import onnx_broken_models as files
import onnx_broken_nodes as nodes
import pytest
from counts import FULL
from onnx_broken_models import Broken, damaged
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.frontends import OnnxError, from_onnx
from stepwell.frontends.onnx.errors import shown as shown_path
from stepwell.tools.import_onnx import main

TOOL = Path(__file__).parents[3] / "tools" / "import_onnx.py"
MODELS = [
    *files.files(),
    *files.headers(),
    *files.tensors(),
    *files.external_data(),
    *files.names(),
    *files.types(),
    *nodes.operators(),
    *nodes.attributes(),
    *nodes.inputs_and_outputs(),
    *nodes.values(),
]

MOST_LINES = 24
"""Lines of a terminal."""


def written(broken: Broken, folder: Path) -> Path:
    path = folder / "model.onnx"
    (folder / "data.bin").write_bytes(bytes(48))
    (folder / "link.bin").symlink_to(folder / "data.bin")
    (folder / "sub").mkdir()
    if broken.model is None:
        path.mkdir()
    else:
        data = broken.model
        path.write_bytes(data if isinstance(data, bytes) else data.SerializeToString())
    return path


def test_there_are_enough() -> None:
    names = [each.name for each in MODELS]
    assert len(names) == len(set(names)) >= 100


@pytest.mark.parametrize("broken", MODELS, ids=lambda each: each.name)
def test_the_error_is_clear(broken: Broken, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(broken, tmp_path)
    before = sorted(tmp_path.iterdir())
    code = main([str(path), "-o", str(tmp_path / "out.mlir")])
    printed, error = capsys.readouterr()
    assert (code, printed) == (1, "")
    shown = shown_path(str(path))
    start = f"error: model '{shown}': "
    assert error.startswith(start)
    assert broken.message in error.removeprefix(start)
    assert "Traceback" not in error and "internal error" not in error
    assert len(error.splitlines()) <= MOST_LINES
    assert sorted(tmp_path.iterdir()) == before


def test_the_sound_model_is_imported(tmp_path: Path) -> None:
    path = written(Broken("sound", files.sound(), ""), tmp_path)
    assert main([str(path), "-o", str(tmp_path / "out.mlir")]) == 0
    assert (tmp_path / "out.mlir").is_file()


def test_external_data_inside_the_folder_is_read(tmp_path: Path) -> None:
    path = written(Broken("sound", files.external(location="data.bin", length="48"), ""), tmp_path)
    assert main([str(path), "-o", str(tmp_path / "out.mlir")]) == 0


def test_what_was_there_stays(tmp_path: Path) -> None:
    path = written(Broken("cut", files.sound().SerializeToString()[:60], ""), tmp_path)
    for name in ("out.mlir", "out.safetensors"):
        (tmp_path / name).write_text("kept")
    assert main([str(path), "-o", str(tmp_path / "out.mlir")]) == 1
    assert {(tmp_path / name).read_text() for name in ("out.mlir", "out.safetensors")} == {"kept"}


def test_as_a_program(tmp_path: Path) -> None:
    path = written(Broken("text", b"not a model", ""), tmp_path)
    finished = subprocess.run(
        [sys.executable, str(TOOL), str(path)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (finished.returncode, finished.stdout) == (1, "")
    assert finished.stderr.startswith("error: model '") and finished.stderr.count("\n") == 2


def test_a_missing_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nowhere.onnx"]) == 1
    assert capsys.readouterr().err == "error: model 'nowhere.onnx': cannot read it: no such file or directory\n"


# Damage at random


def seeds() -> list[onnx.ModelProto]:
    """Small models of several kinds of nodes."""
    body = onnx.helper.make_graph([files.node("Neg", "x", "b")], "body", [], [files.info("b")])
    branches = files.node("If", "c", "y", then_branch=body, else_branch=body)
    constant = files.node("Constant", "", "c", value=files.tensor("", True, bool))
    shape = [
        files.node("Shape", "x", "s"),
        files.node("Concat", "s one", "t", axis=0),
        files.node("Reshape", "x t", "u"),
        files.node("Squeeze", "u two", "y"),
    ]
    numbers = [files.tensor("one", [1], "int64"), files.tensor("two", [2], "int64")]
    convolution = nodes.convolutions()[0].model
    assert isinstance(convolution, onnx.ModelProto)
    del convolution.graph.node[0].attribute[:]
    return [
        files.sound(),
        convolution,
        files.model([constant, branches]),
        files.model(shape, tensors=numbers),
    ]


@pytest.mark.parametrize("number", range(len(seeds())))
def test_damaged_models_are_imported_or_refused(number: int, tmp_path: Path) -> None:
    data = seeds()[number].SerializeToString()
    from_onnx(data)
    random_ = random.Random(number)
    refused = 0
    for _ in range(5000 if FULL else 150):
        text = damaged(data, random_)
        try:
            from_onnx(text)
        except OnnxError as error:
            refused += 1
            assert "it cannot be converted" not in str(error), text
        except StepwellError as error:
            raise AssertionError(text) from error
    assert refused
