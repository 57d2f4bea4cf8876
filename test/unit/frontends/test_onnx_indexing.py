"""Operators of ONNX that read and write at indices or look for positions, and Einsum, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx_one_node import expected, run, text_of
from stepwell.frontends import OnnxError
from stepwell.runtime.errors import ExecutionError

Array = np.ndarray[Any, Any]
X = np.random.default_rng(0).standard_normal((3, 4, 5)).astype(np.float32)


def test_a_gather_of_elements_is_one_op() -> None:
    indices = np.zeros((3, 2, 5), np.int32)
    text = text_of("GatherElements", {"x": X, "i": indices}, version=13, axis=1)
    assert text.count("graph.") == 1 and "graph.take_along_axis %x, %i, axis = 1" in text


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatters_of_truths(reduction: str) -> None:
    x, updates = np.array([True, False, True, False]), np.array([False, True, True])
    indices = np.array([0, 1, 0])
    by_hand = x.copy()
    for place, update in zip(indices, updates, strict=True):
        both = {"add": by_hand[place] | update, "mul": by_hand[place] & update}
        both |= {"max": both["add"], "min": both["mul"], "none": update}
        by_hand[place] = both[reduction]
    inputs = {"x": x, "i": indices, "u": updates}
    (found,) = run("ScatterElements", inputs, version=18, reduction=reduction)
    assert np.array_equal(found, by_hand)


def test_reductions_that_are_unknown_are_refused() -> None:
    inputs = {"x": X[0], "i": np.zeros((1, 1), np.int64), "u": X[:1, 0]}
    with pytest.raises(OnnxError, match="reduction is 'sum', expected one of none, add, mul, max, min"):
        text_of("ScatterND", inputs, version=18, reduction="sum")


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize("axis", [1, -2, -1])
def test_tensor_scatter(mode: str, axis: int) -> None:
    rng = np.random.default_rng(1)
    past = rng.standard_normal((2, 3, 6, 4)).astype(np.float32)
    size = {1: 2, -2: 3, -1: 2}[axis]
    shape = list(past.shape)
    shape[axis] = size
    update = rng.standard_normal(shape).astype(np.float32)
    most = past.shape[axis]
    starts = np.array([1, most - 1 if mode == "circular" else most - size])
    by_hand = np.moveaxis(past.copy(), axis, 1)
    for row, start in enumerate(starts):
        for step in range(size):
            by_hand[row, (start + step) % most] = np.moveaxis(update, axis, 1)[row, step]
    (found,) = run("TensorScatter", {"p": past, "u": update, "s": starts}, version=24, axis=axis, mode=mode)
    assert np.array_equal(found, np.moveaxis(by_hand, 1, axis))


def test_tensor_scatter_beyond_the_end() -> None:
    inputs = {"p": np.zeros((1, 2, 6, 4), np.float32), "u": np.ones((1, 2, 3, 4), np.float32), "s": np.array([4])}
    with pytest.raises(ExecutionError, match="graph.scatter_nd: index out of range"):
        run("TensorScatter", inputs, version=24)


@pytest.mark.parametrize("time_axis", [0, 1])
def test_sequences_are_reversed(time_axis: int) -> None:
    x = np.arange(24).reshape(4, 6, 1)
    lengths = np.array([1, 2, 4, 3, 4, 1]) if time_axis == 0 else np.array([6, 1, 3, 5])
    by_hand = x.copy()
    for row, length in enumerate(lengths):
        at = (slice(0, length), row) if time_axis == 0 else (row, slice(0, length))
        by_hand[at] = x[at][::-1]
    inputs = {"x": x, "n": lengths}
    (found,) = run("ReverseSequence", inputs, version=10, time_axis=time_axis, batch_axis=1 - time_axis)
    assert np.array_equal(found, by_hand)


# Positions


@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin"])
def test_the_last_of_equal_elements(operator: str) -> None:
    x = np.array([[3, 1, 3, 1, 2], [0, 0, 0, 0, 0]], np.int16)
    last = {"ArgMax": [2, 4], "ArgMin": [3, 4]}[operator]
    (found,) = run(operator, {"x": x}, version=13, axis=-1, keepdims=0, select_last_index=1)
    assert found.tolist() == last


@settings(max_examples=8)
@given(axis=st.integers(0, 2), k=st.integers(1, 3), largest=st.booleans(), seed=st.integers(0, 9))
def test_top_k(axis: int, k: int, largest: bool, seed: int) -> None:
    x = np.random.default_rng(seed).integers(-3, 3, (3, 4, 5)).astype(np.int32)
    inputs = {"x": x, "k": np.array([k])}
    values, places = run("TopK", inputs, version=11, outputs=2, known=["k"], axis=axis, largest=int(largest))
    order = np.argsort(-x if largest else x, axis=axis, kind="stable")
    order = np.take(order, np.arange(k), axis=axis)
    assert np.array_equal(places, order)
    assert np.array_equal(values, np.take_along_axis(x, order, axis))


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.uint8])
def test_one_hot(dtype: Any) -> None:
    indices = np.array([[0, 4], [2, 7]]).astype(dtype)
    inputs = {"i": indices, "d": np.array([5]), "v": np.array([-1, 3], np.int8)}
    (found,) = run("OneHot", inputs, version=11, known=["d"], axis=1)
    assert np.array_equal(found, np.where(indices[:, None] == np.arange(5)[:, None], 3, -1))


def test_compress_by_a_known_condition() -> None:
    inputs = {"x": X, "c": np.array([False, True, True])}
    (found,) = run("Compress", inputs, version=11, known=["c"], axis=-2)
    assert np.array_equal(found, X[:, 1:3])
    with pytest.raises(OnnxError, match=r"input 1.* is computed at run time, expected it to be known at import"):
        text_of("Compress", inputs, version=11, axis=1)


@settings(max_examples=6)
@given(repeats=st.tuples(*[st.integers(0, 3)] * 3))
def test_tiles(repeats: tuple[int, ...]) -> None:
    (found,) = run("Tile", {"x": X, "r": np.array(repeats)}, version=13, known=["r"])
    assert np.array_equal(found, np.tile(X, repeats))


@pytest.mark.parametrize("repeats", [(5, 1, 4), (4, 2, 3), (2, 3, 1), (7, 1, 16)])
def test_tiles_of_short_rows(repeats: tuple[int, int, int]) -> None:
    """Rows are repeated first, and long rows then."""
    x = np.arange(60, dtype=np.float32).reshape(4, 5, 3)
    (found,) = run("Tile", {"x": x, "r": np.array(repeats)}, version=13, known=["r"])
    assert np.array_equal(found, np.tile(x, repeats))


def test_tiles_of_another_rank_are_refused() -> None:
    with pytest.raises(OnnxError, match="repeats has 2 entries, expected 3"):
        text_of("Tile", {"x": X, "r": np.array([1, 2])}, version=13, known=["r"])


# Einsum

EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("...ii->...i", (2, 3, 3)),
    ("i,j->ij", (3,), (4,)),
    ("ij->", (3, 4)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 6)),
    ("abc,cd,de->abe", (2, 3, 4), (4, 5), (5, 6)),
    ("ii->", (4, 4)),
    ("bi,bj,bk->bijk", (2, 3), (2, 4), (2, 5)),
    ("iij->j", (3, 3, 4)),
    ("ij,kl->jl", (2, 3), (4, 5)),
    ("a...b->b...", (2, 3, 4, 5)),
    ("ba", (2, 3)),
    (" , ->", (), ()),
]


@pytest.mark.ci_cases(5)
@pytest.mark.parametrize("case", EQUATIONS, ids=[case[0] for case in EQUATIONS])
def test_einsum(case: tuple[Any, ...]) -> None:
    equation, *shapes = case
    rng = np.random.default_rng(len(equation))
    arrays = [np.asarray(rng.standard_normal(shape), np.float64) for shape in shapes]
    inputs = {f"x{number}": array for number, array in enumerate(arrays)}
    (found,) = run("Einsum", inputs, version=12, equation=equation)
    np.testing.assert_allclose(found, np.einsum(equation, *arrays), rtol=1e-12, atol=1e-12)


def test_einsum_is_one_product_where_it_is_one() -> None:
    inputs = {"x": np.zeros((2, 3, 4)), "y": np.zeros((2, 4, 5))}
    text = text_of("Einsum", inputs, version=12, equation="bij,bjk->bik")
    assert text.count("graph.") == 1 and "graph.matmul" in text


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        ("ij,jk->ik", "has 2 operands, but the node has 1"),
        ("i->i", "'i' does not fit the operand"),
        ("ij->ik", "the result has labels that are repeated or in no operand"),
        ("i1->i", "'i1' is not letters with at most one ellipsis"),
        ("ii->i", "'i' stands for 2 and 3"),
    ],
)
def test_equations_that_do_not_fit(equation: str, message: str) -> None:
    with pytest.raises(OnnxError) as caught:
        text_of("Einsum", {"x": np.zeros((2, 3))}, version=12, equation=equation)
    assert message in str(caught.value)


def test_the_evaluator_of_onnx_agrees_on_gathers() -> None:
    indices = np.array([[0, -1], [2, 1]])
    for operator, inputs, options in (
        ("GatherND", {"x": X, "i": indices}, {}),
        ("GatherND", {"x": X, "i": np.array([[1], [-4], [0]])}, {"batch_dims": 1}),
        ("GatherElements", {"x": X, "i": np.arange(60).reshape(3, 4, 5) % 6 - 3}, {}),
    ):
        (found,), (wanted,) = (function(operator, inputs, version=13, **options) for function in (run, expected))
        assert np.array_equal(found, wanted), operator
