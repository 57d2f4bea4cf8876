"""The passes `sink-to-lca` and `check-lca-placement`: every value in the lowest scope that all its uses share."""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from ...core.messages.diagnostics import fail
from ...core.passes.base import StepwellPass
from ...dialects.traits import is_commutative
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import is_primitive
from ...patterns.running.driver import program_order
from .choice import ancestor_in, branch_path, common_block, lowest_common_scope, movable


@dataclass(frozen=True)
class SinkToLcaPass(StepwellPass):
    """
    Moves values that only branches need into the innermost branch of `scf.if` that holds all their uses.

    A value that both branches need stays before them. Ops with effects and ops that may fail stay where they are,
    nothing moves into a loop, and code without branches does not change. Fused functions are left alone.

    A rule replaces an op in its place and cannot express this.

    Before:
        %0 = graph.exp %x : …
        %1 = scf.if %c -> (…) {
          scf.yield %0 : …
        } else {
          scf.yield %x : …
        }
    After:
        %1 = scf.if %c -> (…) {
          %0 = graph.exp %x : …
          scf.yield %0 : …
        } else {
          scf.yield %x : …
        }
    """

    name = "sink-to-lca"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # Users come before producers, so that the operands of a moved op are looked at after it.
        for each in reversed(program_order(op, lambda holder: not is_primitive(holder))):
            if movable(each) and each.parent_op() is not op:
                self._sink(each)

    def _sink(self, op: Operation) -> None:
        target = lowest_common_scope(op)
        if target is None or target is op.parent:
            return
        users = {ancestor_in(target, use.operation) for result in op.results for use in result.uses}
        first = next(each for each in target.ops if each in users)
        op.detach()
        target.insert_op_before(op, first)
        self.count("moved ops")


@dataclass(frozen=True)
class CheckLcaPlacementPass(StepwellPass):
    """
    Fails where a value is not in the lowest scope that all its uses share. It changes nothing.

    Two faults: an op that `sink-to-lca` would move into a branch, and equal ops in branches apart, whose scope is the
    block around these branches.

    Raises `PassFailedException` at the first fault.
    """

    name = "check-lca-placement"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        known: dict[Hashable, list[Operation]] = {}
        for each in program_order(op, lambda holder: not is_primitive(holder)):
            if not movable(each) or each.parent_op() is op:
                continue
            if lowest_common_scope(each) not in (None, each.parent):
                fail(each, "all uses are in one branch", hint="sink-to-lca moves it there")
            if each.regions:
                continue
            equals = known.setdefault(_key(each), [])
            if any(_apart(each, other) for other in equals):
                fail(each, "computed in branches apart, expected once in the block around them")
            equals.append(each)


def _key(op: Operation) -> Hashable:
    """Returns a key that is equal for ops that compute the same."""
    operands = sorted(map(id, op.operands)) if is_commutative(op) else map(id, op.operands)
    properties = sorted((op.properties | op.attributes).items(), key=lambda item: item[0])
    types = tuple(result.type for result in op.results)
    return op.name, tuple(operands), tuple(properties), types, () if op.operands else _function_of(op)


def _function_of(op: Operation) -> Operation:
    """Returns the outermost op around `op` inside the module, since literals of two functions are two values."""
    current = op
    while (parent := current.parent_op()) is not None and not isinstance(parent, ModuleOp):
        current = parent
    return current


def _apart(first: Operation, second: Operation) -> bool:
    """Returns whether both are in branches of `scf.if` of one block, neither around the other."""
    around = _blocks_around(first)
    shared = next((block for block in _blocks_around(second) if block in around), None)
    if shared is None or shared in (first.parent, second.parent):
        return False
    paths = [branch_path(shared, op) for op in (first, second)]
    return common_block(paths) is shared and all(
        path and path[-1] is op.parent for path, op in zip(paths, (first, second), strict=True)
    )


def _blocks_around(op: Operation) -> list[Block]:
    """Returns the blocks of branches that hold `op`, innermost first, and the one around them."""
    blocks: list[Block] = []
    block = op.parent
    while block is not None:
        blocks.append(block)
        parent = block.parent_op()
        if not isinstance(parent, scf.IfOp):
            break
        block = parent.parent
    return blocks
