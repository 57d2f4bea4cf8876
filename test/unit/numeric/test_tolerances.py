"""The table of tolerances is the only one: numeric tests have no other way to accept a difference."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from stepwell import reference
from stepwell.testing.programs.movement_generators import FAMILIES
from tolerances import (
    EXACT,
    TABLE,
    Conditioning,
    Tolerance,
    conditioning,
    mismatch,
    spacing,
    tolerance,
)

TESTS = Path(__file__).parents[2]

FORBIDDEN_NAMES = {
    "allclose",
    "approx",
    "assert_allclose",
    "assert_almost_equal",
    "assert_array_almost_equal",
    "assert_array_almost_equal_nulp",
    "assert_array_max_ulp",
    "atol",
    "isclose",
    "rtol",
    "TABLE",
    "Tolerance",
    "Conditioning",
    "mismatch",
    "tolerance",
}
"""What a numeric test would need in order to bring a tolerance of its own."""


def numeric_test_files() -> list[Path]:
    files = [
        *sorted(TESTS.glob("unit/numeric/test_*.py")),
        TESTS / "support/numeric.py",
        TESTS / "unit/programs/test_stairs.py",
    ]
    return [path for path in files if path.name != Path(__file__).name]


def overrides(source: str) -> list[str]:
    """Uses of a name that sets or widens a tolerance, as `line: name`."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        names: list[str | None] = []
        if isinstance(node, ast.Name):
            names = [node.id]
        elif isinstance(node, ast.Attribute):
            names = [node.attr]
        elif isinstance(node, ast.keyword):
            names = [node.arg]
        elif isinstance(node, ast.alias):
            names = [node.name]
        found += [f"{getattr(node, 'lineno', 0)}: {name}" for name in names if name in FORBIDDEN_NAMES]
    return found


def test_numeric_tests_take_tolerances_from_the_table_only() -> None:
    for path in numeric_test_files():
        assert overrides(path.read_text()) == [], path.name


@pytest.mark.parametrize(
    "source",
    [
        "np.testing.assert_allclose(a, b)",
        "assert np.allclose(a, b, 1e-3)",
        "check(a, b, rtol=1)",
        "from tolerances import Tolerance",
        "import tolerances\ntolerances.TABLE['exp'] = 1",
        "assert a == pytest.approx(b)",
    ],
)
def test_an_override_is_noticed(source: str) -> None:
    assert overrides(source)


def test_rows_name_ops_and_float_types_only() -> None:
    ops = {op for family in FAMILIES.values() for op in family} | {"program"}
    assert set(TABLE) <= ops
    for rows in TABLE.values():
        assert set(rows) == {"f16", "bf16", "f32", "f64"}
        assert rows["f32"].ulp <= 5 and rows["f32"].absolute <= 1e-6


def test_bounds_of_the_issue() -> None:
    for op in ("exp", "log", "rsqrt", "power", "sin", "cos"):
        assert tolerance(op, "f32").ulp <= 2
    assert tolerance("sqrt", "f32") is EXACT
    for op in (
        "add",
        "subtract",
        "multiply",
        "divide",
        "ewise_fma",
        "maximum",
        "round",
        "permute_dims",
        "equal",
    ):
        assert tolerance(op, "f32") is EXACT
    assert tolerance("matmul", "i32") is EXACT


def problem(row: Tolerance, found: object, expected: object, dtype: object = np.float32) -> str | None:
    return mismatch(row, np.asarray(found, dtype), np.asarray(expected, dtype))


def test_exact_means_the_same_bits() -> None:
    assert problem(EXACT, [1.0, np.nan, -0.0, np.inf], [1.0, -np.nan, -0.0, np.inf]) is None
    assert problem(EXACT, [0.0], [-0.0]) is not None
    assert problem(EXACT, [np.nan], [1.0]) is not None
    assert problem(EXACT, [np.nextafter(np.float32(1), np.float32(2))], [1.0]) is not None
    assert "found float64" in (mismatch(EXACT, np.zeros(1), np.zeros(1, np.float32)) or "")
    assert "of shape (2,)" in (mismatch(EXACT, np.zeros(2), np.zeros(1)) or "")
    assert problem(EXACT, [3], [4], np.int8) == (
        "1 of 1 elements differ, the first at [0]: found np.int8(3), expected np.int8(4)"
    )


def test_ulp_counts_steps_of_the_element_type() -> None:
    two = Tolerance(2)
    up = np.float32(1 + 2 * 2.0**-23)
    assert problem(two, [up], [1.0]) is None
    assert problem(two, [np.nextafter(up, np.float32(2))], [1.0]) is not None
    # The number after the largest one is an infinity.
    most = np.finfo(np.float32).max
    assert problem(two, [np.inf], [most]) is None and problem(two, [most], [np.inf]) is None
    assert problem(two, [np.inf], [3e38]) is not None
    least = np.float32(1e-45)
    assert problem(two, [0.0], [least]) is None and problem(two, [4 * least], [least]) is not None


def test_spacing_is_that_of_numpy() -> None:
    for dtype in ("f32", "f64", "f16"):
        numpy_type = {"f32": np.float32, "f64": np.float64, "f16": np.float16}[dtype]
        values = np.array([1.0, 1.5, 3.0, 1e-3, 6e-8, 1000.0, 60000.0], numpy_type)
        assert np.array_equal(spacing(values, dtype).astype(np.float64), np.spacing(values).astype(np.float64))
    assert float(spacing(np.array([1.0]), "bf16")[0]) == 2.0**-7


def test_contractions_scale_with_their_terms() -> None:
    x = np.full((1, 64), 3.0, np.float32)
    condition = conditioning("matmul", {}, [x, -x.T])
    assert condition is not None and condition.terms == 66 and condition.magnitude.item() == 64 * 9
    row = tolerance("matmul", "f32")
    (expected,) = reference.evaluate("graph.matmul", {}, x, -x.T)
    assert mismatch(row, expected + np.float32(64 * 9 * 64 * 2.0**-23), expected, condition) is None
    assert mismatch(row, expected + np.float32(64 * 9 * 80 * 2.0**-23), expected, condition) is not None
    assert conditioning("matmul", {}, [x.astype(np.int32), x.T.astype(np.int32)]) is None
    assert conditioning("add", {}, [x, x]) is None


def test_magnitudes_that_are_not_finite_widen_nothing() -> None:
    condition = Conditioning(10.0, np.array([np.inf, np.nan]))
    row = tolerance("sum", "f32")
    assert mismatch(row, np.array([1, 2], np.float32), np.array([1, 3], np.float32), condition) is not None
