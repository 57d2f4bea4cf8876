"""
Hides from LLVM how the addresses of register tiles follow from loop variables.

The schedule has put the elements of a tile at constant distances from one address, which an x86 or Arm instruction adds
for nothing, and `addressing.address` those of vectors. LLVM's loop strength reduction does not know that this is done.
It looks for the best of all ways to share additions between up to a hundred addresses, which takes half of the time in
which it makes machine code of a convolution. What it finds is no faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from xdsl.dialects import llvm
from xdsl.ir import Block, SSAValue

from ...core.attributes import shared_string
from ...core.ir.walk import ops_in
from .attributes import NO_BUNDLES, NO_FASTMATH, segments
from .types import PTR

# pyright: reportPrivateUsage=false
# Each property of xDSL costs a call, and there are some 30 000 ops.

LEAST_DISTANCES: Final = 8
"""The addresses at constant distances from one that make it the base of a tile. Loops unrolled by LLVM have fewer."""

HIDING: Final = "llvm.strip.invariant.group"
"""
The intrinsic whose result is its operand, which scalar evolution does not look through, and alias analysis does.

It makes no instruction. No pointer of ours belongs to an invariant group, so it removes nothing either.
"""


def hide_tile_bases(blocks: Sequence[Block]) -> None:
    """
    Lets the addresses of a tile be distances from a pointer that loop strength reduction takes as it is.

    Before: `%p = getelementptr %A[%i]`, and many `getelementptr %p[constant]`. After: these are of `%q`, where
    `%q = llvm.call_intrinsic "llvm.strip.invariant.group"(%p)`. Accesses of `%p` itself become those of `%q`.
    """
    for block in blocks:
        for op in ops_in(block):
            if type(op) is llvm.GEPOp and len(op._operands) > 1 and _distances(op.results[0]) >= LEAST_DISTANCES:
                _hide(op, block)


def _distances(pointer: SSAValue) -> int:
    """Returns the number of addresses that are constant distances from `pointer`."""
    operations = [use._operation for use in pointer.uses]
    return sum(type(each) is llvm.GEPOp and len(each._operands) == 1 for each in operations)


def _hide(base: llvm.GEPOp, block: Block) -> None:
    pointer = base.results[0]
    properties = {
        "intrin": shared_string(HIDING),
        "fastmathFlags": NO_FASTMATH,
        "op_bundle_sizes": NO_BUNDLES,
        "operandSegmentSizes": segments(1, 0),
    }
    hidden = llvm.CallIntrinsicOp.create(operands=(pointer,), result_types=(PTR,), properties=properties)
    hidden.location = base.location
    pointer.replace_uses_with_if(hidden.results[0], lambda use: use.operation is not hidden)
    block.insert_op_after(hidden, base)
