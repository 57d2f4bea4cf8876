"""Error bounds of the expansions on f64, as docs/numerics.md states them, and loops that check arguments first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import arith_numpy
import expand_math_native as native
import llvm_jit
import numpy as np
import pytest
from counts import FULL
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.math.checked_loops import CHECKED
from stepwell.lowering.math.expand_math import ExpandMathPass
from stepwell.lowering.math.expansions import OF_F64
from stepwell.schedule.default.loop_order import EXPANDED
from xdsl.dialects import func

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

Array = np.ndarray[Any, Any]
Real = np.longdouble
COUNT = 1_000_000 if FULL else 20_000

SPECIAL = np.array(
    [
        *(0.0, 5e-324, 1e-310, 2.2250738585072014e-308, 1e-300, 1e-17, 0.5**0.5, 0.5, 1.0, 2.0**0.5, 1e300),
        *(709.782712893384, 745.1332191019412, 744.4400719213812, 708.3964185322641, 710.0, 746.0, 1e5),
        *(1023.0, 1024.0, 1074.0, 1075.0, 1022.5, 20.0, 37.0, 1.7976931348623157e308, np.inf, np.nan),
        *(2.0**25, 2.0**26, 1e22, 6381956970095103.0 * 2.0**797),
    ]
)
with np.errstate(over="ignore"):
    EDGES = np.concatenate([sign * np.nextafter(SPECIAL, to) for sign in (1, -1) for to in (-np.inf, np.inf)])
EDGES = np.concatenate([EDGES, SPECIAL, -SPECIAL])

CASES: dict[str, tuple[Callable[[Array], Array], tuple[tuple[float, float], ...], float]] = {
    "exp": (np.exp, ((-746, 710), (-1, 1)), 1.0),
    "exp2": (np.exp2, ((-1076, 1025), (-1, 1)), 1.0),
    "expm1": (np.expm1, ((-40, 710), (-1, 1), (-1e-3, 1e-3)), 2.0),
    "log": (np.log, ((0, 10), (0.5, 2), (0.99, 1.01)), 1.0),
    "log2": (np.log2, ((0, 10), (0.5, 2), (0.99, 1.01)), 1.0),
    "log10": (np.log10, ((0, 10), (0.5, 2), (0.99, 1.01)), 1.0),
    "tanh": (np.tanh, ((-20, 20), (-1, 1), (-1e-3, 1e-3)), 3.0),
}
PERIODIC: dict[str, tuple[Callable[[Array], Array], float]] = {
    "cos": (np.cos, 1.0),
    "sin": (np.sin, 1.0),
    "tan": (np.tan, 2.0),
}


def dense(ranges: tuple[tuple[float, float], ...]) -> Array:
    random = np.random.default_rng(11)
    return np.concatenate([random.uniform(low, high, COUNT) for low, high in ranges])


def any_bits() -> Array:
    return np.random.default_rng(12).integers(0, 2**64, COUNT, np.uint64).view(np.float64)


def assert_within(name: str, x: Array, found: Array, exact: Array, bound: float) -> None:
    """Every error is at most `bound` ulp, zeros have the right sign, NaN meets NaN."""
    nearest = exact.astype(np.float64)
    unit = np.spacing(np.minimum(np.abs(nearest), np.finfo(np.float64).max))
    errors = np.abs(found.astype(Real) - exact) / unit
    errors = np.where((found == nearest) & ~np.isfinite(errors) | np.isnan(found) & np.isnan(exact), 0, errors)
    worst = int(np.argmax(np.where(np.isnan(errors), np.inf, errors)))
    assert errors[worst] <= bound, f"{name}({x[worst]!r}): {found[worst]!r}, exact {exact[worst]}, {errors[worst]} ulp"
    zero = exact == 0
    assert np.array_equal(np.signbit(found[zero]), np.signbit(exact[zero]))


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("name", CASES)
def test_error_bound_and_edges(name: str) -> None:
    exact, ranges, bound = CASES[name]
    x = np.concatenate([EDGES, any_bits(), dense(ranges)])
    body = f"%r = math.{name} %x0 : f64"
    found = native.run(body, [("f64", x)], ("f64", np.float64))
    assert_within(name, x, found, exact(x.astype(Real)), bound)
    vectors = native.run_vectors(body.replace("f64", "vector<8xf64>"), [("f64", x)], ("f64", np.float64))
    np.testing.assert_array_equal(vectors, found[: len(vectors)])


@pytest.mark.ci_cases(5)
@pytest.mark.parametrize("name", CASES)
def test_numpy_agrees_to_the_bit(name: str) -> None:
    """Where no product of the expansion overflows, as NumPy has no fma."""
    x = dense(CASES[name][1])[:COUNT] * 0.9
    source = f"func.func @f(%x: f64) -> f64 {{ %r = math.{name} %x : f64 func.return %r : f64 }}"
    module = parse_text(make_context(), source, "test.mlir")
    ExpandMathPass(target="x86-64-v4").apply(make_context(), module)
    (function,) = [op for op in module.walk() if isinstance(op, func.FuncOp)]
    found = native.run(f"%r = math.{name} %x0 : f64", [("f64", x)], ("f64", np.float64))
    np.testing.assert_array_equal(arith_numpy.evaluate(function, x), found)


# Loops that check their arguments


def marked(body: str, count: int, kinds: int = 1) -> str:
    source = llvm_jit.map_kernel(body, ["f64"] * kinds, "f64", count)
    return source.replace("}\n      func.return", '} {stepwell.loop = "vectorize"}\n      func.return')


def run_marked(body: str, x: Array) -> Array:
    text = native.expanded(marked(body, len(x)))
    assert "scf.if" in text and text.count("math.") > text.count("math.fma")  # the loop with the library is there
    result = np.zeros_like(x)
    llvm_jit.Program(text).call("f", x.copy(), result)
    return result


def near_multiples() -> Array:
    """The doubles next to multiples of pi/2 up to 2^25."""
    return np.round(np.random.default_rng(13).uniform(-(2.0**24), 2.0**24, COUNT)) * (np.pi / 2)


@pytest.mark.parametrize("name", PERIODIC)
def test_angles(name: str) -> None:
    exact, bound = PERIODIC[name]
    x = np.concatenate([dense(((-10, 10), (-(2.0**25), 2.0**25), (-1e-3, 1e-3))), near_multiples(), EDGES])
    x = np.where(np.abs(x) <= 2.0**25, x, -0.0)
    assert_within(name, x, run_marked(f"%r = math.{name} %x0 : f64", x), exact(x.astype(Real)), bound)


@pytest.mark.ci_cases(4)
@pytest.mark.parametrize("name", PERIODIC)
@pytest.mark.parametrize("far", [2.0**26, -1e300, np.inf, np.nan])
def test_one_large_angle_calls_the_library(name: str, far: float) -> None:
    x = np.linspace(-5, 5, 101)
    x[100 if far < 0 else 50] = far
    found = run_marked(f"%r = math.{name} %x0 : f64", x)
    np.testing.assert_allclose(found, PERIODIC[name][0](x), rtol=1e-15)


def test_carried_values_and_computed_arguments() -> None:
    """A sum of sines of scaled numbers, in either loop."""
    source = """func.func @f(%a: memref<100xf64>, %b: memref<1xf64>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 100 : index
      %zero = arith.constant 1.0 : f64
      %three = arith.constant 3.0 : f64
      %sum = scf.for %i = %c0 to %n step %c1 iter_args(%t = %zero) -> (f64) {
        %x = memref.load %a[%i] : memref<100xf64>
        %y = arith.mulf %x, %three : f64
        %s = math.sin %y : f64
        %u = arith.addf %t, %s : f64
        scf.yield %u : f64
      } {stepwell.loop = "vectorize"}
      memref.store %sum, %b[%c0] : memref<1xf64>
      func.return
    }"""
    text = native.expanded(source)
    assert text.count("math.sin") == 1 and "-> (f64)" in text
    program = llvm_jit.Program(text)
    for far in (0.0, 2.0**25):
        x, result = np.linspace(-1, 1, 100), np.zeros(1)
        x[7] = far
        program.call("f", x, result)
        np.testing.assert_allclose(result, 1 + np.sin(3 * x).sum(), rtol=1e-12)


@pytest.mark.parametrize(
    "body",
    [
        "%s = math.tan %x0 : f64\n %r = math.sin %s : f64",
        "%c5 = arith.constant 5 : index\n %a = memref.load %b1[%c5] : memref<64xf64>\n %r = math.sin %a : f64",
    ],
)
def test_no_check_where_arguments_come_late(body: str) -> None:
    """An argument that is a tangent itself, and one that the loop may have stored before. LLVM gets no hint."""
    text = native.expanded(marked(body, 64))
    assert "scf.if" not in text and "math.sin" in text
    assert 'stepwell.loop = "vectorize"' not in text


def test_a_sine_of_a_cosine() -> None:
    x = np.linspace(-1000, 1000, 501)
    found = run_marked("%s = math.cos %x0 : f64\n %r = math.sin %s : f64", x)
    np.testing.assert_allclose(found, np.sin(np.cos(x)), rtol=1e-14)


def test_in_place() -> None:
    source = """func.func @f(%a: memref<100xf64>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 100 : index
      scf.for %i = %c0 to %n step %c1 {
        %x = memref.load %a[%i] : memref<100xf64>
        %y = math.cos %x : f64
        memref.store %y, %a[%i] : memref<100xf64>
      } {stepwell.loop = "vectorize"}
      func.return
    }"""
    program = llvm_jit.Program(native.expanded(source))
    for far in (0.0, 1e30):
        x = np.linspace(-9, 9, 100)
        x[3] = far
        expected = np.cos(x)
        program.call("f", x)
        np.testing.assert_allclose(x, expected, rtol=1e-15)


def test_schedules_know_what_is_expanded() -> None:
    assert {op.name for op in (*OF_F64, *CHECKED)} == EXPANDED
