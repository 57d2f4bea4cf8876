"""
A side-car that does not fit ends in one screen that names the file, the key and the place in the program; exit code 1.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import stepwell
from stepwell.core.weights import WeightsError, open_weights, write_weights
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command, Finished
from stepwell.tools.opt import main as opt_main
from stepwell.tools.run import main as run_main

PROGRAM = """builtin.module attributes {stepwell.weights = "w.safetensors"} {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %w = graph.weight "layer.w" : tensor<2xf32>
    %0 = graph.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    func.return %0 : tensor<2xf32>
  }
}
"""


def raw(header: object, data: bytes = bytes(8)) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(**changes: object) -> dict[str, object]:
    return {"layer.w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}}


def arrays(**tensors: np.ndarray) -> Callable[[Path], None]:
    return lambda path: write_weights(path, {key.replace("__", "."): value for key, value in tensors.items()})


CASES: list[tuple[str, bytes | Callable[[Path], None], str]] = [
    ("missing", lambda path: None, "w.safetensors"),
    ("directory", lambda path: path.mkdir(), "w.safetensors"),
    ("empty", b"", "w.safetensors"),
    ("short", b"\x10\0\0", "w.safetensors"),
    ("header_longer_than_file", struct.pack("<Q", 1 << 40) + b"{}", "header"),
    ("not_json", raw(b"not json at all "), "header"),
    ("not_utf8", raw(b"\xff\xfe{}"), "header"),
    ("a_list", raw([1, 2]), "header"),
    ("no_dtype", raw({"layer.w": {"shape": [2], "data_offsets": [0, 8]}}), "layer.w"),
    ("unknown_dtype", raw(entry(dtype="F8_E5M2"), bytes(8)), "layer.w"),
    ("negative_shape", raw(entry(shape=[-2])), "layer.w"),
    ("shape_of_text", raw(entry(shape="2")), "layer.w"),
    ("wrong_size", raw(entry(data_offsets=[0, 4])), "layer.w"),
    ("offsets_backwards", raw(entry(data_offsets=[8, 0])), "layer.w"),
    ("offsets_beyond_the_end", raw(entry(data_offsets=[8, 16])), "layer.w"),
    ("huge_offsets", raw(entry(data_offsets=[2**70, 2**70 + 8])), "layer.w"),
    ("truncated_data", raw(entry(), bytes(5)), "layer.w"),
    ("other_key", arrays(layer__v=np.zeros(2, np.float32)), "there is no tensor 'layer.w'"),
    ("other_type", arrays(layer__w=np.zeros(2, np.float64)), "expected"),
    ("other_shape", arrays(layer__w=np.zeros(3, np.float32)), "expected"),
    ("other_rank", arrays(layer__w=np.zeros((2, 1), np.float32)), "expected"),
]


def assert_one_screen(finished: Finished, place: str) -> str:
    text = finished.stderr.decode()
    assert finished.exit_code == 1, text
    assert "Traceback" not in text and "internal error" not in text
    assert 0 < len(text.splitlines()) <= 24
    assert text.startswith(place)
    return text


@pytest.mark.ci_cases(9)
@pytest.mark.parametrize(("name", "content", "message"), CASES, ids=[case[0] for case in CASES])
def test_a_side_car_that_does_not_fit(
    tmp_path: Path, name: str, content: bytes | Callable[[Path], None], message: str
) -> None:
    program, side_car, output = tmp_path / "p.mlir", tmp_path / "w.safetensors", tmp_path / "out.npz"
    program.write_text(PROGRAM)
    if isinstance(content, bytes):
        side_car.write_bytes(content)
    else:
        content(side_car)
    arguments = (str(program), "--random", "0", "--no-cache", "--output", str(output))
    finished = call_tool(run_main, Command(["stepwell-run", *arguments]), b"")
    text = assert_one_screen(finished, f"{program}:3:")
    assert message in text
    assert not output.exists()
    finished = call_tool(opt_main, Command(["stepwell-opt", str(program), "--verify-weights"]), b"")
    assert finished.exit_code == 1 and "Traceback" not in finished.stderr.decode()


def test_g8_a_side_car_that_is_cut_after_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    write_weights(path, {"layer.w": np.ones(2, np.float32)})
    file = open_weights(path)
    os.truncate(path, file.entry("layer.w").end - 1)
    with pytest.raises(WeightsError) as caught:
        file.array("layer.w")
    assert str(caught.value) == (
        f"error: weights file '{path}': tensor 'layer.w' ends at byte 200, but the file has 199 now: it has been cut\n"
        "hint: write a new file and rename it over the old one, as a program keeps the old one mapped"
    )


def test_g8_a_program_keeps_the_weights_of_a_file_that_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(PROGRAM)
    path = tmp_path / "w.safetensors"
    write_weights(path, {"layer.w": np.ones(2, np.float32)})
    exe = stepwell.compile(tmp_path / "p.mlir", threads=1, cache=False)
    write_weights(path, {"layer.w": np.full(2, 5, np.float32)})
    assert exe(np.zeros(2, np.float32))[0].tolist() == [1, 1]
    assert stepwell.compile(tmp_path / "p.mlir", threads=1, cache=False)(np.zeros(2, np.float32))[0].tolist() == [5, 5]


def test_g8_the_hash_is_looked_at_where_it_is_asked_for(tmp_path: Path) -> None:
    """Reading a side-car of gigabytes at every start would take longer than mapping it by far."""
    program, path = tmp_path / "p.mlir", tmp_path / "w.safetensors"
    program.write_text(PROGRAM)
    write_weights(path, {"layer.w": np.ones(2, np.float32)})
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert call_tool(run_main, Command(["stepwell-run", str(program), "--random", "0"]), b"").exit_code == 0
    finished = call_tool(opt_main, Command(["stepwell-opt", str(program), "--verify-weights"]), b"")
    assert finished.exit_code == 1 and b"the file is damaged" in finished.stderr


def test_a_good_side_car_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(PROGRAM)
    write_weights(tmp_path / "w.safetensors", {"layer.w": np.ones(2, np.float32)})
    arguments = (str(tmp_path / "p.mlir"), "--random", "0", "--no-cache")
    assert call_tool(run_main, Command(["stepwell-run", *arguments]), b"").exit_code == 0
