"""The safetensors side-car: what is written is read back, what is broken is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from stepwell.core.roles import BUFFER_ALIGNMENT
from stepwell.core.weights import (
    DTYPES,
    RawTensor,
    WeightsError,
    numpy_dtype,
    open_weights,
    write_weights,
)


def arrays() -> dict[str, np.ndarray[Any, Any]]:
    random = np.random.default_rng(0)
    result: dict[str, np.ndarray[Any, Any]] = {}
    for name in DTYPES.values():
        raw = random.integers(0, 2, (3, 5)).astype(bool) if name == "i1" else random.integers(-9, 9, (3, 5))
        result[f"of.{name}"] = raw.astype(numpy_dtype(name))
    result["scalar"] = np.asarray(2.5, np.float32)
    result["empty"] = np.zeros((0, 4), np.float64)
    result["aligned"] = np.arange(32, dtype=np.float32).reshape(2, 16)
    result["zwölf"] = np.zeros(12, ml_dtypes.bfloat16)
    return result


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path, wanted = tmp_path / "w.safetensors", arrays()
    write_weights(path, wanted, {"made by": "test"})
    file = open_weights(path)
    assert sorted(file.keys()) == sorted(wanted)
    for key, array in wanted.items():
        found = file.array(key)
        assert found.dtype == array.dtype and found.shape == array.shape
        assert found.tobytes() == array.tobytes()
        assert not found.flags.writeable
    assert file.metadata["made by"] == "test"
    file.verify()


def test_arrays_are_views_of_the_mapped_file(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    write_weights(path, {"a": np.zeros(64, np.float32), "b": np.ones(3, np.int8)})
    file = open_weights(path)
    first = file.array("a")
    assert first.base is not None and np.shares_memory(first, file.array("a"))
    assert first.__array_interface__["data"][0] % BUFFER_ALIGNMENT == 0


def test_tensors_of_whole_lines_are_aligned(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    tensors = {"odd": np.ones(3, np.float32), "even": np.ones(16, np.float32), "byte": np.ones(5, np.int8)}
    write_weights(path, tensors | {"more": np.ones(160, np.float64)})
    file = open_weights(path)
    assert file.data_start % BUFFER_ALIGNMENT == 0
    assert file.entry("even").begin % BUFFER_ALIGNMENT == 0 and file.entry("more").begin % BUFFER_ALIGNMENT == 0
    assert file.entry("odd").begin % 4 == 0
    ends = sorted((entry.begin, entry.end) for entry in file.entries.values())
    assert all(a[1] == b[0] for a, b in zip(ends, ends[1:], strict=False)), "the format has no gaps"


def test_raw_tensors_need_no_numpy_array(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    write_weights(path, {"k": RawTensor("i16", (2,), b"\x01\x00\xff\xff")})
    assert open_weights(path).array("k").tolist() == [1, -1]


def test_require_names_found_and_expected(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    write_weights(path, {"layer.weight": np.zeros((2, 3), np.float32)})
    file = open_weights(path)
    assert file.require("layer.weight", "f32", (2, 3)).shape == (2, 3)
    with pytest.raises(WeightsError, match=r"tensor 'layer.weight' is tensor<2x3xf32>, expected tensor<3x2xf32>"):
        file.require("layer.weight", "f32", (3, 2))
    with pytest.raises(WeightsError, match=r"no tensor 'layer.weigth'(.|\n)*did you mean 'layer.weight'"):
        file.entry("layer.weigth")


def test_verify_finds_a_changed_byte(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    write_weights(path, {"a": np.zeros(64, np.float32)})
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(WeightsError, match="the file is damaged"):
        open_weights(path).verify()


def safetensors(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def tensor(dtype: str = "F32", shape: Any = (2,), begin: Any = 0, end: Any = 8) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it has 0 bytes"),
        (b"\x01\x02", "it has 2 bytes"),
        (safetensors(b"{}", length=2**63), "its header claims"),
        (b"\x80\x04\x95" + bytes(20), "it is a pickle, expected a safetensors file"),
        (b"PK\x03\x04" + bytes(20) + b"\x01", "it is a zip file, as torch.save and numpy.savez write, expected"),
        (b"\x93NUMPY\x01\x00", "it is a .npy file, expected"),
        (safetensors(b"{}", length=100), "its header claims 100 bytes but the file has 10"),
        (safetensors(b"[]"), "does not begin with '{'"),
        (safetensors(b"{]"), "not valid JSON"),
        (safetensors(b"{\xff}"), "not valid JSON"),
        (safetensors(b'{"a": ' + b"[" * 100_000), "not valid JSON"),
        (safetensors(b'{"a": 1, "a": 2}'), "key 'a' is repeated"),
        (safetensors({"a": 3}), "tensor 'a' has no dtype"),
        (safetensors({"a": tensor(shape=(-1,))}), r"shape \[-1\], expected a list of extents"),
        (safetensors({"a": tensor(shape=(True,))}), "expected a list of extents"),
        (safetensors({"a": tensor(begin=-8)}, b"\0" * 8), "expected a begin and an end"),
        (safetensors({"a": tensor(begin=8, end=0)}, b"\0" * 8), "lies at bytes 8 to 0"),
        (
            safetensors({"a": tensor(end=16, shape=(4,))}, b"\0" * 8),
            "lies at bytes 0 to 16, but the data has 8",
        ),
        (safetensors({"a": tensor(shape=(3,))}, b"\0" * 8), "takes 8 bytes, expected 12 for 3xf32"),
        (
            safetensors({"a": tensor(), "b": tensor(begin=4, end=12)}, b"\0" * 12),
            "tensors 'a' and 'b' overlap",
        ),
        (safetensors({"__metadata__": {"a": 1}}), "not a map from strings to strings"),
        (safetensors({"a": tensor(shape=(2**40, 2**40))}, b"\0" * 8), "takes 8 bytes"),
    ],
)
def test_broken_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.safetensors"
    path.write_bytes(content)
    with pytest.raises(WeightsError, match=message) as caught:
        open_weights(path)
    assert "bad.safetensors" in str(caught.value)


def test_gaps_and_unknown_types_are_tolerated_until_used(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    header = {"a": tensor(begin=4, end=12), "b": tensor("F8_E8M0", (3,), 12, 15)}
    path.write_bytes(safetensors(header, b"\0" * 16))
    file = open_weights(path)
    assert file.array("a").tolist() == [0.0, 0.0]
    with pytest.raises(WeightsError, match="tensor 'b' has element type F8_E8M0"):
        file.array("b")


def test_booleans_are_zero_or_one(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(safetensors({"a": tensor("BOOL", (2,), 0, 2)}, b"\0\7"))
    with pytest.raises(WeightsError, match="holds a byte 7, expected 0 or 1"):
        open_weights(path).array("a")


def test_missing_file_and_directory(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="no such file or directory"):
        open_weights(tmp_path / "none.safetensors")
    with pytest.raises(WeightsError, match="it is a directory"):
        open_weights(tmp_path)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    write_weights(path, {"a": np.ones(1, np.float32)})
    with pytest.raises(ValueError, match="tensor 'a' has 3 bytes, expected 4"):
        write_weights(path, {"a": RawTensor("f32", (1,), b"abc")})
    assert open_weights(path).array("a").tolist() == [1.0]
    assert os.listdir(tmp_path) == ["w.safetensors"]
    with pytest.raises(WeightsError, match="cannot write it"):
        write_weights(tmp_path / "nowhere" / "w.safetensors", {})
