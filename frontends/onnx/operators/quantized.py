"""Integers that stand for real numbers `(q - zero_point) * scale`: conversions from floats and to them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ....dialects.graph.shapes import compatible, text
from ....te.dtypes import SMALL_INTEGERS, STORED_FLOATS
from ..emitting.graph_builder import GraphBuilder
from ..emitting.values import KnownValue
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .elementwise import converted, dtype_of_number
from .quantized_operands import ONE, SINGLE, Allowed, check_scale, check_shapes, check_type
from .signed_bytes import cast, in_shape, is_zero

QUANTIZED: Final = ("ui8", "i8", "ui16", "i16", *SMALL_INTEGERS, *STORED_FLOATS)
"""Element types that floats are quantised to."""

CONVERTED: Final = (*QUANTIZED, "i32")
"""Element types of `graph.quantize` and `graph.dequantize`."""

COMPUTED: Final = ("f32", "f16", "bf16")
"""Element types of scales whose quotients and products those ops round as the operators do."""


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
    axis, block_size = _granularity(x, scale, zero_point, axis, block_size)
    scale = _divisors(x, scale, axis, block_size)
    check_scale("scale", scale, divides=True)
    if (saturate or dtype not in STORED_FLOATS) and at in COMPUTED and None not in scale.shape:
        operands, places = _conversion(b, cast(b, scale, at), zero_point, dtype, axis, block_size)
        return b.quantize(cast(b, x, at), *operands, **places)
    factor = cast(b, _along(b, scale, x, axis, block_size), at)
    offset = None if zero_point is None else _along(b, zero_point, x, axis, block_size)
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
    """
    `(x - zero_point) * scale`, in f32, in which the difference is exact for all but 32-bit integers.

    Where the result has another type than the scale, it is rounded to that type and not to the one of the scale: the
    specification says that the type of the result is the precision of the product.
    """
    if x.dtype not in CONVERTED:
        raise ConversionError(f"the input is {x.shaped}, expected one of {', '.join(QUANTIZED)}, i32")
    check_type("zero_point", zero_point, x, "the input")
    dtype = dtype_of_number(output_dtype) if output_dtype else scale.dtype
    if output_dtype and dtype not in COMPUTED:
        raise ConversionError(f"output_dtype is {dtype}, expected one of {', '.join(COMPUTED)}")
    axis, block_size = _granularity(x, scale, zero_point, axis, block_size)
    check_scale("scale", scale, divides=False)
    if scale.dtype in COMPUTED and None not in scale.shape:
        steps = scale if dtype == scale.dtype else cast(b, scale, "f32")
        operands, places = _conversion(b, steps, zero_point, x.dtype, axis, block_size)
        return cast(b, b.dequantize(x, *operands, **places), dtype)
    value = cast(b, x, "f32")
    if zero_point is not None and not is_zero(zero_point):
        value = b.subtract(value, cast(b, _along(b, zero_point, x, axis, block_size), "f32"))
    factor = cast(b, _along(b, scale, x, axis, block_size), "f32")
    return cast(b, b.multiply(value, factor), dtype)


@converter("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(b: GraphBuilder, x: Value) -> Any:
    """Returns bytes whose scale and zero point follow from the range of `x` and 0. Zeros have the scale 1."""
    high = b.maximum(b.max(x), 0.0)
    low = b.minimum(b.min(x), 0.0)
    scale = b.where(b.equal(high, low), b.full((), 1.0, x.dtype), b.divide(b.subtract(high, low), 255.0))
    zero_point = b.astype(b.round(b.negative(b.divide(low, scale))), dtype="ui8")
    return requantized(b, b.divide(x, scale), zero_point, "ui8"), scale, zero_point


# Scales and zero points


def _granularity(x: Value, scale: Value, zero_point: Value | None, axis: int, block_size: int) -> tuple[int, int]:
    """
    Returns the axis of a conversion, and the size of blocks, which is 0 where there are none. Raises unless the scale
    is one for all, a vector along the axis, or has one element for each block, and the zero point fits it.
    """
    if block_size < 0:
        raise ConversionError(f"block_size is {block_size}, expected at least 0")
    named = (("scale", scale), ("zero_point", zero_point))
    if scale.shape in SINGLE:
        check_shapes(named, Allowed(ONE.fits, "one element as scale has"))
        return 1, 0
    if not -x.rank <= axis < x.rank:
        raise ConversionError(f"axis is {axis}, expected one of the {x.rank} dimensions of the input")
    axis %= x.rank
    if scale.rank == 1 and not (block_size and x.rank == 1):
        shape, block_size = x.shape[axis : axis + 1], 0
        expected = f"{text(shape)} elements"
    elif not block_size or scale.rank != x.rank:
        raise ConversionError(
            f"scale is {scale.shaped}, expected a scalar, a vector, or with block_size the rank of {x.shaped}"
        )
    else:
        extent = x.shape[axis]
        if extent is None:
            raise ConversionError(f"the input is {x.shaped}, expected extent {axis} to be known, which is in blocks")
        shape = (*x.shape[:axis], -(-extent // block_size), *x.shape[axis + 1 :])
        expected = f"{text(shape)} elements: the blocks of {block_size} of {x.shaped}"
    # One zero point may go with all scales.
    check_shapes(named, Allowed(lambda found: found in SINGLE or compatible(found, shape), expected))
    return axis, block_size


def _divisors(x: Value, scale: Value, axis: int, block_size: int) -> Value:
    """
    Returns the scale with ones in place of zeros that divide zeros.

    Quantisers give 0 to channels of weights that are all 0. onnxruntime divides 0 by 0 there, and what that becomes is
    multiplied by 0 later. With a 1 it is the zero point, which stands for 0 by any scale.
    """
    if scale.known is None:
        return scale
    steps = np.asarray(scale.known)
    dead = steps == 0
    if x.known is None or not dead.any():
        return scale
    numbers = np.asarray(x.known)
    if numbers[_spread(dead, numbers.shape, axis, block_size)].any():
        place = tuple(int(index) for index in np.argwhere(dead)[0])
        raise ConversionError(
            f"scale has 0.0{f' at {place}' if place else ''}, expected other numbers where the weights are not 0",
            hint="a scale of 0 may stand for channels or blocks of zeros only",
        )
    return KnownValue(np.where(dead, np.ones((), steps.dtype), steps), getattr(scale, "key", "constant"))


def _spread(array: np.ndarray[Any, Any], shape: tuple[int, ...], axis: int, block_size: int) -> np.ndarray[Any, Any]:
    """Repeats what there is for each index of an axis, for each block or for all, to a shape."""
    if block_size:
        array = np.repeat(array, block_size, axis=axis)[(slice(None),) * axis + (slice(shape[axis]),)]
    elif array.size > 1:
        array = array.reshape(-1, *(1,) * (len(shape) - axis - 1))
    return np.broadcast_to(array.reshape(()) if array.size == 1 else array, shape)


def _conversion(
    b: GraphBuilder, scale: Value, zero_point: Value | None, dtype: str, axis: int, block_size: int
) -> tuple[tuple[Value, Value], dict[str, int]]:
    """The scale and zero point of a conversion as its op takes them, and the properties of that op."""
    scale = _single(b, scale)
    shape = b.static_shape(scale, "scale")
    if zero_point is None or is_zero(zero_point):
        zeros = b.full(shape, 0, dtype)
    else:
        zeros = _single(b, zero_point)
    if zeros.rank != scale.rank:  # One zero point for all scales.
        zeros = b.broadcast_to(zeros, shape=shape)
    return (scale, zeros), {"axis": axis, "block_size": block_size}


def _single(b: GraphBuilder, value: Value) -> Value:
    """Returns a scale or zero point that is one for all as a scalar."""
    return in_shape(b, value, ()) if value.shape == (1,) else value


def _along(b: GraphBuilder, value: Value, x: Value, axis: int, block_size: int) -> Value:
    """
    A scale or zero point in a shape that broadcasts against `x`: one for all, for each index along `axis`, or for each
    block of them.
    """
    value = _single(b, value)
    if block_size and value.rank:
        return _blocks(b, value, x, axis, block_size)
    return in_shape(b, value, (-1, *(1,) * (x.rank - axis - 1))) if value.rank else value


def _blocks(b: GraphBuilder, value: Value, x: Value, axis: int, block_size: int) -> Value:
    """Repeats every element `block_size` times along `axis`, the last one as often as is needed."""
    shape, extent = b.static_shape(value, "scale"), b.static_shape(x, "the input")[axis]
    repeated = (*shape[: axis + 1], block_size, *shape[axis + 1 :])
    flat = (*shape[:axis], shape[axis] * block_size, *shape[axis + 1 :])
    spread = b.reshape(b.broadcast_to(b.expand_dims(value, axis=(axis + 1,)), shape=repeated), shape=flat)
    if flat[axis] == extent:
        return spread
    return b.strided_slice(spread, axes=(axis,), begin=(0,), end=(extent,))
