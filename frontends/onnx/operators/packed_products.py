"""Products with a matrix of packed integers, in all the ways that MatMulNBits may say which real numbers they mean."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from ....lazy_dataclass import dataclass
from ..emitting.forms import reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of
from ..emitting.values import KnownValue
from ..value import Value
from .packed_bits import unpacked
from .signed_bytes import cast


@dataclass(frozen=True)
class PackedMatrix:
    """
    A matrix with a row of `inputs` numbers for each output: `(numbers - zeros) * scale`.

    There is a scale and a zero point for each block of a row. Zero points are bytes or floats, or one byte for all.
    """

    numbers: Value
    scale: Value
    zeros: Value
    inputs: int
    bits: int
    block_size: int

    @property
    def blocks(self) -> int:
        return -(-self.inputs // self.block_size)


def product_with(b: GraphBuilder, x: Value, matrix: PackedMatrix, groups: Value | None, *, rounded: bool) -> Value:
    """
    Returns `x @ matrix.T`. `groups` are the blocks of the inputs where they do not follow each other.

    Where `rounded`, blocks of x may be rounded to 8 bits. Weights whose order or zero points kernels do not take become
    floats as they are loaded.
    """
    if groups is not None:
        order = _order(groups, matrix.block_size)
        if order is None:
            return _product_of_floats(b, x, matrix, groups)
        x, rounded = b.take(x, b.constant(order), axis=x.rank - 1), False
        matrix = replace(matrix, numbers=_reordered(b, matrix.numbers, order, matrix.bits))
    if matrix.zeros.dtype == "ui8":
        return _product_of_rows(b, x, matrix, rounded=rounded and matrix.inputs % matrix.block_size == 0)
    if matrix.zeros.known is None:
        blocks = np.arange(matrix.inputs, dtype=np.int32) // matrix.block_size
        return _product_of_floats(b, x, matrix, KnownValue(blocks))
    return _product_around_floats(b, x, matrix)


def _product_of_rows(b: GraphBuilder, x: Value, matrix: PackedMatrix, *, rounded: bool) -> Value:
    """`graph.matmul_packed` on the rows of all matrices at once."""

    def product(rows: Value) -> Value:
        operands = (rows, matrix.numbers, matrix.scale, matrix.zeros)
        rounded_bits = 8 if rounded else 0
        return b.matmul_packed(*operands, bits=matrix.bits, block_size=matrix.block_size, rounded_bits=rounded_bits)

    sizes = [each for each in x.shape[:-1] if each is not None]
    if x.rank <= 2 or len(sizes) < x.rank - 1 or prod(sizes[:-1]) == 1:
        return product(x)
    result = product(b.reshape(x, shape=(prod(sizes), x.shape[-1])))
    return b.reshape(result, shape=(*sizes, matrix.scale.shape[0]))


# Blocks that are no neighbours


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


# Zero points that are no integers


def _product_around_floats(b: GraphBuilder, x: Value, matrix: PackedMatrix) -> Value:
    """
    Returns the product with weights around known zero points of floats.

    Kernels take the nearest integers. What is left of a zero point counts once for the sum of a block of x, so

        x @ matrix.T = x @ nearest.T - sums(x) @ (rest * scale).T
    """
    zeros = np.asarray(matrix.zeros.known, np.float32)
    nearest = np.clip(np.rint(zeros), 0, 2**matrix.bits - 1)
    rest = zeros - nearest
    around = replace(matrix, zeros=KnownValue(nearest.astype(np.uint8)))
    result = _product_of_rows(b, x, around, rounded=False)
    if not rest.any():
        return result
    weights = b.multiply(KnownValue(rest), cast(b, matrix.scale, "f32"))
    moved = b.matmul(_sums_of_blocks(b, cast(b, x, "f32"), matrix), b.permute_dims(weights, axes=(1, 0)))
    return cast(b, b.subtract(cast(b, result, "f32"), moved), x.dtype)


def _sums_of_blocks(b: GraphBuilder, x: Value, matrix: PackedMatrix) -> Value:
    """Returns the sum of each block of a row."""
    beyond = matrix.blocks * matrix.block_size - matrix.inputs
    if beyond:
        x = b.pad(x, pad_width=(*(0, 0) * (x.rank - 1), 0, beyond))
    rows = extents_of(x)[:-1]
    return b.sum(reshaped(b, x, [*rows, matrix.blocks, matrix.block_size]), axis=(x.rank,))


# Weights that become floats


def _product_of_floats(b: GraphBuilder, x: Value, matrix: PackedMatrix, groups: Value) -> Value:
    return b.matmul(x, b.permute_dims(_dequantised(b, matrix, groups), axes=(1, 0)))


def _dequantised(b: GraphBuilder, matrix: PackedMatrix, groups: Value) -> Value:
    """Returns the real weights, each with the scale and zero point of its block. This is done as they are loaded."""
    inputs = b.extent(groups, 0, "g_idx")
    numbers = unpacked(b, matrix.numbers, matrix.bits, inputs)
    if numbers.shape[1] != inputs:
        numbers = b.strided_slice(numbers, axes=(1,), begin=(0,), end=(inputs,))
    own = matrix.zeros if matrix.zeros.rank == 0 else _columns(b, matrix.zeros, groups)
    real = b.subtract(cast(b, numbers, "f32"), cast(b, own, "f32"))
    return cast(b, b.multiply(real, cast(b, _columns(b, matrix.scale, groups), "f32")), matrix.scale.dtype)


def _columns(b: GraphBuilder, value: Value, groups: Value) -> Value:
    """Returns the columns of a matrix at `groups`. It would not be done as weights are loaded, as it makes many."""
    if value.known is not None and groups.known is not None:
        return KnownValue(np.ascontiguousarray(value.known[:, groups.known]))
    return b.take(value, groups, axis=1)
