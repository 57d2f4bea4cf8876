"""Calls, failing checks and buffers on the heap through the llvm dialect to native code."""

from __future__ import annotations

import ctypes
import re

import numpy as np
from llvm_jit import Program, aligned, lower

I64 = ctypes.c_int64

CHECKS = """
func.func private @inner(%x: i64) -> (i64, i64) {
  %c0 = arith.constant 0 : i64
  %c10 = arith.constant 10 : i64
  %ok = arith.cmpi sge, %x, %c0 : i64
  cf.assert %ok, "inner: negative"
  %small = arith.cmpi slt, %x, %c10 : i64
  cf.assert %small, "inner: too large"
  %d = arith.addi %x, %x : i64
  func.return %d, %x : i64, i64
}
func.func private @middle(%m: memref<3xi64>, %x: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a, %b = func.call @inner(%x) : (i64) -> (i64, i64)
  memref.store %a, %m[%c0] : memref<3xi64>
  memref.store %b, %m[%c1] : memref<3xi64>
  func.return
}
func.func private @safe(%x: i64) -> (i64, i64) {
  func.return %x, %x : i64, i64
}
func.func @main(%x: memref<3xi64> {stepwell.role = "input"}, %y: memref<3xi64> {stepwell.role = "output"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %v = memref.load %x[%i] : memref<3xi64>
    func.call @middle(%y, %v) : (memref<3xi64>, i64) -> ()
  }
  %s, %t = func.call @safe(%c) : (i64) -> (i64, i64)
  memref.store %s, %y[%c2] : memref<3xi64>
  func.return
}
""".replace("  %s, %t = func.call", "  %c = arith.constant 5 : i64\n  %s, %t = func.call")


def test_a_failed_check_returns_its_number_through_two_calls():
    program = Program(CHECKS)
    y = aligned(np.zeros(3, np.int64))
    assert program.entry("main", np.array([1, 2, 3]), y) == 0
    assert y.tolist() == [6, 3, 5]
    assert program.entry("main", np.array([1, -2, 30]), y) == 1
    assert program.entry("main", np.array([1, 30, -2]), y) == 2
    assert y.tolist()[:2] == [2, 1], "nothing after the failing call has run"


def test_the_table_of_checks_names_message_and_place():
    checks = [text.data for text in lower(CHECKS).attributes["stepwell.checks"]]
    assert checks == ["inner: negative|test.mlir:6:3", "inner: too large|test.mlir:8:3"]


def test_only_functions_that_may_fail_return_a_status():
    text = re.sub(r"(%\w+?)_\d+", r"\1", str(lower(CHECKS)))
    assert "llvm.func internal @inner(%x: i64) -> !llvm.struct<(i32, i64, i64)>" in text
    assert "llvm.func internal @middle(%m: !llvm.ptr, %x: i64) -> i32" in text
    assert "llvm.func internal @safe(%x: i64) -> !llvm.struct<(i64, i64)>" in text
    assert "llvm.func @_stepwell_entry_main(%args: !llvm.ptr) -> i32" in text


def test_checks_of_an_earlier_lowering_are_kept():
    source = """
    builtin.module attributes {stepwell.checks = ["old|a.mlir:1:1"]} {
      func.func @f(%x: i1) {
        cf.assert %x, "new"
        func.return
      }
    }"""
    module = lower(source)
    assert [text.data for text in module.attributes["stepwell.checks"]][0] == "old|a.mlir:1:1"
    assert "llvm.mlir.constant(2 : i32)" in str(module)


def test_heap_buffers_are_freed_when_a_later_check_fails():
    source = """
    func.func @f(%ok: i1, %x: i64) -> i64 {
      %m = memref.alloc() : memref<16xi64>
      %c3 = arith.constant 3 : index
      memref.store %x, %m[%c3] : memref<16xi64>
      cf.assert %ok, "f: no"
      %v = memref.load %m[%c3] : memref<16xi64>
      memref.dealloc %m : memref<16xi64>
      func.return %v : i64
    }"""

    class Pair(ctypes.Structure):
        _fields_ = (("status", ctypes.c_int32), ("value", I64))

    program = Program(source, opt=0)
    good = program.call("f", ctypes.c_bool(True), I64(42), result=Pair)
    assert (good.status, good.value) == (0, 42)
    assert program.call("f", ctypes.c_bool(False), I64(42), result=Pair).status == 2
    failing = program.text[program.text.index("ret { i32, i64 }") :]
    assert program.text.count("call void @free") == 2 and failing
    checks = [text.data for text in program.module.attributes["stepwell.checks"]]
    assert checks[0].startswith("memref.alloc: allocation failed|")


def test_allocations_fail_with_a_status():
    source = """
    func.func @main(%y: memref<1xi8> {stepwell.role = "output"}) {
      %c0 = arith.constant 0 : index
      %m = memref.alloc() : memref<4611686018427387904xi8>
      %v = memref.load %m[%c0] : memref<4611686018427387904xi8>
      memref.store %v, %y[%c0] : memref<1xi8>
      memref.dealloc %m : memref<4611686018427387904xi8>
      func.return
    }"""
    assert Program(source, opt=0).entry("main", aligned(np.zeros(1, np.int8))) == 1


def test_buffers_in_a_loop_do_not_grow_the_stack():
    source = """
    func.func @f(%n: index) -> i64 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %z = arith.constant 0 : i64
      %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (i64) {
        %m = memref.alloca() : memref<1024xi64>
        memref.store %a, %m[%c1] : memref<1024xi64>
        %v = memref.load %m[%c1] : memref<1024xi64>
        %w = arith.index_cast %i : index to i64
        %r = arith.addi %v, %w : i64
        scf.yield %r : i64
      }
      func.return %s : i64
    }"""
    assert Program(source, opt=0).call("f", I64(100_000), result=I64) == sum(range(100_000))
