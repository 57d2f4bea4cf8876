"""
Ops of many dialects in one module: graph, tensor_loop, func, scf, arith, tensor, memref and vector, down to native
code.
"""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell.runtime.errors import ExecutionError

PROGRAM = """
tensor_loop.func private @scale(%A: memref<8xf32>) outs(%B: memref<8xf32>) {
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "scale" spatial(%vi in 8 = %i) {
      %a = memref.load %A[%vi] : memref<8xf32>
      %two = arith.constant 2.0 : f32
      %b = arith.mulf %a, %two : f32
      memref.store %b, %B[%vi] : memref<8xf32>
    }
  }
}

func.func @main(%x: tensor<8xf32>, %n: tensor<i64>) -> tensor<8xf32> {
  %k = tensor.extract %n[] : tensor<i64>
  %steps = arith.index_cast %k : i64 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %x) -> (tensor<8xf32>) {
    %y = graph.call_kernel @scale(%acc) : (tensor<8xf32>) -> tensor<8xf32>
    %c3 = arith.constant 3 : index
    %late = arith.cmpi sge, %i, %c3 : index
    %z = scf.if %late -> (tensor<8xf32>) {
      %q = graph.negative %y : (tensor<8xf32>)
      scf.yield %q : tensor<8xf32>
    } else {
      scf.yield %y : tensor<8xf32>
    }
    scf.yield %z : tensor<8xf32>
  }
  func.return %r : tensor<8xf32>
}

func.func private @half(%s: f32) -> f32 {
  %h = arith.constant 0.5 : f32
  %r = arith.mulf %s, %h : f32
  func.return %r : f32
}

func.func private @double(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  %w = arith.addf %v, %v : vector<8xf32>
  vector.store %w, %y[%c0] : memref<8xf32>, vector<8xf32>
  func.return
}

func.func @buffers(%x: memref<8xf32> {stepwell.role = "input"}, %y: memref<8xf32> {stepwell.role = "output"}) {
  func.call @double(%x, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  %c1 = arith.constant 1 : index
  %s = memref.load %y[%c1] : memref<8xf32>
  %h = func.call @half(%s) : (f32) -> f32
  memref.store %h, %y[%c1] : memref<8xf32>
  func.return
}
"""

X = np.arange(8, dtype=np.float32)


@pytest.mark.parametrize("level", range(4))
def test_tensors_loops_and_control_flow_in_one_function(level: int) -> None:
    exe = stepwell.compile(PROGRAM, opt_level=level, cache=False)
    assert exe.entry_names == ("main", "buffers")
    for steps, factor in ((0, 1), (2, 4), (4, -16), (5, 32)):
        np.testing.assert_array_equal(exe(X, np.array(steps))[0], X * factor)


@pytest.mark.parametrize("level", range(4))
def test_an_entry_on_buffers_with_vectors_and_scalars(level: int) -> None:
    exe = stepwell.compile(PROGRAM, entry="buffers", opt_level=level, cache=False)
    np.testing.assert_array_equal(exe(X)[0], [0, 1, 4, 6, 8, 10, 12, 14])


DIVISIONS = """
func.func @main(%a: tensor<i32>, %b: tensor<i32>, %t: tensor<2xi32>) -> tensor<2xi32> {
  %x = tensor.extract %a[] : tensor<i32>
  %y = tensor.extract %b[] : tensor<i32>
  %q = arith.divsi %x, %y : i32
  %r = arith.remsi %x, %y : i32
  %low = arith.constant -2147483648 : i32
  %wrapped = arith.cmpi eq, %q, %low : i32
  %zero = arith.constant 0 : i32
  %exact = arith.cmpi eq, %r, %zero : i32
  %both = arith.andi %wrapped, %exact : i1
  %o = scf.if %both -> (tensor<2xi32>) {
    scf.yield %t : tensor<2xi32>
  } else {
    %n = graph.negative %t : (tensor<2xi32>)
    scf.yield %n : tensor<2xi32>
  }
  func.return %o : tensor<2xi32>
}
"""


@pytest.mark.parametrize("level", range(4))
def test_divisions_written_by_hand_fail_or_wrap_but_never_trap(level: int) -> None:
    exe = stepwell.compile(DIVISIONS, opt_level=level, cache=False)
    t = np.array([1, 2], np.int32)

    def run(a: int, b: int) -> list[int]:
        return exe(np.array(a, np.int32), np.array(b, np.int32), t)[0].tolist()

    assert run(-(2**31), -1) == [1, 2]
    assert run(7, 2) == [-1, -2]
    with pytest.raises(ExecutionError, match="arith.divsi: integer division by zero"):
        run(1, 0)
