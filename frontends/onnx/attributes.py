"""Attributes of nodes as Python values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...te.dtypes import is_small_integer
from .errors import ConversionError
from .types import DTYPES, small_integers, type_text

if TYPE_CHECKING:
    from onnx import AttributeProto, NodeProto


def attributes_of(node: NodeProto) -> dict[str, Any]:
    """
    Returns the attributes of a node: numbers, strings, tuples or lists of them, NumPy arrays, and graphs as they are.

    Raises `ConversionError` for one that is there twice, has no value, or has a tensor of a type without a counterpart.
    """
    found: dict[str, Any] = {}
    for attribute in node.attribute:
        if attribute.name in found:
            raise ConversionError(f"attribute '{attribute.name}' is there twice")
        found[attribute.name] = _value(attribute)
    return found


def _value(attribute: AttributeProto) -> Any:
    from onnx import AttributeProto, helper, numpy_helper

    name = attribute.name
    if attribute.ref_attr_name:
        raise ConversionError(
            f"attribute '{name}' is that of a function, '{attribute.ref_attr_name}', but the node is in none"
        )
    if attribute.type == AttributeProto.UNDEFINED:
        raise ConversionError(f"attribute '{name}' has no type")
    value: Any = helper.get_attribute_value(attribute)
    match attribute.type:
        case AttributeProto.STRING:
            return value.decode("utf-8", "replace")
        case AttributeProto.STRINGS:
            return [each.decode("utf-8", "replace") for each in value]
        case AttributeProto.TENSOR:
            if value.data_type not in DTYPES:
                raise ConversionError(f"attribute '{name}' has element type {type_text(value.data_type)}")
            if is_small_integer(DTYPES[value.data_type]):
                return small_integers(value)
            return numpy_helper.to_array(value)
        case AttributeProto.INTS | AttributeProto.FLOATS:
            return tuple(value)
    return value
