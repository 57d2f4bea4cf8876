"""The pass `fuse-ewise-fma`, whose rule is in `ewise_fma.mlir`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.passes.base import StepwellPass
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import is_closed
from ...patterns.running.driver import Driver
from ...patterns.running.selection import selected
from ..shipped import nothing_matches, shipped_rules


@dataclass(frozen=True)
class FuseEwiseFmaPass(StepwellPass):
    """
    Turns a multiplication followed by an addition into one fused multiply-add.

    The product must have no other user, unless `allow-duplicate` is set. Ops left without users go, unless `dce=false`.
    The result is rounded once instead of twice, so `numerics="strict"` turns the pass off. Fused and partitioned
    functions, and those for another compiler, are left alone.

    Before:
        %0 = graph.multiply %x, %y : …
        %1 = graph.add %z, %0 : …
    After:
        %1 = graph.ewise_fma %x, %y, %z : …
    """

    name = "fuse-ewise-fma"

    allow_duplicate: bool = False
    dce: bool = True
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        enter = lambda each: not is_closed(each)  # noqa: E731
        if nothing_matches(ctx, op, ("ewise_fma",), self.numerics, enter):
            return
        rules = selected(shipped_rules("ewise_fma"), (), self.numerics, self.name)
        options = {"allow-duplicate": self.allow_duplicate}
        Driver(ctx, rules, enter=enter, erase_dead=self.dce, options=options).run(op)
