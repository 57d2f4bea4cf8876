"""Integers of 4 and 2 bits in side-cars: bytes of U8, and metadata that tells what they are."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

import numpy as np
import pytest
import stepwell
from hypothesis import given, settings
from hypothesis import strategies as st
from small_integers import BITS, TYPES, Array, any_bytes, each_type, packed, values_of
from stepwell.core import write_weights
from stepwell.core.packing import file_bytes, pack, unpack
from stepwell.core.weights import WeightsError, hold_weights, open_weights, raw_tensor
from stepwell.runtime.errors import CompileError


@pytest.mark.ci_cases(2)
@each_type
@settings(max_examples=60, deadline=None)
@given(shape=st.lists(st.integers(0, 5), max_size=3), seed=st.integers(0, 2**32 - 1))
def test_packing_is_what_python_says(dtype: str, shape: list[int], seed: int) -> None:
    """Of any length, also one that does not fill the last byte."""
    array, numbers = any_bytes(np.random.default_rng(seed), dtype, tuple(shape))
    data = pack(array)
    assert data.tobytes() == packed(numbers, dtype) and data.size == file_bytes(shape, dtype)
    back = unpack(data, dtype, shape)
    assert back.dtype == TYPES[dtype] and back.shape == tuple(shape)
    np.testing.assert_array_equal(values_of(back), numbers)


def tensors() -> dict[str, Array]:
    random = np.random.default_rng(0)
    found = {f"{dtype}_{size}": any_bytes(random, dtype, (size, 3))[0] for dtype in TYPES for size in (0, 1, 4, 5)}
    return found | {"scalar": np.array(-3, TYPES["i4"]), "f": np.ones(3, np.float32)}


def test_side_cars_hold_bytes(tmp_path: Path) -> None:
    arrays = tensors()
    write_weights(tmp_path / "w.safetensors", arrays)
    file = open_weights(tmp_path / "w.safetensors")
    file.verify()
    header = json.loads((tmp_path / "w.safetensors").read_bytes()[8 : file.data_start])
    assert header["i4_5"]["dtype"] == "U8" and header["i4_5"]["shape"] == [8]
    assert header["__metadata__"]["stepwell.type.i4_5"] == "5x3xi4"
    for key, array in arrays.items():
        found = file.array(key)
        assert found.dtype == array.dtype and found.shape == array.shape, key
        np.testing.assert_array_equal(found.astype(np.int8), array.astype(np.int8), err_msg=key)
        if key.partition("_")[0] in BITS:
            assert f"{key}#packed" in file
            assert file.array(f"{key}#packed").tobytes() == raw_tensor(array).bytes().tobytes()
    assert "f#packed" not in file
    assert str(file.require("i4_5", "i4", (5, 3))) == "tensor<5x3xi4>"


def test_the_bytes_are_views_of_the_file(tmp_path: Path) -> None:
    write_weights(tmp_path / "w.safetensors", tensors())
    data = open_weights(tmp_path / "w.safetensors").array("i4_5#packed")
    assert not data.flags.owndata and not data.flags.writeable
    # A tensor of one file that another one points to is packed there too.
    raw = raw_tensor(np.arange(5).astype(TYPES["i4"]))
    hold_weights(tmp_path / "held.safetensors", {"w": raw})
    np.testing.assert_array_equal(open_weights(tmp_path / "held.safetensors").array("w").astype(int), np.arange(5))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3x5xi5", "'stepwell.type.w' is '3x5xi5', expected extents and one of i2, i4, ui2, ui4, such as 4096x4096xi4"),
        ("3x-5xi4", "'stepwell.type.w' is '3x-5xi4', expected extents and one of"),
        ("", "'stepwell.type.w' is '', expected extents and one of"),
        ("3x6xi4", "tensor 'w' is tensor<8xui8>, expected tensor<9xui8>, the bytes of 3x6xi4"),
        ("3x5xi2", "tensor 'w' is tensor<8xui8>, expected tensor<4xui8>, the bytes of 3x5xi2"),
    ],
)
def test_metadata_that_does_not_fit(text: str, message: str, tmp_path: Path) -> None:
    write_weights(tmp_path / "w.safetensors", {"w": np.zeros(8, np.uint8)}, {"stepwell.type.w": text})
    with pytest.raises(WeightsError) as caught:
        open_weights(tmp_path / "w.safetensors")
    assert message in str(caught.value)


def test_tensors_of_another_type_than_the_program_wants(tmp_path: Path) -> None:
    write_weights(tmp_path / "w.safetensors", {"w": np.zeros((3, 5), TYPES["i4"]), "v": np.zeros((3, 5), np.int8)})
    file = open_weights(tmp_path / "w.safetensors")
    with pytest.raises(WeightsError, match="tensor 'w' is tensor<3x5xi4>, expected tensor<3x5xui4>"):
        file.require("w", "ui4", (3, 5))
    with pytest.raises(WeightsError, match="tensor 'v' is tensor<3x5xi8>, expected tensor<3x5xi4>"):
        file.require("v", "i4", (3, 5))


PROGRAM = """
module attributes {stepwell.weights = "w.safetensors"} {
  func.func @main(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xi4>) {
    %w = graph.weight "w" : tensor<3x5xi4>
    %s = graph.full 0.5 : tensor<f32>
    %z = graph.full -1 : tensor<i4>
    %d = graph.dequantize %w, %s, %z : (tensor<3x5xi4>, tensor<f32>, tensor<i4>) -> tensor<3x5xf32>
    %y = graph.add %x, %d : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
    func.return %y, %w : tensor<3x5xf32>, tensor<3x5xi4>
  }
}
"""


def test_programs_with_such_weights_are_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    w, numbers = any_bytes(np.random.default_rng(4), "i4", (3, 5))
    write_weights("w.safetensors", {"w": w})
    x = np.ones((3, 5), np.float32)
    executable = stepwell.compile(PROGRAM, cache=False)
    executable.save("p.stepwell")
    for each in (executable, stepwell.load("p.stepwell"), stepwell.compile(PROGRAM, cache=False, weights={"w": w})):
        y, back = each(x)
        np.testing.assert_array_equal(y, (numbers + 1) * 0.5 + 1)
        np.testing.assert_array_equal(values_of(back), numbers)


def test_exported_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The header says where the bits are. Their file has a byte for each, as C code reads them."""
    monkeypatch.chdir(tmp_path)
    w, numbers = any_bytes(np.random.default_rng(5), "i4", (3, 5))
    write_weights("w.safetensors", {"w": w})
    executable = stepwell.compile(PROGRAM, cache=False)
    executable.export("p.so")
    bits = "uint8_t, an integer with a sign in the lower 4 bits, 3 x 5, 15 bytes"
    assert f"result1: {bits} */" in Path("p.h").read_text()
    library = ctypes.CDLL(str(tmp_path / "p.so"))
    context = ctypes.c_void_p()
    assert library.p_load(b"p.safetensors", ctypes.byref(context)) == 0
    x, y, back = np.ones((3, 5), np.float32), np.zeros((3, 5), np.float32), np.zeros((3, 5), np.uint8)
    inputs, outputs = (ctypes.c_void_p * 1)(x.ctypes.data), (ctypes.c_void_p * 2)(y.ctypes.data, back.ctypes.data)
    assert library.p_run(context, inputs, outputs) == 0
    library.p_free(context)
    np.testing.assert_array_equal(y, (numbers + 1) * 0.5 + 1)
    np.testing.assert_array_equal(values_of(back.view(TYPES["i4"])), numbers)


def test_no_export_into_the_side_car_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_weights("w.safetensors", {"w": np.zeros((3, 5), TYPES["i4"])})
    executable = stepwell.compile(PROGRAM, cache=False)
    message = r"tensors in '.*w.safetensors' share bytes, and it is the side-car of the program: export under another"
    with pytest.raises(CompileError, match=message):
        executable.export("w.so")
