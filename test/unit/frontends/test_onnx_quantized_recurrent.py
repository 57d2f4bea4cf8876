"""DynamicQuantizeLSTM of `com.microsoft` against onnxruntime and an LSTM on floats, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import stepwell
from onnx import helper, numpy_helper
from onnx_one_node import by_onnxruntime
from onnx_quantised_node import both, quantised_model
from onnxruntime.quantization import quantize_dynamic
from stepwell.frontends import OnnxError

Array = Any
KNOWN = ("W", "R", "B", "P", "W_scale", "W_zero", "R_scale", "R_zero")

STEPS, BATCH, INPUTS, HIDDEN = 7, 3, 5, 6


def inputs_of(
    directions: int = 1, dtype: Any = np.int8, zero: int = 0, steps: int = STEPS, **given: Any
) -> dict[str, Array | None]:
    """The inputs of a node: all optional ones are None but for those that are `given`, by shape or as they are."""
    random, columns = np.random.default_rng(directions + steps), 4 * HIDDEN
    low = np.iinfo(dtype).min
    scales = (directions, columns) if given.pop("per_channel", False) else (directions,)
    inputs: dict[str, Array | None] = {
        "X": random.standard_normal((steps, BATCH, INPUTS)).astype(np.float32),
        "W": random.integers(low, low + 256, (directions, INPUTS, columns)).astype(dtype),
        "R": random.integers(low, low + 256, (directions, HIDDEN, columns)).astype(dtype),
    }
    for name in ("B", "lengths", "h", "c", "P"):
        shape = given.get(name)
        floats = isinstance(shape, tuple)
        inputs[name] = random.standard_normal(shape).astype(np.float32) / 3 if floats else shape
    for name in ("W", "R"):
        inputs[f"{name}_scale"] = ((random.random(scales) + 0.5) / 200).astype(np.float32)
        inputs[f"{name}_zero"] = np.full(scales, zero, dtype)
    return inputs


BIASES, STATES, LOOKS = (1, 8 * HIDDEN), (1, BATCH, HIDDEN), (1, 3 * HIDDEN)

BOTH_WAYS = {"B": (2, 8 * HIDDEN), "h": (2, BATCH, HIDDEN), "c": (2, BATCH, HIDDEN), "P": (2, 3 * HIDDEN)}

LENGTHS = np.array([3, 5, 1], np.int32)

CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "a scale for each column": ({"per_channel": True, "B": BIASES}, {}),
    "all": ({"directions": 2, "per_channel": True, **BOTH_WAYS}, {"direction": "bidirectional", "clip": 2.0}),
    "bytes without signs": ({"dtype": np.uint8, "zero": 117, "B": BIASES}, {}),
    "zero points": ({"zero": -9, "B": BIASES, "h": STATES}, {}),
    "columns without signs": ({"dtype": np.uint8, "zero": 128, "per_channel": True}, {}),
    "backwards": ({"B": BIASES}, {"direction": "reverse", "input_forget": 1}),
    "activations": (
        {"B": BIASES},
        {"activations": ["HardSigmoid", "Relu", "Tanh"], "activation_alpha": [0.3], "activation_beta": [0.4]},
    ),
    "lengths": ({"lengths": LENGTHS, "B": BIASES, "c": STATES}, {}),
    "lengths both ways": ({"directions": 2, "lengths": LENGTHS}, {"direction": "bidirectional"}),
    "peepholes": ({"P": LOOKS}, {}),
    "many steps": ({"steps": 50, "B": BIASES}, {}),
}


def agree(found: Array, wanted: Array) -> None:
    """The same bytes are multiplied. Rarely an element of the state is on the border between two of them."""
    assert found.dtype == np.float32 and found.shape == wanted.shape
    apart = np.abs(found - wanted)
    assert np.median(apart) < 2e-5 and apart.max() < 2e-3


@pytest.mark.ci_cases(5)
@pytest.mark.parametrize("case", CASES)
def test_as_onnxruntime(case: str) -> None:
    given, attributes = CASES[case]
    inputs = inputs_of(**given)
    known = [name for name in KNOWN if inputs[name] is not None]
    options = {"known": known, "outputs": 3, "hidden_size": HIDDEN} | attributes
    found, wanted = both("DynamicQuantizeLSTM", inputs, **options)
    for mine, other in zip(found, wanted, strict=True):
        agree(mine, other)


def in_numpy(inputs: dict[str, Any]) -> list[Array]:
    """One direction with biases on dequantised weights, in double precision."""
    w, r = (
        (inputs[name].astype(float) - inputs[f"{name}_zero"][0]) * inputs[f"{name}_scale"][0] for name in ("W", "R")
    )
    bias = inputs["B"].reshape(2, -1).sum(axis=0)
    h = c = np.zeros((BATCH, HIDDEN))
    outputs = []
    for x in inputs["X"]:
        gates = x @ w[0] + h @ r[0] + bias
        i, o, f, g = np.split(gates, 4, axis=-1)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
        outputs.append(h)
    return [np.stack(outputs)[:, None], h[None], c[None]]


@pytest.mark.parametrize(("dtype", "zero"), [(np.int8, 3), (np.uint8, 140)])
def test_near_floats(dtype: Any, zero: int) -> None:
    """Inputs and state are rounded to 255 steps, which costs less than two percent here."""
    inputs = inputs_of(dtype=dtype, zero=zero, B=BIASES)
    known = [name for name in KNOWN if inputs[name] is not None]
    found, _ = both("DynamicQuantizeLSTM", inputs, known=known, outputs=3, hidden_size=HIDDEN)
    for mine, exact in zip(found, in_numpy(inputs), strict=True):
        assert 1e-5 < np.abs(mine - exact).max() < 0.02


def test_weights_and_lengths_that_are_given_at_run_time() -> None:
    inputs = inputs_of(lengths=LENGTHS, zero=5)
    found, wanted = both("DynamicQuantizeLSTM", inputs, outputs=3, hidden_size=HIDDEN)
    agree(found[0], wanted[0])


@pytest.mark.parametrize("per_channel", [False, True])
def test_what_the_quantiser_makes(tmp_path: Path, per_channel: bool) -> None:
    """Any number of steps, which becomes a loop."""
    random = np.random.default_rng(3)
    shapes = {"W": (2, 4 * HIDDEN, INPUTS), "R": (2, 4 * HIDDEN, HIDDEN), "B": (2, 8 * HIDDEN)}
    tensors = [
        numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name)
        for name, shape in shapes.items()
    ]
    ends = [
        helper.make_tensor_value_info("x", 1, ["steps", BATCH, INPUTS]),
        helper.make_tensor_value_info("y", 1, ["steps", 2, BATCH, HIDDEN]),
    ]
    attributes = {"hidden_size": HIDDEN, "direction": "bidirectional"}
    node = helper.make_node("LSTM", ["x", *shapes], ["y"], name="layer", **attributes)
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], tensors)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = str(tmp_path / "quantised.onnx")
    quantize_dynamic(made, path, per_channel=per_channel)
    made = onnx.load(path)
    assert "DynamicQuantizeLSTM" in {each.op_type for each in made.graph.node}
    executable = stepwell.compile_onnx(made, tuning=False)
    for steps in (4, 45):
        x = random.standard_normal((steps, BATCH, INPUTS)).astype(np.float32)
        agree(executable(x)[0], by_onnxruntime(made, {"x": x})[0])


@pytest.mark.parametrize(
    ("change", "attributes", "message"),
    [
        (
            {"X": np.zeros((7, 15), np.float32)},
            {},
            "the input is tensor<7x15xf32>, W tensor<1x5x24xi8> and R tensor<1x6x24xi8>, expected rank 3 and an input "
            "of f32",
        ),
        ({"X": np.zeros((7, 3, 5), np.float16)}, {}, "the input is tensor<7x3x5xf16>, W .* an input of f32"),
        ({"R": np.zeros((1, 6, 24), np.float32)}, {}, "an operand is tensor<1x6x24xf32>, expected ui8 or i8"),
        ({}, {"hidden_size": 5}, "hidden_size is 5, but R is tensor<1x6x24xi8>"),
        ({"W": np.zeros((1, 4, 24), np.int8)}, {}, r"W is tensor<1x4x24xi8>, expected \?x5x24"),
        ({"R": np.zeros((1, 6, 25), np.int8)}, {}, r"R is tensor<1x6x25xi8>, expected \?x6x24"),
        ({"W_scale": None}, {}, "W_scale is missing"),
        ({"R_zero": None}, {}, "R_zero_point is missing"),
        (
            {"W_scale": np.ones((1, 6), np.float32)},
            {},
            "W_scale is tensor<1x6xf32>, expected 1 or 1x24 elements of f32",
        ),
        ({"R_zero": np.zeros(1, np.uint8)}, {}, "R_zero_point is tensor<1xui8>, expected 1 or 1x24 elements of i8"),
        ({}, {"direction": "sideways"}, "direction is 'sideways', expected forward, reverse or bidirectional"),
        ({}, {"direction": "bidirectional"}, "a parameter is tensor<1x5x24xi8>, expected 2 directions"),
    ],
)
def test_what_does_not_fit(change: dict[str, Array], attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(OnnxError, match=message):
        stepwell.from_onnx(quantised_model("DynamicQuantizeLSTM", inputs_of() | change, outputs=3, **attributes))
