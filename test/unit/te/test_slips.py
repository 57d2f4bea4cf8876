"""What te says to slips, and what deep expressions need: errors of te, no other exceptions and no recursion."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell import te

A = te.placeholder((8,), "f32", "A")
S = te.placeholder((8, 4), "f32", "S")
X = te.Var("x", "f32")
Y = te.Var("y", "f32")
SUM = te.Reducer("r", (X,), (Y,), (X + Y,), (te.const(0, "f32"),))
ARRAY = np.ones(8, np.float32)
COLUMN = te.reduce_axis(4, "k")
"""The axis of the columns of S."""


def elements(name: str) -> Any:
    a = te.placeholder((4,), "f32", name)
    return [a, te.compute((4,), lambda i: a[i] + 1.0)]


def stage(name: str = "y", axis: str = "i") -> Any:
    return te.compute((8,), lambda *i: A[i] + 1.0, name, varargs_names=[axis])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda: te.sum(S[0, COLUMN], axis=[COLUMN, COLUMN]),
            "a reduction goes over 'k' twice, expected each axis once",
        ),
        (
            lambda: te.argmax(te.cast("i64", COLUMN), S[0, COLUMN], axis=[COLUMN, COLUMN]),
            "a reduction goes over 'k' twice",
        ),
        (lambda: te.sum(S[0, 0], axis=[]), "reducer 'add' goes over no axis, expected at least one te.reduce_axis"),
        (
            lambda: te.sum(S[0, COLUMN], axis=1),  # pyright: ignore[reportArgumentType]
            "a reduction goes over 1, expected a te.reduce_axis, or several in a list",
        ),
        (
            lambda: te.argmin(te.cast("i64", COLUMN), S[0, COLUMN], axis=S),
            "a reduction goes over <te.Tensor S: f32[8, 4]>",
        ),
        (
            lambda: te.Reducer("r", (X,), (), (), ()),
            "reducer 'r' has 1 on the left, 0 on the right, 0 results, 0 identities, expected one each per component",
        ),
        (
            lambda: te.Reducer("r", (X,), (Y,), (X + Y,), (te.const(0, "f64"),)),
            "component 0 of reducer 'r' has the types f32, f32, f32, f64, expected one element type",
        ),
        (
            lambda: te.Reduction(SUM, (te.cast("f64", S[0, COLUMN]),), (COLUMN,)),
            "reducer 'r' combines values of type f32, found one of f64",
        ),
        (
            lambda: te.cast(A[0], "f32"),  # pyright: ignore[reportArgumentType]
            "te.cast takes the element type first, found <te.Load f32: A[0]>, expected te.cast('f32', x)",
        ),
        (lambda: te.cast("float", 1), "unknown element type 'float', expected one of f16"),
        (lambda: te.const(2, "i1"), "2 is not a value of i1, which holds False and True"),
        (lambda: te.const("x", "f32"), "'x' is not a value of f32, expected a number that f64 can hold"),
        (lambda: te.const(10**400, "f32"), "is not a value of f32, expected a number that f64 can hold"),
        (lambda: A[::0], "tensor 'A' is sliced by the step 0, expected a step that is not 0"),
        (
            lambda: te.evaluate(stage(), {A: ARRAY}),
            "te.evaluate takes a list of tensors, found the tensor 'y', expected",
        ),
        (lambda: te.evaluate([3], {}), "te.evaluate takes a list of tensors, one of them is 3"),
        (
            lambda: te.evaluate([stage()], {A: [1.0] * 8}),
            "the array of 'A' is [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], expected an array of NumPy",
        ),
        (
            lambda: te.evaluate([te.compute((), lambda: X)], {X: "1"}),
            "the value of 'x' is '1', expected a number of f32",
        ),
        (lambda: stepwell.create_prim_func(stage()), "create_prim_func takes a list of tensors, found the tensor 'y'"),
        (lambda: stepwell.create_prim_func(3), "create_prim_func takes a list of tensors, found 3"),
        (
            lambda: stepwell.create_prim_func(elements("A"), ""),
            "the name of the function is '', expected text that is not empty",
        ),
        (lambda: te.placeholder((4,), "f32", 3), "found the name 3, expected text"),
        (lambda: te.compute((4,), lambda i: A[i], 3), "found the name 3, expected text"),
        (lambda: te.compute((4,), lambda *i: A[i], varargs_names=[3]), "found the name 3, expected text"),
        (lambda: te.var(3), "found the name 3, expected text"),
        (lambda: te.reduce_axis(3, 3), "found the name 3, expected text"),
        (
            lambda: te.library.exp(ARRAY),
            "exp: found array([1., 1., 1., 1., 1., 1., 1., 1.], dtype=float32), expected a tensor; te.placeholder "
            "stands for an array, te.evaluate takes its values",
        ),
        (lambda: te.library.concat(A, ARRAY), "concat: found array("),
        (lambda: te.library.matmul(S, y=ARRAY), "matmul: found array("),
        (lambda: nested(101, te.if_then_else), "te.if_then_else is nested more than 100 levels deep"),
    ],
)
def test_a_slip_ends_in_an_error_of_te(wrong: Callable[[], Any], message: str) -> None:
    with pytest.raises(te.TEError, match=re.escape(message)):
        wrong()


@pytest.mark.parametrize("name", ["my x", "0", "", "x[1]"])
def test_a_name_that_the_text_cannot_hold_is_refused(name: str) -> None:
    expected = "expected letters, digits, and any of _ $ . -, and no digit first"
    message = f"the text of a program cannot hold the name {name!r}, {expected}"
    with pytest.raises(te.TEError, match=re.escape(message)):
        stepwell.create_prim_func(elements(name))
    temporary = stage(name)
    with pytest.raises(te.TEError, match=re.escape(message)):
        stepwell.create_prim_func([A, te.compute((8,), lambda i: temporary[i])])
    assert np.array_equal(te.evaluate([temporary], {A: ARRAY})[0], ARRAY + 1)


def test_a_tensor_is_no_sequence() -> None:
    with pytest.raises(TypeError, match="'Tensor' object is not iterable"):
        list(A)
    assert te.placeholder((8, 2), "f32", "P")[3, 1].dtype == "f32"


def nested(levels: int, choose: Callable[..., Any]) -> Any:
    x: Any = A[0]
    for level in range(levels):
        x = choose(A[1] > float(level), x, A[2] + 1.0)
    return stepwell.create_prim_func([A, te.compute((8,), lambda i: x, "y")])


def test_selections_may_be_nested_a_hundred_levels_deep() -> None:
    (found,) = stepwell.compile(nested(100, te.if_then_else), cache=False)(ARRAY)
    np.testing.assert_array_equal(found, np.full(8, 2, np.float32))
    nested(1000, te.select)


def test_deep_selections_are_evaluated_or_refused() -> None:
    x: Any = A[0]
    for level in range(2000):
        x = te.if_then_else(S[COLUMN, 0] > float(level), x, A[2])
    total = te.compute((8,), lambda i: te.sum(x, axis=COLUMN), "total")
    s = np.arange(32, dtype=np.float32).reshape(8, 4) * 1000
    with pytest.raises(te.TEError, match="the selections and checks of stage 'total' are nested too deeply"):
        te.evaluate([total], {A: ARRAY, S: s})


def test_a_deep_index_needs_no_recursion() -> None:
    def deep(i: Any) -> Any:
        at, value = i, A[i]
        for _ in range(1500):
            at, value = (at + i) - i, value * 0.5 + A[i]
        return value + A[at] + A[te.floordiv(at, 2)]

    y = te.compute((8,), deep, "y")
    assert isinstance(y, te.Tensor)
    (expected,) = te.evaluate([y], {A: ARRAY})
    (found,) = stepwell.compile(stepwell.create_prim_func([A, y]), cache=False)(ARRAY)
    np.testing.assert_array_equal(found, expected)
