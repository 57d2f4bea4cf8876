"""The map that gives `perf` the names of kernels in memory, which the environment asks for."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import stepwell
from stepwell.runtime.native import perf_map
from stepwell.runtime.native.elf import functions_of_object
from stepwell.runtime.native.jit import NativeLibrary, compile_object
from stepwell.runtime.native.objects import objects_of
from stepwell.runtime.program.description import Description

PROGRAM = Path(__file__).parents[2] / "programs/conv_block.mlir"
TEXT = """define internal i32 @inner(i32 %x) noinline {
  %y = mul i32 %x, %x
  ret i32 %y
}
define i32 @outer(ptr %a) {
  %x = load i32, ptr %a
  %y = call i32 @inner(i32 %x)
  ret i32 %y
}
"""
LINE = re.compile(r"([0-9a-f]+) ([0-9a-f]+) (\S+)")


@pytest.fixture(autouse=True)
def own_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(perf_map, "path", lambda: str(tmp_path / "perf.map"))
    monkeypatch.setattr(perf_map, "_LINES", [])
    monkeypatch.setenv(perf_map.VARIABLE, "1")
    yield tmp_path / "perf.map"


def entries(path: Path) -> dict[str, tuple[int, int]]:
    """Returns the start and the size of each function of a map, by name."""
    found = [LINE.fullmatch(line) for line in path.read_text().splitlines()]
    assert all(found)
    return {match[3]: (int(match[1], 16), int(match[2], 16)) for match in found if match}


def test_functions_are_at_the_addresses_of_the_map(own_map: Path) -> None:
    code = compile_object(TEXT)
    library = NativeLibrary(code, ["outer"], names={"inner": "kernel"})
    found = entries(own_map)
    assert found["stepwell::outer"][0] == library.address("outer")
    inner = next(each for each in functions_of_object(code) if each.name == "inner")
    outer = next(each for each in functions_of_object(code) if each.name == "outer")
    start, size = found["stepwell::kernel"]
    assert size == inner.size and start - library.address("outer") == inner.offset - outer.offset
    assert ctypes.string_at(start, size) in code, "the bytes of the function, which needs no linking"


def test_kernels_have_the_names_of_the_program_also_from_the_cache(own_map: Path) -> None:
    for _ in range(2):
        own_map.unlink(missing_ok=True)
        (program,) = stepwell.compile(PROGRAM).programs().values()
        found = entries(own_map)
        assert {"stepwell::fused_conv2d_ewise_fma_relu0", "stepwell::_stepwell_entry_main"} <= found.keys()
        assert not any("stepwell::stepwell." in name for name in found)
        sizes = {each.name: each.size for code in objects_of(program.object_code) for each in functions_of_object(code)}
        called = dict(program.description.kernels)
        assert {f"stepwell::{called.get(name, name)}": size for name, size in sizes.items()}.items() <= {
            name: size for name, (_, size) in found.items()
        }.items()


def test_a_program_that_was_described_before_there_were_names_has_none() -> None:
    assert Description.from_json({"entries": [], "checks": [], "externals": []}).kernels == ()
    again = Description.from_json(Description((), (), (), (("a", "b"),)).to_json())
    assert again.kernels == (("a", "b"),)


def test_there_is_no_map_unless_the_environment_asks(own_map: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("0", ""):
        monkeypatch.setenv(perf_map.VARIABLE, value)
        NativeLibrary(compile_object(TEXT), ["outer"])
    monkeypatch.delenv(perf_map.VARIABLE)
    NativeLibrary(compile_object(TEXT), ["outer"])
    assert not own_map.exists()


def test_a_link_is_not_followed(own_map: Path, tmp_path: Path) -> None:
    (tmp_path / "target").write_text("kept")
    own_map.symlink_to(tmp_path / "target")
    NativeLibrary(compile_object(TEXT), ["outer"])
    assert (tmp_path / "target").read_text() == "kept"


def test_a_forked_process_has_a_map_of_its_own(own_map: Path, tmp_path: Path) -> None:
    NativeLibrary(compile_object(TEXT), ["outer"])
    before = own_map.read_text()
    own_map.unlink()
    perf_map._after_fork()
    assert own_map.read_text() == before


def test_other_formats_have_no_functions() -> None:
    assert functions_of_object(b"\xcf\xfa\xed\xfe" + bytes(200)) == []
    assert [each.name for each in functions_of_object(compile_object(TEXT))] == ["inner", "outer"]
