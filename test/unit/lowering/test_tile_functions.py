"""
Functions in the bodies of `tile.map`, with the instructions of AVX-512 and without: their bounds in docs/numerics.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import expand_math_native as native
import llvm_jit
import math_points as points
import numpy as np
import pytest
from stepwell.lowering.llvm_text.emit_llvm_text import emit_llvm_text
from stepwell.machine.code_target import CodeTarget
from stepwell.machine.host import host_machine
from stepwell.runtime.errors import CompileError
from stepwell.runtime.native.jit import compile_object

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

WIDE = [False, True] if host_machine().has_wide_registers else [False]
"""With the instructions of AVX-512 where the machine has them; loops over tiles run on any."""


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("columns", [64, 21, 5])
@pytest.mark.parametrize("name", ["exp", "exp2"])
@pytest.mark.parametrize("wide", WIDE[1:])
def test_wide_registers_give_the_same_bits(name: str, columns: int, wide: bool) -> None:
    """Overflow, denormals, infinities and NaNs among the points: `tile.scale` rounds as the two factors of 2^n do."""
    x = points.unary_points([(-105, 90), (-151, 130), (-1, 1)])
    x = np.concatenate([[np.inf, -np.inf, np.nan, 3e38, -3e38, 1e7, -1e7, 0.0, -0.0], x]).astype(np.float32)
    found = native.run_tiles(f"%r = math.{name} %x0 : f32", x, wide, columns)
    expected = native.run_f32(name, x[: len(found)].copy())
    same = (found.view(np.int32) == expected.view(np.int32)) | (np.isnan(found) & np.isnan(expected))
    assert same.all(), x[: len(found)][~same][:5]


@pytest.mark.ci_cases(3)
@pytest.mark.parametrize("columns", [64, 21, None])
@pytest.mark.parametrize("factor", [1.0, 0.125, 0.17677669])
def test_relaxed_exponentials(factor: float, columns: int | None) -> None:
    """`afn`: 2 + |x| / 4 units for constants that take the factor as it is, else 2 + |x|. Special cases as of exp."""
    x = points.unary_points([(-105, 90), (-1, 1), (-20, 0)]) / np.float32(factor)
    x = np.concatenate([[np.inf, -np.inf, np.nan, 3e38, -3e38, 1e7, -1e7, 0.0, -0.0], x]).astype(np.float32)
    body = f"%c = arith.constant {factor} : f32\n%s = arith.mulf %x0, %c : f32\n%r = math.exp %s fastmath<afn> : f32"
    if columns is None:
        found = native.run(body, [("f32", x)], ("f32", np.float32))
    else:
        found = native.run_tiles(body, x, WIDE[-1], columns)
    x = x[: len(found)]
    wide = x.astype(REAL) * REAL(np.float32(factor))
    exact = np.exp(wide)
    clear = np.abs(exact / REAL(2) ** 128 - 1) > 1e-5  # From overflow, as the bound there is 22 units and more.
    assert np.array_equal(np.isnan(found), np.isnan(x))
    assert np.array_equal(np.isinf(found[clear]), exact[clear] > REAL(2) ** 128)
    good = np.isfinite(found)
    bound = 2 + np.abs(wide[good]) / (1 if factor == 0.17677669 else 4)
    assert (points.ulp_errors(found[good], exact[good]) <= bound).all()


GELU = """%half = arith.constant 0.5 : f32
      %one = arith.constant 1.0 : f32
      %root = arith.constant 0.707106769 : f32
      %p = arith.mulf %x0, %half : f32
      %q = arith.mulf %x0, %root : f32
      %e = math.erf %q : f32
      %d = arith.addf %one, %e : f32
      %r = arith.mulf %p, %d : f32"""


GELU_BY_TANH = """%half = arith.constant 0.5 : f32
      %one = arith.constant 1.0 : f32
      %k = arith.constant 0.797884583 : f32
      %m = arith.constant 0.0356774069 : f32
      %h = arith.mulf %x0, %half : f32
      %s = arith.mulf %x0, %x0 : f32
      %c = arith.mulf %m, %s : f32
      %d = arith.addf %k, %c : f32
      %z = arith.mulf %x0, %d : f32
      %v = math.tanh %z : f32
      %e = arith.addf %one, %v : f32
      %r = arith.mulf %h, %e : f32"""


SIGMOID = """%zero = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      %positive = arith.cmpf oge, %x0, %zero : f32
      %size = math.absf %x0 : f32
      %h = arith.negf %size : f32
      %e = math.exp %h : f32
      %c = arith.select %positive, %one, %e : f32
      %f = arith.addf %one, %e : f32
      %r = arith.divf %c, %f : f32"""

SILU = """%least = arith.constant 0xff800000 : f32
      %last = arith.cmpf oeq, %x0, %least : f32
      %limit = arith.constant -0.0 : f32
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      %half = arith.constant -0.5 : f32
      %negative = arith.cmpf olt, %x0, %zero : f32
      %size = math.absf %x0 : f32
      %h = arith.mulf %size, %half : f32
      %e = math.exp %h : f32
      %k = arith.mulf %x0, %e : f32
      %m = arith.select %negative, %k, %x0 : f32
      %c = arith.select %negative, %e, %one : f32
      %d = arith.mulf %e, %e : f32
      %f = arith.addf %one, %d : f32
      %g = arith.divf %c, %f : f32
      %p = arith.mulf %m, %g : f32
      %r = arith.select %last, %limit, %p : f32"""

REAL = np.longdouble


def exact_gelu(x: np.ndarray) -> np.ndarray:
    return x / 2 * (1 + points.erf(x * np.sqrt(REAL(0.5))))


def exact_gelu_by_tanh(x: np.ndarray) -> np.ndarray:
    return x / 2 * (1 + np.tanh(np.sqrt(2 / REAL(np.pi)) * (x + REAL(0.044715) * x**3)))


def exact_sigmoid(x: np.ndarray) -> np.ndarray:
    """`1 / (1 + exp(-x))`, which does not overflow in long double."""
    return 1 / (1 + np.exp(-np.clip(x, -1000, 1000)))


def exact_silu(x: np.ndarray) -> np.ndarray:
    return np.where(x == -np.inf, -0.0, x * exact_sigmoid(x))


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize(
    ("body", "exact"), [(GELU, exact_gelu), (GELU_BY_TANH, exact_gelu_by_tanh)], ids=["erf", "tanh"]
)
def test_gelu_is_good_to_a_millionth(body: str, exact: Callable[[np.ndarray], np.ndarray], wide: bool) -> None:
    """Up to 8, and to 6 ulp for positive numbers and near 0 where it is found as a whole."""
    x = points.unary_points([(-8, 8), (-1, 1)])
    x = x[np.isfinite(x)]
    found = native.run_tiles(body, x, wide)
    x = x[: len(found)]
    inside = np.abs(x) <= 8
    x, found = x[inside], found[inside]
    expected = exact(x.astype(REAL))
    assert np.abs(found - expected).max() <= 1e-6
    good = (np.abs(x) > 1e-30) & ((x > 0) | (np.abs(x) < 1))
    if wide or body == GELU:
        assert points.ulp_errors(found[good], expected[good]).max() <= 6
    assert np.array_equal(np.signbit(found[x == 0]), np.signbit(x[x == 0]))


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("columns", [64, 21, 5])
@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize(
    ("body", "exact", "bound", "dense"),
    [
        ("%r = math.tanh %x0 : f32", np.tanh, 3.0, [(-10, 10), (-1, 1)]),
        ("%r = math.erf %x0 : f32", points.erf, 1.5, [(-4.2, 4.2), (-1, 1)]),
        (SIGMOID, exact_sigmoid, 5.0, [(-111, 90), (-20, 20), (-1, 1)]),
        (SILU, exact_silu, 5.0, [(-111, 90), (-20, 20), (-1, 1)]),
    ],
    ids=["tanh", "erf", "sigmoid", "silu"],
)
def test_functions_on_tiles_are_within_their_bounds(
    body: str,
    exact: Callable[[np.ndarray], np.ndarray],
    bound: float,
    dense: list[tuple[float, float]],
    wide: bool,
    columns: int,
) -> None:
    """Zeros have their sign and NaNs stay; denormals, infinities and what overflows on the way are among the points."""
    edges = [np.inf, -np.inf, np.nan, 3e38, -3e38, 1e30, 0.0, -0.0, 1e-45, -1e-45, -110, -109, -104, -88.8]
    with np.errstate(all="ignore"):
        x = np.concatenate([edges, points.unary_points(dense)]).astype(np.float32)
        found = native.run_tiles(body, x, wide, columns)
        x = x[: len(found)]
        expected = exact(x.astype(REAL))
        errors = points.ulp_errors(found, expected)
    worst = int(np.argmax(errors))
    assert errors[worst] <= bound, f"{x[worst]}: {found[worst]}, exact {expected[worst]}"
    zero = expected == 0
    assert np.array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))
    assert np.array_equal(np.isnan(found), np.isnan(x))


@pytest.mark.parametrize("wide", WIDE)
def test_a_formula_of_a_formula(wide: bool) -> None:
    """The variable of the second is what has taken the place of the first."""
    names = {"x0": "first", "r": "r"}
    first = SIGMOID.replace("%r", "%first")
    second = re.sub(r"%(\w+)", lambda name: f"%{names.get(name[1], f'{name[1]}_2')}", SIGMOID)
    x = np.linspace(-30, 30, 6400, dtype=np.float32)
    found = native.run_tiles(f"{first}\n{second}", x, wide)
    expected = exact_sigmoid(exact_sigmoid(x.astype(REAL)))
    np.testing.assert_allclose(found, expected.astype(np.float64), rtol=1e-6)


@pytest.mark.parametrize("name", ["tanh", "erf"])
def test_tails_of_rows_have_the_bits_of_whole_registers(name: str) -> None:
    x = points.unary_points([(-10, 10), (-1, 1)], 20000)[: 64 * 21 * 5 * 2]
    body = f"%r = math.{name} %x0 : f32"
    whole = native.run_tiles(body, x, WIDE[-1])
    for columns in (21, 5):
        part = native.run_tiles(body, x, WIDE[-1], columns)
        assert np.array_equal(whole.view(np.int32), part.view(np.int32))


def test_code_for_avx_512_is_refused_elsewhere() -> None:
    text = emit_llvm_text(llvm_jit.lower(native.expanded(native.tile_source("%r = math.exp %x0 : f32", 64), True)))
    with pytest.raises(CompileError, match="the program has instructions of avx512f, which x86-64 does not have"):
        compile_object(text, CodeTarget("x86_64-unknown-linux-gnu", "x86-64", ""))
