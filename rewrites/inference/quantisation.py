"""Named builders of `simplify_inference.mlir`: conversions of quantised tensors as arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import copysign
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ...core.ir.element_types import dtype_name, is_small_float
from ...dialects.graph.base import plain_properties, python_properties
from ...dialects.graph.quantisation import DequantizeOp, QuantizeOp
from ...patterns.language.constants import element_type, splat_number
from ...patterns.language.match import Match
from ...patterns.language.registry import builder, condition
from ...te.dtypes import TABLE, is_float


def emit(match: Match, name: str, *operands: SSAValue, **properties: Any) -> SSAValue:
    """Returns the result of a new `graph.<name>` before the root, of the inferred type."""
    op_type: Any = match.session.op_type(f"graph.{name}")
    given = [(key, tuple(each) if isinstance(each, list) else each) for key, each in properties.items()]
    stored = _properties(op_type, *((key, each, type(each)) for key, each in given))
    return match.create(f"graph.{name}", operands, None, stored).results[0]


@lru_cache(1024)
def _properties(op_type: Any, *given: tuple[str, Any, type]) -> dict[str, Attribute]:
    """Returns properties of an op. Layers ask for the same ones, and then all ops share the attributes."""
    return python_properties(op_type, {name: each for name, each, _ in given})


def converted(match: Match, value: SSAValue, dtype: str) -> SSAValue:
    """Returns `value` in an element type."""
    return value if dtype_of(value) == dtype else emit(match, "astype", value, dtype=dtype)


def dtype_of(value: SSAValue) -> str:
    """Returns the name of the element type of a tensor."""
    name = dtype_name(element_type(value.type))
    assert name is not None
    return name


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """Returns the sizes of a tensor, -1 for one that is not known."""
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()


@condition("spreads-scales", protects="cost")
def spreads_scales(match: Match, op: QuantizeOp | DequantizeOp) -> bool:
    """The scales of the op are not for blocks, or all extents are known: ops on tensors can repeat them."""
    return not plain_properties(op)["block_size"] or DYNAMIC_INDEX not in (
        *shape_of(op.operands[0]),
        *shape_of(op.operands[1]),
    )


def spread(match: Match, op: Operation, value: SSAValue) -> SSAValue:
    """Returns scales or zero points of `op` in a shape that broadcasts against its first operand."""
    shape = shape_of(op.operands[0])
    properties = plain_properties(op)
    if not shape_of(value):
        return value
    axis, block = properties["axis"] % len(shape), properties["block_size"]
    if not block:
        trailing = list(range(1, len(shape) - axis))
        return emit(match, "expand_dims", value, axis=trailing) if trailing else value
    blocks = shape_of(value)[axis]
    repeated = [*shape[: axis + 1], block, *shape[axis + 1 :]]
    repeated[axis] = blocks
    flat = [*shape[:axis], blocks * block, *shape[axis + 1 :]]
    wide = emit(match, "broadcast_to", emit(match, "expand_dims", value, axis=[axis + 1]), shape=repeated)
    found = emit(match, "reshape", wide, shape=flat)
    if flat[axis] == shape[axis]:
        return found
    return emit(match, "strided_slice", found, axes=[axis], begin=[0], end=[shape[axis]])


def computed_in(value: SSAValue) -> str:
    """Returns the float type in which steps of a scale of that type are counted."""
    return "f32" if is_small_float(element_type(value.type)) else dtype_of(value)


@builder("quantize-arithmetic")
def quantize_arithmetic(match: Match, op: QuantizeOp) -> Sequence[SSAValue] | None:
    """
    `astype(round(x / scale) + zero_point)`. A zero point that is known to be 0 is left out. Declines blocks of a `?`.

    Floats of 8 bits are not rounded to integers, and `clip` makes them saturate. Their zero point turns -0 into 0.
    """
    if not spreads_scales(match, op):
        return None
    x, scale, zero = op.operands
    dtype, wide = dtype_of(zero), computed_in(scale)
    steps = emit(match, "divide", x, spread(match, op, scale))
    steps = converted(match, steps if is_float(dtype) else emit(match, "round", steps), wide)
    if is_float(dtype) or splat_number(zero) != 0:
        steps = emit(match, "add", steps, converted(match, spread(match, op, zero), wide))
    if is_float(dtype):
        steps = emit(match, "clip", steps, min=-TABLE[dtype].greatest, max=TABLE[dtype].greatest)
    return (converted(match, steps, dtype_of(zero)),)


@builder("dequantize-arithmetic")
def dequantize_arithmetic(match: Match, op: DequantizeOp) -> Sequence[SSAValue] | None:
    """`(q - zero_point) * scale`. A zero point that is known to be 0 is left out. Declines blocks of a `?`."""
    if not spreads_scales(match, op):
        return None
    x, scale, zero = op.operands
    wide = computed_in(scale)
    steps = converted(match, x, wide)
    number = splat_number(zero)
    if number != 0 or copysign(1, number) < 0:  # -0 less -0 is 0.
        steps = emit(match, "subtract", steps, converted(match, spread(match, op, zero), wide))
    product = emit(match, "multiply", steps, converted(match, spread(match, op, scale), wide))
    return (converted(match, product, dtype_of(scale)),)
