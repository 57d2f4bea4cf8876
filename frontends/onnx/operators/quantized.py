"""Integers that stand for real numbers `(q - zero_point) * scale`: conversions, and products of matrices of them."""

from __future__ import annotations

from math import inf
from typing import Any, Final

import numpy as np

from ....te.dtypes import SMALL_INTEGERS, STORED_FLOATS, is_float
from ..emitting.graph_builder import GraphBuilder
from ..emitting.values import KnownValue
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .elementwise import converted, dtype_of_number
from .signed_bytes import (
    cast,
    centred,
    check_bytes,
    in_shape,
    int32,
    is_zero,
    minus,
    signed,
    signed_zero,
    sums_of,
    times,
    wide_zero,
)

QUANTIZED: Final = ("ui8", "i8", "ui16", "i16", *SMALL_INTEGERS, *STORED_FLOATS)
"""Element types that floats are quantised to."""

CONVERTED: Final = (*QUANTIZED, "i32")
"""Element types of `graph.quantize` and `graph.dequantize`."""

COMPUTED: Final = ("f32", "f16", "bf16")
"""Element types of scales whose quotients and products those ops round as the operators do."""


# Conversions


@converter("QuantizeLinear", since=10)
def quantize_linear(
    b: GraphBuilder,
    x: Value,
    scale: Value,
    zero_point: Value | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
    saturate: int = 1,
) -> Value:
    """
    Returns `round(x / scale) + zero_point`, as the nearest number of the element type.

    Only integers are rounded like that. `saturate` is about floats of 8 bits, as that of Cast.
    """
    dtype = dtype_of_number(output_dtype) if output_dtype else "ui8"
    if zero_point is not None:
        if output_dtype and dtype != zero_point.dtype:
            raise ConversionError(f"output_dtype is {dtype}, but zero_point is {zero_point.shaped}")
        dtype = zero_point.dtype
    if dtype not in QUANTIZED:
        raise ConversionError(f"the result has element type {dtype}, expected one of {', '.join(QUANTIZED)}")
    at = dtype_of_number(precision) if precision else scale.dtype
    _check_scale(scale, divides=True)
    _check_block_size(block_size)
    if (saturate or dtype not in STORED_FLOATS) and at in COMPUTED and None not in scale.shape:
        steps = cast(b, scale, at)
        operands, places = _conversion(b, x, steps, zero_point, dtype, axis, block_size)
        return b.quantize(cast(b, x, at), *operands, **places)
    factor = cast(b, _along(b, scale, x, axis, block_size, "scale"), at)
    offset = None if zero_point is None else _along(b, zero_point, x, axis, block_size, "zero_point")
    return requantized(b, b.divide(cast(b, x, at), factor), offset, dtype, saturate)


def requantized(b: GraphBuilder, x: Value, zero_point: Value | None, dtype: str, saturate: int = 1) -> Value:
    """
    Floats, rounded, plus a zero point, as the nearest integers of the type: `astype` saturates. The sum is exact in
    f32. What becomes a float of 8 bits is not rounded before.
    """
    rounded = cast(b, x if dtype in STORED_FLOATS else b.round(x), "f32")
    if zero_point is not None and not is_zero(zero_point):
        rounded = b.add(rounded, cast(b, zero_point, "f32"))
    return converted(b, rounded, dtype, saturate) if dtype in STORED_FLOATS else cast(b, rounded, dtype)


@converter("DequantizeLinear", since=10)
def dequantize_linear(
    b: GraphBuilder,
    x: Value,
    scale: Value,
    zero_point: Value | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Value:
    """`(x - zero_point) * scale`, in f32, in which the difference is exact for all but 32-bit integers."""
    _check_scale(scale, divides=False)
    _check_block_size(block_size)
    if x.dtype not in CONVERTED:
        raise ConversionError(f"the input is {x.shaped}, expected one of {', '.join(QUANTIZED)}, i32")
    if zero_point is not None and zero_point.dtype != x.dtype:
        raise ConversionError(f"zero_point is {zero_point.shaped}, expected elements of {x.dtype} as the input has")
    dtype = dtype_of_number(output_dtype) if output_dtype else scale.dtype
    if dtype == scale.dtype in COMPUTED and None not in scale.shape:
        operands, places = _conversion(b, x, scale, zero_point, x.dtype, axis, block_size)
        return b.dequantize(x, *operands, **places)
    value = cast(b, x, "f32")
    if zero_point is not None and not is_zero(zero_point):
        offset = _along(b, zero_point, x, axis, block_size, "zero_point")
        value = b.subtract(value, cast(b, offset, "f32"))
    factor = cast(b, _along(b, scale, x, axis, block_size, "scale"), "f32")
    return cast(b, b.multiply(value, factor), dtype)


@converter("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(b: GraphBuilder, x: Value) -> Any:
    """Returns bytes whose scale and zero point follow from the range of `x` and 0. Zeros have the scale 1."""
    high = b.maximum(b.max(x), 0.0)
    low = b.minimum(b.min(x), 0.0)
    scale = b.where(b.equal(high, low), b.full((), 1.0, x.dtype), b.divide(b.subtract(high, low), 255.0))
    zero_point = b.astype(b.round(b.negative(b.divide(low, scale))), dtype="ui8")
    return requantized(b, b.divide(x, scale), zero_point, "ui8"), scale, zero_point


def _conversion(
    b: GraphBuilder, x: Value, scale: Value, zero_point: Value | None, dtype: str, axis: int, block_size: int
) -> tuple[tuple[Value, Value], dict[str, int]]:
    """The scale and zero point of a conversion of `x`, as its op takes them, and the properties of that op."""
    if zero_point is not None:
        zero_point, *_ = _scales(b, zero_point, x, axis, block_size, "zero_point")
    scale, axis, block_size = _scales(b, scale, x, axis, block_size, "scale")
    if block_size:
        _check_blocks(b, scale, x, axis, block_size, "scale")
    zeros = zero_point
    if zeros is None or is_zero(zeros):
        zeros = b.full(b.static_shape(scale, "scale"), 0, dtype)
    if zeros.rank != scale.rank:  # One zero point for all scales.
        zeros = b.broadcast_to(zeros, shape=b.static_shape(scale, "scale"))
    return (scale, zeros), {"axis": axis, "block_size": block_size}


def _scales(b: GraphBuilder, value: Value, x: Value, axis: int, block_size: int, what: str) -> tuple[Value, int, int]:
    """A scale or zero point that is a scalar, a vector along the axis, or one for each block; the axis; the block."""
    if value.rank == 0 or (value.rank == 1 and value.shape == (1,)):
        return value if value.rank == 0 else in_shape(b, value, ()), 1, 0
    if not -x.rank <= axis < x.rank:
        raise ConversionError(f"axis is {axis}, expected one of the {x.rank} dimensions of the input")
    axis %= x.rank
    if value.rank == 1 and not (block_size and x.rank == 1):
        if None not in (value.shape[0], x.shape[axis]) and value.shape[0] != x.shape[axis]:
            raise ConversionError(f"{what} is {value.shaped}, expected {x.shape[axis]} elements")
        return value, axis, 0
    if not block_size or value.rank != x.rank:
        raise ConversionError(
            f"{what} is {value.shaped}, expected a scalar, a vector, or with block_size the rank of {x.shaped}"
        )
    return value, axis, block_size


def _along(b: GraphBuilder, value: Value, x: Value, axis: int, block_size: int, what: str) -> Value:
    """
    A scale or zero point in a shape that broadcasts against `x`: one for all, for each index along `axis`, or for each
    block of them.
    """
    value, axis, block_size = _scales(b, value, x, axis, block_size, what)
    if block_size:
        return _blocks(b, value, x, axis, block_size, what)
    return in_shape(b, value, (-1, *(1,) * (x.rank - axis - 1))) if value.rank else value


def _check_blocks(b: GraphBuilder, value: Value, x: Value, axis: int, block_size: int, what: str) -> None:
    shape, extent = b.static_shape(value, what), x.shape[axis]
    if extent is None or shape[axis] != -(-extent // block_size):
        raise ConversionError(f"{what} is {value.shaped}, which are not the blocks of {block_size} of {x.shaped}")


def _blocks(b: GraphBuilder, value: Value, x: Value, axis: int, block_size: int, what: str) -> Value:
    """Repeats every element `block_size` times along `axis`, the last one as often as is needed."""
    _check_blocks(b, value, x, axis, block_size, what)
    shape, extent = b.static_shape(value, what), b.static_shape(x, "the input")[axis]
    repeated = (*shape[: axis + 1], block_size, *shape[axis + 1 :])
    flat = (*shape[:axis], shape[axis] * block_size, *shape[axis + 1 :])
    spread = b.reshape(b.broadcast_to(b.expand_dims(value, axis=(axis + 1,)), shape=repeated), shape=flat)
    if flat[axis] == extent:
        return spread
    return b.strided_slice(spread, axes=(axis,), begin=(0,), end=(extent,))


def _check_scale(scale: Value, divides: bool) -> None:
    """
    Raises for scales that are not floats, and for known ones that make no numbers: NaN, infinities, and what divides
    that is not positive. Blocks of zeros are stored with a scale of 0, and blocks of few bits with negative ones.
    """
    if not is_float(scale.dtype):
        raise ConversionError(f"scale is {scale.shaped}, expected floats")
    if scale.known is None:
        return
    if scale.known.size == 1 and 0 < float(scale.known.item()) < inf:
        return  # As nearly all are. Operations on arrays would take as long as the conversion itself.
    numbers = np.asarray(scale.known).astype(np.float64)
    wrong = ~np.isfinite(numbers) | ((numbers <= 0) & divides)
    if wrong.any():
        place = tuple(int(index) for index in np.argwhere(wrong)[0])
        where = f" at {place}" if place else ""
        raise ConversionError(
            f"scale has {numbers[place]}{where}, expected {'positive' if divides else 'finite'} numbers"
        )


def _check_block_size(block_size: int) -> None:
    if block_size < 0:
        raise ConversionError(f"block_size is {block_size}, expected at least 0")


# Products


@converter("MatMulInteger", since=10)
def matmul_integer(
    b: GraphBuilder, x: Value, y: Value, x_zero: Value | None = None, y_zero: Value | None = None
) -> Value:
    """`(x - x_zero) @ (y - y_zero)` in 32 bits."""
    return _matmul(b, x, _row_zero(b, x, x_zero), y, _column_zero(y, y_zero))


@converter("QLinearMatMul", since=10)
def qlinear_matmul(
    b: GraphBuilder,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    y: Value,
    y_scale: Value,
    y_zero: Value,
    scale: Value,
    zero_point: Value,
) -> Value:
    """The product of two quantised matrices, quantised."""
    product = _matmul(b, x, _row_zero(b, x, x_zero), y, _column_zero(y, y_zero))
    factor = factor_of(b, _row_zero(b, x, x_scale), y_scale, scale)
    return rescaled(b, product, factor, zero_point)


def _matmul(b: GraphBuilder, x: Value, x_zero: Value | None, y: Value, y_zero: Value | None) -> Value:
    check_bytes(x, y)
    a, a_zero = x, wide_zero(b, x_zero)
    c, c_zero = signed(b, y), signed_zero(b, y_zero, y.dtype)
    steps = x.shape[-1] if y.shape[-2:][0] is None else y.shape[-2:][0]
    if min(x.rank, y.rank) < 2 or (steps is None and a_zero is not None and c_zero is not None):
        return b.matmul(centred(b, a, a_zero), centred(b, c, c_zero))
    product = b.matmul(a, c, out_dtype="i32")
    if a_zero is not None:
        product = b.subtract(product, times(b, a_zero, sums_of(b, c, -2)))
    if c_zero is not None:
        rows = sums_of(b, a, -1)
        if a_zero is not None:
            rows = minus(b, rows, times(b, a_zero, KnownValue(int32(steps))))
        product = b.subtract(product, times(b, c_zero, rows))
    return product


def _row_zero(b: GraphBuilder, x: Value, zero_point: Value | None) -> Value | None:
    """A zero point or scale per row, which is a vector, as a column."""
    if zero_point is None or zero_point.rank != 1 or zero_point.shape == (1,) or x.rank < 2:
        return zero_point
    return in_shape(b, zero_point, (-1, 1))


def _column_zero(y: Value, zero_point: Value | None) -> Value | None:
    if zero_point is not None and zero_point.rank == 1 and zero_point.shape != (1,) and y.rank < 2:
        raise ConversionError(f"the zero point is {zero_point.shaped}, expected one for {y.shaped}")
    return zero_point


# Scales of products


def factor_of(b: GraphBuilder, x_scale: Value | None, w_scale: Value, scale: Value) -> Value:
    """`x_scale * w_scale / scale`, what integer sums are multiplied by."""
    assert x_scale is not None
    values = [x_scale, w_scale, scale]
    arrays = [value.known for value in values]
    if all(array is not None for array in arrays):
        x, w, y = (np.asarray(array).astype(np.float32) for array in arrays)
        return KnownValue(np.asarray(x * w / y))
    x, w, y = (cast(b, value, "f32") for value in values)
    return b.divide(b.multiply(x, w), y)


def rescaled(b: GraphBuilder, sums: Value, factor: Value, zero_point: Value) -> Value:
    return requantized(b, b.multiply(b.astype(sums, dtype="f32"), factor), zero_point, zero_point.dtype)
