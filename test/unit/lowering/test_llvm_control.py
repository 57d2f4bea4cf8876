"""scf and cf through the llvm dialect to native code."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from llvm_jit import Program, lower

I64 = ctypes.c_int64


def scalar(source: str, *arguments: int) -> int:
    return Program(source).call("f", *(I64(a) for a in arguments), result=I64)


LOOP = """
func.func @f(%lo: index, %hi: index, %step: index) -> index {
  %z = arith.constant 0 : index
  %s = scf.for %i = %lo to %hi step %step iter_args(%a = %z) -> (index) {
    %n = arith.addi %a, %i : index
    scf.yield %n : index
  }
  func.return %s : index
}"""


@pytest.mark.parametrize("bounds", [(0, 10, 1), (0, 10, 3), (5, 5, 1), (7, 3, 2), (-5, 6, 4), (9, 10, 100)])
def test_loops_with_bounds_from_outside(bounds: tuple[int, int, int]):
    assert scalar(LOOP, *bounds) == sum(range(*bounds))


@pytest.mark.parametrize("bounds", [(0, 10, 1), (0, 10, 3), (5, 5, 1), (7, 3, 2), (-5, 6, 4), (9, 10, 100)])
def test_loops_with_constant_bounds(bounds: tuple[int, int, int]):
    source = LOOP.replace("(%lo: index, %hi: index, %step: index)", "()")
    names = zip(("lo", "hi", "step"), bounds, strict=True)
    constants = "\n".join(f"%{name} = arith.constant {value} : index" for name, value in names)
    assert scalar(source.replace("%z =", f"{constants}\n%z =")) == sum(range(*bounds))


def test_loops_over_small_integers_carry_several_values():
    source = """
    func.func @f(%n: i32) -> i64 {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %a0 = arith.constant 0 : i64
      %b0 = arith.constant 1 : i64
      %a, %b = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a0, %b = %b0) -> (i64, i64) : i32 {
        %s = arith.addi %a, %b : i64
        scf.yield %b, %s : i64, i64
      }
      func.return %a : i64
    }"""
    assert Program(source).call("f", ctypes.c_int32(50), result=I64) == 12586269025


def test_nested_ifs_with_and_without_results():
    source = """
    func.func @f(%x: index) -> index {
      %c0 = arith.constant 0 : index
      %c10 = arith.constant 10 : index
      %m = memref.alloca() : memref<index>
      memref.store %c0, %m[] : memref<index>
      %neg = arith.cmpi slt, %x, %c0 : index
      %big = arith.cmpi sgt, %x, %c10 : index
      %r = scf.if %neg -> (index) {
        scf.yield %c0 : index
      } else {
        scf.if %big {
          memref.store %c10, %m[] : memref<index>
        }
        %q = scf.if %big -> (index) {
          scf.yield %c10 : index
        } else {
          scf.yield %x : index
        }
        scf.yield %q : index
      }
      %extra = memref.load %m[] : memref<index>
      %s = arith.addi %r, %extra : index
      func.return %s : index
    }"""
    program = Program(source)
    assert [program.call("f", I64(x), result=I64) for x in (-3, 4, 99)] == [0, 4, 20]


def test_while_counts_collatz_steps():
    source = """
    func.func @f(%x: i64) -> i64 {
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %c2 = arith.constant 2 : i64
      %c3 = arith.constant 3 : i64
      %v, %n = scf.while (%v = %x, %n = %c0) : (i64, i64) -> (i64, i64) {
        %more = arith.cmpi ne, %v, %c1 : i64
        scf.condition(%more) %v, %n : i64, i64
      } do {
      ^bb0(%v: i64, %n: i64):
        %odd = arith.andi %v, %c1 : i64
        %is_odd = arith.cmpi eq, %odd, %c1 : i64
        %next = scf.if %is_odd -> (i64) {
          %t = arith.muli %v, %c3 : i64
          %u = arith.addi %t, %c1 : i64
          scf.yield %u : i64
        } else {
          %h = arith.divui %v, %c2 : i64
          scf.yield %h : i64
        }
        %m = arith.addi %n, %c1 : i64
        scf.yield %next, %m : i64, i64
      }
      func.return %n : i64
    }"""
    assert scalar(source, 27) == 111


def test_index_switch_picks_its_case():
    source = """
    func.func @f(%x: index) -> index {
      %a = arith.constant 20 : index
      %b = arith.constant 50 : index
      %d = arith.constant 0 : index
      %r = scf.index_switch %x -> index
      case 2 { scf.yield %a : index }
      case 5 { scf.yield %b : index }
      default { scf.yield %d : index }
      func.return %r : index
    }"""
    program = Program(source)
    assert [program.call("f", I64(x), result=I64) for x in (2, 5, 3, -2)] == [20, 50, 0, 0]


def test_execute_region_of_several_blocks():
    source = """
    func.func @f(%x: i64) -> i64 {
      %c5 = arith.constant 5 : i64
      %r = scf.execute_region -> (i64) {
        %big = arith.cmpi sgt, %x, %c5 : i64
        cf.cond_br %big, ^yes(%x : i64), ^no
      ^no:
        scf.yield %c5 : i64
      ^yes(%v: i64):
        %d = arith.muli %v, %v : i64
        scf.yield %d : i64
      }
      %s = arith.addi %r, %x : i64
      func.return %s : i64
    }"""
    program = Program(source)
    assert [program.call("f", I64(x), result=I64) for x in (3, 6)] == [8, 42]


def test_parallel_loops_with_a_reduction():
    source = """
    func.func @f(%n: index, %k: index) -> index {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = "scf.parallel"(%c0, %c0, %n, %k, %c1, %c1, %c1) <{operandSegmentSizes = array<i32: 2, 2, 2, 1>}> ({
      ^bb0(%i: index, %j: index):
        %p = arith.muli %i, %j : index
        scf.reduce(%p : index) {
        ^bb1(%a: index, %b: index):
          %s = arith.addi %a, %b : index
          scf.reduce.return %s : index
        }
      }) : (index, index, index, index, index, index, index) -> index
      func.return %r : index
    }"""
    assert scalar(source, 4, 5) == 1 + sum(i * j for i in range(4) for j in range(5))
    assert scalar(source, 0, 5) == 1


def test_parallel_loops_without_a_reduction_write_every_element():
    program = Program("""
    func.func @f(%m: memref<3x4xindex>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      "scf.parallel"(%c0, %c0, %c3, %c4, %c1, %c1) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
      ^bb0(%i: index, %j: index):
        %p = arith.muli %i, %c4 : index
        %q = arith.addi %p, %j : index
        memref.store %q, %m[%i, %j] : memref<3x4xindex>
        scf.reduce
      }) : (index, index, index, index, index, index) -> ()
      func.return
    }""")
    out = np.zeros((3, 4), np.int64)
    program.call("f", out)
    assert (out.ravel() == np.arange(12)).all()


def test_branches_with_both_edges_to_one_block_and_switches():
    source = """
    func.func @f(%x: i32) -> i64 {
      %c7 = arith.constant 7 : i64
      %c9 = arith.constant 9 : i64
      %c1 = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %neg = arith.cmpi slt, %x, %c0 : i32
      cf.cond_br %neg, ^join(%c7 : i64), ^join(%c9 : i64)
    ^join(%v: i64):
      cf.switch %x : i32, [
        default: ^out(%v : i64),
        1: ^out(%c1 : i64),
        2: ^other
      ]
    ^other:
      %d = arith.addi %v, %v : i64
      cf.br ^out(%d : i64)
    ^out(%r: i64):
      func.return %r : i64
    }"""
    program = Program(source, opt=0)
    assert [program.call("f", ctypes.c_int32(x), result=I64) for x in (-1, 0, 1, 2)] == [7, 9, 1, 18]


def test_blocks_may_stand_in_any_order_and_be_unreachable():
    source = """
    func.func @f(%x: i64) -> i64 {
      %y = arith.addi %x, %x : i64
      cf.br ^late
    ^early:
      %w = arith.addi %z, %y : i64
      func.return %w : i64
    ^dead:
      cf.br ^early
    ^late:
      %z = arith.muli %y, %y : i64
      cf.br ^early
    }"""

    assert "llvm.func" in str(lower(source))
    assert scalar(source, 3) == 42
