"""The files of an export: names in comments of the header, places that are no regular files."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
import stepwell
from stepwell.runtime import CompileError
from stepwell.runtime.exporting.header import header_text
from stepwell.runtime.program.arrays import ArrayType
from stepwell.runtime.program.description import Argument

WEIGHT = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %w = graph.weight "w" : tensor<3xf32>
  %0 = graph.add %x, %w : (tensor<3xf32>, tensor<3xf32>)
  func.return %0 : tensor<3xf32>
}
"""


@pytest.mark.parametrize(
    ("name", "shown"), [("a/*b", "a/ *b"), ("a*/b", "a* /b"), ("/*/", "/ * /"), ("*/*", "* / *"), ("a\nb", "a b")]
)
def test_no_name_begins_or_ends_a_comment(name: str, shown: str) -> None:
    arguments = [Argument("input", name, ArrayType("f32", (4,)))]
    text = header_text("m", name, arguments, [], arguments, name, name)
    assert f"/* inputs[0], {shown}: float, 4, 16 bytes */" in text
    for comment in text.split("/*")[1:]:
        assert comment.count("*/") == 1 and "/*" not in comment
    assert len(text.split("/*")) == len(text.split("*/"))


def test_a_pipe_gets_code_and_stays_but_no_weights(tmp_path: Path) -> None:
    exe = stepwell.compile(WEIGHT, weights={"w": np.ones(3, np.float32)}, cache=False)
    os.mkfifo(tmp_path / "m.safetensors")
    said = f"cannot write '{tmp_path}/m.safetensors': it is no regular file, and the program maps its weights"
    with pytest.raises(CompileError, match=said):
        exe.export(tmp_path / "m.o")
    (tmp_path / "m.safetensors").unlink()
    os.mkfifo(tmp_path / "m.o")
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "m.o").read_bytes()), daemon=True)
    reader.start()
    exe.export(tmp_path / "m.o")
    reader.join(timeout=60)
    assert (tmp_path / "m.o").is_fifo() and len(received[0]) > 100
