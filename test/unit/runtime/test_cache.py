"""The compile cache: atomic, checksummed, bounded; a damaged entry is as good as none."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import DiagnosticWarning
from stepwell.runtime import cache
from stepwell.runtime.errors import CompileError
from stepwell.runtime.native.jit import NativeLibrary


@pytest.fixture(autouse=True)
def own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


def test_what_is_stored_is_loaded() -> None:
    key = cache.program_key("program", "O2")
    assert cache.load(key) is None
    cache.store(key, {"entries": [1, "two"]}, b"\x7fELF code")
    assert cache.load(key) == ({"entries": [1, "two"]}, b"\x7fELF code")


def test_keys_differ_when_any_part_does() -> None:
    keys = {cache.program_key(*parts) for parts in (("a", "b"), ("ab", ""), ("a", "c"), ("", "ab"))}
    assert len(keys) == 4


@pytest.mark.parametrize("position", [0, 12, 45, -1])
def test_a_damaged_entry_is_deleted_and_absent(own_directory: Path, position: int) -> None:
    cache.store("key", {"a": 1}, b"code" * 10)
    file = own_directory / "key.bin"
    data = bytearray(file.read_bytes())
    data[position] ^= 1
    file.write_bytes(data)
    assert cache.load("key") is None
    assert not file.exists()


def test_a_truncated_entry_is_absent(own_directory: Path) -> None:
    cache.store("key", {"a": 1}, b"code" * 10)
    file = own_directory / "key.bin"
    file.write_bytes(file.read_bytes()[:-3])
    assert cache.load("key") is None


def test_the_oldest_entries_go_when_the_limit_is_reached(own_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        cache.store(f"key{number}", {}, bytes(1000))
        os.utime(own_directory / f"key{number}.bin", (number, number))
    monkeypatch.setenv("STEPWELL_CACHE_BYTES", "3500")
    cache.store("new", {}, bytes(1000))
    assert sorted(path.stem for path in own_directory.glob("*.bin")) == ["key2", "key3", "new"]


def test_the_folder_is_looked_at_now_and_then(own_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other processes keep programs too, so that what this one has kept is not all."""
    looked: list[Path] = []
    look = cache._evict  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(
        cache, "_evict", lambda directory, allowed: (looked.append(directory), look(directory, allowed))[1]
    )
    monkeypatch.setenv("STEPWELL_CACHE_BYTES", "100000")
    cache.store("first", {}, b"code")
    (own_directory / "of another.bin").write_bytes(bytes(100_000))
    for number in range(cache.LOOK_AGAIN):
        cache.store(f"piece{number}", {}, b"code", cache.PIECES)
        cache.store(f"program{number}", {}, b"code")
    assert len(looked) == 1 and (own_directory / "of another.bin").exists()
    os.utime(own_directory / "of another.bin", (0, 0))
    cache.store("last", {}, b"code")
    assert len(looked) == 2 and not (own_directory / "of another.bin").exists()
    cache.store("large", {}, bytes(100_000))
    assert len(looked) == 3


def test_no_temporary_file_is_left(own_directory: Path) -> None:
    cache.store("key", {}, b"code")
    assert [path.name for path in own_directory.iterdir()] == ["key.bin"]


def test_g8_temporary_files_of_writers_that_were_killed_are_deleted(own_directory: Path) -> None:
    own_directory.mkdir()
    old, new = own_directory / "tmpold.tmp", own_directory / "tmpnew.tmp"
    for file in (old, new):
        file.write_bytes(b"half of an entry")
    then = time.time() - cache.ABANDONED - 60
    os.utime(old, (then, then))
    cache.store("key", {}, b"code")
    assert not old.exists() and new.exists()


Content = Callable[[dict[str, Any], bytes], tuple[dict[str, Any], bytes]]

BAD_CONTENTS: dict[str, Content] = {
    "no description": lambda description, code: ({}, code),
    "a description of another make": lambda description, code: (description | {"entries": [{"name": "main"}]}, code),
    "no code": lambda description, code: (description, b""),
    "code that is none": lambda description, code: (description, b"nonsense"),
    "code that ends early": lambda description, code: (description, code[: len(code) // 2]),
    "code of another program": lambda description, code: (
        description | {"entries": [{**entry, "name": "other"} for entry in description["entries"]]},
        code,
    ),
}

ABS = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}"""


@pytest.mark.parametrize("content", BAD_CONTENTS.values(), ids=BAD_CONTENTS)
def test_g8_an_entry_with_a_valid_checksum_that_holds_no_program_is_replaced(
    own_directory: Path, content: Content
) -> None:
    stepwell.compile(ABS, threads=1)
    (file,) = own_directory.glob("*.bin")
    good = file.read_bytes()
    kept = cache.load(file.stem)
    assert kept is not None
    cache.store(file.stem, *content(*kept))
    assert file.read_bytes() != good
    assert stepwell.compile(ABS, threads=1)(np.full(4, -2, np.float32))[0].tolist() == [2] * 4
    assert file.read_bytes() == good


@pytest.mark.parametrize("text", [b"not JSON", b"[]", b'"text"', b"\xff", b"[" * 100_000])
def test_g8_an_entry_whose_description_is_none_is_replaced(own_directory: Path, text: bytes) -> None:
    stepwell.compile(ABS, threads=1)
    (file,) = own_directory.glob("*.bin")
    good = file.read_bytes()
    body = len(text).to_bytes(8, "little") + text
    file.write_bytes(cache.MAGIC + hashlib.sha256(body).digest() + body)
    assert stepwell.compile(ABS, threads=1)(np.full(4, -2, np.float32))[0].tolist() == [2] * 4
    assert file.read_bytes() == good


def test_g8_code_that_calls_programs_is_replaced_too(own_directory: Path) -> None:
    text = "define i32 @f(ptr %0) {\n  ret i32 7\n}\n"
    NativeLibrary.kept(text, ["f"], True)
    (file,) = own_directory.glob("*.call")
    good = file.read_bytes()
    cache.store(file.stem, {}, b"nonsense", cache.CALLS)
    assert NativeLibrary.kept(text, ["f"], True).entry("f")(None) == 7
    assert file.read_bytes() == good


def test_a_directory_that_cannot_be_written_is_remarked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AUDIT D9: it was survived in silence."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(DiagnosticWarning) as told:
        for key in ("key", "other"):
            cache.store(key, {}, b"code")
    assert [str(each.message) for each in told] == [
        f"remark: nothing is kept in the compile cache '{tmp_path}/file': file exists\n"
        "hint: STEPWELL_CACHE_DIR names another folder"
    ]
    assert cache.load("key") is None


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package that plugs something in."""
    (tmp_path / "plug_in_for_cache").mkdir()
    (tmp_path / "plug_in_for_cache" / "__init__.py").write_text("universe = None\n")
    info = tmp_path / "plug_in_for_cache-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-in-for-cache\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[xdsl.universe]\nplug = plug_in_for_cache:universe\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(cache, "_plugin_places", cache.plugin_folders)
    return tmp_path / "plug_in_for_cache"


def test_the_sources_of_plug_ins_count(plug_in: Path) -> None:
    assert cache.plugin_folders() == [plug_in]
    before = cache.source_fingerprint.__wrapped__()
    (plug_in / "__init__.py").write_text("universe = 1\n")
    assert cache.source_fingerprint.__wrapped__() != before


@pytest.mark.parametrize("name", ["table.json", "data/table.toml", "table.yaml", "fast.so", "notes", ".table"])
def test_every_file_of_a_plug_in_counts_as_it_is_now(plug_in: Path, name: str) -> None:
    """A pass of a package may read a table each time it runs, so that the programs of the old one do not count."""
    keys = {cache.program_key("program")}
    (plug_in / name).parent.mkdir(exist_ok=True)
    for content in ("one", "two"):
        (plug_in / name).write_text(content)
        os.utime(plug_in / name, ns=(1, len(keys)))  # The clock of a file system may be too coarse to tell them apart.
        keys.add(cache.program_key("program"))
    assert len(keys) == 3
    (plug_in / name).write_text("one")
    sources = cache.source_fingerprint.__wrapped__()
    (plug_in / name).write_text("two and more")
    assert cache.source_fingerprint.__wrapped__() != sources


@pytest.mark.parametrize("name", ["__pycache__/a.json", ".git/index", ".ruff_cache/x.py", "old.pyc"])
def test_what_tools_leave_in_the_folder_of_a_plug_in_does_not_count(plug_in: Path, name: str) -> None:
    before = cache.plugin_fingerprint()
    assert before
    (plug_in / name).parent.mkdir(exist_ok=True)
    (plug_in / name).write_text("left")
    assert cache.plugin_fingerprint() == before


def test_a_large_file_of_a_plug_in_counts_by_size_and_time(plug_in: Path) -> None:
    file = plug_in / "weights.bin"
    found: list[str] = []
    for content, when in ((b"a", 1), (b"b", 1), (b"b", 2)):
        file.write_bytes(content * (cache.LARGE_FILE + 1))
        os.utime(file, (when, when))
        found.append(cache.plugin_fingerprint())
    assert found[0] == found[1] != found[2]


def test_the_folder_that_a_plug_in_is_in_does_not_count(plug_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program is pickled on one machine and run on another, where packages are elsewhere."""
    before = cache.plugin_fingerprint()
    moved = plug_in.parent / "moved" / plug_in.name
    moved.parent.mkdir()
    plug_in.rename(moved)
    monkeypatch.setattr(cache, "_plugin_places", lambda: [moved])
    assert cache.plugin_fingerprint() == before


@pytest.mark.parametrize("given", ["", "abc", "-1", "1e9"])
def test_a_limit_that_is_no_number_is_an_error(
    own_directory: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_BYTES", given)
    with pytest.raises(CompileError, match=f"STEPWELL_CACHE_BYTES is {given!r}, expected a number of bytes"):
        cache.store("key", {}, b"code")
    with pytest.raises(CompileError, match=f"STEPWELL_CACHE_BYTES is {given!r}, expected a number of bytes"):
        cache.load("key")
    assert not own_directory.exists()
