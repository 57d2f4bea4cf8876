"""Axes that are divided become axes of their own: what moves elements stays the same, and no division is left."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from depthwise_programs import scheduled
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.core.ir.walk import ops_of
from stepwell.dialects.tensor_loop import ForOp
from xdsl.dialects import arith

Array = np.ndarray[Any, Any]

EXAMPLES = 100 if FULL else 8


def tensor(shape: tuple[int, ...], dtype: str = "f32") -> str:
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{dtype}>"


def moved(x: Array, parts: tuple[int, ...], axes: list[int], result: tuple[int, ...], dtype: str) -> str:
    """Text that reshapes to `parts`, permutes, and reshapes again."""
    turned = tuple(parts[axis] for axis in axes)
    return f"""
func.func @main(%x: {tensor(x.shape, dtype)}) -> {tensor(result, dtype)} {{
  %0 = graph.reshape %x, shape = {list(parts)} : ({tensor(x.shape, dtype)}) -> {tensor(parts, dtype)}
  %1 = graph.permute_dims %0, axes = {axes} : ({tensor(parts, dtype)}) -> {tensor(turned, dtype)}
  %2 = graph.reshape %1, shape = {list(result)} : ({tensor(turned, dtype)}) -> {tensor(result, dtype)}
  func.return %2 : {tensor(result, dtype)}
}}
"""


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    parts=st.lists(st.integers(1, 6), min_size=2, max_size=5),
    cuts=st.tuples(st.sets(st.integers(1, 4)), st.sets(st.integers(1, 4))),
    dtype=st.sampled_from(["f32", "i8", "f16"]),
    random=st.randoms(use_true_random=False),
)
def test_random_reshapes(parts: list[int], cuts: tuple[set[int], set[int]], dtype: str, random: Any) -> None:
    axes = list(range(len(parts)))
    random.shuffle(axes)
    shape, result = (joined(list(each), cut) for each, cut in zip((parts, [parts[a] for a in axes]), cuts, strict=True))
    x = np.arange(prod(parts)).reshape(shape).astype({"f32": np.float32, "i8": np.int8, "f16": np.float16}[dtype])
    (found,) = stepwell.compile(moved(x, tuple(parts), axes, result, dtype), threads=1, cache=False)(x)
    np.testing.assert_array_equal(found, x.reshape(parts).transpose(axes).reshape(result))


def joined(extents: list[int], cuts: set[int]) -> tuple[int, ...]:
    """The extents between the cuts, multiplied."""
    places = [0, *sorted(cut for cut in cuts if cut < len(extents)), len(extents)]
    return tuple(prod(extents[first:last]) for first, last in zip(places, places[1:], strict=False))


@pytest.mark.parametrize(
    ("shape", "parts", "axes", "result"),
    [
        ((64, 96), (64, 96), [0, 1], (192, 32)),
        ((1, 8, 4, 32), (1, 2, 4, 4, 32), [0, 1, 3, 2, 4], (8, 128)),
        ((6, 35), (6, 5, 7), [1, 0, 2], (30, 7)),
    ],
)
def test_no_division_is_left(shape: tuple[int, ...], parts: tuple[int, ...], axes: list[int], result: tuple[int, ...]):
    x = np.arange(prod(shape), dtype=np.float32).reshape(shape)
    text = moved(x, parts, axes, result, "f32")
    (found,) = stepwell.compile(text, threads=1, cache=False)(x)
    np.testing.assert_array_equal(found, x.reshape(parts).transpose(axes).reshape(result))
    module = scheduled(text)
    assert not ops_of(module, arith.DivUIOp, arith.RemUIOp)
    assert any(op.kind_name == "vectorized" for op in ops_of(module, ForOp))


def test_extents_that_do_not_divide_each_other_keep_their_divisions() -> None:
    """15 = 3 * 5 elements as 5 * 3: neither digit of an index is one of the other's."""
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    text = moved(x, (3, 5), [0, 1], (5, 3), "f32")
    (found,) = stepwell.compile(text, threads=1, cache=False)(x)
    np.testing.assert_array_equal(found, x.reshape(5, 3))
    assert ops_of(scheduled(text), arith.DivUIOp)
