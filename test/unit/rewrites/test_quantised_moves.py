"""Moves of integers that have a scale for each index of an axis: the same bits as those of the floats."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from stepwell.core.text.parsing import make_context, parse
from stepwell.reference.run import run
from stepwell.rewrites.quantised.integer_arithmetic import IntegerArithmeticPass

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


def tensor(shape: Shape, dtype: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{dtype}>"


@st.composite
def moves(draw: st.DrawFn) -> tuple[str, Shape, Shape]:
    """An op that moves elements, with its properties, and the shapes of its operand and result."""
    shape = tuple(draw(st.lists(st.sampled_from((1, 2, 3, 4, 6)), min_size=1, max_size=4)))
    rank = len(shape)
    match draw(st.sampled_from(("permute_dims", "expand_dims", "squeeze", "strided_slice", "broadcast_to", "reshape"))):
        case "permute_dims":
            axes = draw(st.permutations(range(rank)))
            return f"permute_dims %d, axes = {axes}", shape, tuple(shape[axis] for axis in axes)
        case "expand_dims":
            place = draw(st.integers(0, rank))
            return f"expand_dims %d, axis = [{place}]", shape, (*shape[:place], 1, *shape[place:])
        case "squeeze":
            ones = [axis for axis, size in enumerate(shape) if size == 1]
            gone = draw(st.lists(st.sampled_from(ones), unique=True)) if ones else []
            left = tuple(size for axis, size in enumerate(shape) if axis not in gone)
            return f"squeeze %d, axis = {gone}", shape, left
        case "strided_slice":
            axis = draw(st.integers(0, rank - 1))
            end = draw(st.integers(1, shape[axis]))
            what = f"strided_slice %d, axes = [{axis - rank}], begin = [0], end = [{end}], strides = [1]"
            return what, shape, (*shape[:axis], end, *shape[axis + 1 :])
        case "broadcast_to":
            new = tuple(3 if size == 1 and draw(st.booleans()) else size for size in shape)
            new = (*draw(st.lists(st.just(2), max_size=1)), *new)
            return f"broadcast_to %d, shape = {list(new)}", shape, new
        case _:
            cut = draw(st.integers(0, rank))
            joined = [int(np.prod(shape[:cut])), int(np.prod(shape[cut:]))]
            new = tuple(joined if draw(st.booleans()) else [*joined[:1], *shape[cut:]])
            return f"reshape %d, shape = {list(new)}", shape, new


@given(moves(), st.data())
def test_moved_scales_are_those_of_the_elements(move: tuple[str, Shape, Shape], data: st.DataObject) -> None:
    what, shape, result = move
    axis = data.draw(st.integers(0, len(shape) - 1))
    per, whole, real = (shape[axis],), tensor(shape, "i8"), tensor(shape, "f32")
    types = f"({whole}, {tensor(per, 'f32')}, {tensor(per, 'i8')}) -> {real}"
    given = f"%q: {whole}, %s: {tensor(per, 'f32')}, %z: {tensor(per, 'i8')}"
    text = f"""func.func @main({given}) -> {tensor(result, "f32")} {{
  %d = graph.dequantize %q, %s, %z, axis = {axis} : {types}
  %y = graph.{what} : ({real}) -> {tensor(result, "f32")}
  func.return %y : {tensor(result, "f32")}
}}"""
    random = np.random.default_rng(len(text))
    q = random.integers(-128, 128, shape).astype(np.int8)
    s, z = random.uniform(0.01, 1, per).astype(np.float32), random.integers(-9, 9, per).astype(np.int8)
    module = parse(text)
    (plain,) = run(module, "main", q, s, z)
    IntegerArithmeticPass().apply(make_context(), module)
    module.verify()
    (moved,) = run(module, "main", q, s, z)
    np.testing.assert_array_equal(plain, moved)
