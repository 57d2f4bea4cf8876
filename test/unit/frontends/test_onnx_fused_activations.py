"""Activations that onnxruntime fuses with a bias or a scale, and what only its GPUs have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import stepwell
from onnx_fused_node import Array, agreed, close, fused_model, normal, ours
from stepwell.frontends import OnnxError

TOLERANCES = {"float16": 1e-3, "float32": 2e-6, "float64": 1e-13}


def text_of(operator: str, inputs: dict[str, Array], **options: Any) -> str:
    return str(stepwell.from_onnx(fused_model(operator, inputs, **options)))


def gelu(x: Array) -> Array:
    return x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def fast_gelu(x: Array) -> Array:
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def swish(x: Array, alpha: float = 1.0) -> Array:
    return x / (1 + np.exp(-alpha * x))


ACTIVATIONS: dict[str, tuple[str, bool, dict[str, Any], Any]] = {
    "gelu": ("Gelu", False, {}, gelu),
    "bias": ("BiasGelu", True, {}, gelu),
    "fast": ("FastGelu", False, {}, fast_gelu),
    "fast_bias": ("FastGelu", True, {}, fast_gelu),
    "quick": ("QuickGelu", False, {}, lambda x: swish(x, 1.702)),
    "quick_alpha": ("QuickGelu", False, {"alpha": -0.5}, lambda x: swish(x, -0.5)),
    "quick_1": ("QuickGelu", False, {"alpha": 1.0}, swish),
    "silu": ("ScaledSiLU", False, {}, swish),
    "scaled": ("ScaledSiLU", False, {"alpha": 1.3}, lambda x: swish(1.3 * x)),
}


@pytest.mark.ci_cases(9)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str, dtype: str) -> None:
    operator, is_biased, attributes, function = ACTIVATIONS[name]
    x, bias = 3 * normal(0, 1, 5, 67, dtype=dtype), normal(1, 67, dtype=dtype)
    inputs = {"x": x, "bias": bias} if is_biased else {"x": x}
    (found,) = agreed(operator, inputs, tolerance=TOLERANCES[dtype], **attributes)
    close(found, function(x.astype(np.float64) + (bias if is_biased else 0)), TOLERANCES[dtype])


def test_activations_are_ops_that_rules_know() -> None:
    x, bias = normal(0, 3, 4), normal(1, 4)
    assert 'approximate = "tanh"' in text_of("FastGelu", {"x": x, "bias": bias})
    assert "graph.gelu" in text_of("BiasGelu", {"x": x, "bias": bias})
    assert "graph.silu" in text_of("ScaledSiLU", {"x": x})


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("of_scale", ["float16", "float32"])
def test_a_scale_overrides_alpha(dtype: str, of_scale: str) -> None:
    x = 4 * normal(0, 3, 17, dtype=dtype)
    inputs = {"x": x, "scale": np.array(1.3, of_scale)}
    (found,) = agreed("ScaledSiLU", inputs, tolerance=TOLERANCES[dtype], alpha=7.0)
    close(found, swish(x.astype(np.float64) * inputs["scale"]), TOLERANCES[dtype])


@pytest.mark.parametrize(("operator", "function"), [("BiasGelu", gelu), ("FastGelu", fast_gelu)])
def test_sums_before_an_activation_are_not_rounded(operator: str, function: Any) -> None:
    """Rounding the sums to f16 first could change the results by 0.3 percent."""
    x = np.linspace(-3.2, -2.1, 5 * 67).reshape(5, 67).astype(np.float16)
    bias = (normal(1, 67) / 100).astype(np.float16)
    made = fused_model(operator, {"x": x, "bias": bias})
    assert "(tensor<5x67xf32>, tensor<67xf32>) -> tensor<5x67xf32>" in str(stepwell.from_onnx(made))
    (found,) = ours(made, x, bias)
    np.testing.assert_allclose(found, function(x.astype(np.float64) + bias), rtol=6e-4)


def test_activations_that_are_refused() -> None:
    x = normal(0, 3, 4)
    for operator in ("BiasGelu", "FastGelu"):
        with pytest.raises(OnnxError, match="the bias is tensor<3xf32>, expected a vector along the last dimension of"):
            text_of(operator, {"x": x, "bias": normal(1, 3)})
    with pytest.raises(OnnxError, match="the bias is tensor<f32>, expected a vector along the last dimension of"):
        text_of("BiasGelu", {"x": normal(0), "bias": normal(1)})
    with pytest.raises(OnnxError, match="the scale is tensor<1xf32>, expected a scalar"):
        text_of("ScaledSiLU", {"x": x, "scale": normal(1, 1)})


# What only GPUs of onnxruntime have


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(
    "attributes",
    [{}, {"activation_alpha": 1.7, "activation_beta": 1.0, "limit": 0.75}, {"round_activation": 1}],
    ids=["plain", "limits", "rounded"],
)
def test_gated_units(attributes: dict[str, Any], dtype: str) -> None:
    gate, up = 2 * normal(0, 3, 9, dtype=dtype), normal(1, 3, 9, dtype=dtype)
    (found,) = ours(fused_model("SwiGLU", {"gate": gate, "up": up}, **attributes), gate, up)
    left, right = gate.astype(np.float64), up.astype(np.float64)
    if limit := attributes.get("limit"):
        left, right = np.minimum(left, limit), np.clip(right, -limit, limit)
    activated = swish(left, attributes.get("activation_alpha", 1.0))
    if attributes.get("round_activation"):
        activated = activated.astype(dtype).astype(np.float64)
    wanted = activated * (right + attributes.get("activation_beta", 0.0))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted.astype(dtype), rtol=1e-3 if dtype == "float16" else 1e-5, atol=1e-7)
    both = np.concatenate([gate, up], axis=-1)
    close(ours(fused_model("SwiGLU", {"both": both}, **attributes), both)[0], found, TOLERANCES[dtype])


def test_gates_that_do_not_fit() -> None:
    with pytest.raises(OnnxError, match="the input is tensor<2x5xf32>, expected two halves in the last dimension"):
        text_of("SwiGLU", {"both": normal(0, 2, 5)})
    with pytest.raises(OnnxError, match="the inputs are tensor<2x5xf32> and tensor<5xf32>, expected the same shape"):
        text_of("SwiGLU", {"gate": normal(0, 2, 5), "up": normal(0, 5)})


def test_biases_and_residuals() -> None:
    x, bias, skip = normal(0, 2, 3, 5), normal(1, 5), normal(2, 2, 3, 5)
    inputs = {"x": x, "bias": bias, "skip": skip}
    close(ours(fused_model("BiasAdd", inputs), x, bias, skip)[0], x.astype(np.float64) + bias + skip)
    with pytest.raises(OnnxError, match="skip is tensor<3x5xf32>, expected the shape of the input, tensor<2x3x5xf32>"):
        text_of("BiasAdd", inputs | {"skip": skip[0]})
    with pytest.raises(OnnxError, match="the bias is tensor<3xf32>, expected a vector along the last dimension of"):
        text_of("BiasAdd", inputs | {"bias": bias[:3]})


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize(
    ("shape", "axis", "inner"),
    [((2, 1, 1, 5), 3, 1), ((2, 1, 1, 5), -1, 1), ((4, 5), 3, 0), ((1, 3, 4, 5), 2, 0), ((2, 3, 4, 5), 1, 1)],
)
def test_biased_softmax(shape: tuple[int, ...], axis: int, inner: int) -> None:
    x, bias = normal(0, 2, 3, 4, 5), normal(1, *shape)
    made = fused_model("BiasSoftmax", {"x": x, "bias": bias}, axis=axis, is_inner_broadcast=inner)
    rows = (x.astype(np.float64) + bias).reshape(*x.shape[: axis % 4], -1)
    powers = np.exp(rows)
    close(ours(made, x, bias)[0], (powers / powers.sum(-1, keepdims=True)).reshape(x.shape))


@pytest.mark.parametrize(
    ("shape", "inner", "side"),
    [
        ((2, 1, 1, 5), 0, "first"),
        ((1, 3, 4, 5), 1, "last"),
        ((2, 3, 4, 1), 1, "last"),
        ((1, 2, 3, 4, 5), 0, "first"),
    ],
)
def test_biases_of_softmax_that_do_not_fit(shape: tuple[int, ...], inner: int, side: str) -> None:
    inputs = {"x": normal(0, 2, 3, 4, 5), "bias": normal(1, *shape)}
    with pytest.raises(OnnxError, match=rf"expected tensor<2x3x4x5xf32> with 1 for the {side} extents before 3"):
        text_of("BiasSoftmax", inputs, axis=3, is_inner_broadcast=inner)
