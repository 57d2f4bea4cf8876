"""Weights stay what they were at the time of `compile`: a changed side-car is an error, given arrays are copied."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.weights import WeightsError, write_weights
from stepwell.runtime.errors import CompileError

PROGRAM = """builtin.module attributes {stepwell.weights = "w.safetensors"} {
  func.func @main(%x: tensor<ROWSx64xf32>) -> (tensor<ROWSx64xf32>, tensor<ROWSx64xf32>) {
    %w = graph.weight "w" : tensor<64x64xf32>
    %v = graph.weight "v" : tensor<64xf32>
    %0 = graph.matmul %x, %w : (tensor<ROWSx64xf32>, tensor<64x64xf32>) -> tensor<ROWSx64xf32>
    %1 = graph.add %x, %v : (tensor<ROWSx64xf32>, tensor<64xf32>) -> tensor<ROWSx64xf32>
    func.return %0, %1 : tensor<ROWSx64xf32>, tensor<ROWSx64xf32>
  }
}
"""


def ones(rows: int) -> np.ndarray[Any, Any]:
    return np.ones((rows, 64), np.float32)


def put(folder: Path, value: float) -> None:
    """Replaces the weights file by renaming another one over it."""
    write_weights(folder / "new", {"w": np.full((64, 64), value, "f"), "v": np.full(64, value, "f")})
    os.replace(folder / "new", folder / "w.safetensors")


def compiled(folder: Path, rows: str) -> stepwell.Executable:
    (folder / "p.mlir").write_text(PROGRAM.replace("ROWS", rows))
    put(folder, 1)
    return stepwell.compile(folder / "p.mlir")


USES: dict[str, Callable[[stepwell.Executable, Path], object]] = {
    "a new shape": lambda exe, _: exe(ones(3)),
    "a pickle": lambda exe, _: pickle.dumps(exe),
    "save": lambda exe, folder: exe.save(folder / "p.stepwell"),
    "a trace": lambda exe, _: exe.trace(ones(2)),
    "a profile": lambda exe, _: exe.profile(ones(2)),
    "an export": lambda exe, folder: exe.export(folder / "p.o", shapes=((2, 64),)),
}


@pytest.mark.parametrize("use", USES)
def test_a_side_car_replaced_after_compile_is_an_error(use: str, tmp_path: Path) -> None:
    exe = compiled(tmp_path, "?")
    assert exe(ones(2))[0][0, 0] == 64
    put(tmp_path, 2)
    there = set(tmp_path.iterdir())
    with pytest.raises(WeightsError, match="w.safetensors': it has changed since the program was compiled\nhint: comp"):
        USES[use](exe, tmp_path)
    assert set(tmp_path.iterdir()) == there, "nothing is written"
    assert exe(ones(2))[0][0, 0] == 64, "what is loaded keeps the old file"


def test_a_program_of_known_sizes_looks_at_its_file_again_only_where_it_needs_to(tmp_path: Path) -> None:
    exe = compiled(tmp_path, "2")
    put(tmp_path, 2)
    assert exe(ones(2))[0][0, 0] == 64
    assert "graph.weight" in exe.ir("graph")
    with pytest.raises(WeightsError, match="has changed since the program was compiled"):
        pickle.dumps(exe)
    assert stepwell.compile(tmp_path / "p.mlir")(ones(2))[0][0, 0] == 128


def test_given_arrays_are_copied_unless_they_are_read_only() -> None:
    w, v = np.ones((64, 64), np.float32), np.ones(64, np.float32)
    exe = stepwell.compile(PROGRAM.replace("ROWS", "?"), weights={"w": w, "v": v})
    before = [result[0, 0] for result in exe(ones(2))]
    w[:], v[:] = 5, 5
    assert [result[0, 0] for result in exe(ones(2))] == before == [64, 2]
    assert [result[0, 0] for result in exe(ones(3))] == before
    w.flags.writeable = False
    kept = stepwell.compile(PROGRAM.replace("ROWS", "2"), weights={"w": w, "v": v})._source().weights
    assert isinstance(kept, dict)
    assert np.shares_memory(kept["w"], w)
    assert not np.shares_memory(kept["v"], v)


def test_weights_that_are_no_arrays_by_key() -> None:
    program, array = PROGRAM.replace("ROWS", "?"), np.ones(64, np.float32)
    for wrong, message in (
        (5, "weights is an int, expected the name of a safetensors file or a dict of arrays"),
        ([("w", array)], "weights is a list, expected the name"),
        ({1: array}, "weights has the key 1, expected the names of weights"),
        ({"w": [[1], [2, 3]]}, "weight 'w' is a list, expected a numpy array"),
        ({"w": np.ma.array(array, mask=True)}, "weight 'w' is a MaskedArray, .* it has a mask, expected an array with"),
    ):
        with pytest.raises(CompileError, match=message):
            stepwell.compile(program, weights=wrong)  # pyright: ignore[reportArgumentType]
    plain = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  func.return %x : tensor<2xf32>\n}\n"
    with pytest.raises(CompileError, match="the program has no weights, but weights= gives 'w.safetensors'"):
        stepwell.compile(plain, weights="w.safetensors")


def test_an_export_does_not_replace_the_side_car_of_the_program(tmp_path: Path) -> None:
    compiled(tmp_path, "2")
    given = {"w": np.full((64, 64), 3, np.float32), "v": np.ones(64, np.float32)}
    exe = stepwell.compile(tmp_path / "p.mlir", weights=given)
    before = (tmp_path / "w.safetensors").read_bytes()
    message = "w.safetensors' is the side-car that the program names, and weights= gives others: export under another"
    with pytest.raises(CompileError, match=message):
        exe.export(tmp_path / "w.o")
    assert (tmp_path / "w.safetensors").read_bytes() == before
    assert not (tmp_path / "w.o").exists()
    exe.export(tmp_path / "other.o")
