"""The proof that loop functions read nothing that they have not written: pass `prove-written`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr

from ...analysis.ranges.coverage import is_written
from ...core.passes.base import StepwellPass
from ...core.roles import WRITTEN
from ...dialects.tensor_loop import FuncOp
from ...lazy_dataclass import dataclass


@dataclass(frozen=True)
class ProveWrittenPass(StepwellPass):
    """
    Marks loop functions that are proven to read no element before they write it, and to write all of their outputs.

    Before: `tensor_loop.func @copy(%A: memref<8xf32>) outs(%B: memref<8xf32>) { ... }`
    After: `tensor_loop.func @copy(%A: memref<8xf32>) outs(%B: memref<8xf32>) attributes {stepwell.written} { ... }`

    It runs before loops are scheduled, since the proof is easy there. What keeps the meaning of a function keeps the
    mark. The functions that `lower-graph-to-loops` makes have it from the start. `guard-accesses` and
    `lower-loops-to-scf` put checks into functions without it where they cannot prove it either.
    """

    name = "prove-written"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, FuncOp) and WRITTEN not in function.attributes and is_written(function):
                function.attributes[WRITTEN] = UnitAttr()
                self.count("functions proven")
