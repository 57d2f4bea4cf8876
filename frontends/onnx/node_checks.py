"""
Checks that a node follows the specification where its meaning would not stop at what is wrong: NumPy takes more than
ONNX does. They come before a node is folded, followed as a size or converted, so they hold for all of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .attributes import attributes_of
from .emitting.values import SequenceValue
from .errors import ConversionError
from .value import Value

if TYPE_CHECKING:
    from onnx import NodeProto

Inputs = Sequence[Value | None]
Given = Mapping[str, Any]


def check_node(node: NodeProto, inputs: Inputs, version: int) -> None:
    """
    Raises `ConversionError` for a node whose attributes and shapes the specification excludes.

    Source: the operator specifications of ONNX, and its shape inference.
    """
    check = CHECKS.get(node.op_type) if node.domain in ("", "ai.onnx") else None
    if check is None or not inputs or any(isinstance(value, SequenceValue) for value in inputs):
        return
    check(inputs, attributes_of(node), len(node.output), version)


def _integer(given: Given, name: str, default: int) -> int:
    """Returns an attribute. The converter says what is wrong with one that is no integer."""
    found = given.get(name, default)
    return found if isinstance(found, int) else default


def _input(inputs: Inputs, number: int) -> Value | None:
    return inputs[number] if number < len(inputs) else None


def _flatten(inputs: Inputs, given: Given, outputs: int, version: int) -> None:
    axis, x = _integer(given, "axis", 1), inputs[0]
    if x is not None and not -x.rank <= axis <= x.rank:
        raise ConversionError(f"axis is {axis}, expected {-x.rank} to {x.rank} for {x.shaped}")


def _reshape(inputs: Inputs, given: Given, outputs: int, version: int) -> None:
    shape = _input(inputs, 1)
    if shape is not None and (shape.rank != 1 or shape.dtype != "i64"):
        raise ConversionError(f"the shape is {shape.shaped}, expected a vector of i64")


def _clip(inputs: Inputs, given: Given, outputs: int, version: int) -> None:
    """Refuses bounds that are no numbers. One of shape `[1]` is one, as in onnxruntime, since exporters write it."""
    for number, what in ((1, "min"), (2, "max")):
        bound = _input(inputs, number)
        if bound is not None and bound.shape not in ((), (1,)):
            raise ConversionError(f"{what} is {bound.shaped}, expected a tensor of rank 0")


def _split(inputs: Inputs, given: Given, outputs: int, version: int) -> None:
    x, sizes, axis = inputs[0], _input(inputs, 1), _integer(given, "axis", 0)
    if x is None:
        return
    if not -x.rank <= axis < x.rank:
        raise ConversionError(f"axis is {axis}, expected {-x.rank} to {x.rank - 1} for {x.shaped}")
    parts = _integer(given, "num_outputs", outputs)
    if parts != outputs:
        raise ConversionError(f"num_outputs is {parts}, expected the number of outputs, which is {outputs}")
    if sizes is not None and (sizes.rank != 1 or sizes.shape[0] not in (None, outputs)):
        raise ConversionError(
            f"the sizes are {sizes.shaped}, expected a vector of {outputs}, one number for each output"
        )
    known = given.get("split") if sizes is None else sizes.known
    if isinstance(known, tuple | np.ndarray):
        _check_sizes([int(size) for size in known], outputs)
    elif sizes is None and (extent := x.shape[axis]) is not None:
        _check_equal_parts(extent, outputs, version)


def _check_sizes(sizes: list[int], outputs: int) -> None:
    if len(sizes) != outputs or min(sizes, default=0) < 0:
        raise ConversionError(f"the sizes are {sizes}, expected {outputs} numbers from 0, one for each output")


def _check_equal_parts(extent: int, parts: int, version: int) -> None:
    """From version 18 on the last of the parts may be smaller."""
    if version < 18 and extent % parts:
        raise ConversionError(f"the axis has {extent} elements, expected a multiple of {parts}, the number of outputs")
    if (parts - 1) * -(-extent // parts) > extent:
        raise ConversionError(f"{extent} elements are too few for {parts} parts, of which only the last may be smaller")


CHECKS: Final[dict[str, Callable[[Inputs, Given, int, int], None]]] = {
    "Clip": _clip,
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Split": _split,
}
