"""The terminator of every region of the dialect."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.irdl import irdl_op_definition, traits_def
from xdsl.traits import IsTerminator, Pure, SingleBlockImplicitTerminator, ensure_terminator

from ...core.ir.reprs import ShownOp


@irdl_op_definition
class YieldOp(ShownOp):
    """Ends the body of a function, loop, block or init. It carries nothing and is never printed in the custom form."""

    name = "tensor_loop.yield"

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


def complete_bodies(op: Operation) -> None:
    """
    Adds the implicit terminator where a region of `op` lacks it.

    It does nothing while the regions are still empty, which is how `Operation.clone` makes an op before it fills it.
    """
    if not all(region.blocks for region in op.regions):
        return
    for trait in op.get_traits_of_type(SingleBlockImplicitTerminator):
        ensure_terminator(op, trait)
