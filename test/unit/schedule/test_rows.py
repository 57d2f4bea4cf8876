"""Kernels over rows, and transposes in tiles, against NumPy in double precision."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stepwell

Array = np.ndarray[Any, Any]

ROWS = [(7, 133), (1, 1000), (5, 64), (2, 3, 65, 65), (1, 1, 5, 100), (300, 3)]


def run(body: str, shape: tuple[int, ...], result: tuple[int, ...], *arrays: Array, dtype: str = "f32") -> Array:
    """`body` computes `%y` from `%a0`, of `shape`, and vectors as long as its last axis."""
    extents = "x".join(map(str, shape))
    types = [
        f"tensor<{extents}x{dtype}>",
        *(f"tensor<{shape[-1]}x{dtype}>" for _ in arrays[1:]),
    ]
    arguments = ", ".join(f"%a{number}: {type_}" for number, type_ in enumerate(types))
    out = f"tensor<{'x'.join(map(str, result))}x{dtype}>"
    body = body.replace("TYPES", ", ".join(types)).replace("OUT", out)
    text = f"func.func @main({arguments}) -> {out} {{\n  {body}\n  func.return %y : {out}\n}}\n"
    (found,) = stepwell.compile(text, threads=1)(*arrays)
    return np.asarray(found)


def softmax(x: Array, axis: int) -> Array:
    with np.errstate(invalid="ignore"):
        e = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("shape", ROWS)
def test_softmax_of_rows(shape: tuple[int, ...]) -> None:
    x = (3 * np.random.default_rng(1).standard_normal(shape)).astype(np.float32)
    y = run("%y = graph.softmax %a0 : (TYPES) -> OUT", shape, shape, x)
    np.testing.assert_allclose(y, softmax(x, -1), rtol=2e-6, atol=1e-30)


def test_softmax_of_columns() -> None:
    x = np.random.default_rng(1).standard_normal((100, 70)).astype(np.float32)
    y = run("%y = graph.softmax %a0, axis = 0 : (TYPES) -> OUT", x.shape, x.shape, x)
    np.testing.assert_allclose(y, softmax(x, 0), rtol=2e-6)


def test_softmax_of_special_rows() -> None:
    """Each row for itself: a NaN, infinities, zeros of both signs as maxima, numbers whose exponential vanishes."""
    x = np.zeros((6, 80), np.float32)
    x[0, 17] = np.nan
    x[1, 3] = np.inf
    x[2] = -np.inf
    x[3, ::2] = -0.0
    x[3, 1::4] = -1.0
    x[4, 5] = 3e38
    x[5] = -np.inf
    x[5, 79] = -0.0
    y = run("%y = graph.softmax %a0 : (TYPES) -> OUT", x.shape, x.shape, x)
    np.testing.assert_allclose(y, softmax(x, -1), rtol=2e-6)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("shape", ROWS)
def test_norms_of_rows(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(2)
    x, gamma, beta = (rng.standard_normal(s).astype(np.float32) for s in (shape, shape[-1], shape[-1]))
    wide = x.astype(np.float64)
    y = run("%y = graph.layer_norm %a0, %a1, %a2 : (TYPES) -> OUT", shape, shape, x, gamma, beta)
    centred = wide - wide.mean(-1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * gamma + beta
    np.testing.assert_allclose(y, expected, rtol=2e-5, atol=2e-5)
    y = run("%y = graph.rms_norm %a0, %a1 : (TYPES) -> OUT", shape, shape, x, gamma)
    expected = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-5) * gamma
    np.testing.assert_allclose(y, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((16, 16), (1, 0)),
        ((37, 53), (1, 0)),
        ((15, 70), (1, 0)),
        ((128, 64), (1, 0)),
        ((2, 3, 20, 35), (0, 2, 3, 1)),
        ((20, 3, 2, 35), (3, 2, 1, 0)),
        ((3, 20, 18), (2, 0, 1)),
        ((18, 3, 20), (1, 2, 0)),
    ],
)
def test_transposes(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    expected = x.transpose(axes)
    y = run(f"%y = graph.permute_dims %a0, axes = {list(axes)} : (TYPES) -> OUT", shape, expected.shape, x)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize(
    ("dtype", "numpy_type"), [("i8", np.int8), ("f16", np.float16), ("f64", np.float64), ("i1", np.bool_)]
)
def test_transposes_of_other_types(dtype: str, numpy_type: Any) -> None:
    x = np.random.default_rng(3).integers(0, 100, (50, 33)).astype(numpy_type)
    y = run("%y = graph.permute_dims %a0, axes = [1, 0] : (TYPES) -> OUT", (50, 33), (33, 50), x, dtype=dtype)
    np.testing.assert_array_equal(y, x.T)


def test_nothing_outside_the_arrays_is_touched() -> None:
    program = Path(__file__).parents[2] / "support" / "guarded_rows.py"
    found = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout[-2000:] + found.stderr[-2000:]
