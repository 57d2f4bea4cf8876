"""The pass `eliminate-common-subexpr`, whose rule is in `cse.mlir`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.passes.base import StepwellPass
from ...patterns.running.driver import Driver
from ..shipped import shipped_rules


@dataclass(frozen=True)
class EliminateCommonSubexprPass(StepwellPass):
    """
    Reuses the result of an equal op that was computed before.

    Two ops are equal when their name, operands (in any order when commutative), properties, attributes, types and
    regions are equal. The first must dominate the second, so branches never share with each other. Ops with effects
    stay. Ops that only read merge within a block when nothing writes between them. Ops named in `skip`, and ops with
    the attribute `graph.no_cse`, stay too.

    Before:
        %a = graph.add %x, %y : …
        %b = graph.add %y, %x : …
        %c = graph.multiply %a, %b : …
    After:
        %a = graph.add %x, %y : …
        %c = graph.multiply %a, %a : …
    """

    name = "eliminate-common-subexpr"

    skip: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        Driver(ctx, shipped_rules("cse"), options={"skip": self.skip}).run(op)
