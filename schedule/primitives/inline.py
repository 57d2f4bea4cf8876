"""Primitives that compute an element where it is used: compute_inline, reverse_compute_inline."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.schedule.ops import ComputeInlineOp, ReverseComputeInlineOp
from ...dialects.tensor_loop import BlockOp
from ...dialects.tensor_loop.syntax import value_name
from .buffers import (
    axes_at,
    axes_of_reads,
    check_unread,
    check_unstored,
    check_untouched,
    check_unwritten,
    check_writes_once,
    hoist_buffers,
    inline_body,
    is_temporary,
    loads_in,
    only_store,
    store_to_temporary,
    time_of,
    users_of,
)
from .dependences import check_order_known
from .errors import refuse
from .nests import block_name, check_covers_axes, clone_located, erase, erase_nest, is_alone
from .steps import step

LAST = 1 << 62


def _check_elementwise(block: BlockOp) -> None:
    if block.has_reduce_axes:
        refuse(f"{block_name(block)} has reduce axes: its result is complete after all its runs only", block)
    check_order_known(block)


def _check_limits(block: BlockOp) -> None:
    """Refuses a predicate that says more than that an axis ends where its extent says."""
    limits = dict(zip(block.binding_exprs, block.extents, strict=True))
    for expr, bound in block.constraints:
        if limits.get(expr) != bound:
            refuse(f"{block_name(block)} runs under a condition, so it does not compute every element", block)


@step(ComputeInlineOp)
def compute_inline(block: BlockOp) -> None:
    """
    Computes the elements of a temporary where they are loaded.

    Args:
        block: The block that writes the temporary. It is gone afterwards.

    Legal for a block without reduce axes that alone writes a temporary, one element at its axes. Nobody writes after it
    the buffers that it reads.

    Before and after `compute_inline("add")`:

        block "add" { T[vi] = A[vi] + 1 }  block "mul" { C[vi] = T[vi] * 2 }
        block "mul" { C[vi] = (A[vi] + 1) * 2 }
    """
    _check_elementwise(block)
    store = store_to_temporary(block)
    buffer = store.memref
    users = users_of(buffer, block)
    for user in users:
        if user.stores and user.block is not block:
            refuse(f"{block_name(user.block)} writes {value_name(buffer)} too", block, user.block)
    check_unread(block, buffer)
    axes = axes_at(block, store.indices, buffer)
    _check_limits(block)
    for axis, extent in enumerate(block.extents):
        if axis not in axes and extent != 1:
            refuse(f"axis {value_name(block.axes[axis])} does not choose the element that is written", block)
    for axis, extent in zip(axes, buffer.type.get_shape(), strict=True):  # pyright: ignore[reportAttributeAccessIssue]
        if axis is not None and block.extents[axis] != extent:
            refuse(f"{block_name(block)} does not compute every element of {value_name(buffer)}", block)
    check_unwritten([load.memref for load in loads_in(block)], time_of(block), LAST, block)
    for user in users:
        for load in user.loads:
            values = _axis_values(block, axes, load.indices, load)
            load.res.replace_all_uses_with(inline_body(block, values, load))
            erase(load)
    for user in users:
        if user.block is not block:
            user.block.refresh_regions()
    erase_nest(block)
    assert isinstance(buffer.owner, Operation)
    erase(buffer.owner)


def _axis_values(
    block: BlockOp, axes: list[int | None], indices: tuple[SSAValue, ...] | object, before: Operation
) -> dict[SSAValue, SSAValue]:
    values: dict[SSAValue, SSAValue] = {}
    for axis, index in zip(axes, list(indices), strict=True):  # pyright: ignore[reportCallIssue, reportArgumentType]
        if axis is not None:
            values[block.axes[axis]] = index
    for argument in block.axes:
        if argument not in values:
            zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
            zero.location = before.location
            Rewriter.insert_op(zero, InsertPoint.before(before))
            values[argument] = zero.result
    return values


@step(ReverseComputeInlineOp)
def reverse_compute_inline(block: BlockOp) -> None:
    """
    Computes a block on the elements of a temporary where they are stored.

    Args:
        block: The block that reads the temporary. It is gone afterwards.

    Legal for a block without reduce axes that alone reads a temporary, at its axes, and visits every element. One block
    without reduce axes writes the temporary, and no element twice. Between the two, nobody else touches what the
    reading block writes, or writes what it reads.

    Before and after `reverse_compute_inline("mul")`:

        block "add" { T[vi] = A[vi] + 1 }  block "mul" { C[vi] = T[vi] * 2 }
        block "add" { C[vi] = (A[vi] + 1) * 2 }
    """
    _check_elementwise(block)
    store = only_store(block)
    found = [load.memref for load in loads_in(block) if is_temporary(load.memref)]
    candidates = [buffer for buffer in dict.fromkeys(found) if _has_writer(buffer, block)]
    if len(candidates) != 1:
        refuse(f"{block_name(block)} reads {len(candidates)} temporaries that one block writes, expected one", block)
    (buffer,) = candidates
    users = users_of(buffer, block)
    producer = next(user.block for user in users if user.stores)
    _check_pair(block, producer, buffer)
    check_writes_once(block)
    axes = axes_of_reads(block, buffer)
    _check_points(block, producer, buffer, axes)
    start, end = time_of(producer), time_of(block)
    if start == end or not is_alone(block):
        refuse(f"{block_name(block)} shares its loops with other blocks", block)
    check_unwritten([load.memref for load in loads_in(block) if load.memref is not buffer], start, end, block)
    check_untouched(store.memref, start, end, block)
    written = only_store(producer)
    values = _axis_values(block, axes, written.indices, written)
    _forward(block, producer, buffer, values)
    erase_nest(block)
    assert isinstance(buffer.owner, Operation)
    producer.refresh_regions()
    erase(buffer.owner)
    hoist_buffers(producer)


def _has_writer(buffer: SSAValue, block: BlockOp) -> bool:
    return any(user.stores and user.block is not block for user in users_of(buffer, block))


def _check_pair(block: BlockOp, producer: BlockOp, buffer: SSAValue) -> None:
    for user in users_of(buffer, block):
        if user.block not in (block, producer):
            refuse(f"{block_name(user.block)} uses {value_name(buffer)} too", block, user.block)
    if producer.has_reduce_axes:
        refuse(
            f"{block_name(producer)} has reduce axes: {value_name(buffer)} is complete after all its runs only",
            block,
            producer,
            hint="reverse_compute_at moves the block under a loop that holds all of them",
        )
    check_order_known(producer, block)
    check_unread(producer, buffer)
    if only_store(producer).memref is not buffer:
        refuse(f"{block_name(producer)} writes more than {value_name(buffer)}", producer)
    check_unstored(block, buffer)


def _check_points(block: BlockOp, producer: BlockOp, buffer: SSAValue, axes: list[int | None]) -> None:
    """Checks that both blocks visit every element of the buffer."""
    stored = axes_at(producer, only_store(producer).indices, buffer)
    for each, places in ((block, axes), (producer, stored)):
        check_covers_axes(each, block)
        for axis, extent in zip(places, buffer.type.get_shape(), strict=True):  # pyright: ignore[reportAttributeAccessIssue]
            if axis is not None and each.extents[axis] != extent:
                refuse(f"{block_name(each)} does not visit every element of {value_name(buffer)}", block, each)
        if any(axis not in places and extent != 1 for axis, extent in enumerate(each.extents)):
            refuse(f"{block_name(each)} visits elements of {value_name(buffer)} more than once", block, each)


def _forward(block: BlockOp, producer: BlockOp, buffer: SSAValue, values: dict[SSAValue, SSAValue]) -> None:
    """Replaces the store of the producer by the body of the block."""
    written = only_store(producer)
    known = dict(values)
    for op in list(block.body.block.ops):
        if op.name == "tensor_loop.yield":
            continue
        copy = clone_located(op, known)
        Rewriter.insert_op(copy, InsertPoint.before(written))
    for load in list(loads_in(producer)):
        if load.memref is buffer:
            load.res.replace_all_uses_with(written.value)
            erase(load)
    erase(written)
