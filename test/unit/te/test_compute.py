"""`te.compute`, reductions and scalar functions: what is built, and what is refused with which words."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from stepwell import te

A = te.placeholder((4, 5), "f32", "A")
I32 = te.placeholder((4, 5), "i32", "I")


def refuses(message: str):
    return pytest.raises(te.TEError, match="^" + re.escape(message) + "$")


def only_stage(tensor: te.Tensor) -> te.Compute:
    assert tensor.source is not None
    return tensor.source


class TestAxisNames:
    def test_are_those_of_the_arguments(self) -> None:
        y = te.compute((4, 5), lambda row, column: A[row, column])
        assert [axis.name for axis in only_stage(y).axes] == ["row", "column"]

    def test_of_variable_arguments_count_from_their_place(self) -> None:
        y = te.compute((4, 5, 6), lambda n, *rest: A[n, rest[0]])
        assert [axis.name for axis in only_stage(y).axes] == ["n", "i2", "i3"]

    def test_of_variable_arguments_may_be_given(self) -> None:
        y = te.compute((4, 5, 6), lambda n, *rest: A[n, rest[0]], varargs_names=["h", "w"])
        assert [axis.name for axis in only_stage(y).axes] == ["n", "h", "w"]

    def test_missing_arguments_leave_the_body_constant_there(self) -> None:
        y = te.compute((4, 7), lambda i: A[i, 0])
        assert y.shape == (4, 7)
        assert [axis.name for axis in only_stage(y).axes] == ["i", "ax0"]


class TestComputeRefuses:
    def test_keyword_arguments(self) -> None:
        with refuses("compute 'y': argument 'j' is not a plain positional argument"):
            te.compute((4, 5), lambda i, *, j: A[i, j], name="y")
        with refuses("compute 'y': argument 'more' is not a plain positional argument"):
            te.compute((4, 5), lambda i, **more: A[i, 0], name="y")

    def test_defaults(self) -> None:
        with refuses("compute 'y': argument 'j' is not a plain positional argument"):
            te.compute((4, 5), lambda i, j=0: A[i, j], name="y")

    def test_more_arguments_than_dimensions_with_both_counts(self) -> None:
        with refuses("compute 'y': the function takes 3 arguments but the shape has 2 dimensions"):
            te.compute((4, 5), lambda i, j, k: A[i, j], name="y")

    def test_a_wrong_number_of_names(self) -> None:
        with refuses("compute 'y': 1 names given for 2 variable arguments"):
            te.compute((4, 5), lambda *i: A[i], name="y", varargs_names=["h"])
        with refuses("compute 'y': 2 names given for 0 variable arguments"):
            te.compute((4, 5), lambda i, j: A[i, j], name="y", varargs_names=["h", "w"])

    def test_a_reduction_inside_an_expression(self) -> None:
        k = te.reduce_axis(5)
        with refuses("compute 'y': a reduction must be the whole body; give the sum a stage of its own"):
            te.compute((4,), lambda i: te.sum(A[i, k], axis=k) + 1.0, name="y")

    def test_a_reduction_of_a_reduction(self) -> None:
        k, m = te.reduce_axis(5), te.reduce_axis(4)
        with refuses("compute 'y': a reduction must be the whole body; give the sum a stage of its own"):
            te.compute((), lambda: te.sum(te.sum(A[m, k], axis=k), axis=m), name="y")

    def test_results_of_two_reductions(self) -> None:
        k = te.reduce_axis(5)
        with refuses("compute 'y': all results must be components of one reduction, or none"):
            te.compute((4,), lambda i: (te.sum(A[i, k], axis=k), te.max(A[i, k], axis=k)), name="y")

    def test_an_empty_tuple(self) -> None:
        with refuses("compute 'y' has an empty tuple as its body"):
            te.compute((4,), lambda i: (), name="y")

    @pytest.mark.parametrize("size", [-1, 2.0, True])
    def test_sizes_that_are_no_number_of_elements(self, size: object) -> None:
        with refuses(f"'x' has size {size!r}, expected a number of elements that is not negative"):
            te.placeholder((size,), "f32", "x")  # pyright: ignore[reportArgumentType]

    def test_sizes_of_another_type(self) -> None:
        with refuses("'x' has a size of type i32, expected index"):
            te.placeholder((te.var("n", "i32"),), "f32", "x")


class TestExpressionsRefuse:
    def test_an_index_that_is_no_index(self) -> None:
        with refuses("tensor 'A' is indexed by a value of type f32, expected index"):
            te.compute((4,), lambda i: A[i, A[i, 0]])

    def test_a_wrong_number_of_indices(self) -> None:
        with refuses("tensor 'A' has 2 dimensions but 1 indices were given"):
            te.compute((4,), lambda i: A[i])

    def test_mixed_element_types(self) -> None:
        with refuses("'add' takes one element type, found f32 and i32"):
            A[0, 0] + I32[0, 0]
        with refuses("'lt' compares one element type, found f32 and i32"):
            te.compare("lt", A[0, 0], I32[0, 0])
        with refuses("a selection takes one element type, found f32 and i32"):
            te.select(A[0, 0] < 1.0, A[0, 0], I32[0, 0])

    def test_float_functions_of_integers(self) -> None:
        with refuses("'exp' is not defined on i32"):
            te.exp(I32[0, 0])
        with refuses("'div' is not defined on i32"):
            I32[0, 0] / I32[0, 0]

    def test_integer_functions_of_floats(self) -> None:
        with refuses("'floordiv' is not defined on f32"):
            A[0, 0] // 2.0

    def test_a_literal_that_does_not_fit(self) -> None:
        x = te.placeholder((), "i8", "x")
        with refuses("300 is not a value of i8, which holds the integers -128 to 127"):
            x[()] + 300

    def test_conditions_that_are_no_boolean(self) -> None:
        with refuses("the condition of a selection has type f32, expected i1"):
            te.select(A[0, 0], A[0, 0], A[0, 0])
        with refuses("the condition of a check has type f32, expected i1"):
            te.check(A[0, 0], A[0, 0], "graph.x: no")

    def test_being_a_python_condition(self) -> None:
        with refuses("a tensor expression has no truth value; use te.if_then_else, te.all or te.any"):
            bool(A[0, 0] < 1.0)

    def test_reducing_over_a_spatial_axis(self) -> None:
        with refuses("'i' is a spatial axis; reduce over te.reduce_axis axes"):
            te.compute((4,), lambda i: te.sum(A[i, i], axis=i))

    def test_casting_to_an_unknown_type(self) -> None:
        with pytest.raises(te.TEError, match="^unknown element type 'f8', expected one of f16, bf16, f32"):
            te.cast("f8", A[0, 0])


class TestVariables:
    def test_one_variable_in_two_shapes_is_one(self) -> None:
        n = te.var("n")
        x, y = te.placeholder((n,), name="x"), te.placeholder((n, n), name="y")
        z = te.compute((n,), lambda i: x[i] + y[i, i])
        assert te.free_vars(z) == (n,)

    def test_come_in_order_of_first_use_and_include_those_of_bodies_and_reductions(self) -> None:
        n, m, scale = te.var("n"), te.var("m"), te.var("scale", "f32")
        x = te.placeholder((n, m), name="x")
        k = te.reduce_axis(m)
        total = te.compute((n,), lambda i: te.sum(x[i, k], axis=k))
        y = te.compute((n,), lambda i: total[i] * scale)
        assert te.free_vars(y) == (n, m, scale)

    def test_of_static_tensors_are_none(self) -> None:
        k = te.reduce_axis(5)
        assert te.free_vars(te.compute((4,), lambda i: te.sum(A[i, k], axis=k))) == ()


def test_stages_come_producers_first_and_once() -> None:
    b = te.compute((4, 5), lambda i, j: A[i, j] + 1.0, name="b")
    c = te.compute((4, 5), lambda i, j: b[i, j] * b[i, j], name="c")
    d = te.compute((4, 5), lambda i, j: b[i, j] + c[i, j], name="d")
    assert [stage.name for stage in te.stages(d, c)] == ["b", "c", "d"]


def test_a_chain_of_many_stages_needs_no_recursion() -> None:
    x = A
    for _ in range(20_000):
        x = te.Tensor((4, 5), "f32", "s", te.Compute("s", (), (x[0, 0],)))
    assert len(te.stages(x)) == 20_000


def test_te_does_not_import_numpy() -> None:
    code = "import sys, stepwell.te as te; te.library.relu(te.placeholder((2,))); sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
