"""Named builders: replacements of graph ops that a template cannot say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, IntegerAttr, StringAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects.graph.base import python_properties
from ..dialects.graph.constants import FullOp
from . import inference_builders as inference_builders  # registers its builders
from . import legalization as legalization  # likewise
from . import scale_axis as scale_axis  # likewise, and conditions
from .engine.functions import PRIMITIVE, Names, captured_values, outlined
from .engine.match import Match, as_value, builder
from .graph_conditions import permutation


@builder("full")
def full(match: Match, **parameters: Any) -> Sequence[SSAValue] | None:
    """A `graph.full` of the number `value` with the type of the root; declines a type with a `?`."""
    type_ = match.root.results[0].type
    if not isinstance(type_, TensorType) or DYNAMIC_INDEX in type_.get_shape():
        return None
    value = parameters["value"]
    assert isinstance(value, FloatAttr | IntegerAttr)
    number = value.value.data
    return match.add(FullOp(bool(number) if str(type_.element_type) == "i1" else number, type_)).results


@builder("with-operands")
def with_operands(match: Match, op: Operation, *operands: Any) -> Sequence[SSAValue]:
    """The same op as `op`, of the type of the root, on other operands."""
    types = [result.type for result in match.root.results]
    return match.create(op.name, [as_value(operand) for operand in operands], types, op.properties).results


@builder("compose-permutations")
def compose_permutations(match: Match, outer: Operation, inner: Operation) -> Sequence[SSAValue]:
    """One `graph.permute_dims` of the operand of `inner`: axes `[inner[k] for k in outer]`."""
    first = permutation(inner)
    axes = [first[axis] for axis in permutation(outer)]
    properties = python_properties(type(outer), {"axes": axes})  # pyright: ignore[reportArgumentType]
    return match.create(outer.name, [inner.operands[0]], [match.root.results[0].type], properties).results


@builder("reshape-to-result")
def reshape_to_result(match: Match, value: Any) -> Sequence[SSAValue] | None:
    """A `graph.reshape` of `value` to the shape of the root; declines more than one `?`."""
    type_ = match.root.results[0].type
    assert isinstance(type_, TensorType)
    shape = list(type_.get_shape())
    if shape.count(DYNAMIC_INDEX) > 1 or (DYNAMIC_INDEX in shape and 0 in shape):
        return None
    properties: dict[str, Attribute] = _reshape_properties(match, shape)
    return match.create("graph.reshape", [as_value(value)], [type_], properties).results


def _reshape_properties(match: Match, shape: list[int]) -> dict[str, Attribute]:
    op_type: Any = match.session.op_type("graph.reshape")
    return python_properties(op_type, {"shape": [-1 if size == DYNAMIC_INDEX else size for size in shape]})


@builder("outline-primitive")
def outline_primitive(match: Match, *ops: Operation, **parameters: Any) -> Sequence[SSAValue]:
    """
    A call of a new private function with the attribute `graph.primitive` that holds `ops`, the root last.

    Each captured value is one parameter, in order of use. The parameter `name` is the stem of the function's name.
    """
    stem = parameters["name"]
    assert isinstance(stem, StringAttr)
    inputs = captured_values(ops)
    name = match.session.index(Names).supply.fresh(stem.data)
    match.new_functions.append(outlined(name, ops, match.root.results, inputs, PRIMITIVE))
    call = func.CallOp(name, inputs, [result.type for result in match.root.results])
    return match.add(call).results
