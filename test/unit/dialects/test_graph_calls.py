"""Calls of loop functions: symbols, storage, failing."""

from __future__ import annotations

import gc
import weakref

import pytest
import stepwell
from stepwell.core.ir.symbols import lookup_symbol
from stepwell.core.ir.verification import verify_module
from stepwell.core.text.parsing import parse
from stepwell.dialects import traits
from stepwell.dialects.graph import CallKernelOp
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.traits import SymbolTable, get_effects, is_speculatable

PROGRAM = """
tensor_loop.func @plain(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
}
tensor_loop.func @failing(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  %ok = arith.constant true
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "check" spatial(%vi in 4 = %i) {
      cf.assert %ok, "graph.take: index out of range"
      %a = memref.load %A[%vi] : memref<4xf32>
      memref.store %a, %B[%vi] : memref<4xf32>
    }
  }
}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.call_kernel @plain(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = graph.call_kernel @failing(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}
"""


def calls(module: ModuleOp) -> list[CallKernelOp]:
    return [op for op in module.walk() if isinstance(op, CallKernelOp)]


def test_a_call_may_fail_when_its_kernel_asserts() -> None:
    plain, failing = calls(parse(PROGRAM))
    assert not traits.may_fail(plain) and traits.may_fail(failing)
    assert is_speculatable(plain) and not is_speculatable(failing)
    assert get_effects(plain) == get_effects(failing) == set()


def test_lookup_follows_edits_of_the_module() -> None:
    module = parse(PROGRAM)
    plain, failing = calls(module)
    first, second = plain.kernel(), failing.kernel()
    assert first is not None and second is not None and first is not second
    first.properties["sym_name"] = StringAttr("renamed")
    assert plain.kernel() is None
    assert lookup_symbol(plain, "renamed") is first
    second.detach()
    assert failing.kernel() is None
    module.body.block.add_op(second)
    assert failing.kernel() is second


def test_g4_a_right_call_scans_no_module(monkeypatch: pytest.MonkeyPatch) -> None:
    def scan(*_: object) -> None:
        raise AssertionError("the module was scanned")

    functions = ["func.func @f0(%x: tensor<4xf32>) -> tensor<4xf32> {\n  func.return %x : tensor<4xf32>\n}\n"]
    for number in range(1, 20):
        functions.append(
            f"func.func @f{number}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n"
            f"  %y = func.call @f{number - 1}(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
            "  func.return %y : tensor<4xf32>\n}\n"
        )
    module = parse("".join(functions))
    monkeypatch.setattr(SymbolTable, "lookup_symbol", scan)
    verify_module(module)
    lowered = stepwell.compile(module, opt_level=0, entry="f19").ir("llvm")
    assert lowered.count("llvm.call") >= 19


def test_looking_up_symbols_keeps_no_module_alive() -> None:
    module = parse(PROGRAM)
    assert calls(module)[0].kernel() is not None
    gone = weakref.ref(module)
    del module
    gc.collect()
    assert gone() is None
