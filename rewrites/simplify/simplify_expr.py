"""The pass `simplify-expr`, whose rules are in `RULE_FILES`."""

from __future__ import annotations

from typing import Final

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.ir.walk import walk
from ...core.passes.base import StepwellPass
from ...lazy_dataclass import dataclass
from ...patterns.running.driver import Driver
from ...patterns.running.selection import selected
from ..shipped import rules_that_may_match, shipped_rules

RULE_FILES: Final = (
    "simplify",
    "simplify_arithmetic",
    "logic",
    "comparisons",
    "choices",
    "cancelling",
    "signs",
    "composites",
    "functions",
    "reductions",
    "movement",
    "products",
)
"""The rule files in the order in which their rules are tried."""


@dataclass(frozen=True)
class SimplifyExprPass(StepwellPass):
    """
    Applies identities of graph ops until none applies.

    The rules are those of twelve files in `rewrites/simplify/`, together (docs/rules.md lists them). `rules` (or
    `only`) picks some by name. With `numerics` as `strict` only exact rules run. `default` adds those that compute the
    same real function, and `fast` those that may lose NaN, inf or the sign of zero.

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
        if self.rules or self.only:
            rules = [rule for name in RULE_FILES for rule in shipped_rules(name)]
            Driver(ctx, selected(rules, (*self.rules, *self.only), self.numerics, self.name)).run(op)
            return
        tried: set[str] = set()
        while not (present := {each.name for each in walk(op)}) <= tried:
            tried |= present  # What rules make of these ops may let others match.
            rules = rules_that_may_match(tried, RULE_FILES, self.numerics)
            Driver(ctx, selected(rules, (), self.numerics, self.name)).run(op)
