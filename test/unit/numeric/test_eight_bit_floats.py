"""Floats of 8 bits: conversions of every pattern, and what overflows, natively."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import stepwell
from eight_bit_floats import ALL_BITS, TYPES, Array, by_the_table, each_type, ignores_nan, positive_values, same
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from onnx import TensorProto
from onnx_one_node import run as run_node
from stepwell import reference
from stepwell.te import numeric
from stepwell.te.dtypes import FLOATS, numpy_dtype

ONNX = {"f8E4M3FN": TensorProto.FLOAT8E4M3FN, "f8E5M2": TensorProto.FLOAT8E5M2}

pytestmark = ignores_nan


@cache
def casting(source: str, target: str, count: int, opt_level: int) -> stepwell.Executable:
    types = f"tensor<{count}x{source}>", f"tensor<{count}x{target}>"
    text = f"""
    func.func @main(%x: {types[0]}) -> {types[1]} {{
      %y = graph.astype %x, dtype = {target} : ({types[0]}) -> {types[1]}
      func.return %y : {types[1]}
    }}"""
    return stepwell.compile(text, opt_level=opt_level, cache=False)


def cast(x: Array, source: str, target: str, opt_level: int = 3) -> Array:
    (result,) = casting(source, target, x.size, opt_level)(x)
    return result


# To other types


@each_type
@pytest.mark.parametrize("opt_level", range(4))
def test_every_pattern_as_f32(dtype: str, opt_level: int) -> None:
    x = ALL_BITS.view(TYPES[dtype])
    assert same(cast(x, dtype, "f32", opt_level), x.astype(np.float32))


@each_type
@pytest.mark.parametrize("target", FLOATS)
def test_every_pattern_as_any_float(dtype: str, target: str) -> None:
    x = ALL_BITS.view(TYPES[dtype])
    wanted = x.astype(np.float32).astype(numpy_dtype(target))  # exact, or rounded once
    assert same(cast(x, dtype, target), wanted)
    assert same(numeric.cast(dtype, target, x), wanted)
    assert same(reference.evaluate("graph.astype", {"dtype": target}, x)[0], wanted)


# From other types: an oracle of its own, the values of the format in order


def f32_patterns() -> Array:
    """The upper half of every f32, with lower halves at and around ties and at both ends."""
    upper = np.arange(65536, dtype=np.uint32) << 16
    return np.concatenate([upper + low for low in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF)]).view(np.float32)


def ties(dtype: str) -> Array:
    """The middles between all neighbours, and the numbers next to them, in f64."""
    values, _ = positive_values(dtype)
    middles = (values[:-1] + values[1:]) / 2
    points = np.concatenate([middles, np.nextafter(middles, 0), np.nextafter(middles, np.inf), values])
    return np.concatenate([points, -points, [np.inf, -np.inf, np.nan, 1e300, 5e-324]])


@each_type
@pytest.mark.parametrize("opt_level", range(4))
def test_every_upper_half_of_f32_is_rounded_once(dtype: str, opt_level: int) -> None:
    x = f32_patterns()
    wanted = by_the_table(x, dtype, saturate=False)
    assert same(cast(x, "f32", dtype, opt_level), wanted)
    if opt_level == 0:
        assert same(reference.evaluate("graph.astype", {"dtype": dtype}, x)[0], wanted)
        assert same(numeric.cast("f32", dtype, x), wanted)


@each_type
def test_f64_is_rounded_once(dtype: str) -> None:
    """The numbers next to ties in f64 are ties in f32: `ml_dtypes` rounds twice there."""
    x = ties(dtype)
    wanted = by_the_table(x, dtype, saturate=False)
    assert same(cast(x, "f64", dtype), wanted)
    assert same(reference.evaluate("graph.astype", {"dtype": dtype}, x)[0], wanted)
    assert same(numeric.cast("f64", dtype, x), wanted)
    assert not same(x.astype(TYPES[dtype]), wanted)


@each_type
@pytest.mark.parametrize("source", ["f16", "bf16"])
def test_every_pattern_of_16_bits(dtype: str, source: str) -> None:
    x = np.arange(65536, dtype=np.uint16).view(numpy_dtype(source))
    assert same(cast(x, source, dtype), by_the_table(x.astype(np.float32), dtype, saturate=False))


@each_type
@settings(max_examples=50, deadline=None)
@given(x=arrays(np.float32, 64, elements=st.floats(width=32)))
def test_any_f32(dtype: str, x: Array) -> None:
    assert same(cast(x, "f32", dtype), by_the_table(x, dtype, saturate=False))


@pytest.mark.ci_cases(7)
@each_type
@pytest.mark.parametrize("source", ["i8", "ui16", "i32", "i64", "ui64"])
def test_integers_are_rounded_once(dtype: str, source: str) -> None:
    info = np.iinfo(numpy_dtype(source))
    edges = [int(n) + step for n in positive_values(dtype)[0] if n == int(n) for step in (-1, 0, 1)]
    edges += [448, 464, 465, 480, 57344, 61439, 61440, 61441, info.max, info.min, 2**60 + 2**56 + 1]
    kept = sorted({sign * n for n in edges for sign in (1, -1) if info.min <= sign * n <= info.max})
    x = np.array(kept, numpy_dtype(source))
    assert same(cast(x, source, dtype), by_the_table(np.array(kept, np.float64), dtype, saturate=False))


# Casts of ONNX


def onnx_cast(x: Array, dtype: str, operator: str, saturate: int | None) -> Array:
    attributes: dict[str, Any] = {} if saturate is None else {"saturate": saturate}
    if operator == "Cast":
        return run_node("Cast", {"x": x}, version=19, to=ONNX[dtype], **attributes)[0]
    return run_node("CastLike", {"x": x, "like": np.ones(1, TYPES[dtype])}, version=19, **attributes)[0]


@pytest.mark.ci_cases(6)
@each_type
@pytest.mark.parametrize("saturate", [None, 1, 0])
@pytest.mark.parametrize("operator", ["Cast", "CastLike"])
def test_the_attribute_saturate(dtype: str, saturate: int | None, operator: str) -> None:
    x = np.concatenate([f32_patterns(), ties(dtype).astype(np.float32)])
    assert same(onnx_cast(x, dtype, operator, saturate), by_the_table(x, dtype, saturate != 0))


@pytest.mark.ci_cases(10)
@each_type
@pytest.mark.parametrize("saturate", [1, 0])
@pytest.mark.parametrize("source", ["f64", "f16", "bf16", "f8E4M3FN", "f8E5M2"])
def test_saturation_from_other_types(dtype: str, saturate: int, source: str) -> None:
    if source == dtype:
        return
    x = ties(dtype) if source == "f64" else ties(dtype).astype(np.float32).astype(numpy_dtype(source))
    wide = x if source == "f64" else x.astype(np.float32)
    assert same(onnx_cast(x, dtype, "Cast", saturate), by_the_table(wide, dtype, saturate != 0))


@each_type
@pytest.mark.parametrize("source", ["i1", "i8", "ui16", "i64"])
def test_integers_saturate_too(dtype: str, source: str) -> None:
    numbers = [0, 1] if source == "i1" else [0, 1, 3, 17, 100, 127]
    numbers += [464, 465, 480, 57344, 65535] if source in ("ui16", "i64") else []
    x = np.array([*numbers, *([-1, -480, 2**62] if source == "i64" else [])]).astype(numpy_dtype(source))
    assert same(onnx_cast(x, dtype, "Cast", 1), by_the_table(x.astype(np.float64), dtype, True))


@each_type
@pytest.mark.parametrize("saturate", [1, 0])
@pytest.mark.parametrize("operator", ["Cast", "CastLike"])
def test_what_is_known_at_import_saturates_too(dtype: str, saturate: int, operator: str) -> None:
    x = np.array([1e6, -1e6, np.inf, np.nan, 1.1], np.float32)
    like: dict[str, Any] = {} if operator == "Cast" else {"like": np.ones(1, TYPES[dtype])}
    to: dict[str, Any] = {"to": ONNX[dtype]} if operator == "Cast" else {}
    (found,) = run_node(operator, {"x": x, **like}, version=19, known=["x"], saturate=saturate, **to)
    assert same(found, by_the_table(x, dtype, saturate != 0))


@each_type
def test_initialisers_and_constants(dtype: str) -> None:
    """As raw bytes and as numbers of `int32_data`."""
    x = ALL_BITS.view(TYPES[dtype])
    (found,) = run_node("Identity", {"x": x}, version=19, known=["x"])
    np.testing.assert_array_equal(found.view(np.uint8), ALL_BITS)
    typed = TensorProto(data_type=ONNX[dtype], dims=[256], int32_data=list(range(256)), name="value")
    (found,) = run_node("Constant", {}, version=19, value=typed)
    np.testing.assert_array_equal(found.view(np.uint8), ALL_BITS)


@pytest.mark.ci_cases(3)
@each_type
@pytest.mark.parametrize("saturate", [1, 0])
@pytest.mark.parametrize("zero", [0.0, 1.5])
def test_quantising(dtype: str, saturate: int, zero: float) -> None:
    x = np.concatenate([np.linspace(-3000, 3000, 601), np.linspace(-0.2, 0.2, 601)]).astype(np.float32)
    scale, point = np.array(0.02, np.float32), np.array(zero, TYPES[dtype])
    (bits,) = run_node("QuantizeLinear", {"x": x, "s": scale, "z": point}, version=19, saturate=saturate)
    assert same(bits, by_the_table(x / scale + np.float32(zero), dtype, saturate != 0))
    (back,) = run_node("DequantizeLinear", {"x": bits, "s": scale, "z": point}, version=19)
    assert same(back, (bits.astype(np.float32) - np.float32(zero)) * scale)
