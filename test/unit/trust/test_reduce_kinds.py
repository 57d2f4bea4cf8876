"""Each kind of thing that `stepwell reduce` makes smaller, on the level where it stands."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from counts import FULL
from stepwell.core.passes.pipelines import run_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.trust.reduce.moves.all import moves_for
from stepwell.trust.reduce.predicates import Predicate
from stepwell.trust.reduce.session import reduce
from stepwell.trust.reduce.subject import Program, Subject
from stepwell.trust.reduce.workers import Workers
from xdsl.dialects.builtin import ModuleOp

MATMUL = """
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = graph.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.relu %0 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %1 : tensor<8x8xf32>
}
"""
SCHEDULED = """
tensor_loop.func @twice(%x: memref<32x32xf32>) outs(%y: memref<32x32xf32>) {
  tensor_loop.grid (%i, %j) in (32, 32) {
    tensor_loop.block "twice" spatial(%vi in 32 = %i, %vj in 32 = %j) {
      %0 = memref.load %x[%vi, %vj] : memref<32x32xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y[%vi, %vj] : memref<32x32xf32>
    }
  }
}
schedule.program {
  %b = schedule.get_block "twice" in @twice
  %i, %j = schedule.get_loops %b : 2
  %o, %n = schedule.split %j [?, 4]
  schedule.reorder %o, %i
  schedule.vectorize %n
}
"""
CALLS = """
func.func private @inner(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @unused(%a: tensor<4xf32>) -> tensor<4xf32> {
  func.return %a : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = func.call @inner(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = scf.if %c -> (tensor<4xf32>) {
    %2 = graph.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  } else {
    scf.yield %0 : tensor<4xf32>
  }
  func.return %1, %0 : tensor<4xf32>, tensor<4xf32>
}
"""
NUMBERS = """
func.func @main(%x: tensor<2x3xf64>) -> tensor<2x3xf64> attributes {note = "it"} {
  %0 = graph.constant dense<[[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]]> : tensor<2x3xf64>
  %1 = graph.add %x, %0 : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  %2 = graph.softmax %1, axis = 1 {mypkg.more = 7 : i64} : (tensor<2x3xf64>) -> tensor<2x3xf64>
  func.return %2 : tensor<2x3xf64>
}
"""


class Holds(Predicate):
    """A function of a program says yes."""

    def __init__(self, asks: Callable[[ModuleOp], bool]):
        self.asks = asks

    def kind(self, subject: Subject) -> str | None:
        return "holds" if self.asks(subject.parsed()) else None

    def __str__(self) -> str:
        return "it does not hold"


def has(*names: str) -> Callable[[ModuleOp], bool]:
    """Returns whether ops of all names are there."""
    return lambda module: set(names) <= {op.name for op in module.walk()}


def shrunk(text: str, asks: Callable[[ModuleOp], bool], passes: str = "") -> str:
    context = make_context()
    module = parse_text(context, text, "t.mlir")
    run_pipeline(context, module, passes)
    program = Program(context, f"{module!s}\n", "t.mlir")
    reduce(program, Holds(asks), moves_for(program), workers=Workers(2))
    return program.text


def count(text: str) -> int:
    return sum(bool(line.strip(" {}()")) for line in text.splitlines()) - 1


PARTS = [
    (CALLS, has("graph.exp"), "", 3),
    (CALLS, has("graph.tanh"), "", 3),
    (CALLS, has("scf.if"), "", 6),
    (CALLS, has("func.call"), "", 5),
    (SCHEDULED, has("schedule.vectorize"), "", 9),
    (SCHEDULED, has("schedule.split"), "", 9),
    (MATMUL, has("tensor_loop.block"), "lower-graph-to-loops", 4),
    (MATMUL, has("llvm.fmul"), "O0,finish", 4),
]
"""What is to be left, and the most ops beside it."""


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("text, asks, passes, ops", PARTS if FULL else PARTS[2::5])
def test_functions_calls_regions_steps_and_levels(
    text: str, asks: Callable[[ModuleOp], bool], passes: str, ops: int
) -> None:
    found = shrunk(text, asks, passes)
    assert count(found) <= ops, found


@pytest.mark.ci_cases(0)
def test_constants_attributes_sizes_and_element_types() -> None:
    found = shrunk(NUMBERS, has("graph.constant", "graph.softmax"))
    assert "note" not in found and "more" not in found and "f64" not in found
    assert "dense<1.500000e+00> : tensor<1x1xf32>" in found or "dense<1.5> : tensor<1x1xf32>" in found, found


def test_decisions_of_schedules_are_dropped() -> None:
    def has_two_kernels(module: ModuleOp) -> bool:
        return sum(op.name == "tensor_loop.func" for op in module.walk()) >= 1

    planned = "lower-graph-to-loops,plan-schedules"
    context = make_context()
    module = parse_text(context, MATMUL, "t.mlir")
    run_pipeline(context, module, planned)
    assert "schedule" in str(module)
    assert "#schedule" not in shrunk(MATMUL, has_two_kernels, planned)
