"""Gathers, scatters and top_k: failures, order of updates, ties; against the reference, and NumPy's own functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell import reference
from stepwell.reference import ReferenceFailure
from stepwell.runtime.errors import ExecutionError

Array = np.ndarray[Any, Any]
NUMPY = {"i8": np.int8, "ui8": np.uint8, "i64": np.int64, "ui64": np.uint64}


def program_of(line: str, arguments: str, results: str) -> str:
    names = ", ".join(f"%y{number}" for number in range(results.count("tensor")))
    return f"func.func @main({arguments}) -> ({results}) {{\n  {names} = {line}\n  func.return {names} : {results}\n}}"


TAKE = "graph.take_along_axis %x, %i, axis = 1 : (tensor<2x3xf32>, tensor<2x1x{0}>)"
GATHER = "graph.gather_nd %x, %i : (tensor<2x3xf32>, tensor<2x2x{0}>)"
SCATTER = "graph.scatter_elements %x, %i, %u, axis = 1 : (tensor<2x3xf32>, tensor<2x1x{0}>, tensor<2x1xf32>)"
SCATTER_ND = "graph.scatter_nd %x, %i, %u : (tensor<2x3xf32>, tensor<2x2x{0}>, tensor<2xf32>)"
FAILING = {
    "take_along_axis": (TAKE, "tensor<2x1xf32>", (2, 1), None),
    "gather_nd": (GATHER, "tensor<2xf32>", (2, 2), None),
    "scatter_elements": (SCATTER, "tensor<2x3xf32>", (2, 1), (2, 1)),
    "scatter_nd": (SCATTER_ND, "tensor<2x3xf32>", (2, 2), (2,)),
}


@pytest.mark.ci_cases(6)
@pytest.mark.parametrize("dtype", list(NUMPY))
@pytest.mark.parametrize("op", list(FAILING))
def test_indices_are_checked(op: str, dtype: str) -> None:
    line, result, shape, updates = FAILING[op]
    given = "x".join(map(str, shape))
    arguments = f"%x: tensor<2x3xf32>, %i: tensor<{given}x{dtype}>"
    if updates is not None:
        arguments += f", %u: tensor<{'x'.join(map(str, updates))}xf32>"
    text = program_of(line.format(dtype), arguments, result)
    program = stepwell.compile(text, cache=False)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    more = [] if updates is None else [np.full(updates, 9, np.float32)]
    limits = np.iinfo(NUMPY[dtype])
    for wrong in {3, int(limits.max), int(limits.min) or 4}:
        indices = np.zeros(shape, NUMPY[dtype])
        indices[(-1,) * len(shape)] = wrong
        with pytest.raises(ReferenceFailure):
            reference.run(stepwell.parse(text), "main", x, indices, *more)
        with pytest.raises(ExecutionError) as caught:
            program(x, indices, *more)
        assert caught.value.reason == f"graph.{op}: index out of range"
        assert caught.value.location == "<text>:2:3"
    last = np.full(shape, 1 if dtype.startswith("u") else -1, NUMPY[dtype])
    (expected,) = reference.run(stepwell.parse(text), "main", x, last, *more)
    assert np.array_equal(program(x, last, *more)[0], expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_updates_are_applied_in_order(threads: int) -> None:
    """Many updates of few elements: the last one stays, and sums are those of one order, for any number of threads."""
    line = "graph.scatter_nd %x, %i, %u{} : (tensor<5x67xf32>, tensor<4096x1xi32>, tensor<4096x67xf32>)"
    arguments = "%x: tensor<5x67xf32>, %i: tensor<4096x1xi32>, %u: tensor<4096x67xf32>"
    rng = np.random.default_rng(3)
    x = rng.standard_normal((5, 67)).astype(np.float32)
    indices = rng.integers(-5, 5, (4096, 1)).astype(np.int32)
    updates = rng.standard_normal((4096, 67)).astype(np.float32)
    stays, sums = x.copy(), x.copy()
    for place, update in zip(indices[:, 0], updates, strict=True):
        stays[place] = update
        sums[place] += update
    for reduction, expected in (("", stays), (', reduction = "add"', sums)):
        text = program_of(line.format(reduction), arguments, "tensor<5x67xf32>")
        found = stepwell.compile(text, cache=False, threads=threads)(x, indices, updates)[0]
        assert np.array_equal(found, expected)


def test_scatter_of_many_rows() -> None:
    """Updates meet along the axis only."""
    shape, places = (33, 100, 9), (33, 250, 9)
    rng = np.random.default_rng(4)
    x = rng.standard_normal(shape)
    indices, updates = rng.integers(-100, 100, places), rng.standard_normal(places)
    types = "tensor<33x100x9xf64>, tensor<33x250x9xi64>, tensor<33x250x9xf64>"
    line = f'graph.scatter_elements %x, %i, %u, axis = 1, reduction = "add" : ({types})'
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in zip(("%x", "%i", "%u"), types.split(", "), strict=True))
    found = stepwell.compile(program_of(line, arguments, "tensor<33x100x9xf64>"), cache=False)(x, indices, updates)[0]
    expected = x.copy()
    a, _, c = np.indices(places)
    np.add.at(expected, (a, indices % 100, c), updates)
    assert np.array_equal(found, expected)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("k", [1, 7, 64, 500])
def test_top_k_of_long_rows(k: int) -> None:
    rng = np.random.default_rng(k)
    x = rng.integers(0, 60, (3, 500)).astype(np.float32)
    x[0, ::7] = np.nan
    x[1, ::5] = -0.0
    type_ = f"tensor<3x{k}xf32>, tensor<3x{k}xi64>"
    text = "\n".join(
        program_of(
            f"graph.top_k %x, k = {k}, largest = {word} : (tensor<3x500xf32>)", "%x: tensor<3x500xf32>", type_
        ).replace("@main", f"@{word}")
        for word in ("true", "false")
    )
    for word, sign in (("true", -1.0), ("false", 1.0)):
        values, indices = stepwell.compile(text, entry=word, cache=False)(x)
        # NaN is the greatest: np.argsort puts it last, so it is replaced by what sorts first or last.
        keys = sign * np.where(np.isnan(x), 1e9, x)
        expected = np.argsort(keys, axis=1, kind="stable")[:, :k]
        assert np.array_equal(indices, expected)
        assert np.array_equal(values, np.take_along_axis(x, expected, 1), equal_nan=True)


@pytest.mark.parametrize("name", ["bf16", "f16"])
def test_top_k_keeps_denormals(name: str) -> None:
    """
    LLVM may hold half floats as f32, and takes denormals for zeros on the way back (found by the tests of all types).
    """
    dtype = reference.element_types.DTYPES[name]
    least = 9.18355e-41 if name == "bf16" else 6e-8
    x = np.array([[-0.0, -least, 0.0, least], [1.0, -least, -1.0, least]]).astype(dtype)
    types = f"tensor<2x4x{name}>, tensor<2x4xi64>"
    text = program_of(f"graph.top_k %x, k = 4 : (tensor<2x4x{name}>)", f"%x: tensor<2x4x{name}>", types)
    values, indices = stepwell.compile(text, cache=False)(x)
    assert indices.tolist() == [[3, 0, 2, 1], [0, 3, 1, 2]]
    assert values.view(np.uint16).tolist() == np.take_along_axis(x, indices, 1).view(np.uint16).tolist()
