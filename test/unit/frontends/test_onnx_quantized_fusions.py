"""Quantised operators of `com.microsoft`, against NumPy on the real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from onnx_one_node import model_of, run
from stepwell.frontends import OnnxError

Array = Any
"""Arrays and scalars of NumPy."""

DOMAIN = "com.microsoft"
SCALES = {"x": np.array(0.02, np.float32), "y": np.array(0.03, np.float32), "out": np.array(0.05, np.float32)}
ZEROS = {"x": np.array(120, np.uint8), "y": np.array(100, np.uint8), "out": np.array(7, np.uint8)}


def bytes_of(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).integers(0, 255, shape, dtype=np.uint8, endpoint=True)


def real(q: Array, name: str) -> Array:
    return (q.astype(np.float64) - ZEROS[name]) * SCALES[name]


def check(found: Array, wanted: Array) -> None:
    """What the real numbers `wanted` are rounded to; ties may go either way, by the rounding of floats."""
    exact = wanted / SCALES["out"] + ZEROS["out"]
    assert found.dtype == np.uint8 and found.shape == exact.shape
    assert np.abs(found - np.clip(exact, 0, 255)).max() <= 0.5 + 1e-3


def operands(name: str, q: Array) -> dict[str, Array]:
    return {name: q, f"{name}_scale": SCALES[name], f"{name}_zero": ZEROS[name]}


RESULT = {"scale": SCALES["out"], "zero": ZEROS["out"]}


@pytest.mark.parametrize(("operator", "function"), [("QLinearAdd", np.add), ("QLinearMul", np.multiply)])
def test_arithmetic(operator: str, function: Any) -> None:
    x, y = bytes_of(0, 2, 3, 4), bytes_of(1, 3, 1)
    inputs = operands("x", x) | operands("y", y) | RESULT
    (found,) = run(operator, inputs, version=1, domain=DOMAIN)
    check(found, function(real(x, "x"), real(y, "y")))


def softmax(x: Array, axis: int) -> Array:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


UNARY: dict[str, tuple[dict[str, Any], Any]] = {
    "QLinearSigmoid": ({}, lambda x: 1 / (1 + np.exp(-x))),
    "QLinearLeakyRelu": ({"alpha": 0.5}, lambda x: np.where(x < 0, 0.5 * x, x)),
    "QLinearGlobalAveragePool": ({}, lambda x: x.mean(axis=(2, 3), keepdims=True)),
    "QLinearAveragePool": (
        {"kernel_shape": [2, 2], "strides": [2, 2]},
        lambda x: x.reshape(2, 3, 2, 2, 3, 2).mean(axis=(3, 5)),
    ),
    "QLinearSoftmax": ({"axis": 1, "opset": 13}, lambda x: softmax(x, 1)),
}


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("operator", UNARY)
def test_of_one_operand(operator: str) -> None:
    attributes, function = UNARY[operator]
    x = bytes_of(2, 2, 3, 4, 6)
    (found,) = run(operator, operands("x", x) | RESULT, version=1, domain=DOMAIN, **attributes)
    check(found, function(real(x, "x")))


def test_pools_of_images_with_channels_last() -> None:
    x = bytes_of(3, 2, 4, 5, 3)
    inputs = operands("x", x) | RESULT
    (found,) = run("QLinearGlobalAveragePool", inputs, version=1, domain=DOMAIN, channels_last=1)
    check(found, real(x, "x").mean(axis=(1, 2), keepdims=True))


def test_softmax_of_old_operator_sets_takes_the_last_dimensions_as_one() -> None:
    x = bytes_of(4, 2, 3, 4)
    inputs = operands("x", x) | RESULT
    (found,) = run("QLinearSoftmax", inputs, version=1, domain=DOMAIN, axis=1, opset=11)
    check(found, softmax(real(x, "x").reshape(2, 12), 1).reshape(x.shape))


def test_concatenation() -> None:
    x, y = bytes_of(5, 2, 3), bytes_of(6, 2, 2)
    inputs = RESULT | operands("x", x) | operands("y", y)
    (found,) = run("QLinearConcat", inputs, version=1, domain=DOMAIN, axis=1)
    check(found, np.concatenate([real(x, "x"), real(y, "y")], axis=1))


@pytest.mark.parametrize("quantised", [False, True])
def test_gemm(quantised: bool) -> None:
    x, y = bytes_of(7, 6, 4), bytes_of(8, 5, 6)
    z = np.arange(5, dtype=np.int32) * 100
    inputs = operands("x", x) | operands("y", y) | {"z": z} | (RESULT if quantised else {})
    (found,) = run("QGemm", inputs, version=1, domain=DOMAIN, transA=1, transB=1, alpha=0.5)
    bias = z * np.float64(SCALES["x"]) * SCALES["y"]
    wanted = 0.5 * (real(x, "x").T @ real(y, "y").T + bias)
    if quantised:
        check(found, wanted)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_products_that_give_floats() -> None:
    x, y = bytes_of(9, 4, 6), bytes_of(10, 6, 5)
    bias = np.arange(5, dtype=np.float32)
    inputs = {
        "x": x,
        "y": y,
        "sx": SCALES["x"],
        "sy": SCALES["y"],
        "zx": ZEROS["x"],
        "zy": ZEROS["y"],
        "b": bias,
    }
    (found,) = run("MatMulIntegerToFloat", inputs, version=1, domain=DOMAIN)
    np.testing.assert_allclose(found, real(x, "x") @ real(y, "y") + bias, rtol=1e-5, atol=1e-5)
    floats = np.random.default_rng(11).standard_normal((4, 6)).astype(np.float32)
    inputs = {"x": floats, "y": y, "sy": SCALES["y"], "zy": ZEROS["y"]}
    (found,) = run("DynamicQuantizeMatMul", inputs, version=1, domain=DOMAIN)
    step = (max(floats.max(), 0) - min(floats.min(), 0)) / 255
    error = np.abs(real(y, "y")).sum(axis=0).max() * step
    assert np.abs(found - floats @ real(y, "y")).max() <= error


def test_what_is_refused() -> None:
    x = bytes_of(12, 2, 4, 4, 3)
    attributes = {"channels_last": 1, "kernel_shape": [2, 2]}
    model = model_of("QLinearAveragePool", operands("x", x) | RESULT, version=1, domain=DOMAIN, **attributes)
    with pytest.raises(OnnxError, match="channels_last is set, expected images with channels before"):
        stepwell.from_onnx(model)
    inputs = RESULT | {"x": x, "x_scale": SCALES["x"]}
    with pytest.raises(OnnxError, match="the node has 2 inputs after the zero point, expected groups of 3"):
        stepwell.from_onnx(model_of("QLinearConcat", inputs, version=1, domain=DOMAIN, axis=1))
    inputs = operands("x", x[0, 0]) | operands("y", x[0, 0].T) | {"z": None, "scale": SCALES["out"]}
    with pytest.raises(OnnxError, match="y_zero_point is missing, expected it with y_scale"):
        stepwell.from_onnx(model_of("QGemm", inputs, version=1, domain=DOMAIN))
