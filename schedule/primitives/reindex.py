"""The primitive reindex: a buffer of which a block uses each element at the values of its axes."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.access_regions import body_accesses
from ...analysis.affine import bounds
from ...dialects.schedule.ops import ReindexOp
from ...dialects.tensor_loop import BlockOp
from ...dialects.tensor_loop.syntax import value_name
from .buffers import (
    check_separate,
    drop_unused_arithmetic,
    emit_affine,
    new_alloc,
    only_store,
    spatial_nest,
    static_type,
    time_of,
    users_of,
)
from .dependences import check_order_known
from .errors import refuse
from .nests import axes_block, block_name, check_covers_axes, erase, top_of
from .staging import buffer_of, check_reads_own
from .steps import step


@step(ReindexOp)
def reindex(block: BlockOp, which: str, index: int) -> BlockOp:
    """
    Replaces a buffer that a block accesses by one with a dimension for each axis that chooses the element.

    The block that copies is returned.

    Args:
        block: The block that accesses the buffer.
        which: "read" or "write".
        index: The number of the buffer among those that the block reads or writes.

    Legal where all accesses of the buffer in the block are at the same sums of axes, inside it for all their values.
    Nobody in the nest of the block writes a buffer that the block reads. Where the block writes the buffer, different
    values of the spatial axes give different elements. It then alone writes the buffer in its nest, and reads no
    element that it has not written.

    Before and after `reindex("conv", "read", 0)`:

        block "conv" { C[vi] += A[2 * vi + vw] * W[vw] }
        block "A_reindex" { T[vd0, vd1] = A[2 * vd0 + vd1] }  block "conv" { C[vi] += T[vi, vw] * W[vw] }
    """
    buffer = buffer_of(block, which, index)
    type_ = static_type(buffer, block)
    check_order_known(block)
    time = time_of(block)
    for user in users_of(buffer, block):
        if user.time == time and (user.block is not block if which == "write" else user.stores):
            refuse(f"{block_name(user.block)} uses {value_name(buffer)} in the same nest", block, user.block)
    indices = _indices(block, buffer, type_)
    axes = sorted({dim for expr in indices for dim in expr.used_dims()})
    if not axes:
        refuse(f"no axis of {block_name(block)} chooses an element of {value_name(buffer)}", block)
    if which == "write":
        _check_written(block, buffer, indices)
    shape = [extent for axis in axes if isinstance(extent := block.extents[axis], int)]
    name = f"{buffer.name_hint or 'buffer'}_reindex"
    own = new_alloc(MemRefType(type_.element_type, shape), name, "global", block).memref
    renamed: list[AffineExpr] = [AffineExpr.constant(0) for _ in block.axes]
    for number, axis in enumerate(axes):
        renamed[axis] = AffineDimExpr(number)
    places = [expr.replace_dims_and_symbols(renamed, ()) for expr in indices]
    made = _copy(block, name, (buffer, places), own, shape, which)
    _redirect(block, buffer, own, [block.axes[axis] for axis in axes])
    return made


def _indices(block: BlockOp, buffer: SSAValue, type_: MemRefType) -> list[AffineExpr]:
    """
    Returns where the block accesses the buffer, over its axes. Refuses several places, and places that may lie outside.
    """
    found = {access.indices for access in body_accesses(block.body.block).accesses if access.buffer is buffer}
    if len(found) != 1:
        refuse(f"{block_name(block)} accesses {value_name(buffer)} at {len(found)} places, expected one", block)
    (indices,) = found
    ranges = [(0, extent - 1) if isinstance(extent, int) else None for extent in block.extents]
    known: list[AffineExpr] = []
    for expr, size in zip(indices, type_.get_shape(), strict=True):
        interval = None if expr is None else bounds(expr, ranges)
        if expr is None or interval is None:
            refuse(f"an index of {value_name(buffer)} in {block_name(block)} is no sum of axes", block)
        if interval[0] < 0 or interval[1] >= size:
            refuse(
                f"{block_name(block)} may access {value_name(buffer)} at {interval[0]} … {interval[1]} of {size}", block
            )
        known.append(expr)
    return known


def _check_written(block: BlockOp, buffer: SSAValue, indices: list[AffineExpr]) -> None:
    check_reads_own(block, buffer)
    only_store(block)
    check_covers_axes(block)
    check_separate(block, buffer, indices)
    spatial = {axis for axis, kind in enumerate(block.kinds) if kind == "spatial"}
    if any(expr.used_dims() - spatial for expr in indices):
        refuse(f"reduce axes of {block_name(block)} choose what it writes of {value_name(buffer)}", block)


def _copy(
    block: BlockOp,
    name: str,
    place: tuple[SSAValue, list[AffineExpr]],
    own: SSAValue,
    shape: list[int],
    which: str,
) -> BlockOp:
    """
    Makes the nest that copies between the buffer at its places and the new one, before or after the nest of the block.
    """
    buffer, places = place
    body = axes_block(len(shape))
    if which == "read":
        store = memref.StoreOp.get(body.args[0], own, body.args)
        body.add_op(store)
        load = memref.LoadOp.get(buffer, [emit_affine(expr, body.args, store) for expr in places])
        body.insert_op_before(load, store)
        store.operands[0] = load.res
        at = InsertPoint.before(top_of(block))
    else:
        load = memref.LoadOp.get(own, body.args)
        body.add_op(load)
        indices = [emit_affine(expr, body.args, load) for expr in places]
        body.add_op(memref.StoreOp.get(load.res, buffer, indices))
        at = InsertPoint.after(top_of(block))
    return spatial_nest(name, shape, body, at, block)


def _redirect(block: BlockOp, old: SSAValue, new: SSAValue, indices: list[SSAValue]) -> None:
    """Has the block access `new` at `indices` wherever it accesses `old`."""
    for op in list(block.walk()):
        if isinstance(op, memref.LoadOp) and op.memref is old:
            replacement = memref.LoadOp.get(new, indices)
            replacement.res.name_hint = op.res.name_hint
            op.res.replace_all_uses_with(replacement.res)
        elif isinstance(op, memref.StoreOp) and op.memref is old:
            replacement = memref.StoreOp.get(op.value, new, indices)
        else:
            continue
        replacement.location = op.location
        Rewriter.insert_op(replacement, InsertPoint.before(op))
        erase(op)
    drop_unused_arithmetic(block)
    block.refresh_regions()
