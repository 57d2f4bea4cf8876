"""The pass `eliminate-dead-code`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...core.passes.base import StepwellPass, count
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import Purity
from ...patterns.running.driver import is_dead, program_order


@dataclass(frozen=True)
class EliminateDeadCodePass(StepwellPass):
    """
    Erases ops whose results nobody uses and that have no effect.

    An op that may fail has no effect in this sense. A call goes when everything in the called function is pure. Ops
    with unknown effects stay.

    Before:
        %0 = graph.exp %x : …
        func.return %x : …
    After:
        func.return %x : …
    """

    name = "eliminate-dead-code"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        erase_dead_ops(op)


def erase_dead_ops(scope: Operation) -> int:
    """Erases dead ops inside `scope`, users before producers. Returns how many."""
    purity = Purity(scope)
    erased = 0
    for op in reversed(program_order(scope)):
        # A region op comes before its content here. Once it is erased, its inner ops have no parent.
        if op.parent is not None and is_dead(op, purity):
            erased += sum(1 for _ in op.walk())
            op.detach()
            op.erase()
    if erased:
        count("erased ops", erased)
    return erased
