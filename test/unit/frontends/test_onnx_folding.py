"""What is known at import leaves no ops: shape arithmetic, small tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import stepwell
from onnx import TensorProto as T
from onnx import helper as h
from onnx_broken_models import info, model, node, tensor
from stepwell.frontends import from_onnx
from stepwell.frontends.onnx.emitting.folding import LARGEST

from .test_onnx_importer import X, error, ops, run


def of(*nodes: onnx.NodeProto, shape: tuple[Any, ...] = (None,), **rest: Any) -> Any:
    return from_onnx(model(nodes, outputs=[info("y", shape, rest.pop("dtype", T.FLOAT))], **rest))


def test_flattening_by_its_shape() -> None:
    """What exporters write for `x.reshape(x.shape[0], -1)`."""
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s zero", "n", axis=0),
        node("Unsqueeze", "n first", "n1"),
        node("Concat", "n1 free", "t", axis=0),
        node("Reshape", "x t", "y"),
    ]
    numbers = [tensor("zero", 0, int), tensor("first", [0], int), tensor("free", [-1], int)]
    module = of(*nodes, shape=(2, 12), inputs=[info("x", (2, 3, 4))], tensors=numbers)
    assert ops(module) == ["graph.reshape"]


@pytest.mark.parametrize(("bounds", "part"), [({}, [2, 3, 4]), ({"start": 1}, [3, 4]), ({"start": -2, "end": -1}, [3])])
def test_parts_of_a_shape(bounds: dict[str, int], part: list[int]) -> None:
    module = of(node("Shape", "x", "y", **bounds), inputs=[info("x", (2, 3, 4))], dtype=T.INT64)
    assert ops(module) == ["graph.constant"]
    np.testing.assert_array_equal(run(module, np.zeros((2, 3, 4), np.float32))[0], part)


def test_only_the_extents_that_are_asked_for_must_be_known() -> None:
    open_ = info("x", ["n", 3])
    module = of(node("Shape", "x", "y", start=1), inputs=[open_], dtype=T.INT64)
    assert ops(module) == ["graph.constant"]


def test_the_number_of_elements() -> None:
    assert ops(of(node("Size", "x", "y"), shape=(), dtype=T.INT64)) == ["graph.constant"]


def test_a_known_condition_chooses_the_branch() -> None:
    def body(operator: str) -> onnx.GraphProto:
        return h.make_graph([node(operator, "x", "b")], operator, [], [info("b")])

    rank = [node("Shape", "x", "s"), node("Size", "s", "n"), node("Equal", "n two", "c")]
    choice = node("If", "c", "y", then_branch=body("Relu"), else_branch=body("Unknown"))
    with pytest.raises(stepwell.frontends.OnnxError):
        of(*rank, choice, shape=(2, 3), tensors=[tensor("two", 2, int)])
    choice = node("If", "c", "y", then_branch=body("Relu"), else_branch=body("Neg"))
    assert ops(of(*rank, choice, shape=(2, 3), tensors=[tensor("two", 2, int)])) == ["graph.relu"]


def test_large_results_are_computed_at_run_time() -> None:
    for count, folded in ((LARGEST, True), (LARGEST + 1, False)):
        module = of(node("Expand", "one n", "y"), inputs=[], tensors=[tensor("one", [1]), tensor("n", [count], int)])
        assert any(name not in ("graph.constant", "graph.weight") for name in ops(module)) != folded
        np.testing.assert_array_equal(run(module)[0], np.ones(count))


def test_nodes_of_no_inputs_are_constants() -> None:
    module = of(node("Constant", "", "k", value_floats=[1.0, 2.0, 3.0]), node("Add", "x k", "y"), shape=(2, 3))
    assert ops(module) == ["graph.constant", "graph.add"]
    np.testing.assert_array_equal(run(module, X)[0], X + [1, 2, 3])


def test_what_is_random_is_not_folded() -> None:
    made = model([node("Bernoulli", "p", "y", "dice")], outputs=[info("y", (2,))], tensors=[tensor("p", [0.5, 0.5])])
    assert "node 'dice' (Bernoulli, opset 20): the result is random" in error(made)


def test_what_the_evaluator_cannot_do_is_an_error_of_the_node() -> None:
    made = model(
        [node("Reshape", "w s", "y", "r")],
        inputs=[],
        tensors=[tensor("w", [1, 2, 3]), tensor("s", [2, 2], int)],
    )
    assert "node 'r' (Reshape, opset 20): " in error(made)


def test_weights_of_bytes_stay_bytes() -> None:
    """Rules make products of bytes of them, and a file of weights holds a quarter of the bytes."""
    scale, bytes_ = tensor("s", 0.5), tensor("w", [[1, 2], [3, 4], [5, 6]], np.int8)
    module = of(node("DequantizeLinear", "w s", "f"), node("MatMul", "x f", "y"), shape=(2, 2), tensors=[scale, bytes_])
    assert "graph.dequantize" in ops(module)
    assert "tensor<3x2xi8>" in str(module)


R = np.random.default_rng(0)


def floats(*shape: int) -> Any:
    return R.standard_normal(shape).astype(np.float32)


FAULTS_OF_THE_EVALUATOR: dict[str, tuple[str, int, list[Any], dict[str, Any]]] = {
    "pool of rank 3": ("GlobalMaxPool", 17, [floats(1, 2, 7)], {}),
    "norm 1": ("LpNormalization", 17, [floats(2, 3)], {"axis": 1, "p": 1}),
    "flattening softmax": ("Softmax", 11, [floats(2, 3, 2)], {"axis": 1}),
    "flattening hardmax": ("Hardmax", 11, [floats(2, 3, 2)], {"axis": 0}),
    "inference": ("BatchNormalization", 9, [floats(2, 2, 2), *floats(3, 2), np.abs(floats(2))], {}),
    "corners": (
        "RoiAlign",
        10,
        [floats(1, 1, 8, 8), np.array([[0, 0, 3, 5]], np.float32), np.array([0])],
        {"output_height": 2, "output_width": 2, "sampling_ratio": 1},
    ),
    "loss": ("NegativeLogLikelihoodLoss", 13, [floats(3, 2, 3), np.array([[0, 1, -1]] * 3)], {"ignore_index": -1}),
    "large integers": ("ReduceL2", 18, [np.array([2**62, -3]), np.array([0])], {}),
    "NaN": ("AveragePool", 19, [np.array([[[1, np.nan, 3, 4]]], np.float32)], {"kernel_shape": [2]}),
    "type": ("ReduceSumSquare", 13, [np.array([1, 2, 3], np.int32)], {}),
}


@pytest.mark.parametrize("name", FAULTS_OF_THE_EVALUATOR)
def test_a_node_means_the_same_on_constants(name: str) -> None:
    """The evaluator of the onnx package gives another value, shape or type for each of these."""
    operator, opset, arrays, attributes = FAULTS_OF_THE_EVALUATOR[name]
    names = [f"a{number}" for number in range(len(arrays))]
    dtype = h.np_dtype_to_tensor_dtype(arrays[0].dtype)
    nodes = [node(operator, " ".join(names), "y", **attributes)]
    outputs = [h.make_tensor_value_info("y", dtype, None)]
    types = [h.np_dtype_to_tensor_dtype(each.dtype) for each in arrays]
    infos = [info(each, array.shape, type_) for each, array, type_ in zip(names, arrays, types, strict=True)]
    tensors = [tensor(each, array, array.dtype) for each, array in zip(names, arrays, strict=True)]
    given = model(nodes, inputs=infos[:1], outputs=outputs, tensors=tensors[1:], opset=opset)
    constant = model(nodes, inputs=[], outputs=outputs, tensors=tensors, opset=opset)
    (wanted,) = ort.InferenceSession(given.SerializeToString()).run(None, {"a0": arrays[0]})
    for found in (stepwell.compile_onnx(constant)()[0], stepwell.compile_onnx(given)(arrays[0])[0]):
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
