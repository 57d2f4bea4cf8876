"""scf, cf, func and failing checks through the llvm dialect to native code."""

from __future__ import annotations

import ctypes
import re

import numpy as np
import pytest
from llvm_jit import Program, aligned, lower
from stepwell.core.diagnostics import OperationError

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
    from llvm_jit import lower

    assert "llvm.func" in str(lower(source))
    assert scalar(source, 3) == 42


# Calls and failing checks

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


# What the functions look like


def test_declarations_stay_external_and_llvm_functions_stay_as_they_are():
    text = str(
        lower("""
    func.func private @outside(%m: memref<4xf32>, %n: index) -> f32
    llvm.func @own(%x: i64) -> i64 attributes {stepwell.mark} {
      llvm.return %x : i64
    }
    func.func @f(%m: memref<4xf32>, %n: index) -> f32 {
      %r = func.call @outside(%m, %n) : (memref<4xf32>, index) -> f32
      func.return %r : f32
    }""")
    )
    assert "llvm.func @outside(!llvm.ptr, i64) -> f32" in text
    assert "llvm.func @own(%x: i64) -> i64 attributes {stepwell.mark}" in text


def test_attributes_of_functions_and_arguments_survive():
    text = str(
        lower("""
    func.func @main(%x: memref<4xi8> {stepwell.role = "weight", stepwell.key = "w0"},
                    %a: memref<64xi8> {stepwell.role = "arena", stepwell.bytes = 64 : i64})
      attributes {stepwell.signature = (tensor<4xui8>) -> tensor<4xi8>} {
      func.return
    }
    func.func private @kernel(%a: memref<4xf32>, %b: memref<4xf32>) attributes {stepwell.noalias} {
      func.return
    }
    func.func private @plain(%a: memref<4xf32>) {
      func.return
    }
    func.func private @prepare_0(%w: memref<0x4xf16> {stepwell.role = "output"}) attributes {stepwell.prepare} {
      func.return
    }""")
    )
    assert 'stepwell.key = "w0", llvm.noalias, llvm.align = 1 : i64, llvm.nonnull}' in text
    assert "stepwell.bytes = 64 : i64, llvm.noalias, llvm.align = 64 : i64, llvm.nonnull}" in text
    assert "stepwell.signature = (tensor<4xui8>) -> tensor<4xi8>" in text
    assert re.search(r"@kernel\(%a\w*: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr {llvm.noalias}\)", text)
    assert re.search(r"@plain\(%a\w*: !llvm.ptr\) attributes", text)
    assert "@_stepwell_entry_prepare_0" in text
    assert "llvm.align = 2 : i64}" in text, "an empty buffer may be null"


def test_views_of_the_arena_are_known_to_be_aligned():
    text = str(
        lower("""
    func.func @main(%a: memref<256xi8> {stepwell.role = "arena", stepwell.bytes = 256 : i64}) {
      %s = arith.constant 128 : index
      %c0 = arith.constant 0 : index
      %v = memref.view %a[%s][] : memref<256xi8> to memref<16xf32>
      %x = vector.load %v[%c0] : memref<16xf32>, vector<16xf32>
      func.return
    }""")
    )
    assert "{alignment = 64 : i64} : !llvm.ptr -> vector<16xf32>" in text


def test_an_entry_that_the_program_calls_promises_nothing():
    text = str(
        lower("""
    func.func @main(%x: memref<4xi8> {stepwell.role = "output"}) {
      func.return
    }
    func.func @other(%x: memref<4xi8>) {
      func.call @main(%x) : (memref<4xi8>) -> ()
      func.return
    }""")
    )
    assert '@main(%x: !llvm.ptr {stepwell.role = "output"})' in text
    assert "llvm.noalias" not in text


def test_loop_hints_reach_the_text():
    source = LOOP.replace("      scf.yield %n : index\n  }", "").replace(
        "    scf.yield %n : index\n  }",
        '    scf.yield %n : index\n  } {stepwell.loop = "no-unroll,vectorize"}',
    )
    text = Program(source, opt=0).text
    assert ", !llvm.loop !" in text
    assert '!{!"llvm.loop.unroll.disable"}' in text and '!{!"llvm.loop.vectorize.enable", i1 true}' in text


def test_errors_name_every_op_that_has_no_lowering():
    source = """
    func.func @f(%m: memref<?x4xf32>, %x: i64) -> i64 {
      %a = "test.op"(%x) : (i64) -> i64
      %b = "test.op"(%a) : (i64) -> i64
      %v = arith.constant dense<0> : vector<2x2x2xi32>
      func.return %b : i64
    }"""
    with pytest.raises(OperationError) as caught:
        lower(source)
    lines = str(caught.value).splitlines()
    assert "type memref<?x4xf32> has a dynamic dimension; run specialize-shapes first" in lines[0]
    assert caught.value.diagnostic.point is not None
    source = source.replace("%m: memref<?x4xf32>, ", "")
    with pytest.raises(OperationError) as caught:
        lower(source)
    assert str(caught.value).splitlines() == [
        "test.mlir:3:7: 'test.op': no lowering to the llvm dialect",
        "test.mlir:4:7: 'test.op': no lowering to the llvm dialect",
        "test.mlir:5:7: 'arith.constant': type vector<2x2x2xi32> is neither a 1-D vector nor, "
        "carried by scf or made by tile and arith ops, a tile",
    ]


def test_the_module_is_untouched_after_an_error():
    from stepwell.core.parsing import make_context, parse_text
    from stepwell.lowering.lower_to_llvm_dialect import LowerToLLVMDialectPass

    context = make_context()
    module = parse_text(context, 'func.func @f(%x: i64) { "test.op"(%x) : (i64) -> () func.return }')
    before = str(module)
    with pytest.raises(OperationError):
        LowerToLLVMDialectPass().apply(context, module)
    assert str(module) == before


def test_a_hundred_loops_deep_and_twenty_thousand_ops_long():
    depth = 60
    loops = "".join(f"scf.for %i{k} = %c0 to %n step %c1 {{\n" for k in range(depth))
    chain = "\n".join(f"%v{k + 1} = arith.addi %v{k}, %v{k} : i64" for k in range(20_000))
    source = f"""
    func.func @f(%n: index, %v0: i64) -> i64 {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      {loops} {"}" * depth}
      {chain}
      func.return %v20000 : i64
    }}"""
    from stepwell.core.parsing import make_context, parse_text
    from stepwell.lowering.emit_llvm_text import emit_llvm_text
    from stepwell.lowering.lower_to_llvm_dialect import LowerToLLVMDialectPass

    context = make_context()
    module = parse_text(context, source)
    LowerToLLVMDialectPass().apply(context, module)
    assert emit_llvm_text(module).count(" = add i64") == 20_000
