"""`core.ir.walk` meets the ops that xDSL's walk does, in its order."""

from __future__ import annotations

from stepwell.core.ir.walk import ops_of, walk
from stepwell.core.text.parsing import make_context, parse_text
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp

TEXT = """
builtin.module {
  func.func @f(%c: i1, %n: index) -> index {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %r = scf.if %c -> (index) {
      %s = scf.for %i = %zero to %n step %one iter_args(%a = %zero) -> (index) {
        %b = arith.addi %a, %i : index
        scf.yield %b : index
      }
      scf.yield %s : index
    } else {
      scf.yield %one : index
    }
    func.return %r : index
  }
  func.func @blocks(%c: i1) {
    cf.cond_br %c, ^first, ^second
  ^first:
    %0 = arith.constant 1 : index
    cf.br ^second
  ^second:
    func.return
  }
  func.func private @outside()
}
"""


def module() -> ModuleOp:
    return parse_text(make_context(), TEXT, "walk")


def test_walk_is_that_of_xdsl_from_every_op_region_and_block() -> None:
    for op in module().walk():
        assert walk(op) == list(op.walk())
        for region in op.regions:
            assert walk(region) == list(region.walk())
            for block in region.blocks:
                assert walk(block) == list(block.walk())


def test_walk_does_not_see_what_changes_later() -> None:
    root = module()
    count = len(list(root.walk()))
    seen = 0
    for op in walk(root):
        seen += 1
        if isinstance(op, arith.AddiOp):
            block = op.parent
            assert block is not None
            block.insert_op_after(op.clone(), op)
    assert seen == count
    assert len(walk(root)) == count + 1


def test_ops_of_some_classes_in_order() -> None:
    root = module()
    found = ops_of(root, arith.ConstantOp, scf.ForOp)
    assert found == [op for op in root.walk() if isinstance(op, arith.ConstantOp | scf.ForOp)]
    assert [op.name for op in found] == ["arith.constant", "arith.constant", "scf.for", "arith.constant"]


def test_ops_of_takes_subclasses() -> None:
    class Special(arith.ConstantOp):
        pass

    root = module()
    constant = ops_of(root, arith.ConstantOp)[0]
    special = Special.create(result_types=[constant.result.type], properties=constant.properties)
    assert constant.parent is not None
    constant.parent.insert_op_before(special, constant)
    assert ops_of(root, arith.ConstantOp)[0] is special
    assert special not in ops_of(root, scf.ForOp)
