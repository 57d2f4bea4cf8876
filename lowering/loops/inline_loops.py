"""
The removal of buffers inside a loop function: pass `inline-loops`.

Before: block "add" stores `%T[i]`, block "exp" loads `%T[i]`.
After: block "exp" computes the sum itself, and `%T` is gone.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from ...core.ir.literals import float_of
from ...core.ir.walk import walk
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass
from ...dialects import tensor_loop
from ...lazy_dataclass import dataclass
from .inline_blocks import FunctionFacts, drop_unread, erase, forward_to_output, inline_producer, is_inside


@dataclass(frozen=True)
class InlineLoopsPass(StepwellPass):
    """
    Removes temporaries of loop functions: producers are computed where they are read, results accumulate in place.

    Before:
        %a = tensor_loop.alloc : memref<8xf32>
        tensor_loop.grid (%i) in (8) { tensor_loop.block "exp" … { <store exp of load %x[%vi], %a[%vi]> } }
        tensor_loop.grid (%i) in (8) { tensor_loop.block "add" … { <store sum of load %a[%vi], load %y[%vi],
            %out[%vi]> } }
    After:
        tensor_loop.grid (%i) in (8) { tensor_loop.block "add" … { <store sum of exp of load %x[%vi], load %y[%vi],
            %out[%vi]> } }

    Where a tensor of ones has been inlined, products with them and quotients by them go.

    A producer is inlined when it is elementwise (spatial axes only, one store, no run-time check) and this repeats no
    arithmetic: each of its elements is read once, or it only moves data. A temporary that an elementwise block copies
    into an output at the same index, as after a matrix product, is replaced by that output. A temporary that nothing
    reads goes.
    """

    name = "inline-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, tensor_loop.FuncOp) and allowed("loops", self.name, function):
                self._run(function)

    def _run(self, function: tensor_loop.FuncOp) -> None:
        allocs = [op for op in function.body.block.ops if isinstance(op, tensor_loop.AllocOp)]
        changed: dict[tensor_loop.BlockOp, None] = {}
        inlined: list[tensor_loop.AllocOp] = []
        facts = FunctionFacts(function)
        # The last temporary comes first. A long chain is then copied into its end op by op, not over and over as it
        # grows.
        for alloc in reversed(allocs):
            if drop_unread(alloc, facts):
                self.count("unread temporaries dropped")
            elif readers := inline_producer(alloc, facts):
                inlined.append(alloc)
                changed |= dict.fromkeys(readers)
                self.count("producers inlined")
        for block in changed:
            if is_inside(block, function):
                self.count("factors of one left out", _leave_out_ones(block))
                block.refresh_regions()
        for alloc in inlined:
            erase(alloc)
        for alloc in [alloc for alloc in allocs if alloc.parent is not None]:
            if forward_to_output(function, alloc):
                self.count("temporaries replaced by outputs")


def _leave_out_ones(block: tensor_loop.BlockOp) -> int:
    """Erases products of a block whose right operand is 1, and quotients by 1. Returns how many."""
    ones = [op for op in walk(block) if isinstance(op, arith.MulfOp | arith.DivfOp) and float_of(op.rhs) == 1.0]
    for op in ones:
        one = op.rhs.owner
        Rewriter.replace_op(op, [], [op.lhs])
        if isinstance(one, Operation) and one.results[0].first_use is None:
            Rewriter.erase_op(one)
    return len(ones)
