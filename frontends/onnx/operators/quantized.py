"""
Integers that stand for real numbers: conversions, and products of them.

A real number is `(q - zero_point) * scale`. Products are formed of signed bytes and summed up in 32 bits, whatever the signs of the operands,
because that is what machines are fast at: an unsigned byte less 128 is a signed one, and the zero point goes with it. Then

    sum (a - za) * (b - zb) = sum a * b - za * sum b - zb * (sum a - K * za)

with K terms in each sum. All of it wraps in 32 bits, so it is exact. Of the terms on the right those with constant weights are constants, and those
with a zero point of 0 vanish. Source: B. Jacob et al., Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference, CVPR 2018, section 2.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..emitter import Emitter
from ..errors import ConversionError
from ..registry import converter
from ..values import KnownValue, Value
from .elementwise import dtype_of_number
from .windows import Window, window_of

if TYPE_CHECKING:
    import numpy as np

QUANTIZED: Final = ("ui8", "i8", "ui16", "i16")
"""Element types that floats are quantised to."""

FLOATS: Final = ("f32", "f16", "bf16", "f64")


# Conversions


@converter("QuantizeLinear", since=10)
def quantize_linear(
    b: Emitter,
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
    """`round(x / scale) + zero_point`, to the nearest number of the element type; `saturate` is about 8-bit floats, which are refused."""
    dtype = dtype_of_number(output_dtype) if output_dtype else "ui8"
    if zero_point is not None:
        if output_dtype and dtype != zero_point.dtype:
            raise ConversionError(f"output_dtype is {dtype}, but zero_point is {zero_point.shaped}")
        dtype = zero_point.dtype
    if dtype not in QUANTIZED:
        raise ConversionError(f"the result has element type {dtype}, expected one of {', '.join(QUANTIZED)}")
    at = dtype_of_number(precision) if precision else scale.dtype
    _check_scale(scale)
    factor = _cast(b, _along(b, scale, x, axis, block_size, "scale"), at)
    offset = None if zero_point is None else _along(b, zero_point, x, axis, block_size, "zero_point")
    return requantized(b, b.divide(_cast(b, x, at), factor), offset, dtype)


def requantized(b: Emitter, x: Value, zero_point: Value | None, dtype: str) -> Value:
    """Floats, rounded, plus a zero point, as the nearest integers of the type: `astype` saturates. The sum is exact in f32."""
    rounded = _cast(b, b.round(x), "f32")
    if zero_point is not None and not _is_zero(zero_point):
        rounded = b.add(rounded, _cast(b, zero_point, "f32"))
    return b.astype(rounded, dtype=dtype)


@converter("DequantizeLinear", since=10)
def dequantize_linear(
    b: Emitter,
    x: Value,
    scale: Value,
    zero_point: Value | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Value:
    """`(x - zero_point) * scale`, in f32, in which the difference is exact for all but 32-bit integers."""
    _check_scale(scale)
    if x.dtype not in (*QUANTIZED, "i32"):
        raise ConversionError(f"the input is {x.shaped}, expected one of {', '.join(QUANTIZED)}, i32")
    dtype = dtype_of_number(output_dtype) if output_dtype else scale.dtype
    value = _cast(b, x, "f32")
    if zero_point is not None and not _is_zero(zero_point):
        offset = _along(b, zero_point, x, axis, block_size, "zero_point")
        value = b.subtract(value, _cast(b, offset, "f32"))
    factor = _cast(b, _along(b, scale, x, axis, block_size, "scale"), "f32")
    return _cast(b, b.multiply(value, factor), dtype)


@converter("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(b: Emitter, x: Value) -> Any:
    """Bytes whose scale and zero point follow from the range of `x` and 0; zeros have the scale 1."""
    high = b.maximum(b.max(x), 0.0)
    low = b.minimum(b.min(x), 0.0)
    scale = b.where(b.equal(high, low), b.full((), 1.0, x.dtype), b.divide(b.subtract(high, low), 255.0))
    zero_point = b.astype(b.round(b.negative(b.divide(low, scale))), dtype="ui8")
    return requantized(b, b.divide(x, scale), zero_point, "ui8"), scale, zero_point


def _along(b: Emitter, value: Value, x: Value, axis: int, block_size: int, what: str) -> Value:
    """A scale or zero point in a shape that broadcasts against `x`: one for all, for each index along `axis`, or for each block of them."""
    if value.rank == 0 or (value.rank == 1 and value.shape == (1,)):
        return value if value.rank == 0 else _reshape(b, value, ())
    if not -x.rank <= axis < x.rank:
        raise ConversionError(f"axis is {axis}, expected one of the {x.rank} dimensions of the input")
    axis %= x.rank
    if value.rank == 1 and not (block_size and x.rank == 1):
        if None not in (value.shape[0], x.shape[axis]) and value.shape[0] != x.shape[axis]:
            raise ConversionError(f"{what} is {value.shaped}, expected {x.shape[axis]} elements")
        return _reshape(b, value, (-1, *(1,) * (x.rank - axis - 1)))
    if not block_size or value.rank != x.rank:
        raise ConversionError(
            f"{what} is {value.shaped}, expected a scalar, a vector, or with block_size the rank of {x.shaped}"
        )
    return _blocks(b, value, x, axis, block_size, what)


def _blocks(b: Emitter, value: Value, x: Value, axis: int, block_size: int, what: str) -> Value:
    """Every element `block_size` times along `axis`, the last one as often as is needed."""
    shape = b.static_shape(value, what)
    extent = x.shape[axis]
    if extent is None or shape[axis] != -(-extent // block_size):
        raise ConversionError(
            f"{what} is {value.shaped}, which are not the blocks of {block_size} of {x.shaped}"
        )
    repeated = (*shape[: axis + 1], block_size, *shape[axis + 1 :])
    flat = (*shape[:axis], shape[axis] * block_size, *shape[axis + 1 :])
    spread = b.reshape(b.broadcast_to(b.expand_dims(value, axis=(axis + 1,)), shape=repeated), shape=flat)
    if flat[axis] == extent:
        return spread
    return b.strided_slice(spread, axes=(axis,), begin=(0,), end=(extent,))


def _check_scale(scale: Value) -> None:
    if scale.dtype not in FLOATS:
        raise ConversionError(f"scale is {scale.shaped}, expected floats")


# Products


@converter("MatMulInteger", since=10)
def matmul_integer(
    b: Emitter, x: Value, y: Value, x_zero: Value | None = None, y_zero: Value | None = None
) -> Value:
    """`(x - x_zero) @ (y - y_zero)` in 32 bits."""
    return _matmul(b, x, _row_zero(b, x, x_zero), y, _column_zero(y, y_zero))


@converter("QLinearMatMul", since=10)
def qlinear_matmul(
    b: Emitter,
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
    factor = _factor(b, _row_zero(b, x, x_scale), y_scale, scale)
    return _rescaled(b, product, factor, zero_point)


def _matmul(b: Emitter, x: Value, x_zero: Value | None, y: Value, y_zero: Value | None) -> Value:
    _check_bytes(x, y)
    a, a_zero = _signed(b, x), _signed_zero(b, x_zero, x.dtype)
    c, c_zero = _signed(b, y), _signed_zero(b, y_zero, y.dtype)
    steps = x.shape[-1] if y.shape[-2:][0] is None else y.shape[-2:][0]
    if min(x.rank, y.rank) < 2 or (steps is None and a_zero is not None and c_zero is not None):
        return b.matmul(_centred(b, a, a_zero), _centred(b, c, c_zero))
    product = b.matmul(a, c, out_dtype="i32")
    if a_zero is not None:
        product = b.subtract(product, _product(b, a_zero, _sum(b, c, -2)))
    if c_zero is not None:
        rows = _sum(b, a, -1)
        if a_zero is not None:
            rows = _difference(b, rows, _product(b, a_zero, KnownValue(_i32(steps))))
        product = b.subtract(product, _product(b, c_zero, rows))
    return product


def _row_zero(b: Emitter, x: Value, zero_point: Value | None) -> Value | None:
    """A zero point or scale per row, which is a vector, as a column."""
    if zero_point is None or zero_point.rank != 1 or zero_point.shape == (1,) or x.rank < 2:
        return zero_point
    return _reshape(b, zero_point, (-1, 1))


def _column_zero(y: Value, zero_point: Value | None) -> Value | None:
    if zero_point is not None and zero_point.rank == 1 and zero_point.shape != (1,) and y.rank < 2:
        raise ConversionError(f"the zero point is {zero_point.shaped}, expected one for {y.shaped}")
    return zero_point


# Convolutions


@converter("ConvInteger", since=10)
def conv_integer(
    b: Emitter,
    x: Value,
    w: Value,
    x_zero: Value | None = None,
    w_zero: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: tuple[int, ...] | None = None,
    group: int = 1,
    kernel_shape: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Value:
    """The convolution of `x - x_zero` with `w - w_zero`, in 32 bits."""
    window = window_of(x, w.shape[2:], auto_pad, dilations, kernel_shape, pads, strides)
    return _conv(b, x, x_zero, w, w_zero, window, group)


@converter("QLinearConv", since=10)
def qlinear_conv(
    b: Emitter,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    w: Value,
    w_scale: Value,
    w_zero: Value,
    scale: Value,
    zero_point: Value,
    bias: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: tuple[int, ...] | None = None,
    group: int = 1,
    kernel_shape: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
) -> Value:
    """The convolution of quantised images with quantised filters, plus a bias of 32-bit sums, quantised."""
    window = window_of(x, w.shape[2:], auto_pad, dilations, kernel_shape, pads, strides)
    sums = _conv(b, x, x_zero, w, w_zero, window, group)
    if bias is not None:
        sums = b.add(sums, _per_channel(b, bias, x))
    return _rescaled(b, sums, _factor(b, x_scale, _per_channel(b, w_scale, x), scale), zero_point)


def _conv(
    b: Emitter, x: Value, x_zero: Value | None, w: Value, w_zero: Value | None, window: Window, groups: int
) -> Value:
    """Padding has the value of the zero point, so that every window has as many terms."""
    _check_bytes(x, w)
    if x.rank not in (3, 4):
        raise ConversionError(f"the input is {x.shaped}, expected rank 3 or 4")
    if x_zero is not None and x_zero.shape not in ((), (1,)):
        raise ConversionError(f"the zero point of the input is {x_zero.shaped}, expected one element")
    a_zero, c_zero = _signed_zero(b, x_zero, x.dtype), _signed_zero(b, w_zero, w.dtype)
    a, c = _signed(b, x), _signed(b, w)
    if a_zero is not None:
        a_zero = _reshape(b, a_zero, ())
    a = _padded(b, a, a_zero, window)
    if c_zero is not None:
        c_zero = _per_filter(b, c_zero, w)
        return _windows(b, _centred(b, a, a_zero), _centred(b, c, c_zero), window, groups)
    product = _windows(b, a, c, window, groups)
    if a_zero is None:
        return product
    sums = _sum(b, c, tuple(range(1, w.rank)))
    return b.subtract(product, _product(b, a_zero, _reshape(b, sums, (-1, *(1,) * (x.rank - 2)))))


def _padded(b: Emitter, x: Value, zero_point: Value | None, window: Window) -> Value:
    """`x` with the elements of padding around it that stand for 0."""
    widths = [0, 0, 0, 0]
    for before, after in zip(window.before, window.after, strict=True):
        widths += [before, after]
    if not any(widths):
        return x
    known = _i32(0) if zero_point is None else zero_point.known
    if known is not None:
        return b.pad(x, pad_width=tuple(widths), value=int(known.reshape(())))
    assert zero_point is not None
    inside = b.pad(
        b.broadcast_to(b.full((), True, "i1"), shape=b.static_shape(x, "the input")), pad_width=tuple(widths)
    )
    return b.where(inside, b.pad(x, pad_width=tuple(widths)), b.astype(zero_point, dtype="i8"))


def _windows(b: Emitter, x: Value, w: Value, window: Window, groups: int) -> Value:
    """`conv2d` without padding into 32 bits; of rank 3 as one of images of height 1."""
    flat = x.rank == 3
    if flat:
        x, w, window = b.expand_dims(x, axis=(2,)), b.expand_dims(w, axis=(2,)), window.flat()
    result = b.conv2d(x, w, strides=window.strides, dilation=window.dilations, groups=groups, out_dtype="i32")
    return b.squeeze(result, axis=(2,)) if flat else result


def _per_channel(b: Emitter, value: Value, x: Value) -> Value:
    """A scalar, or a vector with an element per channel, in a shape that broadcasts against images."""
    return value if value.rank == 0 else _reshape(b, value, (-1, *(1,) * (x.rank - 2)))


def _per_filter(b: Emitter, value: Value, w: Value) -> Value:
    return value if value.rank == 0 else _reshape(b, value, (-1, *(1,) * (w.rank - 1)))


# Scales of products


def _factor(b: Emitter, x_scale: Value | None, w_scale: Value, scale: Value) -> Value:
    """`x_scale * w_scale / scale`, what integer sums are multiplied by."""
    import numpy as np

    assert x_scale is not None
    values = [x_scale, w_scale, scale]
    arrays = [value.known for value in values]
    if all(array is not None for array in arrays):
        x, w, y = (np.asarray(array).astype(np.float32) for array in arrays)
        return KnownValue(np.asarray(x * w / y))
    x, w, y = (_cast(b, value, "f32") for value in values)
    return b.divide(b.multiply(x, w), y)


def _rescaled(b: Emitter, sums: Value, factor: Value, zero_point: Value) -> Value:
    return requantized(b, b.multiply(b.astype(sums, dtype="f32"), factor), zero_point, zero_point.dtype)


# Signed bytes and zero points


def _check_bytes(x: Value, y: Value) -> None:
    for value in (x, y):
        if value.dtype not in ("ui8", "i8"):
            raise ConversionError(f"an operand is {value.shaped}, expected ui8 or i8")


def _signed(b: Emitter, x: Value) -> Value:
    """Unsigned bytes less 128, which is what flipping their first bit makes of them."""
    if x.dtype == "i8":
        return x
    known = x.known
    if known is not None:
        return KnownValue((known ^ 128).view("int8"), getattr(x, "key", "constant"))
    return b.astype(b.bitwise_xor(x, 128), dtype="i8")


def _signed_zero(b: Emitter, zero_point: Value | None, dtype: str) -> Value | None:
    """The zero point of `_signed` in 32 bits; `None` for one that is known to be 0."""
    import numpy as np

    known = _i32(0) if zero_point is None else zero_point.known
    offset = 128 if dtype == "ui8" else 0
    if known is not None:
        array = np.asarray(known, np.int32) - np.int32(offset)
        return KnownValue(np.asarray(array)) if np.any(array) else None
    assert zero_point is not None
    wide = b.astype(zero_point, dtype="i32")
    return b.subtract(wide, offset) if offset else wide


def _centred(b: Emitter, x: Value, zero_point: Value | None) -> Value:
    """`x - zero_point` in 32 bits."""
    wide = _cast(b, x, "i32")
    return wide if zero_point is None else _difference(b, wide, zero_point)


# Arithmetic that is done at import where it can be


def _i32(value: int | None) -> np.ndarray[Any, Any]:
    import numpy as np

    return np.array(value, np.int32)


def _product(b: Emitter, x: Value, y: Value) -> Value:
    if x.known is not None and y.known is not None:
        return _wrapped(x.known.astype("int64") * y.known)
    return b.multiply(x, y)


def _difference(b: Emitter, x: Value, y: Value) -> Value:
    if x.known is not None and y.known is not None:
        return _wrapped(x.known.astype("int64") - y.known)
    return b.subtract(x, y)


def _sum(b: Emitter, x: Value, axis: int | tuple[int, ...]) -> Value:
    """The sums of bytes along axes, which stay, in 32 bits."""
    if x.known is not None:
        return _wrapped(x.known.sum(axis=axis, keepdims=True, dtype="int64"))
    return b.sum(b.astype(x, dtype="i32"), axis=axis, keepdims=True)


def _wrapped(array: np.ndarray[Any, Any]) -> Value:
    import numpy as np

    return KnownValue(np.asarray(array).astype(np.int32))


def _is_zero(value: Value) -> bool:
    known = value.known
    return known is not None and not known.any()


def _cast(b: Emitter, x: Value, dtype: str) -> Value:
    if x.dtype == dtype:
        return x
    known = x.known
    if known is not None and dtype in ("f32", "i32"):
        return KnownValue(
            known.astype({"f32": "float32", "i32": "int32"}[dtype]), getattr(x, "key", "constant")
        )
    return b.astype(x, dtype=dtype)


def _reshape(b: Emitter, x: Value, shape: tuple[int, ...]) -> Value:
    known = x.known
    if known is not None:
        return KnownValue(known.reshape(shape), getattr(x, "key", "constant"))
    return b.reshape(x, shape=shape)
