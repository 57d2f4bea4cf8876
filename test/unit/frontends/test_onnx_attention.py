"""Attention and turned positions of ONNX, row by row against NumPy in 64 bits."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TypeProto, helper
from onnx_one_node import expected, run, text_of
from stepwell.frontends import OnnxError

Array = np.ndarray[Any, Any]


def floats(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def row(scores: Array, seen: Array, values: Array) -> tuple[Array, Array]:
    """Weights and result of one query; a query that sees nothing gives zeros."""
    scores = np.where(seen, scores, -np.inf)
    if np.isneginf(scores).all():
        return np.zeros(len(scores)), np.zeros(values.shape[1])
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    return weights, weights @ values


def attention(q: Array, k: Array, v: Array, mask: Array | None, offsets: list[int], **options: Any) -> list[Array]:
    """The result, and the scores that mode 0 to 3 show, of batch x heads x sequence x size."""
    q, k, v = (each.astype(np.float64) for each in (q, k, v))
    factor = options.get("scale", 1 / np.sqrt(q.shape[3]))
    share = q.shape[1] // k.shape[1]
    shape = (*q.shape[:3], k.shape[2])
    shown = np.zeros((4, *shape))
    result = np.zeros((*q.shape[:3], v.shape[3]))
    bias = np.zeros(shape) if mask is None else np.broadcast_to(mask, shape)
    for n, h, i in np.ndindex(shape[:3]):
        place, keys = i + offsets[n], np.arange(shape[3])
        seen = keys < options.get("lengths", [shape[3]] * shape[0])[n]
        if options.get("is_causal"):
            seen &= keys <= place
        if (left := options.get("left_window_size", -1)) >= 0:
            seen &= keys >= place - left
        if (right := options.get("right_window_size", -1)) >= 0:
            seen &= keys <= place + right
        scores = k[n, h // share] @ q[n, h, i] * factor
        shown[0, n, h, i] = scores
        if cap := options.get("softcap", 0):
            scores = np.tanh(scores / cap) * cap
        shown[1, n, h, i] = scores
        if bias.dtype == np.bool_:
            seen &= bias[n, h, i]
        else:
            scores = scores + bias[n, h, i]
        shown[2, n, h, i] = np.where(seen, scores, -np.inf)
        shown[3, n, h, i], result[n, h, i] = row(scores, seen, v[n, h // share])
    return [result, *shown]


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    extent = st.integers(1, 4)
    case: dict[str, Any] = {
        name: draw(extent) for name in ("batch", "shared", "share", "rows", "keys", "size", "width")
    }
    case["cache"] = draw(st.sampled_from(["none", "past", "lengths"]))
    case["mask"] = draw(st.sampled_from(["none", "bool", "float", "infinite"]))
    case["mask_rank"] = draw(st.integers(1, 4))
    case["packed"] = draw(st.booleans())
    case["mode"] = draw(st.integers(0, 3))
    case["seed"] = draw(st.integers(0, 2**32 - 1))
    options: dict[str, Any] = {"is_causal": draw(st.integers(0, 1))}
    for name in ("left_window_size", "right_window_size"):
        if draw(st.booleans()):
            options[name] = draw(st.integers(-1, 3))
    if draw(st.booleans()):
        options["softcap"] = 1.5
    if draw(st.booleans()):
        options["scale"] = 0.3
    case["options"] = options
    return case


def mask_of(rng: np.random.Generator, case: dict[str, Any], shape: tuple[int, ...]) -> Array | None:
    shape = tuple(1 if rng.random() < 0.3 else extent for extent in shape[:-1]) + shape[-1:]
    shape = shape[-case["mask_rank"] :]
    match case["mask"]:
        case "none":
            return None
        case "bool":
            return rng.random(shape) < 0.6
        case "float":
            return floats(rng, *shape)
    return np.where(rng.random(shape) < 0.4, -np.inf, floats(rng, *shape)).astype(np.float32)


@pytest.mark.ci_cases(0)
@settings(max_examples=120 if FULL else 6, deadline=None)
@given(cases())
def test_any_attention(case: dict[str, Any]) -> None:
    rng = np.random.default_rng(case["seed"])
    batch, shared, rows, keys = case["batch"], case["shared"], case["rows"], case["keys"]
    q = floats(rng, batch, shared * case["share"], rows, case["size"])
    k, v = floats(rng, batch, shared, keys, case["size"]), floats(rng, batch, shared, keys, case["width"])
    past = 2 if case["cache"] == "past" else 0
    past_k, past_v = (
        floats(rng, batch, shared, past, case["size"]),
        floats(rng, batch, shared, past, case["width"]),
    )
    lengths = rng.integers(0, keys, batch, endpoint=True) if case["cache"] == "lengths" else None
    whole_k, whole_v = np.concatenate([past_k, k], axis=2), np.concatenate([past_v, v], axis=2)
    mask = mask_of(rng, case, (*q.shape[:3], keys + past))
    options = dict(case["options"])
    offsets = [past] * batch if lengths is None else [int(each) - rows for each in lengths]
    given_lengths = {} if lengths is None else {"lengths": lengths}
    result, *shown = attention(q, whole_k, whole_v, mask, offsets, **options, **given_lengths)
    arrays = [q, k, v]
    if case["packed"]:
        arrays = [each.transpose(0, 2, 1, 3).reshape(batch, each.shape[2], -1) for each in arrays]
        options |= {"q_num_heads": q.shape[1], "kv_num_heads": shared}
        result = result.transpose(0, 2, 1, 3).reshape(batch, rows, -1)
    inputs = dict(zip(("q", "k", "v"), arrays, strict=True)) | {"mask": mask}
    inputs |= {"past_k": past_k, "past_v": past_v} if past else {"past_k": None, "past_v": None}
    inputs["lengths"] = lengths
    found = run("Attention", inputs, version=25, outputs=4, qk_matmul_output_mode=case["mode"], **options)
    np.testing.assert_allclose(found[0], result, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(found[1], whole_k)
    np.testing.assert_array_equal(found[2], whole_v)
    np.testing.assert_allclose(found[3], shown[case["mode"]], rtol=1e-4, atol=1e-5)


def heads(rng: np.random.Generator, *, dtype: Any = np.float32) -> dict[str, Array]:
    return {name: floats(rng, 1, 2, 4, 8).astype(dtype) for name in ("q", "k", "v")}


def test_what_is_masked_is_not_seen_even_if_it_is_no_number() -> None:
    inputs = heads(np.random.default_rng(0))
    inputs["k"][:, :, 3] = np.nan
    inputs["v"][:, :, 3] = 0
    found = run("Attention", inputs | {"mask": np.array([True, True, True, False])}, version=24)
    assert np.isfinite(found[0]).all()


def test_a_short_mask_forbids_the_last_keys_from_version_24_on() -> None:
    rng = np.random.default_rng(1)
    inputs = heads(rng)
    mask = floats(rng, 4, 1)
    spread = np.where(np.arange(4) < 1, mask, -np.inf)
    wanted = {23: np.broadcast_to(mask, (4, 4)), 24: spread}
    for version, seen in wanted.items():
        (found,) = run("Attention", inputs | {"mask": mask}, version=version)
        np.testing.assert_allclose(
            found, attention(inputs["q"], inputs["k"], inputs["v"], seen, [0])[0], rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize("precision", [None, 1])
def test_halves(precision: int | None) -> None:
    inputs = heads(np.random.default_rng(2), dtype=np.float16)
    options = {} if precision is None else {"softmax_precision": precision}
    (found,) = run("Attention", inputs, version=23, is_causal=1, **options)
    assert found.dtype == np.float16
    wanted = attention(inputs["q"], inputs["k"], inputs["v"], None, [0], is_causal=1)[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-2, atol=2e-3)


def test_plain_attention_is_two_products_and_a_softmax() -> None:
    text = text_of("Attention", heads(np.random.default_rng(3)), version=23)
    ops = [line.split("graph.")[1].split()[0] for line in text.splitlines() if "= graph." in line]
    assert ops == ["full", "multiply", "permute_dims", "matmul", "softmax", "matmul"]


def test_sizes_that_are_not_known() -> None:
    """Caches, windows and shared heads at any sizes."""
    rng = np.random.default_rng(6)
    shapes: dict[str, list[Any]] = {
        "q": ["B", "S", 24],
        "k": ["B", "T", 12],
        "v": ["B", "T", 12],
        "mask": ["B", 1, "S", "U"],
        "past_k": ["B", 3, "P", 4],
        "past_v": ["B", 3, "P", 4],
    }
    infos = [helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()]
    options: dict[str, Any] = {"is_causal": 1, "left_window_size": 4}
    node = helper.make_node("Attention", list(shapes), ["y"], q_num_heads=6, kv_num_heads=3, **options)
    graph = helper.make_graph([node], "g", infos, [helper.make_value_info("y", TypeProto())])
    module = stepwell.from_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)]))
    executable = stepwell.compile(module, cache=False)
    for batch, rows, keys, past in ((1, 7, 2, 1), (2, 3, 3, 5)):
        sizes: dict[Any, Any] = {"B": batch, "S": rows, "T": keys, "P": past, "U": keys + past}
        arrays = {name: floats(rng, *(sizes.get(e, e) for e in shape)) for name, shape in shapes.items()}
        q, k, v = (
            arrays[name].reshape(batch, -1, n, 4).transpose(0, 2, 1, 3)
            for name, n in zip("qkv", (6, 3, 3), strict=True)
        )
        k, v = np.concatenate([arrays["past_k"], k], axis=2), np.concatenate([arrays["past_v"], v], axis=2)
        wanted = attention(q, k, v, arrays["mask"], [past] * batch, **options)[0]
        found = np.asarray(executable(*arrays.values())).reshape(batch, rows, 24)
        np.testing.assert_allclose(found, wanted.transpose(0, 2, 1, 3).reshape(found.shape), rtol=1e-4, atol=1e-5)


# Positions


TURNS = list(product((0, 1), (0, 4), (False, True), (False, True)))


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize(("interleaved", "turned", "packed", "positions"), TURNS if FULL else TURNS[::3])
def test_positions_turn_pairs(interleaved: int, turned: int, packed: bool, positions: bool) -> None:
    rng = np.random.default_rng(4)
    batch, count, length, size = 2, 3, 5, 8
    half = (turned or size) // 2
    x = floats(rng, batch, count, length, size)
    places = rng.integers(0, 10, (batch, length))
    angles = rng.uniform(0, 6, (10, half) if positions else (batch, length, half)).astype(np.float32)
    at = angles[places] if positions else angles
    left, right = (
        (x[..., 0 : 2 * half : 2], x[..., 1 : 2 * half : 2])
        if interleaved
        else (x[..., :half], x[..., half : 2 * half])
    )
    turn = np.exp(1j * at.astype(np.float64))[:, None] * (left + 1j * right)
    wanted = x.astype(np.float64).copy()
    if interleaved:
        wanted[..., 0 : 2 * half : 2], wanted[..., 1 : 2 * half : 2] = turn.real, turn.imag
    else:
        wanted[..., :half], wanted[..., half : 2 * half] = turn.real, turn.imag
    inputs: dict[str, Array | None] = {"x": x, "cos": np.cos(angles), "sin": np.sin(angles)}
    options: dict[str, Any] = {"interleaved": interleaved, "rotary_embedding_dim": turned}
    if packed:
        inputs["x"] = x.transpose(0, 2, 1, 3).reshape(batch, length, -1)
        wanted = wanted.transpose(0, 2, 1, 3).reshape(batch, length, -1)
        options["num_heads"] = count
    if positions:
        inputs["positions"] = places
    (found,) = run("RotaryEmbedding", inputs, version=23, **options)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


# Definitions by other operators


def test_a_definition_with_an_input_left_out_in_the_middle() -> None:
    rng = np.random.default_rng(5)
    inputs = {
        "x": floats(rng, 2, 3, 6),
        "w": floats(rng, 3, 1, 4),
        "bias": None,
        "past": floats(rng, 2, 3, 3),
    }
    found = run("CausalConvWithState", inputs, version=27, outputs=2)
    for ours, theirs in zip(found, expected("CausalConvWithState", inputs, version=27, outputs=2), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def test_a_definition_that_depends_on_a_type_that_onnx_does_not_know() -> None:
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "scale"], ["y"], domain="com.microsoft"),
        helper.make_node("CausalConvWithState", ["y", "w"], ["z", ""]),
    ]
    infos = [
        helper.make_tensor_value_info(name, kind, shape)
        for name, kind, shape in (("x", 3, [1, 2, 4]), ("scale", 1, []), ("w", 1, [2, 1, 2]))
    ]
    graph = helper.make_graph(nodes, "g", infos, [helper.make_tensor_value_info("z", 1, [1, 2, 4])])
    opsets = [helper.make_opsetid("", 27), helper.make_opsetid("com.microsoft", 1)]
    with pytest.raises(OnnxError) as error:
        stepwell.from_onnx(helper.make_model(graph, opset_imports=opsets))
    assert "CausalConvWithState: the definition by other operators fails: Type unknown for y" in str(error.value)
    assert "hint: run shape inference over the model first" in str(error.value)


# What is refused


def refused(operator: str, inputs: dict[str, Any], version: int = 25, **options: Any) -> str:
    with pytest.raises(OnnxError) as error:
        text_of(operator, inputs, version=version, **options)
    return str(error.value)


def test_attention_that_is_refused() -> None:
    x = np.zeros((1, 2, 4, 8), np.float32)
    inputs: dict[str, Any] = {"q": x, "k": x, "v": x, "mask": None, "past_k": x}
    assert "past_key and past_value are given one without the other" in refused("Attention", inputs)
    inputs |= {"past_v": x, "lengths": np.array([4])}
    assert "past_key and nonpad_kv_seqlen are given, expected one of them" in refused("Attention", inputs)
    packed = np.zeros((1, 4, 15), np.float32)
    three = {"q": packed, "k": packed, "v": packed}
    assert "Q is tensor<1x4x15xf32>, expected the number of heads as an attribute" in refused("Attention", three)
    message = refused("Attention", three, q_num_heads=2, kv_num_heads=2)
    assert "Q is tensor<1x4x15xf32>, which does not divide into 2 heads" in message
    message = refused("Attention", {"q": x[:, :, 0, 0], "k": x, "v": x})
    assert "Q is tensor<1x2xf32>, expected rank 3 or 4" in message
    plain = {"q": x, "k": x, "v": x}
    message = refused("Attention", plain, qk_matmul_output_mode=4)
    assert "qk_matmul_output_mode is 4, expected 0 to 3" in message
    message = refused("Attention", plain, left_window_size=-2)
    assert "a window size is -2, expected -1 or more" in message
    message = refused("Attention", plain | {"mask": np.zeros((4, 5), np.float32)})
    assert "attn_mask is tensor<4x5xf32>, expected at most 4 keys" in message
    message = refused("Attention", plain | {"mask": np.zeros((), np.float32)})
    assert "attn_mask is tensor<f32>, expected at least rank 1" in message
    message = refused("Attention", {"q": np.zeros((1, 3, 4, 8), np.float32), "k": x, "v": x})
    assert "3 heads of Q do not divide into the 2 heads of K and V" in message


def test_positions_that_are_refused() -> None:
    x, angles = np.zeros((1, 2, 4, 8), np.float32), np.zeros((1, 4, 4), np.float32)
    inputs = {"x": x, "cos": angles, "sin": angles}
    message = refused("RotaryEmbedding", inputs, rotary_embedding_dim=5)
    assert "rotary_embedding_dim is 5, expected an even number up to 8" in message
    message = refused("RotaryEmbedding", inputs, rotary_embedding_dim=4)
    assert "the cosines are tensor<1x4x4xf32>, expected batch x sequence x 2" in message
    message = refused("RotaryEmbedding", inputs | {"sin": np.zeros((1, 4, 1), np.float32)})
    assert "the sines are tensor<1x4x1xf32>, expected tensor<1x4x4xf32> as the cosines" in message
