"""Reductions over windows of images, in both layouts, against the reference. NaNs and signs of zeros count."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from counts import FULL
from depthwise_programs import scheduled
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.core.ir.walk import ops_of
from stepwell.dialects.tensor_loop import AllocOp, BlockOp
from stepwell.reference.registry import evaluate
from xdsl.dialects import scf

Array = np.ndarray[Any, Any]

EXAMPLES = 200 if FULL else 8

SPECIAL = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0], np.float32)

TYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i64": np.int64}


def image(dtype: str, shape: tuple[int, ...], seed: int) -> Array:
    """Few different numbers, so that windows hold several of the greatest. A quarter of the floats are special."""
    random = np.random.default_rng(seed)
    whole = random.integers(-3, 4, shape)
    if dtype.startswith("i"):
        return whole.astype(TYPES[dtype])
    return np.where(random.random(shape) < 0.25, random.choice(SPECIAL, shape), whole).astype(TYPES[dtype])


def program(op: str, properties: dict[str, Any], dtype: str, shape: tuple[int, ...], result: tuple[int, ...]) -> str:
    """The text of one pooling."""
    given, out = (f"tensor<{'x'.join(map(str, each))}x{dtype}>" for each in (shape, result))
    words = ", ".join(f"{name} = {_word(value)}" for name, value in properties.items())
    return (
        f"func.func @main(%x: {given}) -> {out} {{\n  %y = graph.{op} %x, {words} : ({given}) -> {out}\n"
        f"  func.return %y : {out}\n}}\n"
    )


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(list(value))


def check(op: str, properties: dict[str, Any], x: Array, dtype: str) -> str:
    """Compares a pooling with the reference, maxima bit by bit. Returns the program."""
    (expected,) = evaluate(f"graph.{op}", properties, x)
    text = program(op, properties, dtype, x.shape, expected.shape)
    (found,) = stepwell.compile(text, threads=1, cache=False)(x)
    if op == "avg_pool2d":
        np.testing.assert_allclose(found, expected, rtol=1e-2 if dtype == "f16" else 1e-5, atol=1e-6)
    else:
        np.testing.assert_array_equal(found, expected)
        known = ~np.isnan(expected) if dtype.startswith("f") else np.ones(expected.shape, bool)
        np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(expected)[known])
    return text


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    op=st.sampled_from(["max_pool2d", "avg_pool2d"]),
    layout=st.sampled_from(["NCHW", "NHWC"]),
    sizes=st.tuples(st.integers(1, 2), st.integers(5, 12), st.integers(5, 21)),
    channels=st.sampled_from([1, 3, 5, 16, 20, 64, 70]),
    window=st.tuples(st.integers(1, 7), st.integers(1, 7)),
    strides=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    padding=st.tuples(*[st.integers(0, 3)] * 4),
    dilation=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    dtype=st.sampled_from(["f32", "f32", "f16", "i8", "i64"]),
    seed=st.integers(0, 1000),
)
def test_random_poolings(
    op: str,
    layout: str,
    sizes: tuple[int, int, int],
    channels: int,
    window: tuple[int, int],
    strides: tuple[int, int],
    padding: tuple[int, int, int, int],
    dilation: tuple[int, int],
    dtype: str,
    seed: int,
) -> None:
    batch, height, width = sizes
    window = (min(window[0], 1 + (height - 1) // dilation[0]), min(window[1], 1 + (width - 1) // dilation[1]))
    padding = tuple(min(pad, window[number % 2] // 2) for number, pad in enumerate(padding))  # pyright: ignore
    if op == "avg_pool2d":
        dtype = "f32" if dtype.startswith("i") else dtype
    shape = (batch, channels, height, width) if layout == "NCHW" else (batch, height, width, channels)
    properties = {
        "pool_size": window,
        "strides": strides,
        "padding": padding,
        "dilation": dilation,
        "layout": layout,
    }
    x = image(dtype, shape, seed)
    if op == "avg_pool2d":
        properties["count_include_pad"] = bool(seed % 2)
        x = np.nan_to_num(x, nan=0.5, posinf=2.0, neginf=-2.0)
    check(op, properties, x, dtype)


THREE = {"pool_size": (3, 3), "strides": (2, 2), "padding": (1, 1, 1, 1), "dilation": (1, 1)}


def test_maxima_of_bf16() -> None:
    """Maxima of bf16 are those of f32, which has all of its numbers: NaN, infinities and both zeros among them."""
    x = image("f32", (1, 9, 9, 20), 3)
    properties = {"pool_size": [3, 3], "strides": [2, 2], "padding": [1, 1, 1, 1], "layout": "NHWC"}
    (expected,) = evaluate("graph.max_pool2d", properties, x)
    text = program("max_pool2d", properties, "bf16", x.shape, expected.shape)
    found = stepwell.compile(text, threads=1, cache=False)(x.astype(ml_dtypes.bfloat16))[0].astype(np.float32)
    np.testing.assert_array_equal(found, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(expected)[known])


@pytest.mark.parametrize(("layout", "rows"), [("NCHW", True), ("NHWC", False)])
def test_no_element_is_chosen_by_a_condition(layout: str, rows: bool) -> None:
    """A maximum may take the nearest element twice, so indices are moved to the border of the image instead."""
    shape = (1, 6, 21, 21) if layout == "NCHW" else (1, 21, 21, 6)
    text = check("max_pool2d", {**THREE, "layout": layout}, image("f32", shape, 1), "f32")
    module = scheduled(text)
    names = [op.block_name.data for op in ops_of(module, BlockOp)]
    assert ("max_pool2d_rows" in names) == rows
    assert not ops_of(module, scf.IfOp)


def test_many_taps_go_by_rows_of_channels() -> None:
    """A row of 25 columns and 32 channels, in two chunks for 64 channels, and no padded copy of the image."""
    properties = {**THREE, "pool_size": (5, 5), "strides": (1, 1), "padding": (2, 2, 2, 2), "layout": "NHWC"}
    text = check("max_pool2d", properties, image("f32", (1, 21, 21, 96), 2), "f32")
    (row,) = ops_of(scheduled(text), AllocOp)
    assert row.memref.type.get_shape() == (1, 2, 25, 48)


def test_a_window_of_one_tap_across_has_no_row() -> None:
    properties = {**THREE, "pool_size": (2, 1), "strides": (2, 1), "padding": (0, 0, 0, 0), "layout": "NCHW"}
    text = check("max_pool2d", properties, image("f32", (1, 3, 20, 37), 3), "f32")
    assert not ops_of(scheduled(text), AllocOp)


def test_padding_of_dilated_maxima_is_chosen() -> None:
    """Taps 0 and 2 of a window that begins at -1: element 0 lies between them, so it must not count."""
    properties = {**THREE, "strides": (1, 1), "dilation": (2, 2), "layout": "NHWC"}
    x = -np.ones((1, 5, 5, 16), np.float32)
    x[0, 0, 0] = 9.0
    check("max_pool2d", properties, x, "f32")


HAND = """
builtin.module {
  tensor_loop.func @pool(%x: memref<20x64xi32>) outs(%y: memref<18x64xi32>) {
    tensor_loop.grid (%i, %c, %k) in (18, 64, 3) {
      tensor_loop.block "pool" spatial(%vi in 18 = %i, %vc in 64 = %c) reduce(%vk in 3 = %k) {
        init {
          %z = arith.constant 7 : i32
          memref.store %z, %y[%vi, %vc] : memref<18x64xi32>
        }
        %h = arith.addi %vi, %vk : index
        %a = memref.load %x[%h, %vc] : memref<20x64xi32>
        %o = memref.load %y[%vi, %vc] : memref<18x64xi32>
        %m = arith.maxsi %o, %a : i32
        memref.store %m, %y[%vi, %vc] : memref<18x64xi32>
      }
    }
  }
}
"""


def test_an_initial_number_that_counts() -> None:
    x = np.random.default_rng(4).integers(-50, 50, (20, 64)).astype(np.int32)
    (found,) = stepwell.compile(HAND, entry="pool", threads=1, cache=False)(x)
    np.testing.assert_array_equal(found, np.maximum(7, np.maximum.reduce([x[k : k + 18] for k in range(3)])))
