"""The pass `simplify-inference`, whose rules are in `simplify_inference.mlir`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.passes.base import StepwellPass
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import Purity, is_closed
from ...patterns.running.driver import Driver, is_dead, program_order
from ...patterns.running.selection import selected
from ..shipped import rule_names, shipped_rules

NAMES = frozenset(
    f"graph.{name}"
    for name in ("batch_norm", "layer_norm", "instance_norm", "group_norm", "l2_normalize", "rms_norm", "dropout")
) | {"graph.quantize", "graph.dequantize"}
"""The ops that the rules take. Most programs have none."""


@dataclass(frozen=True)
class SimplifyInferencePass(StepwellPass):
    """
    Writes normalisations and conversions of quantised tensors as arithmetic and drops dropout, as in inference.

    An op stays when a result other than its first is used. `rules` picks some rules by name. `numerics="strict"` leaves
    only the exact rules, those of dropout, `quantize` and `dequantize`. Fused functions are left alone.

    Before:
        %0, %1, %2 = graph.batch_norm %x, %gamma, %beta, %mean, %var : …
    After:
        %0 = graph.add %var, %epsilon : …
        %1 = graph.sqrt %0 : …
        %2 = graph.divide %one, %1 : …
        %3 = graph.multiply %2, %gamma : …
        %4 = graph.negative %mean : …
        %5 = graph.multiply %4, %3 : …
        %6 = graph.add %5, %beta : …
        %7 = graph.expand_dims %3, axis = [1, 2] : …
        %8 = graph.expand_dims %6, axis = [1, 2] : …
        %9 = graph.multiply %x, %7 : …
        %10 = graph.add %9, %8 : …
    """

    name = "simplify-inference"

    rules: tuple[str, ...] = ()
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        before = set(program_order(op))
        if not any(each.name in NAMES for each in before) and self._is_plain():
            return  # The rules need not even be read.
        rules = selected(shipped_rules("simplify_inference"), self.rules, self.numerics, self.name)
        if Driver(ctx, rules, enter=lambda each: not is_closed(each)).run(op):
            purity = Purity(op)
            for made in [each for each in program_order(op) if each not in before]:
                if is_dead(made, purity):  # the mask of a dropout, which nothing uses
                    made.detach()
                    made.erase()

    def _is_plain(self) -> bool:
        """Returns whether the options need no error: the rules exist, and none of them is left out by its class."""
        return self.numerics == "default" and rule_names("simplify_inference").issuperset(self.rules)
