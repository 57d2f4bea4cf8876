"""Calls of loop functions: symbols, storage, failing."""

from __future__ import annotations

from stepwell.core.text.parsing import parse
from stepwell.dialects import traits
from stepwell.dialects.graph import CallKernelOp
from stepwell.dialects.graph.calls import lookup_symbol
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.traits import get_effects, is_speculatable

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
