"""The index of equal ops: which it finds while ops come, change and go."""

from __future__ import annotations

import stepwell
from stepwell.core.text.parsing import make_context
from stepwell.patterns.language.equivalence import EquivalenceIndex
from stepwell.patterns.language.match import Session
from xdsl.ir import Operation

PROGRAM = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = graph.add %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = graph.subtract %y, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = graph.softmax %x, axis = 0 : (tensor<4xf32>) -> tensor<4xf32>
  %i = graph.softmax %x, axis = -1 : (tensor<4xf32>) -> tensor<4xf32>
  %j = graph.sum %x, axis = [0] : (tensor<4xf32>) -> tensor<f32>
  %k = graph.sum %x, axis = [0], keepdims = true : (tensor<4xf32>) -> tensor<1xf32>
  func.return
}
"""


class Ops:
    """The ops of the program by the names of their results, and the index."""

    def __init__(self):
        self.module = stepwell.parse(PROGRAM)
        self.named = {op.results[0].name_hint: op for op in self.module.walk() if op.results}
        self.index = EquivalenceIndex(Session(make_context(), self.module))
        self.arguments = next(iter(self.module.ops)).regions[0].block.args

    def __getattr__(self, name: str) -> Operation:
        return self.named[name]

    def found(self, op: Operation) -> list[str | None]:
        return [each.results[0].name_hint for each in self.index.candidates(op)]

    def visit(self, *ops: Operation) -> None:
        for op in ops:
            self.index.visited(op)


def test_equal_ops_are_found_once_they_were_visited():
    ops = Ops()
    assert ops.found(ops.c) == []
    ops.visit(ops.a, ops.b)
    assert ops.found(ops.c) == ["a"]
    ops.visit(ops.c)
    assert ops.found(ops.a) == ["c"]
    assert ops.found(ops.b) == []


def test_operands_stand_in_any_order_where_the_op_commutes():
    ops = Ops()
    ops.visit(ops.d, ops.f)
    assert ops.found(ops.e) == ["d"]
    assert ops.found(ops.g) == []


def test_ops_of_the_same_operands_may_differ():
    ops = Ops()
    ops.visit(ops.h, ops.j)
    assert ops.found(ops.i) == ["h"]
    assert ops.found(ops.k) == []


def test_an_op_that_changes_is_found_by_its_new_operands():
    ops = Ops()
    ops.visit(ops.a, ops.b)
    ops.index.forget(ops.b)
    ops.b.operands = [ops.arguments[0]]
    assert ops.found(ops.b) == ["a"]
    ops.visit(ops.b)
    assert ops.found(ops.c) == ["a", "b"]
    assert ops.index.session.revisit == [ops.a]  # It was looked at before %b was like it.


def test_an_op_that_changes_twice_is_where_it_is_now():
    ops = Ops()
    for argument in (ops.arguments[1], ops.arguments[0]):
        ops.visit(ops.a)
        ops.index.forget(ops.a)
        ops.a.operands = [argument]
    ops.visit(ops.a)
    assert ops.found(ops.b) == []
    assert ops.found(ops.c) == ["a"]


def test_an_op_that_is_forgotten_is_found_no_more():
    ops = Ops()
    ops.visit(ops.a)
    ops.index.forget(ops.a)
    assert ops.found(ops.c) == []
    ops.visit(ops.c, ops.a)
    ops.index.forget(ops.c)
    assert ops.found(ops.c) == ["a"]


def test_an_op_that_is_visited_twice_is_one():
    ops = Ops()
    ops.visit(ops.a, ops.a)
    assert ops.found(ops.a) == []
    assert ops.found(ops.c) == ["a"]
    ops.visit(ops.a, ops.c, ops.c)
    assert ops.found(ops.b) == []
    assert ops.found(ops.a) == ["c"]
