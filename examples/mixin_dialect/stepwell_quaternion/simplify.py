"""The pass `simplify-quaternions`: the rules of rules.mlir, applied until none fits."""

from dataclasses import dataclass
from pathlib import Path

from stepwell.core import StepwellPass
from stepwell.rewrites import ApplyPatternsPass
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

RULES = Path(__file__).parent / "rules.mlir"


@dataclass(frozen=True)
class SimplifyQuaternionsPass(StepwellPass):
    """Applies the rules about quaternions. Those that round differently need `numerics=default`."""

    name = "simplify-quaternions"
    numerics: str = "strict"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ApplyPatternsPass(str(RULES), numerics=self.numerics).apply(ctx, op)
