"""What `replace_all_uses` and `erase_op` leave is what the methods of xDSL leave."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import stepwell
from stepwell.core.ir.replacing import erase_op, replace_all_uses
from stepwell.core.ir.verification import verify_module
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

# pyright: reportPrivateUsage=false

PROGRAM = """
func.func @main(%x: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = graph.multiply %x, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = scf.if %c -> (tensor<4xf32>) {
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %b : tensor<4xf32>
  }
  %f = graph.log %d : (tensor<4xf32>) -> tensor<4xf32>
  func.return %d, %e : tensor<4xf32>, tensor<4xf32>
}
"""


def program() -> tuple[ModuleOp, dict[str, Operation]]:
    module = stepwell.parse(PROGRAM)
    return module, {op.name.partition(".")[2]: op for op in module.walk()}


def users(value: SSAValue) -> list[tuple[str, int]]:
    """The uses of a value in their order, read in both directions."""
    uses = list(value.uses)
    for before, after in zip(uses, uses[1:], strict=False):
        assert before._next_use is after and after._prev_use is before
    assert not uses or (uses[0]._prev_use is None and uses[-1]._next_use is None)
    return [(use.operation.name, use.index) for use in uses]


@pytest.mark.parametrize("old, new", [("exp", "x"), ("add", "x"), ("add", "exp"), ("log", "exp"), ("exp", "exp")])
def test_uses_are_replaced_as_xdsl_replaces_them(old: str, new: str):
    def after(replace: Callable[[SSAValue, SSAValue], None]) -> tuple[str, list[list[tuple[str, int]]]]:
        module, ops = program()
        first = ops["func"].regions[0].block
        values = {"x": first.args[0], **{name: op.results[0] for name, op in ops.items() if op.results}}
        replace(values[old], values[new])
        verify_module(module)
        return str(module), [users(value) for value in values.values()]

    assert after(replace_all_uses) == after(lambda value, by: value.replace_all_uses_with(by))


@pytest.mark.parametrize("old, new, name", [("x", None, "x"), ("x", "y", "y"), (None, None, None)])
def test_a_value_without_a_name_takes_that_of_the_old_one(old: str | None, new: str | None, name: str | None):
    _, ops = program()
    ops["exp"].results[0].name_hint, ops["add"].results[0].name_hint = old, new
    replace_all_uses(ops["exp"].results[0], ops["add"].results[0])
    assert ops["add"].results[0].name_hint == name


def neighbours(block: Block) -> list[str]:
    """The ops of a block, read in both directions."""
    names = [op.name for op in block.ops]
    backwards, op = [], block.last_op
    while op is not None:
        backwards.append(op.name)
        op = op.prev_op
    assert names == backwards[::-1]
    return names


@pytest.mark.parametrize("chain", [["log"], ["log", "return", "if"], ["log", "return", "if", "multiply", "add", "exp"]])
def test_ops_are_erased_as_xdsl_erases_them(chain: list[str]):
    def after(erase: Callable[[Operation], None]) -> tuple[list[str], list[list[tuple[str, int]]]]:
        _, ops = program()
        block = ops["func"].regions[0].block
        for name in chain:
            erase(ops[name])
            assert ops[name].parent is None
        left = [ops[name] for name in ("exp", "add", "multiply") if name not in chain]
        return neighbours(block), [users(value) for value in (*block.args, *(op.results[0] for op in left))]

    assert after(erase_op) == after(lambda op: (op.detach(), op.erase())[1])


def test_an_op_in_no_block_is_erased_too():
    _, ops = program()
    copy = ops["log"].clone()
    source = ops["multiply"].results[0]
    assert len(users(source)) == 3
    erase_op(copy)
    assert len(users(source)) == 2


def test_an_op_whose_result_is_used_is_not_erased():
    _, ops = program()
    with pytest.raises(ValueError, match="still has uses"):
        erase_op(ops["add"])
