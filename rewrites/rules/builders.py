"""Named builders: replacements of graph ops that a template cannot say."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, inf
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, IntegerAttr, StringAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ...core.messages.diagnostics import fail
from ...dialects.graph.base import plain_properties, python_properties
from ...dialects.graph.constants import FullOp
from ...dialects.graph.elementwise import ClipOp
from ...dialects.graph.movement import PermuteDimsOp
from ...dialects.graph.shapes import ShapeError
from ...patterns.language.constants import splat_number
from ...patterns.language.functions import PRIMITIVE, captured_values, outlined
from ...patterns.language.match import Match, Names, as_value
from ...patterns.language.registry import Thing, builder
from .conditions import permutation, scalar_type


@builder("full")
def full(match: Match, *, value: FloatAttr | IntegerAttr) -> Sequence[SSAValue] | None:
    """A `graph.full` of the number `value` with the type of the root. Declines a type with a `?`."""
    type_ = match.root.results[0].type
    if not isinstance(type_, TensorType) or DYNAMIC_INDEX in type_.get_shape():
        return None
    return _full(match, value.value.data, type_)


@builder("scalar")
def scalar(match: Match, *, value: FloatAttr | IntegerAttr) -> Sequence[SSAValue]:
    """A `graph.full` of rank 0 of the number `value` with the element type of the root."""
    return _full(match, value.value.data, scalar_type(match.root.results[0].type))


def _full(match: Match, number: int | float, type_: TensorType) -> Sequence[SSAValue]:
    try:
        op = FullOp(bool(number) if str(type_.element_type) == "i1" else number, type_)
    except ShapeError as error:
        # The type is that of the program, so that nobody can tell when the rule is read.
        fail(match.root, f"rule '{match.rule.name}' makes a constant: {error}")
    return match.add(op).results


@builder("splat-like-result")
def splat_like_result(match: Match, constant: Thing) -> Sequence[SSAValue] | None:
    """A `graph.full` with the type of the root and the elements of `constant`. Declines unless these are one number."""
    number, type_ = splat_number(as_value(constant)), match.root.results[0].type
    # A NaN as a Python number would lose its bits.
    if number is None or number != number or not isinstance(type_, TensorType):
        return None
    return None if DYNAMIC_INDEX in type_.get_shape() else _full(match, number, type_)


@builder("with-scalar")
def with_scalar(match: Match, op: Operation, constant: Thing) -> Sequence[SSAValue] | None:
    """The same op with a `graph.full` of rank 0 for `constant`. Declines other elements than one number, and rank 0."""
    value = as_value(constant)
    if not isinstance(value.type, TensorType) or not value.type.get_num_dims():
        return None
    number = splat_number(value)
    if number is None or number != number:
        return None
    (scalar_,) = _full(match, number, scalar_type(value.type))
    return with_operands(match, op, *(scalar_ if operand is value else operand for operand in op.operands))


@builder("times-reciprocal")
def times_reciprocal(match: Match, value: Thing, constant: Thing) -> Sequence[SSAValue] | None:
    """`value` times one over the one number that `constant` holds. Declines another constant, and integers."""
    divisor = as_value(constant)
    number = splat_number(divisor)
    if not number or not isinstance(number, float) or not isinstance(divisor.type, TensorType):
        return None
    (factor,) = _full(match, 1 / number, divisor.type)
    types = [match.root.results[0].type]
    return match.create("graph.multiply", [as_value(value), factor], types).results


@builder("merged-clip")
def merged_clip(match: Match, outer: ClipOp, inner: ClipOp) -> Sequence[SSAValue] | None:
    """
    One `graph.clip` of the operand of `inner` with the bounds of both. Declines a NaN, and bounds of one op that cross.
    """
    bounds = [_bounds(op) for op in (inner, outer)]
    if any(low > high or low[0] != low[0] or high[0] != high[0] for low, high in bounds):
        return None
    (low, high), within = bounds
    merged = [min(max(bound, within[0]), within[1]) for bound in (low, high)]
    values = {name: bound[2] for name, bound in zip(("min", "max"), merged, strict=True) if bound[2] is not None}
    properties = python_properties(type(outer), values)  # pyright: ignore[reportArgumentType]
    types = [match.root.results[0].type]
    return match.create(outer.name, [inner.operands[0]], types, properties).results


def _bounds(op: Operation) -> list[tuple[float, float, Any]]:
    """Returns the bounds of a `graph.clip` as things that compare, -0.0 before 0.0, with their numbers."""
    found = plain_properties(op)
    absent = {"min": -inf, "max": inf}
    return [
        (absent[name], 0.0, None) if found[name] is None else (found[name], copysign(1.0, found[name]), found[name])
        for name in ("min", "max")
    ]


@builder("with-operands")
def with_operands(match: Match, op: Operation, *operands: Thing) -> Sequence[SSAValue]:
    """The same op as `op`, of the type of the root, on other operands."""
    types = [result.type for result in match.root.results]
    return match.create(op.name, [as_value(operand) for operand in operands], types, op.properties).results


@builder("with-other-operands")
def with_other_operands(match: Match, op: Operation, *operands: Thing) -> Sequence[SSAValue]:
    """The same op as `op` on other operands, of the type that follows from them."""
    return match.create(op.name, [as_value(operand) for operand in operands], None, op.properties).results


@builder("compose-permutations")
def compose_permutations(match: Match, outer: PermuteDimsOp, inner: PermuteDimsOp) -> Sequence[SSAValue]:
    """One `graph.permute_dims` of the operand of `inner`: axes `[inner[k] for k in outer]`."""
    first = permutation(inner)
    axes = [first[axis] for axis in permutation(outer)]
    properties = python_properties(type(outer), {"axes": axes})  # pyright: ignore[reportArgumentType]
    return match.create(outer.name, [inner.operands[0]], [match.root.results[0].type], properties).results


@builder("reshape-to-result")
def reshape_to_result(match: Match, value: Thing) -> Sequence[SSAValue] | None:
    """A `graph.reshape` of `value` to the shape of the root. Declines more than one `?`, and what is no tensor."""
    type_ = match.root.results[0].type
    if not isinstance(type_, TensorType):
        return None
    shape = list(type_.get_shape())
    if shape.count(DYNAMIC_INDEX) > 1 or (DYNAMIC_INDEX in shape and 0 in shape):
        return None
    properties: dict[str, Attribute] = _reshape_properties(match, shape)
    return match.create("graph.reshape", [as_value(value)], [type_], properties).results


def _reshape_properties(match: Match, shape: list[int]) -> dict[str, Attribute]:
    op_type: Any = match.session.op_type("graph.reshape")
    return python_properties(op_type, {"shape": [-1 if size == DYNAMIC_INDEX else size for size in shape]})


@builder("batch-norm-of-arithmetic")
def batch_norm_of_arithmetic(
    match: Match, x: Thing, gamma: Thing, beta: Thing, mean: Thing, var: Thing, epsilon: Thing
) -> Sequence[SSAValue] | None:
    """
    The first result of a `graph.batch_norm` along the last axis. Declines vectors of another length and an unknown
    `epsilon`.

    Declines a tensor that the arithmetic stretches too, and an `epsilon` that is no number at least 0.
    """
    data, vectors = as_value(x), [as_value(each) for each in (gamma, beta, mean, var)]
    number, type_ = splat_number(as_value(epsilon)), data.type
    if not isinstance(type_, TensorType) or type_ != match.root.results[0].type or not type_.get_num_dims():
        return None
    channels = TensorType(type_.element_type, [type_.get_shape()[-1]])
    if number is None or not number >= 0 or any(vector.type != channels for vector in vectors):
        return None
    op_type: Any = match.session.op_type("graph.batch_norm")
    found = {"axis": type_.get_num_dims() - 1, "epsilon": number}
    types = [type_, channels, channels]
    properties = python_properties(op_type, found)
    return match.create("graph.batch_norm", [data, *vectors], types, properties).results[:1]


@builder("outline-primitive")
def outline_primitive(match: Match, first: Operation, *others: Operation, name: StringAttr) -> Sequence[SSAValue]:
    """
    A call of a new private function with the attribute `graph.primitive` that holds `ops`, the root last.

    Each captured value is one parameter, in order of use. The parameter `name` is the stem of the function's name.
    """
    ops = list(dict.fromkeys((first, *others)))
    if ops[-1] is not match.root:
        fail(match.root, f"rule '{match.rule.name}': the last op of 'outline-primitive' is not the root")
    inputs = captured_values(ops)
    function = match.session.index(Names).supply.fresh(name.data)
    match.new_functions.append(outlined(function, ops, match.root.results, inputs, PRIMITIVE))
    call = func.CallOp(function, inputs, [result.type for result in match.root.results])
    return match.add(call).results
