"""Depthwise convolutions with what follows them as programs, and what they compute in NumPy, one product per tap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import stepwell
from ml_dtypes import bfloat16
from stepwell.core.ir.walk import ops_of
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.dialects import tile
from stepwell.dialects.tensor_loop import AllocOp
from stepwell.dialects.tensor_loop.regions import shape_of
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp

Array = np.ndarray[Any, Any]
DTYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "bf16": bfloat16}


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
        lines.append(f"%r{len(lines)} = graph.bias_add %r{len(lines) - 1}, %b, axis = 3 : ({out}, {types[2]}) -> {out}")
    if "image" in epilogue:
        lines.append(f"%r{len(lines)} = graph.add %r{len(lines) - 1}, %x : ({out}, {out}) -> {out}")
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


def is_flat(module: ModuleOp) -> bool:
    """Whether pixels and channels are one dimension."""
    return any(isinstance(op, memref.CollapseShapeOp) for op in module.walk())


def is_copied(module: ModuleOp) -> bool:
    """Whether a padded copy of the image is made."""
    return any(len(shape_of(op.memref)) == 4 for op in ops_of(module, AllocOp))


def small_integers(seed: int, *sizes: int) -> Array:
    return np.random.default_rng(seed).integers(-3, 4, sizes).astype(np.float32)


def check(
    x: Array,
    w: Array,
    strides: list[int],
    padding: list[int],
    dilation: list[int],
    epilogue: str,
    dtype: str = "f32",
) -> ModuleOp:
    """
    Compares a program of these (`epilogue` names some of bias, image, relu) with NumPy, bit by bit; its loops for
    AVX-512. With another `dtype` the operands and results are of that.
    """
    expected = convolve(x, w, strides, padding, dilation)
    properties = (
        f", strides = {strides}, padding = {padding}, dilation = {dilation}, groups = {x.shape[3]},"
        ' data_layout = "NHWC", kernel_layout = "HWIO"'
    )
    text = program(x, w, expected, properties, epilogue).replace("xf32>", f"x{dtype}>")
    bias = small_integers(5, x.shape[3])
    if "bias" in epilogue:
        expected = expected + bias
    if "image" in epilogue:
        expected = expected + x
    if "relu" in epilogue:
        expected = np.maximum(expected, 0)
    (found,) = stepwell.compile(text, opt_level=3, cache=False)(*(each.astype(DTYPES[dtype]) for each in (x, w, bias)))
    np.testing.assert_array_equal(found, expected)
    return scheduled(text)


def check_random(
    sizes: Sequence[int],
    channels: int,
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    epilogue: str,
    seed: int,
) -> None:
    """`check` on numbers of `seed`; `sizes` are batch, height and width, made larger where the window would not fit."""
    batch, *extents = sizes
    for axis in (0, 1):
        room = extents[axis] + padding[axis] + padding[axis + 2]
        extents[axis] += max(0, dilation[axis] * (kernel[axis] - 1) + 1 - room)
    x = small_integers(seed, batch, *extents, channels)
    w = small_integers(seed + 1, *kernel, 1, channels)
    check(x, w, list(strides), list(padding), list(dilation), epilogue)
