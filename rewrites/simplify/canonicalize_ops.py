"""The pass `canonicalize-ops`, whose rules are in `canonicalize_ops.mlir`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.passes.base import StepwellPass
from ...lazy_dataclass import dataclass
from ...patterns.running.driver import Driver
from ..shipped import shipped_rules


@dataclass(frozen=True)
class CanonicalizeOpsPass(StepwellPass):
    """
    Writes `bias_add` as an addition of the expanded bias.

    Before:
        %0 = graph.bias_add %x, %bias : (tensor<1x3x4x4xf32>, tensor<3xf32>) -> …
    After:
        %0 = graph.expand_dims %bias, axis = [1, 2] : (tensor<3xf32>) -> tensor<3x1x1xf32>
        %1 = graph.add %x, %0 : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> …
    """

    name = "canonicalize-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        Driver(ctx, shipped_rules("canonicalize_ops")).run(op)
