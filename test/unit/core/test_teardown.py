"""Ops that are taken apart need no collector."""

from __future__ import annotations

import gc
import weakref

import stepwell
from stepwell.core.ir.teardown import take_apart
from stepwell.core.ir.walk import walk
from stepwell.core.passes.context import PassContext
from stepwell.core.passes.instrument import Instrument
from stepwell.core.text.parsing import make_context, parse_text
from xdsl.dialects.builtin import ModuleOp

PROGRAM = """
func.func @loops(%n: index, %x: f32) -> f32 {
  %zero, %one = "test.op"() : () -> (index, index)
  %sum = scf.for %i = %zero to %n step %one iter_args(%old = %x) -> (f32) {
    %new = arith.addf %old, %old : f32
    scf.yield %new : f32
  }
  func.return %sum : f32
}
func.func @branches(%b: i1) {
  cf.cond_br %b, ^later(%b : i1), ^end
^end:
  func.return
^later(%c: i1):
  cf.cond_br %c, ^end, ^end
}
"""

NEGATE = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.negative %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
"""


def test_memory_is_freed_at_once() -> None:
    module = parse_text(make_context(), PROGRAM, "freed.mlir")
    found = [weakref.ref(op) for op in walk(module)]
    blocks = [block for op in walk(module) for region in op.regions for block in region.blocks]
    found += [weakref.ref(value) for block in blocks for value in (block, *block.args)]
    found += [weakref.ref(result) for op in walk(module) for result in op.results]
    gc.disable()
    try:
        del blocks
        take_apart(module)
        del module
        assert not [each for each in found if each() is not None]
    finally:
        gc.enable()


def test_the_rest_of_a_module_stays() -> None:
    module = parse_text(make_context(), PROGRAM, "freed.mlir")
    first, second = module.ops
    text = str(second)
    first.detach()
    take_apart(first)
    module.verify()
    assert [str(op) for op in module.ops] == [text]


class Keeping(Instrument):
    """Keeps the module after the last pass."""

    kept: ModuleOp | None = None

    def after_pipeline(self, module: ModuleOp) -> None:
        self.kept = module


def test_what_an_instrument_keeps_stays() -> None:
    keeping = Keeping()
    with PassContext(3, instruments=[keeping]):
        stepwell.compile(NEGATE, cache=False)
    assert keeping.kept is not None and "llvm.func" in str(keeping.kept)
