"""Products of as many columns as fill no whole registers, for each width of registers, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from counts import FULL
from named_machines import as_machine, runs_here
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse
from stepwell.testing import interpret

MACHINES = [name for name in ("x86-64", "x86-64-v3", "x86-64-v4", "aarch64-neon", "host") if runs_here(name)]

COLUMNS = (2, 3, 5, 6, 7, 9, 11, 12, 13, 15, 19, 21, 28, 31) if FULL else (3, 6, 12, 28)


def product(columns: int, left: str, right: str, result: str) -> str:
    out_dtype = ", out_dtype = i32" if result == "i32" else ""
    types = f"tensor<9x40x{left}>", f"tensor<40x{columns}x{right}>", f"tensor<9x{columns}x{result}>"
    return f"""
func.func @main(%x: {types[0]}, %b: tensor<{columns}x{result}>) -> {types[2]} {{
  %w = graph.weight "w" : {types[1]}
  %p = graph.matmul %x, %w{out_dtype} : ({types[0]}, {types[1]}) -> {types[2]}
  %y = graph.add %p, %b : ({types[2]}, tensor<{columns}x{result}>) -> {types[2]}
  func.return %y : {types[2]}
}}"""


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("columns", COLUMNS)
def test_products_of_floats(machine: str, columns: int) -> None:
    random: Any = np.random.default_rng(columns)
    for dtype, name, tolerance in ((np.float32, "f32", 1e-5), (np.float64, "f64", 1e-13)):
        x, w, b = (random.standard_normal(each).astype(dtype) for each in ((9, 40), (40, columns), (columns,)))
        with as_machine(machine):
            compiled = stepwell.compile(product(columns, name, name, name), weights={"w": w}, cache=False)
        np.testing.assert_allclose(compiled(x, b)[0], x @ w + b, rtol=tolerance, atol=tolerance * 10)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("columns", COLUMNS)
def test_products_of_bytes(machine: str, columns: int) -> None:
    """There are kernels on bytes for any number of columns of weights."""
    random = np.random.default_rng(columns)
    x = random.integers(0, 256, (9, 40)).astype(np.uint8)
    w, b = random.integers(-128, 128, (40, columns)).astype(np.int8), random.integers(-9, 9, columns).astype(np.int32)
    with as_machine(machine):
        compiled = stepwell.compile(product(columns, "ui8", "i8", "i32"), weights={"w": w}, cache=False)
    assert "groups" in compiled.ir("scf")
    np.testing.assert_array_equal(compiled(x, b)[0], x.astype(np.int32) @ w.astype(np.int32) + b)


@pytest.mark.parametrize("machine", ["sapphire-rapids", "zen4", "x86-64-v3", "neoverse-v2"])
@pytest.mark.parametrize("columns", [2, 9, 20, 100])
def test_bytes_in_the_interpreter(machine: str, columns: int) -> None:
    """Panels are written as a whole: columns that there are none for are zeros, which tile registers read."""
    random = np.random.default_rng(columns)
    x = random.integers(0, 256, (9, 40)).astype(np.uint8)
    w, b = random.integers(-128, 128, (40, columns)).astype(np.int8), np.zeros(columns, np.int32)
    module = parse(product(columns, "ui8", "i8", "i32"))
    passes = "graph-optimize,to-loops,prepack-weights{{target={0}}},apply-schedule-plan{{target={0}}}"
    run_pipeline(make_context(), module, passes.format(f'"{machine}"'))
    assert "groups" in str(module)
    (found,) = interpret(module, [x, b], "main", weights={"w": w})
    np.testing.assert_array_equal(found, x.astype(np.int32) @ w.astype(np.int32))
