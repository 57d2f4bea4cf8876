"""Depthwise convolutions and Winograd's filtering as the IR asks for: the numbers they give, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from named_machines import scheduled_for
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse, parse_text
from stepwell.schedule.tuned.kernels import kernels_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

CONVOLUTION = """
func.func @main(%x: {x}) -> {y} {{
  %w = graph.weight "w" : {w}
  %z = graph.conv2d %x, %w, padding = [{pad}, {pad}, {pad}, {pad}], strides = [{step}, {step}], groups = {groups},
      data_layout = "NHWC", kernel_layout = "HWIO" : ({x}, {w}) -> {y}
  %r = graph.relu %z : ({y}) -> {y}
  return %r : {y}
}}
"""

PROGRAM = """schedule.program {{
  %b = schedule.get_block "block0" in @kernel
  schedule.annotate %b "stepwell.tiling" with {tiling}
}}"""

Sizes = tuple[int, int, int, int]


def tensor(shape: tuple[int, ...]) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def scheduled(image: Sizes, window: Sizes, tiling: str, pad: int = 1, step: int = 1, groups: int = 1) -> ModuleOp:
    """A convolution as a kernel of its own, with a schedule that asks for `tiling` beside it."""
    batch, height, width, _ = image
    rows, columns = (
        (size + 2 * pad - taps) // step + 1 for size, taps in zip((height, width), window[:2], strict=True)
    )
    text = CONVOLUTION.format(
        x=tensor(image),
        w=tensor(window),
        y=tensor((batch, rows, columns, window[3])),
        pad=pad,
        step=step,
        groups=groups,
    )
    module = parse(text)
    run_pipeline(make_context(), module, "graph-optimize,to-loops")
    kernel = next(each for each in kernels_of(module) if "conv2d" in each.name).module.clone()
    number = next(
        op.block_name.data
        for op in kernel.walk()
        if op.name == "tensor_loop.block" and op.has_reduce_axes  # pyright: ignore[reportAttributeAccessIssue]
    )
    (program,) = parse_text(make_context(), PROGRAM.format(tiling=tiling).replace("block0", number), "schedule").ops
    program.detach()
    kernel.body.block.add_op(program)
    return kernel


def compiled(module: ModuleOp, w: Any, pipeline: str = "apply-schedule,finish") -> stepwell.Executable:
    with scheduled_for("x86-64-v4"):
        return stepwell.compile(module, pipeline=pipeline, weights={"w1": w}, cache=False, threads=1, tuning=False)


def reference(x: Any, w: Any, pad: int, step: int, groups: int) -> Any:
    """The sums, one tap at a time, then relu."""
    padded = np.pad(x.astype(np.float64), ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    height, width = w.shape[:2]
    rows, columns = ((size - taps) // step + 1 for size, taps in zip(padded.shape[1:3], (height, width), strict=True))
    total = np.zeros((x.shape[0], rows, columns, w.shape[3]))
    for i in range(height):
        for j in range(width):
            part = padded[:, i : i + step * rows : step, j : j + step * columns : step][:, :rows, :columns]
            total += part * w[i, j, 0] if groups > 1 else part @ w[i, j]
    return np.maximum(total, 0)


def check(image: Sizes, window: Sizes, tiling: str, pad: int, step: int, groups: int) -> None:
    generator = np.random.default_rng(sum(image) + sum(window))
    x, w = (generator.integers(-3, 4, shape).astype(np.float32) for shape in (image, window))
    exe = compiled(scheduled(image, window, tiling, pad, step, groups), w)
    np.testing.assert_array_equal(exe(x)[0], reference(x, w, pad, step, groups))


@settings(max_examples=60 if FULL else 4)
@given(
    batch=st.integers(1, 2),
    size=st.tuples(st.integers(5, 12), st.integers(5, 12)),
    channels=st.sampled_from([8, 16, 24, 33]),
    pad=st.integers(0, 1),
    step=st.integers(1, 2),
    rows=st.integers(1, 3),
    pixels=st.integers(1, 3),
)
def test_every_tile_of_a_depthwise_convolution_gives_the_sums(
    batch: int, size: tuple[int, int], channels: int, pad: int, step: int, rows: int, pixels: int
) -> None:
    tiling = f"#schedule.depthwise<rows = {rows}, pixels = {pixels}>"
    check((batch, *size, channels), (3, 3, 1, channels), tiling, pad, step, channels)


@settings(max_examples=60 if FULL else 4)
@given(
    batch=st.sampled_from([1, 2, 4]),
    size=st.tuples(st.integers(4, 12), st.integers(4, 12)),
    channels=st.tuples(st.integers(2, 20), st.integers(2, 36)),
    pad=st.integers(0, 1),
    part=st.integers(0, 20),
    tile=st.tuples(st.integers(1, 8), st.integers(1, 3)),
)
def test_every_block_of_squares_gives_the_sums(
    batch: int, size: tuple[int, int], channels: tuple[int, int], pad: int, part: int, tile: tuple[int, int]
) -> None:
    down = -(-(size[0] + 2 * pad - 2) // 2)
    blocks = [(1, rows) for rows in range(1, down + 1) if down % rows == 0]
    blocks += [(images, down) for images in (2, 4) if batch % images == 0]
    images, rows = blocks[part % len(blocks)]
    words = f"images = {images}, rows = {rows}, tile_rows = {tile[0]}, tile_columns = {16 * tile[1]}"
    check((batch, *size, channels[0]), (3, 3, *channels), f"#schedule.winograd<{words}>", pad, 1, 1)


WINOGRAD = "#schedule.winograd<images = 1, rows = 3, tile_rows = 3, tile_columns = 32>"


def test_the_attribute_decides_what_is_made() -> None:
    w = np.zeros((3, 3, 4, 16), np.float32)
    module = scheduled((1, 6, 6, 4), w.shape, WINOGRAD)
    text = compiled(module, w).ir("tensor_loop")
    assert "pack_filters" in text and "vector<3x16xf32>" in text
    product = scheduled((1, 6, 6, 4), w.shape, "#schedule.tiling<rows = 4, columns = 16>")
    assert "pack_filters" not in compiled(product, w).ir("tensor_loop")


def test_strict_numerics_are_stronger_than_a_schedule() -> None:
    w = np.zeros((3, 3, 4, 16), np.float32)
    text = compiled(scheduled((1, 6, 6, 4), w.shape, WINOGRAD), w, "apply-schedule,finish-strict").ir("tensor_loop")
    assert "pack_filters" not in text and "pack_panels" in text


def test_a_depthwise_convolution_on_flattened_rows_may_be_tiled() -> None:
    w = np.zeros((3, 3, 1, 33), np.float32)
    image = (1, 28, 28, 33)
    tiled = scheduled(image, w.shape, "#schedule.depthwise<rows = 1, pixels = 2>", groups=33)
    assert "repeated" not in compiled(tiled, w).ir("tensor_loop")


REFUSED = [
    ((1, 6, 6, 4), 1, "winograd<images = 1, rows = 2, tile_rows = 4, tile_columns = 16>",
     ("a block has 2 rows of squares of 1 images, expected a part of the 3 rows of squares of one image, or all of "
      "them of a part of the 1 images")),
    ((1, 6, 6, 4), 1, "winograd<images = 1, rows = 3, tile_rows = 4, tile_columns = 24>",
     "24 columns are no whole vectors of 16 elements"),
    ((1, 24, 24, 4), 1, "winograd<images = 1, rows = 12, tile_rows = 20, tile_columns = 32>",
     "tiles of 20x32 elements take too many registers for 'x86-64-v4'"),
    ((1, 6, 6, 4), 1, "depthwise<rows = 1, pixels = 2>",
     "the block is no depthwise convolution that register tiles are made for"),
    ((1, 14, 14, 32), 32, "depthwise<rows = 8, pixels = 1>", "tiles have 7 rows at most"),
    ((1, 14, 14, 32), 32, "depthwise<rows = 7, pixels = 7>", "registers, too many for 'x86-64-v4'"),
    ((1, 14, 14, 32), 32, "tiling<rows = 7, columns = 16>", "a depthwise convolution takes a #schedule.depthwise"),
    ((1, 14, 14, 32), 32, WINOGRAD.removeprefix("#schedule."), "a depthwise convolution takes a #schedule.depthwise"),
]  # fmt: skip


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize(("image", "groups", "tiling", "reason"), REFUSED)
def test_what_does_not_fit_is_an_error(image: Sizes, groups: int, tiling: str, reason: str) -> None:
    window = (3, 3, 1, 32) if groups > 1 else (3, 3, 4, 48)
    module = scheduled(image, window, f"#schedule.{tiling}", groups=groups)
    with pytest.raises(DiagnosticException) as found:
        compiled(module, np.zeros(window, np.float32))
    assert "cannot have 'stepwell.tiling' = #schedule." in str(found.value) and reason in str(found.value)


def test_winograd_needs_a_window_of_three_by_three_and_stride_one() -> None:
    window = (3, 3, 4, 16)
    module = scheduled((1, 6, 6, 4), window, WINOGRAD, step=2)
    with pytest.raises(DiagnosticException, match="the block is no convolution of 3x3 with stride 1"):
        compiled(module, np.zeros(window, np.float32))
