"""What the builders of reductions, movement and products share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Operation, SSAValue

from ...dialects.graph.base import plain_properties, python_properties
from ...patterns.language.match import Match


def known_shape(value: SSAValue) -> tuple[int, ...] | None:
    """Returns the shape of a tensor all of whose sizes are known, and else `None`."""
    type_ = value.type
    if not isinstance(type_, TensorType) or DYNAMIC_INDEX in type_.get_shape():
        return None
    return type_.get_shape()


def made(match: Match, name: str, operands: Sequence[SSAValue], properties: Mapping[str, Any]) -> Sequence[SSAValue]:
    """Returns the results of a new op with the types of the root."""
    op_type: Any = match.session.op_type(name)
    types = [result.type for result in match.root.results]
    return match.create(name, operands, types, python_properties(op_type, properties)).results


def changed(op: Operation, **values: Any) -> dict[str, Any]:
    """Returns the properties of an op as Python values, some of them changed."""
    return {**plain_properties(op), **values}
