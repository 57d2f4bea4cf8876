"""Files that are written whole: what lies at the path before, and what is no regular file."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from stepwell.core.messages.files import write_file
from stepwell.core.safetensors import METADATA_KEY
from stepwell.core.weights import open_weights, write_weights
from stepwell.runtime.quantising.outputs import replacing
from stepwell.runtime.saving.container import Container, write_container

WEIGHTS = {"w": np.arange(40, dtype=np.float32)}


def write_replacing(path: Path) -> None:
    with replacing() as beside:
        write_file(beside(path), "text")


WRITERS: dict[str, Callable[[Path], None]] = {
    "text": lambda path: write_file(path, "text"),
    "weights": lambda path: write_weights(path, WEIGHTS),
    "container": lambda path: write_container(path, [("a", [b"data"])]),
    "replacing": write_replacing,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_pipe_is_written_to_and_stays(name: str, tmp_path: Path) -> None:
    pipe, plain = tmp_path / "pipe", tmp_path / "plain"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()
    WRITERS[name](pipe)
    assert pipe.is_fifo()
    reader.join(timeout=60)
    WRITERS[name](plain)
    assert received == [plain.read_bytes()]
    assert sorted(tmp_path.iterdir()) == [pipe, plain]


@pytest.mark.parametrize("name", WRITERS)
def test_the_pipe_of_a_shell_is_written_to(name: str, tmp_path: Path) -> None:
    """`>(…)` of a shell is `/dev/fd/63`, a link to a place that does not exist."""
    ends = os.pipe()
    with open(ends[0], "rb") as reading:
        with open(ends[1], "wb"):
            WRITERS[name](Path(f"/dev/fd/{ends[1]}"))
        WRITERS[name](tmp_path / "plain")
        assert reading.read() == (tmp_path / "plain").read_bytes()


@pytest.mark.parametrize("name", WRITERS)
def test_a_link_and_the_mode_of_a_file_stay(name: str, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"before")
    target.chmod(0o640)
    link.symlink_to(target)
    WRITERS[name](link)
    assert link.is_symlink() and target.stat().st_mode & 0o777 == 0o640
    assert target.read_bytes() != b"before"


def test_what_goes_through_a_pipe_can_be_read(tmp_path: Path) -> None:
    for name, suffix in (("weights", ".safetensors"), ("container", ".stepwell")):
        path = tmp_path / f"m{suffix}"
        os.mkfifo(tmp_path / "pipe")
        reader = threading.Thread(target=lambda path=path: path.write_bytes((tmp_path / "pipe").read_bytes()))
        reader.start()
        WRITERS[name](tmp_path / "pipe")
        reader.join(timeout=60)
        (tmp_path / "pipe").unlink()
    np.testing.assert_array_equal(open_weights(tmp_path / "m.safetensors").array("w"), WEIGHTS["w"])
    assert METADATA_KEY.encode() in (tmp_path / "m.safetensors").read_bytes()
    assert Container(tmp_path / "m.stepwell").data("a") == b"data"
