"""
Conditions and builders of `integer_arithmetic.mlir`: conversions and products of f16 and bf16 as those of f32, of which
there are rules and kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from ...core.derived_weights import BYTES
from ...core.ir.element_types import is_small_float
from ...dialects.graph.base import plain_properties
from ...dialects.graph.contraction import Conv2dOp, MatmulOp
from ...dialects.graph.elementwise import AstypeOp
from ...dialects.graph.quantisation import DequantizeOp
from ...patterns.language.constants import element_type
from ...patterns.language.match import Match
from ...patterns.language.registry import builder, condition
from ..inference.quantisation import converted, dtype_of, emit, shape_of
from .contractions import byte_of_weights, scales_of_outputs
from .moves import moved_conversion
from .packed import blocks_of_columns
from .scales import is_prepared


@condition("has-integer-form", protects="cost")
def has_integer_form(match: Match, op: Conv2dOp | MatmulOp) -> bool:
    """
    The operands stand for bytes, converted by one scale on the left and by those of outputs on the right, or the right
    one for constant integers that stay packed.
    """
    left, right = (_conversion(each) for each in op.operands)
    if right is None:
        return False
    if left is not None and dtype_of(left.operands[0]) in BYTES and not shape_of(left.operands[1]):
        return byte_of_weights(match, op, right.operands[0]) and scales_of_outputs(match, op, right)
    is_cast = right.results[0] is not op.operands[1]  # Others stay packed by a rule of their own.
    packed = isinstance(op, MatmulOp) and is_cast and is_prepared(match, right.operands[0])
    return packed and blocks_of_columns(match, right)


def _conversion(value: SSAValue) -> DequantizeOp | None:
    """Returns what makes a tensor of integers, also where it is converted between."""
    owner = value.owner
    if isinstance(owner, AstypeOp):
        owner = owner.operands[0].owner
    return owner if isinstance(owner, DequantizeOp) else None


@builder("dequantised-in-f32")
def dequantised_in_f32(match: Match, op: Operation, real: DequantizeOp) -> Sequence[SSAValue]:
    """The `graph.dequantize` with scales in f32."""
    return [_in_f32(match, real.results[0])]


@builder("moved-before-cast")
def moved_before_cast(match: Match, op: Operation, cast: AstypeOp, real: DequantizeOp) -> Sequence[SSAValue] | None:
    """The cast of a `graph.dequantize` of what `op` makes of integers."""
    element = element_type(real.results[0].type)
    moved = moved_conversion(match, op, real, TensorType(element, shape_of(op.results[0])))
    return None if moved is None else [emit(match, "astype", moved[0], dtype=dtype_of(op.results[0]))]


@builder("product-in-f32")
def product_in_f32(match: Match, op: Conv2dOp | MatmulOp) -> Sequence[SSAValue]:
    """The product or convolution of f32, converted back."""
    operands = [_in_f32(match, each) for each in op.operands]
    result = emit(match, op.name.removeprefix("graph."), *operands, **plain_properties(op))
    return [emit(match, "astype", result, dtype=dtype_of(op.results[0]))]


def _in_f32(match: Match, value: SSAValue) -> SSAValue:
    """Returns a tensor in f32. What was dequantised is not rounded to another type before."""
    real = _conversion(value)
    if real is None:
        return converted(match, value, "f32")
    if not is_small_float(element_type(real.operands[1].type)):
        return converted(match, real.results[0], "f32")
    quantized, scale, zero = real.operands
    return emit(match, "dequantize", quantized, converted(match, scale, "f32"), zero, **plain_properties(real))
