"""docs/onnx.md and examples/onnx: their programs run, their commands print what they show."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import stepwell
from onnx import TensorProto as T
from onnx_broken_models import info, model, node
from stepwell.frontends.onnx import registry
from stepwell.frontends.onnx.unsupported import UnsupportedError
from stepwell.tools.import_onnx import argument_parser

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "onnx.md").read_text()
EXAMPLE = ROOT / "examples" / "onnx"
BLOCK = re.compile(r"^```console\n\$ (?P<command>[^\n]+)\n(?P<output>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def own_table(monkeypatch: pytest.MonkeyPatch) -> None:
    registry.load()
    monkeypatch.setattr(registry, "_table", {key: list(found) for key, found in registry._table.items()})


def test_the_programs_of_the_page(own_table: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shape = ["batch", 8]
    made = model(inputs=[info("x", shape)], outputs=[info("y", shape)])
    Path("model.onnx").write_bytes(made.SerializeToString())
    programs = blocks("python")
    assert len(programs) == 5
    scope: dict[str, object] = {}
    for rows, code in zip((2, 3, 3, 3, 3), programs, strict=True):
        exec(code, scope)
        assert np.array_equal(scope["y"], np.ones((rows, 8)))  # pyright: ignore[reportArgumentType]
    made = model([node("Bend", "x floor", "y", domain="com.acme", scale=2.0)], inputs=[info("x"), info("floor", ())])
    (found,) = stepwell.compile(stepwell.from_onnx(made), cache=False)(
        np.array([[-3, -1, 0], [1, 2, 3]], np.float32), np.array(-2, np.float32)
    )
    assert found.tolist() == [[-4, -2, 0], [2, 4, 6]]


def test_the_report_of_the_page() -> None:
    nodes = [node("Bend", "x", f"h{number}", f"bend{number}", domain="com.acme") for number in range(3)]
    nodes.append(node("Softmx", "h2", "y", "probabilities"))
    (shown,) = re.findall(r"^```\n(error: .*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    with pytest.raises(UnsupportedError) as caught:
        stepwell.from_onnx(model(nodes))
    assert str(caught.value).replace("<model>", "model.onnx") + "\n" == shown


def test_the_options_of_the_page_are_there() -> None:
    known = argument_parser().format_help()
    named = set(re.findall(r"--[a-z][a-z-]+", PAGE)) - {"--random", "--shapes", "--models", "--clock"}
    assert named and all(option in known for option in named)


def test_what_the_page_says_is_not_supported() -> None:
    made = model([node("Identity", "x", "y")], inputs=[info("x", dtype=T.STRING)], outputs=[info("y", dtype=T.STRING)])
    with pytest.raises(stepwell.frontends.OnnxError, match="element type string"):
        stepwell.from_onnx(made)


def test_the_example_prints_what_it_shows(tmp_path: Path) -> None:
    """Its commands, one after the other, beside the files that they use."""
    folder = tmp_path / "examples" / "onnx"
    shutil.copytree(EXAMPLE, folder)
    shutil.copytree(ROOT / "examples" / "mnist_mlp", folder.parent / "mnist_mlp")
    commands = list(BLOCK.finditer((EXAMPLE / "README.md").read_text()))
    assert len(commands) == 5
    for found in commands:
        words = shlex.split(found["command"])
        finished = subprocess.run(executable(words), cwd=folder, capture_output=True, text=True, check=False)
        assert (finished.returncode != 0) == finished.stderr.startswith("error: "), finished.stderr
        assert finished.stderr + finished.stdout == found["output"]


def executable(words: list[str]) -> list[str]:
    if words[0] == "python":
        return [sys.executable, *words[1:]]
    if words[0] == "stepwell-import-onnx":
        return [sys.executable, str(ROOT / "tools" / "import_onnx.py"), *words[1:]]
    return words


def test_the_converters_of_the_example_are_a_module(own_table: None) -> None:
    assert "bend" in runpy.run_path(str(EXAMPLE / "converters.py"))
