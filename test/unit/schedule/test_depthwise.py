"""
Depthwise convolutions as register tiles, against NumPy written on its own.

The operands are small integers, so every sum is exact in any order and results are compared bit by bit.
"""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from counts import FULL
from depthwise_programs import (
    check,
    check_random,
    is_copied,
    is_flat,
    is_tiled,
    program,
    scheduled,
    small_integers,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from named_machines import scheduled_for
from stepwell.core.ir.walk import ops_of
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.dialects import tile
from xdsl.dialects import arith, memref

EXAMPLES = 300 if FULL else 6


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 2), st.integers(3, 12), st.integers(3, 17)),
    channels=st.integers(2, 40) | st.sampled_from([64, 65, 100, 130]),
    kernel=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    strides=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    padding=st.tuples(*[st.integers(0, 2)] * 4),
    dilation=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    epilogue=st.sampled_from(["", "bias", "relu", "bias-relu"]),
    seed=st.integers(0, 1000),
)
def test_random_convolutions(
    sizes: tuple[int, ...],
    channels: int,
    kernel: tuple[int, int],
    strides: tuple[int, int],
    padding: tuple[int, ...],
    dilation: tuple[int, int],
    epilogue: str,
    seed: int,
) -> None:
    check_random(sizes, channels, kernel, strides, padding, dilation, epilogue, seed)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("target", ["x86-64", "x86-64-v3", "aarch64-neon"])
def test_tiles_of_other_targets(target: str) -> None:
    with scheduled_for(target):
        check(
            small_integers(1, 1, 9, 9, 33),
            small_integers(2, 3, 3, 1, 33),
            [1, 1],
            [1, 1, 1, 1],
            [1, 1],
            "bias-relu",
        )


@pytest.mark.parametrize(
    ("target", "size", "channels", "stride", "shape"),
    [
        # 9 rows of 7 pages would go to one set of L1, which holds 8 lines; that of Sapphire Rapids holds 12.
        ("zen4", 56, 128, 1, (4, 1)),
        ("cascade-lake", 56, 128, 1, (5, 1)),
        ("sapphire-rapids", 56, 128, 1, (7, 1)),
        # One image stays in L2, and what tiles of one pixel read stays in L1.
        ("zen4", 28, 128, 2, (6, 1)),
        ("zen4", 14, 512, 1, (2, 6)),
        # L3 is near enough for two pixels, where image and result are large, but not larger than it. Six rows of
        # results would share their set with eight of the image.
        ("zen5", 112, 128, 1, (5, 2)),
        ("zen5", 112, 136, 1, (6, 2)),
        ("zen5", 224, 128, 1, (7, 1)),
        ("zen5", 56, 128, 1, (7, 1)),
        # Tiles of one height have half of the code. That counts where the image is small.
        ("zen5", 28, 58, 1, (4, 2)),
        ("zen5", 28, 80, 1, (6, 2)),
        ("zen5", 14, 480, 1, (2, 6)),
    ],
)
def test_what_decides_about_tiles(target: str, size: int, channels: int, stride: int, shape: tuple[int, int]) -> None:
    out = (size - 1) // stride + 1
    image, result = f"tensor<1x{size}x{size}x{channels}xf32>", f"tensor<1x{out}x{out}x{channels}xf32>"
    weights = f"tensor<3x3x1x{channels}xf32>"
    module = parse(f"""func.func @main(%x: {image}, %w: {weights}) -> {result} {{
  %y = graph.conv2d %x, %w, strides = [{stride}, {stride}], padding = [1, 1, 1, 1], groups = {channels},
    data_layout = "NHWC", kernel_layout = "HWIO" : ({image}, {weights}) -> {result}
  func.return %y : {result}
}}""")
    run_pipeline(make_context(), module, f'lower-graph-to-loops,plan-schedules{{target="{target}"}}')
    assert f"#schedule.depthwise<rows = {shape[0]}, pixels = {shape[1]}>" in str(module)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize(("channels", "strides", "epilogue"), [(35, [1, 1], "bias-image-relu"), (16, [2, 1], "")])
def test_small_floats_are_summed_in_f32(dtype: str, channels: int, strides: list[int], epilogue: str) -> None:
    """All sums are whole numbers below 256, which both types hold."""
    x, w = small_integers(1, 2, 9, 8, channels), small_integers(2, 3, 3, 1, channels)
    module = check(x, w, strides, [1, 1, 1, 1], [1, 1], epilogue, dtype)
    assert is_tiled(module) and not is_flat(module) and not is_copied(module)
    assert any(isinstance(op, arith.ExtFOp) for op in module.walk())


def test_no_padded_copy_of_the_image() -> None:
    module = check(
        small_integers(1, 1, 9, 9, 32),
        small_integers(2, 3, 3, 1, 32),
        [1, 1],
        [1, 1, 1, 1],
        [1, 1],
        "bias-relu",
    )
    assert is_tiled(module) and not is_copied(module) and not is_flat(module)
    loaded = [op for op in module.walk() if isinstance(op, memref.LoadOp)]
    assert not loaded


@pytest.mark.parametrize(("size", "widest"), [(56, 1), (14, 5)])
def test_tiles_are_one_pixel_wide_beyond_l2(size: int, widest: int) -> None:
    """1.6 MB of image and as much of result do not stay in 2 MB; a sixteenth of that does."""
    x, w = small_integers(1, 1, size, size, 128), small_integers(2, 3, 3, 1, 128)
    properties = ', padding = [1, 1, 1, 1], groups = 128, data_layout = "NHWC", kernel_layout = "HWIO"'
    stored = ops_of(scheduled(program(x, w, x, properties, "")), tile.StoreOp)
    assert max(op.box_accesses()[0].sizes[2] for op in stored) == widest


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("kernel", [5, 7])
def test_a_large_window_reads_a_padded_copy(kernel: int) -> None:
    x, w = small_integers(1, 1, 9, 9, 20), small_integers(2, kernel, kernel, 1, 20)
    module = check(x, w, [1, 1], [kernel // 2] * 4, [1, 1], "relu")
    assert is_tiled(module) and is_copied(module)


def test_left_to_others() -> None:
    """A window of many taps. Groups of several channels and several outputs per channel: `test_grouped.py`."""
    x, w = small_integers(1, 1, 9, 9, 8), small_integers(2, 8, 7, 1, 8)
    properties = ', groups = 8, data_layout = "NHWC", kernel_layout = "HWIO"'
    result = np.zeros((1, 2, 3, 8), np.float32)
    assert not is_tiled(scheduled(program(x, w, result, properties, "")))


@pytest.mark.parametrize(
    ("a", "b"),
    [((2, 2, 1, 1), (2, 1, 1)), ((3, 4, 1, 2), (4, 2, 1)), ((5, 4, 1, 3), (4, 3, 1)), ((2, 3, 1, 1), (1, 3, 1, 1))],
)
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_products_with_a_column_of_their_own(a: tuple[int, ...], b: tuple[int, ...], dtype: type) -> None:
    """Right sides have axes of extent 1, which are no channels."""
    x, w = small_integers(0, *a).astype(dtype), small_integers(1, *b).astype(dtype)
    wanted = np.matmul(x, w)
    name = "f32" if dtype is np.float32 else "i32"
    left, right, result = (f"tensor<{'x'.join(map(str, shape))}x{name}>" for shape in (a, b, wanted.shape))
    text = f"""func.func @main(%a: {left}, %b: {right}) -> {result} {{
      %0 = graph.matmul %a, %b : ({left}, {right}) -> {result}
      func.return %0 : {result}
    }}"""
    np.testing.assert_array_equal(stepwell.compile(text, cache=False)(x, w)[0], wanted)
