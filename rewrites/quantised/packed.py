"""Conditions and builders of `integer_arithmetic.mlir`: products of floats with constant weights that stay packed."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from xdsl.ir import SSAValue

from ...dialects.graph.base import plain_properties
from ...dialects.graph.contraction import MatmulOp
from ...dialects.graph.quantisation import DequantizeOp
from ...patterns.language.constants import splat_number
from ...patterns.language.match import Match
from ...patterns.language.registry import builder, condition
from ..inference.quantisation import dtype_of, emit, shape_of
from .moves import FLIP, full

LEAST_BLOCK: Final = 16
"""The least size of a block that kernels of packed weights take, of which all are multiples."""


@condition("blocks-of-columns", protects="cost")
def blocks_of_columns(match: Match, kernel: DequantizeOp) -> bool:
    """There is one scale for each block of a column of a matrix, for each column or for all, of whole blocks."""
    shape, scales = shape_of(kernel.operands[0]), shape_of(kernel.operands[1])
    properties = plain_properties(kernel)
    if len(shape) != 2 or min(shape) < 1:
        return False
    axis = properties["axis"] % 2
    if properties["block_size"]:
        return axis == 0 and not properties["block_size"] % LEAST_BLOCK and not shape[0] % properties["block_size"]
    return not shape[0] % LEAST_BLOCK and (not scales or axis == 1)


@builder("packed-matmul")
def packed_matmul(match: Match, op: MatmulOp, kernel: DequantizeOp) -> Sequence[SSAValue]:
    """The product with the weights packed, one row of bytes for each column. Bytes with signs are 128 more."""
    weights, scale, zero_point = kernel.operands
    inputs, outputs = shape_of(weights)
    block_size = plain_properties(kernel)["block_size"] or inputs
    packed = emit(match, "permute_dims", _unsigned(match, weights), axes=[1, 0])
    shape, x = list(shape_of(op.operands[0])), op.operands[0]
    is_batch = len(shape) > 2 and min(shape) > 0
    if is_batch:
        x = emit(match, "reshape", x, shape=[prod(shape[:-1]), inputs])
    number, signed = splat_number(zero_point), dtype_of(weights) == "i8"
    if number is not None:
        zeros = full(match, int(number) + (FLIP if signed else 0), "ui8")
    else:
        zeros = _rows(match, _unsigned(match, zero_point), inputs // block_size, outputs)
    scales = _rows(match, scale, inputs // block_size, outputs)
    result = emit(match, "matmul_packed", x, packed, scales, zeros, bits=8, block_size=block_size)
    return (emit(match, "reshape", result, shape=[*shape[:-1], outputs]) if is_batch else result,)


def _unsigned(match: Match, value: SSAValue) -> SSAValue:
    """Returns bytes without a sign, 128 more than those with one."""
    if dtype_of(value) == "ui8":
        return value
    return emit(match, "bitwise_xor", emit(match, "astype", value, dtype="ui8"), full(match, FLIP, "ui8"))


def _rows(match: Match, value: SSAValue, blocks: int, outputs: int) -> SSAValue:
    """Returns scales or zero points with a row for each column of the weights."""
    if len(shape_of(value)) == 2:
        return emit(match, "permute_dims", value, axes=[1, 0])
    column = emit(match, "reshape", value, shape=[-1, 1])
    return emit(match, "broadcast_to", column, shape=[outputs, blocks])
