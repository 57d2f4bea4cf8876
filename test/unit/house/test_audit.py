"""Lines of the audit (docs/acceptance/product.md) that no other test has."""

from __future__ import annotations

import inspect
import pickle
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
import stepwell
from stepwell import StepwellError, te
from stepwell.schedule import Schedule
from stepwell.tools import opt
from stepwell.tools.main import main

ROOT = Path(__file__).parents[3]

LOOPS = """tensor_loop.func @main(%A: memref<64xf32>) outs(%B: memref<64xf32>) {
  tensor_loop.grid (%i) in (64) {
    tensor_loop.block "b" spatial(%vi in 64 = %i) {
      %a = memref.load %A[%vi] : memref<64xf32>
      memref.store %a, %B[%vi] : memref<64xf32>
    }
  }
}
"""
WEIGHT = """func.func @main() -> tensor<4xf32> {
  %0 = graph.weight "w" : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def test_a_misspelt_kind_of_axis() -> None:
    with pytest.raises(StepwellError) as caught:
        stepwell.parse(LOOPS.replace("spatial(", "spatail("))
    diagnostic = caught.value.diagnostic
    assert "spatail" in diagnostic.message
    assert (diagnostic.point.line, diagnostic.point.column) == (3, 27)
    assert "spatial" in f"{diagnostic.message} {diagnostic.hint}"


def test_a_pickle_is_no_file_of_weights(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "w.mlir").write_text(WEIGHT)
    (folder / "w.pkl").write_bytes(pickle.dumps({"w": np.ones(4, np.float32)}))
    assert main(["run", "w.mlir", "--weights", "w.pkl"]) == 1
    said = capsys.readouterr().err
    assert "weights file 'w.pkl': it is a pickle, expected a safetensors file" in said
    assert "hint: safetensors.numpy.save_file writes one" in said


def test_a_library_is_no_saved_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "m.so").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(200) + b"\xc8")
    with pytest.raises(StepwellError, match=r"saved program 'm\.so': it is no saved program, which begins with 'PK'"):
        stepwell.load("m.so")
    for verb in ("run", "opt"):
        assert main([verb, "m.so"]) == 1
        said = capsys.readouterr().err
        assert said.startswith("error: 'm.so' is machine code, expected textual IR\n")
        assert "\x7f" not in said and "\x00" not in said


def test_other_bytes_are_named_without_being_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, data, what in (
        ("a.npy", b"\x93NUMPY\x01\x00v\x00", "an array of NumPy"),
        ("a.zip", b"PK\x03\x04" + bytes(20), "a zip file"),
        ("a.bin", bytes(range(256)) * 20, "no text"),
    ):
        (folder / name).write_bytes(data)
        assert main(["opt", name]) == 1
        assert capsys.readouterr().err.startswith(f"error: '{name}' is {what}, expected textual IR\n")


def test_schedules_are_imported_and_explained() -> None:
    public = [name for name in dir(Schedule) if not name.startswith("_")]
    assert len(public) > 20
    assert [name for name in public if not inspect.getdoc(getattr(Schedule, name))] == []


def test_remarks_tell_the_schedule_of_a_kernel_of_loops(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "loops.mlir").write_text(LOOPS)
    assert opt.main(["loops.mlir", "-p", "O3", "--remarks"]) == 0
    said = capsys.readouterr().err
    assert re.search(r'loops\.mlir:3:5: remark: .*block "b" of @main: .* because ', said)


def test_the_cache_is_documented_and_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache"]) == 0
    said = capsys.readouterr().out
    page = (ROOT / "docs/tools.md").read_text()
    for name in ("STEPWELL_CACHE_DIR", "STEPWELL_CACHE_BYTES"):
        assert name in said
        assert f"| `{name}` |" in page
    assert str(folder / "cache") in said


def test_nothing_is_installed_from_an_index_that_lacks_it() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*/*.md")]
    assert len(pages) > 30
    wrong = re.compile(r"pip install (?:-\w+ )*['\"]?stepwell(?:[\['\"\s]|$)")
    assert wrong.search("pip install 'stepwell[onnx]'")
    assert [page.name for page in pages if page.name != "CHANGELOG.md" and wrong.search(page.read_text())] == []


def test_the_project_says_what_adopters_ask() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "Apache-2.0 WITH LLVM-exception"
    assert project["authors"]
    assert {"Operating System :: POSIX :: Linux", "Typing :: Typed"} <= set(project["classifiers"])
    pages = {
        "CHANGELOG.md": "Unreleased",
        "SECURITY.md": "report",
        "CONTRIBUTING.md": "first change",
        "docs/versions.md": "3.11",
        "docs/safety.md": "unchecked",
    }
    for name, words in pages.items():
        assert words in (ROOT / name).read_text(), name
    assert len(list((ROOT / ".github/ISSUE_TEMPLATE").glob("*.md"))) >= 3


def test_pages_spell_names_as_the_code_does() -> None:
    pages = "\n".join(page.read_text() for page in ROOT.glob("docs/*.md"))
    assert "te.free_vars(*tensors)" in pages
    assert "te.free_vars(tensors)" not in pages
    assert next(iter(inspect.signature(te.free_vars).parameters.values())).kind is inspect.Parameter.VAR_POSITIONAL
    assert "alpha" in (ROOT / "docs/graph.md").read_text()
    assert "negative_slope" not in pages
