"""CausalConvWithState of `com.microsoft`, against onnxruntime."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import stepwell
from onnx_one_node import by_onnxruntime, model_of, run
from stepwell.frontends import OnnxError

Array = Any
OPTIONS: dict[str, Any] = {"version": 1, "domain": "com.microsoft", "outputs": 2}


def floats(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def inputs_of(
    length: int, dilation: int = 1, *, channels_last: bool = False, past: bool = True, bias: bool = True, taps: int = 3
) -> dict[str, Array]:
    channels, kept = 8, (taps - 1) * dilation
    x, state = ((2, each, 2, 4) if channels_last else (2, channels, each) for each in (length, kept))
    return {
        "input": floats(0, *x),
        "weight": floats(1, channels, 1, taps),
        "bias": floats(2, channels) if bias else None,
        "past_state": floats(3, *state) if past else None,
    }


def check(inputs: dict[str, Array], **options: Any) -> None:
    wanted = by_onnxruntime(model_of("CausalConvWithState", inputs, **OPTIONS, **options), inputs)
    for mine, theirs in zip(run("CausalConvWithState", inputs, **OPTIONS, **options), wanted, strict=True):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("length", [1, 2, 7])
@pytest.mark.parametrize("channels_last", [0, 1])
def test_results_and_states(length: int, channels_last: int) -> None:
    check(inputs_of(length, channels_last=bool(channels_last)), channels_last=channels_last, activation="silu")


@pytest.mark.parametrize(
    ("inputs", "options"),
    [
        (inputs_of(5, 2), {"dilation": 2}),
        (inputs_of(1, 3, channels_last=True), {"dilation": 3, "channels_last": 1, "activation": "swish"}),
        (inputs_of(4, past=False), {}),
        (inputs_of(1, past=False, bias=False), {"activation": "none"}),
        (inputs_of(3, taps=1, past=False), {}),
    ],
)
def test_what_may_be_left_out(inputs: dict[str, Array], options: dict[str, Any]) -> None:
    check(inputs, **options)


def test_two_calls_are_one() -> None:
    whole = inputs_of(7)
    first, second = ({**whole, "input": whole["input"][:, :, part]} for part in (slice(4), slice(4, 7)))
    result, state = run("CausalConvWithState", first, **OPTIONS)
    more, last = run("CausalConvWithState", second | {"past_state": state}, **OPTIONS)
    wanted, wanted_state = run("CausalConvWithState", whole, **OPTIONS)
    np.testing.assert_allclose(np.concatenate([result, more], axis=2), wanted, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(last, wanted_state)


@pytest.mark.parametrize(("window", "length"), [(1, 3), (2, 5), (3, 3), (4, 2), (2, 1)])
def test_states_after_each_of_the_last_places(window: int, length: int) -> None:
    inputs = inputs_of(length)
    state = inputs["past_state"]
    states = np.concatenate([floats(9, window - 1, *state.shape), state[None]])
    result, found = run("CausalConvWithState", inputs | {"past_state": states}, **OPTIONS, state_window=window)
    np.testing.assert_array_equal(result, run("CausalConvWithState", inputs, **OPTIONS)[0])
    joined = np.concatenate([state, inputs["input"]], axis=2)
    for slot in range(window):
        after = length - window + slot + 1
        wanted = joined[:, :, after : after + 2] if after > 0 else np.zeros_like(state)
        np.testing.assert_array_equal(found[slot], wanted)


def test_halves_are_rounded_once() -> None:
    inputs = {name: None if each is None else each.astype(np.float16) for name, each in inputs_of(5).items()}
    result, state = run("CausalConvWithState", inputs, **OPTIONS, activation="silu")
    wide = {name: each.astype(np.float32) for name, each in inputs.items()}
    wanted, wanted_state = run("CausalConvWithState", wide, **OPTIONS, activation="silu")
    np.testing.assert_array_equal(state, wanted_state.astype(np.float16))
    np.testing.assert_allclose(result, wanted, rtol=1e-3, atol=1e-3)


def test_open_length() -> None:
    inputs = inputs_of(5)
    model = model_of("CausalConvWithState", inputs, **OPTIONS)
    model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "length"
    executable = stepwell.compile(stepwell.from_onnx(model), cache=False)
    for mine, theirs in zip(executable(*inputs.values()), by_onnxruntime(model, inputs), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ndim": 2}, "ndim is 2, expected 1"),
        ({"activation": "relu"}, "activation is 'relu', expected none, silu, swish"),
        ({"dilation": 0}, "dilation is 0, expected 1 or more"),
        ({"state_window": 9}, "state_window is 9, expected 0 to 8"),
        ({"state_length": 4}, "state_length is set, which onnxruntime has on GPUs only; expected its default"),
        ({"state_channels_last": 1}, "state_channels_last is set, which onnxruntime has on GPUs only"),
        ({"state_update_capacity": 2}, "state_update_capacity is set, which onnxruntime has on GPUs only"),
        ({"input_channels": 4}, "input_channels is set, which onnxruntime has on GPUs only"),
        ({"input_channel_offset": 4}, "input_channel_offset is set, which onnxruntime has on GPUs only"),
        ({"state_window": 2}, "past_state is tensor<2x8x2xf32>, expected 2x2x8x2 and elements of f32"),
        ({"dilation": 2}, "past_state is tensor<2x8x2xf32>, expected 2x8x4 and elements of f32"),
        ({"channels_last": 1}, "the weight is tensor<8x1x3xf32>, expected 5x1x3 and elements of f32"),
    ],
)
def test_attributes_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OnnxError, match=re.escape(message)):
        stepwell.from_onnx(model_of("CausalConvWithState", inputs_of(5), **OPTIONS, **options))


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("input", floats(0, 8, 5), "the input is tensor<8x5xf32>, expected batch x channels x length and elements of"),
        ("input", np.zeros((2, 8, 5)), "the input is tensor<2x8x5xf64>, expected batch x channels x length and"),
        ("weight", floats(0, 8, 3), "the weight is tensor<8x3xf32>, expected 8x1 and the taps"),
        ("weight", floats(0, 1, 1, 3), "the weight is tensor<1x1x3xf32>, expected 8x1x3 and elements of f32"),
        ("weight", floats(0, 8, 2, 3), "the weight is tensor<8x2x3xf32>, expected 8x1x3 and elements of f32"),
        ("bias", floats(0, 1), "the bias is tensor<1xf32>, expected 8 and elements of f32"),
        ("past_state", floats(0, 1, 8, 2), "past_state is tensor<1x8x2xf32>, expected 2x8x2 and elements of f32"),
        ("past_state", floats(0, 2, 8, 1), "past_state is tensor<2x8x1xf32>, expected 2x8x2 and elements of f32"),
        ("past_state", np.zeros((2, 8, 2), np.float16), "past_state is tensor<2x8x2xf16>, expected 2x8x2 and"),
    ],
)
def test_operands_that_are_refused(name: str, array: Array, message: str) -> None:
    with pytest.raises(OnnxError, match=re.escape(message)):
        stepwell.from_onnx(model_of("CausalConvWithState", inputs_of(5) | {name: array}, **OPTIONS))


def test_a_last_dimension_is_the_channels_that_it_says() -> None:
    inputs = inputs_of(5, channels_last=True) | {"input": floats(0, 2, 5)}
    with pytest.raises(OnnxError, match=r"the input is tensor<2x5xf32>, expected batch x length x channels and"):
        stepwell.from_onnx(model_of("CausalConvWithState", inputs, **OPTIONS, channels_last=1))
