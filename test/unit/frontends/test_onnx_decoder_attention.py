"""DecoderMaskedMultiHeadAttention of `com.microsoft`, against onnxruntime and NumPy."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
import stepwell
from onnx_one_node import by_onnxruntime, model_of, run
from stepwell.frontends import OnnxError
from stepwell.runtime.errors import ExecutionError

Array = Any
HEADS, SIZE, ROOM = 2, 8, 6
WIDTH = HEADS * SIZE
INPUTS = [
    "query",
    "key",
    "value",
    "mask_index",
    "attention_bias",
    "past_key",
    "past_value",
    "past_sequence_length",
    "beam_width",
    "cache_indirection",
    "bias",
]
MASK = np.array([[1, 1, 0, 1], [1, 0, 1, 1]], np.int32)


def floats(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def inputs_of(before: int = 3, **more: Array) -> dict[str, Array]:
    found: dict[str, Array] = dict.fromkeys(INPUTS)
    found |= {name: floats(at, 2, 1, WIDTH) for at, name in enumerate(("query", "key", "value"))}
    found |= {name: floats(at, 2, HEADS, ROOM, SIZE) for at, name in ((3, "past_key"), (4, "past_value"))}
    return found | {"past_sequence_length": np.array([before], np.int32)} | more


def cross_inputs(**more: Array) -> dict[str, Array]:
    """The keys and values are those of another sequence."""
    found: dict[str, Array] = dict.fromkeys(INPUTS)
    found |= {"query": floats(0, 2, 1, WIDTH)}
    return found | {name: floats(at, 2, HEADS, 5, SIZE) for at, name in ((1, "key"), (2, "value"))} | more


def options_of(outputs: int = 3, **more: Any) -> dict[str, Any]:
    shared = {"past_present_share_buffer": int(outputs > 1)}
    return {"version": 1, "domain": "com.microsoft", "outputs": outputs, "num_heads": HEADS} | shared | more


def check(inputs: dict[str, Array], options: dict[str, Any], known: tuple[str, ...] = ()) -> None:
    model = model_of("DecoderMaskedMultiHeadAttention", inputs, **options)
    wanted = by_onnxruntime(model, inputs, dtype=1)
    found = run("DecoderMaskedMultiHeadAttention", inputs, known=known, **options)
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"bias": floats(5, 3 * WIDTH)},
        {"mask_index": MASK},
        {"attention_bias": floats(6, 2, HEADS, 1, 4)},
        {"attention_bias": floats(6, 1, 1, 1, 4)},
        {"beam_width": np.array([1], np.int32)},
        {"past_sequence_length": np.array(0, np.int32)},
    ],
)
def test_one_token(more: dict[str, Array]) -> None:
    check(inputs_of(**more), options_of(), ("beam_width",) if "beam_width" in more else ())


@pytest.mark.parametrize(
    "more", [{}, {"bias": floats(5, 3 * WIDTH)}, {"mask_index": np.array([[1, 1, 0, 1, 1], [1, 0, 1, 1, 1]], np.int32)}]
)
def test_another_sequence(more: dict[str, Array]) -> None:
    check(cross_inputs(**more), options_of(1))


def test_scores() -> None:
    check(inputs_of(mask_index=MASK), options_of(4, output_qk=1, mask_filter_value=-3.0))
    check(inputs_of(), options_of(4, output_qk=1, scale=0.5), ("past_sequence_length",))


def test_a_packed_query_is_three_parts() -> None:
    """onnxruntime fails here."""
    apart = inputs_of()
    together = np.concatenate([apart[name] for name in ("query", "key", "value")], axis=2)
    packed = apart | {"query": together, "key": None, "value": None}
    results = (run("DecoderMaskedMultiHeadAttention", each, **options_of()) for each in (apart, packed))
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_caches_that_are_given_away() -> None:
    inputs = inputs_of()
    model = model_of("DecoderMaskedMultiHeadAttention", inputs, **options_of())
    wanted = by_onnxruntime(model, inputs, dtype=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step = stepwell.compile(stepwell.from_onnx(model), donate="past_[kv]*", cache=False)
    found = step(**{name: each for name, each in inputs.items() if each is not None})
    assert found["y1"] is inputs["past_key"] and found["y2"] is inputs["past_value"]
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("more", [{"past_sequence_length": np.array([6], np.int32)}, {"mask_index": MASK[:, :3]}])
def test_a_key_beyond_what_is_looked_at_is_an_error(more: dict[str, Array]) -> None:
    with pytest.raises(ExecutionError, match="index out of range"):
        run("DecoderMaskedMultiHeadAttention", inputs_of(**more), **options_of())


BEAMS = np.array([2], np.int32)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cache_indirection": np.zeros((1, 2, 6), np.int32)}, "cache_indirection is given, expected one continuation"),
        ({"beam_width": BEAMS}, "beam_width is [2], expected 1 as there is no cache_indirection"),
        (
            {"query": floats(0, 2, 2, WIDTH)},
            "query is tensor<2x2x16xf32> and num_heads 2, expected batch x 1 x columns",
        ),
        ({"value": None}, "key and value are given one without the other"),
        (
            {"key": None, "value": None},
            "query is tensor<2x1x16xf32>, expected columns that divide into 3 times 2 heads",
        ),
        (
            {"key": floats(0, 1, 1, WIDTH)},
            "key, by heads, is tensor<1x2x1x8xf32>, expected 2x2x1x8 and elements of f32",
        ),
        ({"value": floats(0, 2, 1, 4)}, "value, by heads, is tensor<2x2x1x2xf32>, expected 2x2x1x8 and elements of"),
        ({"past_sequence_length": None}, "expected past_key, past_value and past_sequence_length, or a key of rank 4"),
        ({"past_sequence_length": np.array([3, 3], np.int32)}, "past_sequence_length is tensor<2xi32>, expected one"),
        ({"past_value": None}, "past_key and past_value are given one without the other"),
        ({"past_key": floats(0, 1, 2, 6, 8)}, "past_key is tensor<1x2x6x8xf32>, expected 2x2x6x8 and elements of f32"),
        ({"mask_index": np.ones((2, 7), np.int32)}, "there are 7 keys after the step, expected 1 to the 6 places of"),
        ({"mask_index": MASK[:1]}, "mask_index is tensor<1x4xi32>, expected a number for each of 4 keys"),
        ({"attention_bias": floats(0, 4)}, "attention_bias is tensor<4xf32>, expected 2x2x1x4 as the scores, or 1"),
        ({"bias": floats(0, 16)}, "the bias is tensor<16xf32>, expected 48 elements"),
    ],
)
def test_what_is_refused(change: dict[str, Array], message: str) -> None:
    known = [name for name in ("beam_width",) if name in change]
    with pytest.raises(OnnxError, match=re.escape(message)):
        stepwell.from_onnx(
            model_of("DecoderMaskedMultiHeadAttention", inputs_of(**change), known=known, **options_of())
        )


def test_forms_that_are_refused() -> None:
    def refusal(inputs: dict[str, Array], options: dict[str, Any]) -> str:
        with pytest.raises(OnnxError) as error:
            stepwell.from_onnx(model_of("DecoderMaskedMultiHeadAttention", inputs, **options))
        return str(error.value)

    apart = options_of(past_present_share_buffer=0)
    assert "past_present_share_buffer is 0, expected 1 for caches" in refusal(inputs_of(), apart)
    expected = "the scores are as many as past_sequence_length says"
    assert expected in refusal(inputs_of(), options_of(4, output_qk=1))
    both = inputs_of(key=floats(1, 2, HEADS, 5, SIZE), value=floats(2, 2, HEADS, 5, SIZE))
    assert "key has rank 4 and there are caches, expected one of them" in refusal(both, options_of())
    longer = cross_inputs(value=floats(2, 2, HEADS, 4, SIZE))
    expected = "value, by heads, is tensor<2x2x4x8xf32>, expected 2x2x5x8 and elements of f32"
    assert expected in refusal(longer, options_of(1))
