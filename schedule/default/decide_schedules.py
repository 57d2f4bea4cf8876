"""The pass `decide-schedules`: rules of a file decide about loops and blocks."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.ir.walk import ops_of
from ...core.passes.base import StepwellPass
from ...dialects.tensor_loop import BlockOp, FuncOp, LoopOp
from ...lazy_dataclass import dataclass
from .constants import run_once
from .schedule_rules import ScheduleRules, schedule_rules


@dataclass(frozen=True)
class DecideSchedulesPass(StepwellPass):
    """
    Writes what the rules of `file` decide on blocks and loops, with the reason. `rules` picks some by name.

    The rules end in `pattern.decide` (docs/schedules.md). In each function they are tried in their order at every
    block, then at every loop, then at the function. What a block has already is kept. `plan-schedules` keeps what is
    decided here, and refuses at the block what does not fit.

    Before:

        tensor_loop.block "sum" spatial(%vi in 8 = %i) reduce(%vk in 64 = %k) ... { ... }

    After `pattern.rule "r" : block(spatial _, reduce _) {_} as %b => decide(%b, stepwell.share = 0) because "small"`:

        tensor_loop.block "sum" spatial(%vi in 8 = %i) reduce(%vk in 64 = %k) ...
            attributes {stepwell.share = 0 : i64, stepwell.reason = {stepwell.share = "small"}} { ... }

    Raises `StepwellError` for a file that cannot be read or has a rule that is not valid.
    """

    name = "decide-schedules"

    file: str
    rules: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rules = ScheduleRules(ctx, schedule_rules(self.file, self.rules, ctx, self.name), op, run_once(op))
        for function in ops_of(op, FuncOp):
            for each in (*ops_of(function, BlockOp), *ops_of(function, LoopOp), function):
                for decided in rules.decide(each):
                    self.count(decided.rule)
