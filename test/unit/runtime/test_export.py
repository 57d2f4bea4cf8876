"""`Executable.export`: what C calls gives the bits that Python gets, and says why where it cannot."""

from __future__ import annotations

import ctypes
import os
import re
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.weights import open_weights, write_weights
from stepwell.machine.host import cpu_flags
from stepwell.machine.x86_64 import CPUID
from stepwell.runtime.errors import CompileError, ExecutionError
from stepwell.runtime.exporting.export import Exported
from stepwell.runtime.exporting.header import identifier
from stepwell.runtime.exporting.layout import layout_of
from stepwell.runtime.program.arrays import ArrayType
from stepwell.runtime.program.description import Argument, Description, Entry
from stepwell.te.dtypes import numpy_dtype
from stepwell.tools.run import main

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "ship_to_c"

ADD = """
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = graph.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>)
  func.return %0 : tensor<2x3xf32>
}
"""

MLP = """
builtin.module attributes {stepwell.weights = "mlp.safetensors"} {
  func.func @main(%x: tensor<32x96xf32>) -> tensor<32x96xf32> {
    %w0 = graph.weight "w0" : tensor<96x96xf32>
    %w1 = graph.weight "w1" : tensor<96x96xf32>
    %b = graph.weight "b" : tensor<96xf32>
    %0 = graph.matmul %x, %w0 : (tensor<32x96xf32>, tensor<96x96xf32>)
    %1 = graph.relu %0 : (tensor<32x96xf32>)
    %2 = graph.matmul %1, %w1 : (tensor<32x96xf32>, tensor<96x96xf32>)
    %3 = graph.add %2, %b : (tensor<32x96xf32>, tensor<96xf32>)
    func.return %3 : tensor<32x96xf32>
  }
}
"""

PRODUCT = """
func.func @main(%x: tensor<256x512xf32>, %y: tensor<512x256xf32>) -> tensor<256x256xf32> {
  %0 = graph.matmul %x, %y : (tensor<256x512xf32>, tensor<512x256xf32>)
  func.return %0 : tensor<256x256xf32>
}
"""

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


class Loaded:
    """An exported shared library, called as a C program would."""

    def __init__(self, exported: Exported, weights: Path | None):
        library, name = ctypes.CDLL(str(exported.code)), exported.prefix
        self._run: Any = library[f"{name}_run"]
        self._error: Any = library[f"{name}_error"]
        self._free: Any = library[f"{name}_free"]
        self._error.restype = ctypes.c_char_p
        self._context = ctypes.c_void_p()
        path = None if weights is None else str(weights).encode()
        self.status: int = library[f"{name}_load"](path, ctypes.byref(self._context))

    @property
    def error(self) -> str:
        return self._error(self._context).decode()

    def run(self, exe: stepwell.Executable, *arrays: Any) -> tuple[int, list[np.ndarray[Any, Any]]]:
        outputs = [np.zeros(type_.sizes, numpy_dtype(type_.dtype)) for _, type_ in exe.output_types]
        pointers = [(ctypes.c_void_p * len(each))(*(a.ctypes.data for a in each)) for each in (arrays, outputs)]
        return self._run(self._context, *pointers), outputs

    def free(self) -> None:
        self._free(self._context)


def mlp(folder: Path) -> stepwell.Executable:
    generator = np.random.default_rng(7)
    shapes = {"w0": (96, 96), "w1": (96, 96), "b": (96,)}
    write_weights(
        folder / "mlp.safetensors",
        {key: generator.standard_normal(shape).astype(np.float32) for key, shape in shapes.items()},
    )
    (folder / "mlp.mlir").write_text(MLP)
    return stepwell.compile(folder / "mlp.mlir")


@needs_cc
def test_the_example_prints_what_python_computes(tmp_path: Path) -> None:
    ship = runpy.run_path(str(EXAMPLE / "ship.py"))
    exe = ship["ship"](tmp_path)
    command = [
        "cc",
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic",
        "-I.",
        str(EXAMPLE / "classify.c"),
    ]
    subprocess.run([*command, "digits.o", "-lpthread", "-o", "classify"], cwd=tmp_path, check=True)
    with open(tmp_path / "images.bin", "rb") as pictures:
        done = subprocess.run(["./classify"], cwd=tmp_path, stdin=pictures, capture_output=True, check=True, text=True)
    logits = np.stack([exe(image)[0] for image in ship["images"]()])
    expected = "".join(f"{row.argmax()} {float(row.max()).hex()}\n" for row in logits)
    found = [line.split() for line in done.stdout.splitlines()]
    assert [(digit, float.fromhex(best)) for digit, best in found] == [
        (digit, float.fromhex(best)) for digit, best in map(str.split, expected.splitlines())
    ]
    assert "python" not in subprocess.run(["ldd", "classify"], cwd=tmp_path, capture_output=True, text=True).stdout


@needs_cc
@pytest.mark.parametrize("compiler", ["cc -std=c89 -xc", "c++ -xc++"])
def test_the_header_is_c_and_cpp(tmp_path: Path, compiler: str) -> None:
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip("there is no such compiler")
    stepwell.compile(ADD).export(tmp_path / "add.o")
    flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
    subprocess.run([*compiler.split(), *flags, tmp_path / "add.h"], check=True)
    names = (
        "func.func @main(%x: tensor<3xf32>, %X: tensor<f32>, %x_bytes: tensor<2xi8>) -> tensor<3xf32> { func.return "
        "%x : tensor<3xf32> }"
    )
    stepwell.compile(names).export(tmp_path / "names.o")
    subprocess.run([*compiler.split(), *flags, tmp_path / "names.h"], check=True)
    defined = re.findall(r"#define (\w+_BYTES\w*) (\d+)", (tmp_path / "names.h").read_text())
    assert dict(defined) == {
        "NAMES_INPUT_X_BYTES": "12",
        "NAMES_INPUT_X_1_BYTES": "4",
        "NAMES_INPUT_X_BYTES_2": "2",
        "NAMES_INPUT_X_BYTES_2_BYTES": "2",
        "NAMES_OUTPUT_RESULT0_BYTES": "12",
    }


@needs_cc
def test_weights_are_mapped_and_prepared_when_the_program_is_loaded(tmp_path: Path) -> None:
    exe = mlp(tmp_path)
    exported = exe.export(tmp_path / "net.so")
    assert exported.weights == tmp_path / "net.safetensors"
    assert set(open_weights(exported.weights).keys()) == {"w0", "w1", "b"}
    assert "prepare" in exe.ir("llvm"), "the case has prepare functions"
    loaded = Loaded(exported, exported.weights)
    assert (loaded.status, loaded.error) == (0, "")
    x = np.random.default_rng(1).standard_normal((32, 96)).astype(np.float32)
    for scale in (1, 2):
        status, (found,) = loaded.run(exe, x * np.float32(scale))
        assert status == 0
        np.testing.assert_array_equal(found, exe(x * np.float32(scale))[0])
    loaded.free()


@needs_cc
def test_the_side_car_of_the_program_itself_is_used_as_it_stands(tmp_path: Path) -> None:
    exe = mlp(tmp_path)
    before = (tmp_path / "mlp.safetensors").stat().st_ino
    exported = exe.export(tmp_path / "mlp.so")
    assert (tmp_path / "mlp.safetensors").stat().st_ino == before
    x = np.ones((32, 96), np.float32)
    np.testing.assert_array_equal(Loaded(exported, exported.weights).run(exe, x)[1][0], exe(x)[0])


@needs_cc
def test_a_wrong_weights_file_is_refused(tmp_path: Path) -> None:
    exported = mlp(tmp_path).export(tmp_path / "net.so")
    assert exported.weights is not None
    absent = Loaded(exported, tmp_path / "absent")
    assert (absent.status, absent.error) == (
        -3,
        "cannot open the weights file (exported as 'net.safetensors')",
    )
    assert Loaded(exported, None).status == -3
    data = exported.weights.read_bytes()
    for index, wrong in enumerate((b"", data[:-1], data[:40], data + b"x", data.replace(b'"w0"', b'"w9"'))):
        path = tmp_path / f"wrong{index}"
        path.write_bytes(wrong)
        loaded = Loaded(exported, path)
        expected = "the weights file is not the one exported with the program as 'net.safetensors'"
        assert (loaded.status, loaded.error) == (-4, expected)
        loaded.free()


@needs_cc
def test_a_failing_program_says_where_and_can_run_again(tmp_path: Path) -> None:
    exe = stepwell.compile("""
func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = graph.divide %x, %y : (tensor<4xi32>, tensor<4xi32>)
  func.return %0 : tensor<4xi32>
}
""")
    loaded = Loaded(exe.export(tmp_path / "divide.so"), None)
    x, good, bad = np.array([7, 8, 9, -9], np.int32), np.array([1, 2, 4, 2], np.int32), np.zeros(4, np.int32)
    with pytest.raises(ExecutionError) as raised:
        exe(x, bad)
    assert loaded.run(exe, x, bad)[0] > 0
    assert loaded.error == str(raised.value) and "integer division by zero" in loaded.error
    status, (found,) = loaded.run(exe, x, good)
    assert (status, loaded.error, found.tolist()) == (0, "", [7, 4, 2, -4])


@pytest.mark.ci_cases(1)
@needs_cc
@pytest.mark.parametrize("threads", [None, 1, 3])
def test_parallel_loops_run_on_a_pool_of_its_own(
    tmp_path: Path, threads: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    exe = stepwell.compile(PRODUCT)
    monkeypatch.setenv("STEPWELL_THREADS", "2")
    exported = exe.export(tmp_path / "product.so", threads=threads)
    assert b"pthread_create" in exported.code.read_bytes(), "the case has parallel loops"
    loaded = Loaded(exported, None)
    generator = np.random.default_rng(3)
    x, y = (generator.standard_normal(shape).astype(np.float32) for shape in ((256, 512), (512, 256)))
    for _ in range(5):
        status, (found,) = loaded.run(exe, x, y)
        assert status == 0
        np.testing.assert_array_equal(found, exe(x, y)[0])


@needs_cc
@pytest.mark.parametrize("target", ["x86-64", "x86-64-v3"])
def test_a_baseline_target_gives_close_results(tmp_path: Path, target: str) -> None:
    exe = mlp(tmp_path)
    exported = exe.export(tmp_path / "base.so", target=target)
    assert exported.header is not None and "avx512" not in exported.header.read_text()
    x = np.random.default_rng(2).standard_normal((32, 96)).astype(np.float32)
    status, (found,) = Loaded(exported, exported.weights).run(exe, x)
    assert status == 0
    np.testing.assert_allclose(found, exe(x)[0], rtol=1e-4, atol=1e-4)


def test_an_object_needs_nothing_but_libc(tmp_path: Path) -> None:
    if shutil.which("nm") is None:
        pytest.skip("there is no nm")
    exe = stepwell.compile("""
func.func @main(%x: tensor<64x1024xf16>, %y: tensor<64x1024xbf16>) -> (tensor<64x1024xf16>, tensor<64x1024xbf16>) {
  %0 = graph.exp %x : (tensor<64x1024xf16>)
  %1 = graph.tanh %0 : (tensor<64x1024xf16>)
  %2 = graph.softmax %y, axis = -1 : (tensor<64x1024xbf16>)
  func.return %1, %2 : tensor<64x1024xf16>, tensor<64x1024xbf16>
}
""")
    for target in ("host", "x86-64-v3"):
        exported = exe.export(tmp_path / "small.o", target=target)
        listed = subprocess.run(["nm", exported.code], capture_output=True, text=True, check=True).stdout
        lines = [line.split()[-2:] for line in listed.splitlines()]
        undefined = {name for kind, name in lines if kind == "U"}
        visible = {name for kind, name in lines if kind in "TDBR"}
        names = {f"small_{name}" for name in ("load", "run", "error", "free")}
        assert names <= visible and all(name in names or name.startswith("__") for name in visible)
        memory = {"posix_memalign", "free", "munmap", "memcpy", "memset", "memmove"}
        threads = {"getenv", "strtol", "sched_getaffinity", "getpid", "clock_gettime"}
        assert not {name for name in undefined - memory - threads if not name.startswith("pthread_")}


def test_programs_for_other_machines_can_be_objects_only(tmp_path: Path) -> None:
    exe = stepwell.compile(PRODUCT)
    exported = exe.export(tmp_path / "product.o", target="aarch64-neon")
    assert exported.code.read_bytes()[18] == 183, "e_machine of ELF: AArch64"
    with pytest.raises(CompileError, match="cannot link a .so for aarch64 on"):
        exe.export(tmp_path / "product.so", target="aarch64-neon")


def test_unknown_sizes_are_given_at_export(tmp_path: Path) -> None:
    exe = stepwell.compile(ADD.replace("2x3", "?x3"))
    with pytest.raises(CompileError, match=r"@main takes arrays of unknown sizes \(\?\): exporting needs shapes="):
        exe.export(tmp_path / "add.o")
    exported = exe.export(tmp_path / "add.o", shapes=((5, 3), (3,)))
    assert exported.header is not None and "inputs[0], x: float, 5 x 3, 60 bytes" in exported.header.read_text()


def test_errors_of_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exe = stepwell.compile(ADD)
    with pytest.raises(CompileError, match="expected a name that ends in .o or .so"):
        exe.export(tmp_path / "add.dll")
    with pytest.raises(StepwellError, match="unknown target 'x86-64-v9'"):
        exe.export(tmp_path / "add.o", target="x86-64-v9")
    with pytest.raises(CompileError, match="the number of threads is 0, expected at least 1"):
        exe.export(tmp_path / "add.o", threads=0)
    with pytest.raises(StepwellError, match="cannot write '.*add.o': no such file or directory"):
        exe.export(tmp_path / "absent" / "add.o")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CompileError, match="a .so needs a C compiler, and there is no 'cc'"):
        exe.export(tmp_path / "add.so")
    (tmp_path / "cc").write_text("#!/bin/sh\necho no room >&2\nexit 1\n")
    (tmp_path / "cc").chmod(0o755)
    with pytest.raises(CompileError, match="could not link 'add.so': no room"):
        exe.export(tmp_path / "add.so")
    assert list(tmp_path.iterdir()) == [tmp_path / "cc"], "nothing is left half done"


def test_no_header_is_written_when_none_is_wanted(tmp_path: Path) -> None:
    exported = stepwell.compile(ADD).export(tmp_path / "add.o", header=False)
    assert (exported.header, exported.weights) == (None, None)
    assert [path.name for path in tmp_path.iterdir()] == ["add.o"]


def test_names_become_identifiers(tmp_path: Path) -> None:
    assert [identifier(text) for text in ("model", "my-net.v2", "2nd", "")] == [
        "model",
        "my_net_v2",
        "m_2nd",
        "m_",
    ]
    exported = stepwell.compile(ADD).export(tmp_path / "my-net.o")
    assert exported.prefix == "my_net" and exported.header is not None
    assert "int my_net_run(my_net_context *context" in exported.header.read_text()


@needs_cc
def test_a_pipe_is_no_weights_file(tmp_path: Path) -> None:
    exported = mlp(tmp_path).export(tmp_path / "m.so")
    os.mkfifo(tmp_path / "pipe")
    loaded = Loaded(exported, tmp_path / "pipe")
    said = "the weights file is not the one exported with the program as 'm.safetensors'"
    assert (loaded.status, loaded.error) == (-4, said)
    loaded.free()


def test_an_entry_that_takes_sizes_is_refused() -> None:
    size = Argument("size", "x", ArrayType("i64", ()))
    with pytest.raises(CompileError, match="@main takes the size of 'x' as an argument, which C programs cannot"):
        layout_of(Description((Entry("main", (size,)),), ()), "main")


def test_prepare_functions_run_before_those_that_use_their_results() -> None:
    def weight(key: str) -> Argument:
        return Argument("weight", key, key=key, type=ArrayType("f32", (4,)))

    result, arena = (
        Argument("output", "r", ArrayType("f32", (3, 4))),
        Argument("arena", "arena", ArrayType("ui8", (100,))),
    )
    entries = (
        Entry("main", (weight("@b#0"), weight("w"), weight("@a#1"))),
        Entry("b", (weight("@a#0"), weight("v"), result), True),
        Entry("unused", (weight("u"), result), True),
        Entry("a", (weight("w"), result, result, arena), True),
    )
    found = layout_of(Description(entries, ()), "main")
    assert [entry.name for entry in found.prepares] == ["a", "b"]
    assert list(found.weights) == ["w", "v"]
    places = [*found.prepared.values(), found.arena]
    assert list(found.prepared) == ["@a#0", "@a#1", "@b#0"]
    assert all(place % 64 == 0 for place in places) and all(
        b - a >= 48 for a, b in zip(places, places[1:], strict=False)
    )
    assert found.size >= found.arena + 100


def test_run_exports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "add.mlir").write_text(ADD.replace("2x3", "?x3"))
    words = [str(tmp_path / "add.mlir"), "--export", str(tmp_path / "add.o"), "--target", "x86-64-v3"]
    assert main([*words, "--shapes", "2x3,3"]) == 0
    assert "avx2" in (tmp_path / "add.h").read_text() and (tmp_path / "add.o").exists()
    assert main(words) == 1
    assert "exporting needs --shapes" in capsys.readouterr().err


@needs_cc
@pytest.mark.skipif(cpu_flags() is None or "sse2" not in (cpu_flags() or ()), reason="needs an x86 Linux")
def test_a_processor_that_lacks_something_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CPUID, "reserved", ((1, 0, 2), 16))
    monkeypatch.setattr("stepwell.runtime.exporting.export.needed_features", lambda *_: ("popcnt", "reserved"))
    loaded = Loaded(stepwell.compile(ADD).export(tmp_path / "add.so"), None)
    assert (loaded.status, loaded.error) == (
        -2,
        "the processor lacks instructions that the program was compiled for: popcnt, reserved",
    )
    loaded.free()


@needs_cc
def test_products_of_bytes_ask_for_tile_registers_where_they_use_them(tmp_path: Path) -> None:
    exe = stepwell.compile("""
func.func @main(%x: tensor<64x256xi8>, %y: tensor<256x128xi8>) -> tensor<64x128xi32> {
  %0 = graph.matmul %x, %y, out_dtype = i32 : (tensor<64x256xi8>, tensor<256x128xi8>)
  func.return %0 : tensor<64x128xi32>
}
""")
    exported = exe.export(tmp_path / "bytes.so")
    assert exported.header is not None
    uses_tiles = "@llvm.x86.ldtilecfg" in exe.ir("llvm-ir")
    assert ("amx-tile" in exported.header.read_text()) == uses_tiles
    generator = np.random.default_rng(4)
    x, y = (generator.integers(-128, 128, shape).astype(np.int8) for shape in ((64, 256), (256, 128)))
    status, (found,) = Loaded(exported, None).run(exe, x, y)
    assert status == 0
    np.testing.assert_array_equal(found, x.astype(np.int32) @ y.astype(np.int32))
