"""`graph.requantize`: sums of 32 bits and floats as integers, natively and by the reference, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from hypothesis import given
from hypothesis import strategies as st
from stepwell import reference

Array = np.ndarray[Any, Any]


def wanted(x: Array, multiplier: Array, zero: int, dtype: str, axis: int) -> Array:
    """What the op is defined to be: rounded to f32 after each step, halves to even, cut off at the ends of the type."""
    factors = np.moveaxis(multiplier.reshape(-1, *[1] * (x.ndim - 1)), 0, axis) if multiplier.ndim else multiplier
    with np.errstate(all="ignore"):
        steps = np.rint(x.astype(np.float32) * factors) + np.float32(zero)
    info = np.iinfo(dtype)
    whole = np.clip(np.where(np.isnan(steps), 0, steps).astype(np.float64), info.min, info.max)
    return whole.astype(dtype)


@pytest.mark.parametrize("opt_level", (0, 2))
@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    along=st.booleans(),
    place=st.integers(-4, 3),
    sums=st.booleans(),
    kind=st.sampled_from(("ui8", "i8", "i16")),
    seed=st.integers(0, 2**32 - 1),
)
def test_it_rounds_adds_and_saturates(
    opt_level: int, shape: list[int], along: bool, place: int, sums: bool, kind: str, seed: int
) -> None:
    random, axis = np.random.default_rng(seed), place % len(shape)
    dtype = kind.replace("ui", "uint").replace("i", "int") if kind[0] == "i" else "uint8"
    x = random.integers(-3000, 3000, shape, dtype=np.int32)
    given = x if sums else (x / np.float32(8)).astype(np.float32)
    multiplier = random.choice([0.5, 0.1, 2.0, -0.25, 0.03], shape[axis] if along else ()).astype(np.float32)
    zero = np.array(random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1), dtype)
    types = f"tensor<{'x'.join(map(str, shape))}x{'i32' if sums else 'f32'}>"
    factors, result = (
        f"tensor<{f'{shape[axis]}x' if along else ''}f32>",
        types.replace("i32", "f32").replace("f32", kind),
    )
    text = f"""func.func @main(%x: {types}, %m: {factors}, %z: tensor<{kind}>) -> {result} {{
      %q = graph.requantize %x, %m, %z, axis = {axis} : ({types}, {factors}, tensor<{kind}>) -> {result}
      func.return %q : {result}
    }}"""
    expected = wanted(given, multiplier, int(zero), dtype, axis)
    (found,) = stepwell.compile(text, opt_level=opt_level, cache=False)(given, multiplier, zero)
    np.testing.assert_array_equal(found, expected)
    (other,) = reference.evaluate("graph.requantize", {"axis": axis}, given, multiplier, zero)
    np.testing.assert_array_equal(other, expected)


def test_what_is_no_number_and_what_is_beyond_the_type() -> None:
    """NaN gives 0, infinities the ends of the type. Sums beyond 24 bits are rounded to f32 before the product."""
    x = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 0.5, 1.5, -0.0], np.float32)
    sums = np.array([2**31 - 1, -(2**31), 2**24 + 1, 2**24 + 3, 0, 1, -1, 7], np.int32)
    text = """func.func @main(%x: tensor<8xf32>, %s: tensor<8xi32>, %m: tensor<f32>, %n: tensor<f32>, %z: tensor<i8>)
        -> (tensor<8xi8>, tensor<8xi8>) {
      %q = graph.requantize %x, %m, %z : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
      %r = graph.requantize %s, %n, %z : (tensor<8xi32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
      func.return %q, %r : tensor<8xi8>, tensor<8xi8>
    }"""
    one, tiny = np.array(1, np.float32), np.array(2.0**-20, np.float32)
    q, r = stepwell.compile(text, cache=False)(x, sums, one, tiny, np.array(3, np.int8))
    np.testing.assert_array_equal(q, [0, 127, -128, 127, -128, 3, 5, 3])
    np.testing.assert_array_equal(r, [127, -128, 19, 19, 3, 3, 3, 3])
