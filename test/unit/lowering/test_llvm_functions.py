"""What functions look like in the llvm dialect, and what is refused."""

from __future__ import annotations

import re

import pytest
from llvm_jit import Program, lower
from stepwell.core.messages.diagnostics import OperationError

from .test_llvm_control import LOOP


def test_declarations_stay_external_and_llvm_functions_stay_as_they_are():
    text = str(
        lower("""
    func.func private @outside(%m: memref<4xf32>, %n: index) -> f32
    llvm.func @own(%x: i64) -> i64 attributes {mine.mark} {
      llvm.return %x : i64
    }
    func.func @f(%m: memref<4xf32>, %n: index) -> f32 {
      %r = func.call @outside(%m, %n) : (memref<4xf32>, index) -> f32
      func.return %r : f32
    }""")
    )
    assert "llvm.func @outside(!llvm.ptr, i64) -> f32" in text
    assert "llvm.func @own(%x: i64) -> i64 attributes {mine.mark}" in text


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
    from stepwell.core.text.parsing import make_context, parse_text
    from stepwell.lowering.llvm.lower_to_llvm_dialect import LowerToLLVMDialectPass

    context = make_context()
    module = parse_text(context, 'func.func @f(%x: i64) { "test.op"(%x) : (i64) -> () func.return }')
    before = str(module)
    with pytest.raises(OperationError):
        LowerToLLVMDialectPass().apply(context, module)
    assert str(module) == before


def test_a_hundred_loops_deep_and_five_thousand_ops_long():
    depth = 60
    loops = "".join(f"scf.for %i{k} = %c0 to %n step %c1 {{\n" for k in range(depth))
    chain = "\n".join(f"%v{k + 1} = arith.addi %v{k}, %v{k} : i64" for k in range(5_000))
    source = f"""
    func.func @f(%n: index, %v0: i64) -> i64 {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      {loops} {"}" * depth}
      {chain}
      func.return %v5000 : i64
    }}"""
    from stepwell.core.text.parsing import make_context, parse_text
    from stepwell.lowering.llvm.lower_to_llvm_dialect import LowerToLLVMDialectPass
    from stepwell.lowering.llvm_text.emit_llvm_text import emit_llvm_text

    context = make_context()
    module = parse_text(context, source)
    LowerToLLVMDialectPass().apply(context, module)
    assert emit_llvm_text(module).count(" = add i64") == 5_000
