"""
Nodes whose inputs are all known: shape arithmetic, small tables. They are computed at import by the evaluator of the
onnx package, and leave no ops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from ..errors import ConversionError
from ..value import Value
from .values import KnownValue

if TYPE_CHECKING:
    from onnx import NodeProto

LARGEST: Final = 4096
"""Most elements of all inputs together, and of the result, of what is folded."""


def _named(*lines: str) -> frozenset[str]:
    return frozenset(name for line in lines for name in line.split())


FOLDED: Final = _named(
    "Abs Add And BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Clip Div Equal Exp Floor",
    "Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Log Max Min Mod Mul Neg Not Or Pow Reciprocal Round Sign Sqrt",
    "Sub Sum Where Xor",
    "Compress Concat Constant ConstantOfShape Expand Flatten Gather GatherElements GatherND Identity Range Reshape",
    "ScatterElements ScatterND Slice Split Squeeze Tile Transpose Trilu Unsqueeze",
    "ArgMax ArgMin CumSum NonZero ReduceMax ReduceMin ReduceProd ReduceSum TopK Unique",
    "BlackmanWindow HammingWindow HannWindow MelWeightMatrix",
)
"""
The operators that sizes, indices and conditions are computed with, and tables that depend on numbers only. Of others
the evaluator is not asked, as it has faults of its own: pools, norms and losses of it gave other values than the
specification.
"""

GROWING: Final = _named("ConstantOfShape Expand Tile Range")
"""Operators whose result can be much larger than their inputs."""


def fold(node: NodeProto, inputs: Sequence[Value | None], versions: Mapping[str, int]) -> list[Value] | None:
    """The outputs of a node when they can be known, else `None`."""
    if node.op_type in ("Shape", "Size") and not node.domain and (not inputs or inputs[0] is None):
        raise ConversionError("input 0 is missing")
    if node.op_type == "Shape" and not node.domain:
        return _shape(node, inputs[0])
    if node.op_type == "Size" and not node.domain and inputs[0] is not None and None not in inputs[0].shape:
        return [KnownValue(np.array(prod(dim or 0 for dim in inputs[0].shape), np.int64))]
    if node.domain not in ("", "ai.onnx") or node.op_type not in FOLDED:
        return None
    if any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute):
        return None
    if any(value is not None and value.known is None for value in inputs):
        return None
    if node.op_type == "Identity":
        assert inputs[0] is not None
        return [inputs[0]]
    if not inputs and node.op_type != "Constant":
        return None
    if sum(prod(dim or 0 for dim in value.shape) for value in inputs if value is not None) > LARGEST:
        return None
    if node.op_type in GROWING and not _stays_small(node, inputs):
        return None
    return _evaluated(node, inputs, versions)


def _shape(node: NodeProto, value: Value | None) -> list[Value] | None:
    """The part of a shape that `Shape` asks for, when all of it is known."""
    assert value is not None
    bounds = {attribute.name: attribute.i for attribute in node.attribute}
    part = value.shape[slice(bounds.get("start", 0), bounds.get("end", value.rank))]
    return None if None in part else [KnownValue(np.array(part, np.int64))]


def _stays_small(node: NodeProto, inputs: Sequence[Value | None]) -> bool:
    arrays = [None if value is None else value.known for value in inputs]
    match node.op_type, arrays:
        case "ConstantOfShape", [shape] if shape is not None:
            return prod(int(dim) for dim in shape) <= LARGEST
        case "Expand", [_, shape] if shape is not None:
            return prod(max(int(dim), 1) for dim in shape) <= LARGEST
        case "Tile", [data, repeats] if data is not None and repeats is not None:
            return data.size * prod(int(count) for count in repeats) <= LARGEST
        case "Range", [start, limit, delta] if start is not None and limit is not None and delta is not None:
            first, last, step = (float(each.reshape(-1)[0]) for each in (start, limit, delta))
            return step != 0 and (last - first) / step <= LARGEST
    return False


def _evaluated(node: NodeProto, inputs: Sequence[Value | None], versions: Mapping[str, int]) -> list[Value] | None:
    from onnx import TypeProto, helper
    from onnx.reference import ReferenceEvaluator

    names = [name for name in node.input if name]
    arrays = {name: value.known for name, value in zip(node.input, inputs, strict=True) if value is not None}
    outputs = [name for name in node.output if name]
    graph = helper.make_graph(
        [node],
        "fold",
        [helper.make_value_info(name, TypeProto()) for name in dict.fromkeys(names)],
        [helper.make_value_info(name, TypeProto()) for name in outputs],
    )
    opsets = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
    try:
        with np.errstate(all="ignore"):
            found = ReferenceEvaluator(helper.make_model(graph, opset_imports=opsets)).run(None, arrays)
    except Exception:  # whatever the evaluator cannot do, the converter may still be able to
        return None
    known = dict(zip(outputs, found, strict=True))
    if not all(isinstance(array, np.ndarray | np.generic) for array in known.values()):
        return None
    return [
        KnownValue(np.asarray(known[name]), name or "constant") if name else KnownValue(np.zeros(0))
        for name in node.output
    ]
