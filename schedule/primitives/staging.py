"""Primitives that keep parts of buffers elsewhere: cache_read, cache_write, reindex, set_scope, storage_align."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint

from ...analysis.reductions import accumulators
from ...dialects.schedule.ops import CacheReadOp, CacheWriteOp, SetScopeOp, StorageAlignOp
from ...dialects.schedule.staging import WRONG_BUFFER
from ...dialects.tensor_loop import AllocOp, BlockOp
from ...dialects.tensor_loop.function import SCOPES, UNKNOWN_SCOPE
from ...dialects.tensor_loop.syntax import value_name
from .buffers import (
    axes_at,
    copy_nest,
    is_temporary,
    loads_in,
    new_alloc,
    only_store,
    replace_alloc,
    replace_buffer,
    static_type,
    stores_in,
    time_of,
    users_of,
)
from .dependences import check_order_known
from .errors import refuse
from .nests import block_name, covers_axes, erase, top_of
from .steps import step


def buffer_of(block: BlockOp, which: str, index: int) -> SSAValue:
    """Returns buffer number `index` of those that `block` reads (`which` is "read") or writes ("write")."""
    if which not in ("read", "write"):
        refuse(WRONG_BUFFER.format(which), block)
    return read_buffer(block, index) if which == "read" else written_buffer(block, index)


def read_buffer(block: BlockOp, index: int) -> SSAValue:
    """Returns buffer number `index` of those that `block` reads."""
    return _numbered(block, [region.buffer for region in block.reads], index, "reads")


def written_buffer(block: BlockOp, index: int) -> SSAValue:
    """Returns buffer number `index` of those that `block` writes."""
    return _numbered(block, [region.buffer for region in block.writes], index, "writes")


def _numbered(block: BlockOp, buffers: list[SSAValue], index: int, verb: str) -> SSAValue:
    if not 0 <= index < len(buffers):
        names = ", ".join(value_name(buffer) for buffer in buffers) or "nothing"
        refuse(f"{block_name(block)} {verb} {names}: there is no buffer number {index}", block)
    return buffers[index]


def _check_scope(block: BlockOp, scope: str) -> None:
    if scope not in SCOPES:
        refuse(UNKNOWN_SCOPE.format(scope), block)


@step(CacheReadOp)
def cache_read(block: BlockOp, index: int, scope: str = "global") -> BlockOp:
    """
    Copies a buffer that a block reads, and has the block read the copy.

    The block that copies is returned, for `compute_at`.

    Args:
        block: The block that reads.
        index: The number of the buffer among those that the block reads.
        scope: Where the copy lives: "global" or "local".

    Legal where nothing in the nest of the block writes the buffer.

    Before and after `cache_read("mul", 0)`:

        block "mul" { C[vi] = A[vi] * 2 }
        for %d0 in 8 { block "A_cache" { T[vd0] = A[vd0] } }  block "mul" { C[vi] = T[vi] * 2 }
    """
    _check_scope(block, scope)
    buffer = read_buffer(block, index)
    type_ = static_type(buffer, block)
    check_order_known(block)
    time = time_of(block)
    for user in users_of(buffer, block):
        if user.time == time and user.stores:
            refuse(
                f"{block_name(user.block)} writes {value_name(buffer)} in the same nest, so a copy would miss it",
                block,
                user.block,
            )
    name = buffer.name_hint or "buffer"
    copy = new_alloc(MemRefType(type_.element_type, type_.get_shape()), f"{name}_cache", scope, block).memref
    made = copy_nest(f"{name}_cache", buffer, copy, type_.get_shape(), InsertPoint.before(top_of(block)), block)
    replace_buffer(block, buffer, copy)
    return made


@step(CacheWriteOp)
def cache_write(block: BlockOp, index: int, scope: str = "global") -> BlockOp:
    """
    Has a block write a buffer of its own, which is copied to where the block wrote.

    The block that copies is returned, for `reverse_compute_at`.

    Args:
        block: The block that writes.
        index: The number of the buffer among those that the block writes.
        scope: Where the new buffer lives: "global" or "local".

    Legal where the block writes every element of the buffer at its axes, reads none that it has not written, and
    nothing else in its nest touches the buffer.

    Before and after `cache_write("mul", 0)`:

        block "mul" { C[vi] = A[vi] * 2 }
        block "mul" { T[vi] = A[vi] * 2 }  for %d0 in 8 { block "C_cache" { C[vd0] = T[vd0] } }
    """
    _check_scope(block, scope)
    buffer = written_buffer(block, index)
    type_ = static_type(buffer, block)
    check_order_known(block)
    time = time_of(block)
    for user in users_of(buffer, block):
        if user.time == time and user.block is not block:
            refuse(
                f"{block_name(user.block)} touches {value_name(buffer)} in the same nest as {block_name(block)}",
                block,
                user.block,
            )
    _check_writes_all(block, buffer)
    name = buffer.name_hint or "buffer"
    own = new_alloc(MemRefType(type_.element_type, type_.get_shape()), f"{name}_cache", scope, block).memref
    made = copy_nest(f"{name}_cache", own, buffer, type_.get_shape(), InsertPoint.after(top_of(block)), block)
    replace_buffer(block, buffer, own)
    return made


def check_reads_own(block: BlockOp, buffer: SSAValue) -> None:
    """Refuses where an element is read that the block has not written."""
    loads = loads_in(block, buffer)
    if loads and (block.init is None or accumulators(block) is None):
        hint = "stage it before its init is decomposed" if block.has_reduce_axes else None
        refuse(f"{block_name(block)} reads {value_name(buffer)} as it was before", block, hint=hint)
    if block.init is not None and not any(
        block.init.is_ancestor(store) for store in stores_in(block) if store.memref is buffer
    ):
        refuse(f"the init of {block_name(block)} does not set {value_name(buffer)}", block)


def _check_writes_all(block: BlockOp, buffer: SSAValue) -> None:
    """Checks that every element is written before it is read."""
    assert isinstance(buffer.type, MemRefType)
    check_reads_own(block, buffer)
    store = only_store(block)
    axes = axes_at(block, store.indices, buffer)
    full = all(
        axis is None or block.extents[axis] == extent
        for axis, extent in zip(axes, buffer.type.get_shape(), strict=True)
    )
    if not full or not covers_axes(block):
        refuse(f"{block_name(block)} is not known to write every element of {value_name(buffer)}", block)


@step(SetScopeOp)
def set_scope(block: BlockOp, index: int, scope: str) -> None:
    """
    Says where a temporary that a block writes should live.

    Args:
        block: The block that writes.
        index: The number of the buffer among those that the block writes.
        scope: "global" or "local".

    Legal for temporaries.

    Before and after `set_scope("mul", 0, "local")`:

        %T = alloc : memref<8xf32>
        %T = alloc scope "local" : memref<8xf32>
    """
    _check_scope(block, scope)
    buffer = written_buffer(block, index)
    if not isinstance(buffer.owner, AllocOp):
        refuse(f"{value_name(buffer)} is an argument of the function, expected a temporary", block)
    buffer.owner.scope = StringAttr(scope)


@step(StorageAlignOp)
def storage_align(block: BlockOp, index: int, dimension: int, factor: int, offset: int = 0) -> None:
    """
    Sets how far apart neighbours along a dimension of a temporary stand.

    The next dimension grows by elements that nobody touches.

    Args:
        block: The block that writes the temporary.
        index: The number of the buffer among those that the block writes.
        dimension: The dimension, from 0 on.
        factor: Neighbours stand a multiple of so many elements apart, plus `offset`.
        offset: Less than `factor`.

    Legal for temporaries and dimensions before the last, where the sizes of the dimensions after the next one allow
    such a distance.

    Before and after `storage_align("mul", 0, 0, 16, 8)`:

        %T = alloc : memref<12x20xf32>
        %T = alloc : memref<12x24xf32>
    """
    buffer = written_buffer(block, index)
    type_ = static_type(buffer, block)
    if not is_temporary(buffer):
        refuse(f"{value_name(buffer)} is an argument of the function, expected a temporary", block)
    shape = list(type_.get_shape())
    if not 0 <= dimension < len(shape) - 1:
        refuse(
            f"dimension {dimension} of {value_name(buffer)}, which has {len(shape)}: expected one before the last",
            block,
        )
    users = users_of(buffer, block)
    inner = prod(shape[dimension + 2 :])
    least = shape[dimension + 1]
    grown = next((n for n in range(least, least + factor) if (n * inner - offset) % factor == 0), None)
    if grown is None:
        refuse(
            f"no size of dimension {dimension + 1} of {value_name(buffer)} makes steps of {inner} elements add up to "
            f"{offset} more than a multiple of {factor}",
            block,
        )
    shape[dimension + 1] = grown
    new = replace_alloc(buffer, MemRefType(type_.element_type, shape))
    buffer.replace_all_uses_with(new)
    assert isinstance(buffer.owner, AllocOp)
    erase(buffer.owner)
    for user in users:
        user.block.refresh_regions()
