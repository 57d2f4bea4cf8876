"""The evaluator: reductions in blocks, lazy selections, checks, symbolic sizes, exact element types."""

from __future__ import annotations

import math
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from stepwell import te
from stepwell.te import evaluation as evaluator
from stepwell.te import numeric
from stepwell.te.evaluation import CheckFailed, evaluate

INF, NAN = math.inf, math.nan


def array(values: object, dtype: str = "f32") -> np.ndarray:
    return np.asarray(values).astype(numeric.numpy_dtype(dtype))


def run(output: te.Tensor, **inputs: object) -> np.ndarray:
    """Evaluates `output`; the placeholders are found by name."""
    found: dict[te.Tensor, np.ndarray] = {}
    for stage in te.stages(output):
        for tensor in stage.inputs:
            if tensor.source is None:
                found[tensor] = array(inputs[tensor.name], tensor.dtype)
    return evaluate([output], found)[0]


def mapped(function: Callable[..., te.Expr], dtype: str, *columns: list[object]) -> list[object]:
    """`function` of columns of values, as Python numbers."""
    tensors = [te.placeholder((len(column),), dtype, f"x{k}") for k, column in enumerate(columns)]
    y = te.compute((len(columns[0]),), lambda i: function(*(x[i] for x in tensors)))
    return run(y, **{f"x{k}": column for k, column in enumerate(columns)}).tolist()


def same(found: list[object], expected: list[object]) -> None:
    """Equal numbers, NaN meeting NaN and zeros of one sign."""
    assert [repr(float(x)) for x in found] == [repr(float(x)) for x in expected]  # pyright: ignore


class TestReductions:
    X = te.placeholder((3, 7), "f32", "x")
    VALUES = np.random.default_rng(1).standard_normal((3, 7)).astype(np.float32)

    @pytest.mark.parametrize("limit", [1, 64 * 2**20])
    def test_in_blocks_or_at_once_give_numpys_numbers(self, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
        monkeypatch.setattr(evaluator, "MEMORY_LIMIT", limit)
        x = te.placeholder((40, 90), "i32", "x")
        values = np.arange(3600).reshape(40, 90) * 7 % 101
        k = te.reduce_axis(90, "k")
        y = te.compute((40,), lambda i: te.sum(x[i, k] * x[i, k], axis=k))
        assert run(y, x=values).tolist() == (values**2).sum(1).tolist()

    def test_over_two_axes_are_one_stage(self) -> None:
        i, j = te.reduce_axis(3), te.reduce_axis(7)
        y = te.compute((), lambda: te.sum(self.X[i, j], axis=[i, j]))
        np.testing.assert_allclose(run(y, x=self.VALUES), self.VALUES.sum(), rtol=1e-6)

    def test_over_a_part_of_an_axis(self) -> None:
        k = te.reduce_axis((2, 5))
        y = te.compute((3,), lambda i: te.max(self.X[i, k], axis=k))
        assert run(y, x=self.VALUES).tolist() == self.VALUES[:, 2:5].max(1).tolist()

    def test_over_nothing_give_the_identity(self) -> None:
        k = te.reduce_axis(0)
        total = te.compute((3,), lambda i: te.sum(self.X[i, k], axis=k))
        product = te.compute((3,), lambda i: te.prod(self.X[i, k], axis=k))
        assert run(total, x=self.VALUES).tolist() == [0.0] * 3
        assert run(product, x=self.VALUES).tolist() == [1.0] * 3

    def test_argmax_takes_the_first_of_equals_and_the_first_nan(self) -> None:
        x = te.placeholder((4, 5), "f32", "x")
        k = te.reduce_axis(5)
        index, value = te.compute((4,), lambda i: te.argmax(te.cast("i64", k), x[i, k], axis=k))
        rows = [[1, 3, 3, 0, 2], [NAN, 9, NAN, 0, 0], [-INF] * 5, [-1, -2, 5, NAN, NAN]]
        assert run(index, x=rows).tolist() == [1, 0, 0, 3]
        same(run(value, x=rows).tolist(), [3, NAN, -INF, NAN])

    def test_argmin_takes_the_first_of_equals(self) -> None:
        x = te.placeholder((6,), "i8", "x")
        k = te.reduce_axis(6)
        index, _ = te.compute((), lambda: te.argmin(te.cast("i64", k), x[k], axis=k))
        assert run(index, x=[3, -128, 5, -128, 7, 0]) == 1

    def test_max_and_min_know_the_sign_of_zero(self) -> None:
        x = te.placeholder((3, 2), "f32", "x")
        k = te.reduce_axis(2)
        rows = [[-0.0, 0.0], [0.0, -0.0], [-0.0, -0.0]]
        same(run(te.compute((3,), lambda i: te.max(x[i, k], axis=k)), x=rows).tolist(), [0.0, 0.0, -0.0])
        same(run(te.compute((3,), lambda i: te.min(x[i, k], axis=k)), x=rows).tolist(), [-0.0, -0.0, -0.0])

    def test_by_a_reducer_of_ones_own(self) -> None:
        lhs, rhs = te.Var("lhs", "i64"), te.Var("rhs", "i64")
        both = te.Reducer("add", (lhs,), (rhs,), (lhs + rhs + lhs * rhs,), (te.const(0, "i64"),))
        x = te.placeholder((5,), "i64", "x")
        k = te.reduce_axis(5)
        y = te.compute((), lambda: te.Reduction(both, (x[k],), (k,)).components[0])
        assert run(y, x=[1, 2, 3, 4, 5]) == 2 * 3 * 4 * 5 * 6 - 1  # (1 + a)(1 + b) - 1

    def test_by_a_reducer_that_selects_lazily(self) -> None:
        lhs, rhs = te.Var("lhs", "f32"), te.Var("rhs", "f32")
        larger = te.Reducer("larger", (lhs,), (rhs,), (te.if_then_else(lhs > rhs, lhs, rhs),), (te.lowest("f32"),))
        k = te.reduce_axis(7)
        y = te.compute((3,), lambda i: te.Reduction(larger, (self.X[i, k],), (k,)).components[0])
        assert run(y, x=self.VALUES).tolist() == self.VALUES.max(1).tolist()


def test_a_diagonal_is_read_element_by_element() -> None:
    x = te.placeholder((3, 3), "i32", "x")
    assert run(te.compute((3,), lambda i: x[i, i]), x=np.arange(9).reshape(3, 3)).tolist() == [0, 4, 8]


def test_reversed_and_transposed_reads() -> None:
    x = te.placeholder((3, 4), "i32", "x")
    values = np.arange(12).reshape(3, 4)
    y = te.compute((2, 3), lambda j, i: x[2 - i, j * 2 + 1])
    assert run(y, x=values).tolist() == values[::-1, 1::2].T.tolist()


class TestLazySelection:
    def test_does_not_read_outside_on_the_side_not_taken(self) -> None:
        x = te.placeholder((4,), "f32", "x")
        y = te.compute((6,), lambda i: te.if_then_else(te.all(i >= 1, i < 5), x[i - 1], 9.0))
        assert run(y, x=[1, 2, 3, 4]).tolist() == [9, 1, 2, 3, 4, 9]

    def test_of_an_empty_tensor_reads_nothing(self) -> None:
        x = te.placeholder((0,), "f32", "x")
        y = te.compute((2,), lambda i: te.if_then_else(i > 5, x[i], 9.0))
        assert run(y, x=[]).tolist() == [9, 9]

    def test_nests(self) -> None:
        x = te.placeholder((2,), "f32", "x")
        y = te.compute(
            (6,),
            lambda i: te.if_then_else(
                i < 2, x[i], te.if_then_else(i < 4, x[i - 2], te.if_then_else(i < 5, 7.0, x[i - 4]))
            ),
        )
        assert run(y, x=[1, 2]).tolist() == [1, 2, 1, 2, 7, 2]

    def test_an_eager_selection_may_not_read_outside(self) -> None:
        x = te.placeholder((4,), "f32", "x")
        y = te.compute((6,), lambda i: te.select(i < 4, x[i], 9.0))
        with pytest.raises(te.TEError, match="^'x' is read outside dimension 0, which has 4 elements$"):
            run(y, x=[1, 2, 3, 4])

    def test_the_side_taken_may_not_read_outside_either(self) -> None:
        x = te.placeholder((4,), "f32", "x")
        y = te.compute((6,), lambda i: te.if_then_else(i < 5, x[i], 9.0))
        with pytest.raises(te.TEError, match="read outside dimension 0"):
            run(y, x=[1, 2, 3, 4])


class TestCheck:
    X = te.placeholder((4,), "f32", "x")

    def test_fails_with_its_message(self) -> None:
        y = te.compute((4,), lambda i: te.check(self.X[i] < 3.0, self.X[i], "graph.test: too large"))
        assert run(y, x=[1, 2, 0, 1]).tolist() == [1, 2, 0, 1]
        with pytest.raises(CheckFailed, match="^graph.test: too large$"):
            run(y, x=[1, 2, 3, 1])

    def test_counts_only_where_it_is_reached(self) -> None:
        y = te.compute(
            (4,),
            lambda i: te.if_then_else(i < 2, te.check(self.X[i] < 3.0, self.X[i], "graph.test: no"), 0.0),
        )
        assert run(y, x=[1, 2, 3, 4]).tolist() == [1, 2, 0, 0]

    def test_comes_before_the_value_that_relies_on_it(self) -> None:
        x = te.placeholder((2,), "i64", "x")
        at = te.cast("index", x[0])
        y = te.compute((), lambda: te.check(at < 4, self.X[at], "graph.test: outside"))
        inputs = {self.X: array([1, 2, 3, 4]), x: array([7, 0], "i64")}
        with pytest.raises(CheckFailed, match="^graph.test: outside$"):
            evaluate([y], inputs)


class TestInputs:
    def test_fix_symbolic_sizes(self) -> None:
        n, m = te.var("n"), te.var("m")
        x = te.placeholder((n, m), "f32", "x")
        k = te.reduce_axis(m)
        y = te.compute((n,), lambda i: te.sum(x[i, k], axis=k))
        assert run(y, x=np.ones((3, 5))).tolist() == [5, 5, 5]

    def test_must_agree_on_symbolic_sizes(self) -> None:
        n = te.var("n")
        x, y = te.placeholder((n,), "f32", "x"), te.placeholder((n * 2,), "f32", "y")
        z = te.compute((n,), lambda i: x[i] + y[i * 2])
        assert run(z, x=[1, 2], y=[1, 2, 3, 4]).tolist() == [2, 5]
        with pytest.raises(te.TEError, match=r"^the array of 'y' has shape \(3,\), expected \(4,\)$"):
            run(z, x=[1, 2], y=[1, 2, 3])

    def test_must_be_given(self) -> None:
        x = te.placeholder((2,), "f32", "x")
        with pytest.raises(te.TEError, match="^no array is given for placeholder 'x'$"):
            evaluate([te.compute((2,), lambda i: x[i])], {})

    def test_must_have_the_element_type(self) -> None:
        x = te.placeholder((2,), "f32", "x")
        with pytest.raises(te.TEError, match="^the array of 'x' has 1 dimensions of float64, expected 1 of float32$"):
            evaluate([te.compute((2,), lambda i: x[i])], {x: np.zeros(2)})

    def test_are_never_returned_themselves(self) -> None:
        x = te.placeholder((2,), "f32", "x")
        values = array([1, 2])
        (copy,) = evaluate([x], {x: values})
        assert copy is not values and copy.tolist() == [1, 2]


class TestScalars:
    def test_max_and_min_of_floats(self) -> None:
        columns: list[list[object]] = [[1, NAN, 2, -0.0, 0.0, -0.0], [2, 1, NAN, 0.0, -0.0, -0.0]]
        same(mapped(te.maximum, "f32", *columns), [2, NAN, NAN, 0.0, 0.0, -0.0])
        same(mapped(te.minimum, "f32", *columns), [1, NAN, NAN, -0.0, -0.0, -0.0])

    def test_integers_wrap(self) -> None:
        assert mapped(lambda x, y: x + y, "i8", [127, -128], [1, -1]) == [-128, 127]
        assert mapped(lambda x, y: x * y, "ui8", [255, 16], [255, 16]) == [1, 0]
        assert mapped(lambda x: -x, "i8", [-128, 5]) == [-128, -5]
        assert mapped(lambda x: -x, "ui8", [1, 0]) == [255, 0]

    def test_integer_division(self) -> None:
        columns: list[list[object]] = [[7, -7, 7, -7, -128], [2, 2, -2, -2, 3]]
        assert mapped(te.truncdiv, "i8", *columns) == [3, -3, -3, 3, -42]
        assert mapped(te.truncmod, "i8", *columns) == [1, -1, 1, -1, -2]
        assert mapped(te.floordiv, "i8", *columns) == [3, -4, -4, 3, -43]
        assert mapped(te.floormod, "i8", *columns) == [1, 1, -1, -1, 1]

    def test_float_to_integer_saturates(self) -> None:
        x: list[object] = [NAN, INF, -INF, 300, -300, 1.9, -1.9]
        assert mapped(lambda v: te.cast("i8", v), "f32", x) == [0, 127, -128, 127, -128, 1, -1]
        assert mapped(lambda v: te.cast("ui8", v), "f32", x) == [0, 255, 0, 255, 0, 1, 0]
        big: list[object] = [2.0**63, -(2.0**63), 2.0**64, 2.0**63 - 1024]
        assert mapped(lambda v: te.cast("i64", v), "f64", big) == [
            2**63 - 1,
            -(2**63),
            2**63 - 1,
            2**63 - 1024,
        ]
        assert mapped(lambda v: te.cast("ui64", v), "f64", big) == [2**63, 0, 2**64 - 1, 2**63 - 1024]

    def test_nan_is_true(self) -> None:
        assert mapped(lambda v: te.cast("i1", v), "f32", [NAN, 0.0, -0.0, 0.1]) == [True, False, False, True]

    @pytest.mark.parametrize("dtype", ["f16", "bf16"])
    def test_half_floats_round_each_operation_once(self, dtype: str) -> None:
        rng = np.random.default_rng(3)
        x, y = (array(rng.standard_normal(200) * 8, dtype) for _ in range(2))
        found = mapped(lambda a, b: a * b, dtype, list(x), list(y))
        exact = x.astype(np.float64) * y.astype(np.float64)
        assert found == exact.astype(x.dtype).tolist()

    def test_bf16_rounds_f64_and_integers_once(self) -> None:
        # Half a unit of bf16 above 1, and a little: rounding to f32 first would lose the little and go down to even.
        x = 1 + 2.0**-8 + 2.0**-40
        assert mapped(lambda v: te.cast("bf16", v), "f64", [x]) == [float(ml_dtypes.bfloat16(1 + 2.0**-7))]
        n = 2**62 + 2**54 + 1
        assert mapped(lambda v: te.cast("bf16", v), "i64", [n, -n]) == [
            float(2**62 + 2**55),
            -float(2**62 + 2**55),
        ]

    def test_fma_rounds_once(self) -> None:
        x = 1 + 2.0**-12
        assert mapped(te.fma, "f32", [x], [x], [-(1 + 2.0**-11)]) == [2.0**-24]
        y = 1 + 2.0**-30
        assert mapped(te.fma, "f64", [y], [y], [-(1 + 2.0**-29)]) == [2.0**-60]
        # The product lies halfway between two f32; what is added decides, though f64 cannot hold the sum.
        for little, expected in ((2.0**-60, 2.0**-22), (-(2.0**-60), 2.0**-23)):
            assert mapped(te.fma, "f32", [1 + 2.0**-23], [1.5], [little]) == [1.5 + expected]

    def test_functions_of_f32_are_the_nearest_value(self) -> None:
        x = np.linspace(-3, 3, 97).astype(np.float32)
        found = mapped(te.exp, "f32", list(x))
        assert found == [float(np.float32(math.exp(v))) for v in x]

    @pytest.mark.parametrize(
        ("function", "x", "expected"),
        [
            ("rsqrt", [0.0, -0.0, INF, -1.0, 4.0], [INF, -INF, 0.0, NAN, 0.5]),
            ("erf", [INF, -INF, NAN, -0.0], [1.0, -1.0, NAN, -0.0]),
            ("round", [0.5, 1.5, -0.5, 2.5], [0.0, 2.0, -0.0, 2.0]),
            ("log", [0.0, -1.0, INF], [-INF, NAN, INF]),
        ],
    )
    def test_functions_at_edges(self, function: str, x: list[object], expected: list[object]) -> None:
        same(mapped(lambda v: te.unary(function, v), "f32", x), expected)

    def test_shift_counts_outside_the_width_do_no_harm(self) -> None:
        found = mapped(lambda a, b: te.binary("shr", a, b), "i32", [-8, 8], [1, 99])
        assert found[0] == -4


def test_an_expression_deeper_than_the_recursion_limit_is_evaluated() -> None:
    x = te.placeholder((2,), "f32", "x")

    def body(i: te.Expr) -> te.Expr:
        value: te.Expr = x[i]
        for _ in range(3000):
            value = value + 1.0
        return value

    assert run(te.compute((2,), body), x=[0, 1]).tolist() == [3000, 3001]
