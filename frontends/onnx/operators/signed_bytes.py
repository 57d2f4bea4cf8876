"""
Products of bytes for any signs and zero points.

Machines are fast at products of bytes whose right operand has a sign, with sums of 32 bits. An unsigned byte less 128
is a signed one, and the zero point goes with it. The left operand stays as it is. Then

    sum (a - za) * (b - zb) = sum a * b - za * sum b - zb * (sum a - K * za)

with K terms in each sum. All of it wraps in 32 bits, so it is exact. Of the terms on the right those with constant
weights are constants, and those with a zero point of 0 vanish. Source: B. Jacob et al., Quantization and Training of
Neural Networks for Efficient Integer-Arithmetic-Only Inference, CVPR 2018, section 2.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..emitting.graph_builder import GraphBuilder
from ..emitting.values import KnownValue
from ..errors import ConversionError
from ..value import Value


def check_bytes(x: Value, y: Value) -> None:
    for value in (x, y):
        if value.dtype not in ("ui8", "i8"):
            raise ConversionError(f"an operand is {value.shaped}, expected ui8 or i8")


def signed(b: GraphBuilder, x: Value) -> Value:
    """Returns unsigned bytes less 128, which is what flipping their first bit makes of them."""
    if x.dtype == "i8":
        return x
    known = x.known
    if known is not None:
        return KnownValue((known ^ 128).view("int8"), getattr(x, "key", "constant"))
    return b.astype(b.bitwise_xor(x, 128), dtype="i8")


def signed_zero(b: GraphBuilder, zero_point: Value | None, dtype: str) -> Value | None:
    """Returns the zero point of `signed` in 32 bits, `None` for one that is known to be 0."""
    return wide_zero(b, zero_point, 128 if dtype == "ui8" else 0)


def wide_zero(b: GraphBuilder, zero_point: Value | None, offset: int = 0) -> Value | None:
    """Returns the zero point less an offset in 32 bits, `None` for one that is known to be 0."""
    known = int32(0) if zero_point is None else zero_point.known
    if known is not None:
        array = np.asarray(known, np.int32) - np.int32(offset)
        return KnownValue(np.asarray(array)) if np.any(array) else None
    assert zero_point is not None
    wide = b.astype(zero_point, dtype="i32")
    return b.subtract(wide, offset) if offset else wide


def centred(b: GraphBuilder, x: Value, zero_point: Value | None) -> Value:
    """`x - zero_point` in 32 bits."""
    wide = cast(b, x, "i32")
    return wide if zero_point is None else minus(b, wide, zero_point)


# Arithmetic that is done at import where it can be


def int32(value: int | None) -> np.ndarray[Any, Any]:
    return np.array(value, np.int32)


def times(b: GraphBuilder, x: Value, y: Value) -> Value:
    if x.known is not None and y.known is not None:
        return _wrapped(x.known.astype("int64") * y.known)
    return b.multiply(x, y)


def minus(b: GraphBuilder, x: Value, y: Value) -> Value:
    if x.known is not None and y.known is not None:
        return _wrapped(x.known.astype("int64") - y.known)
    return b.subtract(x, y)


def sums_of(b: GraphBuilder, x: Value, axis: int | tuple[int, ...]) -> Value:
    """The sums of bytes along axes, which stay, in 32 bits."""
    if x.known is not None:
        return _wrapped(x.known.sum(axis=axis, keepdims=True, dtype="int64"))
    return b.sum(b.astype(x, dtype="i32"), axis=axis, keepdims=True)


def _wrapped(array: np.ndarray[Any, Any]) -> Value:
    return KnownValue(np.asarray(array).astype(np.int32))


def is_zero(value: Value) -> bool:
    known = value.known
    return known is not None and not (known.item() if known.size == 1 else known.any())


def cast(b: GraphBuilder, x: Value, dtype: str) -> Value:
    if x.dtype == dtype:
        return x
    known = x.known
    if known is not None and dtype in ("f32", "i32"):
        return KnownValue(known.astype({"f32": "float32", "i32": "int32"}[dtype]), getattr(x, "key", "constant"))
    return b.astype(x, dtype=dtype)


def in_shape(b: GraphBuilder, x: Value, shape: tuple[int, ...]) -> Value:
    known = x.known
    if known is not None:
        return KnownValue(known.reshape(shape), getattr(x, "key", "constant"))
    return b.reshape(x, shape=shape)
