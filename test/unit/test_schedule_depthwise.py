"""
Depthwise convolutions as register tiles, against NumPy written on its own.

The operands are small integers, so every sum is exact in any order and results are compared bit by bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.core.parsing import make_context, parse
from stepwell.core.pass_context import PassContext
from stepwell.core.pipelines import run_pipeline
from stepwell.dialects import tile
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp

EXAMPLES = 300 if FULL else 12
Array = np.ndarray[Any, Any]


def image(*sizes: int) -> str:
    return f"tensor<{'x'.join(map(str, sizes))}xf32>"


def convolve(x: Array, w: Array, strides: list[int], padding: list[int], dilation: list[int]) -> Array:
    """NHWC by HW1C, one product per tap."""
    kh, kw = w.shape[:2]
    top, left, bottom, right = padding
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    sizes = [
        (padded.shape[axis] - dilation[axis - 1] * (kernel - 1) - 1) // strides[axis - 1] + 1
        for axis, kernel in ((1, kh), (2, kw))
    ]
    total = np.zeros((x.shape[0], *sizes, x.shape[3]), np.float32)
    for i in range(kh):
        for j in range(kw):
            y, z = i * dilation[0], j * dilation[1]
            window = padded[
                :,
                y : y + strides[0] * (sizes[0] - 1) + 1 : strides[0],
                z : z + strides[1] * (sizes[1] - 1) + 1 : strides[1],
            ]
            total += window * w[i, j, 0]
    return total


def program(x: Array, w: Array, result: Array, properties: str, epilogue: str) -> str:
    types = [image(*x.shape), image(*w.shape), image(x.shape[3]), image(*result.shape)]
    out = types[3]
    lines = [f"%r0 = graph.conv2d %x, %w{properties} : ({types[0]}, {types[1]}) -> {out}"]
    if "bias" in epilogue:
        lines.append(
            f"%r{len(lines)} = graph.bias_add %r{len(lines) - 1}, %b, axis = 3 : ({out}, {types[2]}) -> {out}"
        )
    if "relu" in epilogue:
        lines.append(f"%r{len(lines)} = graph.relu %r{len(lines) - 1} : ({out}) -> {out}")
    body = "\n  ".join(lines)
    return f"""func.func @main(%x: {types[0]}, %w: {types[1]}, %b: {types[2]}) -> {out} {{
  {body}
  func.return %r{len(lines) - 1} : {out}
}}"""


def scheduled(text: str, target: str = "x86-64-v4") -> ModuleOp:
    module = parse(text)
    run_pipeline(make_context(), module, f'graph-optimize,to-loops,schedule-cpu{{target="{target}"}}')
    return module


def is_tiled(module: ModuleOp) -> bool:
    return any(isinstance(op, tile.MapOp) for op in module.walk())


def is_copied(module: ModuleOp) -> bool:
    return any(op.name == "tensor_loop.alloc" for op in module.walk())


def small_integers(seed: int, *sizes: int) -> Array:
    return np.random.default_rng(seed).integers(-3, 4, sizes).astype(np.float32)


def check(
    x: Array, w: Array, strides: list[int], padding: list[int], dilation: list[int], epilogue: str
) -> ModuleOp:
    expected = convolve(x, w, strides, padding, dilation)
    properties = (
        f", strides = {strides}, padding = {padding}, dilation = {dilation}, groups = {x.shape[3]},"
        ' data_layout = "NHWC", kernel_layout = "HWIO"'
    )
    text = program(x, w, expected, properties, epilogue)
    bias = small_integers(5, x.shape[3])
    if "bias" in epilogue:
        expected = expected + bias
    if "relu" in epilogue:
        expected = np.maximum(expected, 0)
    (found,) = stepwell.compile(text, opt_level=3, cache=False)(x, w, bias)
    np.testing.assert_array_equal(found, expected)
    return scheduled(text)


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
    batch, *extents = sizes
    for axis in (0, 1):
        room = extents[axis] + padding[axis] + padding[axis + 2]
        extents[axis] += max(0, dilation[axis] * (kernel[axis] - 1) + 1 - room)
    x = small_integers(seed, batch, *extents, channels)
    w = small_integers(seed + 1, *kernel, 1, channels)
    check(x, w, list(strides), list(padding), list(dilation), epilogue)


@pytest.mark.parametrize("target", ["x86-64", "x86-64-v3", "aarch64-neon"])
def test_tiles_of_other_targets(target: str) -> None:
    with PassContext(3, config={"target": target}):
        check(
            small_integers(1, 1, 9, 9, 33),
            small_integers(2, 3, 3, 1, 33),
            [1, 1],
            [1, 1, 1, 1],
            [1, 1],
            "bias-relu",
        )


def test_no_padded_copy_of_the_image() -> None:
    module = check(
        small_integers(1, 1, 9, 9, 20),
        small_integers(2, 3, 3, 1, 20),
        [1, 1],
        [1, 1, 1, 1],
        [1, 1],
        "bias-relu",
    )
    assert is_tiled(module) and not is_copied(module)
    loaded = [op for op in module.walk() if isinstance(op, memref.LoadOp)]
    assert not loaded


def test_a_large_window_reads_a_padded_copy() -> None:
    module = check(
        small_integers(1, 1, 9, 9, 20), small_integers(2, 5, 5, 1, 20), [1, 1], [2, 2, 2, 2], [1, 1], "relu"
    )
    assert is_tiled(module) and is_copied(module)


@pytest.mark.parametrize("case", ["window", "multiplier", "groups"])
def test_left_to_others(case: str) -> None:
    """A window of many taps, several outputs per channel, several channels per group."""
    kernel = 7 if case == "window" else 3
    out, inside = {"window": (8, 1), "multiplier": (16, 1), "groups": (8, 2)}[case]
    x, w = small_integers(1, 1, 9, 9, 8), small_integers(2, kernel, kernel, inside, out)
    groups = 8 // inside
    properties = f', groups = {groups}, data_layout = "NHWC", kernel_layout = "HWIO"'
    result = np.zeros((1, 10 - kernel, 10 - kernel, out), np.float32)
    assert not is_tiled(scheduled(program(x, w, result, properties, "")))
