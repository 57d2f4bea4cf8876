"""The pass `eliminate-common-subexpr`, whose rule is in `cse.mlir`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.passes.base import StepwellPass
from ...core.text.unknown import unknown_op
from ...lazy_dataclass import dataclass
from ...patterns.running.driver import Driver
from ..shipped import shipped_rules


@dataclass(frozen=True)
class EliminateCommonSubexprPass(StepwellPass):
    """
    Reuses the result of an equal op that was computed before.

    Two ops are equal when their name, operands (in any order when commutative), properties, attributes, types and
    regions are equal. The first must dominate the second, so branches never share with each other. Ops with effects
    stay. Ops that only read merge within a block when nothing writes between them. Ops named in `skip`, and ops with
    the attribute `graph.no_cse`, stay too. Properties are compared in normal form, so axis -1 of rank 2 is axis 1.

    Before:
        %a = graph.add %x, %y : …
        %b = graph.add %y, %x : …
        %c = graph.multiply %a, %b : …
    After:
        %a = graph.add %x, %y : …
        %c = graph.multiply %a, %a : …

    Raises `StepwellError` for a name in `skip` that no op has.
    """

    name = "eliminate-common-subexpr"

    skip: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for name in self.skip:
            if ctx.get_optional_op(name) is None and not ctx.allow_unregistered:
                message, hint = unknown_op(ctx, name)
                raise StepwellError(Diagnostic(f"{self.name}: skip: {message}", hint=hint))
        Driver(ctx, shipped_rules("cse"), options={"skip": self.skip}).run(op)
