"""LinearAttention, LinearAttentionGate, GatedRMSNorm and GatedAdd of `com.microsoft`, against onnxruntime."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
import stepwell
from onnx_one_node import by_onnxruntime, model_of, run
from stepwell.frontends import OnnxError

Array = Any
OPTIONS: dict[str, Any] = {"version": 1, "domain": "com.microsoft"}
SIZE, V_SIZE = 4, 6


def floats(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def inputs_of(
    rows: int, heads: tuple[int, int, int] = (2, 2, 2), *, wide: bool = False, past: bool = True, alone: bool = False
) -> dict[str, Array]:
    """The inputs of `LinearAttention`. The heads are those of queries, keys and values."""
    queries, keys, values = heads
    key = floats(1, 2, rows, keys, SIZE)
    return {
        "query": floats(0, 2, rows, queries * SIZE),
        "key": (key / np.linalg.norm(key, axis=-1, keepdims=True)).reshape(2, rows, -1),
        "value": floats(2, 2, rows, values * V_SIZE),
        "past_state": floats(3, 2, values, SIZE, V_SIZE) if past else None,
        "decay": -abs(floats(4, 2, rows, values * (SIZE if wide else 1))),
        "beta": abs(floats(5, 2, rows, 1 if alone else values)),
    }


def check(operator: str, inputs: dict[str, Array], **options: Any) -> None:
    wanted = by_onnxruntime(model_of(operator, inputs, **OPTIONS, **options), inputs)
    for mine, theirs in zip(run(operator, inputs, **OPTIONS, **options), wanted, strict=True):
        assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
@pytest.mark.parametrize(("rows", "wide"), [(1, False), (5, True), (35, False)])
def test_rules(rule: str, rows: int, wide: bool) -> None:
    inputs = inputs_of(rows, wide=wide, alone=wide)
    check("LinearAttention", inputs, outputs=2, q_num_heads=2, kv_num_heads=2, update_rule=rule)


@pytest.mark.parametrize("heads", [(4, 2, 2), (2, 2, 4), (2, 1, 4), (4, 4, 4)])
@pytest.mark.parametrize("rows", [1, 4])
def test_heads_that_are_shared(heads: tuple[int, int, int], rows: int) -> None:
    inputs = inputs_of(rows, heads, past=rows == 1)
    check("LinearAttention", inputs, outputs=2, q_num_heads=heads[0], kv_num_heads=heads[2], scale=0.3)


def test_a_rule_without_gates_takes_none() -> None:
    inputs = inputs_of(3) | {"decay": None, "beta": None}
    check("LinearAttention", inputs, outputs=2, q_num_heads=2, kv_num_heads=2, update_rule="linear")


def test_the_state_alone() -> None:
    inputs = inputs_of(4)
    model = model_of("LinearAttention", inputs, **OPTIONS, outputs=2, q_num_heads=2, kv_num_heads=2)
    wanted = by_onnxruntime(model, inputs)[1]
    model.graph.node[0].output[0] = ""
    del model.graph.output[0]
    (found,) = stepwell.compile(stepwell.from_onnx(model), cache=False)(*inputs.values())
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("window", "rows"), [(1, 3), (3, 5), (2, 2), (4, 2), (2, 1), (2, 9)])
def test_states_after_each_of_the_last_tokens(window: int, rows: int) -> None:
    inputs, heads = inputs_of(rows), {"q_num_heads": 2, "kv_num_heads": 2}
    states = np.concatenate([floats(9, window - 1, 2, 2, SIZE, V_SIZE), inputs["past_state"][None]])
    given = inputs | {"past_state": states}
    result, found = run("LinearAttention", given, **OPTIONS, outputs=2, **heads, state_window=window)
    model = model_of("LinearAttention", inputs, **OPTIONS, outputs=2, **heads)
    np.testing.assert_allclose(result, by_onnxruntime(model, inputs)[0], rtol=1e-4, atol=1e-5)
    for slot in range(window):
        after = rows - window + slot + 1
        wanted = np.zeros_like(states[0])
        if after > 0:
            part = {name: each if name == "past_state" else each[:, :after] for name, each in inputs.items()}
            wanted = by_onnxruntime(model_of("LinearAttention", part, **OPTIONS, outputs=2, **heads), part)[1]
        np.testing.assert_allclose(found[slot], wanted, rtol=1e-4, atol=1e-5)


def test_halves_have_a_state_of_their_own_type() -> None:
    heads = {"q_num_heads": 2, "kv_num_heads": 2}
    half = {name: each.astype(np.float16) for name, each in inputs_of(3).items()}
    half["past_state"] = inputs_of(3)["past_state"]
    result, state = run("LinearAttention", half, **OPTIONS, outputs=2, **heads)
    wide = {name: each.astype(np.float32) for name, each in half.items()}
    wanted, wanted_state = run("LinearAttention", wide, **OPTIONS, outputs=2, **heads)
    assert result.dtype == np.float16 and state.dtype == np.float32
    np.testing.assert_array_equal(result, wanted.astype(np.float16))
    np.testing.assert_array_equal(state, wanted_state)


def test_open_length() -> None:
    inputs = inputs_of(5)
    model = model_of("LinearAttention", inputs, **OPTIONS, outputs=2, q_num_heads=2, kv_num_heads=2)
    for each in model.graph.input:
        if each.name != "past_state":
            each.type.tensor_type.shape.dim[1].dim_param = "length"
    executable = stepwell.compile(stepwell.from_onnx(model), cache=False)
    for mine, theirs in zip(executable(*inputs.values()), by_onnxruntime(model, inputs), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


def test_a_state_that_is_given_away_is_the_new_one() -> None:
    inputs = inputs_of(1)
    model = model_of("LinearAttention", inputs, **OPTIONS, outputs=2, q_num_heads=2, kv_num_heads=2)
    wanted = by_onnxruntime(model, inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step = stepwell.compile_onnx(model, donate="past_state")
        found = step(**inputs)
    assert found["y1"] is inputs["past_state"]
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


def refused(operator: str, inputs: dict[str, Array], message: str, **options: Any) -> None:
    with pytest.raises(OnnxError, match=re.escape(message)):
        stepwell.from_onnx(model_of(operator, inputs, **OPTIONS, **options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"update_rule": "mamba"}, "update_rule is 'mamba', expected linear, gated, delta, gated_delta"),
        ({"state_window": -1}, "state_window is -1, expected 0 to 8"),
        ({"q_num_heads": 3}, "there are 3 heads of queries and 2 of values, expected one number to divide the other"),
        ({"kv_num_heads": 0}, "there are 2 heads of queries and 0 of values, expected one number to divide the other"),
        ({"state_window": 2}, "past_state is tensor<2x2x4x6xf32>, expected 2x2x2x4x6 and elements of f32"),
    ],
)
def test_attributes_that_are_refused(options: dict[str, Any], message: str) -> None:
    given = {"q_num_heads": 2, "kv_num_heads": 2} | options
    refused("LinearAttention", inputs_of(3), message, outputs=2, **given)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("query", floats(0, 2, 8), "query is tensor<2x8xf32>, expected batch x sequence x columns and elements of"),
        ("query", floats(0, 2, 3, 7), "query is tensor<2x3x7xf32>, expected columns that divide into 2 heads"),
        ("query", np.zeros((2, 3, 8)), "query is tensor<2x3x8xf64>, expected batch x sequence x columns and elements"),
        ("key", floats(0, 2, 3, 6), "key is tensor<2x3x6xf32>, expected columns that are heads of 4, whose number"),
        ("key", floats(0, 2, 3, 12), "key is tensor<2x3x12xf32>, expected columns that are heads of 4, whose number"),
        ("key", floats(0, 2, 1, 8), "key is tensor<2x1x8xf32>, expected 2x3x8 and elements of f32"),
        ("value", floats(0, 2, 3, 9), "value is tensor<2x3x9xf32>, expected columns that divide into 2 heads"),
        ("value", floats(0, 1, 3, 12), "value is tensor<1x3x12xf32>, expected 2x3x12 and elements of f32"),
        ("past_state", floats(0, 2, 2, 6, 4), "past_state is tensor<2x2x6x4xf32>, expected 2x2x4x6 and elements of"),
        ("past_state", floats(0, 1, 2, 4, 6), "past_state is tensor<1x2x4x6xf32>, expected 2x2x4x6 and elements of"),
        ("decay", floats(0, 2, 3, 1), "decay is tensor<2x3x1xf32>, expected 2x3x2 and elements of f32"),
        ("decay", floats(0, 2, 1, 8), "decay is tensor<2x1x8xf32>, expected 2x3x8 and elements of f32"),
        ("decay", None, "decay is missing, expected it with this update_rule"),
        ("beta", floats(0, 2, 3, 4), "beta is tensor<2x3x4xf32>, expected 2x3x2 and elements of f32"),
        ("beta", floats(0, 1, 3, 1), "beta is tensor<1x3x1xf32>, expected 2x3x1 and elements of f32"),
        ("beta", None, "beta is missing, expected it with this update_rule"),
    ],
)
def test_operands_that_are_refused(name: str, array: Array, message: str) -> None:
    inputs = inputs_of(3) | {name: array}
    refused("LinearAttention", inputs, message, outputs=2, q_num_heads=2, kv_num_heads=2)


# What stands around it


def gate_inputs(*shape: int) -> dict[str, Array]:
    heads = shape[-1]
    return {"a": 9 * floats(0, *shape), "dt_bias": floats(1, heads), "scale": floats(2, heads), "b": floats(3, *shape)}


@pytest.mark.parametrize("shape", [(2, 3, 6), (6,)])
def test_gates(shape: tuple[int, ...]) -> None:
    check("LinearAttentionGate", gate_inputs(*shape), outputs=2)
    check("LinearAttentionGate", gate_inputs(*shape) | {"b": None})


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("a", np.zeros((2, 3, 6)), "a is tensor<2x3x6xf64>, expected heads in the last dimension and elements of f32"),
        ("dt_bias", floats(0, 1), "dt_bias is tensor<1xf32>, expected 6 and elements of f32"),
        ("scale", np.zeros(6, np.float16), "decay_scale is tensor<6xf16>, expected 6 and elements of f32"),
        ("b", floats(0, 2, 1, 6), "b is tensor<2x1x6xf32>, expected 2x3x6 and elements of f32"),
        ("b", None, "b is missing, expected it where the second output is used"),
    ],
)
def test_gates_that_are_refused(name: str, array: Array, message: str) -> None:
    refused("LinearAttentionGate", gate_inputs(2, 3, 6) | {name: array}, message, outputs=2)


def norm_inputs(size: int) -> dict[str, Array]:
    return {"X": floats(0, 2, 3, 8), "scale": floats(1, size), "gate": floats(2, 2, 3, 8)}


@pytest.mark.parametrize("activation", ["silu", "swish", "sigmoid"])
@pytest.mark.parametrize("size", [2, 8])
def test_norms_with_a_gate(activation: str, size: int) -> None:
    check("GatedRMSNorm", norm_inputs(size), activation=activation, epsilon=0.1)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"activation": "tanh"}, "activation is 'tanh', expected silu, swish, sigmoid"),
        ({"scale": floats(0, 3)}, {}, "X is tensor<2x3x8xf32>, expected columns that are heads of 3 and elements of"),
        (
            {"scale": floats(0, 1, 4)},
            {},
            "scale is tensor<1x4xf32>, expected a vector for each head and elements of f32",
        ),
        ({"gate": floats(0, 2, 1, 8)}, {}, "gate is tensor<2x1x8xf32>, expected 2x3x8 and elements of f32"),
    ],
)
def test_norms_that_are_refused(change: dict[str, Array], options: dict[str, Any], message: str) -> None:
    refused("GatedRMSNorm", norm_inputs(4) | change, message, **options)


def sum_inputs() -> dict[str, Array]:
    return {"X": floats(0, 2, 3, 8), "Y": floats(1, 2, 3, 8), "gate": floats(2, 2, 3, 1)}


def test_sums_with_a_gate() -> None:
    check("GatedAdd", sum_inputs())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((2, 3, 8))}, "X is tensor<2x3x8xf64>, expected rows and elements of f32, f16, bf16"),
        ({"Y": floats(0, 3, 8)}, "Y is tensor<3x8xf32>, expected 2x3x8 and elements of f32"),
        ({"gate": floats(0, 2, 3, 8)}, "gate is tensor<2x3x8xf32>, expected 2x3x1 and elements of f32"),
        ({"gate": floats(0, 1, 3, 1)}, "gate is tensor<1x3x1xf32>, expected 2x3x1 and elements of f32"),
        ({"gate_weight": floats(0, 1, 1)}, "gate_weight is given, which onnxruntime has on GPUs only"),
    ],
)
def test_sums_that_are_refused(change: dict[str, Array], message: str) -> None:
    refused("GatedAdd", sum_inputs() | change, message)
