"""Maps that turn what they read, against NumPy: tiles are turned in registers, and edges are left over."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from ml_dtypes import bfloat16
from named_machines import scheduled_for
from numpy.typing import DTypeLike

TYPES: dict[str, DTypeLike] = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "bf16": bfloat16,
    "i8": np.int8,
    "i64": np.int64,
}
SHAPES = [(16, 16), (32, 64), (37, 48), (70, 33), (512, 48)]


def program(rows: int, columns: int, dtype: str) -> str:
    given, made = f"tensor<{rows}x{columns}x{dtype}>", f"tensor<{columns}x{rows}x{dtype}>"
    row, column, one = f"tensor<{rows}x{dtype}>", f"tensor<{columns}x1x{dtype}>", f"tensor<{dtype}>"
    return f"""
func.func @main(%x: {given}, %lies: {made}, %row: {row}, %column: {column}, %one: {one}) -> {made} {{
  %0 = graph.permute_dims %x : ({given}) -> {made}
  %1 = graph.subtract %0, %lies : ({made}, {made}) -> {made}
  %2 = graph.add %1, %row : ({made}, {row}) -> {made}
  %3 = graph.add %2, %column : ({made}, {column}) -> {made}
  %4 = graph.multiply %3, %one : ({made}, {one}) -> {made}
  func.return %4 : {made}
}}"""


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("rows", "columns"), SHAPES)
@pytest.mark.parametrize("target", ["host", "x86-64-v3"])
def test_maps_of_turned_tiles(rows: int, columns: int, dtype: str, target: str) -> None:
    """Small whole numbers, so that every type is exact."""
    random = np.random.default_rng(rows)
    shapes = [(rows, columns), (columns, rows), (rows,), (columns, 1), ()]
    x, lies, row, column, one = (random.integers(-3, 4, shape).astype(TYPES[dtype]) for shape in shapes)
    with scheduled_for(target):
        executable = stepwell.compile(program(rows, columns, dtype), cache=False)
    assert "tile.transpose" in executable.ir("scf")
    (found,) = executable(x, lies, row, column, one)
    np.testing.assert_array_equal(found, (x.T - lies + row + column) * one)


@pytest.mark.parametrize("op", ["exp", "relu", "abs"])
def test_a_map_of_one_tensor(op: str) -> None:
    given, made = "tensor<3x40x64xf32>", "tensor<3x64x40xf32>"
    text = f"""
func.func @main(%x: {given}) -> {made} {{
  %0 = graph.permute_dims %x, axes = [0, 2, 1] : ({given}) -> {made}
  %1 = graph.{op} %0 : ({made}) -> {made}
  func.return %1 : {made}
}}"""
    x = np.random.default_rng(0).standard_normal((3, 40, 64)).astype(np.float32)
    executable = stepwell.compile(text, cache=False)
    assert "tile.transpose" in executable.ir("scf")
    expected = {"exp": np.exp, "relu": lambda a: np.maximum(a, 0), "abs": np.abs}[op](x.transpose(0, 2, 1))
    np.testing.assert_allclose(executable(x)[0], expected, rtol=3e-7)
