"""Integers that stand for real numbers."""

from __future__ import annotations

from .. import dtypes, ops
from ..expr import Expr, TEError
from ..tensor import Tensor
from .shapes import Indices, normalise_axis, require_float, require_integer, require_same_type, shape_text, stage


def quantize(x: Tensor, scale: Tensor, zero_point: Tensor, axis: int = 1, block_size: int = 0) -> Tensor:
    """
    `round(x / scale) + zero_point`, saturated to the element type of `zero_point`. Halves are rounded to even.

    `scale` and `zero_point` hold one element, one per index of `axis`, or one per block of `block_size` along it.
    """
    require_float("quantize", x, scale)
    require_same_type("quantize", x, scale)
    require_integer("quantize", zero_point)
    _check("quantize", x, scale, zero_point, block_size)
    acc = dtypes.accumulator(x.dtype)

    def body(indices: Indices) -> Expr:
        at = _place("quantize", x, scale, indices, axis, block_size)
        steps = ops.unary("round", x[indices] / scale[at])
        return ops.cast(zero_point.dtype, ops.cast(acc, steps) + ops.cast(acc, zero_point[at]))

    return stage("quantize", x.shape, body)


def dequantize(x: Tensor, scale: Tensor, zero_point: Tensor, axis: int = 1, block_size: int = 0) -> Tensor:
    """`(x - zero_point) * scale`, the real numbers that integers stand for. Scales and zero points as in `quantize`."""
    require_float("dequantize", scale)
    require_integer("dequantize", x, zero_point)
    require_same_type("dequantize", x, zero_point)
    _check("dequantize", x, scale, zero_point, block_size)
    acc = dtypes.accumulator(scale.dtype)

    def body(indices: Indices) -> Expr:
        at = _place("dequantize", x, scale, indices, axis, block_size)
        steps = ops.cast(acc, x[indices]) - ops.cast(acc, zero_point[at])
        return ops.cast(scale.dtype, steps * ops.cast(acc, scale[at]))

    return stage("dequantize", x.shape, body)


def _check(name: str, x: Tensor, scale: Tensor, zero_point: Tensor, block_size: int) -> None:
    rank = x.rank if block_size else min(scale.rank, 1)
    if block_size < 0 or scale.rank != rank or zero_point.rank != rank:
        shapes = f"{shape_text(scale.shape)} and {shape_text(zero_point.shape)}"
        raise TEError(f"{name}: scale and zero point have shapes {shapes}, expected rank {rank}")


def _place(name: str, x: Tensor, scale: Tensor, indices: Indices, axis: int, block_size: int) -> Indices:
    """Returns the indices of the scale of an element of `x`."""
    if not scale.rank:
        return ()
    dim = normalise_axis(name, axis, x.rank)
    if not block_size:
        return (indices[dim],)
    return (*indices[:dim], ops.floordiv(indices[dim], block_size), *indices[dim + 1 :])
