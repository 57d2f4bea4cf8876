"""Loops that LLVM makes no vectors of do not ask for them: nothing appears on standard error from a library."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell


def concat(*sizes: int) -> str:
    arguments = ", ".join(f"%a{number}: tensor<{size}xf64>" for number, size in enumerate(sizes))
    types = ", ".join(f"tensor<{size}xf64>" for size in sizes)
    names = ", ".join(f"%a{number}" for number in range(len(sizes)))
    total = f"tensor<{sum(sizes)}xf64>"
    return f"""func.func @main({arguments}) -> {total} {{
      %0 = graph.concat {names}, axis = 0 : ({types}) -> {total}
      func.return %0 : {total}
    }}"""


@pytest.mark.parametrize("sizes", [(17, 1, 1), (1, 2, 17), (3, 8, 1)])
def test_short_joins(sizes: tuple[int, ...], capfd: pytest.CaptureFixture[str]) -> None:
    arrays = [np.full(size, number, np.float64) for number, size in enumerate(sizes)]
    (found,) = stepwell.compile(concat(*sizes), cache=False)(*arrays)
    np.testing.assert_array_equal(found, np.concatenate(arrays))
    assert capfd.readouterr().err == ""


def test_the_least_of_rounded_numbers(capfd: pytest.CaptureFixture[str]) -> None:
    program = """
    func.func @main(%x: tensor<2x1x8xbf16>) -> tensor<1x1x1xbf16> {
      %0 = graph.relu %x : (tensor<2x1x8xbf16>) -> tensor<2x1x8xbf16>
      %1 = graph.min %0, axis = [0, 1, 2], keepdims = true : (tensor<2x1x8xbf16>) -> tensor<1x1x1xbf16>
      func.return %1 : tensor<1x1x1xbf16>
    }"""
    stepwell.compile(program, cache=False)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("windows", "size", "shift"), [(8, 7, 3), (4, 4, 2), (2, 4, 2), (3, 5, 4)])
def test_windows_that_are_rolled_are_vectors_without_checks(
    windows: int, size: int, shift: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """An index that a branch keeps from being negative is divided there, as in shifted windows of an image."""
    side, cut = windows * size, windows * size - shift
    given = f"tensor<1x{windows}x{windows}x{size}x{size}x16xf32>"
    turned = f"tensor<1x{windows}x{size}x{windows}x{size}x16xf32>"
    program = f"""
    func.func @main(%x: {given}) -> IMAGE {{
      %0 = graph.permute_dims %x, axes = [0, 1, 3, 2, 4, 5] : ({given}) -> {turned}
      %1 = graph.reshape %0, shape = [1, {side}, {side}, 16] : ({turned}) -> IMAGE
      %2 = graph.strided_slice %1, axes = [1], begin = [{cut}], end = [{side}] : (IMAGE) -> LAST_ROWS
      %3 = graph.strided_slice %1, axes = [1], begin = [0], end = [{cut}] : (IMAGE) -> tensor<1x{cut}x{side}x16xf32>
      %4 = graph.concat %2, %3, axis = 1 : (LAST_ROWS, tensor<1x{cut}x{side}x16xf32>) -> IMAGE
      %5 = graph.strided_slice %4, axes = [2], begin = [{cut}], end = [{side}] : (IMAGE) -> LAST_COLUMNS
      %6 = graph.strided_slice %4, axes = [2], begin = [0], end = [{cut}] : (IMAGE) -> tensor<1x{side}x{cut}x16xf32>
      %7 = graph.concat %5, %6, axis = 2 : (LAST_COLUMNS, tensor<1x{side}x{cut}x16xf32>) -> IMAGE
      func.return %7 : IMAGE
    }}"""
    for name, rows, columns in (("LAST_ROWS", shift, side), ("LAST_COLUMNS", side, shift), ("IMAGE", side, side)):
        program = program.replace(name, f"tensor<1x{rows}x{columns}x16xf32>")
    exe = stepwell.compile(program, threads=1, cache=False)
    x = np.random.default_rng(0).standard_normal((1, windows, windows, size, size, 16)).astype(np.float32)
    image = x.transpose(0, 1, 3, 2, 4, 5).reshape(1, side, side, 16)
    np.testing.assert_array_equal(exe(x)[0], np.roll(image, (shift, shift), (1, 2)))
    assert "cf.assert" not in exe.ir("scf")
    assert capfd.readouterr().err == ""


LOOKS_UP = """
func.func @main(%x: memref<100xf32> {stepwell.role = "input"}, %i: memref<100xi64> {stepwell.role = "input"},
                %o: memref<100xf32> {stepwell.role = "output"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %first = memref.load %i[%c0] : memref<100xi64>
  scf.for %k = %c0 to %c100 step %c1 {
    %mine = memref.load %i[%k] : memref<100xi64>
    %at = arith.index_cast CHECKED : i64 to index
    %in = arith.cmpi ult, %at, %c100 : index
    cf.assert %in, "it is outside"
    %v = memref.load %x[%k] : memref<100xf32>
    memref.store %v, %o[%k] : memref<100xf32>
  } {stepwell.loop = "vectorize"}
  func.return
}
"""


@pytest.mark.parametrize(("checked", "vectors"), [("%mine", False), ("%first", True)])
def test_turns_that_may_fail(checked: str, vectors: bool, capfd: pytest.CaptureFixture[str]) -> None:
    """LLVM takes a check out of the loop that is the same in each turn."""
    exe = stepwell.compile(LOOKS_UP.replace("CHECKED", checked), cache=False)
    assert ('"llvm.loop.vectorize.enable", i1 true' in exe.ir("llvm-ir")) == vectors
    x, numbers = np.arange(100, dtype=np.float32), np.arange(100)
    out = np.zeros(100, np.float32)
    exe.run_into([out], x, numbers)
    np.testing.assert_array_equal(out, x)
    assert capfd.readouterr().err == ""
