"""What te says to what people type: AUDIT C10, slices, numbers as parameters, the prompt, names of other systems."""

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
M = te.placeholder((4, te.var("m")), "f32", "M")
K = te.reduce_axis(3)
WHOLE = "found the tensor 'A', expected an element such as A[i]; te.library computes with whole tensors"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda: te.compute((8,), lambda i: [A[i]], "y"),
            "compute 'y': the function returns a list; a tuple gives several tensors",
        ),
        (
            lambda: te.compute((8,), lambda i: None, "y"),
            "compute 'y': the function returns None, expected an element; is there a return?",
        ),
        (lambda: te.compute((8,), lambda i: A, "y"), f"compute 'y': {WHOLE}"),
        (lambda: te.compute((8,), lambda i: "x", "y"), "compute 'y': found 'x', expected an expression or a number"),
        (lambda: A + 1, WHOLE),
        (lambda: np.float32(2) * A, WHOLE),
        (lambda: A[0] + A, WHOLE),
        (lambda: te.exp(A), WHOLE),
        (lambda: te.sum(A, axis=K), WHOLE),
        (
            lambda: te.compute((8,), lambda i: A[i] if i == 0 else 0.0, "y"),
            "== asks whether two expressions are one node; te.equal(x, y) compares values",
        ),
        (
            lambda: te.compute((8,), lambda i: te.if_then_else(A[i] != 0.0, A[i], 1.0), "y"),
            "!= asks whether two expressions are one node; te.not_equal(x, y) compares values",
        ),
        (lambda: te.compute((8,), lambda i: A[i] if i % 3 == 2 else 0.0, "y"), "== asks whether two expressions"),
        (lambda: te.exp(3), "'exp' takes an expression, found the number 3"),
        (
            lambda: te.placeholder((3,), "float32"),
            "'placeholder' has element type 'float32', which there is not; did you mean 'f32'?",
        ),
        (
            lambda: te.placeholder((3,), np.int8),
            "'placeholder' has element type <class 'numpy.int8'>, which there is not; did you mean 'i8'?",
        ),
        (lambda: te.var("n", "float"), "'n' has element type 'float', which there is not, expected one of f16"),
        (lambda: te.placeholder(3), "'placeholder' has shape 3, expected a tuple of sizes: (3,)"),
        (lambda: te.reduce_axis(1.5), "'k' has size 1.5, expected a number of elements that is not negative"),
        (lambda: te.reduce_axis((0, 1.5)), "axis 'k' ends at 1.5, expected a size"),
        (lambda: te.reduce_axis((1, 2, 3)), "axis 'k' goes over (1, 2, 3), expected a size or (number, size)"),
        (
            lambda: S[K, 0:2],
            "tensor 'S' is sliced beside the index <te.Axis index: k>; beside slices an index is a number",
        ),
        (lambda: S[0:2, 0, 0], "tensor 'S' has 2 dimensions but 3 indices were given"),
        (lambda: M[:, 1:], "tensor 'M' is sliced by slice(1, None, None), expected numbers and a dimension whose size"),
        (lambda: stepwell.create_prim_func([A, 3, A]), "an argument is 3, expected a tensor or a te.var"),
    ],
)
def test_a_wrong_expression_says_what_was_meant(wrong: Callable[[], Any], message: str) -> None:
    with pytest.raises(te.TEError, match=re.escape(message)):
        wrong()


@pytest.mark.parametrize("name", ["create_schedule", "lower", "build", "create_prim_func"])
def test_a_name_of_another_system_says_what_does_it_here(name: str) -> None:
    with pytest.raises(AttributeError, match=f"te has no '{name}': .*(create_prim_func|Schedule)"):
        getattr(te, name)


def test_sizes_and_numbers_of_numpy_are_numbers() -> None:
    x = te.placeholder((np.int64(3),), "f32", "x")
    assert x.shape == (3,)
    assert type(x.shape[0]) is int
    y = te.compute((np.int32(3),), lambda i: np.float32(2) * x[i] + x[np.int64(0)] ** 2)
    found = te.evaluate([y], {x: np.array([1, 2, 3], np.float32)})[0]
    np.testing.assert_array_equal(found, [3, 5, 7])


def test_a_variable_that_is_no_size_is_a_number_to_pass() -> None:
    scale, shift = te.var("scale", "f32"), te.var("shift")
    y = te.compute((8,), lambda i: A[i] * scale + te.cast("f32", shift + i), "y")
    r = te.reduce_axis(8, "r")
    total = te.compute((), lambda: te.sum(y[r] * scale, axis=r), "total")
    assert isinstance(total, te.Tensor)
    exe = stepwell.compile(stepwell.create_prim_func([A, scale, shift, y, total]), cache=False)
    assert exe.signature.startswith("main(A: tensor<8xf32>, scale: tensor<f32>, shift: tensor<i64>) -> (")
    a = np.arange(8, dtype=np.float32)
    expected = a * 2 + 3 + a
    for found, sums in (exe(a, 2.0, 3), te.evaluate([y, total], {A: a, scale: np.float32(2), shift: np.int64(3)})):
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_allclose(sums, 2 * expected.sum())
    with pytest.raises(te.TEError, match=r"variable 'scale' is neither a size .*create_prim_func\(\[…, scale, …\]\)"):
        stepwell.create_prim_func([A, y])


def test_slices_are_those_of_numpy() -> None:
    s = np.arange(32, dtype=np.float32).reshape(8, 4)
    parts = [S[1:7:2, ::-1], S[..., -1], S[2:], S[5:2, :], S[0, 1:3]]
    expected = [s[1:7:2, ::-1], s[..., -1], s[2:], s[5:2, :], s[0, 1:3]]
    for found, wanted in zip(te.evaluate(parts, {S: s}), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert M[:, ...].shape == M.shape


def test_an_axis_may_end_at_a_symbolic_size() -> None:
    m = M.shape[1]
    r = te.reduce_axis((1, m), "r")
    y = te.compute((4,), lambda i: te.sum(M[i, r], axis=r), "y")
    assert isinstance(y, te.Tensor)
    a = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.testing.assert_array_equal(te.evaluate([y], {M: a})[0], a[:, 1:].sum(1))
    (found,) = stepwell.compile(stepwell.create_prim_func([M, y]), cache=False)(a)
    np.testing.assert_array_equal(found, a[:, 1:].sum(1))


def test_deep_expressions_are_emitted_without_recursion() -> None:
    x: Any = A[0]
    for step in range(2000):
        x = te.if_then_else(x < 0.0, 0.0, x + 1.0) if step % 100 == 99 else x + 1.0
    y = te.compute((8,), lambda i: x, "y")
    assert len(repr(y)) < 200
    function = stepwell.create_prim_func([A, y])
    assert str(function).count("arith.addf") == 2000


def test_the_prompt_shows_what_is_computed() -> None:
    y = te.compute((8,), lambda i: te.exp(-A[i]) + 1.5, "y")
    r = te.reduce_axis(4, "r")
    z = te.compute((8,), lambda i: te.sum(S[i, r], axis=r), "z")
    assert isinstance(y, te.Tensor)
    assert repr(A) == "<te.Tensor A: f32[8]>"
    assert repr(y) == "<te.Tensor y: f32[8] = (exp(neg(A[i])) + 1.5)>"
    assert repr(y.source) == "<te.Compute y[i] = (exp(neg(A[i])) + 1.5)>"
    assert repr(z) == "<te.Tensor z: f32[8] = sum(S[i, r], axis=r)>"
    assert repr(A[0] < 2.0) == "<te.Compare i1: (A[0] < 2.0)>"
    assert repr(te.select(A[0] < 2.0, A[1], te.cast("f32", 1))) == "<te.Select f32: select((A[0] < 2.0), A[1], 1.0)>"
    assert repr(te.cast("i32", A[0])) == "<te.Cast i32: cast(A[0], i32)>"
    assert repr(te.var("n")) == "<te.Var index: n>"


def test_expressions_are_keys_and_symbolic_sizes_are_compared() -> None:
    n, i = te.var("n"), te.reduce_axis(3)
    load = A[i]
    kept = {load: 1, i: 2, n: 3}
    assert kept[load] == 1 and kept[i] == 2 and len({load, i, A[i], n}) == 4
    assert load in [1.0 * load, load] and load != A[i] and (load, 1) == (load, 1) and load is not None
    assert n != 1 and (n, 4) != (3, 4) and n * 2 != 4 and load != "load" and load != None  # noqa: E711
