"""
Products with weights that stay packed: MatMulNBits of the set `com.microsoft`.

Source: the operator documentation of onnxruntime, ContribOperators.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from ..emitting.graph_builder import GraphBuilder
from ..emitting.values import KnownValue
from ..errors import ConversionError
from ..registry import converter
from ..value import Value
from .packed_bits import unpacked
from .quantized_fusions import DOMAIN
from .signed_bytes import cast, in_shape

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
    if x.rank and x.shape[-1] not in (None, K):
        raise ConversionError(f"the input is {x.shaped}, expected rows of K = {K}")
    blocks = -(-K // block_size)
    if scales.dtype != x.dtype:
        raise ConversionError(f"scales is {scales.shaped}, expected elements of {x.dtype} as the input has")
    packed = _as_matrix(b, weights, "B", "ui8", N, blocks * block_size * bits // 8)
    scale = _as_matrix(b, scales, "scales", x.dtype, N, blocks)
    check_numbers(scale)
    zeros = b.full((), 2 ** (bits - 1), "ui8")
    if zero_points is not None:
        zeros = _zero_points(b, zero_points, bits, N, blocks)
    rounded = 8 if accuracy_level == LEVELS.stop - 1 and K % block_size == 0 and g_idx is None else 0
    if g_idx is None:
        result = _product(b, x, packed, scale, zeros, bits=bits, block_size=block_size, rounded_bits=rounded)
    else:
        groups = _groups(b, g_idx, K, blocks, block_size)
        result = _product_of_groups(b, x, packed, scale, zeros, groups, bits, block_size)
    return result if bias is None else b.add(result, bias)


def _product(b: GraphBuilder, x: Value, packed: Value, scale: Value, zeros: Value, **properties: int) -> Value:
    """`graph.matmul_packed` on the rows of all matrices at once."""
    sizes = [each for each in x.shape[:-1] if each is not None]
    if x.rank <= 2 or len(sizes) < x.rank - 1 or prod(sizes[:-1]) == 1:
        return b.matmul_packed(x, packed, scale, zeros, **properties)
    rows = b.reshape(x, shape=(prod(sizes), x.shape[-1]))
    result = b.matmul_packed(rows, packed, scale, zeros, **properties)
    return b.reshape(result, shape=(*sizes, packed.shape[0]))


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


def check_numbers(scale: Value, what: str = "scales") -> None:
    """Raises for scales that make every result NaN."""
    found = scale.known
    if found is not None and not np.isfinite(np.asarray(found, np.float32)).all():
        place = tuple(int(index) for index in np.argwhere(~np.isfinite(np.asarray(found, np.float32)))[0])
        raise ConversionError(f"{what} has {np.asarray(found)[place]} at {place}, expected finite numbers")


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


# Weights whose blocks are no neighbours


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


def _product_of_groups(
    b: GraphBuilder, x: Value, packed: Value, scale: Value, zeros: Value, groups: Value, bits: int, block_size: int
) -> Value:
    """Returns the product with the inputs in the order of their blocks, or, where there is none, with real weights."""
    order = _order(groups, block_size)
    if order is None:
        return b.matmul(x, b.permute_dims(_dequantised(b, packed, scale, zeros, groups, bits), axes=(1, 0)))
    moved = b.take(x, b.constant(order), axis=x.rank - 1)
    return _product(b, moved, _reordered(b, packed, order, bits), scale, zeros, bits=bits, block_size=block_size)


def _order(groups: Value, block_size: int) -> np.ndarray[Any, Any] | None:
    """Returns the inputs block by block, `None` where blocks are not known, or are not all of the same size."""
    known = groups.known
    if known is None or np.any(np.bincount(known) != block_size):
        return None
    return np.argsort(known, kind="stable").astype(np.int64)


def _reordered(b: GraphBuilder, packed: Value, order: np.ndarray[Any, Any], bits: int) -> Value:
    """Returns rows of packed numbers in another order. They are known, mostly, so this is done as they are loaded."""
    moved = b.take(unpacked(b, packed, bits, len(order)), b.constant(order), axis=1)
    if bits == 8:
        return moved
    low, high = (b.strided_slice(moved, axes=(1,), begin=(n,), end=(len(order),), strides=(2,)) for n in range(2))
    return b.bitwise_or(low, b.left_shift(high, bits))


def _dequantised(b: GraphBuilder, packed: Value, scale: Value, zeros: Value, groups: Value, bits: int) -> Value:
    """Returns the real weights, each with the scale and zero point of its block. This is done as they are loaded."""
    inputs = b.extent(groups, 0, "g_idx")
    numbers = unpacked(b, packed, bits, inputs)
    if numbers.shape[1] != inputs:
        numbers = b.strided_slice(numbers, axes=(1,), begin=(0,), end=(inputs,))
    own = zeros if zeros.rank == 0 else _columns(b, zeros, groups)
    real = b.subtract(cast(b, numbers, "f32"), cast(b, own, "f32"))
    return cast(b, b.multiply(real, cast(b, _columns(b, scale, groups), "f32")), scale.dtype)


def _columns(b: GraphBuilder, value: Value, groups: Value) -> Value:
    """Returns the columns of a matrix at `groups`. It would not be done as weights are loaded, as it makes many."""
    if value.known is not None and groups.known is not None:
        return KnownValue(np.ascontiguousarray(value.known[:, groups.known]))
    return b.take(value, groups, axis=1)
