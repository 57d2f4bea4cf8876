"""Frees what a function holds on the heap when it returns early because a check failed."""

from __future__ import annotations

from xdsl.dialects import llvm, memref
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...core.ir.walk import ops_of
from .llvm_body import LLVMBody
from .types import PTR

_VIEWS = (memref.CastOp, memref.ReinterpretCastOp, memref.MemorySpaceCastOp, memref.AssumeAlignmentOp)


def allocation_of(value: SSAValue) -> memref.AllocOp | None:
    """Returns the `memref.alloc` whose buffer `value` is, seen through casts, or None when there is none."""
    owner = value.owner
    while isinstance(owner, _VIEWS):
        owner = owner.operands[0].owner
    return owner if isinstance(owner, memref.AllocOp) else None


def heap_slots(function: FuncOp) -> dict[memref.AllocOp, SSAValue] | None:
    """
    Returns an empty table, or None when the function allocates nothing or frees buffers of unknown origin.

    In the table each `memref.alloc` gets a stack slot, which holds the live buffer or null. The failing return frees
    every slot. So every `memref.dealloc` of the function must name its allocation. Otherwise a slot could keep a
    pointer that was freed through another name, and leaking is better than freeing twice.
    """
    allocates = False
    for op in ops_of(function, memref.AllocOp, memref.DeallocOp):
        if isinstance(op, memref.AllocOp):
            allocates = True
        elif allocation_of(op.memref) is None:
            return None
    return {} if allocates else None


def note_allocated(builder: LLVMBody, op: memref.AllocOp, pointer: SSAValue) -> None:
    """Notes that the buffer of `op` is live."""
    if builder.heap is None:
        return
    slot = builder.heap[op] = builder.stack_slot(PTR, 1, 8)
    null = llvm.ZeroOp.create(result_types=(PTR,))
    clear = llvm.StoreOp(null.results[0], slot, alignment=8)
    builder.prologue += (null, clear)
    builder.store(pointer, slot, 8)


def note_freed(builder: LLVMBody, op: memref.DeallocOp) -> None:
    """Notes that the buffer was freed."""
    allocation = allocation_of(op.memref)
    if builder.heap is not None and allocation is not None and (slot := builder.heap.get(allocation)) is not None:
        builder.store(builder.emit(llvm.ZeroOp, (), PTR), slot, 8)


def free_live_buffers(builder: LLVMBody) -> None:
    """Frees the buffers that are live. `free(null)` does nothing."""
    for slot in (builder.heap or {}).values():
        symbol = builder.state.external("free", [PTR], None)
        builder.call(symbol, (builder.load(slot, PTR, 8),), None)
