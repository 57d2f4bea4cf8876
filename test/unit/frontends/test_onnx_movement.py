"""Operators of ONNX that move elements: empty tensors, pads of all versions, and what the specification excludes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
import stepwell
from onnx_broken_models import info, model, node
from onnx_one_node import by_onnxruntime, model_of, run, text_of
from stepwell.frontends import OnnxError

X = np.arange(6, dtype=np.float32).reshape(2, 3)
SHORT = np.arange(5, dtype=np.float32)


def agreed(operator: str, inputs: dict[str, Any], **options: Any) -> None:
    """The results are those of onnxruntime."""
    found = run(operator, inputs, **options)
    wanted = by_onnxruntime(model_of(operator, inputs, **options), inputs)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-6)


# Flatten


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((0, 3, 2), 1), ((2, 7, 0, 1), -1), ((0, 0), 1), ((3, 0), 0), ((2, 0), 2), ((2, 3, 4), 2), ((2, 3), -2), ((), 0)],
)
@pytest.mark.parametrize("known", [(), ("x",)])
def test_flatten(shape: tuple[int, ...], axis: int, known: tuple[str, ...]) -> None:
    agreed("Flatten", {"x": np.ones(shape, np.float32)}, version=13, known=known, axis=axis)


def test_flatten_of_a_batch_of_nothing() -> None:
    nodes, ends = [node("Flatten", "x", "y")], [info("x", ("n", 3, 2))]
    exe = stepwell.compile(stepwell.from_onnx(model(nodes, inputs=ends, outputs=[info("y", ("n", 6))])))
    for rows in (0, 4):
        x = np.ones((rows, 3, 2), np.float32)
        np.testing.assert_array_equal(exe(x)[0], x.reshape(rows, 6))


# Pad


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
@pytest.mark.parametrize("version", [2, 7, 10])
@pytest.mark.parametrize("pads", [[0, 1, 0, 2], [1, 0, 1, 2], [0, -1, 0, 1], [-1, -1, 0, -1]])
def test_pads_are_attributes_at_first(mode: str, version: int, pads: list[int]) -> None:
    value = {"value": 1.5} if mode == "constant" else {}
    agreed("Pad", {"x": X}, version=version, pads=pads, mode=mode, **value)


@pytest.mark.parametrize("pads", [[0, -5, 0, 4], [0, 3, 0, -5], [0, -3, 0, 1], [0, -5, 0, 2]])
def test_pads_of_one_side_may_cut_more_than_there_is(pads: list[int]) -> None:
    agreed("Pad", {"x": X, "p": np.array(pads), "v": np.array(2, np.float32)}, version=17, known=("p",))
    agreed("Pad", {"x": X}, version=10, pads=pads)


def test_reflections_may_be_wider_than_the_data() -> None:
    """As in NumPy: onnxruntime refuses them."""
    (found,) = run("Pad", {"x": X, "p": np.array([0, 9, 0, 0])}, version=17, known=("p",), mode="reflect")
    np.testing.assert_array_equal(found, np.pad(X, [(0, 0), (9, 0)], mode="reflect"))


def test_clip_by_a_vector_of_one_number() -> None:
    """It is a number in onnxruntime too, also where the data has rank 0."""
    for x in (X, np.array(1, np.float32)):
        for known in ((), ("low",)):
            agreed("Clip", {"x": x, "low": np.array([2], np.float32)}, version=17, known=known)


@pytest.mark.parametrize("parts", [1, 3, 5])
def test_the_last_of_equal_parts_may_be_smaller(parts: int) -> None:
    agreed("Split", {"x": SHORT}, version=18, outputs=parts, num_outputs=parts)


# What the specification excludes


def ints(*values: int, dtype: Any = np.int64) -> Any:
    return np.array(values, dtype)


REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "flatten, axis above": ("Flatten", {"x": X}, {"axis": 3}, "axis is 3, expected -2 to 2 for tensor<2x3xf32>"),
    "flatten, axis below": ("Flatten", {"x": X}, {"axis": -3}, "axis is -3, expected -2 to 2 for tensor<2x3xf32>"),
    "reshape, matrix": (
        "Reshape",
        {"x": X, "s": ints(3, 2).reshape(1, 2)},
        {},
        "the shape is tensor<1x2xi64>, expected a vector of i64",
    ),
    "reshape, number": (
        "Reshape",
        {"x": X, "s": np.array(6)},
        {},
        "the shape is tensor<i64>, expected a vector of i64",
    ),
    "reshape, 32 bits": (
        "Reshape",
        {"x": X, "s": ints(3, 2, dtype=np.int32)},
        {},
        "the shape is tensor<2xi32>, expected a vector of i64",
    ),
    "clip, vector": ("Clip", {"x": X, "s": X[0]}, {}, "min is tensor<3xf32>, expected a tensor of rank 0"),
    "clip, matrix": (
        "Clip",
        {"x": X, "low": None, "s": X[:1, :1]},
        {},
        "max is tensor<1x1xf32>, expected a tensor of rank 0",
    ),
    "split, equal parts": (
        "Split",
        {"x": SHORT},
        {"outputs": 2},
        "the axis has 5 elements, expected a multiple of 2, the number of outputs",
    ),
    "split, equal parts of version 2": (
        "Split",
        {"x": SHORT},
        {"outputs": 2, "version": 11},
        "the axis has 5 elements, expected a multiple of 2, the number of outputs",
    ),
    "split, too many parts": (
        "Split",
        {"x": SHORT},
        {"outputs": 4, "version": 18, "num_outputs": 4},
        "5 elements are too few for 4 parts, of which only the last may be smaller",
    ),
    "split, too few outputs": (
        "Split",
        {"x": SHORT, "s": ints(2, 3)},
        {},
        "the sizes are tensor<2xi64>, expected a vector of 1, one number for each output",
    ),
    "split, too many outputs": (
        "Split",
        {"x": SHORT, "s": ints(2, 3)},
        {"outputs": 3},
        "the sizes are tensor<2xi64>, expected a vector of 3, one number for each output",
    ),
    "split, outputs of version 2": (
        "Split",
        {"x": SHORT},
        {"outputs": 3, "version": 11, "split": [2, 3]},
        "the sizes are [2, 3], expected 3 numbers from 0, one for each output",
    ),
    "split, negative": (
        "Split",
        {"x": SHORT, "s": ints(-1, 6)},
        {"outputs": 2},
        "the sizes are [-1, 6], expected 2 numbers from 0, one for each output",
    ),
    "split, num_outputs": (
        "Split",
        {"x": SHORT},
        {"outputs": 2, "version": 18, "num_outputs": 3},
        "num_outputs is 3, expected the number of outputs, which is 2",
    ),
    "split, axis": ("Split", {"x": SHORT}, {"axis": 1}, "axis is 1, expected -1 to 0 for tensor<5xf32>"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("is_known", [False, True])
def test_what_the_specification_excludes(name: str, is_known: bool) -> None:
    """Constants are folded, and sizes are followed: both see the same errors."""
    operator, inputs, options, message = REFUSED[name]
    known = ("x", "s") if is_known else ("s",)
    known = tuple(each for each in known if each in inputs)
    options = {"version": 17, **options, "known": known}
    with pytest.raises(OnnxError) as caught:
        text_of(operator, inputs, **options)
    assert f"node 'node' ({operator}, opset {options['version']}): {message}" in str(caught.value)
    with pytest.raises(Exception, match=r"\[ONNXRuntimeError\]"):
        by_onnxruntime(model_of(operator, inputs, **options), inputs)


PADS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "negative extent": (
        {"p": ints(0, -2, 0, -2)},
        {},
        "pads leave -1 elements of dimension 1 of tensor<2x3xf32>, expected at least 0",
    ),
    "negative extent at an edge": (
        {"p": ints(-3, 0, 0, 0)},
        {"mode": "edge"},
        "pads leave -1 elements of dimension 0 of tensor<2x3xf32>, expected at least 0",
    ),
    "too few": ({"p": ints(0, 1)}, {}, "there are 2 pads, expected two for each of the axes [0, 1]"),
    "too many": (
        {"p": ints(0, 1, 0, 1, 0, 1)},
        {"mode": "wrap"},
        "there are 6 pads, expected two for each of the axes [0, 1]",
    ),
    "of an axis": (
        {"p": ints(0, 1, 1), "v": None, "a": ints(1)},
        {},
        "there are 3 pads, expected two for each of the axes [1]",
    ),
    "axis": (
        {"p": ints(0, 1), "v": None, "a": ints(2)},
        {},
        "axes are [2], expected -2 to 1 for tensor<2x3xf32>",
    ),
}


@pytest.mark.parametrize("name", PADS)
def test_pads_that_cannot_be(name: str) -> None:
    inputs, options, message = PADS[name]
    known = tuple(each for each, array in inputs.items() if array is not None)
    with pytest.raises(OnnxError) as caught:
        text_of("Pad", {"x": X, **inputs}, version=19, known=known, **options)
    assert f"node 'node' (Pad, opset 19): {message}" in str(caught.value)


def test_pads_of_sizes_have_a_number_too() -> None:
    nodes = [node("Shape", "x", "p"), node("Pad", "x p", "y", "n")]
    made = model(nodes, inputs=[info("x", ("r", "c"))], outputs=[info("y", (None, None))])
    with pytest.raises(
        OnnxError, match=r"node 'n' \(Pad, opset 20\): there are 2 pads, expected two for each of the axes \[0, 1\]"
    ):
        stepwell.from_onnx(made)


def test_attributes_of_pads_of_a_wrong_number() -> None:
    with pytest.raises(
        OnnxError, match=r"\(Pad, opset 10\): there are 2 pads, expected two for each of the axes \[0, 1\]"
    ):
        text_of("Pad", {"x": X}, version=10, pads=[1, 1])


def test_sizes_that_follow_from_shapes_are_counted() -> None:
    """The sizes of a shape are followed as expressions, not by the converter."""
    nodes = [node("Shape", "x", "s"), node("Split", "s", "a y", "n", num_outputs=3), node("Identity", "a", "z")]
    made = model(nodes, inputs=[info("x", ("r", "c"))], outputs=[info("y", (1,), onnx.TensorProto.INT64)])
    with pytest.raises(OnnxError, match="num_outputs is 3, expected the number of outputs, which is 2"):
        stepwell.from_onnx(made)
