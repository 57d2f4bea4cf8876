"""Primitives that change the shape of buffers: transform_layout, pad_to_tile."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, IntegerType, MemRefType, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.affine import affine_of_value, bounds, linear_terms
from ...analysis.reductions import accumulators
from ...core.messages.articles import quoted
from ...dialects.schedule.ops import PadToTileOp, TransformLayoutOp
from ...dialects.tensor_loop import BlockOp
from ...dialects.tensor_loop.syntax import value_name
from .affine import simplify, told_apart
from .buffers import (
    axes_at,
    copy_nest,
    drop_unused_arithmetic,
    emit_affine,
    is_temporary,
    loads_in,
    new_alloc,
    only_store,
    replace_alloc,
    replace_buffer,
    spatial_nest,
    static_type,
    stores_in,
    users_of,
)
from .dependences import orderless
from .errors import refuse
from .nests import axes_block, block_name, covers_axes, erase, function_of, is_alone, loops_of, rebind, top_of
from .reshape import check_plain
from .staging import buffer_of
from .steps import Number, step


@step(TransformLayoutOp)
def transform_layout(block: BlockOp, which: str, index: int, mapping: AffineMap) -> None:
    """
    Stores the element `x` of a buffer at `mapping(x)` instead.

    A temporary just changes its shape. An argument that the function only reads is copied to a new buffer first, by a
    block such as "B_packed".

    Args:
        block: A block that accesses the buffer.
        which: "read" or "write".
        index: The number of the buffer among those that the block reads or writes.
        mapping: The new index for each old one.

    Legal where different elements go to different places. Outputs keep their layout.

    Before and after `transform_layout("mm", "read", 1, (k, j) -> (j floordiv 16, k, j mod 16))`:

        B : memref<8x32xf32> … load B[vk, vj]
        T : memref<2x8x16xf32> … load T[vj floordiv 16, vk, vj mod 16]
    """
    buffer = buffer_of(block, which, index)
    type_ = static_type(buffer, block)
    shape = type_.get_shape()
    if mapping.num_dims != len(shape) or mapping.num_symbols:
        refuse(f"the map takes {mapping.num_dims} indices but {value_name(buffer)} has {len(shape)}", block)
    ranges = [(0, extent - 1) for extent in shape]
    results = [simplify(expr, ranges) for expr in mapping.results]
    intervals = [bounds(expr, ranges) for expr in results]
    if any(interval is None or interval[0] < 0 for interval in intervals):
        refuse(f"the map sends elements of {value_name(buffer)} to negative or unknown places", block)
    told = told_apart(
        [(linear_terms(expr)[0], 0) for expr in results],
        [dim for dim, extent in enumerate(shape) if extent == 1],
        ranges,
    )
    if told != set(range(len(shape))):
        refuse(f"the map may send two elements of {value_name(buffer)} to one place", block)
    new_type = MemRefType(type_.element_type, [interval[1] + 1 for interval in intervals if interval is not None])
    users = users_of(buffer, block)
    if is_temporary(buffer):
        new = replace_alloc(buffer, new_type)
    elif any(user.stores for user in users) or which == "write":
        refuse(
            f"{value_name(buffer)} is an output: only the caller can change its layout", block, hint="cache_write first"
        )
    else:
        name = f"{buffer.name_hint or 'buffer'}_packed"
        first = next(iter(function_of(block).body.block.ops))
        new = new_alloc(new_type, name, "global", first).memref
        assert isinstance(new.owner, Operation)
        _pack(name, buffer, new, results, shape, block)
    for user in users:
        for op in (*user.loads, *user.stores):
            _move_access(op, new, results)
        drop_unused_arithmetic(user.block)
        user.block.refresh_regions()
    if isinstance(buffer.owner, Operation):
        erase(buffer.owner)


def _pack(
    name: str,
    source: SSAValue,
    target: SSAValue,
    results: Sequence[AffineExpr],
    shape: Sequence[int],
    like: BlockOp,
) -> BlockOp:
    body = axes_block(len(shape))
    load = memref.LoadOp.get(source, body.args)
    body.add_op(load)
    places = [emit_affine(expr, body.args, load) for expr in results]
    body.add_op(memref.StoreOp.get(load.res, target, places))
    assert isinstance(target.owner, Operation)
    return spatial_nest(name, shape, body, InsertPoint.after(target.owner), like)


def _move_access(op: memref.LoadOp | memref.StoreOp, new: SSAValue, results: Sequence[AffineExpr]) -> None:
    indices = [emit_affine(expr, list(op.indices), op) for expr in results]
    if isinstance(op, memref.LoadOp):
        replacement = memref.LoadOp.get(new, indices)
        replacement.res.name_hint = op.res.name_hint
        op.res.replace_all_uses_with(replacement.res)
    else:
        replacement = memref.StoreOp.get(op.value, new, indices)
    replacement.location = op.location
    Rewriter.insert_op(replacement, InsertPoint.before(op))
    erase(op)


# Padding


_TRAPPING = (
    "arith.divsi",
    "arith.divui",
    "arith.remsi",
    "arith.remui",
    "arith.floordivsi",
    "arith.ceildivsi",
    "arith.ceildivui",
)


@step(PadToTileOp)
def pad_to_tile(block: BlockOp, multiples: Sequence[Number]) -> None:
    """
    Rounds the extents of the axes of a block up to multiples, so that tiles divide them.

    Args:
        block: The block.
        multiples: One positive number per axis.

    Legal for a block alone in its nest whose axes are bound to its loops one to one. Where a padded axis chooses an
    element, the index is the axis itself. A padded spatial axis chooses the element that is stored. A padded reduce
    axis must add up elements that it chooses, or products whose two factors it chooses, so that it adds zeros.

    Before and after `pad_to_tile("mul", [8])`:

        for %i in 30 { block "mul" (vi in 30) { C[vi] = A[vi] * 2 } }
        <P = A followed by two zeros>  for %i in 32 { block "mul" (vi in 32) { Q[vi] = P[vi] * 2 } }  <C = 30 of Q>
    """
    if len(multiples) != len(block.axes) or any(multiple < 1 for multiple in multiples):
        refuse(
            (
                f"multiples {list(multiples)} for the {len(block.axes)} axes of {block_name(block)}, expected one "
                "positive number each"
            ),
            block,
        )
    blame = orderless(block)
    if blame is not None or not is_alone(block):
        refuse(f"{block_name(block)} shares its loops with other blocks" if blame is None else blame.reason, block)
    loops = loops_of(block)
    bound = [
        block.binding_operands[expr.position] if isinstance(expr, AffineDimExpr) else None
        for expr in block.binding_exprs
    ]
    if {loop.variable for loop in loops} != set(bound) or block.constraints or not covers_axes(block):
        refuse(f"the axes of {block_name(block)} are not bound to its loops one to one", block)
    for loop in loops:
        check_plain(loop)
    extents = [extent for extent in block.extents if isinstance(extent, int)]
    padded = [-(-extent // multiple) * multiple for extent, multiple in zip(extents, multiples, strict=True)]
    grown = {axis for axis, extent in enumerate(extents) if padded[axis] != extent}
    if not grown:
        return
    _check_paddable(block, grown)
    out = only_store(block).memref
    _check_pads_written(block, out)
    read = [buffer for buffer in dict.fromkeys(load.memref for load in loads_in(block)) if buffer is not out]
    for buffer in read:
        _pad_read(block, buffer, grown, padded)
    _pad_written(block, out, grown, padded)
    by_variable = {value: padded[axis] for axis, value in enumerate(bound)}
    for loop in loops:
        loop.static_extents = DenseArrayBase.from_list(i64, [by_variable[loop.variable]])
    rebind(block, block.binding_exprs, list(block.binding_operands), (), None, padded)


def _check_paddable(block: BlockOp, grown: set[int]) -> None:
    for op in block.walk():
        if op.name in _TRAPPING or op.name.startswith("tile."):
            refuse(f"{block_name(block)} holds {quoted(op.name)}, which zeros may not reach", block)
    for op in (*loads_in(block), *stores_in(block)):
        static_type(op.memref, block)
        mentioned = [index for index in op.indices if _mentions(index, block, grown)]
        beyond = [
            axis
            for index, extent in zip(op.indices, static_type(op.memref, block).get_shape(), strict=True)
            for axis in grown
            if index is block.axes[axis] and block.kinds[axis] == "reduce" and block.extents[axis] != extent
        ]
        if beyond:
            refuse(f"{block_name(block)} does not reduce all of {value_name(op.memref)}", block)
        if any(index not in block.axes for index in mentioned):
            refuse(f"{block_name(block)} indexes {value_name(op.memref)} by more than an axis that is padded", block)
    for axis in grown:
        if any(use.operation.name not in ("memref.load", "memref.store") for use in block.axes[axis].uses):
            refuse(f"{block_name(block)} computes with {value_name(block.axes[axis])}, which is padded", block)
        if block.kinds[axis] == "reduce" and not _adds_zeros(block, axis):
            refuse(f"padding {value_name(block.axes[axis])} would change the reduction of {block_name(block)}", block)
    _check_axes_store(block, grown)


def _check_axes_store(block: BlockOp, grown: set[int]) -> None:
    """Refuses a padded spatial axis that does not choose the element that is stored."""
    chosen = axes_at(block, only_store(block).indices, only_store(block).memref)
    for axis in grown - set(chosen):
        if block.kinds[axis] == "spatial":
            # The iterations in the padding come last, so what they write into the same element would stay.
            name = value_name(block.axes[axis])
            refuse(
                f"{block_name(block)} writes the same elements for each {name}, which is padded",
                block,
                hint="a padded spatial axis is an index of the store",
            )


def _check_pads_written(block: BlockOp, out: SSAValue) -> None:
    """
    Checks that the result of the padded block, cut off, is what the block wrote.

    It must write all of its buffer and keep nothing of the old contents.
    """
    if loads_in(block, out) and block.init is None:
        refuse(f"{block_name(block)} reads {value_name(out)} as it was before", block)
    store_axes = axes_at(block, only_store(block).indices, out)
    for axis, extent in zip(store_axes, static_type(out, block).get_shape(), strict=True):
        if axis is not None and block.extents[axis] != extent:
            refuse(f"{block_name(block)} does not write every element of {value_name(out)}", block)


def _mentions(index: SSAValue, block: BlockOp, axes: set[int]) -> bool:
    dims: dict[SSAValue, int] = {axis: number for number, axis in enumerate(block.axes)}
    expr = affine_of_value(index, dims)
    return expr is None or bool(expr.used_dims() & axes)


def _adds_zeros(block: BlockOp, axis: int) -> bool:
    """Returns whether iterations of the axis beyond its extent, in which all that it chooses is zero, add nothing."""
    found = accumulators(block)
    if found is None or len(found) != 1:
        return False
    update = found[0].store.value.owner
    if not isinstance(update, arith.AddfOp | arith.AddiOp) or len(found[0].loads) != 1:
        return False
    old = found[0].loads[0].res
    added = update.rhs if update.lhs is old else update.lhs
    product = added.owner
    factors = product.operands if isinstance(product, arith.MulfOp | arith.MuliOp) else (added,)
    return all(
        isinstance(factor.owner, memref.LoadOp) and block.axes[axis] in factor.owner.indices for factor in factors
    )


def _padded_shape(
    block: BlockOp, op: memref.LoadOp | memref.StoreOp, grown: set[int], padded: Sequence[int]
) -> list[int]:
    shape = list(op.memref.type.get_shape())  # pyright: ignore[reportAttributeAccessIssue]
    for dimension, index in enumerate(op.indices):
        for axis in grown:
            if index is block.axes[axis]:
                extent = block.extents[axis]
                assert isinstance(extent, int)
                shape[dimension] = max(shape[dimension], padded[axis])
    return shape


def _pad_read(block: BlockOp, buffer: SSAValue, grown: set[int], padded: Sequence[int]) -> None:
    """Has the block read a copy of `buffer` with zeros after it, where padded axes choose its elements."""
    type_ = static_type(buffer, block)
    loads = loads_in(block, buffer)
    shapes = [_padded_shape(block, load, grown, padded) for load in loads]
    shape = [max(sizes) for sizes in zip(*shapes, strict=True)]
    if shape == list(type_.get_shape()):
        return
    name = f"{buffer.name_hint or 'buffer'}_padded"
    copy = new_alloc(MemRefType(type_.element_type, shape), name, "global", block).memref
    at = top_of(block)
    body: Block = axes_block(len(shape))
    zero = arith.ConstantOp(
        IntegerAttr(0, type_.element_type)
        if isinstance(type_.element_type, IntegerType)
        else FloatAttr(0.0, type_.element_type)  # pyright: ignore[reportArgumentType, reportCallIssue]
    )
    body.add_ops([zero, memref.StoreOp.get(zero.result, copy, body.args)])
    spatial_nest(f"{name}_zero", shape, body, InsertPoint.before(at), block)
    copy_nest(name, buffer, copy, type_.get_shape(), InsertPoint.before(at), block)
    replace_buffer(block, buffer, copy)


def _pad_written(block: BlockOp, out: SSAValue, grown: set[int], padded: Sequence[int]) -> None:
    type_ = static_type(out, block)
    shape = _padded_shape(block, only_store(block), grown, padded)
    if shape == list(type_.get_shape()):
        return
    name = f"{out.name_hint or 'buffer'}_padded"
    own = new_alloc(MemRefType(type_.element_type, shape), name, "global", block).memref
    copy_nest(f"{name}_crop", own, out, type_.get_shape(), InsertPoint.after(top_of(block)), block)
    replace_buffer(block, out, own)
