"""Sequences whose length is known at import, against the evaluator of onnx."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
import stepwell
from onnx import TensorProto as T
from onnx import helper as h
from onnx.reference import ReferenceEvaluator
from stepwell import reference
from stepwell.frontends import OnnxError

X = np.arange(24, dtype=np.float32).reshape(4, 6)


def model(nodes: list[Any], kind: int = T.FLOAT, sequence: bool = False, **constants: Any) -> onnx.ModelProto:
    output = h.make_tensor_value_info("y", kind, None)
    if sequence:
        output = h.make_tensor_sequence_value_info("y", kind, None)
    tensors = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", T.FLOAT, [4, 6])], [output], tensors)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=9)


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    return h.make_node(op, inputs.split(), outputs.split(), **attributes)


def doubled() -> onnx.GraphProto:
    return h.make_graph(
        [node("Add", "e e", "d")],
        "twice",
        [h.make_tensor_value_info("e", T.FLOAT, None)],
        [h.make_tensor_value_info("d", T.FLOAT, None)],
    )


CASES: dict[str, onnx.ModelProto] = {
    "construct and at": model(
        [node("Neg", "x", "n"), node("SequenceConstruct", "x n", "s"), node("SequenceAt", "s p", "y")],
        p=np.array(-1),
    ),
    "split by size": model(
        [node("SplitToSequence", "x n", "s", axis=1), node("SequenceAt", "s p", "y")],
        n=np.array(4),
        p=np.array(1),
    ),
    "split by sizes": model(
        [node("SplitToSequence", "x n", "s", axis=1), node("SequenceAt", "s p", "y")],
        n=np.array([1, 3, 2]),
        p=np.array(1),
    ),
    "split to rows": model(
        [
            node("SplitToSequence", "x", "s", axis=0, keepdims=0),
            node("ConcatFromSequence", "s", "y", axis=1, new_axis=1),
        ]
    ),
    "insert and erase": model(
        [
            node("SequenceEmpty", "", "s0"),
            node("SequenceInsert", "s0 x", "s1"),
            node("Neg", "x", "n"),
            node("SequenceInsert", "s1 n zero", "s2"),
            node("SequenceInsert", "s2 x", "s3"),
            node("SequenceErase", "s3 one", "s4"),
            node("ConcatFromSequence", "s4", "y", axis=0),
        ],
        zero=np.array(0),
        one=np.array(1),
    ),
    "length": model(
        [node("SplitToSequence", "x", "s", axis=1), node("SequenceLength", "s", "y")],
        T.INT64,
    ),
    "map": model(
        [
            node("SplitToSequence", "x", "s", axis=0),
            h.make_node("SequenceMap", ["s"], ["t"], body=doubled()),
            node("ConcatFromSequence", "t", "y", axis=0),
        ]
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_sequences_leave_nothing_behind(name: str) -> None:
    proto = CASES[name]
    (found,) = reference.run(stepwell.from_onnx(proto), "main", X)
    (wanted,) = ReferenceEvaluator(proto).run(None, {"x": X})  # pyright: ignore[reportAssignmentType]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("proto", "message"),
    [
        (
            model([node("SplitToSequence", "x", "y")], sequence=True),
            "output 'y' is a sequence, expected a tensor",
        ),
        (
            model([node("SplitToSequence", "x", "s"), node("Relu", "s", "y")]),
            "a sequence is given where a tensor is expected",
        ),
        (
            model([node("SequenceConstruct", "x", "s"), node("SequenceAt", "s p", "y")], p=np.array(3)),
            "the position is 3, expected one in a sequence of 1",
        ),
        (
            model([node("SequenceLength", "x", "y")], T.INT64),
            "input 0, 'input_sequence', is tensor<4x6xf32>, expected a sequence",
        ),
        (
            model(
                [node("SplitToSequence", "x n", "s"), node("SequenceLength", "s", "y")],
                T.INT64,
                n=np.array([1, 2]),
            ),
            "the parts have \\[1, 2\\] elements, the axis has 4",
        ),
        (
            model([node("SequenceEmpty", "", "s"), node("ConcatFromSequence", "s", "y", axis=0)]),
            "the sequence is empty",
        ),
    ],
)
def test_what_is_refused(proto: onnx.ModelProto, message: str) -> None:
    with pytest.raises(OnnxError, match=message):
        stepwell.from_onnx(proto)
