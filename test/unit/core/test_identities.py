"""Whatever a pass changes is noticed, so that it is verified; what it leaves alone is not verified again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import stepwell
from stepwell.core.ir.identities import Identities
from stepwell.core.passes import pipelines
from stepwell.core.text.parsing import make_context
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr, f32, i32, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

PROGRAM = """
func.func @main(%x: i32, %c: i1) -> i32 {
  %a = arith.constant 1 : i32
  %b = arith.addi %x, %a : i32
  %d = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  cf.cond_br %c, ^bb1(%b : i32), ^bb2
^bb1(%y: i32):
  func.return %y : i32
^bb2:
  func.return %d : i32
}
"""


def named(module: ModuleOp, name: str) -> Operation:
    return next(op for op in module.walk() if op.name == name)


def body(module: ModuleOp) -> Region:
    return named(module, "func.func").regions[0]


def set_type(value: SSAValue) -> None:
    value._type = i64  # pyright: ignore[reportPrivateUsage]


def moved_to_attributes(op: Operation) -> None:
    op.attributes.update(op.properties)
    op.properties.clear()


def swap_successors(op: Operation) -> None:
    op.successors = list(reversed(op.successors))


def move_up(op: Operation) -> None:
    before = op.prev_op
    assert before is not None and op.parent is not None
    op.detach()
    op_block = before.parent
    assert op_block is not None
    op_block.insert_op_before(op, before)


def append_empty_block(region: Region) -> None:
    region.add_block(Block())


CHANGES: dict[str, Callable[[ModuleOp], object]] = {
    "an operand": lambda m: named(m, "arith.addi").operands.__setitem__(1, named(m, "arith.addi").operands[0]),
    "the number of operands": lambda m: setattr(named(m, "cf.cond_br"), "operands", []),
    "the type of a result": lambda m: set_type(named(m, "arith.addi").results[0]),
    "a property": lambda m: named(m, "arith.constant").properties.update(value=IntegerAttr(2, i32)),
    "a property by an equal one": lambda m: named(m, "arith.constant").properties.update(value=IntegerAttr(1, i32)),
    "a property among the attributes": lambda m: moved_to_attributes(named(m, "arith.constant")),
    "one property less": lambda m: named(m, "arith.constant").properties.clear(),
    "an attribute of an op": lambda m: named(m, "arith.addi").attributes.update(note=UnitAttr()),
    "an attribute of the module": lambda m: m.attributes.update(note=UnitAttr()),
    "a new op": lambda m: body(m).blocks[0].insert_op_before(test.TestOp(), named(m, "arith.addi")),
    "a new op in a region": lambda m: named(m, "scf.if").regions[0].blocks[0].insert_op_before(
        test.TestOp(), named(m, "scf.yield")
    ),
    "an op less": lambda m: named(m, "arith.addi").detach(),
    "the order of ops": lambda m: move_up(named(m, "arith.addi")),
    "the successors": lambda m: swap_successors(named(m, "cf.cond_br")),
    "the type of an argument": lambda m: set_type(body(m).blocks[1].args[0]),
    "a new argument": lambda m: body(m).blocks[2].insert_arg(f32, 0),
    "an empty block": lambda m: append_empty_block(body(m)),
    "a new region": lambda m: named(m, "arith.addi").add_region(Region()),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_noticed(what: str) -> None:
    module = stepwell.parse(PROGRAM)
    before = Identities(module)
    assert before.hold()
    CHANGES[what](module)
    assert not before.hold()


def test_names_of_values_do_not_count() -> None:
    module = stepwell.parse(PROGRAM)
    before = Identities(module)
    named(module, "arith.addi").results[0].name_hint = "other"
    assert before.hold()


@dataclass(frozen=True)
class Nothing(ModulePass):
    name = "nothing"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


@dataclass(frozen=True)
class Breaks(ModulePass):
    name = "breaks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        set_type(named(op, "arith.addi").results[0])


def test_only_changes_are_verified_and_each_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    verified: list[Operation] = []

    def verify(module: Operation, **options: object) -> None:
        verified.append(module)
        original(module)

    original = pipelines.verify_module
    monkeypatch.setattr(pipelines, "verify_module", verify)
    module = stepwell.parse(PROGRAM)
    pipelines.run_pipeline(make_context(), module, [Nothing(), Nothing()])
    assert len(verified) == 1
    with pytest.raises(pipelines.BrokenByPassError):
        pipelines.run_pipeline(make_context(), module, [Nothing(), Breaks(), Nothing()])
    assert len(verified) == 3
