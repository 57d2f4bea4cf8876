"""A move on functions of several blocks, of whatever dialect their branches are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ....core.ir.walk import ops_in, walk
from ..move import Move
from ..subject import Program
from . import functions
from .ops import is_in


class KeepBlock(Move):
    """Leaves one block of a function, whose values from outside become arguments. So branches and loops go."""

    name = "keep one block"
    one_by_one = True

    def edits(self, subject: Program) -> list[Any]:
        assert subject.module is not None
        found = [each for each in functions.functions(subject.module) if len(each.regions[0].blocks) > 1]
        return [(function, block) for function in found for block in function.regions[0].blocks]

    def apply(self, subject: Program, edits: Sequence[Any]) -> None:
        for function, block in edits:
            if is_in(function, subject.module) and block.parent is function.regions[0]:
                _keep(function, block)


def _keep(function: Operation, block: Block) -> None:
    region = function.regions[0]
    ends = [each.last_op for each in region.blocks]
    last = next(each for each in ends if each is not None and not each.successors and each.has_trait(IsTerminator))
    kept = [op for op in ops_in(block) if op is not last and not op.successors]
    for op in (*kept, last):
        op.detach()
    entry, rest = region.blocks[0], list(region.blocks)[1:]
    _take_values_from_arguments(function, entry, [*kept, last])
    for op in ops_in(entry):
        op.detach()
        op.erase(safe_erase=False)
    for each in rest:
        region.detach_block(each)
    entry.add_ops([*kept, last])
    for each in rest:
        each.erase(safe_erase=False)


def _take_values_from_arguments(function: Operation, entry: Block, kept: Sequence[Operation]) -> None:
    """Makes values that come from elsewhere than the arguments and the ops that are kept new arguments."""
    inside = [inner for op in kept for inner in walk(op)]
    own: set[SSAValue] = {*entry.args, *(result for op in inside for result in op.results)}
    own |= {argument for op in inside for region in op.regions for block in region.blocks for argument in block.args}
    new: dict[SSAValue, SSAValue] = {}
    for op in inside:
        for number, value in enumerate(op.operands):
            if value not in own:
                if value not in new:
                    new[value] = functions.add_argument(function, value.type)
                op.operands[number] = new[value]
