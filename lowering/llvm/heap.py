"""Frees what a function holds on the heap when it returns early because a check failed."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import llvm, memref
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...core.walk import ops_of
from .builder import Builder
from .types import PTR

_VIEWS = (memref.CastOp, memref.ReinterpretCastOp, memref.MemorySpaceCastOp, memref.AssumeAlignmentOp)


def allocation_of(value: SSAValue) -> memref.AllocOp | None:
    """The `memref.alloc` whose buffer `value` is, seen through casts; `None` when it comes from elsewhere."""
    owner = value.owner
    while isinstance(owner, _VIEWS):
        owner = owner.operands[0].owner
    return owner if isinstance(owner, memref.AllocOp) else None


@dataclass
class HeapTracker:
    """
    One stack slot per `memref.alloc` holds the live buffer or null; the failing return frees every slot.

    Only when every `memref.dealloc` of the function names its allocation: otherwise a slot could keep a
    pointer that was freed through another name, and leaking is better than freeing twice.
    """

    slots: dict[memref.AllocOp, SSAValue] = field(default_factory=dict)

    @staticmethod
    def for_function(function: FuncOp) -> HeapTracker | None:
        """A tracker, or `None` when the function allocates nothing or frees buffers of unknown origin."""
        allocates = False
        for op in ops_of(function, memref.AllocOp, memref.DeallocOp):
            if isinstance(op, memref.AllocOp):
                allocates = True
            elif allocation_of(op.memref) is None:
                return None
        return HeapTracker() if allocates else None

    def allocated(self, builder: Builder, op: memref.AllocOp, pointer: SSAValue) -> None:
        """Notes that the buffer of `op` is live."""
        slot = builder.stack_slot(PTR, 1, 8)
        null = llvm.ZeroOp.create(result_types=(PTR,))
        clear = llvm.StoreOp(null.results[0], slot, alignment=8)
        builder.prologue += (null, clear)
        self.slots[op] = slot
        builder.store(pointer, slot, 8)

    def freed(self, builder: Builder, op: memref.DeallocOp) -> None:
        """Notes that the buffer was freed."""
        allocation = allocation_of(op.memref)
        if allocation is not None and (slot := self.slots.get(allocation)) is not None:
            builder.store(builder.emit(llvm.ZeroOp, (), PTR), slot, 8)

    def release(self, builder: Builder) -> None:
        """Frees what is live; `free(null)` does nothing."""
        for slot in self.slots.values():
            symbol = builder.state.external("free", [PTR], None)
            builder.call(symbol, (builder.load(slot, PTR, 8),), None)
