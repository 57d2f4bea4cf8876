"""
Products with weights that stay packed: MatMulNBits of the set `com.microsoft`.

Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from ..emitting.graph_builder import GraphBuilder
from ..emitting.values import KnownValue
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .quantized_fusions import DOMAIN
from .signed_bytes import in_shape

BITS: Final = (4, 8)
"""The bits of weights that have kernels."""

LEAST_BLOCK: Final = 16
"""The least size of a block, of which all are powers of two."""

LEVELS: Final = range(5)
"""The values of `accuracy_level`: none, f32, f16, bf16, and 8 bits for the left operand at least."""


@converter("MatMulNBits", domain=DOMAIN)
def matmul_n_bits(
    b: GraphBuilder,
    x: Value,
    weights: Value,
    scales: Value,
    zero_points: Value | None = None,
    g_idx: Value | None = None,
    bias: Value | None = None,
    *,
    K: int,
    N: int,
    bits: int = 4,
    block_size: int,
    accuracy_level: int = 0,
    weight_prepacked: int = 0,
) -> Value:
    """`x @ ((w - zero_point) * scale).T + bias`, with a scale for each block of a row of w."""
    _check_attributes(bits, block_size, accuracy_level, weight_prepacked)
    if g_idx is not None:
        raise ConversionError("g_idx is not supported: blocks must be neighbours")
    if x.rank and x.shape[-1] not in (None, K):
        raise ConversionError(f"the input is {x.shaped}, expected rows of K = {K}")
    blocks = -(-K // block_size)
    if scales.dtype != x.dtype:
        raise ConversionError(f"scales is {scales.shaped}, expected elements of {x.dtype} as the input has")
    packed = _as_matrix(b, weights, "B", "ui8", N, blocks * block_size * bits // 8)
    scale = _as_matrix(b, scales, "scales", x.dtype, N, blocks)
    _check_numbers(scale)
    zeros = b.full((), 2 ** (bits - 1), "ui8")
    if zero_points is not None:
        zeros = _zero_points(b, zero_points, bits, N, blocks)
    sizes = [each for each in x.shape[:-1] if each is not None]
    is_batch = x.rank > 2 and len(sizes) == x.rank - 1 and prod(sizes[:-1]) != 1
    rows = b.reshape(x, shape=(prod(sizes), K)) if is_batch else x
    rounded = 8 if accuracy_level == LEVELS.stop - 1 and K % block_size == 0 else 0
    result = b.matmul_packed(rows, packed, scale, zeros, bits=bits, block_size=block_size, rounded_bits=rounded)
    if is_batch:
        result = b.reshape(result, shape=(*sizes, N))
    return result if bias is None else b.add(result, bias)


def _check_attributes(bits: int, block_size: int, accuracy_level: int, weight_prepacked: int) -> None:
    if bits not in BITS:
        raise ConversionError(f"bits is {bits}, expected {' or '.join(map(str, BITS))}")
    if block_size < LEAST_BLOCK or block_size & (block_size - 1):
        raise ConversionError(f"block_size is {block_size}, expected a power of 2 of at least {LEAST_BLOCK}")
    if accuracy_level not in LEVELS:
        raise ConversionError(f"accuracy_level is {accuracy_level}, expected {LEVELS.start} to {LEVELS.stop - 1}")
    if weight_prepacked:
        raise ConversionError("weight_prepacked is set: B is in a layout of another machine")


def _as_matrix(b: GraphBuilder, value: Value, what: str, dtype: str, rows: int, columns: int) -> Value:
    """Returns a tensor as a matrix with a row for each output."""
    if value.dtype != dtype:
        raise ConversionError(f"{what} is {value.shaped}, expected elements of {dtype}")
    count = None if None in value.shape else prod(each or 0 for each in value.shape)
    if count not in (None, rows * columns):
        raise ConversionError(f"{what} is {value.shaped}, expected {rows}x{columns} elements")
    return value if value.shape == (rows, columns) else in_shape(b, value, (rows, columns))


def _check_numbers(scale: Value) -> None:
    """Raises for scales that make every result NaN."""
    found = scale.known
    if found is not None and not np.isfinite(np.asarray(found, np.float32)).all():
        place = tuple(int(index) for index in np.argwhere(~np.isfinite(np.asarray(found, np.float32)))[0])
        raise ConversionError(f"scales has {np.asarray(found)[place]} at {place}, expected finite numbers")


def _zero_points(b: GraphBuilder, value: Value, bits: int, rows: int, blocks: int) -> Value:
    """Returns the zero points as one byte each. Those of 4 bits come in pairs, and each row begins with a byte."""
    if value.dtype != "ui8":
        raise ConversionError(f"zero_points is {value.shaped}, expected elements of ui8: packed, {bits} bits each")
    packed = _as_matrix(b, value, "zero_points", "ui8", rows, -(-blocks * bits // 8))
    if bits == 8:
        return packed
    if (known := packed.known) is not None:
        array = np.asarray(known)
        numbers = np.stack([array & 15, array >> 4], axis=-1).reshape(rows, -1)
        return KnownValue(np.ascontiguousarray(numbers[:, :blocks]))
    halves = (b.bitwise_and(packed, 15), b.right_shift(packed, 4))
    numbers = b.concat(*(b.expand_dims(half, axis=(2,)) for half in halves), axis=2)
    flat = in_shape(b, numbers, (rows, packed.shape[1] * 2))  # pyright: ignore[reportOptionalOperand]
    return b.strided_slice(flat, axes=(1,), begin=(0,), end=(blocks,))
