"""
Named builders of `simplify_inference.mlir` and `canonicalize_ops.mlir`: normalisations as arithmetic.

Statistics of f16 and bf16 tensors are computed in f32 and the result is rounded once, as the ops themselves do. 1e-5
added to a variance would be lost in f16.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ...core.ir.element_types import is_small_float
from ...dialects.graph.base import plain_properties, python_properties
from ...dialects.graph.constants import FullOp
from ...dialects.graph.normalisation import (
    BatchNormOp,
    BiasAddOp,
    DropoutOp,
    GroupNormOp,
    InstanceNormOp,
    L2NormalizeOp,
    LayerNormOp,
    RmsNormOp,
)
from ...patterns.language.constants import element_type, splat_number
from ...patterns.language.match import Match
from ...patterns.language.registry import builder


class Arithmetic:
    """Makes graph ops before the root of a match, on the operands of `op` converted to at least f32."""

    def __init__(self, match: Match, op: Operation):
        self._match = match
        self.root = op
        self._small = is_small_float(element_type(self.root.operands[0].type))
        self.properties = plain_properties(self.root)
        self.operands = [self._widened(operand) for operand in self.root.operands]

    def _widened(self, value: SSAValue) -> SSAValue:
        return self.op("astype", value, dtype="f32") if self._small else value

    def op(self, name: str, *operands: SSAValue, type_: Attribute | None = None, **properties: Any) -> SSAValue:
        """Returns the result of a new `graph.<name>`, of the inferred type unless `type_` is given."""
        op_type: Any = self._match.session.op_type(f"graph.{name}")
        stored = python_properties(op_type, properties)
        types = None if type_ is None else [type_]
        return self._match.create(f"graph.{name}", operands, types, stored).results[0]

    def last(self, name: str, *operands: SSAValue) -> SSAValue:
        """Makes the last op, which has the type of the first result of `op`."""
        type_ = self.root.results[0].type
        if self._small:
            return self.op("astype", self.op(name, *operands), type_=type_, dtype=str(element_type(type_)))
        return self.op(name, *operands, type_=type_)

    def number(self, value: float) -> SSAValue:
        """Returns a tensor of rank 0 that holds `value`."""
        return self._match.add(FullOp(value, TensorType(element_type(self.operands[0].type), []))).results[0]

    def along(self, value: SSAValue, axes: Sequence[int]) -> SSAValue:
        """Returns `value`, whose dimensions are `axes` of the first operand in rising order, so that it broadcasts."""
        spread = range(axes[0], rank_of(self.operands[0]))
        missing = [axis - axes[0] for axis in spread if axis not in axes]
        return self.op("expand_dims", value, axis=missing) if missing else value

    def standardised(self, x: SSAValue, axes: Sequence[int]) -> SSAValue:
        """Returns `(x - mean) / sqrt(var + epsilon)`, the statistics over `axes`."""
        mean = self.op("mean", x, axis=list(axes), keepdims=True)
        centred = self.op("subtract", x, mean)
        squares = self.op("multiply", centred, centred)
        variance = self.op("mean", squares, axis=list(axes), keepdims=True)
        return self.op("divide", centred, self.root_of(variance))

    def root_of(self, value: SSAValue) -> SSAValue:
        """Returns `sqrt(value + epsilon)`."""
        return self.op("sqrt", self.op("add", value, self.number(self.properties["epsilon"])))


def rank_of(value: SSAValue) -> int:
    """Returns the number of dimensions of a tensor."""
    assert isinstance(value.type, TensorType)
    return value.type.get_num_dims()


def _axes(emit: Arithmetic) -> list[int]:
    """Returns the property `axes` (or `axis`) of the root, counted from the front."""
    given = emit.properties["axes"] if "axes" in emit.properties else (emit.properties["axis"],)
    return [axis % rank_of(emit.root.operands[0]) for axis in given]


def _scaled_and_shifted(
    emit: Arithmetic, value: SSAValue, gamma: SSAValue, beta: SSAValue, axes: list[int]
) -> SSAValue:
    scaled = emit.op("multiply", value, emit.along(gamma, axes))
    return emit.last("add", scaled, emit.along(beta, axes))


@builder("batch-norm-arithmetic")
def batch_norm_arithmetic(match: Match, op: BatchNormOp) -> Sequence[SSAValue] | None:
    """
    `x * scale + shift` with `scale = 1 / sqrt(var + epsilon) * gamma` and `shift = -mean * scale + beta`. A `gamma` of
    ones and a `beta` of zeros are left out.
    """
    if [op.operands[3].type, op.operands[4].type] != [result.type for result in op.results[1:]]:
        return None
    ones, zeros = splat_number(op.operands[1]) == 1, splat_number(op.operands[2]) == 0
    emit = Arithmetic(match, op)
    x, gamma, beta, mean, var = emit.operands
    axes = _axes(emit)
    deviation = emit.root_of(var)
    scale = emit.op("divide", emit.number(1.0), deviation)
    if not ones:
        scale = emit.op("multiply", scale, gamma)
    shift = emit.op("multiply", emit.op("negative", mean), scale)
    if not zeros:
        shift = emit.op("add", shift, beta)
    scale, shift = emit.along(scale, axes), emit.along(shift, axes)
    return emit.last("add", emit.op("multiply", x, scale), shift), op.operands[3], op.operands[4]


@builder("layer-norm-arithmetic")
def layer_norm_arithmetic(match: Match, op: LayerNormOp) -> Sequence[SSAValue]:
    """`(x - mean) / sqrt(var + epsilon) * gamma + beta` with the mean and variance over `axes`."""
    emit = Arithmetic(match, op)
    x, gamma, beta = emit.operands
    axes = _axes(emit)
    return (_scaled_and_shifted(emit, emit.standardised(x, axes), gamma, beta, axes),)


@builder("instance-norm-arithmetic")
def instance_norm_arithmetic(match: Match, op: InstanceNormOp) -> Sequence[SSAValue] | None:
    """`layer-norm-arithmetic` over all axes but the batch and the channels. Declines a tensor that has no others."""
    if rank_of(op.operands[0]) < 3:
        return None
    emit = Arithmetic(match, op)
    x, gamma, beta = emit.operands
    channel = _axes(emit)
    spatial = [axis for axis in range(1, rank_of(x)) if axis not in channel]
    return (_scaled_and_shifted(emit, emit.standardised(x, spatial), gamma, beta, channel),)


@builder("group-norm-arithmetic")
def group_norm_arithmetic(match: Match, op: GroupNormOp) -> Sequence[SSAValue] | None:
    """`instance-norm-arithmetic` of channels reshaped into groups. Declines more than one `?`, and an empty tensor."""
    type_ = op.operands[0].type
    assert isinstance(type_, TensorType)
    shape, properties = list(type_.get_shape()), plain_properties(op)
    channel, groups = properties["axis"] % len(shape), properties["num_groups"]
    if shape.count(DYNAMIC_INDEX) > 1 or shape[channel] == DYNAMIC_INDEX or 0 in shape:
        return None
    emit = Arithmetic(match, op)
    x, gamma, beta = emit.operands
    split = [*shape[:channel], groups, shape[channel] // groups, *shape[channel + 1 :]]
    rows = emit.op("reshape", x, shape=_with_unknown(split))
    over = [axis for axis in range(1, len(split)) if axis != channel]
    normal = emit.op("reshape", emit.standardised(rows, over), shape=_with_unknown(shape))
    return (_scaled_and_shifted(emit, normal, gamma, beta, [channel]),)


def _with_unknown(shape: list[int]) -> list[int]:
    return [-1 if size == DYNAMIC_INDEX else size for size in shape]


@builder("l2-normalize-arithmetic")
def l2_normalize_arithmetic(match: Match, op: L2NormalizeOp) -> Sequence[SSAValue]:
    """`x / sqrt(max(sum of x * x, epsilon))`."""
    emit = Arithmetic(match, op)
    (x,) = emit.operands
    squares = emit.op("sum", emit.op("multiply", x, x), axis=_axes(emit), keepdims=True)
    bounded = emit.op("maximum", squares, emit.number(emit.properties["epsilon"]))
    return (emit.last("divide", x, emit.op("sqrt", bounded)),)


@builder("rms-norm-arithmetic")
def rms_norm_arithmetic(match: Match, op: RmsNormOp) -> Sequence[SSAValue]:
    """`x / sqrt(mean of x * x + epsilon) * gamma`."""
    emit = Arithmetic(match, op)
    x, gamma = emit.operands
    axes = _axes(emit)
    squares = emit.op("mean", emit.op("multiply", x, x), axis=axes, keepdims=True)
    normal = emit.op("divide", x, emit.root_of(squares))
    return (emit.last("multiply", normal, emit.along(gamma, axes)),)


@builder("dropout-identity")
def dropout_identity(match: Match, op: DropoutOp) -> Sequence[SSAValue] | None:
    """The operand, and a mask of `true`. Declines a mask with a `?`."""
    type_ = op.results[1].type
    assert isinstance(type_, TensorType)
    if op.operands[0].type != op.results[0].type or DYNAMIC_INDEX in type_.get_shape():
        return None
    return op.operands[0], match.add(FullOp(True, type_)).results[0]


@builder("bias-add-arithmetic")
def bias_add_arithmetic(match: Match, op: BiasAddOp) -> Sequence[SSAValue]:
    """A `graph.add` of the bias with a dimension of size 1 for each one after its axis."""
    rank = rank_of(op.operands[0])
    trailing = list(range(1, rank - plain_properties(op)["axis"] % rank))
    bias = op.operands[1]
    if trailing:
        op_type: Any = match.session.op_type("graph.expand_dims")
        stored = python_properties(op_type, {"axis": trailing})
        bias = match.create("graph.expand_dims", [bias], None, stored).results[0]
    return match.create("graph.add", [op.operands[0], bias], [op.results[0].type]).results
