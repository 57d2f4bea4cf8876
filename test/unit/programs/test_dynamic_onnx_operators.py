"""
Operators whose sizes are not known at import, by a table: each at three shapes, interpreted, against the evaluator of
onnx; and imported for every call, which refuses nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from onnx import GraphProto, ModelProto, helper
from onnx.reference import ReferenceEvaluator
from stepwell import reference

from .test_dynamic_onnx import FLOAT, INT64, Inputs, arrays, check, model, node

RANDOM = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray[Any, Any]:
    return RANDOM.standard_normal(shape).astype(np.float32) * 0.5


def recurrent(op: str, gates: int, dims: list[Any], **attributes: Any) -> ModelProto:
    weights: dict[str, Any] = {
        "w": floats(1, 4 * gates, 3),
        "r": floats(1, 4 * gates, 4),
        "b": floats(1, 8 * gates),
    }
    nodes = [node(op, "x w r b", "y", hidden_size=4, **attributes)]
    return model(nodes, {"x": (FLOAT, dims)}, "y", **weights)


def pooled(op: str, rank: int = 2, **attributes: Any) -> ModelProto:
    dims = ["n", 2, *("d", "h", "w")[-rank:]]
    return model([node(op, "x", "y", **attributes)], {"x": (FLOAT, dims)}, "y", opset=22)


def info(name: str, dtype: int, *shape: Any) -> Any:
    return helper.make_tensor_value_info(name, dtype, shape)


def doubled() -> GraphProto:
    """A turn that adds a row to what it carries, and gives the sum."""
    nodes = [
        node("Identity", "on", "still"),
        node("Add", "v step", "next"),
        node("Identity", "next", "out"),
    ]
    inputs = [info("number", INT64), info("on", 9), info("v", FLOAT, 6)]
    return helper.make_graph(nodes, "turn", inputs, [info("still", 9), info("next", FLOAT, 6), info("out", FLOAT, 6)])


def summed() -> GraphProto:
    nodes = [node("Add", "s e", "t"), node("Identity", "t", "o")]
    return helper.make_graph(
        nodes, "turn", [info("s", FLOAT, 6), info("e", FLOAT, 6)], [info("t", FLOAT, 6), info("o", FLOAT, 6)]
    )


ROWS: Inputs = {"x": (FLOAT, ["n", 6])}
IMAGES: Inputs = {"x": (FLOAT, ["n", 3, "h", "w"])}
FILTER = floats(3, 2, 3, 2)

CASES: dict[str, ModelProto] = {
    "lstm": recurrent("LSTM", 4, ["t", "n", 3]),
    "lstm, batch": recurrent("LSTM", 4, [5, "n", 3], direction="reverse"),
    "gru": recurrent("GRU", 3, ["t", "n", 3], linear_before_reset=1),
    "rnn": recurrent("RNN", 1, ["t", "n", 3]),
    "rnn backwards": recurrent("RNN", 1, ["t", 2, 3], direction="reverse"),
    "max pool": pooled("MaxPool", kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 1, 0], ceil_mode=1),
    "max pool of lines": pooled("MaxPool", 1, kernel_shape=[3], strides=[2], ceil_mode=1),
    "max pool of volumes": pooled("MaxPool", 3, kernel_shape=[2, 2, 2], strides=[1, 2, 1]),
    "average pool": pooled("AveragePool", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1),
    "average with padding": pooled(
        "AveragePool",
        kernel_shape=[3, 3],
        strides=[2, 2],
        pads=[1, 1, 1, 1],
        ceil_mode=1,
        count_include_pad=1,
    ),
    "p-norm pool": pooled("LpPool", kernel_shape=[2, 2], strides=[2, 2], p=2),
    "resize by scales": model(
        [node("Resize", "x nothing scales", "y", mode="linear")],
        IMAGES,
        "y",
        nothing=np.zeros(0, np.float32),
        scales=np.array([1, 1, 1.5, 2], np.float32),
    ),
    "upsample": model(
        [node("Resize", "x nothing scales", "y", mode="nearest")],
        IMAGES,
        "y",
        nothing=np.zeros(0, np.float32),
        scales=np.array([1, 1, 2, 3], np.float32),
    ),
    "transposed convolution": model(
        [node("ConvTranspose", "x w", "y", strides=[2, 1], pads=[1, 0, 0, 1])], IMAGES, "y", w=FILTER
    ),
    "top k": model([node("TopK", "x k", "y i", axis=0)], ROWS, "y", k=np.array([2])),
    "one hot": model(
        [node("OneHot", "x depth values", "y")],
        {"x": (INT64, ["n", "m"])},
        "y",
        depth=np.array(4),
        values=np.array([0, 1], np.float32),
    ),
    "last of equal": model(
        [node("ArgMax", "x", "i", axis=0, select_last_index=1, keepdims=0), node("Cast", "i", "y", to=FLOAT)],
        ROWS,
        "y",
    ),
    "turns that are stacked": model(
        [
            node("Shape", "x", "s", end=1),
            node("Squeeze", "s", "count"),
            helper.make_node("Loop", ["count", "yes", "start"], ["last", "y"], body=doubled()),
        ],
        ROWS,
        "y",
        yes=np.array(True),
        start=np.zeros(6, np.float32),
        step=floats(6),
    ),
    "scan": model(
        [helper.make_node("Scan", ["start", "x"], ["last", "y"], num_scan_inputs=1, body=summed())],
        ROWS,
        "y",
        start=np.zeros(6, np.float32),
    ),
    "columns to image": model(
        [node("Col2Im", "x image block", "y")],
        {"x": (FLOAT, ["n", 8, 9])},
        "y",
        image=np.array([4, 4]),
        block=np.array([2, 2]),
    ),
    "cumulative sum": model([node("CumSum", "x a", "y", reverse=1)], ROWS, "y", a=np.array(0)),
    "instance norm": model([node("InstanceNormalization", "x s b", "y")], IMAGES, "y", s=floats(3), b=floats(3)),
    "depth to space": model([node("DepthToSpace", "x", "y", blocksize=2)], {"x": (FLOAT, ["n", 4, "h", "w"])}, "y"),
}
for _name in ("regions of images", "regions, adaptive"):
    CASES[_name] = model(
        [
            node(
                "RoiAlign",
                "x rois images",
                "y",
                output_height=2,
                output_width=2,
                sampling_ratio=2 * (_name[-1] == "s"),
            )
        ],
        {"x": (FLOAT, ["n", 3, 7, 6])},
        "y",
        rois=np.array([[0, 0, 4, 4], [1, 0, 5, 6]], np.float32),
        images=np.array([0, 0]),
    )
SHAPES = ({"n": 3, "m": 4, "t": 5, "d": 4, "h": 5, "w": 6}, {"n": 2, "m": 2, "t": 40, "d": 3, "h": 8, "w": 5})
THIRD = {"n": 4, "m": 3, "t": 1, "d": 5, "h": 4, "w": 7}


@pytest.mark.ci_cases(7)
@pytest.mark.parametrize("name", CASES)
def test_sizes_are_open_at_import(name: str) -> None:
    check(CASES[name], *SHAPES, THIRD, native=0)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("name", ["rnn", "average pool", "scan", "turns that are stacked"])
def test_natively(name: str) -> None:
    proto = CASES[name]
    exe = stepwell.compile(stepwell.from_onnx(proto), opt_level=1)
    for each in (THIRD, SHAPES[0]):
        given = arrays(proto, each)
        names = [value.name for value in proto.graph.input]
        expected = ReferenceEvaluator(proto).run(None, dict(zip(names, given, strict=True)))
        np.testing.assert_allclose(exe(*given)[0], expected[0], rtol=1e-4, atol=1e-5)


OPEN: dict[str, tuple[ModelProto, str]] = {
    "top k of all": (
        model([node("Shape", "x", "k", end=1), node("TopK", "x k", "y i", axis=0)], ROWS, "y"),
        "input 1, 'k', is computed at run time",
    ),
    "squeeze": (
        model([node("Squeeze", "x", "y")], {"x": (FLOAT, ["n", "m"])}, "y"),
        "axis must be given because",
    ),
    "layer norm over open sizes": (
        model(
            [node("LayerNormalization", "x s", "y", axis=-1)],
            {"x": (FLOAT, [2, "m"]), "s": (FLOAT, ["m"])},
            "y",
        ),
        "expected the normalised extents to be known",
    ),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_needs_sizes_is_imported_with_each_call(name: str) -> None:
    proto, message = OPEN[name]
    with pytest.raises(stepwell.frontends.OnnxError, match=message):
        stepwell.from_onnx(proto)
    exe = stepwell.compile_onnx(proto, opt_level=1)
    sizes = {"n": 3, "m": 4} if name != "squeeze" else {"n": 1, "m": 4}
    given = arrays(proto, sizes)
    names = [value.name for value in proto.graph.input]
    expected = ReferenceEvaluator(proto).run(None, dict(zip(names, given, strict=True)))
    np.testing.assert_allclose(exe(*given)[0], expected[0], rtol=1e-4, atol=1e-5)


def test_a_layer_is_one_function_for_all_lengths() -> None:
    """Steps that are open are turns of a loop: of 32 steps each, and one by one for the rest."""
    module = stepwell.from_onnx(CASES["rnn"])
    assert str(module).count("scf.for") == 2
    x = floats(70, 2, 3)
    (found,) = reference.run(module, "main", x)
    (expected,) = ReferenceEvaluator(CASES["rnn"]).run(None, {"x": x})  # pyright: ignore[reportAssignmentType]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_slices_are_scanned_backwards() -> None:
    """Which the evaluator of onnx does not do."""
    nodes = [
        helper.make_node(
            "Scan", ["start", "x"], ["last", "y"], num_scan_inputs=1, body=summed(), scan_input_directions=[1]
        )
    ]
    module = stepwell.from_onnx(model(nodes, ROWS, "y", start=np.zeros(6, np.float32)))
    for count in (1, 4):
        x = floats(count, 6)
        (found,) = reference.run(module, "main", x)
        np.testing.assert_allclose(found, np.cumsum(x[::-1], axis=0), rtol=1e-5, atol=1e-6)


def test_the_p_norm_of_windows_that_hang_over() -> None:
    """What lies outside is no part of the norm; the evaluator of onnx scales it up."""
    nodes = [node("LpPool", "x", "y", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1, p=2)]
    module = stepwell.from_onnx(model(nodes, {"x": (FLOAT, [1, 1, "h", "w"])}, "y"))
    x = floats(1, 1, 5, 4)
    (found,) = reference.run(module, "main", x)
    padded = np.pad(x[0, 0], ((0, 1), (0, 0))).reshape(3, 2, 2, 2)
    np.testing.assert_allclose(found[0, 0], np.sqrt((padded**2).sum(axis=(1, 3))), rtol=1e-5)
