"""The compile cache: atomic, checksummed, bounded; a damaged entry is as good as none."""

from __future__ import annotations

from pathlib import Path

import pytest
from stepwell.runtime import cache
from stepwell.runtime.errors import CompileError


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
    import os

    for number in range(4):
        cache.store(f"key{number}", {}, bytes(1000))
        os.utime(own_directory / f"key{number}.bin", (number, number))
    monkeypatch.setenv("STEPWELL_CACHE_BYTES", "3500")
    cache.store("new", {}, bytes(1000))
    assert sorted(path.stem for path in own_directory.glob("*.bin")) == ["key2", "key3", "new"]


def test_no_temporary_file_is_left(own_directory: Path) -> None:
    cache.store("key", {}, b"code")
    assert [path.name for path in own_directory.iterdir()] == ["key.bin"]


def test_a_directory_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "file"))
    cache.store("key", {}, b"code")
    assert cache.load("key") is None


def test_the_sources_of_plug_ins_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plug_in_for_cache").mkdir()
    (tmp_path / "plug_in_for_cache" / "__init__.py").write_text("universe = None\n")
    info = tmp_path / "plug_in_for_cache-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-in-for-cache\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[xdsl.universe]\nplug = plug_in_for_cache:universe\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert cache.plugin_folders() == [tmp_path / "plug_in_for_cache"]
    before = cache.source_fingerprint.__wrapped__()
    (tmp_path / "plug_in_for_cache" / "__init__.py").write_text("universe = 1\n")
    assert cache.source_fingerprint.__wrapped__() != before


@pytest.mark.parametrize("given", ["", "abc", "-1", "1e9"])
def test_a_limit_that_is_no_number_is_an_error(
    own_directory: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_BYTES", given)
    with pytest.raises(CompileError, match=f"STEPWELL_CACHE_BYTES is {given!r}, expected a number of bytes"):
        cache.store("key", {}, b"code")
    assert not own_directory.exists()
