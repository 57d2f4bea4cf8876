"""The composite functions of docs/numerics.md, compiled as graph ops, on points of the whole range of f32."""

from __future__ import annotations

from typing import Any

import math_points as points
import numpy as np
import pytest
import stepwell

Real = np.longdouble
Array = np.ndarray[Any, Any]


def run(op: str, x: Array) -> Array:
    """The graph op on f32 points, natively."""
    type_ = f"tensor<{len(x)}xf32>"
    name, _, rest = op.partition(",")
    properties = f",{rest}" if rest else ""
    text = f"""
    func.func @main(%x: {type_}) -> {type_} {{
      %y = graph.{name} %x{properties} : ({type_}) -> {type_}
      func.return %y : {type_}
    }}"""
    return stepwell.compile(text, cache=False)(x)[0]


@pytest.mark.parametrize("name", ["sigmoid", "silu"])
def test_sigmoid_and_silu_are_good_to_5_ulp_denormal_results_included(name: str) -> None:
    x = points.unary_points([(-20, 20), (-104, 104)])
    x = x[~np.isinf(x)]
    found = run(name, x)
    wide = x.astype(Real)
    small = np.exp(-np.abs(wide))
    exact = np.where(wide >= 0, 1, small) / (1 + small) * (1 if name == "sigmoid" else wide)
    errors = points.ulp_errors(found, exact)
    worst = int(np.argmax(errors))
    print(f"{name}: {errors[worst]:.3f} ulp at {x[worst]}")
    assert errors[worst] <= 5, f"{name}({x[worst]}) is {found[worst]}, exact {exact[worst]}"


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_is_good_to_a_millionth(approximate: str) -> None:
    """1e-6 absolute where |x| <= 8; beyond, the factor x scales one rounding."""
    x = points.unary_points([(-8, 8), (-3, 3)])
    x = x[np.abs(x) < 1e6]
    found = run(f'gelu, approximate = "{approximate}"', x)
    wide = x.astype(Real)
    if approximate == "none":
        curve = points.erf(wide * np.sqrt(Real(0.5)))
    else:
        curve = np.tanh(np.sqrt(Real(0.5) / np.arctan(Real(1))) * (wide + Real(0.044715) * wide**3))
    exact = wide / 2 * (1 + curve)
    error = np.abs(found.astype(Real) - exact)
    print(f"gelu({approximate}): {float(error[np.abs(x) <= 8].max()):.2e}")
    assert error[np.abs(x) <= 8].max() <= 1e-6
    assert (error / np.maximum(1, np.abs(wide) / 4)).max() <= 1e-6


@pytest.mark.parametrize("op", ["silu", "gelu", 'gelu, approximate = "tanh"', "sigmoid"])
def test_limits(op: str) -> None:
    low, high, nan = run(op, np.array([-np.inf, np.inf, np.nan], np.float32))
    assert low == 0 and np.isnan(nan)
    assert high == (1 if op == "sigmoid" else np.inf)
    assert np.signbit(low) == (op != "sigmoid")
