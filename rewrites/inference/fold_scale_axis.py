"""The pass `fold-scale-axis`, whose rules are in `fold_scale_axis.mlir`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from ...core.passes.base import StepwellPass
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import is_closed
from ...patterns.running.driver import Driver
from ...patterns.running.selection import selected
from ..shipped import shipped_rules
from .scale_axis import CONTRACTIONS

DIRECTIONS = {"both": ("forward", "backward"), "fwd": ("forward",), "bwd": ("backward",)}
"""
The option `direction` and the rules that it runs, one kind to its end after the other: they would undo each other.
"""


@dataclass(frozen=True)
class FoldScaleAxisPass(StepwellPass):
    """
    Multiplies weights by factors per channel instead of data.

    With `bwd` a factor after a convolution or matrix product goes up into its weights, through additions per channel
    and relu. With `fwd` a factor before it goes down, also through pooling. Factor and weights are literals or made of
    literals, or the weights are an argument. Across relu the factor must be a literal greater than zero. The ops
    between have no other user. `fold-constant` then computes the new weights. `numerics="strict"` turns the pass off.
    Fused functions are left alone.

    Before:
        %0 = graph.conv2d %x, %w : …
        %1 = graph.add %0, %b : …
        %2 = graph.relu %1 : …
        %3 = graph.multiply %2, %s : …
    After:
        %0 = graph.multiply %w, %s1 : …
        %1 = graph.conv2d %x, %0 : …
        %2 = graph.multiply %b, %s : …
        %3 = graph.add %1, %2 : …
        %4 = graph.relu %3 : …
    """

    name = "fold-scale-axis"

    direction: str = "both"
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.direction not in DIRECTIONS:
            expected = ", ".join(DIRECTIONS)
            raise PassFailedException(f"{self.name}: direction is '{self.direction}', expected one of {expected}")
        names = {each.name for each in op.walk()}
        if self.numerics == "default" and ("graph.multiply" not in names or names.isdisjoint(CONTRACTIONS)):
            return  # The rules need not even be read.
        rules = selected(shipped_rules("fold_scale_axis"), (), self.numerics, self.name)
        changed = True
        while changed:  # This ends, because each round that changes something removes one multiplication of data.
            changed = False
            for kind in DIRECTIONS[self.direction]:
                own = [rule for rule in rules if rule.name.startswith(kind)]
                # Conditions look far, so the effects of a rewrite elsewhere show in the next round only.
                changed |= Driver(ctx, own, enter=lambda each: not is_closed(each)).run(op)
