"""Activations and functions of one element, against NumPy in f64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import stepwell
from hypothesis import given
from hypothesis import strategies as st
from onnx_one_node import by_onnxruntime, expected, model_of, run, text_of
from stepwell.frontends import OnnxError

Array = np.ndarray[Any, Any]


def logistic(x: Array) -> Array:
    return np.exp(-np.logaddexp(0, -x))


FORMULAS: dict[str, tuple[Callable[..., Array], dict[str, Any], int]] = {
    "Softplus": (lambda x: np.logaddexp(0, x), {}, 22),
    "Softsign": (lambda x: x / (1 + np.abs(x)), {}, 22),
    "Mish": (lambda x: np.where(x == -np.inf, -0.0, x * np.tanh(np.logaddexp(0, x))), {}, 22),
    "Swish": (lambda x, alpha: np.where(x == -np.inf, -0.0, x * logistic(alpha * x)), {"alpha": 1.0}, 24),
    "HardSigmoid": (
        lambda x, alpha, beta: np.clip(alpha * x + beta, 0, 1),
        {"alpha": 0.375, "beta": 0.25},
        22,
    ),
    "HardSwish": (lambda x: x * np.clip(x / 6 + 0.5, 0, 1), {}, 22),
    "Elu": (lambda x, alpha: np.where(x < 0, alpha * np.expm1(x), x), {"alpha": 1.5}, 22),
    "Celu": (lambda x, alpha: np.where(x < 0, alpha * np.expm1(x / alpha), x), {"alpha": 0.75}, 12),
    "Selu": (
        lambda x, alpha, gamma: gamma * np.where(x > 0, x, alpha * np.expm1(x)),
        {"alpha": 1.5, "gamma": 1.25},
        22,
    ),
    "ThresholdedRelu": (lambda x, alpha: np.where(x > alpha, x, 0), {"alpha": 0.5}, 22),
    "Shrink": (
        lambda x, bias, lambd: np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0)),
        {"bias": 0.25, "lambd": 0.5},
        9,
    ),
    "Sinh": (np.sinh, {}, 22),
    "Cosh": (np.cosh, {}, 22),
    "Asin": (np.arcsin, {}, 22),
    "Acos": (np.arccos, {}, 22),
    "Atan": (np.arctan, {}, 22),
    "Asinh": (np.arcsinh, {}, 22),
    "Acosh": (np.arccosh, {}, 22),
    "Atanh": (np.arctanh, {}, 22),
}
TOLERANCE = {"float16": 1.1e-3, "float32": 1e-6, "float64": 1e-13}


def points(dtype: str) -> Array:
    special = [-0.0, 0.0, np.inf, -np.inf, np.nan, 1e-6, -1e-6, 0.5, -0.5, 1, -1, 3, -3, 20, -20]
    return np.concatenate([special, np.random.default_rng(0).normal(0, 3, 40)]).astype(dtype)


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("operator", FORMULAS)
def test_follows_its_formula(operator: str, dtype: str) -> None:
    """Relative to the result, near 0 and far below it too."""
    formula, attributes, version = FORMULAS[operator]
    x = points(dtype)
    (found,) = run(operator, {"x": x}, version=version, **attributes)
    with np.errstate(all="ignore"):
        wanted = formula(x.astype(np.float64), **attributes).astype(dtype)
    assert found.dtype == wanted.dtype
    least = np.finfo(dtype).eps if operator == "HardSwish" else np.finfo(dtype).smallest_subnormal  # x / 6 + 1/2
    np.testing.assert_allclose(found, wanted, rtol=TOLERANCE[dtype], atol=float(least))


def test_defaults_are_those_of_the_specification() -> None:
    x = points("float32")[5:]
    for operator in FORMULAS:
        if operator in ("Acosh", "Asin", "Acos", "Atanh", "Mish"):
            continue
        version = FORMULAS[operator][2]
        (found,) = run(operator, {"x": x}, version=version)
        (wanted,) = expected(operator, {"x": x}, version=version)
        np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=1e-6, err_msg=operator)


def test_swish_of_one_is_one_op() -> None:
    text = text_of("Swish", {"x": np.zeros(4, np.float32)}, version=24)
    assert "graph.silu" in text and "graph.sigmoid" not in text


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_swiglu(dtype: str) -> None:
    x, y = points(dtype)[5:], points(dtype)[5:][::-1].copy()
    (found,) = run("SwiGLU", {"a": x, "b": y}, version=28, alpha=0.5)
    a, b = x.astype(np.float64), y.astype(np.float64)
    np.testing.assert_allclose(found, (a * logistic(0.5 * a) * b).astype(dtype), rtol=TOLERANCE[dtype])
    with pytest.raises(OnnxError, match=r"the inputs are tensor<4xf32> and tensor<1xf32>, expected the same shape"):
        text_of("SwiGLU", {"a": np.zeros(4, np.float32), "b": np.zeros(1, np.float32)}, version=28)


@pytest.mark.ci_cases(8)
@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "uint32", "int64"])
@pytest.mark.parametrize("shape", [(3, 4), (4,), (3, 1), (1,)])
def test_prelu(dtype: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    low = 0 if dtype.startswith("u") else -5
    x, slope = rng.integers(low, 6, (3, 4)).astype(dtype), rng.integers(1, 4, shape).astype(dtype)
    (found,) = run("PRelu", {"x": x, "slope": slope}, version=16)
    np.testing.assert_array_equal(found, np.where(x < 0, x * slope, x))


@pytest.mark.ci_cases(5)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
@pytest.mark.parametrize(("bias", "lambd"), [(0.0, 0.5), (2.0, 1.5), (-1.0, 2.0), (1.0, 0.0)])
def test_integers_shrink(dtype: str, bias: float, lambd: float) -> None:
    x = np.arange(0 if dtype == "uint8" else -5, 6).astype(dtype)
    (found,) = run("Shrink", {"x": x}, version=9, bias=bias, lambd=lambd)
    wide = x.astype(np.float64)
    wanted = np.where(wide < -lambd, wide + bias, np.where(wide > lambd, wide - bias, 0))
    np.testing.assert_array_equal(found, wanted.astype(np.int64).astype(dtype))


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint16", "int32"])
@pytest.mark.parametrize(("bias", "lambd"), [(1.5, 0.5), (0.25, 2.0), (1.5, 1.75), (-0.75, 0.5), (0.5, -1.5)])
def test_integers_shrink_by_fractions(dtype: str, bias: float, lambd: float) -> None:
    """The fraction of the sum is cut off."""
    x = np.arange(2 if dtype == "uint16" else -5, 9).astype(dtype)
    (found,) = run("Shrink", {"x": x}, version=9, bias=bias, lambd=lambd)
    (wanted,) = by_onnxruntime(model_of("Shrink", {"x": x}, version=9, bias=bias, lambd=lambd), {"x": x})
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_integers_of_64_bits_shrink_by_whole_numbers() -> None:
    message = r"lambd is 0.5 and bias 0.25, expected lambd >= 0 and a whole bias for integers of 64 bits"
    with pytest.raises(OnnxError, match=message):
        text_of("Shrink", {"x": np.zeros(4, np.int64)}, version=9, bias=0.25, lambd=0.5)


@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    axis=st.integers(-3, 2),
    version=st.sampled_from([11, 13]),
    seed=st.integers(0, 99),
)
def test_hardmax(shape: list[int], axis: int, version: int, seed: int) -> None:
    axis = axis % len(shape) - (len(shape) if axis < 0 else 0)
    x = np.random.default_rng(seed).integers(0, 3, shape).astype(np.float32)
    (found,) = run("Hardmax", {"x": x}, version=version, axis=axis)
    rows = np.moveaxis(x, axis, -1)
    if version < 13:
        split = axis % len(shape)
        rows = x.reshape(math.prod(shape[:split]), -1)
    wanted = np.zeros_like(rows)
    for place in np.ndindex(*rows.shape[:-1]):
        wanted[(*place, rows[place].argmax())] = 1
    wanted = np.moveaxis(wanted, -1, axis) if version >= 13 else wanted.reshape(shape)
    np.testing.assert_array_equal(found, wanted)


# Dropout


@pytest.mark.parametrize("version", [7, 10, 12, 22])
def test_dropout_keeps_everything(version: int) -> None:
    x = np.random.default_rng(2).standard_normal((3, 4)).astype(np.float32)
    found, mask = run("Dropout", {"x": x}, version=version, outputs=2)
    np.testing.assert_array_equal(found, x)
    assert mask.dtype == (np.float32 if version < 10 else np.bool_) and mask.all() and mask.shape == x.shape


def test_the_ratio_of_dropout_may_be_an_input() -> None:
    """Nothing asks for it outside training."""
    inputs = {"x": np.arange(4, dtype=np.float32), "ratio": np.array(0.5, np.float32), "training": np.array(False)}
    for known in (("training",), ()):
        made = model_of("Dropout", inputs, version=13, known=known)
        arrays = [array for name, array in inputs.items() if name not in known]
        np.testing.assert_array_equal(stepwell.compile_onnx(made)(*arrays)[0], inputs["x"])
    message = "training_mode is true, expected a model for inference\nhint: .*values=\\['ratio'\\]"
    with pytest.raises(OnnxError, match=message):
        stepwell.compile_onnx(made)(*arrays[:2], np.array(True))


def test_dropout_of_training_is_refused_unless_nothing_is_dropped() -> None:
    x = np.ones((3, 4), np.float32)
    inputs = {"x": x, "ratio": np.array(0.0, np.float32), "training": np.array(True)}
    (found,) = run("Dropout", inputs, version=13, known=("ratio", "training"))
    np.testing.assert_array_equal(found, x)
    inputs["ratio"] = np.array(0.5, np.float32)
    with pytest.raises(OnnxError, match=r"training_mode is true, expected a model for inference"):
        text_of("Dropout", inputs, version=13, known=("ratio", "training"))


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes"),
    [
        ("RandomNormal", {}, {"shape": [2]}),
        ("RandomUniform", {}, {"shape": [2], "seed": 1.0}),
        ("RandomNormalLike", {"x": np.zeros(2, np.float32)}, {}),
        ("RandomUniformLike", {"x": np.zeros(2, np.float32)}, {"low": 0.5}),
        ("Bernoulli", {"x": np.zeros(2, np.float32)}, {}),
        ("Multinomial", {"x": np.zeros((1, 2), np.float32)}, {"sample_size": 3}),
    ],
)
def test_random_operators_are_refused(operator: str, inputs: Any, attributes: Any) -> None:
    with pytest.raises(OnnxError, match=r"the result is random, expected a function of the inputs") as caught:
        text_of(operator, inputs, version=22, **attributes)
    assert "make it an input of the model" in str(caught.value)
