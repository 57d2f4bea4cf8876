"""Assignments by a mask, as exporters of PyTorch write them: against NumPy, for several masks by one program."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
import stepwell
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper
from stepwell.frontends.onnx.errors import OnnxError

RANDOM = np.random.default_rng(1)
X = RANDOM.standard_normal((3, 4)).astype(np.float32)


def node(op: str, inputs: str, output: str, **attributes: Any) -> onnx.NodeProto:
    return h.make_node(op, inputs.split(), [output], f"/{output}", **attributes)


INDICES = [node("NonZero", "full", "nz"), node("Transpose", "nz", "places", perm=[1, 0])]
COUNTED = [
    node("Reshape", "full", "flat"),
    node("Cast", "flat", "ones", to=T.INT64),
    node("ReduceSum", "ones", "count", keepdims=1),
    node("Expand", "c count", "updates"),
]
EXPANDED = [
    node("Not", "mask", "kept"),
    node("Unsqueeze", "kept axes", "column"),
    node("Shape", "x", "size", start=0),
    node("Expand", "column size", "full"),
]
NEGATIVE = [node("Less", "x zero", "full")]
WRITE = [node("ScatterND", "x places updates", "y")]


def model(nodes: list[onnx.NodeProto], mask: Any, sizes: list[Any], **constants: Any) -> onnx.ModelProto:
    known = {"axes": np.array([1]), "c": np.float32(7), "zero": np.float32(0), "minus": np.array([-1]), **constants}
    copies = [onnx.NodeProto.FromString(each.SerializeToString()) for each in nodes]
    for each in copies:
        if each.op_type == "Reshape":
            each.input.append("minus")
    inputs = [h.make_tensor_value_info("x", T.FLOAT, sizes)]
    if mask is not None:
        inputs.append(h.make_tensor_value_info("mask", T.BOOL, mask))
    graph = h.make_graph(
        copies,
        "g",
        inputs,
        [h.make_tensor_value_info("y", T.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in known.items()],
    )
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=9)


@pytest.mark.parametrize("sizes", [[3, 4], ["b", 4]])
def test_rows_that_a_mask_leaves_out(sizes: list[Any]) -> None:
    exe = stepwell.compile_onnx(model(EXPANDED + INDICES + COUNTED + WRITE, sizes[:1], sizes), opt_level=1, cache=False)
    for mask in ([True, False, True], [False] * 3, [True] * 3):
        (found,) = exe(X, np.array(mask))
        np.testing.assert_array_equal(found, np.where(np.array(mask)[:, None], X, np.float32(7)))
    assert len(exe.programs()) == 1


def test_what_a_comparison_finds() -> None:
    exe = stepwell.compile_onnx(model(NEGATIVE + INDICES + COUNTED + WRITE, None, [3, 4]), opt_level=1, cache=False)
    np.testing.assert_array_equal(exe(X)[0], np.where(X < 0, np.float32(7), X))
    assert "graph.where" in exe.ir("graph")


def test_numbers_for_a_mask_and_a_vector_by_reshape() -> None:
    """`NonZero` takes any numbers, and the vector of updates may be a `Reshape` of any `Expand`."""
    nodes = [node("Cast", "negative", "full", to=T.INT64), node("Less", "x zero", "negative")][::-1]
    updates = [*COUNTED[:-1], node("Expand", "c count", "column"), node("Reshape", "column", "updates")]
    exe = stepwell.compile_onnx(model(nodes + INDICES + updates + WRITE, None, [3, 4]), opt_level=1, cache=False)
    np.testing.assert_array_equal(exe(X)[0], np.where(X < 0, np.float32(7), X))


OTHERS = {
    "a mask of a part of the tensor": ([node("Identity", "mask", "full")], [2, 4], {}, {}),
    "a mask expanded to another tensor": (
        [node("Unsqueeze", "mask axes", "column"), node("Expand", "column other", "full")],
        [3],
        {"other": np.array([3, 4])},
        {},
    ),
    "a sum": (EXPANDED, [3], {}, {"reduction": "add"}),
    "a vector of several numbers": (EXPANDED, [3], {"c": np.ones(4, np.float32)}, {}),
}


@pytest.mark.parametrize("what", OTHERS)
def test_other_forms_are_left_alone(what: str) -> None:
    """Their results may differ from those of `Where`: they still need the places to be known."""
    nodes, mask, constants, attributes = OTHERS[what]
    write = [node("ScatterND", "x places updates", "y", **attributes)]
    proto = model(nodes + INDICES + COUNTED + write, mask, [3, 4], **constants)
    with pytest.raises(OnnxError, match="is computed at run time, expected it to be known at import"):
        stepwell.from_onnx(proto)
