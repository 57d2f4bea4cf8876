"""Saved programs that are damaged, foreign, newer or hostile: a clear error, and nothing of them runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import saved_files
import stepwell
from stepwell.runtime import CompileError, SavedError
from stepwell.runtime.saving.container import Container

NET = """
func.func @main(%x: tensor<4x64xf32>) -> tensor<4x32xf32> {
  %w = graph.weight "w" : tensor<64x32xf32>
  %0 = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>)
  func.return %0 : tensor<4x32xf32>
}
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "m.stepwell"
    stepwell.compile(NET, weights={"w": np.ones((64, 32), np.float32)}).save(path)
    return path


def every_file(whole: Path, path: Path) -> Iterator[str]:
    """Writes one bad file after the other to `path`, and yields what is wrong with it."""
    data, container, parts = whole.read_bytes(), Container(whole), saved_files.parts_of(whole)
    for kind in (saved_files.flips, saved_files.cuts, saved_files.words):
        for what, changed in kind(data, container):
            path.write_bytes(changed)
            yield what
    for what, changed in saved_files.names(data):
        path.write_bytes(changed)
        yield what
    for made in (saved_files.manifests, saved_files.texts, saved_files.entries):
        for what, _ in made(parts, path):
            yield what


def test_every_bad_file_is_refused_before_anything_runs(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("code is loaded")

    monkeypatch.setattr("stepwell.runtime.native.jit.NativeLibrary.__init__", never)
    path, count = tmp_path / "bad.stepwell", 0
    for what in every_file(whole, path):
        count += 1
        with pytest.raises((SavedError, stepwell.StepwellError, CompileError)) as caught:
            stepwell.load(path, cache=False)
        message = str(caught.value)
        assert message.isprintable() or "\n" in message, what
        assert len(message) < 1000, what
    assert count > 200


@pytest.mark.parametrize("verify", [None, True])
def test_trusted_code_is_refused_where_it_is_damaged(whole: Path, tmp_path: Path, verify: bool | None):
    path, data, container = tmp_path / "bad.stepwell", whole.read_bytes(), Container(whole)
    for what, changed in saved_files.flips(data, container):
        if "data of" in what and ".safetensors" in what and verify is None:
            continue
        path.write_bytes(changed)
        with pytest.raises(stepwell.StepwellError):
            stepwell.load(path, trust_code=True, verify=verify)


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(stepwell.StepwellError) as caught:
        stepwell.load(path, **options)
    return str(caught.value).replace(str(path), "FILE")


def test_messages(whole: Path, tmp_path: Path):
    path, data, parts = tmp_path / "bad.stepwell", whole.read_bytes(), saved_files.parts_of(whole)
    assert refusal(tmp_path / "none") == "error: saved program 'FILE': no such file or directory"
    assert refusal(tmp_path) == "error: saved program 'FILE': it is a directory, expected a file"
    path.write_bytes(b"\x80\x04\x95" + b"x" * 200)
    assert refusal(path) == (
        "error: saved program 'FILE': it is no saved program, which begins with 'PK'\nhint: Executable.save writes one"
    )
    path.write_bytes(data[: len(data) // 2])
    assert "it does not end as a saved program does: it has been cut" in refusal(path)
    at = data.index(b"graph.matmul")
    path.write_bytes(saved_files.flipped(data, at))
    assert "the data of entry 'program.mlir' does not have its hash: the file is damaged" in refusal(path)
    saved_files.rebuilt(path, parts, lambda manifest: manifest.update(format=7, stepwell="9.1"))
    assert refusal(path) == (
        "error: saved program 'FILE': it was written by stepwell 9.1 in format 7, and this version reads up to 1\n"
        "hint: load it with a newer version of stepwell"
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%n = llvm.mlir.zero : !llvm.ptr", "its text has the op 'llvm.mlir.zero', which nothing checks"),
        ("func.call @f() : () -> ()", "its text has a function without a body, which is code outside of the program"),
    ],
)
def test_text_that_nothing_checks_is_refused_with_its_place(whole: Path, tmp_path: Path, line: str, said: str):
    path, parts = tmp_path / "bad.stepwell", saved_files.parts_of(whole)
    text = parts["program.mlir"].decode().replace("  func.return", f"  {line}\n  func.return")
    text = "func.func private @f() -> ()\n" + text if "@f" in line else text
    saved_files.rebuilt(path, parts | {"program.mlir": text.encode()})
    message = refusal(path)
    assert message.startswith("bad.stepwell/program.mlir:") and f"saved program 'FILE': {said}" in message
    assert message.endswith("hint: if you trust who made the file: stepwell.load(path, trust_code=True)")


def test_promises_are_not_believed(tmp_path: Path):
    text = """
tensor_loop.func @main(%A: memref<4xf32>, %I: memref<4xi64>) outs(%B: memref<4xf32>) attributes {stepwell.written} {
  tensor_loop.for %i in 4 {
    tensor_loop.block "b" spatial(%v in 4 = %i) {
      %k = memref.load %I[%v] : memref<4xi64>
      %j = arith.index_cast %k : i64 to index
      %a = memref.load %A[%v] : memref<4xf32>
      memref.store %a, %B[%j] : memref<4xf32>
    }
  }
}
"""
    exe = stepwell.compile(text)
    exe.save(tmp_path / "m.stepwell")
    x, places = np.ones(4, np.float32), np.zeros(4, np.int64)
    stepwell.load(tmp_path / "m.stepwell", trust_code=True)(x, places)
    with pytest.raises(RuntimeError, match="an element of %B was never written"):
        stepwell.load(tmp_path / "m.stepwell")(x, places)


def test_code_generators_need_trust(whole: Path, tmp_path: Path):
    text = """
func.func private @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {graph.primitive, graph.compiler = "nobody"} {
  %0 = graph.relu %x : (tensor<4x4xf32>)
  func.return %0 : tensor<4x4xf32>
}
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = func.call @f(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %0 : tensor<4x4xf32>
}
"""
    parts = saved_files.parts_of(whole) | {"program.mlir": text.encode()}
    path = saved_files.rebuilt(tmp_path / "m.stepwell", parts)
    assert "its text has 'graph.compiler': its code is made by a code generator" in refusal(path)


def test_a_copy_of_a_file_is_as_good(whole: Path, tmp_path: Path):
    shutil.copy(whole, tmp_path / "other name.bin")
    x = np.ones((4, 64), np.float32)
    assert stepwell.load(tmp_path / "other name.bin")(x)[0].tolist() == np.full((4, 32), 64).tolist()
