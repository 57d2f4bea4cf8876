"""The terminator of every region of the dialect."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.irdl import irdl_op_definition, traits_def
from xdsl.traits import IsTerminator, Pure, SingleBlockImplicitTerminator, ensure_terminator

from ...core.ir.appending import append_op, fill_op
from ...core.ir.reprs import ShownOp

# pyright: reportPrivateUsage=false


@irdl_op_definition
class YieldOp(ShownOp):
    """Ends the body of a function, loop, block or init. It carries nothing and is never printed in the custom form."""

    name = "tensor_loop.yield"

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        fill_op(self)


def complete_bodies(op: Operation) -> None:
    """
    Adds the implicit terminator where a region of `op` lacks it.

    It does nothing while the regions are still empty, which is how `Operation.clone` makes an op before it fills it.
    """
    blocks = [block for region in op.regions if (block := region._first_block) is not None]
    if len(blocks) != len(op.regions):
        return
    for block in blocks:
        last = block._last_op
        if last is None or not last.has_trait(IsTerminator, value_if_unregistered=False):
            append_op(block, YieldOp, (), (), {})
        elif type(last) is not YieldOp:
            break
    if any(block._next_block is not None or type(block._last_op) is not YieldOp for block in blocks):
        for trait in op.get_traits_of_type(SingleBlockImplicitTerminator):
            ensure_terminator(op, trait)  # It takes 20 µs, and says what is wrong.
