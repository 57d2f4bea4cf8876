"""CDist and GridSample of `com.microsoft`, against onnxruntime."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import stepwell
from onnx_one_node import by_onnxruntime, model_of, run
from stepwell.frontends import OnnxError

Array = Any
OPTIONS: dict[str, Any] = {"version": 1, "domain": "com.microsoft"}


def floats(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def check(operator: str, inputs: dict[str, Array], **options: Any) -> None:
    (wanted,) = by_onnxruntime(model_of(operator, inputs, **OPTIONS, **options), inputs)
    (found,) = run(operator, inputs, **OPTIONS, **options)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def refused(operator: str, inputs: dict[str, Array], message: str, **options: Any) -> None:
    with pytest.raises(OnnxError, match=re.escape(message)):
        stepwell.from_onnx(model_of(operator, inputs, **OPTIONS, **options))


@pytest.mark.parametrize("metric", [None, "euclidean", "sqeuclidean"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances(metric: str | None, dtype: Any) -> None:
    inputs = {"A": floats(0, 5, 3).astype(dtype), "B": floats(1, 4, 3).astype(dtype)}
    check("CDist", inputs, **({} if metric is None else {"metric": metric}))


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ((4, 3), {"metric": "cosine"}, "metric is 'cosine', expected euclidean or sqeuclidean"),
        ((4, 1), {}, "the inputs are tensor<5x3xf32> and tensor<4x1xf32>, expected two matrices with as many columns"),
        ((3,), {}, "the inputs are tensor<5x3xf32> and tensor<3xf32>, expected two matrices with as many columns"),
    ],
)
def test_distances_that_are_refused(shape: tuple[int, ...], options: dict[str, Any], message: str) -> None:
    refused("CDist", {"A": floats(0, 5, 3), "B": floats(1, *shape)}, message, **options)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize(("padding", "corners"), [("zeros", 0), ("reflection", 1), ("border", 1)])
def test_points(mode: str, padding: str, corners: int) -> None:
    inputs = {"X": floats(0, 2, 3, 5, 6), "Grid": floats(1, 2, 4, 3, 2)}
    if (mode, padding) == ("bicubic", "border"):
        inputs["Grid"] = np.tanh(inputs["Grid"]) / 3  # onnxruntime moves what is outside otherwise
    check("GridSample", inputs, mode=mode, padding_mode=padding, align_corners=corners)


def test_points_that_are_refused() -> None:
    inputs = {"X": floats(0, 2, 3, 5, 6), "Grid": floats(1, 2, 4, 3, 2)}
    refused("GridSample", inputs, "mode is 'linear', expected bilinear, nearest or bicubic", mode="linear")
    flat = {"X": floats(0, 2, 3, 5), "Grid": floats(1, 2, 4, 1)}
    refused("GridSample", flat, "the input is tensor<2x3x5xf32>, expected rank 4")
