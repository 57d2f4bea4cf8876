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
from .packed_bits import as_four_bits, numbers_of
from .packed_products import PackedMatrix, product_with
from .quantized_fusions import DOMAIN
from .signed_bytes import in_shape

BITS: Final = (2, 4, 8)
"""The bits of a weight."""

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
    if x.rank and x.shape[-1] not in (None, K):
        raise ConversionError(f"the input is {x.shaped}, expected rows of K = {K}")
    blocks = -(-K // block_size)
    if scales.dtype != x.dtype:
        raise ConversionError(f"scales is {scales.shaped}, expected elements of {x.dtype} as the input has")
    packed = _as_matrix(b, weights, "B", "ui8", N, blocks * block_size * bits // 8)
    scale = _as_matrix(b, scales, "scales", x.dtype, N, blocks)
    check_numbers("scales", scale)
    zeros = _zero_points(b, zero_points, scale, bits, N, blocks)
    if bits == 2:
        packed, bits = as_four_bits(b, packed, (N, blocks * block_size // 2)), 4
    matrix = PackedMatrix(packed, scale, zeros, K, bits, block_size)
    groups = None if g_idx is None else _groups(b, g_idx, K, blocks, block_size)
    result = product_with(b, x, matrix, groups, rounded=accuracy_level == LEVELS.stop - 1)
    return result if bias is None else b.add(result, bias)


def _check_attributes(bits: int, block_size: int, accuracy_level: int, weight_prepacked: int) -> None:
    if bits not in BITS:
        raise ConversionError(f"bits is {bits}, expected 2, 4 or 8")
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
    is_flat = value.rank < 2
    if count not in (None, rows * columns) or not (is_flat or value.shape[0] in (None, rows)):
        raise ConversionError(f"{what} is {value.shaped}, expected {rows}x{columns} elements")
    return value if value.shape == (rows, columns) else in_shape(b, value, (rows, columns))


def check_numbers(what: str, value: Value) -> None:
    """Raises for scales and zero points that make every result NaN."""
    found = value.known
    if found is not None and not np.isfinite(np.asarray(found, np.float32)).all():
        place = tuple(int(index) for index in np.argwhere(~np.isfinite(np.asarray(found, np.float32)))[0])
        raise ConversionError(f"{what} has {np.asarray(found)[place]} at {place}, expected finite numbers")


def _zero_points(b: GraphBuilder, value: Value | None, scale: Value, bits: int, rows: int, blocks: int) -> Value:
    """Returns the zero points as one byte each, or as floats. Packed ones begin with a byte in each row."""
    if value is None:
        return b.full((), 2 ** (bits - 1), "ui8")
    if value.dtype == scale.dtype:
        zeros = _as_matrix(b, value, "zero_points", scale.dtype, rows, blocks)
        check_numbers("zero_points", zeros)
        return zeros
    if value.dtype != "ui8":
        expected = f"ui8 with {bits} bits each, or {scale.dtype} as scales has"
        raise ConversionError(f"zero_points is {value.shaped}, expected elements of {expected}")
    return numbers_of(b, _as_matrix(b, value, "zero_points", "ui8", rows, -(-blocks * bits // 8)), bits, blocks)


def _groups(b: GraphBuilder, g_idx: Value, K: int, blocks: int, block_size: int) -> Value:
    """Returns the block of each of the K inputs. A quantiser may write what a last block has beyond them."""
    if g_idx.dtype != "i32" or g_idx.shape not in ((K,), (blocks * block_size,), (None,)):
        raise ConversionError(f"g_idx is {g_idx.shaped}, expected {K} elements of i32, a block for each input")
    known = g_idx.known
    if known is None:
        return b.strided_slice(g_idx, axes=(0,), begin=(0,), end=(K,))
    wrong = np.flatnonzero((known < 0) | (known >= blocks))
    if wrong.size:
        raise ConversionError(
            f"g_idx has {known[wrong[0]]} at {wrong[0]}, expected 0 to {blocks - 1}, one of the blocks"
        )
    return KnownValue(known[:K])
