"""Weights of f16 that many rows read: panels of them are extended once, and the results are those of NumPy."""

from __future__ import annotations

import re

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from named_machines import scheduled_for
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse

PRODUCT = """
func.func @main(%x: tensor<{m}x{k}xf16>) -> tensor<{m}x{n}xf16> {{
  %w = graph.weight "w" : tensor<{k}x{n}xf16>
  %y = graph.matmul %x, %w : (tensor<{m}x{k}xf16>, tensor<{k}x{n}xf16>) -> tensor<{m}x{n}xf16>
  %r = graph.relu %y : (tensor<{m}x{n}xf16>) -> tensor<{m}x{n}xf16>
  func.return %r : tensor<{m}x{n}xf16>
}}
"""


def product(m: int, n: int, k: int, words: str) -> str:
    """The loops of a product and a relu, with the tiling that they are to have."""
    module = parse(PRODUCT.format(m=m, n=n, k=k))
    run_pipeline(make_context(), module, "graph-optimize,to-loops")
    found = re.sub(
        r"(reduce\(.*\)) \{", rf"\1 attributes {{stepwell.tiling = #schedule.tiling<{words}>}} {{", str(module)
    )
    assert found.count("stepwell.tiling") == 1
    return found


def small_integers(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-2, 3, shape).astype(np.float16)


@settings(max_examples=100 if FULL else 8)
@given(
    m=st.integers(192, 230),
    n=st.integers(2, 130),
    part=st.integers(2, 12),
    parts=st.integers(1, 3),
    rows=st.integers(1, 8),
    vectors=st.integers(1, 3),
    outside=st.booleans(),
    panels=st.integers(0, 4),
    threads=st.integers(1, 2),
)
def test_products_of_any_tiling(
    m: int, n: int, part: int, parts: int, rows: int, vectors: int, outside: bool, panels: int, threads: int
) -> None:
    words = [f"rows = {rows}", f"columns = {16 * vectors}", f"parts = {parts}", "packed"]
    words += [f"panels = {panels}"] * (panels > 0) + ["panels_outside"] * outside
    k = part * parts
    text = product(m, n, k, ", ".join(words))
    x, w = small_integers(m, m, k), small_integers(n, k, n)
    with scheduled_for("x86-64-v4"):
        executable = stepwell.compile(text, weights={"w": w}, threads=threads, cache=False)
    assert "%extended" in executable.ir("scf")
    (found,) = executable(x)
    np.testing.assert_array_equal(found, np.maximum(x.astype(np.int32) @ w.astype(np.int32), 0))


@pytest.mark.parametrize("machine", ["zen5", "sapphire-rapids", "alder-lake", "neoverse-v2"])
@pytest.mark.parametrize(("pixels", "taps", "stride"), [(14, 1, 1), (28, 1, 2), (28, 3, 2)])
def test_convolutions(machine: str, pixels: int, taps: int, stride: int) -> None:
    """256 channels are several panels of any machine. A last one of 8 columns is extended before its tiles."""
    x, w = small_integers(1, 1, pixels, pixels, 24), small_integers(2, taps, taps, 24, 264)
    made = pixels // stride
    image, filters, result = (f"tensor<{'x'.join(map(str, s))}xf16>" for s in (x.shape, w.shape, (1, made, made, 264)))
    border = taps // 2
    text = f"""
func.func @main(%x: {image}) -> {result} {{
  %w = graph.weight "w" : {filters}
  %y = graph.conv2d %x, %w, strides = [{stride}, {stride}], padding = [{", ".join([str(border)] * 4)}],
      data_layout = "NHWC", kernel_layout = "HWIO" : ({image}, {filters}) -> {result}
  func.return %y : {result}
}}"""
    padded = np.pad(x.astype(np.int64), ((0, 0), (border, border), (border, border), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (taps, taps), axis=(1, 2))[:, ::stride, ::stride]
    expected = np.einsum("nhwcij,ijco->nhwo", windows, w.astype(np.int64))[:, :made, :made]
    with scheduled_for(machine):
        executable = stepwell.compile(text, weights={"w": w}, threads=2, cache=False)
    (found,) = executable(x)
    np.testing.assert_array_equal(found, expected)


def test_threads_share_panels() -> None:
    """The first tile of a panel extends it, so the tiles of other rows do not run beside it."""
    text = product(200, 136, 512, "rows = 4, columns = 32, packed, panels_outside")
    with scheduled_for("x86-64-v4"):
        loops = stepwell.compile(text, weights={"w": small_integers(0, 512, 136)}, cache=False).ir("tensor_loop")
    (nest,) = re.findall(r"for %p\w* in 4 parallel \{\n\s*tensor_loop.for %m0\w* in 50 \{", loops)
    assert "parallel" not in nest.partition("{")[2]
