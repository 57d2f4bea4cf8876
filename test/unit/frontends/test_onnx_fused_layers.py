"""Normalisations and embeddings of `com.microsoft`, against onnxruntime and NumPy in f64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from onnx_fused_node import Array, agreed, close, fused_model, normal, ours, with_open_sizes
from onnx_one_node import by_onnxruntime
from stepwell.frontends import OnnxError

TOLERANCES = {"float16": 1e-3, "float32": 2e-6, "float64": 1e-13}


def text_of(operator: str, inputs: dict[str, Array], **options: Any) -> str:
    return str(stepwell.from_onnx(fused_model(operator, inputs, **options)))


def standard(x: Array, epsilon: float) -> tuple[Array, Array, Array]:
    wide = x.astype(np.float64)
    mean = wide.mean(-1, keepdims=True)
    inverse = 1 / np.sqrt(((wide - mean) ** 2).mean(-1, keepdims=True) + epsilon)
    return (wide - mean) * inverse, mean, inverse


def by_root(x: Array, axes: tuple[int, ...], epsilon: float) -> tuple[Array, Array]:
    wide = x.astype(np.float64)
    inverse = 1 / np.sqrt((wide**2).mean(axes, keepdims=True) + epsilon)
    return wide * inverse, inverse


# Simplified layers


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize(("shape", "axis"), [((3, 5, 7), -1), ((1, 4, 8), 1), ((6,), 0), ((2, 3, 4), -2)])
def test_simplified_layers(shape: tuple[int, ...], axis: int, dtype: str) -> None:
    x, scale = normal(0, *shape, dtype=dtype), normal(1, *shape[axis:], dtype=dtype)
    inputs, options = {"x": x, "scale": scale}, {"domain": "", "axis": axis, "epsilon": 0.25}
    tolerance = TOLERANCES[dtype]
    result, inverse = agreed("SimplifiedLayerNormalization", inputs, named=(1, 1), tolerance=tolerance, **options)
    wanted, factor = by_root(x, tuple(range(axis % x.ndim, x.ndim)), 0.25)
    close(result, wanted * scale, tolerance)
    assert inverse.dtype == np.float32
    close(inverse, factor, 1e-6)


@pytest.mark.parametrize(("of_input", "of_scale"), [("float16", "float32"), ("float32", "float16")])
def test_scales_of_another_type_than_the_input(of_input: str, of_scale: str) -> None:
    x, scale = normal(0, 3, 9, dtype=of_input), normal(1, 9, dtype=of_scale)
    inputs = {"x": x, "scale": scale}
    tolerance = TOLERANCES[of_scale]
    (found,) = agreed("SimplifiedLayerNormalization", inputs, domain="", tolerance=tolerance)
    assert found.dtype == of_scale
    close(found, by_root(x, (1,), 1e-5)[0] * scale, tolerance)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 4)])
def test_scales_that_are_repeated(shape: tuple[int, ...]) -> None:
    agreed("SimplifiedLayerNormalization", {"x": normal(0, 2, 3, 4), "scale": normal(1, *shape)}, domain="")


def test_simplified_layers_are_one_op_in_both_domains() -> None:
    inputs = {"x": normal(0, 3, 4), "scale": normal(1, 4)}
    texts = [text_of("SimplifiedLayerNormalization", inputs, domain=domain) for domain in ("", "com.microsoft")]
    for text in texts:
        assert text.count("graph.") == 1 and "graph.rms_norm" in text


def test_what_simplified_layers_refuse() -> None:
    inputs = {"x": normal(0, 2, 3, 4), "scale": normal(1, 4)}
    with pytest.raises(OnnxError, match="stash_type is f16, expected f32"):
        text_of("SimplifiedLayerNormalization", inputs, domain="", stash_type=10)
    with pytest.raises(OnnxError, match="axis is 3, expected one of tensor<2x3x4xf32>"):
        text_of("SimplifiedLayerNormalization", inputs, domain="", axis=3)
    inputs["scale"] = normal(1, 3, 4)
    with pytest.raises(OnnxError, match="the scale is tensor<3x4xf32>, expected at most the last 1 dimensions"):
        text_of("SimplifiedLayerNormalization", inputs, domain="")


# Sums of two


SKIPS = [
    ((2, 3, 5), (2, 3, 5)),
    ((2, 3, 5), (1, 3, 5)),
    ((2, 3, 5), (3, 5)),
    ((7, 9), (7, 9)),
    ((1, 1, 33), (1, 1, 33)),
]


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("optional", [True, False])
@pytest.mark.parametrize(("shape", "skipped"), SKIPS)
def test_skip_layers(shape: tuple[int, ...], skipped: tuple[int, ...], optional: bool, dtype: str) -> None:
    x, skip = normal(0, *shape, dtype=dtype), normal(1, *skipped, dtype=dtype)
    gamma, beta, bias = (normal(seed, shape[-1], dtype=dtype) for seed in (2, 3, 4))
    inputs = {"x": x, "skip": skip, "gamma": gamma, "beta": None, "bias": bias}
    inputs |= {"beta": beta} if optional else {"bias": None}
    tolerance = TOLERANCES[dtype]
    options: dict[str, Any] = {"named": (1, 1, 1, 1), "epsilon": 0.125, "tolerance": tolerance}
    result, mean, inverse, total = agreed("SkipLayerNormalization", inputs, **options)
    added = x.astype(np.float64) + skip + (bias if optional else 0)
    wanted, m, d = standard(added, 0.125)
    close(result, wanted * gamma + (beta if optional else 0), tolerance)
    close(total, added, tolerance)
    assert mean.dtype == inverse.dtype == np.float32
    close(mean, m)
    close(inverse, d)


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize(("shape", "skipped"), SKIPS)
def test_skip_simplified_layers(shape: tuple[int, ...], skipped: tuple[int, ...], biased: bool, dtype: str) -> None:
    x, skip = normal(0, *shape, dtype=dtype), normal(1, *skipped, dtype=dtype)
    gamma, bias = (normal(seed, shape[-1], dtype=dtype) for seed in (2, 3))
    inputs = {"x": x, "skip": skip, "gamma": gamma} | ({"bias": bias} if biased else {})
    tolerance = TOLERANCES[dtype]
    options: dict[str, Any] = {"named": (1, 1, 1, 1), "epsilon": 0.125, "tolerance": tolerance}
    result, mean, inverse, total = agreed("SkipSimplifiedLayerNormalization", inputs, **options)
    added = x.astype(np.float64) + skip + (bias if biased else 0)
    wanted, factor = by_root(added, (-1,), 0.125)
    close(result, wanted * gamma, tolerance)
    close(total, added, tolerance)
    close(inverse, factor)
    assert not mean.any() and mean.dtype == np.float32


@pytest.mark.parametrize("named", [(1,), (1, 0, 0, 1), (0, 0, 0, 1), (1, 0, 1)])
@pytest.mark.parametrize("operator", ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
def test_outputs_without_a_name(operator: str, named: tuple[int, ...]) -> None:
    inputs = {"x": normal(0, 2, 3, 5), "skip": normal(1, 2, 3, 5), "gamma": normal(2, 5)}
    text = text_of(operator, inputs, named=named)
    assert ("graph.rsqrt" in text) == (len(named) == 3)
    if named[0]:
        agreed(operator, inputs, named=named)


def test_the_epsilon_of_skip_layers_is_small() -> None:
    x = normal(0, 3, 8) * np.float32(1e-5)
    inputs = {"x": x, "skip": np.zeros_like(x), "gamma": np.ones(8, np.float32)}
    for operator in ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization"):
        (found,) = agreed(operator, inputs)
        assert np.abs(found).max() > 1


@pytest.mark.parametrize("operator", ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
def test_sizes_of_skip_layers_that_are_open(operator: str) -> None:
    inputs = {"x": normal(0, 2, 3, 5), "skip": normal(1, 3, 5), "gamma": normal(2, 5)}
    made = with_open_sizes(fused_model(operator, inputs, named=(1, 1, 1, 1)), x=OPEN, skip=OPEN[1:])
    for mine, other in zip(ours(made, *inputs.values()), by_onnxruntime(made, inputs), strict=True):
        close(mine, other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": normal(0, 5)}, "the input is tensor<5xf32>, expected rank 2 or 3"),
        (
            {"skip": normal(0, 2, 1, 5)},
            "skip is tensor<2x1x5xf32>, expected the shape of the input, tensor<2x3x5xf32>, or",
        ),
        ({"skip": normal(0, 5)}, "skip is tensor<5xf32>, expected the shape of the input"),
        ({"skip": normal(0, 3, 3, 5)}, "skip is tensor<3x3x5xf32>, expected .* or that with a batch of 1 or none"),
        ({"x": normal(0, 3, 5)}, "skip is tensor<2x3x5xf32>, expected the shape of the input, tensor<3x5xf32>"),
        (
            {"x": normal(0, 3, 5), "skip": normal(1, 1, 3, 5)},
            "skip is tensor<1x3x5xf32>, expected the shape of the input, tensor<3x5xf32>",
        ),
        (
            {"gamma": normal(0, 1, 5)},
            "gamma is tensor<1x5xf32>, expected a vector along the last dimension of tensor<2x",
        ),
        (
            {"bias": normal(0, 4)},
            "the bias is tensor<4xf32>, expected a vector along the last dimension of tensor<2x3x5",
        ),
    ],
)
@pytest.mark.parametrize("operator", ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
def test_operands_of_skip_layers_that_do_not_fit(operator: str, change: dict[str, Array], message: str) -> None:
    inputs = {"x": normal(0, 2, 3, 5), "skip": normal(1, 2, 3, 5), "gamma": normal(2, 5)}
    inputs |= {"beta": None} if operator == "SkipLayerNormalization" else {}
    with pytest.raises(OnnxError, match=message):
        text_of(operator, inputs | change)


def test_a_beta_that_does_not_fit() -> None:
    inputs = {"x": normal(0, 3, 5), "skip": normal(1, 3, 5), "gamma": normal(2, 5), "beta": normal(3, 6)}
    with pytest.raises(OnnxError, match="beta is tensor<6xf32>, expected a vector along the last dimension of"):
        text_of("SkipLayerNormalization", inputs)


# Embeddings

IDS = np.array([[1, 2, 0], [3, 0, 1]], np.int32)
MASK = np.array([[1, 1, 0], [1, 2, -1]], np.int32)


def embedding(dtype: str = "float32", hidden: int = 7) -> dict[str, Any]:
    return {
        "input_ids": IDS,
        "segment_ids": IDS % 2,
        "word": normal(0, 5, hidden, dtype=dtype),
        "position": normal(1, 6, hidden, dtype=dtype),
        "segment": normal(2, 2, hidden, dtype=dtype),
        "gamma": normal(3, hidden, dtype=dtype),
        "beta": normal(4, hidden, dtype=dtype),
    }


POSITIONS = [None, np.array([[2, 0, 5]], np.int32), np.array([[2, 0, 5], [1, 1, 1]], np.int32)]


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("positions", POSITIONS, ids=["counted", "row", "matrix"])
@pytest.mark.parametrize("segments", [True, False])
def test_embeddings(segments: bool, positions: Array, dtype: str) -> None:
    inputs = embedding(dtype=dtype)
    if not segments:
        inputs |= {"segment_ids": None, "segment": None}
    if positions is not None:
        inputs |= {"mask": None, "position_ids": positions}
    tolerance = TOLERANCES[dtype]
    options: dict[str, Any] = {"named": (1, 1, 1), "epsilon": 0.125, "tolerance": tolerance}
    result, index, total = agreed("EmbedLayerNormalization", inputs, **options)
    places = np.arange(3)[None] if positions is None else positions
    wanted = inputs["word"].astype(np.float64)[IDS] + inputs["position"][places]
    wanted = wanted + inputs["segment"][IDS % 2] if segments else wanted
    close(total, wanted, tolerance)
    close(result, standard(wanted, 0.125)[0] * inputs["gamma"] + inputs["beta"], tolerance)
    assert index.tolist() == [0, 0] and index.dtype == np.int32


@pytest.mark.parametrize("mask_index_type", [0, 1])
def test_the_mask_counts_what_is_1(mask_index_type: int) -> None:
    options: dict[str, Any] = {"named": (1, 1), "mask_index_type": mask_index_type}
    _, index = agreed("EmbedLayerNormalization", embedding() | {"mask": MASK}, **options)
    assert index.tolist() == [2, 1] and index.dtype == np.int32


def test_all_is_in_segment_0_when_nothing_says_otherwise() -> None:
    inputs: dict[str, Any] = embedding() | {"segment_ids": None}
    _, total = agreed("EmbedLayerNormalization", inputs, named=(1, 0, 1))
    close(total, inputs["word"][IDS] + inputs["position"][:3] + inputs["segment"][0])


def test_as_many_positions_as_words() -> None:
    inputs = embedding() | {"position": normal(1, 3, 7)}
    assert "strided_slice" not in text_of("EmbedLayerNormalization", inputs, mask_index_type=0)
    agreed("EmbedLayerNormalization", inputs, mask_index_type=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(
            ({name: None}, "an input is missing, expected word and position embeddings, gamma and beta")
            for name in ("word", "position", "gamma", "beta")
        ),
        ({"segment": None}, "segment_embedding is missing, expected it with segment_ids"),
        ({"input_ids": IDS[0]}, "input_ids is tensor<3xi32>, expected a matrix"),
        (
            {"segment_ids": IDS[:, :2]},
            "segment_ids is tensor<2x2xi32>, expected the shape of input_ids, tensor<2x3xi32>",
        ),
        ({"segment_ids": IDS[:1]}, "segment_ids is tensor<1x3xi32>, expected the shape of input_ids, tensor<2x3xi32>"),
        ({"mask": MASK[0]}, "mask is tensor<3xi32>, expected the shape of input_ids, tensor<2x3xi32>"),
        (
            {"mask": None, "position_ids": np.zeros((3, 3), np.int32)},
            "position_ids is tensor<3x3xi32>, expected the shape of input_ids, tensor<2x3xi32>, or a row",
        ),
        ({"position": normal(0, 2, 7)}, "position_embedding is tensor<2x7xf32>, expected at least 3 rows"),
        (
            {"beta": normal(0, 6)},
            "beta is tensor<6xf32>, expected a vector along the last dimension of tensor<2x3x7xf32>",
        ),
    ],
)
def test_what_embeddings_refuse(change: dict[str, Array], message: str) -> None:
    with pytest.raises(OnnxError, match=message):
        text_of("EmbedLayerNormalization", embedding() | change)


def test_other_types_of_the_mask_index() -> None:
    with pytest.raises(OnnxError, match="mask_index_type is 2, expected 0 or 1"):
        text_of("EmbedLayerNormalization", embedding(), mask_index_type=2)


OPEN = ("batch", "length")


def test_sizes_of_embeddings_that_are_open() -> None:
    inputs = embedding() | {"mask": MASK}
    made = fused_model("EmbedLayerNormalization", inputs, named=(1, 1, 1))
    made = with_open_sizes(made, input_ids=OPEN, segment_ids=OPEN, mask=OPEN)
    for mine, other in zip(ours(made, *inputs.values()), by_onnxruntime(made, inputs), strict=True):
        close(mine, other)
    made = fused_model("EmbedLayerNormalization", embedding() | {"position": normal(1, 1, 7)}, mask_index_type=0)
    with pytest.raises(OnnxError, match="position_embedding is tensor<1x7xf32>, expected at least 2 rows"):
        stepwell.from_onnx(with_open_sizes(made, input_ids=OPEN, segment_ids=OPEN))
