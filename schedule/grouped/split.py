"""
Makes the group of a grouped convolution an axis of its own.

Before, 8 groups of 32 channels:

    tensor_loop.grid (.., %co, %ci) in (.., 256, 32) {
      tensor_loop.block "conv2d" spatial(.., %vco in 256 = %co) reduce(%vci in 32 = %ci) {
        out[.., %vco] += x[.., %vco floordiv 32 * 32 + %vci] * w[%vci, %vco] } }

After:

    tensor_loop.grid (.., %g, %co, %ci) in (.., 8, 32, 32) {
      tensor_loop.block "conv2d" spatial(.., %vg in 8 = %g, %vco in 32 = %co) reduce(%vci in 32 = %ci) {
        out[.., %vg * 32 + %vco] += x[.., %vg * 32 + %vci] * w[%vci, %vg * 32 + %vco] } }
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation
from xdsl.ir.affine import AffineDimExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...core.ir.walk import ops_of
from ...dialects.tensor_loop import BlockOp, GridOp
from .channels import GroupedChannels, grouped_channels, quotients_of


def split_all_groups(module: ModuleOp) -> int:
    """Splits the channels of all grouped convolutions, and returns how many there are."""
    count = 0
    for grid in ops_of(module, GridOp):
        channels = grouped_channels(grid)
        if channels is not None:
            split_groups(channels)
            count += 1
    return count


def split_groups(channels: GroupedChannels) -> GridOp:
    """Replaces a grid by one that has the group as an axis of its own, and returns that."""
    grid, block, axis = channels.grid, channels.block, channels.axis
    extents = [*grid.extents]
    extents[axis : axis + 1] = [channels.groups, channels.outs]
    names = [variable.name_hint for variable in grid.variables]
    new = GridOp(extents, [*names[:axis], "g", *names[axis:]])
    kinds = [*block.kinds[:axis], "spatial", *block.kinds[axis:]]
    _put_group(channels)
    bindings = [AffineDimExpr(number) for number in range(len(extents))]
    moved = BlockOp(block.block_name.data, kinds, extents, bindings, new.variables, block.detach_region(block.body))
    moved.attributes.update(block.attributes)
    new.attributes.update(grid.attributes)
    moved.location, new.location = block.location, grid.location
    body = new.body.block
    assert body.last_op is not None
    body.insert_op_before(moved, body.last_op)
    Rewriter.replace_op(grid, new)
    return new


def _put_group(channels: GroupedChannels) -> None:
    """Replaces the axis of the channels by two, in the body of the block."""
    block = channels.block
    body = block.body.block
    whole = body.args[channels.axis]
    quotients = [v for v, found in quotients_of(block).items() if found == (channels.axis, channels.outs)]
    group = body.insert_arg(IndexType(), channels.axis)
    inner = body.insert_arg(IndexType(), channels.axis + 1)
    group.name_hint, inner.name_hint = "vg", whole.name_hint
    for quotient in quotients:
        quotient.replace_all_uses_with(group)
        assert isinstance(quotient.owner, Operation)
        Rewriter.erase_op(quotient.owner)
    if block.init is not None:
        _compose(block.init.body.block, whole, group, inner, channels, InsertPoint.at_start(block.init.body.block))
    start = InsertPoint.at_start(body) if block.init is None else InsertPoint.after(block.init)
    _compose(body, whole, group, inner, channels, start)
    body.erase_arg(whole)


def _compose(
    body: Block,
    whole: BlockArgument,
    group: BlockArgument,
    inner: BlockArgument,
    channels: GroupedChannels,
    start: InsertPoint,
) -> None:
    """Computes `group * OUTS + inner` at the start of `body`, for all that uses the whole channel in it."""
    uses = [use for use in whole.uses if body.is_ancestor(use.operation)]
    if not uses:
        return
    outs = arith.ConstantOp(IntegerAttr(channels.outs, IndexType()))
    first = arith.MuliOp(group, outs.result)
    place = arith.AddiOp(first.result, inner)
    for op in (outs, first, place):
        op.location = channels.block.location
    Rewriter.insert_op([outs, first, place], start)
    for use in uses:
        use.operation.operands[use.index] = place.result
