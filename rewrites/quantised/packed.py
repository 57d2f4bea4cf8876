"""Conditions and builders of `integer_arithmetic.mlir`: products of floats with constant weights that stay packed."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from xdsl.dialects.builtin import TensorType, UnitAttr
from xdsl.ir import SSAValue

from ...core.derived_weights import PACKED_SUFFIX
from ...core.ir.element_types import ATTRIBUTES, is_small_float
from ...core.roles import APART
from ...dialects.graph.base import plain_properties
from ...dialects.graph.constants import ConstantOp, WeightOp
from ...dialects.graph.contraction import MatmulOp
from ...dialects.graph.movement import PermuteDimsOp
from ...dialects.graph.quantisation import DequantizeOp, MatmulPackedOp
from ...dialects.graph.shapes import Shaped
from ...dialects.graph.signature import tensor_type
from ...patterns.language.constants import element_type, splat_number
from ...patterns.language.match import Match, as_value
from ...patterns.language.registry import Thing, builder, condition
from ...te.dtypes import bit_width, integer_range, is_small_integer
from ..inference.quantisation import converted, dtype_of, emit, shape_of
from .moves import full
from .scales import is_at_most_float32

LEAST_BLOCK: Final = 16
"""The least size of a block that kernels of packed weights take, of which all are multiples."""


@condition("at-most-float32", protects="cost")
def at_most_float32(match: Match, thing: Thing) -> bool:
    """The elements are floats that kernels compute in f32: of type f32, f16 or bf16."""
    return is_at_most_float32(as_value(thing))


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
def packed_matmul(match: Match, op: MatmulOp, kernel: DequantizeOp) -> Sequence[SSAValue] | None:
    """
    The product with the weights packed, one row of bytes for each column. Integers with signs become others.

    Declines operands of two float types.
    """
    weights, scale, zero_point = kernel.operands
    if dtype_of(op.operands[0]) != dtype_of(scale):
        return None
    inputs, outputs = shape_of(weights)
    block_size = plain_properties(kernel)["block_size"] or inputs
    bits = 4 if is_small_integer(dtype_of(weights)) else 8
    packed = _packed_in_file(match, weights) if bits == 4 else None
    if packed is None:
        packed = emit(match, "permute_dims", _unsigned(match, weights), axes=[1, 0])
        if bits == 4:
            packed = _pairs(match, *(_every_second(match, packed, 1, first) for first in (0, 1)))
    shape, x = list(shape_of(op.operands[0])), op.operands[0]
    is_batch = len(shape) > 2 and min(shape) > 0
    if is_batch:
        x = emit(match, "reshape", x, shape=[prod(shape[:-1]), inputs])
    number = splat_number(zero_point)
    if number is not None:
        zeros = full(match, int(number) + _offset(dtype_of(weights)), "ui8")
    else:
        zeros = _rows(match, _unsigned(match, zero_point), inputs // block_size, outputs)
    scales = _scales(match, scale, inputs // block_size, outputs)
    result = emit(match, "matmul_packed", x, packed, scales, zeros, bits=bits, block_size=block_size)
    return (emit(match, "reshape", result, shape=[*shape[:-1], outputs]) if is_batch else result,)


def _offset(dtype: str) -> int:
    """Returns by what the integers without a sign are greater, which stand for those of a type: 128 for i8."""
    return -integer_range(dtype)[0]


def _unsigned(match: Match, value: SSAValue) -> SSAValue:
    """Returns integers as bytes without a sign, those with one greater by their offset."""
    dtype = dtype_of(value)
    offset, found = _offset(dtype), converted(match, value, "ui8")
    if not offset:
        return found
    if is_small_integer(dtype):
        found = emit(match, "bitwise_and", found, full(match, 2 * offset - 1, "ui8"))
    return emit(match, "bitwise_xor", found, full(match, offset, "ui8"))


def _pairs(match: Match, low: SSAValue, high: SSAValue) -> SSAValue:
    """Returns bytes of two numbers up to 15."""
    return emit(match, "bitwise_or", low, emit(match, "left_shift", high, full(match, 4, "ui8")))


def _every_second(match: Match, value: SSAValue, axis: int, first: int) -> SSAValue:
    """Returns the elements along an axis of even or of odd index."""
    end = shape_of(value)[axis]
    return emit(match, "strided_slice", value, axes=[axis], begin=[first], end=[end], strides=[2])


def _packed_in_file(match: Match, weights: SSAValue) -> SSAValue | None:
    """
    Returns the bytes of a weight of 4 bits with a row for each column, made of those that its file holds.

    It is `None` for other values, and where a row of the file does not end with a byte. No number is unpacked for it.
    """
    source, is_transposed = weights.owner, False
    if isinstance(source, PermuteDimsOp) and tuple(plain_properties(source)["axes"] or (1, 0)) == (1, 0):
        source, is_transposed = source.operands[0].owner, True
    dtype = dtype_of(weights)
    if not isinstance(source, WeightOp) or bit_width(dtype) != 4:
        return None
    rows, columns = shape_of(source.results[0])
    if rows % 2 or columns % 2:
        return None
    type_ = TensorType(ATTRIBUTES["ui8"], [rows * columns // 2])
    data = match.add(WeightOp(source.weight_key + PACKED_SUFFIX, type_)).results[0]
    if offset := _offset(dtype):
        data = emit(match, "bitwise_xor", data, full(match, offset | offset << 4, "ui8"))
    data = emit(match, "reshape", data, shape=[rows, columns // 2])
    return data if is_transposed else _transposed_pairs(match, data)


def _transposed_pairs(match: Match, data: SSAValue) -> SSAValue:
    """Returns the transposed of a matrix with two numbers in each byte. A byte holds those of two rows then."""
    rows, pairs = shape_of(data)
    even, odd = (_every_second(match, data, 0, first) for first in (0, 1))
    four = full(match, 4, "ui8")
    first = _pairs(match, emit(match, "bitwise_and", even, full(match, 15, "ui8")), odd)
    high = emit(match, "bitwise_and", odd, full(match, 240, "ui8"))
    second = emit(match, "bitwise_or", emit(match, "right_shift", even, four), high)
    columns = [
        emit(match, "expand_dims", emit(match, "permute_dims", each, axes=[1, 0]), axis=[1]) for each in (first, second)
    ]
    return emit(match, "reshape", emit(match, "concat", *columns, axis=1), shape=[2 * pairs, rows // 2])


def _scales(match: Match, scale: SSAValue, blocks: int, outputs: int) -> SSAValue:
    """Returns scales as `_rows` does. One for all is a constant tensor, as kernels lay scales out like weights."""
    number = splat_number(scale)
    if number is None:
        return _rows(match, scale, blocks, outputs)
    constant = ConstantOp.from_values([number], tensor_type(Shaped((outputs, blocks), dtype_of(scale))))
    constant.attributes[APART] = UnitAttr()
    return match.add(constant).results[0]


def _rows(match: Match, value: SSAValue, blocks: int, outputs: int) -> SSAValue:
    """Returns scales or zero points with a row for each column of the weights."""
    if len(shape_of(value)) == 2:
        return emit(match, "permute_dims", value, axes=[1, 0])
    column = emit(match, "reshape", value, shape=[-1, 1])
    return emit(match, "broadcast_to", column, shape=[outputs, blocks])


@condition("small-float", protects="structure")
def small_float(match: Match, thing: Thing) -> bool:
    """The elements are of type f16 or bf16. What is made of f32 is not matched again."""
    return is_small_float(element_type(as_value(thing).type))


@builder("packed-in-f32")
def packed_in_f32(match: Match, op: MatmulPackedOp, rows: Thing, scale: Thing) -> Sequence[SSAValue]:
    """The product like `op` of rows and scales that are converted to f32, converted back."""
    x, factors = (emit(match, "astype", as_value(thing), dtype="f32") for thing in (rows, scale))
    product = match.create(op.name, [x, op.operands[1], factors, op.operands[3]], None, op.properties).results[0]
    return [emit(match, "astype", product, dtype=dtype_of(op.results[0]))]
