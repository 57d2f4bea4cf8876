"""
Error bounds of the expansions of expand-math, as docs/numerics.md states them.

Each function runs natively (through our lowering and LLVM's vectoriser) on 10^5 points, 10^6 with STEPWELL_FULL=1, and
its IR is evaluated op by op in NumPy: both give the same bits, so neither LLVM nor the machine changes the meaning of
an expansion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import arith_numpy
import expand_math_native as native
import math_points as points
import numpy as np
import pytest
import stepwell
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.lowering.math.expand_math import FUNCTIONS, ExpandMathPass
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

Array = np.ndarray
Real = np.longdouble


@dataclass(frozen=True)
class Case:
    """A function of one argument: its exact values, where to look closely, and the bound in ulp of docs/numerics.md."""

    exact: Callable[[Array], Array]
    dense: tuple[tuple[float, float], ...]
    bound: float


def _wide(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: function(x.astype(Real))


def _round_half_away(x: Array) -> Array:
    whole = np.trunc(x)
    return np.copysign(np.where(np.abs(x - whole) >= 0.5, whole + np.sign(x), whole), x)


CASES: dict[str, Case] = {
    "exp": Case(_wide(np.exp), ((-105, 90), (-1, 1)), 1.2),
    "exp2": Case(_wide(np.exp2), ((-151, 130), (-1, 1)), 1.0),
    "expm1": Case(_wide(np.expm1), ((-20, 90), (-1, 1)), 1.6),
    "log": Case(_wide(np.log), ((0, 10), (0.5, 2)), 1.0),
    "log2": Case(_wide(np.log2), ((0, 10), (0.5, 2)), 1.2),
    "log10": Case(_wide(np.log10), ((0, 10), (0.5, 2)), 1.2),
    "log1p": Case(_wide(np.log1p), ((-1, 10), (-0.5, 0.5)), 1.6),
    "sqrt": Case(_wide(np.sqrt), ((0, 10),), 0.5),
    "rsqrt": Case(_wide(lambda x: 1 / np.sqrt(x)), ((0, 10),), 1.5),
    "cbrt": Case(_wide(np.cbrt), ((-10, 10),), 1.0),
    "sin": Case(points.trigonometric("sin"), ((-10, 10), (-40000, 40000)), 1.8),
    "cos": Case(points.trigonometric("cos"), ((-10, 10), (-40000, 40000)), 1.8),
    "tan": Case(points.trigonometric("tan"), ((-10, 10), (-40000, 40000)), 0.51),
    "tanh": Case(_wide(np.tanh), ((-10, 10), (-1, 1)), 3.0),
    "sinh": Case(_wide(np.sinh), ((-90, 90), (-2, 2)), 2.0),
    "cosh": Case(_wide(np.cosh), ((-90, 90), (-2, 2)), 2.0),
    "asinh": Case(_wide(np.arcsinh), ((-10, 10), (-1, 1)), 2.0),
    "acosh": Case(_wide(np.arccosh), ((1, 10), (1, 1.1)), 2.5),
    "atanh": Case(_wide(np.arctanh), ((-1, 1),), 2.5),
    "asin": Case(_wide(np.arcsin), ((-1, 1),), 3.0),
    "acos": Case(_wide(np.arccos), ((-1, 1),), 1.5),
    "atan": Case(_wide(np.arctan), ((-10, 10),), 1.5),
    "erf": Case(points.erf, ((-4.2, 4.2), (-1, 1)), 1.5),
    "round": Case(_wide(_round_half_away), ((-10, 10),), 0.0),
}
PERIODIC = ("sin", "cos", "tan")


def arguments_of(name: str) -> Array:
    x = points.unary_points(list(CASES[name].dense))
    return np.concatenate([x, points.multiples_of_half_pi()]) if name in PERIODIC else x


def assert_within(name: str, found: Array, exact: Array, bound: float, *arguments: Array) -> None:
    """Every error is at most `bound` ulp, zeros have the right sign, NaN meets NaN."""
    errors = points.ulp_errors(found, exact)
    worst = int(np.argmax(errors))
    where = [float(argument[worst]) for argument in arguments]
    print(f"{name}: {errors[worst]:.3f} ulp at {where}")
    assert errors[worst] <= bound, f"{name}{where}: {found[worst]}, exact {exact[worst]}, {errors[worst]:.3f} ulp"
    zero = exact == 0
    assert np.array_equal(np.signbit(found[zero]), np.signbit(exact[zero]))


def same_bits(a: Array, b: Array) -> bool:
    """Equal bit for bit, any NaN equal to any."""
    return bool(np.all((a.view(np.int32) == b.view(np.int32)) | (np.isnan(a) & np.isnan(b))))


def expanded_function(source: str) -> func.FuncOp:
    context = make_context()
    module = parse_text(context, source, "test.mlir")
    ExpandMathPass().apply(context, module)
    module.verify()
    function = module.body.block.first_op
    assert isinstance(function, func.FuncOp)
    return function


def function_source(name: str, type_: str = "f32", arity: int = 1) -> str:
    names = [f"%x{k}" for k in range(arity)]
    arguments = ", ".join(f"{name}: {type_}" for name in names)
    return f"""func.func @f({arguments}) -> {type_} {{
      %r = math.{name} {", ".join(names)} : {type_}
      func.return %r : {type_}
    }}"""


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("name", CASES)
def test_error_bound_and_edges(name: str) -> None:
    x = arguments_of(name)
    assert_within(name, native.run_f32(name, x), CASES[name].exact(x), CASES[name].bound, x)


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("name", [name for name in CASES if name != "sqrt"])
def test_native_vectors_and_numpy_agree_to_the_bit(name: str) -> None:
    x = arguments_of(name)[: points.COUNT // 2]
    found = native.run_f32(name, x)
    assert same_bits(arith_numpy.evaluate(expanded_function(function_source(name)), x), found)
    vectors = native.run_vectors(f"%r = math.{name} %x0 : vector<8xf32>", [("f32", x)], ("f32", np.float32))
    assert same_bits(vectors, found[: len(vectors)])


@pytest.mark.parametrize("name, exact, bound", [("powf", np.power, 1.0), ("atan2", np.arctan2, 1.6)])
def test_binary_error_bound_and_edges(name: str, exact: Callable[..., Array], bound: float) -> None:
    x, y = points.pairs()
    found = native.run_f32(name, x, y)
    assert_within(name, found, exact(x.astype(Real), y.astype(Real)), bound, x, y)
    assert same_bits(arith_numpy.evaluate(expanded_function(function_source(name, arity=2)), x, y), found)
    body = f"%r = math.{name} %x0, %x1 : vector<8xf32>"
    vectors = native.run_vectors(body, [("f32", x), ("f32", y)], ("f32", np.float32))
    assert same_bits(vectors, found[: len(vectors)])


def test_remainders_are_exact() -> None:
    """Dividends next to multiples of the divisor, quotients of all sizes, and the special cases of fmod of C."""
    random = np.random.default_rng(5)
    x, y = random.integers(0, 2**32, (2, 20000), np.uint32).view(np.float32)
    x[:5000] = np.round(random.uniform(0, 1e6, 5000)).astype(np.float32) * y[:5000]
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3.4e38, 1, -3], np.float32)
    left, right = np.meshgrid(special, special)
    x = np.concatenate([x, left.ravel(), np.float32([2.3794176630002012e32, 3.908203815901158e37])])
    y = np.concatenate([y, right.ravel(), np.float32([3.6534433300178814e-35, 3.5794452230157627e-19])])
    size = np.abs(x), np.abs(y)
    type_ = f"tensor<{x.size}xf32>"
    text = f"func.func @main(%x: {type_}, %y: {type_}) -> {type_} {{\n  %z = graph.mod %x, %y : ({type_}, {type_})\n"
    program = stepwell.compile(f"{text}  func.return %z : {type_}\n}}", cache=False)
    np.testing.assert_array_equal(program(*size)[0], np.fmod(*size))


def test_powf_special_cases() -> None:
    """IEEE 754-2019, 9.2.1, one by one."""
    inf, nan = np.inf, np.nan
    table = [
        *(
            (nan, 0, 1),
            (inf, -0.0, 1),
            (1, nan, 1),
            (1, -inf, 1),
            (-1, inf, 1),
            (-1, -inf, 1),
            (nan, 2, nan),
            (2, nan, nan),
        ),
        *(
            (0, -3, inf),
            (-0.0, -3, -inf),
            (-0.0, -2, inf),
            (0, -inf, inf),
            (-0.0, -0.5, inf),
            (0, 3, 0),
            (-0.0, 3, -0.0),
        ),
        *(
            (-0.0, 2, 0),
            (-0.0, 0.5, 0),
            (0.5, inf, 0),
            (0.5, -inf, inf),
            (2, inf, inf),
            (2, -inf, 0),
            (-0.5, inf, 0),
        ),
        *(
            (inf, 2, inf),
            (inf, -2, 0),
            (-inf, 3, -inf),
            (-inf, 2, inf),
            (-inf, -3, -0.0),
            (-inf, 0.5, inf),
            (-inf, -0.5, 0),
        ),
        *(
            (-8, 1 / 3, nan),
            (-2, 0.5, nan),
            (-2, 3, -8),
            (-2, -3, -0.125),
            (-2, 16777217 * 2.0, inf),
            (2, -149, 2.0**-149),
        ),
        *(
            (2, 127, 2.0**127),
            (2, 128, inf),
            (-2, 127, -(2.0**127)),
            (2, -150, 0),
            (1e-45, 1, 1e-45),
            (-1e-45, 1, -1e-45),
        ),
    ]
    x, y, expected = (np.array(column, np.float32) for column in zip(*table, strict=True))
    found = native.run_f32("powf", x, y)
    for row in zip(x, y, found, expected, strict=True):
        assert row[2] == row[3] or np.isnan(row[2]) and np.isnan(row[3]), row
        assert np.isnan(row[3]) or np.signbit(row[2]) == np.signbit(row[3]), row


INF, NAN, PI = np.inf, np.nan, np.pi
LIMITS: dict[str, list[tuple[float, float]]] = {
    "exp": [(-INF, 0), (-1000, 0), (-103.98, 0), (-103.97, 2.0**-149), (88.73, INF), (INF, INF), (-0.0, 1)],
    "exp2": [
        (-INF, 0),
        (-1000, 0),
        (-150, 0),
        (-149, 2.0**-149),
        (127, 2.0**127),
        (128, INF),
        (INF, INF),
        (0, 1),
    ],
    "expm1": [(-INF, -1), (-1000, -1), (89, INF), (INF, INF), (-0.0, -0.0), (1e-45, 1e-45)],
    "log": [(0, -INF), (-0.0, -INF), (-1e-45, NAN), (-INF, NAN), (INF, INF), (1, 0)],
    "log2": [(0, -INF), (-1, NAN), (INF, INF), (1, 0), (2.0**-149, -149), (2.0**127, 127), (8, 3)],
    "log10": [(0, -INF), (-1, NAN), (INF, INF), (1, 0)],
    "log1p": [(-1, -INF), (-1.0000001, NAN), (-INF, NAN), (INF, INF), (-0.0, -0.0), (1e-45, 1e-45)],
    "rsqrt": [(0, INF), (-0.0, -INF), (-1, NAN), (INF, 0), (4, 0.5)],
    "cbrt": [(0, 0), (-0.0, -0.0), (-INF, -INF), (INF, INF), (-8, -2)],
    "sin": [(0, 0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (1e-45, 1e-45)],
    "cos": [(0, 1), (INF, NAN)],
    "tan": [(-0.0, -0.0), (INF, NAN)],
    "tanh": [(-INF, -1), (INF, 1), (-0.0, -0.0), (10, 1), (1e-45, 1e-45)],
    "sinh": [(INF, INF), (-89.5, -INF), (-0.0, -0.0), (1e-45, 1e-45)],
    "cosh": [(-INF, INF), (89.5, INF), (0, 1)],
    "asinh": [(-INF, -INF), (-0.0, -0.0), (1e-45, 1e-45)],
    "acosh": [(1, 0), (0.99999994, NAN), (-2, NAN), (INF, INF)],
    "atanh": [(1, INF), (-1, -INF), (1.0000001, NAN), (-INF, NAN), (-0.0, -0.0)],
    "asin": [(-0.0, -0.0), (1.0000001, NAN), (1, PI / 2), (INF, NAN)],
    "acos": [(1, 0), (-1, PI), (-1.0000001, NAN)],
    "atan": [(-0.0, -0.0), (INF, PI / 2), (-INF, -PI / 2)],
    "erf": [(-0.0, -0.0), (INF, 1), (-INF, -1), (4, 1), (1e30, 1)],
    "round": [
        (0.5, 1),
        (-0.5, -1),
        (0.49999997, 0),
        (-0.49999997, -0.0),
        (2.5, 3),
        (8388609, 8388609),
        (-INF, -INF),
    ],
}


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize("name", LIMITS)
def test_limits_are_exact(name: str) -> None:
    x, expected = (np.array(column, np.float32) for column in zip(*LIMITS[name], (NAN, NAN), strict=True))
    found = native.run_f32(name, x)
    for argument, value, limit in zip(x, found, expected, strict=True):
        same = value == limit and np.signbit(value) == np.signbit(limit) or np.isnan(value) and np.isnan(limit)
        assert same, f"{name}({argument}) is {value}, expected {limit}"


def test_fpowi_error_bound() -> None:
    x, y = points.pairs()
    n = np.clip(np.nan_to_num(y), -(2**31), 2**31 - 128).astype(np.int32)
    n[::7] = n[::7] % 41 - 20
    found = native.run("%r = math.fpowi %x0, %x1 : f32, i32", [("f32", x), ("i32", n)], ("f32", np.float32))
    assert_within("fpowi", found, np.power(x.astype(Real), n.astype(Real)), 1.0, x, n)


# The pass


def test_expansion_leaves_no_function_and_no_flags() -> None:
    for name in FUNCTIONS:
        if name == "fpowi":
            continue
        for type_ in ("f32", "vector<4xf32>", "f16", "bf16"):
            function = expanded_function(function_source(name, type_, 2 if name in ("powf", "atan2") else 1))
            assert all(op.name.removeprefix("math.") not in FUNCTIONS for op in function.walk()), (
                name,
                type_,
            )
            assert "fastmath" not in str(function)


def test_expansion_is_idempotent_and_reparses() -> None:
    context = make_context()
    text = "\n".join(
        function_source(name, "f32", 2 if name in ("powf", "atan2") else 1).replace("@f", f"@{name}")
        for name in FUNCTIONS
        if name != "fpowi"
    )
    module = parse_text(context, text, "test.mlir")
    ExpandMathPass().apply(context, module)
    once = str(module)
    again: ModuleOp = parse_text(context, once)
    assert str(again) == once
    ExpandMathPass().apply(context, again)
    assert str(again) == once


def test_new_ops_carry_the_location_of_the_function() -> None:
    function = expanded_function(function_source("exp"))
    assert {str(op.location) for op in function.body.block.ops if op.name.startswith("arith")} == {
        'loc("test.mlir":2:7)'
    }


def test_constants_are_shared_within_a_block() -> None:
    source = function_source("exp").replace("func.return %r", "%q = math.exp %r : f32\n func.return %q")
    constants = [str(op.value) for op in expanded_function(source).walk() if op.name == "arith.constant"]  # pyright: ignore
    assert len(constants) == len(set(constants))


def test_unknown_function_is_refused() -> None:
    context = make_context()
    with pytest.raises(PassFailedException, match="expand-math has no function sine; did you mean 'sin'"):
        ExpandMathPass(functions=("sine",)).apply(context, parse_text(context, "builtin.module {}"))
