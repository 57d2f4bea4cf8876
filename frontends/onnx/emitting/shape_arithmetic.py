"""
Nodes that compute shapes from shapes that are not all known at import: what is known stays known, element by element,
and sizes are followed as expressions (`sizes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..value import Value
from .sizes import (
    DEEPEST,
    MOST_ELEMENTS,
    Size,
    SizesValue,
    chosen,
    combined,
    elements_of,
    extents_of,
    objects,
    product,
    sizes_value,
)

if TYPE_CHECKING:
    from onnx import NodeProto

    Array = np.ndarray[Any, Any]

BINARY: Final = {
    "Add": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "Div": "divide",
    "Max": "maximum",
    "Min": "minimum",
    "Equal": "equal",
    "Less": "less",
    "LessOrEqual": "less_equal",
    "Greater": "greater",
    "GreaterOrEqual": "greater_equal",
    "And": "logical_and",
    "Or": "logical_or",
}
"""Operators of two operands, and their graph ops."""

BOOLEAN: Final = frozenset({"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or"})

INTEGER_TYPES: Final = {6: "i32", 7: "i64"}
"""Element types of ONNX to which sizes are converted without a change."""


def fold_sizes(node: NodeProto, inputs: Sequence[Value | None]) -> list[Value] | None:
    """The outputs of a node on shapes, `None` when they are not followed."""
    if node.domain not in ("", "ai.onnx") or not inputs or inputs[0] is None:
        return None
    if node.op_type in ("Shape", "Size"):
        return [_shape(node, inputs[0])]
    rule = RULES.get(node.op_type) or (_binary if node.op_type in BINARY else None)
    if rule is None or not any(isinstance(value, SizesValue) for value in inputs):
        return None
    arrays = [None if value is None else elements_of(value) for value in inputs]
    if any(array is None and value is not None for array, value in zip(arrays, inputs, strict=True)):
        return None
    try:
        found = rule(node, arrays)
    except (IndexError, ValueError, TypeError, ZeroDivisionError):
        return None  # the converter says what is wrong
    if found is None or sum(array.size for array in found) > MOST_ELEMENTS:
        return None
    deepest = max((each.depth for array in found for each in array.reshape(-1) if isinstance(each, Size)), default=0)
    if deepest > DEEPEST:
        return None
    dtype = _dtype(node, inputs)
    return None if dtype is None else [sizes_value(array, dtype) for array in found]


def _shape(node: NodeProto, value: Value) -> Value:
    extents = extents_of(value)
    if node.op_type == "Size":
        return sizes_value(objects([product(extents)]).reshape(()), "i64")
    bounds = {attribute.name: attribute.i for attribute in node.attribute}
    return sizes_value(objects(extents[slice(bounds.get("start", 0), bounds.get("end", len(extents)))]), "i64")


def _dtype(node: NodeProto, inputs: Sequence[Value | None]) -> str | None:
    if node.op_type == "Cast":
        return INTEGER_TYPES.get(_attribute(node, "to", 0))
    if node.op_type in BOOLEAN or node.op_type == "Not":
        return "i1"
    value = inputs[1] if node.op_type == "Where" else inputs[0]
    return None if value is None else value.dtype


def _attribute(node: NodeProto, name: str, default: Any) -> Any:
    from onnx import helper

    for attribute in node.attribute:
        if attribute.name == name:
            return helper.get_attribute_value(attribute)
    return default


def _known(array: Array | None) -> list[int]:
    """Returns the numbers of an operand. Raises `TypeError` when they are not all known."""
    if array is None or any(isinstance(each, Size) for each in array.reshape(-1)):
        raise TypeError("not known")
    return [int(each) for each in array.reshape(-1)]


def _axes(node: NodeProto, arrays: list[Array | None]) -> tuple[int, ...] | None:
    """The axes of a node: an attribute, or an operand in later versions."""
    if len(arrays) > 1:
        return tuple(_known(arrays[1]))
    given = _attribute(node, "axes", None)
    return None if given is None else tuple(given)


# Rules: from the operands, arrays of objects, to the results


def _binary(node: NodeProto, arrays: list[Any]) -> list[Array]:
    op = BINARY[node.op_type]
    result = arrays[0]
    for other in arrays[1:]:
        result = np.frompyfunc(lambda a, b: combined(op, a, b), 2, 1)(result, other)
    return [_array(result)]


def _array(found: Any) -> Array:
    """Returns an array for what NumPy gives for objects, which is no array at rank 0."""
    if isinstance(found, np.ndarray):
        return found
    result = np.empty((), object)
    result[()] = found
    return result


def _where(node: NodeProto, arrays: list[Any]) -> list[Array]:
    return [_array(np.frompyfunc(chosen, 3, 1)(*arrays))]


def _not(node: NodeProto, arrays: list[Any]) -> list[Array]:
    return [_array(np.frompyfunc(lambda a: Size("logical_not", a) if isinstance(a, Size) else not a, 1, 1)(arrays[0]))]


def _same(node: NodeProto, arrays: list[Any]) -> list[Array]:
    return [arrays[0]]


def _gather(node: NodeProto, arrays: list[Any]) -> list[Array]:
    data, places = arrays
    where = np.array(_known(places), np.int64).reshape(places.shape)
    return [_array(np.take(data, where, axis=_attribute(node, "axis", 0)))]


def _slice(node: NodeProto, arrays: list[Any]) -> list[Array]:
    data = arrays[0]
    given = [None if array is None else _known(array) for array in arrays[1:]]
    if not given:
        given = [_attribute(node, name, None) for name in ("starts", "ends", "axes")]
    begin, end, axes, steps, *_ = [*given, None, None]
    chosen_parts = [slice(None)] * data.ndim
    for number, (first, last) in enumerate(zip(begin, end, strict=True)):
        axis = number if axes is None else axes[number]
        chosen_parts[axis] = slice(first, last, None if steps is None else steps[number])
    return [data[tuple(chosen_parts)]]


def _concat(node: NodeProto, arrays: list[Any]) -> list[Array]:
    return [np.concatenate(arrays, axis=_attribute(node, "axis", 0))]


def _unsqueeze(node: NodeProto, arrays: list[Any]) -> list[Array]:
    axes = _axes(node, arrays)
    return [np.expand_dims(arrays[0], axes)] if axes is not None else [arrays[0]]


def _squeeze(node: NodeProto, arrays: list[Any]) -> list[Array]:
    return [_array(np.squeeze(arrays[0], _axes(node, arrays)))]


def _reshape(node: NodeProto, arrays: list[Any]) -> list[Array] | None:
    wanted = _known(arrays[1])
    return None if 0 in wanted else [arrays[0].reshape(wanted)]


def _expand(node: NodeProto, arrays: list[Any]) -> list[Array]:
    return [np.broadcast_to(arrays[0], np.broadcast_shapes(arrays[0].shape, tuple(_known(arrays[1]))))]


def _split(node: NodeProto, arrays: list[Any]) -> list[Array]:
    axis, data = _attribute(node, "axis", 0), arrays[0]
    sizes = _known(arrays[1]) if len(arrays) > 1 else _attribute(node, "split", None)
    if sizes is None:
        size = -(-data.shape[axis] // len(node.output))
        sizes = [size] * (len(node.output) - 1)
    places = np.cumsum(sizes)[: len(node.output) - 1]
    return np.split(data, places, axis=axis)


def _product(node: NodeProto, arrays: list[Any]) -> list[Array] | None:
    if arrays[0].ndim != 1:
        return None
    kept = _attribute(node, "keepdims", 1)
    return [objects([product(arrays[0].tolist())]).reshape((1,) if kept else ())]


def _scatter(node: NodeProto, arrays: list[Any]) -> list[Array] | None:
    """Elements of a vector put in the place of others."""
    data, places, updates = arrays
    if data.ndim != 1 or places.shape[-1] != 1 or _attribute(node, "reduction", b"none") != b"none":
        return None
    result = data.copy()
    for place, update in zip(_known(places), updates.reshape(-1), strict=True):
        result[place] = update
    return [result]


RULES: Final[dict[str, Callable[[Any, list[Any]], list[Any] | None]]] = {
    "Identity": _same,
    "Cast": _same,
    "Gather": _gather,
    "Slice": _slice,
    "Concat": _concat,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Reshape": _reshape,
    "Expand": _expand,
    "Split": _split,
    "ReduceProd": _product,
    "ScatterND": _scatter,
    "Where": _where,
    "Not": _not,
}
"""Operators that are followed, besides those of `BINARY`."""
