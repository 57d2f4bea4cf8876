"""Many megabytes of weights: no copy of them is made, and the text of the program never holds them (A8)."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from stepwell.core.mapped import place_of
from stepwell.core.roles import BUFFER_ALIGNMENT
from stepwell.core.weights import write_weights
from stepwell.runtime.program.arrays import HUGE_PAGE, ArrayType, aligned_bytes, allocate_together
from stepwell.runtime.program.program import Program
from stepwell.te.dtypes import numpy_dtype
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools import opt, run

Array = np.ndarray[Any, Any]

SIDE = 512
COUNT = 100 if FULL else 4
"""Square matrices of f32, 1 MB each."""


def program() -> str:
    """`x @ w0 @ w1 …`."""
    matrix, vector = f"tensor<{SIDE}x{SIDE}xf32>", f"tensor<1x{SIDE}xf32>"
    lines, value = [], "%x"
    for k in range(COUNT):
        lines.append(f'%w{k} = graph.weight "layer.{k}" : {matrix}')
        lines.append(f"%y{k} = graph.matmul {value}, %w{k} : ({vector}, {matrix}) -> {vector}")
        value = f"%y{k}"
    body = "".join(f"    {line}\n" for line in lines)
    return (
        'builtin.module attributes {stepwell.weights = "w.safetensors"} {\n'
        f"  func.func @main(%x: {vector}) -> {vector} {{\n{body}    func.return {value} : {vector}\n  }}\n}}\n"
    )


def weights() -> dict[str, Array]:
    random = np.random.default_rng(3)
    return {f"layer.{k}": (random.standard_normal((SIDE, SIDE)) / SIDE**0.5).astype(np.float32) for k in range(COUNT)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_weights(tmp_path / "w.safetensors", weights())
    (tmp_path / "p.mlir").write_text(program())
    return tmp_path / "p.mlir"


def test_native_code_reads_the_mapped_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bound: dict[str, Array] = {}
    real = Program.weight

    def weight(self: Program, key: str) -> Array:
        bound[key] = real(self, key)
        return bound[key]

    monkeypatch.setattr(Program, "weight", weight)
    executable = stepwell.compile(path, opt_level=1, cache=False)  # O2 packs weights: a copy
    assert len(bound) == COUNT
    for array in bound.values():
        assert place_of(array) is not None and array.flags.aligned
        # Aligned and contiguous: what the entry hands to native code is this array, not a copy.
        assert array.flags.c_contiguous and not array.flags.owndata
    x = np.ones((1, SIDE), np.float32)
    expected = x.astype(np.float64)
    for array in weights().values():
        expected = expected @ array
    np.testing.assert_allclose(executable(x)[0], expected, rtol=1e-2, atol=1e-2 * np.abs(expected).max())


def test_loading_and_running_allocates_less_than_the_weights(path: Path) -> None:
    x = np.ones((1, SIDE), np.float32)
    stepwell.compile(path, opt_level=1, cache=False)(x)  # imports, caches
    tracemalloc.start()
    try:
        stepwell.compile(path, opt_level=1, cache=False)(x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # NumPy reports its arrays to tracemalloc. What is left is the module: the weights do not show.
    assert peak < COUNT * 2**20 * 3 // 4, f"{peak} bytes for {COUNT} MB of weights"


@pytest.mark.parametrize("passes", ["", "graph-optimize", "graph-optimize,to-loops,bufferize"])
def test_opt_prints_the_program_without_the_weights(path: Path, passes: str) -> None:
    command = ["stepwell-opt", str(path), *(["-p", passes] if passes else [])]
    finished = call_tool(opt.main, Command(command), b"")
    assert finished.exit_code == 0, finished.stderr.decode()
    text = finished.stdout.decode()
    assert "dense" not in text and len(text) < 4000 + 1500 * COUNT
    assert 'stepwell.weights = "w.safetensors"' in text
    if not passes:
        assert text.count("graph.weight") == COUNT
    again = call_tool(opt.main, Command(["stepwell-opt", "-"]), finished.stdout)
    assert again.stdout == finished.stdout


def test_run_finds_them_beside_the_program(path: Path) -> None:
    np.save(path.parent / "x.npy", np.ones((1, SIDE), np.float32))
    output = path.parent / "out.npz"
    command = [
        "stepwell-run",
        str(path),
        "--input",
        str(path.parent / "x.npy"),
        "--output",
        str(output),
        "--no-cache",
    ]
    finished = call_tool(run.main, Command(command), b"")
    assert (finished.exit_code, finished.stderr) == (0, b"")
    (expected,) = stepwell.compile(path, cache=False)(np.ones((1, SIDE), np.float32))
    np.testing.assert_array_equal(np.load(output)["result0"], expected)


def test_arrays_side_by_side_are_aligned_and_apart() -> None:
    types = [
        ArrayType("f32", (3, 5)),
        ArrayType("i8", (1,)),
        ArrayType("bf16", (0, 7)),
        ArrayType("f64", ()),
        ArrayType("i1", (129,)),
    ]
    arrays = allocate_together(types)
    assert [(array.shape, array.dtype) for array in arrays] == [(t.sizes, numpy_dtype(t.dtype)) for t in types]
    assert all(array.ctypes.data % BUFFER_ALIGNMENT == 0 and array.flags.c_contiguous for array in arrays)
    for number, array in enumerate(arrays):
        array[...] = number % 2
    assert all((array == number % 2).all() for number, array in enumerate(arrays))
    assert allocate_together([]) == []


@pytest.mark.skipif(
    not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="the system gives no large pages when asked"
)
@pytest.mark.parametrize("count", [HUGE_PAGE, HUGE_PAGE + 1, 5 * HUGE_PAGE - 3])
def test_large_arrays_are_in_large_pages(count: int) -> None:
    """They begin with one, and the system is asked for such pages (`hg`) as far as there are whole ones."""
    array = aligned_bytes(count)
    address = array.ctypes.data
    assert (array.nbytes, address % HUGE_PAGE) == (count, 0)
    array[:] = 7
    assert int(array[-1]) == 7
    flags: dict[int, list[str]] = {}
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8", errors="replace").splitlines():
        fields = line.split()
        if not fields[0].endswith(":"):
            start, end = (int(each, 16) for each in fields[0].split("-"))
        elif fields[0] == "VmFlags:":
            flags |= dict.fromkeys(
                (page for page in range(address, address + count, HUGE_PAGE) if start <= page < end), fields
            )
    whole = [page for page in flags if page + HUGE_PAGE <= address + count]
    assert len(whole) == count // HUGE_PAGE
    assert all("hg" in flags[page] for page in whole)


def test_small_arrays_are_as_numpy_makes_them() -> None:
    assert aligned_bytes(1000).ctypes.data % BUFFER_ALIGNMENT == 0
