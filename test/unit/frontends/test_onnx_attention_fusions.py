"""MultiHeadAttention, Attention and QAttention of `com.microsoft`, against onnxruntime and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from onnx import TensorProto
from onnx_one_node import by_onnxruntime, model_of
from stepwell.frontends import OnnxError

Array = Any
DOMAIN = "com.microsoft"
HEADS, SIZE = 4, 8
WIDTH = HEADS * SIZE


def floats(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def numbers(*values: Any) -> Array:
    return np.array(values, np.int32)


def trimmed(inputs: dict[str, Array]) -> dict[str, Array]:
    """The inputs up to the last that is given."""
    while list(inputs.values())[-1] is None:
        inputs.popitem()
    return inputs


def ours(operator: str, inputs: dict[str, Array], outputs: int, known: tuple[str, ...] = (), **options: Any) -> Any:
    made = model_of(operator, inputs, version=1, domain=DOMAIN, outputs=outputs, known=known, **options)
    given = [array for name, array in inputs.items() if array is not None and name not in known]
    return made, list(stepwell.compile_onnx(made, tuning=False)(*given))


def check(operator: str, inputs: dict[str, Array], outputs: int = 1, tolerance: float = 2e-6, **options: Any) -> None:
    made, found = ours(operator, inputs, outputs, **options)
    for mine, theirs in zip(found, by_onnxruntime(made, inputs, dtype=TensorProto.FLOAT), strict=True):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=tolerance * np.abs(theirs).max())


def three(rows: int = 3, keys: int | None = None, samples: int = 2, value_size: int = SIZE) -> dict[str, Array]:
    keys = rows if keys is None else keys
    sizes = ((rows, WIDTH), (keys, WIDTH), (keys, HEADS * value_size))
    found: dict[str, Array] = {
        n: floats(at, samples, *size) for at, (n, size) in enumerate(zip("qkv", sizes, strict=True))
    }
    return found | dict.fromkeys(("bias", "mask", "attention_bias", "past_key", "past_value"))


PAST = {"past_key": floats(5, 2, HEADS, 4, SIZE), "past_value": floats(6, 2, HEADS, 4, SIZE)}
MASK = numbers([1, 1, 0, 1, 0], [1, 1, 1, 0, 0])
APART: dict[str, tuple[dict[str, Array], int, dict[str, Any]]] = {
    "plain": (three(), 1, {}),
    "other keys": (three(keys=5, value_size=16), 1, {}),
    "bias": (three(keys=5) | {"bias": floats(4, 3 * WIDTH)}, 1, {}),
    "lengths": (three(keys=5) | {"mask": numbers(3, 5)}, 1, {}),
    "packed lengths": (three(keys=5) | {"mask": numbers(3, 5, 0, 3, 6, 0, 5, 10)}, 1, {}),
    "mask of keys": (three(keys=5) | {"mask": MASK}, 1, {}),
    "mask of queries and keys": (three() | {"mask": numbers(*np.tri(3, dtype=int)[None].repeat(2, 0))}, 1, {}),
    "attention bias": (three(keys=5) | {"attention_bias": floats(4, 1, HEADS, 3, 5), "mask": MASK}, 1, {}),
    "past": (three() | PAST, 3, {"unidirectional": 1}),
    "past and lengths": (three() | PAST | {"mask": numbers(5, 7)}, 3, {}),
    "scores": (three() | {"mask": numbers([1, 1, 0], [0, 1, 1])}, 4, {"mask_filter_value": -2.0, "scale": 0.3}),
    "causal": (three(), 1, {"unidirectional": 1}),
    "cached keys": (three() | {n: floats(7, 2, HEADS, 6, SIZE) for n in "kv"} | {"bias": floats(4, 3 * WIDTH)}, 1, {}),
}


@pytest.mark.ci_cases(5)
@pytest.mark.parametrize("name", APART)
def test_of_queries_keys_and_values(name: str) -> None:
    inputs, outputs, options = APART[name]
    check("MultiHeadAttention", trimmed(dict(inputs)), outputs, num_heads=HEADS, **options)


@pytest.mark.parametrize("kind", ["all", "keys and values"])
def test_packed_operands_are_parts(kind: str) -> None:
    """onnxruntime has these on other processors alone."""
    apart = three()
    bias = floats(4, 3 * WIDTH)
    _, wanted = ours("MultiHeadAttention", trimmed(apart | {"bias": bias}), 1, num_heads=HEADS)
    by_heads = {name: apart[name].reshape(2, 3, HEADS, 1, SIZE) for name in "qkv"}
    packed: dict[str, Array] = {"q": apart["q"], "k": None, "v": None, "bias": bias}
    if kind == "all":
        packed["q"] = np.concatenate([by_heads[name] for name in "qkv"], axis=3)
    else:
        packed["k"] = np.concatenate([by_heads[name] for name in "kv"], axis=3)
    _, found = ours("MultiHeadAttention", packed, 1, num_heads=HEADS)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5, atol=1e-6)


PASTS = floats(3, 2, 2, HEADS, 4, SIZE)


def projected(width: int = 3 * WIDTH, rows: int = 3) -> dict[str, Array]:
    found: dict[str, Array] = {"x": floats(0, 2, rows, 20), "w": floats(1, 20, width) / 4, "bias": floats(2, width)}
    return found | dict.fromkeys(("mask", "past", "attention_bias"))


TOGETHER: dict[str, tuple[dict[str, Array], int, dict[str, Any]]] = {
    "no bias": (projected() | {"bias": None}, 1, {}),
    "sizes": (projected(128), 1, {"qkv_hidden_sizes": [32, 32, 64]}),
    "ends": (projected() | {"mask": numbers(2, 3)}, 2, {"mask_filter_value": -3.0}),
    "ends and starts": (projected() | {"mask": numbers(2, 3, 1, 0)}, 1, {}),
    "mask of keys": (projected() | {"mask": numbers([1, 0, 1], [1, 1, 0])}, 1, {"scale": 0.7}),
    "past": (projected() | {"past": floats(3, 2, 2, HEADS, 4, SIZE), "mask": numbers(5, 7)}, 2, {"unidirectional": 1}),
    "attention bias": (projected() | {"attention_bias": floats(3, 1, HEADS, 3, 3)}, 1, {}),
}


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("name", TOGETHER)
def test_with_its_projection(name: str) -> None:
    inputs, outputs, options = TOGETHER[name]
    check("Attention", trimmed(dict(inputs)), outputs, num_heads=HEADS, known=("w",), **options)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("past", [False, True])
def test_of_bytes(dtype: Any, columns: bool, past: bool) -> None:
    """The sums of bytes are exact, so only floats differ."""
    random, least = np.random.default_rng(0), np.iinfo(dtype).min
    zeros = random.integers(least, least + 256, 3 * WIDTH if columns else (), dtype)
    inputs: dict[str, Array] = {
        "x": random.integers(0, 256, (2, 3, 20), np.uint8),
        "w": random.integers(least, least + 256, (20, 3 * WIDTH), dtype),
        "bias": floats(2, 3 * WIDTH),
        "x_scale": np.array(0.01, np.float32),
        "w_scale": (random.random(3 * WIDTH if columns else ()) / 100).astype(np.float32).reshape(zeros.shape),
        "mask": numbers([1, 0, 1], [1, 1, 0]) if not past else None,
        "x_zero": np.array(131, np.uint8),
        "w_zero": np.array(zeros, dtype),
        "past": floats(3, 2, 2, HEADS, 4, SIZE) if past else None,
    }
    known = ("w", "w_scale", "w_zero")
    check("QAttention", trimmed(inputs), 2, 1e-5, num_heads=HEADS, known=known, unidirectional=int(past))


# Refusals


def refused(operator: str, inputs: dict[str, Array], **options: Any) -> str:
    with pytest.raises(OnnxError) as error:
        ours(operator, inputs, 1, **({"num_heads": HEADS} | options))
    return str(error.value)


def test_operands_that_are_refused() -> None:
    inputs = trimmed(three())
    expected = "the query, key and value are tensor<2x3x32xf32>, tensor<2x3x32xf32>, expected three tensors"
    assert expected in refused("MultiHeadAttention", inputs | {"v": None})
    packed = {"q": floats(0, 2, 3, HEADS, 2, SIZE)}
    expected = "a packed operand is tensor<2x3x4x2x8xf32>, expected 3 in dimension 3"
    assert expected in refused("MultiHeadAttention", packed)
    short = inputs | {"bias": floats(0, 95)}
    assert "the bias is tensor<95xf32>, expected 96 elements" in refused("MultiHeadAttention", short)
    three_lengths = inputs | {"bias": None, "mask": numbers(1, 2, 3)}
    expected = "the mask is tensor<3xi32>, expected 2, 4 or 8 elements"
    assert expected in refused("MultiHeadAttention", three_lengths)
    alone = three() | PAST | {"past_value": None}
    assert "past_key and past_value are given one without the other" in refused("MultiHeadAttention", trimmed(alone))


def test_masks_that_are_refused() -> None:
    """A short mask would forbid the last keys, and a batch of one would be repeated."""
    inputs = trimmed(three(keys=5) | {"mask": np.ones((2, 4), np.int32)})
    expected = "the mask, spread to rank 4, is tensor<2x1x1x4xf32>, expected 2x4x3x5 as the scores"
    assert expected in refused("MultiHeadAttention", inputs)
    biased = three(keys=5) | {"attention_bias": floats(0, 1, 1, 3, 1)}
    expected = "attention_bias is tensor<1x1x3x1xf32>, expected 2x4x3x5 as the scores, or 1 before the last extent"
    assert expected in refused("MultiHeadAttention", trimmed(biased))
    past = trimmed(projected() | {"past": PASTS, "mask": np.ones((2, 3), np.int32)})
    assert "the mask, spread to rank 4, is tensor<2x1x1x3xf32>, expected 2x4x3x7" in refused("Attention", past)
    apart = trimmed(three()) | {name: floats(0, 1, 3, WIDTH) for name in "kv"}
    assert "the batches of Q, K and V are 2, 1 and 1, expected one" in refused("MultiHeadAttention", apart)


def test_options_that_are_refused() -> None:
    inputs = trimmed(projected())
    expected = "qkv_hidden_sizes is (32, 32, 16), expected 3 numbers that sum to 96"
    assert expected in refused("Attention", inputs, qkv_hidden_sizes=[32, 32, 16])
    expected = "do_rotary or rotary_embedding_dim is set, expected positions that are no rotations"
    assert expected in refused("Attention", inputs, do_rotary=1)
    expected = "past and present share a buffer, expected caches of their own"
    assert expected in refused("Attention", inputs, past_present_share_buffer=1)
    images = inputs | {"mask": np.ones((2, 1, 8, 8), np.int32)}
    assert "the mask is tensor<2x1x8x8xi32>, expected rank 1 to 3" in refused("Attention", images)
    placed = three() | PAST | {"past_sequence_length": numbers(4)}
    expected = "past_sequence_length or cache_indirection is given, expected caches without places"
    assert expected in refused("MultiHeadAttention", placed)
