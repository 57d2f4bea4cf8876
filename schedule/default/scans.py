"""Grids whose outer loops need their order, as running sums, with an inner loop that needs none."""

from __future__ import annotations

from xdsl.dialects import memref, scf
from xdsl.ir.affine import AffineDimExpr
from xdsl.irdl import IRDLOperation

from ...analysis.access_regions import Access, body_accesses, root_buffer, stride_along
from ...analysis.affine import linear_terms
from ...analysis.loop_nests import levels_of, perfect_block
from ...core.ir.walk import walk
from ...dialects.schedule import OrderAttr
from ...dialects.tensor_loop import BlockOp, GridOp, YieldOp
from ..kernels.contraction import bound_in_order
from .loop_order import MIN_VECTOR_EXTENT, LoopOrder, level_name, reordered


def decide_scan(grid: GridOp) -> LoopOrder | None:
    """
    Returns the order of a grid whose innermost loop may run on vectors though others may not change places.

    So it is with sums down the columns of a matrix, `y[i, j] = y[i - 1, j] + x[i, j]`. Each iteration of the innermost
    loop has elements of its own in all that the block writes.
    """
    levels = levels_of(grid)
    block = perfect_block(levels)
    if block is None or block.init is not None or block.constraints or not bound_in_order(grid, block):
        return None
    extent, inner = block.extents[-1], len(levels) - 1
    if not isinstance(extent, int) or extent < MIN_VECTOR_EXTENT or not all(map(_is_plain, walk(block.body))):
        return None
    accesses = body_accesses(block.body.block).accesses
    written = {access.buffer for access in accesses if access.is_store}
    buffers = {access.buffer for access in accesses}
    if len({root_buffer(buffer) for buffer in buffers}) != len(buffers):
        return None
    if not written or any(_row_of(access, inner) is None for access in accesses if access.buffer in written):
        return None
    if any(len({_row_of(access, inner) for access in accesses if access.buffer is each}) > 1 for each in written):
        return None
    for access in accesses:
        if stride_along(access, block.binding_exprs, inner) not in ((1,) if access.is_store else (0, 1)):
            return None
    return LoopOrder(levels, True, f"the other loops keep their order, and {level_name(levels[-1])} walks along memory")


def given_order(grid: GridOp, given: OrderAttr) -> LoopOrder:
    """
    Returns the order of the loops of `grid` that its block asks for. Fails at the block where it does not fit.

    Loops that must keep their order may only ask for what `decide_scan` finds.
    """
    scan = decide_scan(grid)
    if scan is not None and given == OrderAttr.of(scan.numbers, scan.vectorized):
        return scan
    return reordered(grid, given)


def _is_plain(op: object) -> bool:
    if isinstance(op, memref.LoadOp | memref.StoreOp | scf.IfOp | scf.YieldOp | YieldOp | BlockOp):
        return True
    return isinstance(op, IRDLOperation) and op.dialect_name() in ("arith", "math")


def _row_of(access: Access, axis: int) -> tuple[int, int] | None:
    """Returns the dimension that `axis` alone chooses, and what is added to it there."""
    for dimension, index in enumerate(access.indices):
        if index is None or axis not in index.used_dims():
            continue
        terms, offset = linear_terms(index)
        return (dimension, offset) if terms == {AffineDimExpr(axis): 1} else None
    return None
