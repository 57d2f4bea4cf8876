"""The pass `fuse-matmul-add`, whose rule is in `matmul_add.mlir`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.passes.base import StepwellPass
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import is_closed
from ...patterns.running.driver import Driver
from ..shipped import shipped_rules


@dataclass(frozen=True)
class FuseMatmulAddPass(StepwellPass):
    """
    Moves each matrix product with the addition after it into a fused function of its own.

    The addition must be the only user of the product (else a remark says so) and must not stretch it. Its other operand
    may be on either side. Fused and partitioned functions, and those for another compiler, are left alone.

    Before:
        %0 = graph.matmul %x, %w : …
        %1 = graph.add %0, %b : …
    After:
        %1 = func.call @fused_matmul_add0(%x, %w, %b) : …
        func.func private @fused_matmul_add0(%x, %w, %b) attributes {graph.primitive} { … }
    """

    name = "fuse-matmul-add"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        Driver(ctx, shipped_rules("matmul_add"), enter=lambda each: not is_closed(each)).run(op)
