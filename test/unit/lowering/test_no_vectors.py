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


def test_windows_that_are_rolled_are_vectors_without_checks(capfd: pytest.CaptureFixture[str]) -> None:
    """An index that a branch keeps from being negative is divided there, as in shifted windows of 7 of an image."""
    program = """
    func.func @main(%x: tensor<1x8x8x7x7x16xf32>) -> IMAGE {
      %0 = graph.permute_dims %x, axes = [0, 1, 3, 2, 4, 5] : (tensor<1x8x8x7x7x16xf32>) -> tensor<1x8x7x8x7x16xf32>
      %1 = graph.reshape %0, shape = [1, 56, 56, 16] : (tensor<1x8x7x8x7x16xf32>) -> IMAGE
      %2 = graph.strided_slice %1, axes = [1], begin = [53], end = [56] : (IMAGE) -> tensor<1x3x56x16xf32>
      %3 = graph.strided_slice %1, axes = [1], begin = [0], end = [53] : (IMAGE) -> tensor<1x53x56x16xf32>
      %4 = graph.concat %2, %3, axis = 1 : (tensor<1x3x56x16xf32>, tensor<1x53x56x16xf32>) -> IMAGE
      %5 = graph.strided_slice %4, axes = [2], begin = [53], end = [56] : (IMAGE) -> tensor<1x56x3x16xf32>
      %6 = graph.strided_slice %4, axes = [2], begin = [0], end = [53] : (IMAGE) -> tensor<1x56x53x16xf32>
      %7 = graph.concat %5, %6, axis = 2 : (tensor<1x56x3x16xf32>, tensor<1x56x53x16xf32>) -> IMAGE
      func.return %7 : IMAGE
    }""".replace("IMAGE", "tensor<1x56x56x16xf32>")
    exe = stepwell.compile(program, threads=1, cache=False)
    x = np.random.default_rng(0).standard_normal((1, 8, 8, 7, 7, 16)).astype(np.float32)
    image = x.transpose(0, 1, 3, 2, 4, 5).reshape(1, 56, 56, 16)
    np.testing.assert_array_equal(exe(x)[0], np.roll(image, (3, 3), (1, 2)))
    assert "cf.assert" not in exe.ir("scf")
    assert capfd.readouterr().err == ""
