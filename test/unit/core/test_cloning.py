"""Ops that are cloned the short way are those that xDSL clones."""

from __future__ import annotations

from stepwell.core.ir.cloning import clone_op
from stepwell.core.text.parsing import make_context, parse_text
from xdsl.dialects import func
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

PROGRAM = """
func.func @loops(%n: index, %x: f32) -> f32 attributes {"a" = 1 : i32} {
  %zero, %one = "test.op"() {b} : () -> (index, index)
  %sum = scf.for %i = %zero to %n step %one iter_args(%old = %x) -> (f32) {
    %new = arith.addf %old, %x fastmath<fast> : f32
    scf.yield %new : f32
  }
  func.return %sum : f32
}
func.func @branches(%b: i1) {
  cf.cond_br %b, ^later(%b : i1), ^end
^end:
  func.return
^later(%c: i1):
  cf.br ^end
}
"graph.region"() ({
  "test.op"(%later) : (i32) -> ()
  %later = "test.op"() : () -> i32
}) : () -> ()
"""


def _shape(op: Operation) -> list[object]:
    """Returns all that the ops in `op` hold, with numbers in place of values and blocks."""
    numbers: dict[object, int] = {}
    blocks = [block for region in op.regions for inner in region.walk() for r in inner.regions for block in r.blocks]
    blocks += [block for region in op.regions for block in region.blocks]
    values: list[SSAValue] = [argument for block in blocks for argument in block.args]
    values += [result for inner in op.walk() for result in inner.results]
    for each in (*blocks, *values, *op.walk()):
        numbers.setdefault(each, len(numbers))
    found: list[object] = []
    for each in (*blocks, *values):
        found.append([(numbers.get(use.operation), use.index) for use in each.uses])
    for value in values:
        found.append((value.type, value.name_hint, numbers.get(value.owner)))
    for argument in (argument for block in blocks for argument in block.args):
        found.append((argument.index, argument.location))
    for inner in op.walk():
        found.append((type(inner), inner.properties, inner.attributes, inner.location))
        found.append([numbers.get(each) for each in (*inner.operands, *inner.successors)])
        parent = inner.parent
        found.append(None if parent is None else numbers[parent])
        found.append([numbers.get(each) for each in (inner.prev_op, inner.next_op)])
    return found


def test_a_clone_is_the_one_that_xdsl_makes() -> None:
    module = parse_text(make_context(allow_unregistered=True), PROGRAM, "clones.mlir")
    for op in (module, *module.ops):
        short, long = clone_op(op), op.clone()
        assert short.parent is None and long.parent is None
        assert str(short) == str(long)
        assert _shape(short) == _shape(long)
    module.verify()


def test_operands_are_replaced_and_values_are_told() -> None:
    module = parse_text(make_context(allow_unregistered=True), PROGRAM, "clones.mlir")
    function = next(op for op in module.ops if isinstance(op, func.FuncOp))
    loop = next(op for op in function.body.block.ops if op.name == "scf.for")
    number, start = function.body.block.args
    for pairs in ([(start, number)], []):
        short: dict[SSAValue, SSAValue] = dict(pairs)
        long: dict[SSAValue, SSAValue] = dict(pairs)
        copies = clone_op(loop, short), loop.clone(long)
        assert [*copies[0].operands] == [*copies[1].operands]
        assert short.keys() == long.keys()
        assert [value.name_hint for value in short.values()] == [value.name_hint for value in long.values()]


def test_a_clone_shares_no_dictionary() -> None:
    module = parse_text(make_context(allow_unregistered=True), PROGRAM, "clones.mlir")
    function = next(iter(module.ops))
    copy = clone_op(function)
    copy.attributes["a"] = StringAttr("changed")
    copy.properties["sym_name"] = StringAttr("changed")
    assert "changed" not in str(function)
