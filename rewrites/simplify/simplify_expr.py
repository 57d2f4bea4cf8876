"""The pass `simplify-expr`, whose rules are in `simplify.mlir` and `simplify_arithmetic.mlir`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.passes.base import StepwellPass
from ...lazy_dataclass import dataclass
from ...patterns.running.driver import Driver
from ...patterns.running.selection import selected
from ..shipped import nothing_matches, shipped_rules

RULE_FILES = ("simplify", "simplify_arithmetic")


@dataclass(frozen=True)
class SimplifyExprPass(StepwellPass):
    """
    Applies identities of graph ops until none applies.

    The rules are those of `simplify.mlir` and `simplify_arithmetic.mlir`, together. `rules` (or `only`) picks some by
    name. With `numerics` as `strict` only exact rules run. `default` adds those that compute the same real function,
    and `fast` those that may lose NaN, inf or the sign of zero.

    Before:
        %0 = graph.relu %x : …
        %1 = graph.relu %0 : …
        %2 = graph.multiply %1, %one : …
    After:
        %0 = graph.relu %x : …

    Raises `PassFailedException` for a rule that does not exist or is not allowed by `numerics`.
    """

    name = "simplify-expr"

    rules: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.rules and not self.only and nothing_matches(ctx, op, RULE_FILES, self.numerics):
            return
        rules = [rule for name in RULE_FILES for rule in shipped_rules(name)]
        chosen = selected(rules, (*self.rules, *self.only), self.numerics, self.name)
        Driver(ctx, chosen).run(op)
