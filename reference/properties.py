"""Properties of an IR op as plain Python values. This is the one place where the reference meets attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation

from ..core.ir.element_types import dtype_name
from ..te import dtypes
from .element_types import DTYPES


def element_type_name(element_type: Attribute) -> str:
    """
    Returns `f32`, `ui8`, `i1` …, where `si8` counts as `i8` and `index` as `i64`.

    Raises `TypeError` for a type that tensors cannot hold.
    """
    name = dtype_name(element_type)
    if name is None:
        raise TypeError(f"element type is {element_type}, expected a float, an integer or i1")
    return "i64" if name == "index" else name.removeprefix("s")


def plain_value(attribute: Attribute) -> Any:
    """Returns the Python value of a property. An attribute without one stays as it is."""
    match attribute:
        case IntegerAttr():
            is_boolean = isinstance(attribute.type, IntegerType) and attribute.type.width.data == 1
            return bool(attribute.value.data) if is_boolean else int(attribute.value.data)
        case IntAttr():
            return attribute.data
        case FloatAttr():
            return float(attribute.value.data)
        case StringAttr():
            return attribute.data
        case DenseArrayBase():
            return list(attribute.get_values())  # pyright: ignore[reportAttributeAccessIssue]
        case ArrayAttr():
            return [plain_value(element) for element in attribute.data]
        case SymbolRefAttr():
            return attribute.string_value()
        case Attribute() if dtype_name(attribute) in dtypes.ALL:
            return element_type_name(attribute)
        case TensorType():
            return element_type_name(attribute.element_type)
        case _:
            return attribute


def properties_of(op: Operation) -> dict[str, Any]:
    """Returns the properties of `op` by name. Those at their default value may be absent."""
    return {name: plain_value(attribute) for name, attribute in op.properties.items()}


def literal_array(attribute: Attribute) -> Any:
    """Returns the NumPy array of a `dense<…> : tensor<…>` attribute, whose data is little-endian bytes."""
    if not isinstance(attribute, DenseIntOrFPElementsAttr):
        raise TypeError(f"literal is {attribute}, expected dense<…>")
    name = element_type_name(attribute.type.element_type)
    shape = tuple(attribute.type.get_shape())
    # xDSL holds true as a byte with any bit set.
    stored = np.dtype(np.uint8) if name == "i1" else DTYPES[name]
    flat = np.frombuffer(attribute.data.data, stored)
    flat = flat != 0 if name == "i1" else flat
    return np.full(shape, flat[0]) if flat.size == 1 else flat.reshape(shape).copy()
