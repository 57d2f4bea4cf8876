"""GroupQueryAttention of `com.microsoft` with caches of integers, against onnxruntime."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
import stepwell
from onnx_cached import INPUTS, floats
from onnx_one_node import by_onnxruntime, model_of, run
from stepwell.frontends import OnnxError

Array = Any
HEADS, SHARED, SIZE = 4, 2, 16


def cache(seed: int, bits: int, places: int, samples: int = 1) -> Array:
    r = np.random.default_rng(seed)
    if bits == 4:
        return r.integers(0, 256, (samples, SHARED, places, SIZE // 2)).astype(np.uint8)
    return r.integers(-128, 128, (samples, SHARED, places, SIZE)).astype(np.int8)


def inputs_of(
    bits: int, mode: str, rows: int = 1, past: int = 4, places: int = 8, samples: int = 1, **more: Array
) -> dict[str, Array]:
    """The inputs of a step after `past` tokens. Without any, all places that are looked at are those of the step."""
    step = 0.3 if bits == 4 else 0.02
    shape = (1,) if mode == "PER_TENSOR" else (1, SHARED, 1, SIZE)
    found: dict[str, Array] = dict.fromkeys(INPUTS)
    found |= {"query": floats(0, samples, rows, HEADS * SIZE)}
    found |= {name: floats(at, samples, rows, SHARED * SIZE) for at, name in ((1, "key"), (2, "value"))}
    found |= {name: cache(at, bits, places, samples) for at, name in ((3, "past_key"), (4, "past_value"))}
    found |= {"seqlens_k": np.full(samples, past + rows - 1, np.int32)}
    found |= {"total_sequence_length": np.array(past + rows, np.int32)}
    found |= {name: (step * (1 + abs(floats(at, *shape)))) for at, name in ((5, "k_scale"), (6, "v_scale"))}
    return found | more


def options_of(bits: int, mode: str, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"version": 1, "domain": "com.microsoft", "outputs": 3}
    found |= {"num_heads": HEADS, "kv_num_heads": SHARED, "kv_cache_bit_width": bits}
    return found | {"k_quant_type": mode, "v_quant_type": mode} | more


def check(inputs: dict[str, Array], options: dict[str, Any]) -> None:
    wanted = by_onnxruntime(model_of("GroupQueryAttention", inputs, **options), inputs)
    found = run("GroupQueryAttention", inputs, known=("total_sequence_length",), **options)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5, atol=1e-5)
    for mine, theirs in zip(found[1:], wanted[1:], strict=True):
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
        for sample, last in enumerate(inputs["seqlens_k"]):  # What is behind is free.
            np.testing.assert_array_equal(mine[sample, :, : last + 1], theirs[sample, :, : last + 1])


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("mode", ["PER_TENSOR", "PER_CHANNEL"])
@pytest.mark.parametrize(("rows", "past"), [(1, 4), (3, 0), (3, 4)])
def test_steps(bits: int, mode: str, rows: int, past: int) -> None:
    check(inputs_of(bits, mode, rows, past), options_of(bits, mode))


@pytest.mark.parametrize("bits", [4, 8])
def test_a_cache_that_grows(bits: int) -> None:
    check(inputs_of(bits, "PER_TENSOR", places=4), options_of(bits, "PER_TENSOR"))


@pytest.mark.parametrize("bits", [4, 8])
def test_samples_of_different_lengths(bits: int) -> None:
    lengths = np.array([4, 2], np.int32)
    check(inputs_of(bits, "PER_CHANNEL", samples=2, seqlens_k=lengths), options_of(bits, "PER_CHANNEL"))


@pytest.mark.parametrize("bits", [4, 8])
def test_rotations_sinks_and_biases(bits: int) -> None:
    more = {"cos_cache": floats(7, 20, 8), "sin_cache": floats(8, 20, 8), "head_sink": floats(9, HEADS)}
    inputs = inputs_of(bits, "PER_CHANNEL", **more, attention_bias=floats(10, 1, HEADS, 1, 5))
    check(inputs, options_of(bits, "PER_CHANNEL", do_rotary=1, softcap=5.0))


def test_caches_of_two_modes() -> None:
    """onnxruntime has one mode for both, in which a scale of all channels is the same for each."""
    inputs = inputs_of(8, "PER_CHANNEL", k_scale=np.full((1, SHARED, 1, SIZE), 0.02, np.float32))
    wanted = by_onnxruntime(model_of("GroupQueryAttention", inputs, **options_of(8, "PER_CHANNEL")), inputs)
    inputs["k_scale"] = np.full(1, 0.02, np.float32)
    options = options_of(8, "PER_CHANNEL", k_quant_type="PER_TENSOR")
    found = run("GroupQueryAttention", inputs, known=("total_sequence_length",), **options)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5, atol=1e-5)


def test_caches_of_a_window() -> None:
    options = options_of(8, "PER_TENSOR", sliding_window_cache=1, local_window_size=5)
    check(inputs_of(8, "PER_TENSOR", 1, 6, 8), options)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("scale", [0.0625, 0.1])
def test_borders_between_integers_are_rounded_to_even(bits: int, scale: float) -> None:
    numbers = (np.float32(scale) * (np.arange(320, dtype=np.float32) / 2 - 80)).reshape(1, 10, SHARED * SIZE)
    scales = np.array([scale], np.float32)
    inputs = inputs_of(bits, "PER_TENSOR", 10, 0, 10, key=numbers, value=numbers, k_scale=scales, v_scale=scales)
    check(inputs, options_of(bits, "PER_TENSOR"))


@pytest.mark.parametrize("bits", [4, 8])
def test_caches_that_are_given_away(bits: int) -> None:
    inputs, options = inputs_of(bits, "PER_TENSOR"), options_of(bits, "PER_TENSOR")
    model = model_of("GroupQueryAttention", inputs, known=("total_sequence_length",), **options)
    wanted = by_onnxruntime(model, inputs)
    given = {name: each for name, each in inputs.items() if each is not None and name != "total_sequence_length"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = stepwell.compile_onnx(model, donate="past*")(**given)
    assert found["y1"] is inputs["past_key"] and found["y2"] is inputs["past_value"]
    np.testing.assert_allclose(found["y0"], wanted[0], rtol=1e-5, atol=1e-5)


def test_halves() -> None:
    inputs = inputs_of(8, "PER_TENSOR")
    inputs |= {name: inputs[name].astype(np.float16) for name in ("query", "key", "value")}
    options = options_of(8, "PER_TENSOR")
    result = run("GroupQueryAttention", inputs, known=("total_sequence_length",), **options)[0]
    wide = inputs | {name: inputs[name].astype(np.float32) for name in ("query", "key", "value")}
    wanted = by_onnxruntime(model_of("GroupQueryAttention", wide, **options), wide)[0]
    assert result.dtype == np.float16
    np.testing.assert_allclose(result, wanted, rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"k_quant_type": "PER_TOKEN"}, "k_quant_type is 'PER_TOKEN', expected NONE, PER_TENSOR, PER_CHANNEL"),
        ({}, {"v_quant_type": "NONE"}, "v_quant_type is 'NONE' and v_scale is given, expected both or neither"),
        ({"k_scale": None}, {}, "k_quant_type is 'PER_TENSOR' and k_scale is missing, expected both or neither"),
        ({}, {"kv_cache_bit_width": 0}, "kv_cache_bit_width is 0, expected 4 or 8 with k_quant_type or v_quant_type"),
        ({"k_scale": floats(0, 2)}, {}, "k_scale is tensor<2xf32>, expected 1 elements of f32 with 'PER_TENSOR'"),
        ({"v_scale": np.ones(1, np.float16)}, {}, "v_scale is tensor<1xf16>, expected 1 elements of f32 with"),
        (
            {},
            {"k_quant_type": "PER_CHANNEL"},
            "k_scale is tensor<1xf32>, expected 32 elements of f32 with 'PER_CHANNEL'",
        ),
        ({"v_scale": np.zeros(1, np.float32)}, {}, "v_scale has a 0, expected other numbers"),
        ({"k_scale": np.full(1, np.inf, np.float32)}, {}, "k_scale has inf at (0,), expected finite numbers"),
        ({"past_key": floats(0, 1, 2, 8, 16)}, {}, "past_key is tensor<1x2x8x16xf32>, expected 1x2x8x16 and elements"),
        ({}, {"kv_cache_bit_width": 4}, "past_key is tensor<1x2x8x16xi8>, expected 1x2x8x8 and elements of ui8"),
        (
            {"past_key": None, "past_value": None, "seqlens_k": np.zeros(1, np.int32)}
            | {"total_sequence_length": np.array(1, np.int32)},
            {},
            "past_key is missing, expected it with k_quant_type or v_quant_type",
        ),
    ],
)
def test_what_is_refused(change: dict[str, Array], options: dict[str, Any], message: str) -> None:
    known = ("total_sequence_length", "k_scale", "v_scale")
    inputs = inputs_of(8, "PER_TENSOR") | change
    with pytest.raises(OnnxError, match=re.escape(message)):
        known = [name for name in known if inputs[name] is not None]
        stepwell.from_onnx(
            model_of("GroupQueryAttention", inputs, known=known, **options_of(8, "PER_TENSOR", **options))
        )


def test_heads_of_an_odd_size_do_not_fill_bytes() -> None:
    inputs = inputs_of(4, "PER_TENSOR") | {"query": floats(0, 1, 1, 20)}
    inputs |= {"key": floats(1, 1, 1, 10), "value": floats(2, 1, 1, 10)}
    with pytest.raises(OnnxError, match="heads have 5 numbers, expected an even number with kv_cache_bit_width 4"):
        run("GroupQueryAttention", inputs, known=("total_sequence_length",), **options_of(4, "PER_TENSOR"))
