"""Loop functions with `?` compile as they are: sizes and strides come with the arrays of each call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stepwell
from stepwell import te
from stepwell.lowering.graph_to_loops.convert_te_to_tensor_loop import create_prim_func
from stepwell.runtime.errors import ArgumentError, CompileError
from xdsl.utils.exceptions import DiagnosticException

Array = np.ndarray[Any, Any]

STRIDED = "memref<?x?xf32, strided<[?, ?]>>"

SUMS = """
tensor_loop.func @main(%A: TYPE) outs(%B: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %A, %c0 : TYPE
  %m = memref.dim %A, %c1 : TYPE
  tensor_loop.grid (%i, %k) in (%n, %m) {
    tensor_loop.block "sums" spatial(%vi in %n = %i) reduce(%vk in %m = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %B[%vi] : memref<?xf32>
      }
      %b = memref.load %B[%vi] : memref<?xf32>
      %a = memref.load %A[%vi, %vk] : TYPE
      %s = arith.addf %b, %a : f32
      memref.store %s, %B[%vi] : memref<?xf32>
    }
  }
}
"""

MATRIX = np.random.default_rng(0).standard_normal((20, 30)).astype(np.float32)
VIEWS = {
    "whole": MATRIX,
    "every other": MATRIX[::2, ::3],
    "transposed": MATRIX.T,
    "backwards": MATRIX[::-1, 5:],
    "one row for all": np.broadcast_to(MATRIX[:1], (7, 30)),
    "no rows": MATRIX[:0],
    "no columns": MATRIX[:, :0],
}


def sums(exe: stepwell.Executable, x: Array) -> Array:
    result = np.full(x.shape[0], np.nan, np.float32)
    exe.run_into([result], x)
    return result


@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize("type_", [STRIDED, "memref<?x?xf32>"])
def test_views_of_any_strides(type_: str, opt_level: int) -> None:
    """With strides in the type a view is read where it lies, else it is copied to rows."""
    exe = stepwell.compile(SUMS.replace("TYPE", type_), opt_level=opt_level)
    for view in VIEWS.values():
        np.testing.assert_allclose(sums(exe, view), view.sum(axis=1), rtol=1e-4, atol=1e-5)
    assert len(exe.specialisations) == 0


def test_every_stair_runs() -> None:
    exe = stepwell.compile(SUMS.replace("TYPE", STRIDED), opt_level=1)
    view = VIEWS["every other"]
    for stair in ("graph", "tensor_loop", "scf", "llvm"):
        again = stepwell.compile(exe.ir(stair))
        np.testing.assert_allclose(sums(again, view), view.sum(axis=1), rtol=1e-4, atol=1e-5)
    assert "%A_size0" in exe.ir("scf") and "%A_stride1" in exe.ir("scf")


def test_results_have_the_sizes_of_names() -> None:
    text = SUMS.replace("TYPE", "memref<?x?xf32>")
    text = text.replace("%A: memref<?x?xf32>", '%A: memref<?x?xf32> {stepwell.dims = ["n", "m"]}')
    text = text.replace("outs(%B: memref<?xf32>)", 'outs(%B: memref<?xf32> {stepwell.dims = ["n"]})')
    exe = stepwell.compile(text)
    (found,) = exe(MATRIX)
    np.testing.assert_allclose(found, MATRIX.sum(axis=1), rtol=1e-4, atol=1e-5)
    with pytest.raises(ArgumentError, match=r"argument 'A' is .*, expected tensor<\?x\?xf32>|argument 'A' has"):
        exe(MATRIX[0])


def test_a_tensor_expression_of_symbols() -> None:
    """`B[i] = sum_k A[i, k] * x[k]` for all n and m: one name is one size."""
    n, m = te.var("n"), te.var("m")
    matrix, row = te.placeholder((n, m), "f32", "A"), te.placeholder((m,), "f32", "x")
    k = te.reduce_axis(m, "k")
    result = te.compute((n,), lambda i: te.sum(matrix[i, k] * row[k], axis=k), name="B")
    exe = stepwell.compile(str(create_prim_func([matrix, row, result])))
    for view in VIEWS.values():
        x = np.linspace(-1, 1, view.shape[1], dtype=np.float32)
        np.testing.assert_allclose(exe(view, x)[0], view @ x, rtol=1e-4, atol=1e-5)
    with pytest.raises(ArgumentError, match="dimension 'm' is 30 in 'A' and 29 in 'x'"):
        exe(MATRIX, np.zeros(29, np.float32))
    with pytest.raises(ArgumentError, match="dimension 'n' is 20 in 'A' and 19 in 'out'"):
        exe.run_into([np.zeros(19, np.float32)], MATRIX, np.zeros(30, np.float32))


def test_buffers_of_its_own_and_calls() -> None:
    text = """
    tensor_loop.func private @twice(%x: memref<?x2xf32>) outs(%y: memref<?x2xf32>) {
      %c0 = arith.constant 0 : index
      %n = memref.dim %x, %c0 : memref<?x2xf32>
      tensor_loop.grid (%i, %j) in (%n, 2) {
        tensor_loop.block "twice" spatial(%vi in %n = %i, %vj in 2 = %j) {
          %a = memref.load %x[%vi, %vj] : memref<?x2xf32>
          %b = arith.addf %a, %a : f32
          memref.store %b, %y[%vi, %vj] : memref<?x2xf32>
        }
      }
    }
    func.func @main(%x: memref<?x2xf32> {stepwell.role = "input"}, %y: memref<?x2xf32> {stepwell.role = "output"}) {
      %c0 = arith.constant 0 : index
      %n = memref.dim %x, %c0 : memref<?x2xf32>
      %t = memref.alloc(%n) : memref<?x2xf32>
      tensor_loop.call @twice(%x) outs(%t) : (memref<?x2xf32>) outs(memref<?x2xf32>)
      tensor_loop.call @twice(%t) outs(%y) : (memref<?x2xf32>) outs(memref<?x2xf32>)
      memref.dealloc %t : memref<?x2xf32>
      func.return
    }
    """
    exe = stepwell.compile(text)
    for count in (0, 1, 7):
        x, y = MATRIX[:count, :2], np.empty((count, 2), np.float32)
        exe.run_into([y], x)
        np.testing.assert_array_equal(y, 4 * x)


# What is refused


def test_results_have_the_sizes_that_stores_fill() -> None:
    exe = stepwell.compile(SUMS.replace("TYPE", STRIDED))
    np.testing.assert_allclose(exe(MATRIX[::3])[0], MATRIX[::3].sum(axis=1), rtol=1e-4, atol=1e-5)
    for count in (5, 9):
        with pytest.raises(ArgumentError, match=f"dimension 'A_0' is 7 in 'A' and {count} in 'B'"):
            exe.run_into([np.empty(count, np.float32)], MATRIX[::3])


def test_results_whose_sizes_do_not_follow_need_arrays() -> None:
    exe = stepwell.compile(SUMS.replace("TYPE", STRIDED).replace("%B[%vi]", "%B[%c1]"))
    with pytest.raises(ArgumentError, match=r"the size of result 'B' \(tensor<\?xf32>\) does not follow from names"):
        exe(MATRIX)


def test_arrays_that_do_not_fit_are_named() -> None:
    exe = stepwell.compile(SUMS.replace("TYPE", STRIDED))
    out = np.empty(20, np.float32)
    with pytest.raises(ArgumentError, match="argument 'A'"):
        exe.run_into([out], MATRIX.astype(np.float64))
    with pytest.raises(ArgumentError, match="shares memory with another argument"):
        exe.run_into([MATRIX[0, :20]], MATRIX)
    with pytest.raises(ArgumentError, match="takes 1 argument"):
        exe.run_into([out])


def test_export_needs_known_sizes(tmp_path: Any) -> None:
    exe = stepwell.compile(SUMS.replace("TYPE", STRIDED))
    with pytest.raises(CompileError, match="cannot export @main: it takes sizes with each call"):
        exe.export(tmp_path / "m.o")


def test_other_ops_on_buffers_of_unknown_size_say_so() -> None:
    text = """
    func.func @main(%x: memref<?xf32> {stepwell.role = "input"}, %y: memref<?xf32> {stepwell.role = "output"}) {
      "memref.copy"(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
      func.return
    }
    """
    with pytest.raises(
        DiagnosticException, match="'memref.copy' takes or makes a buffer with sizes that are not known"
    ):
        stepwell.compile(text)
