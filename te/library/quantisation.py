"""Integers that stand for real numbers."""

from __future__ import annotations

from collections.abc import Callable
from operator import mul, truediv
from typing import Any

from .. import dtypes, ops
from ..expr import Binary, Expr, TEError, const
from ..tensor import Tensor, reduce_axis
from .contraction import sum_of_products
from .shapes import (
    Indices,
    normalise_axis,
    require,
    require_float,
    require_integer,
    require_same_type,
    shape_text,
    stage,
    static_dim,
)

LEAST_ROUNDED = 2.0**-100
"""The number that a block must exceed somewhere not to be rounded to zeros."""


def quantize(x: Tensor, scale: Tensor, zero_point: Tensor, axis: int = 1, block_size: int = 0) -> Tensor:
    """
    `round(x / scale) + zero_point`, saturated to the element type of `zero_point`. Halves are rounded to even. For a
    float of 8 bits only the sum is rounded, to that type.

    `scale` and `zero_point` hold one element, one per index of `axis`, or one per block of `block_size` along it.
    """
    require_float("quantize", x, scale)
    require_same_type("quantize", x, scale)
    _require_quantised("quantize", zero_point)
    _check("quantize", x, scale, zero_point, block_size)
    return _saturated("quantize", x, scale, zero_point, axis, block_size, truediv)


def requantize(x: Tensor, multiplier: Tensor, zero_point: Tensor, axis: int = 1) -> Tensor:
    """
    `round(x * multiplier) + zero_point`, saturated to the element type of `zero_point`, which is one number. Sums of
    32 bits are converted to the type of `multiplier` before.

    `multiplier` holds one element, or one per index of `axis`.
    """
    require_float("requantize", multiplier)
    if x.dtype != "i32":
        require_same_type("requantize", x, multiplier)
    _require_quantised("requantize", zero_point)
    if multiplier.rank > 1 or zero_point.rank:
        shapes = f"{shape_text(multiplier.shape)} and {shape_text(zero_point.shape)}"
        raise TEError(f"requantize: multiplier and zero point have shapes {shapes}, expected rank 0 or 1, and 0")
    return _saturated("requantize", x, multiplier, zero_point, axis, 0, mul)


def _saturated(
    name: str,
    x: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: int,
    block_size: int,
    count: Callable[[Any, Any], Expr],
) -> Tensor:
    """Returns the numbers of steps that `count` makes of elements and scales, plus zero points, in their type."""
    acc, dtype = dtypes.accumulator(scale.dtype), zero_point.dtype

    def body(indices: Indices) -> Expr:
        at = _place(name, x, scale, indices, axis, block_size)
        steps, zero = count(ops.cast(scale.dtype, x[indices]), scale[at]), zero_point[at if zero_point.rank else ()]
        if dtypes.is_float(dtype):
            greatest = dtypes.TABLE[dtype].greatest
            total = ops.cast(acc, steps) + ops.cast(acc, zero)
            return ops.cast(dtype, ops.minimum(ops.maximum(total, const(-greatest, acc)), const(greatest, acc)))
        return ops.cast(dtype, ops.cast(acc, ops.unary("round", steps)) + ops.cast(acc, zero))

    return stage(name, x.shape, body)


def dequantize(x: Tensor, scale: Tensor, zero_point: Tensor, axis: int = 1, block_size: int = 0) -> Tensor:
    """`(x - zero_point) * scale`, the real numbers that `x` stands for. Scales and zero points as in `quantize`."""
    require_float("dequantize", scale)
    _require_quantised("dequantize", x, zero_point)
    require_same_type("dequantize", x, zero_point)
    _check("dequantize", x, scale, zero_point, block_size)
    acc = dtypes.accumulator(scale.dtype)

    def body(indices: Indices) -> Expr:
        at = _place("dequantize", x, scale, indices, axis, block_size)
        steps = ops.cast(acc, x[indices]) - ops.cast(acc, zero_point[at])
        return ops.cast(scale.dtype, steps * ops.cast(acc, scale[at]))

    return stage("dequantize", x.shape, body)


def matmul_packed(
    x: Tensor,
    weights: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    bits: int = 4,
    block_size: int = 32,
    rounded_bits: int = 0,
) -> Tensor:
    """
    `sum_k x[…, k] * (w[n, k] - zero_point[n, k / block_size]) * scale[n, k / block_size]`. Bytes of `weights` hold one
    number of 8 bits, or two of 4 bits, the first in the lower half. With `rounded_bits` blocks of x are rounded before.
    """
    require_float("matmul_packed", x, scale)
    require_same_type("matmul_packed", x, scale)
    require_integer("matmul_packed", weights, zero_point)
    if weights.dtype != "ui8" or bits not in (4, 8) or x.rank == 0:
        raise TEError(f"matmul_packed: {bits} bits of {weights.dtype}, expected 4 or 8 of ui8")
    outputs, inputs = static_dim("matmul_packed", weights, 0), static_dim("matmul_packed", x, x.rank - 1)
    acc, k = dtypes.accumulator(x.dtype), reduce_axis(inputs, "k")

    whole = _rounded(x, block_size, acc) if rounded_bits else None

    def left(row: Indices) -> Expr:
        if whole is None:
            return x[(*row, k)]
        numbers, step = whole
        return numbers[(*row, k)] * step[(*row, ops.floordiv(k, block_size))]

    def factors(indices: Indices) -> tuple[Expr, Expr]:
        *row, n = indices
        block = (n, ops.floordiv(k, block_size))
        number = ops.cast("i32", weights[n, k if bits == 8 else ops.floordiv(k, 2)])
        if bits == 4:
            shift = ops.cast("i32", ops.floormod(k, 2) * 4)
            number = Binary("and", Binary("shr", number, shift), const(15, "i32"))
        steps = ops.cast(acc, number) - ops.cast(acc, zero_point[block if zero_point.rank else ()])
        return left(tuple(row)), steps * ops.cast(acc, scale[block])

    names = [*(f"m{dim}" for dim in range(x.rank - 2)), *["m"] * (x.rank > 1), "n"]
    return sum_of_products("matmul_packed", (*x.shape[:-1], outputs), names, (k,), factors, x.dtype)


def _rounded(x: Tensor, block_size: int, acc: str) -> tuple[Tensor, Tensor]:
    """Returns the blocks of x as integers up to 127, and what these are multiples of."""
    blocks, j = static_dim("matmul_packed", x, x.rank - 1) // block_size, reduce_axis(block_size, "j")

    def greatest(indices: Indices) -> Expr:
        *row, block = indices
        return ops.max(ops.abs(ops.cast(acc, x[(*row, block * block_size + j)])), axis=j)

    top = stage("matmul_packed_max", (*x.shape[:-1], blocks), greatest)
    step = stage("matmul_packed_step", top.shape, lambda at: top[at] * const(1 / 127, acc))

    def number(indices: Indices) -> Expr:
        *row, k = indices
        most = top[(*row, ops.floordiv(k, block_size))]
        inverse = ops.select(most > LEAST_ROUNDED, const(127.0, acc) / most, const(0.0, acc))
        return ops.unary("round", ops.cast(acc, x[(*row, k)]) * inverse)

    return stage("matmul_packed_round", x.shape, number), step


def _require_quantised(name: str, *tensors: Tensor) -> None:
    """Raises TEError unless every tensor has an integer type or a float of 8 bits."""
    for x in tensors:
        allowed = dtypes.is_integer(x.dtype) or x.dtype in dtypes.STORED_FLOATS
        require(name, allowed, x, "an integer or 8-bit float type")


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
