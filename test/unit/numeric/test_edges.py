"""Corners of docs/semantics.md that random values do not reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell import reference

Array = np.ndarray[Any, Any]


def compiled(op: str, *arrays: Array, types: str, result: str, level: int) -> Array:
    """The result of one op on `arrays`, whose types are `types`."""
    names = [f"%a{number}" for number in range(len(arrays))]
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, types.split(), strict=True))
    head, _, properties = op.partition(" ")
    listed = ", ".join(types.split())
    text = (
        f"func.func @main({arguments}) -> {result} {{\n"
        f"  %r = graph.{head} {', '.join(names)}{properties} : ({listed}) -> {result}\n"
        f"  func.return %r : {result}\n}}"
    )
    return stepwell.compile(text, opt_level=level, cache=False)(*arrays)[0]


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_a_number_beyond_the_element_type_is_infinite(dtype: str, level: int) -> None:
    x = np.array([1, -1, 2], {"f32": np.float32, "f16": np.float16}[dtype])
    type_ = f"tensor<3x{dtype}>"
    found = compiled("leaky_relu , alpha = 1.0e300", x, types=type_, result=type_, level=level)
    assert found.tolist() == [1.0, -np.inf, 2.0]
    found = compiled("clip , max = -1.0e300", x, types=type_, result=type_, level=level)
    assert found.tolist() == [-np.inf] * 3


def test_power_of_minus_infinity_in_the_reference() -> None:
    """The C library's 80-bit pow says inf for the largest exponent below."""
    exponents = np.array([-(2.0**63), -(2.0**62), -3.0, 2.0**63, np.inf])
    found = reference.evaluate("graph.power", {}, np.full(5, -np.inf), exponents)[0]
    assert found.tolist() == [0.0, 0.0, -0.0, np.inf, np.inf]
    assert np.signbit(found).tolist() == [False, False, True, False, False]


@pytest.mark.parametrize("level", [0, 3])
def test_floor_divide_is_exact_where_numpy_is_one_off(level: int) -> None:
    """`(x - mod(x, y)) / y` in f32 rounds to the wrong side here; the exact quotients have 23 bits."""
    x = np.array([1.5139238e06, -2.2501412e06, 2.552424e06, 652010.9], np.float32)
    y = np.array([0.19104859, 0.32734668, 0.4148367, 0.09790936], np.float32)
    exact = [7924286, -6873879, 6152840, 6659331]
    found = compiled("floor_divide", x, y, types="tensor<4xf32> tensor<4xf32>", result="tensor<4xf32>", level=level)
    assert found.tolist() == exact
    assert reference.evaluate("graph.floor_divide", {}, x, y)[0].tolist() == exact
