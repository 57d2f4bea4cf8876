"""
Conditions and builders of `integer_arithmetic.mlir`: scales and zero points of results, and what is known of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import numpy as np
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...core.ir.element_types import is_small_float
from ...core.ir.kinds import is_kind
from ...dialects.graph.constants import ConstantOp, FullOp
from ...dialects.graph.quantisation import QuantizeOp
from ...dialects.graph.shapes import Shaped
from ...dialects.graph.signature import tensor_type
from ...dialects.traits import LoopSemantics, constant_kind, is_pure
from ...patterns.language.constants import element_type, splat_number
from ...patterns.language.match import Index, Match, Session, as_value
from ...patterns.language.registry import Thing, builder, condition
from ...te.dtypes import bit_width, integer_range, is_integer
from ...te.numeric import Array
from ..constants.constant_values import array_of, constant_of
from ..inference.quantisation import converted, dtype_of, emit, shape_of
from .moves import full

# pyright: reportPrivateUsage=false


@condition("prepared", protects="cost")
def prepared(match: Match, thing: Thing) -> bool:
    """The value follows from constants and weights, so it is computed once, when they are loaded."""
    return is_prepared(match, as_value(thing))


@condition("not-prepared", protects="cost")
def not_prepared(match: Match, thing: Thing) -> bool:
    """The value follows from what the program is called with."""
    return not is_prepared(match, as_value(thing))


def is_prepared(match: Match, value: SSAValue) -> bool:
    """Returns whether a value follows from constants and weights."""
    return match.session.index(_Computed).is_prepared(value)


class _Computed(Index):
    """
    The ops that are known to be computed in each call. A question about a value late in a net would else go all the way
    back to its inputs.
    """

    def __init__(self, session: Session):
        super().__init__(session)
        self._known = set[Operation]()

    def is_prepared(self, value: SSAValue) -> bool:
        """Returns whether `value` follows from constants and weights."""
        waiting: list[tuple[SSAValue, Operation | None]] = [(value, None)]
        asked_by: dict[Operation, Operation | None] = {}
        while waiting:
            each, user = waiting.pop()
            owner: Any = each.owner
            if not is_kind(owner.__class__, Operation):
                return self._note(user, asked_by)
            if owner in asked_by or constant_kind(owner):
                continue
            asked_by[owner] = user
            operands = owner._operands
            if (
                owner in self._known
                or not is_kind(owner.__class__, LoopSemantics)
                or not operands
                or not is_pure(owner)
            ):
                return self._note(owner, asked_by)
            waiting += [(operand, owner) for operand in operands]
        return True

    def _note(self, op: Operation | None, asked_by: Mapping[Operation, Operation | None]) -> bool:
        """Notes that `op`, and what it was asked for, are computed in each call."""
        while op is not None:
            self._known.add(op)
            op = asked_by[op]
        return False

    def linked(self, op: Operation) -> None:
        """Forgets all where `op` may follow from constants now. Its operands are others than before."""
        known = self._known
        if op in known and not any(each.owner in known or isinstance(each, BlockArgument) for each in op._operands):
            known.clear()


@condition("least-number")
def least_number(match: Match, thing: Thing) -> bool:
    """The integer is the least of its type."""
    value = as_value(thing)
    dtype = dtype_of(value)
    return is_integer(dtype) and splat_number(value) == integer_range(dtype)[0]


@condition("not-one")
def not_one(match: Match, thing: Thing) -> bool:
    """The number is known, of type f32, f16 or bf16, normal in f32 as its reciprocal is, and not 1."""
    number = splat_number(as_value(thing))
    known = isinstance(number, float) and number != 1 and 2.0**-100 < number < 2.0**100
    return known and is_at_most_float32(as_value(thing))


def is_at_most_float32(value: SSAValue) -> bool:
    """Returns whether the elements are floats that kernels compute in f32: of type f32, f16 or bf16."""
    type_ = element_type(value.type)
    return isinstance(type_, Float32Type) or is_small_float(type_)


@condition("few-steps")
def few_steps(match: Match, thing: Thing) -> bool:
    """The elements are floats of 8 bits, or integers of at most 16, each of which is a number of f32."""
    dtype = dtype_of(as_value(thing))
    return not is_integer(dtype) or bit_width(dtype) <= 16


def _reciprocal(scale: Thing) -> float:
    number = splat_number(as_value(scale))
    assert number is not None
    return float(np.float32(1) / np.float32(number)) if number else inf


def _scalar(match: Match, zero: SSAValue) -> SSAValue | None:
    """Returns a zero point without dimensions, or `None` where there are several."""
    number = splat_number(zero)
    if not shape_of(zero) or number is None:
        return None if shape_of(zero) else zero
    return full(match, number, dtype_of(zero))


def _requantised(
    match: Match, op: QuantizeOp, x: SSAValue, multiplier: SSAValue, axis: int = 1
) -> Sequence[SSAValue] | None:
    zero = _scalar(match, op.operands[2])
    return None if zero is None else (emit(match, "requantize", x, multiplier, zero, axis=axis),)


@builder("requantised")
def requantised(match: Match, op: QuantizeOp, x: Thing, scale: Thing) -> Sequence[SSAValue] | None:
    """
    The `graph.requantize` of x by one over the scale. Declines several zero points, and more than 8 bits of f16 and
    bf16, whose quotients have no such steps.
    """
    value = as_value(x)
    if dtype_of(value) != "f32" and bit_width(dtype_of(op.results[0])) > 8:
        return None
    return _requantised(match, op, converted(match, value, "f32"), full(match, _reciprocal(scale), "f32"))


@builder("requantised-sums")
def requantised_sums(
    match: Match, op: QuantizeOp, sums: Thing, factor: Thing, scale: Thing
) -> Sequence[SSAValue] | None:
    """
    The `graph.requantize` of sums by the factor over the scale. Declines several zero points, factors along several
    axes, and factors that make the sums larger.
    """
    x, given = as_value(sums), as_value(factor)
    shape, sizes = shape_of(given), shape_of(x)
    wide = [axis for axis, size in enumerate(shape) if size != 1]
    if len(wide) > 1 or sizes != shape_of(op.operands[0]) or dtype_of(given) != "f32":
        return None
    flat = reshaped(match, given, [shape[axis] for axis in wide])
    multiplier = _times(match, flat, _reciprocal(scale))
    return _requantised(match, op, x, multiplier, len(sizes) - len(shape) + wide[0] if wide else 1)


@builder("offset-quantize")
def offset_quantize(
    match: Match, op: QuantizeOp, sums: Thing, factor: Thing, offset: Thing, scale: Thing, zero: Thing
) -> Sequence[SSAValue] | None:
    """
    The `graph.quantize` of sums times a factor, plus an offset to which the zero point is added before it is rounded.

    Factor and offset are over the scale. Declines other types than f32.
    """
    number = splat_number(as_value(zero))
    if number is None or {dtype_of(as_value(each)) for each in (factor, offset)} != {"f32"}:
        return None
    over = _reciprocal(scale)
    moved = _times(match, as_value(offset), over)
    if number:
        moved = emit(match, "add", moved, full(match, float(number), "f32"))
    total = emit(match, "add", emit(match, "multiply", as_value(sums), _times(match, as_value(factor), over)), moved)
    one = full(match, 1.0, "f32", shape_of(as_value(scale)))
    none = full(match, 0, dtype_of(as_value(zero)), shape_of(as_value(zero)))
    return match.create(op.name, [total, one, none], [op.results[0].type], op.properties).results


# Constants. What they make is a constant at once: each layer has some of these, and folding them later takes longer.


def product(match: Match, first: SSAValue, second: SSAValue) -> SSAValue:
    """Returns the product of two tensors."""
    numbers, others = literal(first), literal(second)
    if numbers is None or others is None:
        return emit(match, "multiply", first, second)
    with np.errstate(all="ignore"):
        return constant(match, numbers * others, dtype_of(first))


def _times(match: Match, value: SSAValue, number: float) -> SSAValue:
    """Returns the product of a tensor of f32 and a number."""
    numbers = literal(value)
    if numbers is None:
        return emit(match, "multiply", value, full(match, number, "f32"))
    with np.errstate(all="ignore"):
        return constant(match, numbers * np.float32(number), "f32")


def reshaped(match: Match, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """Returns a tensor in another shape."""
    if list(shape_of(value)) == list(shape):
        return value
    numbers = literal(value)
    if numbers is None:
        return emit(match, "reshape", value, shape=list(shape))
    return constant(match, numbers.reshape(shape), dtype_of(value))


def literal(value: SSAValue) -> Array | None:
    """Returns the elements of a constant, or `None` for another value."""
    owner = value.owner
    return array_of(owner) if isinstance(owner, ConstantOp | FullOp) else None


def constant(match: Match, array: Array, dtype: str) -> SSAValue:
    if array.ndim == 0:
        return full(match, array.item(), dtype)
    return match.add(constant_of(array, tensor_type(Shaped(array.shape, dtype)))).results[0]
