"""Axes that walk through memory as one become one: sums over pixels and transposes of images, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from depthwise_programs import scheduled
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.core.ir.walk import ops_of
from stepwell.reference.registry import evaluate
from xdsl.dialects import memref

Array = np.ndarray[Any, Any]

EXAMPLES = 100 if FULL else 8

TYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i64": np.int64}


def program(op: str, words: str, dtype: str, shape: tuple[int, ...], result: tuple[int, ...]) -> str:
    given, out = (f"tensor<{''.join(f'{extent}x' for extent in each)}{dtype}>" for each in (shape, result))
    return (
        f"func.func @main(%x: {given}) -> {out} {{\n  %y = graph.{op} %x, {words} : ({given}) -> {out}\n"
        f"  func.return %y : {out}\n}}\n"
    )


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    op=st.sampled_from(["sum", "max", "min"]),
    shape=st.lists(st.integers(1, 9), min_size=2, max_size=4),
    data=st.data(),
    keepdims=st.booleans(),
    dtype=st.sampled_from(["f32", "f32", "f16", "i8", "i64"]),
    seed=st.integers(0, 1000),
)
def test_random_reductions(
    op: str, shape: list[int], data: st.DataObject, keepdims: bool, dtype: str, seed: int
) -> None:
    axes = sorted(data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1)))
    x = np.random.default_rng(seed).integers(-3, 4, shape).astype(TYPES[dtype])
    if dtype.startswith("f") and op != "sum":
        x.flat[seed % x.size] = np.nan
    (expected,) = evaluate(f"graph.{op}", {"axis": axes, "keepdims": keepdims}, x)
    expected = np.asarray(expected)
    words = f"axis = {axes}, keepdims = {str(keepdims).lower()}"
    text = program(op, words, dtype, x.shape, expected.shape)
    if expected.dtype != x.dtype:
        return  # sums of narrow integers are wide
    (found,) = stepwell.compile(text, threads=1, cache=False)(x)
    np.testing.assert_array_equal(found, expected)


def views(text: str) -> list[tuple[int, ...]]:
    """The shapes of the views of a scheduled program."""
    found = ops_of(scheduled(text), memref.CollapseShapeOp)
    return [op.result.type.get_shape() for op in found]  # pyright: ignore[reportAttributeAccessIssue]


def test_a_sum_over_pixels_is_over_one_axis() -> None:
    assert views(program("sum", "axis = [2, 3]", "f32", (2, 5, 7, 7), (2, 5))) == [(2, 5, 49)]
    assert views(program("sum", "axis = [1, 2, 3]", "f32", (2, 5, 7, 7), (2,))) == [(2, 245)]


@pytest.mark.parametrize("axes", [[1, 2], [1, 3], [0, 1]])
def test_axes_that_are_apart_stay(axes: list[int]) -> None:
    """Channels last have vectors of channels, and rows and channels are no neighbours."""
    kept = tuple(extent for axis, extent in enumerate((2, 5, 7, 9)) if axis not in axes)
    assert not views(program("sum", f"axis = {axes}", "f32", (2, 5, 7, 9), kept))


@pytest.mark.parametrize("dtype", ["f32", "f16", "i8"])
def test_a_transpose_of_an_image_has_no_rest(dtype: str) -> None:
    """Tiles of 16 do not fill rows of 12 or 20 pixels, but 240 pixels."""
    text = program("permute_dims", "axes = [0, 2, 3, 1]", dtype, (1, 32, 12, 20), (1, 12, 20, 32))
    x = np.random.default_rng(1).integers(-9, 9, (1, 32, 12, 20)).astype(TYPES[dtype])
    (found,) = stepwell.compile(text, threads=1, cache=False)(x)
    np.testing.assert_array_equal(found, x.transpose(0, 2, 3, 1))
    assert views(text) == [(1, 32, 240), (1, 240, 32)]


def test_a_buffer_that_others_read_keeps_its_axes() -> None:
    """A normalisation goes over its rows several times, which run together only on the same buffer."""
    given = "tensor<2x3x8x8xf32>"
    text = f"""
func.func @main(%x: {given}, %s: tensor<3xf32>) -> {given} {{
  %y = graph.instance_norm %x, %s, %s : ({given}, tensor<3xf32>, tensor<3xf32>) -> {given}
  func.return %y : {given}
}}
"""
    assert not views(text)
