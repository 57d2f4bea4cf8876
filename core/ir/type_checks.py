"""
Types and positions of `arith` and `vector` ops: xDSL compares neither shapes nor widths of floats.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, ShapedType, VectorType
from xdsl.ir import Attribute
from xdsl.utils.type import get_element_type_or_self


def _shape(type_: Attribute) -> object:
    """Returns what must be equal on both sides of a cast. It is `None` for a scalar."""
    if not isinstance(type_, ShapedType):
        return None
    return type(type_), type_.get_shape(), type_.scalable_dims if isinstance(type_, VectorType) else None


def _shapes_differ(op: Any) -> str | None:
    found, result = op.operands[0].type, op.results[0].type
    if _shape(found) == _shape(result):
        return None
    return f"the result has type {result}, expected one of the shape of {found}"


def _width(type_: Attribute) -> int:
    return getattr(get_element_type_or_self(type_), "bitwidth", 0)


def _extension_narrows(op: Any) -> str | None:
    found, result = op.operands[0].type, op.results[0].type
    if _width(result) < _width(found):
        return f"the result {result} is narrower than {found}: 'arith.truncf' narrows"
    return _shapes_differ(op)


def _truncation_widens(op: Any) -> str | None:
    found, result = op.operands[0].type, op.results[0].type
    if _width(result) > _width(found):
        return f"the result {result} is wider than {found}: 'arith.extf' widens"
    return _shapes_differ(op)


def _bitcast_of_index(op: Any) -> str | None:
    types = [get_element_type_or_self(each.type) for each in (op.operands[0], op.results[0])]
    if IndexType() in types and types[0] != types[1]:
        return "the width of index is not known here: 'arith.index_cast' converts it"
    return None


def wrong_comparison(op: Any) -> str | None:
    """Returns what is wrong with the types of a comparison, `None` when nothing is."""
    found, other, result = op.operands[0].type, op.operands[1].type, op.results[0].type
    if found != other:
        return f"operand types differ: {found} and {other}"
    return None if _shape(found) == _shape(result) else f"the result has type {result}, but the operands are {found}"


def _position_outside(op: Any) -> str | None:
    type_ = op.vector.type if op.name == "vector.extract" else op.dest.type
    for number, (place, size) in enumerate(zip(op.static_position.get_values(), type_.get_shape(), strict=False)):
        if place != DYNAMIC_INDEX and not 0 <= place < size:
            return f"position {place} is outside of dimension {number} of {type_}, expected 0 to {size - 1}"
    return None


TYPE_CHECKS: Final[dict[str, Callable[[Any], str | None]]] = {
    "arith.extf": _extension_narrows,
    "arith.truncf": _truncation_widens,
    "arith.bitcast": _bitcast_of_index,
    "vector.extract": _position_outside,
    "vector.insert": _position_outside,
}
"""The checks by name of the op. Each returns what is wrong with its types or positions, or `None`."""
