"""GroupQueryAttention of `com.microsoft`, against NumPy in 64 bits and onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx_cached import INPUTS, floats, turned
from onnx_one_node import by_onnxruntime, model_of
from stepwell.frontends import OnnxError
from stepwell.runtime.errors import ExecutionError

Array = Any
DOMAIN = "com.microsoft"
KNOWN = ("total_sequence_length",)


def inputs_of(
    samples: int = 1,
    rows: int = 1,
    past: int | None = 6,
    *,
    heads: int = 4,
    shared: int = 2,
    size: int = 16,
    total: int | None = None,
    lengths: Any = None,
    packed: bool = False,
    rotary: int = 0,
    **more: Array,
) -> dict[str, Array]:
    """The inputs of a node. `lengths` are numbers of keys after the step; `rotary` are pairs that are turned."""
    total = (past or 0) + rows if total is None else total
    widths = [heads * size, shared * size, shared * size]
    if packed:
        q, k, v = floats(1, samples, rows, sum(widths)), None, None
    else:
        q, k, v = (floats(seed, samples, rows, width) for seed, width in enumerate(widths))
    found: dict[str, Array] = dict.fromkeys(INPUTS)
    found |= {"query": q, "key": k, "value": v}
    if past is not None:
        found |= {name: floats(at, samples, shared, past, size) for at, name in ((7, "past_key"), (8, "past_value"))}
    lengths = [total] * samples if lengths is None else lengths
    found |= {"seqlens_k": np.array(lengths, np.int32) - 1, "total_sequence_length": np.array(total, np.int32)}
    if rotary:
        found |= {"cos_cache": floats(9, 40, rotary), "sin_cache": floats(10, 40, rotary)}
    return found | more


def by_heads(inputs: dict[str, Array], heads: int, shared: int) -> list[Array]:
    """Queries, keys and values as samples x sequence x heads x size."""
    q, k, v = (inputs[name] for name in ("query", "key", "value"))
    if k is None:
        size = q.shape[2] // (heads + 2 * shared)
        q, k, v = np.split(q, [heads * size, (heads + shared) * size], axis=2)
    return [
        x.astype(np.float64).reshape(*x.shape[:2], count, -1)
        for x, count in zip((q, k, v), (heads, shared, shared), strict=True)
    ]


def normalised(x: Array, weight: Array | None) -> Array:
    return x if weight is None else x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6) * weight


def attention(inputs: dict[str, Array], options: dict[str, Any]) -> tuple[Array, list[Array], list[int]]:
    """The result, the caches by sample, and their lengths, one sample, head and row after the other."""
    heads, shared = options["num_heads"], options["kv_num_heads"]
    q, k, v = by_heads(inputs, heads, shared)
    q, k = normalised(q, inputs["q_norm_weight"]), normalised(k, inputs["k_norm_weight"])
    rows, total = q.shape[1], int(inputs["total_sequence_length"])
    given, results, caches, lengths = inputs["query_seqlens"], [], [], []
    for n in range(len(q)):
        length = int(inputs["seqlens_k"].reshape(-1)[n]) + 1
        count = rows if given is None else int(given[n])
        start = 0 if given is None and total == rows else length - count
        places = start + np.arange(rows)
        if inputs["cos_cache"] is not None:
            at = places if inputs["position_ids"] is None else inputs["position_ids"][n]
            cos, sin = inputs["cos_cache"][at], inputs["sin_cache"][at]
            q[n], k[n] = (turned(x[n], cos, sin, bool(options.get("rotary_interleaved"))) for x in (q, k))
        before = [np.zeros((0, *x.shape[2:])) for x in (k, v)]
        if start:
            before = [inputs[name][n, :, :start].transpose(1, 0, 2) for name in ("past_key", "past_value")]
        keys, values = (np.concatenate([old, x[n, :count]]) for old, x in zip(before, (k, v), strict=True))
        caches.append((keys, values))
        lengths.append(len(keys))
        results.append([row(q[n, i], keys, values, start + i, n, inputs, options, i) for i in range(count)])
    return results, caches, lengths


def row(
    q: Array, keys: Array, values: Array, place: int, n: int, inputs: dict[str, Array], options: dict[str, Any], i: int
) -> Array:
    """The result of one query for all heads."""
    heads, shared, size = options["num_heads"], options["kv_num_heads"], q.shape[1]
    last = place + 1 if options.get("causal", 1) else len(keys)
    window = options.get("local_window_size", -1)
    seen = slice(max(0, last - window) if window > 0 else 0, last)
    result = []
    for h in range(heads):
        scores = keys[seen, h * shared // heads] @ q[h] * (options.get("scale") or 1 / np.sqrt(size))
        if cap := options.get("softcap"):
            scores = np.tanh(scores / cap) * cap
        if (bias := inputs["attention_bias"]) is not None:
            scores = scores + bias[n % len(bias), h % bias.shape[1], i, seen]
        powers = np.exp(scores)
        sink = 0.0 if options.get("smooth_softmax") else -np.inf
        sink = inputs["head_sink"][h] if inputs["head_sink"] is not None else sink
        result.append(powers / (powers.sum() + np.exp(sink)) @ values[seen, h * shared // heads])
    return np.concatenate(result)


def compiled(inputs: dict[str, Array], outputs: int = 3, **options: Any) -> list[Array]:
    known = tuple(name for name in KNOWN if inputs[name] is not None)
    made = model_of("GroupQueryAttention", inputs, version=1, domain=DOMAIN, known=known, outputs=outputs, **options)
    given = [array for name, array in inputs.items() if array is not None and name not in known]
    return list(stepwell.compile_onnx(made, tuning=False)(*given))


def check(inputs: dict[str, Array], **options: Any) -> list[Array]:
    """Compares what is defined: valid rows, and the caches up to their ends."""
    options = {"num_heads": 4, "kv_num_heads": 2} | options
    found = compiled(inputs, **options)
    results, caches, lengths = attention(inputs, options)
    for n, (rows, cache) in enumerate(zip(results, caches, strict=True)):
        np.testing.assert_allclose(found[0][n, : len(rows)], rows, rtol=2e-5, atol=2e-5)
        for part, wanted in zip(found[1:3], cache, strict=True):
            np.testing.assert_allclose(part[n, :, : lengths[n]].transpose(1, 0, 2), wanted, rtol=1e-5, atol=1e-5)
    return found


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "one more key": ({}, {}),
    "a first prompt": ({"rows": 5, "past": None}, {}),
    "a first prompt in a buffer": ({"rows": 5, "past": 12, "total": 5, "rotary": 8}, {"do_rotary": 1}),
    "a prompt later on": ({"rows": 3, "packed": True}, {}),
    "a buffer": ({"past": 20, "total": 12, "rotary": 8}, {"do_rotary": 1}),
    "a buffer and a mask of its length": ({"past": 20, "total": 20, "lengths": [9]}, {}),
    "samples of their own lengths": ({"samples": 3, "lengths": [7, 3, 1], "rotary": 8}, {"do_rotary": 1}),
    "neighbours turned": ({"rows": 2, "rotary": 8}, {"do_rotary": 1, "rotary_interleaved": 1}),
    "positions": ({"rows": 2, "rotary": 8, "position_ids": np.array([[5, 9]])}, {"do_rotary": 1}),
    "a window": ({"rows": 4}, {"local_window_size": 3}),
    "a window of a first prompt": ({"rows": 9, "past": None}, {"local_window_size": 4}),
    "caps and a bias": ({"rows": 2, "attention_bias": floats(3, 1, 4, 2, 8)}, {"softcap": 0.5}),
    "sinks": ({"rows": 2, "head_sink": floats(4, 4)}, {"scale": 0.7}),
    "one head of keys": ({"rows": 2, "heads": 3, "shared": 1}, {"num_heads": 3, "kv_num_heads": 1}),
    "a smooth softmax": ({"rows": 3, "past": None}, {"smooth_softmax": 1}),
    "all keys seen": ({"rows": 2}, {"causal": 0}),
}


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize("name", CASES)
def test_as_numpy_and_onnxruntime(name: str) -> None:
    given, options = CASES[name]
    inputs = inputs_of(**given)
    found = check(inputs, **options)
    options = {"num_heads": 4, "kv_num_heads": 2} | options
    made = model_of("GroupQueryAttention", inputs, version=1, domain=DOMAIN, known=KNOWN, outputs=3, **options)
    theirs = by_onnxruntime(made, inputs)
    np.testing.assert_allclose(found[0], theirs[0], rtol=2e-5, atol=2e-5)
    for ours, wanted in zip(found[1:], theirs[1:], strict=True):  # Their buffers are zeros behind the last key.
        assert ours.shape == wanted.shape
        assert (np.isclose(ours, wanted, rtol=1e-5, atol=1e-5) | (wanted == 0)).all()


@st.composite
def calls(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    shared, share, samples = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    rows, past, more = draw(st.integers(1, 4)), draw(st.integers(1, 9)), draw(st.integers(0, 6))
    given: dict[str, Any] = {"samples": samples, "rows": rows, "past": past + more, "total": past + more + rows}
    given |= {"heads": shared * share, "shared": shared, "size": 2 * draw(st.integers(1, 9))}
    counts = [rows] * samples
    given |= {"packed": draw(st.booleans()), "rotary": draw(st.sampled_from((0, 1, given["size"] // 2)))}
    if draw(st.booleans()):
        counts = [draw(st.integers(1, rows)) for _ in range(samples)]
        given["query_seqlens"] = np.array(counts, np.int32)
    given["lengths"] = [draw(st.integers(0, past)) + count for count in counts]
    if draw(st.booleans()):
        names = ("q_norm_weight", "k_norm_weight")
        given |= {name: floats(at, given["size"]) for at, name in enumerate(names)}
    options: dict[str, Any] = {"num_heads": shared * share, "kv_num_heads": shared}
    options |= {"do_rotary": int(given["rotary"] > 0), "rotary_interleaved": draw(st.integers(0, 1))}
    options["local_window_size"] = draw(st.sampled_from((-1, 1, 3)))
    return given, options


@settings(max_examples=150 if FULL else 6, deadline=None)
@given(calls())
def test_any_call(call: tuple[dict[str, Any], dict[str, Any]]) -> None:
    given, options = call
    check(inputs_of(**given), **options)


def test_prompts_of_their_own_lengths_that_see_all_of_themselves() -> None:
    """What is behind the end of a sample is not seen, in a first prompt neither."""
    inputs = inputs_of(2, 5, past=None, lengths=[5, 3])
    options = {"num_heads": 4, "kv_num_heads": 2, "causal": 0}
    made = model_of("GroupQueryAttention", inputs, version=1, domain=DOMAIN, known=KNOWN, outputs=3, **options)
    found, theirs = compiled(inputs, **options)[0], by_onnxruntime(made, inputs)[0]
    for sample, length in enumerate((5, 3)):
        np.testing.assert_allclose(found[sample, :length], theirs[sample, :length], rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("mode", [1, 2])
def test_scores_are_shown(mode: int) -> None:
    inputs = inputs_of(rows=2)
    options = {"num_heads": 4, "kv_num_heads": 2, "qk_output": mode}
    made = model_of("GroupQueryAttention", inputs, version=1, domain=DOMAIN, known=KNOWN, outputs=4, **options)
    found = compiled(inputs, outputs=4, **options)
    np.testing.assert_allclose(found[3], by_onnxruntime(made, inputs)[3], rtol=2e-5, atol=2e-6)


def test_a_generation_is_one_program() -> None:
    """A buffer that is longer than what is in it takes one token after the other."""
    prompt, capacity, options = 3, 16, {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1}
    given = inputs_of(past=capacity, total=capacity, rotary=8)
    made = model_of("GroupQueryAttention", given, version=1, domain=DOMAIN, known=KNOWN, outputs=3, **options)
    step = stepwell.compile_onnx(made, tuning=False)
    first = inputs_of(rows=prompt, past=capacity, total=capacity, lengths=[prompt], rotary=8)
    _, keys, values = compiled(first, **options)
    every = [first]
    for length in range(prompt + 1, capacity + 1):
        now = inputs_of(past=capacity, total=capacity, lengths=[length], rotary=8)
        now |= {name: floats(100 * length + at, *now[name].shape) for at, name in enumerate(("query", "key", "value"))}
        now |= {"past_key": keys, "past_value": values}
        every.append(now)
        found, keys, values = step(*(array for name, array in now.items() if array is not None and name not in KNOWN))
    whole = inputs_of(rows=capacity, past=None, rotary=8)
    whole |= {name: np.concatenate([each[name] for each in every], axis=1) for name in ("query", "key", "value")}
    (rows, *_), caches, _ = attention(whole, options)
    np.testing.assert_allclose(found[0, 0], rows[-1], rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(keys[0].transpose(1, 0, 2), caches[0][0], rtol=1e-5, atol=1e-5)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize(("capacity", "window"), [(6, 4), (5, 5), (3, 1), (9, 2)])
@pytest.mark.parametrize("samples", [1, 2])
def test_caches_of_a_window(capacity: int, window: int, samples: int) -> None:
    """Steps of several sizes leave what onnxruntime leaves, and give what a window on all keys gives."""
    limit, options = 40, {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1, "local_window_size": window}
    keys, values = (np.zeros((samples, 2, capacity, 16), np.float32) for _ in range(2))
    every: list[dict[str, Array]] = []
    found: list[Array] = []
    length, gap = 0, capacity - window + 1
    for at, rows in enumerate((1, 1, 1, 1, 1, 1) if samples > 1 else (4, 1, 1, 3, 7, 1)):
        length += rows
        lengths = [length - number for number in range(samples)]
        now = inputs_of(samples, rows, past=capacity, total=limit, lengths=lengths, rotary=8)
        if at == 0 and samples > 1:  # The second sample begins a step later.
            now["seqlens_k"] = np.array([0, 0], np.int32)
            lengths = [1, 1]
        now |= {
            name: floats(100 * at + place, *now[name].shape) for place, name in enumerate(("query", "key", "value"))
        }
        now |= {"past_key": keys, "past_value": values}
        result, keys, values = compiled(now, sliding_window_cache=1, **options)
        made = model_of(
            "GroupQueryAttention",
            now,
            version=1,
            domain=DOMAIN,
            known=KNOWN,
            outputs=3,
            sliding_window_cache=1,
            **options,
        )
        theirs = by_onnxruntime(made, now)
        np.testing.assert_allclose(result, theirs[0], rtol=2e-5, atol=2e-5)
        for n, count in enumerate(lengths):
            held = count - gap * -(-max(count - capacity, 0) // gap)
            for ours, wanted in zip((keys, values), theirs[1:], strict=True):
                np.testing.assert_allclose(ours[n, :, :held], wanted[n, :, :held], rtol=1e-5, atol=1e-6)
        every.append(now)
        found.append(result)
    whole = inputs_of(1, length, past=None, rotary=8)
    whole |= {name: np.concatenate([each[name][:1] for each in every], axis=1) for name in ("query", "key", "value")}
    (rows, *_), _, _ = attention(whole, options)
    np.testing.assert_allclose(np.concatenate([each[0] for each in found]), rows, rtol=2e-5, atol=2e-5)


def test_a_window_before_the_first_key_is_an_error() -> None:
    inputs = inputs_of(past=8, total=8, lengths=[0])
    with pytest.raises(ExecutionError, match="index out of range"):
        compiled(inputs, num_heads=4, kv_num_heads=2, sliding_window_cache=1, local_window_size=3)


@pytest.mark.parametrize("length", [0, 9])
def test_keys_beyond_the_cache_are_an_error(length: int) -> None:
    inputs = inputs_of(past=8, total=8, lengths=[length])
    with pytest.raises(ExecutionError, match="index out of range"):
        compiled(inputs, num_heads=4, kv_num_heads=2)


# Refusals


def refused(inputs: dict[str, Array], **options: Any) -> str:
    with pytest.raises(OnnxError) as error:
        compiled(inputs, **({"num_heads": 4, "kv_num_heads": 2} | options))
    return str(error.value)


def test_caches_that_are_refused() -> None:
    inputs = inputs_of()
    wanted = "k_quant_type is 'PER_TENSOR' and k_scale is missing, expected both or neither"
    assert wanted in refused(inputs, k_quant_type="PER_TENSOR")
    expected = "local_window_size is 7, expected 1 to 6 as sliding_window_cache is set"
    assert expected in refused(inputs, sliding_window_cache=1, local_window_size=7)
    without = inputs_of(past=None, total=1)
    expected = "sliding_window_cache is set, expected past_key and past_value"
    assert expected in refused(without, sliding_window_cache=1, local_window_size=3)
    biased = inputs | {"attention_bias": floats(0, 1, 1, 1, 7)}
    expected = "attention_bias is given or causal 0, expected neither with sliding_window_cache"
    assert expected in refused(biased, sliding_window_cache=1, local_window_size=3)
    alone = inputs | {"past_value": None}
    assert "past_key and past_value are given one without the other" in refused(alone)
    assert "total_sequence_length is 1, expected at least the 2 of the query" in refused(inputs_of(rows=2, total=1))
    without = inputs_of(past=None, total=4)
    expected = "total_sequence_length is 4 and there is no past, expected 1 as of the query"
    assert expected in refused(without)
    missing = inputs | {"seqlens_k": None}
    assert "expected the inputs seqlens_k and total_sequence_length" in refused(missing)


@pytest.mark.parametrize("name", ["past_key", "past_value"])
@pytest.mark.parametrize("shape", [(1, 3, 6, 16), (2, 2, 6, 16), (1, 2, 6, 8), (1, 12, 16)])
def test_caches_of_other_shapes_are_refused(name: str, shape: tuple[int, ...]) -> None:
    """One of a larger batch would broadcast."""
    shown = "x".join(map(str, shape))
    assert f"{name} is tensor<{shown}xf32>, expected 1x2x" in refused(inputs_of() | {name: floats(0, *shape)})


def test_numbers_of_samples_that_are_refused() -> None:
    inputs = inputs_of()
    two = np.array([6, 6], np.int32)
    expected = "is tensor<2xi32>, expected a number for each of 1 samples"
    assert f"seqlens_k {expected}" in refused(inputs | {"seqlens_k": two})
    assert f"query_seqlens {expected}" in refused(inputs | {"query_seqlens": two})
    angles = {name: floats(0, 9, 8) for name in ("cos_cache", "sin_cache")}
    placed = inputs | angles | {"position_ids": np.zeros((1, 3), np.int64)}
    expected = "position_ids is tensor<1x3xi64>, expected a row of 1 positions for each sample"
    assert expected in refused(placed, do_rotary=1)


@pytest.mark.parametrize("shape", [(1, 1, 1, 9), (1, 1, 1, 6), (1, 1, 1, 1), (1, 3, 1, 7), (1, 7)])
def test_a_bias_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    """A short one would forbid the last keys."""
    shown = "x".join(map(str, shape))
    expected = f"attention_bias is tensor<{shown}xf32>, expected 1x4x1x7 as the scores, or 1 before the last extent"
    assert expected in refused(inputs_of() | {"attention_bias": floats(0, *shape)})


def test_heads_that_are_refused() -> None:
    inputs = inputs_of()
    assert "4 heads of queries do not divide into 3 of keys" in refused(inputs, kv_num_heads=3)
    assert "key and value are given one without the other" in refused(inputs | {"value": None})
    odd = inputs | {"query": floats(0, 1, 1, 65), "key": None, "value": None}
    assert "the query is tensor<1x1x65xf32>, which does not divide into 8 heads" in refused(odd)
    flat = inputs | {"query": floats(0, 1, 64)}
    assert "the query is tensor<1x64xf32>, expected batch x sequence x columns" in refused(flat)
    long = inputs | {"key": floats(0, 1, 2, 32)}
    assert "the key is tensor<1x2x32xf32>, expected rank 3 and 1x1 first as the query has" in refused(long)
    batch = inputs | {"value": floats(0, 2, 1, 32)}
    assert "the value is tensor<2x1x32xf32>, expected rank 3 and 1x1 first as the query has" in refused(batch)
    alone = inputs | {"q_norm_weight": floats(0, 16)}
    assert "q_norm_weight and k_norm_weight are given one without the other" in refused(alone)
    assert "head_sink is tensor<3xf32>, expected 4 elements" in refused(inputs | {"head_sink": floats(0, 3)})


def test_options_that_are_refused() -> None:
    inputs = inputs_of()
    assert "qk_output is 3, expected 0 to 2" in refused(inputs, qk_output=3)
    assert "local_window_size is 0, expected -1, or 1 or more" in refused(inputs, local_window_size=0)
    expected = "local_window_size is 2 and causal 0, expected -1 there"
    assert expected in refused(inputs, local_window_size=2, causal=0)
    assert "do_rotary is set, expected cos_cache and sin_cache" in refused(inputs, do_rotary=1)
    angles = {"cos_cache": floats(0, 9, 8), "sin_cache": floats(0, 9, 4)}
    expected = "cos_cache is tensor<9x8xf32> and sin_cache tensor<9x4xf32>, expected two like matrices"
    assert expected in refused(inputs | angles, do_rotary=1)
    few = inputs_of(rows=5, past=None) | {name: floats(0, 4, 8) for name in ("cos_cache", "sin_cache")}
    assert "cos_cache is tensor<4x8xf32>, expected at least 5 positions" in refused(few, do_rotary=1)


# Turned positions
