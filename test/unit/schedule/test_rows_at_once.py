"""Several rows at a time in loops over rows: the bits of one row at a time, and the numbers of NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import stepwell
from counts import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from named_machines import scheduled_for
from stepwell.core.ir.walk import ops_of
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.roles import ROWS_AT_ONCE
from stepwell.core.text.parsing import make_context, parse
from stepwell.dialects.tensor_loop import BlockOp
from xdsl.dialects.builtin import IntegerAttr, i64

Array = np.ndarray[Any, Any]

NUMPY = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
ERROR = {"f16": 4e-3, "bf16": 3e-2, "f32": 2e-5, "f64": 1e-9}

OPS = {
    "softmax": "graph.softmax %x : ({t}) -> {t}",
    "log_softmax": "graph.log_softmax %x : ({t}) -> {t}",
    "layer_norm": "graph.layer_norm %x, %g, %b : ({t}, {v}, {v}) -> {t}",
    "rms_norm": "graph.rms_norm %x, %g : ({t}, {v}) -> {t}",
}


def expected(op: str, x: Array, g: Array, b: Array) -> Array:
    x, g, b = (each.astype(np.float64) for each in (x, g, b))
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    if op == "softmax":
        return exponentials / exponentials.sum(-1, keepdims=True)
    if op == "log_softmax":
        return x - x.max(-1, keepdims=True) - np.log(exponentials.sum(-1, keepdims=True))
    centred = x - x.mean(-1, keepdims=True) if op == "layer_norm" else x
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * g
    return scaled + b if op == "layer_norm" else scaled


def loops(op: str, shape: tuple[int, ...], element: str, at_once: int) -> str:
    """The loop functions of an op as planned, with so many rows at a time."""
    t, v = f"tensor<{'x'.join(map(str, shape))}x{element}>", f"tensor<{shape[-1]}x{element}>"
    body = OPS[op].format(t=t, v=v)
    module = parse(f"func.func @main(%x: {t}, %g: {v}, %b: {v}) -> {t} {{\n%y = {body}\nfunc.return %y : {t}\n}}")
    run_pipeline(make_context(), module, "graph-optimize,to-loops")
    ops_of(module, BlockOp)[0].attributes[ROWS_AT_ONCE] = IntegerAttr(at_once, i64)
    return str(module)


@settings(max_examples=200 if FULL else 12)
@given(
    op=st.sampled_from(sorted(OPS)),
    element=st.sampled_from(sorted(NUMPY)),
    at_once=st.integers(1, 9),
    groups=st.integers(1, 6),
    outer=st.sampled_from([(), (1,), (3,), (2, 2)]),
    columns=st.integers(64, 210),
    threads=st.integers(1, 2),
    machine=st.sampled_from(["x86-64-v4", "zen5", "x86-64-v3", "neoverse-v2"]),
    seed=st.integers(0, 99),
)
def test_any_number_of_rows(
    op: str,
    element: str,
    at_once: int,
    groups: int,
    outer: tuple[int, ...],
    columns: int,
    threads: int,
    machine: str,
    seed: int,
) -> None:
    shape = (*outer, at_once * groups, columns)
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal(size).astype(NUMPY[element]) for size in (shape, columns, columns)]
    with scheduled_for(machine):
        several, single = (
            np.asarray(stepwell.compile(loops(op, shape, element, each), threads=threads, cache=False)(*arrays)[0])
            for each in (at_once, 1)
        )
    np.testing.assert_array_equal(several, single)
    error = ERROR[element]
    np.testing.assert_allclose(several.astype(np.float64), expected(op, *arrays), rtol=error, atol=error)


@pytest.mark.parametrize(
    ("op", "element", "shape", "number"),
    [
        ("layer_norm", "f32", (128, 384), 4),
        ("layer_norm", "f32", (10, 100), 5),
        ("layer_norm", "f32", (13, 100), 1),
        ("layer_norm", "f32", (128, 12000), 1),
        ("softmax", "f32", (128, 128), 4),
        ("softmax", "f32", (128, 192), 1),
        ("softmax", "f16", (128, 384), 4),
        ("softmax", "f16", (128, 768), 1),
    ],
)
def test_the_default(op: str, element: str, shape: tuple[int, int], number: int) -> None:
    """
    A number that divides the rows, four if it can be. One row at a time where several would leave the first-level cache
    or compute many exponentials.
    """
    text = loops(op, shape, element, 1).replace(f"{ROWS_AT_ONCE} = 1 : i64", "")
    module = parse(text.replace(" attributes {}", ""))
    run_pipeline(make_context(), module, 'plan-schedules{target="x86-64-v4"}')
    found = [block.attributes.get(ROWS_AT_ONCE) for block in ops_of(module, BlockOp)]
    assert found[1:] == [None] * len(found[1:])
    assert found[0] == (IntegerAttr(number, i64) if number > 1 else None)


def test_columns_are_no_rows() -> None:
    """A sum over columns has no result of a row to wait for, and keeps its loops."""
    text = """
func.func @main(%x: tensor<128x96xf32>) -> tensor<128x96xf32> {
  %y = graph.softmax %x, axis = 0 : (tensor<128x96xf32>) -> tensor<128x96xf32>
  func.return %y : tensor<128x96xf32>
}"""
    x = np.random.default_rng(0).standard_normal((128, 96)).astype(np.float32)
    executable = stepwell.compile(text, threads=1, cache=False)
    np.testing.assert_allclose(executable(x)[0], expected("softmax", x.T, x[0], x[0]).T, rtol=2e-6)
