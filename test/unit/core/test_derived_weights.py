"""Keys that name what follows from a tensor of a side-car: sums of bytes, in files and in arrays that are given."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.core import write_weights
from stepwell.core.derived_weights import WithDerived, source_key, summed, sums_key, sums_of, with_sources
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.core.weights import WeightsError, open_weights
from stepwell.runtime.errors import CompileError

Array = np.ndarray[Any, Any]


def signed_sums(array: Array, axis: int, factor: int) -> list[int]:
    """The same in Python."""
    rows = np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1).tolist()
    less = 128 if array.dtype == np.uint8 else 0
    return [factor * sum(byte - less for byte in row) for row in rows]


@settings(max_examples=60, deadline=None)
@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    dtype=st.sampled_from([np.int8, np.uint8]),
    factor=st.integers(-255, 255),
    seed=st.integers(0, 2**32 - 1),
)
def test_sums_are_what_python_says(shape: list[int], dtype: Any, factor: int, seed: int) -> None:
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    array = np.random.default_rng(seed).integers(least, most + 1, shape).astype(dtype)
    for axis in range(len(shape)):
        found = summed(array, axis, factor)
        assert found.dtype == np.int32 and found.tolist() == signed_sums(array, axis, factor)
        assert WithDerived({"w": array})[sums_key("w", axis, factor)].tolist() == found.tolist()


def test_the_largest_sums_fit() -> None:
    array = np.full((1, 1 << 15), -128, np.int8)
    assert summed(array, 0, -255).tolist() == [255 * 128 * (1 << 15)]


@pytest.mark.parametrize("key", ["w", "a#sums", "a#sums1", "#sums0*1", "a#sums0*-3", "a\nb#sums1*2", "w#packed"])
def test_keys(key: str) -> None:
    assert sums_of(sums_key(key, 2, -7)) == (key, 2, -7) and source_key(sums_key(key, 2, -7)) == key
    assert with_sources([sums_key(key, 2, -7)]) == {key, sums_key(key, 2, -7)}


@pytest.mark.parametrize(
    "key", ["w", "w#sums", "w#sums0", "w#sums0*", "w#sums*3", "w#sums0*3x", "w#sums-1*3", "w#sums1*99999999999"]
)
def test_keys_of_tensors(key: str) -> None:
    """What does not have the form is a key like others."""
    assert sums_of(key) is None and source_key(key) == key


def test_files(tmp_path: Path) -> None:
    """A tensor that has such a key itself goes before sums."""
    w = np.arange(24, dtype=np.int8).reshape(2, 3, 4)
    own = np.ones(2, np.int32)
    write_weights(tmp_path / "w.safetensors", {"w": w, "w#sums0*9": own, "f": w.astype(np.float32)})
    file = open_weights(tmp_path / "w.safetensors")
    assert file.array("w#sums1*-2").tolist() == signed_sums(w, 1, -2)
    assert file.array("w#sums0*9").tolist() == [1, 1]
    assert str(file.require("w#sums2*1", "i32", (4,))) == "tensor<4xi32>"
    for key in ("f#sums0*1", "w#sums3*1", "v#sums0*1", "w#packed"):
        assert key not in file
        with pytest.raises(WeightsError, match="there is no tensor"):
            file.array(key)
    with pytest.raises(WeightsError, match=r"tensor 'w#sums2\*1' is tensor<4xi32>, expected tensor<3xi32>"):
        file.require("w#sums2*1", "i32", (3,))


PROGRAM = """
module attributes {stepwell.weights = "w.safetensors"} {
  func.func @main() -> tensor<3xi32> {
    %w = graph.weight "w#sums1*-2" : tensor<3xi32>
    func.return %w : tensor<3xi32>
  }
}
"""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"w": np.zeros((2, 3), np.int16)}, "weight 'w' is given with element type int16, expected one of int8, uint8"),
        ({"w": np.zeros(3, np.int8)}, "weight 'w' is given with 1 dimensions, expected at least 2"),
        ({"w": np.zeros((3, 2), np.int8)}, r"weight 'w#sums1\*-2' is given as 2xint32, the program expects"),
        ({}, r"the weights given have no 'w#sums1\*-2'"),
        ({"w": np.zeros((2, 3), np.int8), "v": np.zeros(2)}, "the program asks for no weight 'v'"),
    ],
)
def test_arrays_that_do_not_fit(given: dict[str, Array], message: str) -> None:
    with pytest.raises(CompileError, match=message):
        stepwell.compile(PROGRAM, cache=False, weights=given)


def test_written_in_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a file, from arrays, and in the reference."""
    monkeypatch.chdir(tmp_path)
    w = np.arange(6, dtype=np.uint8).reshape(2, 3)
    write_weights("w.safetensors", {"w": w})
    wanted = signed_sums(w, 1, -2)
    assert stepwell.compile(PROGRAM, cache=False)()[0].tolist() == wanted
    assert stepwell.compile(PROGRAM, cache=False, weights={"w": w})()[0].tolist() == wanted
    assert stepwell.reference.run(parse_text(make_context(), PROGRAM, "p"), weights={"w": w})[0].tolist() == wanted


def test_saved_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that reads nothing but sums takes their tensor along."""
    monkeypatch.chdir(tmp_path)
    w = np.arange(6, dtype=np.int8).reshape(2, 3)
    executable = stepwell.compile(PROGRAM, cache=False, weights={"w": w})
    executable.save("p.stepwell")
    for each in (stepwell.load("p.stepwell"), pickle.loads(pickle.dumps(executable))):
        assert each()[0].tolist() == signed_sums(w, 1, -2)
