"""
The conversion of `memref` to bare pointers.

A memref value is a pointer to its element (0, ..., 0). An access is one `getelementptr inbounds` on a linearised i64
index. Alignment is explicit on every access.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any

from xdsl.dialects import arith, llvm, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    MemRefType,
    StridedLayoutAttr,
    StringAttr,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from ...core.ir.literals import constant_of
from ...core.ir.symbols import symbol as symbol_of
from ...core.roles import BUFFER_ALIGNMENT, SEPARATE
from ...dialects import llvm_ext
from .addressing import (
    address,
    is_nontemporal,
    lane_alignment,
    layout_of,
    linear_index,
    load_value,
    store_value,
    summed,
)
from .attributes import NSW, NUW, number
from .heap import note_allocated, note_freed
from .llvm_body import ConversionTable, LLVMBody
from .types import PTR, MemRefLayout

ATOMIC_OF_KIND = {
    0: "fadd",
    1: "add",
    2: "xchg",
    3: "fmaximum",
    4: "max",
    5: "umax",
    6: "fminimum",
    7: "min",
    8: "umin",
    10: "or",
    11: "and",
}
"""The LLVM operation of each `arith` atomic kind. Kind 9 is `mulf`, which LLVM lacks."""


def convert_load(builder: LLVMBody, op: memref.LoadOp) -> None:
    layout = layout_of(builder, op.memref)
    pointer = address(builder, op.memref, layout, op.indices)
    alignment = lane_alignment(layout.value_type)
    loaded = load_value(builder, pointer, layout.value_type, alignment, nontemporal=is_nontemporal(op))
    builder.bind(op.res, loaded)


def convert_store(builder: LLVMBody, op: memref.StoreOp) -> None:
    layout = layout_of(builder, op.memref)
    pointer = address(builder, op.memref, layout, op.indices)
    alignment = lane_alignment(layout.value_type)
    store_value(builder, builder.value(op.value), pointer, alignment, nontemporal=is_nontemporal(op))


def convert_alloca(builder: LLVMBody, op: memref.AllocaOp) -> None:
    """
    Makes a stack slot.

    Slots lie at the start of the function, so that a loop does not grow the stack. In a function of several blocks only
    slots of the entry block can, because another block may be entered again while an older slot is still in use.
    """
    layout = layout_of(builder, op.memref)
    alignment = _alignment_of(op)
    count = max(layout.count, 1)
    if _in_entry_block(op):
        pointer = builder.stack_slot(layout.memory_type, count, alignment)
    else:
        properties = {"alignment": number(alignment), "elem_type": layout.memory_type}
        pointer = builder.emit(llvm.AllocaOp, (builder.constant(count),), PTR, properties)
    builder.alignment[pointer] = alignment
    builder.bind(op.memref, pointer)


def _alignment_of(op: memref.AllocaOp | memref.AllocOp) -> int:
    wanted = op.alignment
    return max(BUFFER_ALIGNMENT, 0 if wanted is None else wanted.value.data)


def _in_entry_block(op: Operation) -> bool:
    """Returns whether the function-level block around `op` is the first one."""
    inner: Operation = op
    while (parent := inner.parent_op()) is not None and not isinstance(parent, FuncOp):
        inner = parent
    return (
        inner.parent is not None and inner.parent.parent is not None and inner.parent is inner.parent.parent.first_block
    )


def convert_alloc(builder: LLVMBody, op: memref.AllocOp) -> None:
    """Calls `aligned_alloc`. A null result fails the function with the check "memref.alloc: allocation failed"."""
    layout = layout_of(builder, op.memref)
    if SEPARATE in op.attributes:
        _allocate_exactly(builder, op, layout)
        return
    alignment = _alignment_of(op)
    symbol = builder.state.external("aligned_alloc", [i64, i64], PTR)
    pointer = builder.call(symbol, (builder.constant(alignment), _allocated_bytes(builder, op, layout, alignment)), PTR)
    assert pointer is not None
    null = builder.emit(llvm.ZeroOp, (), PTR)
    address_bits = builder.emit(llvm.PtrToIntOp, (pointer,), i64)
    null_bits = builder.emit(llvm.PtrToIntOp, (null,), i64)
    _go_on_unless(builder, op, builder.icmp("eq", address_bits, null_bits))
    builder.alignment[pointer] = alignment
    note_allocated(builder, op, pointer)
    builder.bind(op.memref, pointer)


def _go_on_unless(builder: LLVMBody, op: memref.AllocOp, failed: SSAValue) -> None:
    """Fails the function where the allocation `failed`."""
    status = builder.state.check_number("memref.alloc: allocation failed", op)
    go_on = Block()
    builder.branch_if(failed, builder.fail(), (builder.constant(status, i32),), go_on, ())
    builder.start(go_on)


def _allocate_exactly(builder: LLVMBody, op: memref.AllocOp, layout: MemRefLayout) -> None:
    """
    Calls `posix_memalign` for exactly the bytes of a buffer, which a tool that checks memory then sees the end of.

    LLVM must not know that the address is aligned. It reads a few bytes as an aligned word or vector where it does,
    which is safe in buffers of whole alignments and an error beside this one.
    """
    symbol = builder.state.external("posix_memalign", [PTR, i64, i64], i32)
    slot = builder.stack_slot(PTR, 1, 8)
    size = builder.constant(max(layout.bytes, 1))
    found = builder.call(symbol, (slot, builder.constant(BUFFER_ALIGNMENT), size), i32)
    assert found is not None
    _go_on_unless(builder, op, builder.icmp("ne", found, builder.constant(0, i32)))
    pointer = builder.load(slot, PTR, 8)
    note_allocated(builder, op, pointer)
    builder.bind(op.memref, pointer)


def _allocated_bytes(builder: LLVMBody, op: memref.AllocOp, layout: MemRefLayout, alignment: int) -> SSAValue:
    """
    Returns the bytes of a buffer, rounded up to a multiple of the alignment, and not 0.

    Where they are not known, it is one alignment more.
    """
    if not op.dynamic_sizes:
        return builder.constant(max((layout.bytes + alignment - 1) // alignment, 1) * alignment)
    count = builder.value(op.dynamic_sizes[0])
    size = builder.emit(llvm.MulOp, (count, builder.constant(layout.element_bytes)), i64)
    more = builder.emit(llvm.AddOp, (size, builder.constant(alignment)), i64)
    return builder.emit(llvm.AndOp, (more, builder.constant(-alignment)), i64)


def convert_dealloc(builder: LLVMBody, op: memref.DeallocOp) -> None:
    symbol = builder.state.external("free", [PTR], None)
    builder.call(symbol, (builder.value(op.memref),), None)
    note_freed(builder, op)


def convert_get_global(builder: LLVMBody, op: memref.GetGlobalOp) -> None:
    layout_of(builder, op.memref)
    pointer = builder.emit(llvm.AddressOfOp, (), PTR, {"global_name": symbol_of(op.name_.string_value())})
    builder.alignment[pointer] = BUFFER_ALIGNMENT
    builder.bind(op.memref, pointer)


def is_place_of_views(op: arith.ConstantOp) -> bool:
    """Returns whether a constant only says where views begin: `convert_view` reads the number."""
    uses = op.results[0].uses
    return bool(uses) and all(isinstance(use.operation, memref.ViewOp) and use.index == 1 for use in uses)


def convert_view(builder: LLVMBody, op: memref.ViewOp) -> None:
    """Makes a typed view of the bytes of an arena from `byte_shift` on."""
    buffer, byte_shift = op.operands[:2]
    source = layout_of(builder, buffer)
    target = layout_of(builder, op.results[0])
    if not source.is_contiguous:
        builder.error(f"source {buffer.type} is not contiguous")
        return
    shift = constant_of(byte_shift)
    base = builder.value(buffer)
    known = builder.alignment.get(base, 1)
    if shift is None:
        pointer = builder.gep(base, builder.value(byte_shift), i8)
    else:
        if shift < 0 or shift + target.bytes > source.bytes:
            end = shift + target.bytes
            builder.error(f"view of bytes {shift} to {end} of a source of {source.bytes} bytes")
            return
        pointer = builder.gep(base, shift, i8) if shift else base
        if pointer is not base:
            builder.alignment[pointer] = gcd(known, shift)
    builder.bind(op.results[0], pointer)


def _offset_terms(op: Any) -> list[int | SSAValue]:
    """Returns the offsets of a subview or reinterpret_cast: integers where static, source values where not."""
    dynamic = iter(op.offsets)
    return [next(dynamic) if offset == DYNAMIC_INDEX else offset for offset in op.static_offsets.iter_values()]


def _moved(
    builder: LLVMBody,
    base: SSAValue,
    layout: MemRefLayout,
    offsets: list[int | SSAValue],
    strides: Sequence[int],
) -> SSAValue:
    """Returns `base` moved by `sum(offset * stride)` elements."""
    total, constant = linear_index(builder, strides, offsets, NSW)
    pointer = builder.value(base)
    if total is not None:
        if constant:
            total = summed(builder, total, builder.constant(constant), NSW)
        return builder.gep(pointer, total, layout.memory_type)
    if constant == 0:
        return pointer
    moved = builder.gep(pointer, constant, layout.memory_type)
    known = builder.alignment.get(pointer, layout.element_bytes)
    builder.alignment[moved] = gcd(known, abs(constant) * layout.element_bytes)
    return moved


def convert_subview(builder: LLVMBody, op: memref.SubviewOp) -> None:
    layout = layout_of(builder, op.source)
    layout_of(builder, op.result)
    builder.bind(op.result, _moved(builder, op.source, layout, _offset_terms(op), layout.strides))


def convert_reinterpret_cast(builder: LLVMBody, op: memref.ReinterpretCastOp) -> None:
    """Moves a pointer. The new offset counts from the start of the buffer, the pointer from the first element."""
    layout = layout_of(builder, op.source)
    layout_of(builder, op.result)
    assert isinstance(op.source.type, MemRefType)
    start = 0
    if isinstance(source_layout := op.source.type.layout, StridedLayoutAttr):
        offset = source_layout.get_offset()
        if offset is None:
            builder.error(f"source {op.source.type} has a dynamic offset")
            return
        start = offset
    offsets = _offset_terms(op)
    builder.bind(op.result, _moved(builder, op.source, layout, [*offsets, -start], [1] * (len(offsets) + 1)))


def convert_same_pointer(builder: LLVMBody, op: Operation) -> None:
    """Converts a cast or reshape that leaves every element where it is."""
    layout_of(builder, op.operands[0])
    layout_of(builder, op.results[0])
    builder.bind(op.results[0], builder.value(op.operands[0]))


def convert_reshape(builder: LLVMBody, op: memref.CollapseShapeOp | memref.ExpandShapeOp) -> None:
    layout_of(builder, op.result)
    builder.bind(op.result, builder.value(op.operands[0]))


def convert_assume_alignment(builder: LLVMBody, op: memref.AssumeAlignmentOp) -> None:
    pointer = builder.value(op.memref)
    builder.alignment[pointer] = max(builder.alignment.get(pointer, 1), op.alignment.value.data)
    builder.bind(op.result, pointer)


def convert_dim(builder: LLVMBody, op: memref.DimOp) -> None:
    layout = layout_of(builder, op.source)
    index = constant_of(op.index)
    if index is None or not 0 <= index < len(layout.shape):
        builder.error(f"dimension is not a constant from 0 to {len(layout.shape) - 1}")
        return
    if layout.shape[index] < 0:
        builder.error(f"dimension {index} of {op.source.type} is not known")
        return
    builder.bind(op.result, builder.constant(layout.shape[index]))


def convert_rank(builder: LLVMBody, op: memref.RankOp) -> None:
    builder.bind(op.rank, builder.constant(len(layout_of(builder, op.source).shape)))


def convert_pointer_as_index(builder: LLVMBody, op: memref.ExtractAlignedPointerAsIndexOp) -> None:
    pointer = builder.value(op.source)
    builder.bind(op.aligned_pointer, builder.emit(llvm.PtrToIntOp, (pointer,), i64))


def convert_atomic(builder: LLVMBody, op: memref.AtomicRMWOp) -> None:
    layout = layout_of(builder, op.memref)
    kind = ATOMIC_OF_KIND.get(op.kind.value.data)
    if kind is None or layout.is_boolean:
        builder.error(f"kind {op.kind.value.data} on {layout.value_type} has no atomic instruction")
        return
    pointer = address(builder, op.memref, layout, op.indices)
    properties = {
        "kind": StringAttr(kind),
        "ordering": StringAttr("acq_rel"),
        "alignment": number(layout.element_bytes),
    }
    operands = (pointer, builder.value(op.value))
    builder.bind(op.result, builder.emit(llvm_ext.AtomicRMWOp, operands, layout.value_type, properties))


def convert_copy(builder: LLVMBody, op: memref.CopyOp) -> None:
    """Calls `memmove` when both sides are contiguous (maybe the same buffer), and makes element loops otherwise."""
    source, target = layout_of(builder, op.source), layout_of(builder, op.destination)
    if source.shape != target.shape or source.value_type != target.value_type:
        builder.error(f"source is {op.source.type} but destination is {op.destination.type}")
        return
    if source.count == 0:
        return
    from_pointer, to_pointer = builder.value(op.source), builder.value(op.destination)
    if source.is_contiguous and target.is_contiguous:
        size = builder.constant(source.bytes)
        not_volatile = builder.constant(0, i1)
        builder.intrinsic("llvm.memmove", (to_pointer, from_pointer, size, not_volatile), None)
        return
    _copy_loops(builder, source, target, from_pointer, to_pointer)


def _copy_loops(
    builder: LLVMBody, source: MemRefLayout, target: MemRefLayout, from_pointer: SSAValue, to_pointer: SSAValue
) -> None:
    """Makes a loop per dimension, with pointers that move along by the strides."""
    shape, alignment = source.shape, lane_alignment(source.value_type)
    loops: list[tuple[Block, SSAValue, int]] = []
    for extent, from_stride, to_stride in zip(shape, source.strides, target.strides, strict=True):
        body = Block(arg_types=[i64])
        builder.branch(body, (builder.constant(0),))
        builder.start(body)
        index = body.args[0]
        from_step = builder.mul(index, builder.constant(from_stride), NSW)
        to_step = builder.mul(index, builder.constant(to_stride), NSW)
        from_pointer = builder.gep(from_pointer, from_step, source.memory_type)
        to_pointer = builder.gep(to_pointer, to_step, source.memory_type)
        loops.append((body, index, extent))
    loaded = builder.load(from_pointer, source.memory_type, alignment)
    builder.store(loaded, to_pointer, alignment)
    for body, index, extent in reversed(loops):
        following = builder.add(index, builder.constant(1), NSW | NUW)
        more = builder.icmp("slt", following, builder.constant(extent))
        done = Block()
        builder.branch_if(more, body, (following,), done, ())
        builder.start(done)


CONVERSIONS: ConversionTable = {
    memref.LoadOp: convert_load,
    memref.StoreOp: convert_store,
    memref.AllocaOp: convert_alloca,
    memref.AllocOp: convert_alloc,
    memref.DeallocOp: convert_dealloc,
    memref.GetGlobalOp: convert_get_global,
    memref.ViewOp: convert_view,
    memref.SubviewOp: convert_subview,
    memref.ReinterpretCastOp: convert_reinterpret_cast,
    memref.CastOp: convert_same_pointer,
    memref.MemorySpaceCastOp: convert_same_pointer,
    memref.CollapseShapeOp: convert_reshape,
    memref.ExpandShapeOp: convert_reshape,
    memref.AssumeAlignmentOp: convert_assume_alignment,
    memref.DimOp: convert_dim,
    memref.RankOp: convert_rank,
    memref.ExtractAlignedPointerAsIndexOp: convert_pointer_as_index,
    memref.AtomicRMWOp: convert_atomic,
    memref.CopyOp: convert_copy,
}
