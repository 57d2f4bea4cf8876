"""Contractions: `matmul` and `conv2d`, summed in the wide type and rounded once."""

from __future__ import annotations

from typing import Any

import numpy as np

from .element_types import DTYPES, Array, is_float, round_to, wide_dtype
from .elementwise import Properties


def _types(properties: Properties, x: Array, y: Array) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Returns the result type and the type of the sum. Integers are summed in the result type and wrap."""
    name = properties.get("out_dtype")
    result = x.dtype if name is None else DTYPES[name]
    if name is None and y.dtype != x.dtype:
        bytes_ = {x.dtype, y.dtype} == {np.dtype(np.int8), np.dtype(np.uint8)}
        result = DTYPES["i16" if bytes_ else "f64" if np.dtype(np.float64) in (x.dtype, y.dtype) else "f32"]
    return result, wide_dtype(result) if is_float(result) else result


def _finish(total: Array, result: np.dtype[Any]) -> tuple[Array, ...]:
    return (round_to(total, result) if is_float(result) else total.astype(result),)


def _matmul(properties: Properties, x: Array, y: Array) -> tuple[Array, ...]:
    result, accumulator = _types(properties, x, y)
    lhs = x.astype(accumulator)[None, :] if x.ndim == 1 else x.astype(accumulator)
    rhs = y.astype(accumulator)[:, None] if y.ndim == 1 else y.astype(accumulator)
    leading = np.broadcast_shapes(lhs.shape[:-2], rhs.shape[:-2])
    total = np.zeros((*leading, lhs.shape[-2], rhs.shape[-1]), accumulator)
    with np.errstate(all="ignore"):
        # There is one rank-1 update per k. No library is asked, so no zero is skipped and 0 * inf is NaN.
        for k in range(lhs.shape[-1]):
            total += lhs[..., :, k, None] * rhs[..., None, k, :]
        if x.ndim == 1:
            total = total[..., 0, :]
        if y.ndim == 1:
            total = total[..., 0]
        return _finish(total, result)


def window_extent(size: int, before: int, after: int, kernel: int, stride: int, dilation: int) -> int:
    """Returns the positions of a window along one dimension (docs/semantics.md, "Output size")."""
    return (size + before + after - dilation * (kernel - 1) - 1) // stride + 1


def window_view(x: Array, properties: Properties, row: int, column: int, extents: tuple[int, int]) -> Array:
    """Returns the elements of padded NCHW data under tap (row, column) of the kernel, one for each output position."""
    step_h, step_w = properties.get("strides", (1, 1))
    dilation_h, dilation_w = properties.get("dilation", (1, 1))
    top, left = row * dilation_h, column * dilation_w
    rows = slice(top, top + (extents[0] - 1) * step_h + 1, step_h) if extents[0] else slice(0, 0)
    columns = slice(left, left + (extents[1] - 1) * step_w + 1, step_w) if extents[1] else slice(0, 0)
    return x[:, :, rows, columns]


def window_extents(x: Array, kernel: tuple[int, int], properties: Properties) -> tuple[int, int]:
    """Returns output height and width of a window over NCHW data without its padding."""
    top, left, bottom, right = properties.get("padding", (0, 0, 0, 0))
    steps = properties.get("strides", (1, 1))
    dilation = properties.get("dilation", (1, 1))
    return (
        window_extent(x.shape[2], top, bottom, kernel[0], steps[0], dilation[0]),
        window_extent(x.shape[3], left, right, kernel[1], steps[1], dilation[1]),
    )


def pad_windows(x: Array, properties: Properties, fill: Array) -> Array:
    """Returns NCHW data with the padding of a window op around it."""
    top, left, bottom, right = properties.get("padding", (0, 0, 0, 0))
    return np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)


def _conv2d(properties: Properties, x: Array, w: Array) -> tuple[Array, ...]:
    result, accumulator = _types(properties, x, w)
    channels_last = properties.get("data_layout", "NCHW") == "NHWC"
    data = np.moveaxis(x, -1, 1) if channels_last else x
    kernel = np.transpose(w, (3, 2, 0, 1)) if properties.get("kernel_layout", "OIHW") == "HWIO" else w
    groups = properties.get("groups", 1)
    outputs, inputs, height, width = kernel.shape
    extents = window_extents(data, (height, width), properties)
    padded = pad_windows(data.astype(accumulator), properties, np.zeros((), accumulator))
    per_group = outputs // groups
    taps = kernel.astype(accumulator).reshape(groups, per_group, inputs, height, width)
    total = np.zeros((data.shape[0], groups, per_group, *extents), accumulator)
    with np.errstate(all="ignore"):
        for row in range(height):
            for column in range(width):
                view = window_view(padded, properties, row, column, extents)
                grouped = view.reshape(view.shape[0], groups, inputs, *extents)
                for i in range(inputs):
                    total += grouped[:, :, None, i] * taps[None, :, :, i, row, column, None, None]
        total = total.reshape(data.shape[0], outputs, *extents)
        (finished,) = _finish(total, result)
    return (np.moveaxis(finished, 1, -1) if channels_last else finished,)


OPS: dict[str, Any] = {"graph.matmul": _matmul, "graph.conv2d": _conv2d}
