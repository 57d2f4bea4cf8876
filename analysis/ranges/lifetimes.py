"""What is plainly wrong with buffers as a whole: sizes that no memory holds, and frees of what is not to be freed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StridedLayoutAttr
from xdsl.dialects.func import CallOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...core.ir.walk import walk
from ...core.messages.locations import nearest_source_point
from .linear import LIMIT
from .plain import Fault
from .values import element_bytes

STACK: Final = 1 << 20
"""The most bytes that one `memref.alloca` may have. Threads have stacks of a few million."""

_CASTS: Final = (memref.CastOp, memref.ReinterpretCastOp, memref.MemorySpaceCastOp, memref.AssumeAlignmentOp)


def buffer_faults(function: Operation) -> Iterator[Fault]:
    """Yields what is wrong with the buffers of a function, in program order."""
    for region in function.regions:
        for block in region.blocks:
            for argument in block.args:
                yield from _size_fault(function, argument)
    for op in walk(function):
        kind = op.__class__
        if kind is memref.DeallocOp:
            yield from _free_fault(op)
        elif op.results and op.results[0].type.__class__ is MemRefType:
            yield from _size_fault(op, op.results[0])


def _size_fault(op: Operation, buffer: SSAValue) -> Iterator[Fault]:
    kind = buffer.type
    if not isinstance(kind, MemRefType):
        return
    size = bytes_spanned(kind)
    if size >= LIMIT:
        hint = "places in a buffer are signed integers of 64 bits"
        yield Fault(op, f"{_name(buffer)} of type {kind} spans {size} bytes, expected fewer than 2**63", hint)
    elif isinstance(op, memref.AllocaOp) and size > STACK:
        hint = "use memref.alloc for large buffers"
        yield Fault(op, f"{_name(buffer)} takes {size} bytes of the stack, expected at most {STACK}", hint)


def bytes_spanned(kind: MemRefType) -> int:
    """Returns the bytes from the first element of a buffer to its last. A size that is not known counts as 1."""
    shape = [1 if extent == DYNAMIC_INDEX else extent for extent in kind.get_shape()]
    if 0 in shape:
        return 0
    if isinstance(kind.layout, StridedLayoutAttr):
        strides = [stride or 0 for stride in kind.layout.get_strides()]
        last = sum((extent - 1) * abs(stride) for extent, stride in zip(shape, strides, strict=True))
        return (last + 1) * element_bytes(kind)
    total = element_bytes(kind)
    for extent in shape:
        total *= extent
    return total


def _free_fault(op: Operation) -> Iterator[Fault]:
    """Says what is wrong with a `memref.dealloc`: it frees what it must not, or something uses the buffer later."""
    buffer = op.operands[0]
    while isinstance(buffer.owner, _CASTS):
        buffer = buffer.owner.operands[0]
    name, owner = _name(buffer), buffer.owner
    hint = "only a buffer of memref.alloc is freed, once, in the block that makes it"
    if isinstance(buffer, BlockArgument):
        yield Fault(op, f"{name} is an argument, expected a buffer of memref.alloc", hint)
    elif not isinstance(owner, memref.AllocOp | CallOp):
        assert isinstance(owner, Operation)
        yield Fault(op, f"{name} is made by '{owner.name}', expected a buffer of memref.alloc", hint)
    elif owner.parent_block() is not op.parent_block():
        yield Fault(op, f"{name} is made in another block{_line(owner)}, and may be freed never or twice", hint)
    else:
        late = _use_after(op, buffer)
        if late is not None:
            yield Fault(late, f"uses {name}, which is freed{_line(op)}", "free it after its last use")


def _use_after(free: Operation, buffer: SSAValue) -> Operation | None:
    """Returns an op that uses a buffer, or a view of it, after it was freed."""
    block = free.parent_block()
    assert block is not None
    order = {op: position for position, op in enumerate(block.ops)}
    pending, seen = [buffer], {buffer}
    while pending:
        value = pending.pop()
        for use in value.uses:
            user = use.operation
            place = _in_block(user, block)
            if place is None or order[place] > order[free]:
                return user
            made = [*user.results, *(argument for target in user.successors for argument in target.args)]
            fresh = [each for each in made if isinstance(each.type, MemRefType) and each not in seen]
            seen.update(fresh)
            pending += fresh
    return None


def _in_block(op: Operation, block: Block) -> Operation | None:
    """Returns the op of `block` that is or holds `op`."""
    current: Operation | None = op
    while current is not None and current.parent_block() is not block:
        current = current.parent_op()
    return current


def _name(buffer: SSAValue) -> str:
    return f"%{buffer.name_hint}" if buffer.name_hint else "the buffer"


def _line(op: Operation) -> str:
    point = nearest_source_point(op)
    return "" if point is None else f" at line {point.line}"
