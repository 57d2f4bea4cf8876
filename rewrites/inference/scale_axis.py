"""
Conditions and builders of `fold_scale_axis.mlir`: where a factor per channel can go, and weights multiplied by it.

A factor is *per channel* of an axis when all its other dimensions are 1 or missing. It moves only where it arrives at a
contraction in the end, through ops of one block that nobody else uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.graph.base import plain_properties, python_properties
from ...dialects.graph.binary import AddOp, SubtractOp
from ...dialects.graph.constants import is_constant
from ...dialects.graph.contraction import Conv2dOp, MatmulOp
from ...dialects.traits import is_pure
from ...patterns.language.constants import element_type, is_constant_op, is_float_type
from ...patterns.language.match import Match, as_value
from ...patterns.language.registry import Thing, builder, condition

CONTRACTIONS = ("graph.conv2d", "graph.matmul")
POOLS = ("graph.max_pool2d", "graph.avg_pool2d")
LONGEST_WALK = 64
"""The most ops between a factor and its contraction, and of those that a weight is made of."""


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """Returns the sizes of a tensor."""
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()


def is_per_channel(factor: SSAValue, axis: int, like: SSAValue) -> bool:
    """Returns whether `factor` broadcasts to the type of `like` and varies along `axis` (from the front) only."""
    shape, whole = shape_of(factor), shape_of(like)
    skip = len(whole) - len(shape)
    if skip < 0 or DYNAMIC_INDEX in shape or element_type(factor.type) != element_type(like.type):
        return False
    return all(size == 1 or (dim == axis and size == whole[axis]) for dim, size in enumerate(shape, start=skip))


def is_made_of_literals(value: SSAValue) -> bool:
    """Returns whether `value` is a literal, a weight, or computed from these only."""
    stack, seen = [value], {value}
    while stack:
        owner = stack.pop().owner
        if isinstance(owner, Block) or len(seen) > LONGEST_WALK or owner.regions:
            return False
        if is_constant(owner):
            continue
        if not owner.operands or not is_pure(owner):
            return False
        fresh = [operand for operand in owner.operands if operand not in seen]
        seen.update(fresh)
        stack += fresh
    return True


def is_weight(value: SSAValue) -> bool:
    """The value is made of literals, or an argument: not a tensor that the program computes from its inputs."""
    return isinstance(value.owner, Block) or is_made_of_literals(value)


def _elements(value: SSAValue) -> Any | None:
    """Returns the elements of a literal as an array, or `None` for another value."""
    owner = value.owner
    if isinstance(owner, Block) or not is_constant_op(owner) or not owner.name.startswith("graph."):
        return None
    from ..constants.constant_values import array_of

    return array_of(owner)


@condition("positive-literal")
def positive_literal(match: Match, thing: Thing) -> bool:
    """The elements are known, finite and greater than zero."""
    return _is_positive(as_value(thing))


def _is_positive(value: SSAValue) -> bool:
    array = _elements(value)
    return array is not None and bool(((array > 0) & (array < float("inf"))).all())


@condition("nonzero-literal")
def nonzero_literal(match: Match, thing: Thing) -> bool:
    """The elements are known, finite and not zero."""
    return _is_nonzero(as_value(thing))


def _is_nonzero(value: SSAValue) -> bool:
    array = _elements(value)
    return array is not None and bool(((array != 0) & (abs(array) < float("inf"))).all())


# Where the channels are


def output_axis(op: Operation) -> int:
    """Returns the axis of the result of a contraction that comes from its weights."""
    if op.name == "graph.conv2d":
        return plain_properties(op)["data_layout"].index("C")
    return len(shape_of(op.results[0])) - 1


def input_axis(op: Operation) -> int:
    """Returns the axis of the first operand of a contraction that is summed over with the weights."""
    if op.name == "graph.conv2d":
        return plain_properties(op)["data_layout"].index("C")
    return len(shape_of(op.operands[0])) - 1


def _can_take(op: Operation, factor: SSAValue) -> bool:
    """Returns whether the weights of a contraction can be multiplied by `factor`."""
    weights = op.operands[1]
    same = {element_type(value.type) for value in (*op.operands, *op.results)}
    return (
        len(same) == 1
        and is_float_type(weights.type)
        and len(shape_of(weights)) >= 2
        and is_weight(weights)
        and is_made_of_literals(factor)
    )


def takes_outputs(op: Operation, factor: SSAValue) -> bool:
    """Returns whether `op` can have its outputs multiplied by `factor` per channel."""
    return _can_take(op, factor) and is_per_channel(factor, output_axis(op), op.results[0])


def takes_inputs(op: Operation, factor: SSAValue) -> bool:
    """Returns whether `op` can have its inputs multiplied per channel. A convolution in several groups cannot."""
    if op.name == "graph.conv2d" and plain_properties(op)["groups"] != 1:
        return False
    return _can_take(op, factor) and is_per_channel(factor, input_axis(op), op.operands[0])


@condition("scales-outputs")
def scales_outputs(match: Match, op: Conv2dOp | MatmulOp, factor: Thing) -> bool:
    """The factor is per output channel of the contraction, and weights and factor are known before the program runs."""
    return takes_outputs(op, as_value(factor))


@condition("scales-inputs")
def scales_inputs(match: Match, op: Conv2dOp | MatmulOp, factor: Thing) -> bool:
    """The factor is per input channel of the contraction, and known. A grouped convolution does not take it."""
    return takes_inputs(op, as_value(factor))


@condition("reaches-contraction-above")
def reaches_contraction_above(match: Match, value: Thing, factor: Thing) -> bool:
    """
    The factor can move up from `value` to a contraction that takes it: through sums with tensors per channel, and
    through relu when it is a positive literal.
    """
    current, scale, added = as_value(value), as_value(factor), list[SSAValue]()
    for _ in range(LONGEST_WALK):
        op = current.owner
        if isinstance(op, Block) or op.parent is not match.root.parent or not current.has_one_use():
            return False
        if op.name in CONTRACTIONS:
            axis = output_axis(op)
            return takes_outputs(op, scale) and all(is_per_channel(each, axis, current) for each in added)
        if op.name == "graph.relu" and _is_positive(scale):
            current = op.operands[0]
        elif op.name in ("graph.add", "graph.subtract"):
            whole, other = _summands(op)
            if whole is None or other is None:
                return False
            current = whole
            added.append(other)
        else:
            return False
    return False


def _summands(op: Operation) -> tuple[SSAValue | None, SSAValue | None]:
    """Returns the operand of a sum with the shape of the result, then the smaller one. A difference keeps its order."""
    lhs, rhs = op.operands
    if lhs.type == op.results[0].type and rhs.type != lhs.type:
        return lhs, rhs
    if op.name == "graph.add" and rhs.type == op.results[0].type and lhs.type != rhs.type:
        return rhs, lhs
    return None, None


@condition("reaches-contraction-below")
def reaches_contraction_below(match: Match, value: Thing, factor: Thing) -> bool:
    """
    The factor can move down from `value` to a contraction that takes it: through sums with tensors per channel when no
    element is zero, through average pooling, and through relu and maximum pooling when it is a positive literal.
    """
    current, scale = as_value(value), as_value(factor)
    added: list[tuple[SSAValue, SSAValue]] = []
    for _ in range(LONGEST_WALK):
        if not current.has_one_use():
            return False
        op = next(iter(current.uses)).operation
        if op.parent is not match.root.parent:
            return False
        if op.name in CONTRACTIONS:
            if op.operands[0] is not current:
                return False
            axis = input_axis(op)
            return takes_inputs(op, scale) and all(is_per_channel(*(e, axis, whole)) for e, whole in added)
        if op.name == "graph.relu" or op.name in POOLS:
            if op.name != "graph.avg_pool2d" and not _is_positive(scale):
                return False
            if op.name in POOLS and not _pools_around(op, scale):
                return False
        elif op.name == "graph.add":
            whole, other = _summands(op)
            if whole is not current or other is None or not _is_nonzero(scale):
                return False
            added.append((other, current))
        else:
            return False
        current = op.results[0]
    return False


def _pools_around(op: Operation, scale: SSAValue) -> bool:
    """Returns whether `scale` is per channel of a pooling."""
    return is_per_channel(scale, plain_properties(op)["layout"].index("C"), op.operands[0])


@condition("smaller-summand", protects="cost")
def smaller_summand(match: Match, op: AddOp | SubtractOp, summand: Thing) -> bool:
    """The value is the operand of the sum or difference that is smaller than its result."""
    return _summands(op)[1] is as_value(summand)


# Weights


@builder("contraction-with-scaled-outputs")
def contraction_with_scaled_outputs(match: Match, op: Conv2dOp | MatmulOp, factor: Thing) -> Sequence[SSAValue]:
    """The contraction with weights multiplied by a factor per output channel."""
    if op.name == "graph.conv2d":
        axis = plain_properties(op)["kernel_layout"].index("O")
    else:
        axis = len(shape_of(op.operands[1])) - 1
    return _with_scaled_weights(match, op, op.operands[0], as_value(factor), axis)


@builder("contraction-with-scaled-inputs")
def contraction_with_scaled_inputs(
    match: Match, op: Conv2dOp | MatmulOp, data: Thing, factor: Thing
) -> Sequence[SSAValue]:
    """The contraction of `data` with weights multiplied by a factor per input channel."""
    if op.name == "graph.conv2d":
        axis = plain_properties(op)["kernel_layout"].index("I")
    else:
        axis = len(shape_of(op.operands[1])) - 2
    return _with_scaled_weights(match, op, as_value(data), as_value(factor), axis)


def _with_scaled_weights(
    match: Match, op: Operation, data: SSAValue, factor: SSAValue, axis: int
) -> Sequence[SSAValue]:
    weights = op.operands[1]
    count = 1
    for size in shape_of(factor):
        count *= size
    shape = [count, *[1] * (len(shape_of(weights)) - 1 - axis)]
    if list(shape_of(factor)) != shape:
        op_type: Any = match.session.op_type("graph.reshape")
        stored: dict[str, Attribute] = python_properties(op_type, {"shape": shape})
        factor = match.create("graph.reshape", [factor], None, stored).results[0]
    scaled = match.create("graph.multiply", [weights, factor], [weights.type]).results[0]
    return match.create(op.name, [data, scaled], [match.root.results[0].type], op.properties).results
