"""The reference of elementwise ops against hand-computed cases: every special rule of docs/semantics.md."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from stepwell import reference
from stepwell.reference import ReferenceFailure

BF16 = np.dtype(ml_dtypes.bfloat16)
INF, NAN = math.inf, math.nan


def apply(op: str, *arrays: np.ndarray, **properties: object) -> np.ndarray:
    (result,) = reference.evaluate(f"graph.{op}", properties, *arrays)
    return result


def same(found: np.ndarray, expected: object, dtype: object = None) -> None:
    """Same dtype, shape and bits; a NaN equals every NaN."""
    wanted = np.asarray(expected, dtype or found.dtype)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    if found.dtype.kind in "fV":
        found, wanted = found.astype(np.float64), wanted.astype(np.float64)
        assert np.array_equal(np.isnan(found), np.isnan(wanted)), (found, wanted)
        numbers = ~np.isnan(wanted)
        assert np.array_equal(np.signbit(found)[numbers], np.signbit(wanted)[numbers]), (found, wanted)
        found, wanted = found[numbers], wanted[numbers]
    assert np.array_equal(found, wanted), (found, wanted)


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("op", "values", "expected"),
    [
        ("negative", [0.0, -0.0, INF, 1.5], [-0.0, 0.0, -INF, -1.5]),
        ("abs", [-0.0, -INF, NAN, -2.0], [0.0, INF, NAN, 2.0]),
        ("sign", [-0.0, 0.0, -3.0, INF, NAN], [0.0, 0.0, -1.0, 1.0, NAN]),
        ("square", [-0.0, -INF, -2.0], [0.0, INF, 4.0]),
        ("exp", [-INF, INF, 0.0, -0.0, 1000.0, NAN], [0.0, INF, 1.0, 1.0, INF, NAN]),
        ("exp2", [3.0, -1.0, -INF], [8.0, 0.5, 0.0]),
        ("expm1", [-0.0, -INF], [-0.0, -1.0]),
        ("log", [-1.0, 0.0, -0.0, 1.0, INF], [NAN, -INF, -INF, 0.0, INF]),
        ("log2", [8.0, 0.0], [3.0, -INF]),
        ("log10", [1000.0, -1.0], [3.0, NAN]),
        ("log1p", [-1.0, -0.0, -2.0], [-INF, -0.0, NAN]),
        ("sqrt", [-0.0, 4.0, -1.0, INF], [-0.0, 2.0, NAN, INF]),
        ("rsqrt", [0.0, -0.0, INF, 4.0, -1.0], [INF, -INF, 0.0, 0.5, NAN]),
        ("sin", [-0.0, INF], [-0.0, NAN]),
        ("cos", [0.0, -INF], [1.0, NAN]),
        ("tan", [-0.0, INF], [-0.0, NAN]),
        ("tanh", [-0.0, INF, -INF], [-0.0, 1.0, -1.0]),
        ("erf", [-0.0, INF, -INF, NAN], [-0.0, 1.0, -1.0, NAN]),
        ("sinh", [-0.0, INF, -INF], [-0.0, INF, -INF]),
        ("cosh", [0.0, INF, -INF], [1.0, INF, INF]),
        ("asin", [-0.0, 2.0, INF], [-0.0, NAN, NAN]),
        ("acos", [1.0, -2.0, INF], [0.0, NAN, NAN]),
        ("atan", [-0.0, 0.0], [-0.0, 0.0]),
        ("asinh", [-0.0, INF, -INF], [-0.0, INF, -INF]),
        ("acosh", [1.0, 0.5, INF], [0.0, NAN, INF]),
        ("atanh", [-0.0, 1.0, -1.0, 2.0], [-0.0, INF, -INF, NAN]),
        ("sigmoid", [0.0, INF, -INF, -1000.0], [0.5, 1.0, 0.0, 0.0]),
        ("silu", [0.0, -0.0, INF, -INF], [0.0, -0.0, INF, -0.0]),
        ("gelu", [0.0, INF, -INF, NAN], [0.0, INF, -0.0, NAN]),
        ("relu", [-0.0, -1.0, 2.0, NAN, -INF], [0.0, 0.0, 2.0, NAN, 0.0]),
        ("floor", [-0.5, -0.0, 1.7, INF], [-1.0, -0.0, 1.0, INF]),
        ("ceil", [-0.5, 0.2, -0.0], [-0.0, 1.0, -0.0]),
        ("trunc", [-1.7, 1.7, -0.3], [-1.0, 1.0, -0.0]),
        ("round", [0.5, 1.5, 2.5, -0.5, -1.5], [0.0, 2.0, 2.0, -0.0, -2.0]),
    ],
)
def test_special_values_of_floats(op: str, values: list[float], expected: list[float]) -> None:
    for dtype in (np.float32, np.float64):
        same(apply(op, np.array(values, dtype)), np.array(expected).astype(dtype), dtype)
    if 1000.0 not in values:
        for dtype in (np.float16, BF16):
            same(apply(op, np.array(values, dtype)), np.array(expected, dtype))


def test_bitcast_keeps_the_bits() -> None:
    same(apply("bitcast", f32(1.0, -0.0), dtype="i32"), np.array([0x3F800000, -(2**31)], np.int32))
    same(apply("bitcast", np.array(0x7F80, np.uint16), dtype="bf16"), np.array(INF, BF16))


def test_gelu_by_tanh_follows_its_formula() -> None:
    x = np.linspace(-6, 6, 101)
    formula = x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    assert np.max(np.abs(apply("gelu", x, approximate="tanh") - formula)) < 1e-15
    same(apply("gelu", f32(-INF, INF), approximate="tanh"), [-0.0, INF])


def test_gelu_and_erf_agree_with_known_values() -> None:
    # erf(0.5), erf(1) and Phi(1) to 17 digits, Abramowitz and Stegun, tables 7.1 and 26.1.
    assert abs(apply("erf", np.array(0.5)) - 0.5204998778130465) < 1e-16
    assert abs(apply("erf", np.array(1.0)) - 0.8427007929497149) < 2e-16
    assert abs(apply("gelu", np.array(1.0)) - 0.8413447460685429) < 2e-16


def test_leaky_relu_scales_what_is_not_positive() -> None:
    same(apply("leaky_relu", f32(2.0, -4.0, -0.0, NAN, -INF), alpha=0.25), [2.0, -1.0, -0.0, NAN, -INF])
    same(apply("leaky_relu", f32(-1.0)), [np.float32(-0.01)])


@pytest.mark.parametrize("op", ["floor", "ceil", "trunc", "round"])
def test_rounding_of_integers_is_the_identity(op: str) -> None:
    x = np.array([-(2**63), 2**63 - 1, 7], np.int64)
    same(apply(op, x), x)


def test_integers_wrap_in_one_operand_ops() -> None:
    x = np.array([-128, 127, 0, -1], np.int8)
    same(apply("negative", x), [-128, -127, 0, 1])
    same(apply("abs", x), [-128, 127, 0, 1])
    same(apply("square", x), [0, 1, 0, 1])
    same(apply("sign", x), [-1, 1, 0, -1])
    same(apply("relu", x), [0, 127, 0, 0])
    u = np.array([0, 1, 255], np.uint8)
    same(apply("negative", u), [0, 255, 1])
    same(apply("abs", u), u)
    same(apply("sign", u), [0, 1, 1])
    same(apply("bitwise_not", u), [255, 254, 0])
    same(apply("bitwise_not", np.array([True, False])), [False, True])
    same(apply("logical_not", np.array([True, False])), [False, True])


def test_float_tests_give_i1() -> None:
    x = np.array([1.0, NAN, INF, -INF], BF16)
    same(apply("isnan", x), [False, True, False, False], np.bool_)
    same(apply("isinf", x), [False, False, True, True], np.bool_)
    same(apply("isfinite", x), [True, False, False, False], np.bool_)


def test_clip_is_minimum_of_maximum() -> None:
    same(apply("clip", f32(-5.0, 0.5, 5.0, NAN, -0.0), min=-1.0, max=1.0), [-1.0, 0.5, 1.0, NAN, -0.0])
    same(apply("clip", f32(5.0), min=3.0, max=2.0), [2.0])
    same(apply("clip", f32(-0.0), min=0.0), [0.0])
    same(apply("clip", np.array([-100, 100], np.int8), max=7), [-100, 7])


class TestAsType:
    def test_floats_round_once(self) -> None:
        # Halfway between two bf16 plus a little that float32 cannot hold: rounding twice would go down.
        x = np.array([1 + 2**-8 + 2**-40, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 - 2**-40])
        same(apply("astype", x, dtype="bf16"), [1 + 2**-7, 1.0, 1 + 2**-6, 1.0])
        same(apply("astype", np.array([65519.9, 65520.0, -1e9]), dtype="f16"), [65504.0, INF, -INF])
        same(apply("astype", f32(1e-8, 6e-8), dtype="f16"), [0.0, 2**-24])

    def test_integers_round_once(self) -> None:
        exact_tie, above = 2**62 + 2**38, 2**62 + 2**38 + 1
        same(
            apply("astype", np.array([exact_tie, above, -above]), dtype="f32"),
            [2.0**62, 2**62 + 2**39, -(2**62) - 2**39],
        )
        top = np.array([2**64 - 1, 2**53 + 1, 2**53 + 3], np.uint64)
        same(apply("astype", top, dtype="f64"), [2.0**64, 2.0**53, 2.0**53 + 4])
        same(apply("astype", np.array([2**63 - 1]), dtype="f16"), [INF])
        same(apply("astype", np.array([2049, 2051]), dtype="f16"), [2048.0, 2052.0])
        same(apply("astype", np.array([2**40 + 2**32 + 1]), dtype="bf16"), [2.0**40 + 2.0**33])

    def test_floats_to_integers_saturate(self) -> None:
        x = np.array([NAN, INF, -INF, -1.9, 1.9, 128.0, -128.9, -129.0, 255.9, 256.0])
        same(apply("astype", x, dtype="i8"), [0, 127, -128, -1, 1, 127, -128, -128, 127, 127])
        same(apply("astype", x, dtype="ui8"), [0, 255, 0, 0, 1, 128, 0, 0, 255, 255])
        edges = np.array([2.0**63, -(2.0**63), 2.0**64, np.nextafter(2.0**63, 0)])
        same(apply("astype", edges, dtype="i64"), [2**63 - 1, -(2**63), 2**63 - 1, 2**63 - 1024])
        same(apply("astype", edges, dtype="ui64"), np.array([2**63, 0, 2**64 - 1, 2**63 - 1024], np.uint64))

    def test_integers_to_integers_wrap(self) -> None:
        same(apply("astype", np.array([300, -1, -129]), dtype="i8"), [44, -1, 127])
        same(apply("astype", np.array([-1], np.int8), dtype="ui64"), np.array([2**64 - 1], np.uint64))

    def test_to_and_from_i1(self) -> None:
        same(apply("astype", f32(0.0, -0.0, NAN, 0.3), dtype="i1"), [False, False, True, True])
        same(apply("astype", np.array([0, 256]), dtype="i1"), [False, True])
        same(apply("astype", np.array([True, False]), dtype="bf16"), [1.0, 0.0])
        same(apply("astype", np.array([True, False]), dtype="ui8"), [1, 0])


class TestBinary:
    def test_ieee_arithmetic(self) -> None:
        same(apply("divide", f32(1.0, -1.0, 0.0, 1.0), f32(0.0, 0.0, 0.0, -0.0)), [INF, -INF, NAN, -INF])
        same(apply("add", f32(1.0), f32(2**-24)), [1.0])
        same(apply("multiply", f32(INF), f32(0.0)), [NAN])
        same(apply("add", np.array([1.0], BF16), np.array([2**-8 * 1.01], BF16)), [1 + 2**-7])

    def test_small_floats_round_once(self) -> None:
        x, y = np.array([1.0], np.float16), np.array([3.0], np.float16)
        same(apply("divide", x, y), [np.float16(1 / 3)])

    def test_wrapping_integers(self) -> None:
        x, y = np.array([127, -128], np.int8), np.array([1, -1], np.int8)
        same(apply("add", x, y), [-128, 127])
        same(apply("multiply", x, x), [1, 0])
        same(apply("subtract", np.array([0], np.uint16), np.array([1], np.uint16)), [65535])

    def test_integer_division(self) -> None:
        x, y = np.array([7, -7, 7, -7, -128], np.int8), np.array([2, 2, -2, -2, -1], np.int8)
        same(apply("divide", x, y), [3, -3, -3, 3, -128])
        same(apply("floor_divide", x, y), [3, -4, -4, 3, -128])
        same(apply("mod", x, y), [1, 1, -1, -1, 0])
        u, v = np.array([255, 7], np.uint8), np.array([2, 8], np.uint8)
        same(apply("divide", u, v), [127, 0])
        same(apply("mod", u, v), [1, 7])

    @pytest.mark.parametrize("op", ["divide", "floor_divide", "mod"])
    def test_zero_divisor_fails(self, op: str) -> None:
        with pytest.raises(ReferenceFailure, match=f"^graph.{op}: integer division by zero$"):
            apply(op, np.array([1, 2]), np.array([1, 0]))
        same(apply(op, np.empty((0, 2), np.int64), np.array([0])), np.empty((0, 2), np.int64))

    def test_floor_divide_of_floats(self) -> None:
        x, y = f32(7.0, -7.0, 1.0, -0.0, 1.0, INF, -1.0, 0.0), f32(2.0, 2.0, 0.1, 2.0, 0.0, 2.0, INF, 0.0)
        # 1 / float32(0.1) is a little below 10: floor gives 9, rounding first would give 10.
        same(apply("floor_divide", x, y), [3.0, -4.0, 9.0, -0.0, INF, NAN, -1.0, NAN])

    def test_floor_divide_agrees_with_numpy_where_both_are_finite(self) -> None:
        random = np.random.default_rng(1)
        x = (random.standard_normal(500) * 100).astype(np.float32)
        y = (random.standard_normal(500)).astype(np.float32)
        same(apply("floor_divide", x, y), np.floor_divide(x, y))
        same(apply("mod", x, y), np.mod(x, y))

    def test_mod_of_floats(self) -> None:
        x, y = f32(5.5, -5.5, 6.0, -6.0, 6.0, 1.0, -1.0, INF), f32(2.0, 2.0, 2.0, 2.0, -2.0, 0.0, INF, 2.0)
        same(apply("mod", x, y), [1.5, 0.5, 0.0, 0.0, -0.0, NAN, INF, NAN])

    def test_power_of_floats(self) -> None:
        x = f32(NAN, 1.0, 0.0, -0.0, -0.0, -2.0, -2.0, 2.0, -INF)
        y = f32(0.0, NAN, -1.0, -1.0, -2.0, 3.0, 0.5, INF, -3.0)
        same(apply("power", x, y), [1.0, 1.0, INF, -INF, INF, -8.0, NAN, INF, -0.0])

    def test_power_of_integers(self) -> None:
        x = np.array([2, 2, 0, 1, -1, -1, 3, -2, 0], np.int8)
        y = np.array([7, -1, 0, -5, -3, -2, 5, 7, -1], np.int8)
        same(apply("power", x, y), [-128, 0, 1, 1, -1, 1, -13, -128, 0])
        same(apply("power", np.array([255], np.uint8), np.array([255], np.uint8)), [255])
        same(
            apply("power", np.array([3]), np.array([41])),
            [pow(3, 41, 2**64) - 2**64 if pow(3, 41, 2**64) >= 2**63 else pow(3, 41, 2**64)],
        )

    def test_maximum_and_minimum(self) -> None:
        x, y = f32(-0.0, 0.0, NAN, 1.0, -0.0), f32(0.0, -0.0, 1.0, NAN, -0.0)
        for dtype in (np.float32, BF16, np.float16):
            same(apply("maximum", x.astype(dtype), y.astype(dtype)), [0.0, 0.0, NAN, NAN, -0.0])
            same(apply("minimum", x.astype(dtype), y.astype(dtype)), [-0.0, -0.0, NAN, NAN, -0.0])

    def test_comparisons_with_nan(self) -> None:
        x = np.array([NAN, 0.0, 1.0], np.float16)
        y = np.array([NAN, -0.0, 2.0], np.float16)
        expected = {"equal": [0, 1, 0], "not_equal": [1, 0, 1], "less": [0, 0, 1], "less_equal": [0, 1, 1]}
        expected |= {"greater": [0, 0, 0], "greater_equal": [0, 1, 0]}
        for op, values in expected.items():
            same(apply(op, x, y), np.array(values, np.bool_))
        same(apply("less", np.array([False]), np.array([True])), [True])

    def test_logical_and_bitwise(self) -> None:
        x, y = np.array([True, True, False]), np.array([True, False, False])
        same(apply("logical_and", x, y), [True, False, False])
        same(apply("logical_or", x, y), [True, True, False])
        same(apply("logical_xor", x, y), [False, True, False])
        same(apply("bitwise_xor", np.array([12], np.int8), np.array([-1], np.int8)), [-13])
        same(apply("bitwise_and", x, y), [True, False, False])

    def test_shifts_by_the_width_and_more(self) -> None:
        x = np.array([1, -1, -128, 64, 5], np.int8)
        y = np.array([7, 8, 1, -1, 0], np.int8)
        same(apply("left_shift", x, y), [-128, 0, 0, 0, 5])
        same(apply("right_shift", x, y), [0, -1, -64, 0, 5])
        same(apply("right_shift", np.array([-5], np.int64), np.array([-1], np.int64)), [-1])
        same(apply("right_shift", np.array([255, 255], np.uint8), np.array([7, 8], np.uint8)), [1, 0])

    def test_where_broadcasts(self) -> None:
        same(apply("where", np.array([[True], [False]]), f32(1.0, 2.0), f32(-1.0)), [[1.0, 2.0], [-1.0, -1.0]])

    def test_fma_rounds_once(self) -> None:
        # (1 + e)(1 - e) - 1 = -e^2: a rounded product would give 0.
        e = np.float32(2**-13)
        same(apply("ewise_fma", f32(1 + e), f32(1 - e), f32(-1.0)), [-(e**2)])
        d = 2.0**-30
        same(apply("ewise_fma", np.array([1 + d]), np.array([1 - d]), np.array([-1.0])), [-(d**2)])
        # The exact sum lies just above the middle of two f32; float64 alone would round to the middle, then down.
        same(
            apply("ewise_fma", f32(1 + 2**-12), f32(1 + 2**-12), f32(2.0**-60)),
            [np.float32(1 + 2**-11 + 2**-23)],
        )
        # 190.5 lies in the middle of two bf16; a rounding to f32 on the way would lose the little above it.
        same(apply("ewise_fma", *(np.array([value], BF16) for value in (1.5, 127.0, 2.0**-126))), [191.0])
        same(
            apply("ewise_fma", *(np.array([value], np.float16) for value in (1.5, -87.375, -(2.0**-24)))),
            [-131.125],
        )
        same(apply("ewise_fma", f32(3e38), f32(2.0), f32(-INF)), [-INF])
        same(apply("ewise_fma", np.array([127], np.int8), np.array([2], np.int8), np.array([3], np.int8)), [1])

    def test_broadcasting(self) -> None:
        x, y = np.ones((3, 1, 0), np.float32), np.ones((4, 1), np.float32)
        assert apply("add", x, y).shape == (3, 4, 0)
        same(apply("add", np.array(2), np.array(3)), 5)


def test_number_properties_round_to_the_element_type() -> None:
    from stepwell.reference.element_types import number

    same(number(0.1, np.dtype(np.float32)), np.float32(0.1))
    same(number(1 + 2**-8 + 2**-40, BF16), 1 + 2**-7)
    same(number(255, np.dtype(np.int8)), -1)
    same(number(2**64 - 1, np.dtype(np.float32)), np.float32(2**64))
    same(number(True, np.dtype(np.bool_)), True)


def test_every_op_of_the_semantics_table_has_a_reference() -> None:
    """The names in the first column of docs/semantics.md, constants and calls apart, are the keys of `OPS`."""
    import re
    from pathlib import Path

    text = (Path(__file__).parents[3] / "docs" / "semantics.md").read_text()
    text = text[text.index("## Elementwise, one operand") : text.index("## Constants and calls")]
    names: set[str] = set()
    for line in text.splitlines():
        if line.startswith("| `"):
            cell = re.match(r"\| `([^`]*)`", line)
            assert cell is not None
            names |= {f"graph.{name}" for name in re.sub(r"\(.*\)", "", cell[1]).split()}
    assert names == set(reference.OPS)
