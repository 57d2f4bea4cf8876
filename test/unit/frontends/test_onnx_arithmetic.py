"""Remainders, shifts, bits, tables that follow from shapes, determinants, conversions and bounds, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper
from onnx_one_node import expected, run, text_of
from stepwell.frontends import OnnxError

Array = np.ndarray[Any, Any]

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def edges(dtype: str) -> Array:
    """Limits, zero, small numbers."""
    bounds = np.iinfo(dtype)
    values = {bounds.min, bounds.min + 1, bounds.max, bounds.max - 1, 0, 1, 2, 3, 7, 8, 31, 63, 64, 100}
    values |= {-1, -2, -3, -8} if bounds.min < 0 else set()
    return np.array(sorted(value for value in values if bounds.min <= value <= bounds.max), dtype)


def pairs(dtype: str, *, zero: bool) -> tuple[Array, Array]:
    x = edges(dtype)
    y = x if zero else x[x != 0]
    return np.repeat(x, len(y)), np.tile(y, len(x))


# Remainders and shifts


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize("fmod", [0, 1])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_remainders_of_integers(dtype: str, fmod: int) -> None:
    x, y = pairs(dtype, zero=False)
    (found,) = run("Mod", {"x": x, "y": y}, version=13, fmod=fmod)
    with np.errstate(all="ignore"):
        wanted = np.array(
            [
                (abs(int(a)) % abs(int(b)) * (-1 if a < 0 else 1)) if fmod else int(a) % int(b)
                for a, b in zip(x, y, strict=True)
            ],
            object,
        )
    np.testing.assert_array_equal(found, wanted.astype(dtype))


@pytest.mark.parametrize("fmod", [0, 1])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_remainders_of_floats(dtype: str, fmod: int) -> None:
    """Exact, with the sign of zero."""
    values = np.array([-np.inf, -7.5, -3, -1, -0.3, -0.0, 0.0, 0.3, 1, 2.5, 3, 1000, np.inf, np.nan], dtype)
    x, y = np.repeat(values, len(values)), np.tile(values, len(values))
    (found,) = run("Mod", {"x": x, "y": y}, version=28, fmod=fmod)
    with np.errstate(all="ignore"):
        wanted = np.fmod(x, y) if fmod else np.mod(x, y)
    np.testing.assert_array_equal(found, wanted)
    ordered = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found[ordered]), np.signbit(wanted[ordered]))


@pytest.mark.ci_cases(8)
@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts(dtype: str, direction: str) -> None:
    """Counts that are negative, or not below the width, leave the sign."""
    x, y = pairs(dtype, zero=True)
    (found,) = run("BitShift", {"x": x, "y": y}, version=28, direction=direction)
    width = np.iinfo(dtype).bits
    wanted = []
    for value, count in zip(x.tolist(), y.tolist(), strict=True):
        count = count if 0 <= count < width else width
        result = (value << count) if direction == "LEFT" else (value >> count)
        wanted.append(result % 2**width)
    np.testing.assert_array_equal(found, np.array(wanted, np.uint64).astype(f"uint{width}").view(dtype))


def test_shifts_have_a_direction() -> None:
    x = np.zeros(2, np.uint8)
    with pytest.raises(OnnxError, match=r"direction is 'UP', expected LEFT or RIGHT"):
        text_of("BitShift", {"x": x, "y": x}, version=11, direction="UP")


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("float32", "int32"),
        ("float32", "uint32"),
        ("uint16", "float16"),
        ("int64", "float64"),
        ("int8", "uint8"),
        ("bool", "int8"),
        ("float64", "float64"),
    ],
)
def test_bits_are_kept(source: str, target: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 16).astype(bool) if source == "bool" else np.frombuffer(rng.bytes(128), source)
    to = helper.np_dtype_to_tensor_dtype(np.dtype(target))
    (found,) = run("BitCast", {"x": x.copy()}, version=26, to=to)
    assert found.dtype == target
    np.testing.assert_array_equal(found, x.view(target))


def test_bits_of_another_width() -> None:
    with pytest.raises(
        OnnxError, match=r"the input is tensor<2xf32> and 'to' is i64, expected an element type of 32 bits"
    ):
        text_of("BitCast", {"x": np.zeros(2, np.float32)}, version=26, to=TensorProto.INT64)


# Tables


@given(
    rows=st.integers(0, 5),
    columns=st.integers(0, 5),
    k=st.integers(-7, 7),
    upper=st.integers(0, 1),
    dtype=st.sampled_from(["float32", "int64", "uint8", "bool", "float16"]),
)
def test_triangles(rows: int, columns: int, k: int, upper: int, dtype: str) -> None:
    x = np.ones((2, rows, columns), dtype)
    (found,) = run("Trilu", {"x": x, "k": np.array(k)}, version=14, known=["k"], upper=upper)
    np.testing.assert_array_equal(found, np.triu(x, k) if upper else np.tril(x, k))
    assert found.dtype == x.dtype


def test_triangles_are_of_matrices() -> None:
    with pytest.raises(OnnxError, match=r"the input is tensor<4xf32>, expected matrices"):
        text_of("Trilu", {"x": np.zeros(4, np.float32)}, version=14)
    with pytest.raises(OnnxError, match=r"input 1, 'k', is computed at run time, expected it to be known at import"):
        text_of("Trilu", {"x": np.zeros((4, 4), np.float32), "k": np.array(1)}, version=14)


@pytest.mark.ci_cases(11)
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (1, 1), (70, 80)])
@pytest.mark.parametrize("k", [0, 2, -1, 90])
@pytest.mark.parametrize("dtype", [None, TensorProto.BOOL, TensorProto.FLOAT16])
def test_unit_matrices(shape: tuple[int, int], k: int, dtype: int | None) -> None:
    attributes = {} if dtype is None else {"dtype": dtype}
    (found,) = run("EyeLike", {"x": np.zeros(shape, np.int32)}, version=22, k=k, **attributes)
    target = np.int32 if dtype is None else helper.tensor_dtype_to_np_dtype(dtype)
    np.testing.assert_array_equal(found, np.eye(*shape, k=k, dtype=target))
    assert found.dtype == target


@pytest.mark.parametrize("numbers", [(0, 10, 3), (10, 0, -3), (1.5, 3.0, 0.25), (0, 9000, 2), (5, 5, 1), (5, 0, 1)])
def test_ranges(numbers: tuple[float, float, float]) -> None:
    dtype = np.float32 if isinstance(numbers[0], float) else np.int64
    start, limit, delta = (np.array(number, dtype) for number in numbers)
    inputs = {"start": start, "limit": limit, "delta": delta}
    (found,) = run("Range", inputs, version=11, known=list(inputs))
    np.testing.assert_array_equal(found, np.arange(numbers[0], numbers[1], numbers[2], dtype))


@pytest.mark.parametrize("operator", ["HannWindow", "HammingWindow", "BlackmanWindow"])
@pytest.mark.parametrize("periodic", [0, 1])
def test_windows_are_tables(operator: str, periodic: int) -> None:
    size = {"size": np.array(11)}
    (found,) = run(operator, size, version=17, known=["size"], periodic=periodic)
    phase = 2 * np.pi * np.arange(11) / (11 if periodic else 10)
    terms = {
        "HannWindow": 0.5 - 0.5 * np.cos(phase),
        "HammingWindow": 25 / 46 - 21 / 46 * np.cos(phase),
        "BlackmanWindow": 0.42 - 0.5 * np.cos(phase) + 0.08 * np.cos(2 * phase),
    }
    np.testing.assert_allclose(found, terms[operator], atol=1e-6)
    assert "graph.constant" in text_of(operator, size, version=17, known=["size"])
    with pytest.raises(OnnxError, match=r"input 0, 'size', is computed at run time, expected it to be known at import"):
        text_of(operator, size, version=17)


# Determinants


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("size", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
def test_determinants(size: int, batch: tuple[int, ...]) -> None:
    x = np.random.default_rng(size).standard_normal((*batch, size, size)).astype(np.float32)
    (found,) = run("Det", {"x": x}, version=22)
    np.testing.assert_allclose(found, np.linalg.det(x.astype(np.float64)), rtol=1e-5, atol=1e-5)
    assert found.shape == batch


def test_determinants_of_larger_matrices() -> None:
    with pytest.raises(OnnxError, match=r"the matrices have 5 rows, expected at most 4"):
        text_of("Det", {"x": np.zeros((5, 5), np.float32)}, version=22)
    with pytest.raises(OnnxError, match=r"the input is tensor<2x3xf32>, expected square matrices of known size"):
        text_of("Det", {"x": np.zeros((2, 3), np.float32)}, version=22)


# Conversions, bounds, choices


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize("target", [*INTEGERS, "bool", "float16", "float32", "float64"])
def test_casts_saturate_and_wrap(target: str) -> None:
    """Floats beyond the range give its end, NaN gives 0; integers wrap."""
    floats = np.array([-np.inf, -1e20, -300.7, -1.5, -0.0, 0.4, 1.9, 300.7, 7e4, 1e20, np.inf, np.nan], np.float32)
    integers = np.array([-(2**63), -300, -1, 0, 1, 127, 128, 255, 256, 65536, 2**63 - 1], np.int64)
    to = helper.np_dtype_to_tensor_dtype(np.dtype(target))
    (from_floats,) = run("Cast", {"x": floats}, version=21, to=to)
    (from_integers,) = run("CastLike", {"x": integers, "y": np.zeros(1, target)}, version=21)
    with np.errstate(all="ignore"):
        if target in INTEGERS:
            bounds = np.iinfo(target)
            wanted = [
                0 if np.isnan(x) else int(max(min(np.trunc(np.float64(x)), bounds.max), bounds.min)) for x in floats
            ]
            np.testing.assert_array_equal(from_floats, np.array(wanted, target))
        else:
            np.testing.assert_array_equal(from_floats, floats.astype(target))
        np.testing.assert_array_equal(from_integers, integers.astype(target))


def test_a_known_value_of_another_type_stays_known() -> None:
    x = np.array([-np.inf, 1.5, 300.0, np.nan], np.float32)
    text = text_of("CastLike", {"x": x, "y": np.zeros(1, np.int8)}, version=21, known=["x"])
    assert "dense<[-128, 1, 127, 0]> : tensor<4xi8>" in text and "graph.astype" not in text


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float16", "float64"])
def test_clip_of_all_types(dtype: str) -> None:
    x = np.arange(0 if dtype.startswith("u") else -9, 10).astype(dtype)
    for low, high in ((2, 5), (None, 3), (1, None), (5, 2)):
        inputs = {"x": x, "low": low if low is None else np.array(low, dtype)}
        inputs["high"] = high if high is None else np.array(high, dtype)
        bounds = [name for name in ("low", "high") if inputs[name] is not None]
        for known in (bounds, []):
            (found,) = run("Clip", inputs, version=13, known=known)
            wanted = x if low is None else np.maximum(x, np.array(low, dtype))
            np.testing.assert_array_equal(found, wanted if high is None else np.minimum(wanted, np.array(high, dtype)))


@pytest.mark.ci_cases(7)
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize(("operator", "function"), [("Max", np.maximum), ("Min", np.minimum)])
def test_extrema_of_three(operator: str, function: Any, dtype: str) -> None:
    rng = np.random.default_rng(3)
    arrays = [rng.integers(0, 100, shape).astype(dtype) for shape in ((4, 3), (3,), (4, 1))]
    if dtype.startswith("f"):
        arrays[0][0, 0] = np.nan
    (found,) = run(operator, dict(zip("xyz", arrays, strict=True)), version=13)
    np.testing.assert_array_equal(found, function(function(arrays[0], arrays[1]), arrays[2]))


@pytest.mark.parametrize(("negative", "positive"), [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_infinities(dtype: str, negative: int, positive: int) -> None:
    x = np.array([-np.inf, np.inf, np.nan, 0.0, 1.0], dtype)
    (found,) = run("IsInf", {"x": x}, version=20, detect_negative=negative, detect_positive=positive)
    np.testing.assert_array_equal(found, (np.isneginf(x) & bool(negative)) | (np.isposinf(x) & bool(positive)))


def test_optional_values_are_known_at_import() -> None:
    x = np.arange(3, dtype=np.float32)
    (found,) = run("OptionalGetElement", {"x": x}, version=18)
    np.testing.assert_array_equal(found, x)
    assert "dense<true>" in text_of("OptionalHasElement", {"x": x}, version=18)
    assert "dense<false>" in text_of("OptionalHasElement", {}, version=18)


def test_evaluator_agrees_on_mixed_operators() -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((4, 4)).astype(np.float32)
    for operator, version in (("Trilu", 14), ("EyeLike", 22), ("Acosh", 22)):
        inputs = {"x": np.abs(x) + 1}
        for one, two in zip(
            run(operator, inputs, version=version), expected(operator, inputs, version=version), strict=True
        ):
            np.testing.assert_allclose(one, two, rtol=1e-6)
