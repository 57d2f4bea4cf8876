"""The ops of `memref`: elements, buffers and views of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StridedLayoutAttr
from xdsl.ir import Attribute, Operation

from ..arith import NoNumbers, dtype_of, unsigned
from ..properties import literal_array
from .accesses import load, load_lanes, store, store_lanes
from .faults import fault, listed, name_of
from .state import Frame, Prepare, Scope, Step
from .storage import Buffer, Storage, new_buffer, places_of, span_of, typed

MOST_BYTES = 1 << 30
"""The largest buffer that a program may allocate here."""


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """Returns the sizes of a memref type, with `DYNAMIC_INDEX` for those that are not known."""
    assert isinstance(type_, MemRefType)
    return tuple(type_.get_shape())


def sizes_of(op: Operation, type_: Attribute, given: Sequence[Any]) -> tuple[int, ...]:
    """Returns the sizes of a buffer of `type_`, with `given` for each `?`. Raises `LoopFault` for a negative one."""
    rest = iter(given)
    sizes = tuple(int(next(rest)) if size == DYNAMIC_INDEX else size for size in shape_of(type_))
    if any(size < 0 for size in sizes):
        raise fault("bounds", op, f"a buffer of sizes {listed(sizes)} is made; sizes are 0 or more")
    return sizes


def allocate(scope: Scope, op: Operation, sizes: Sequence[int], *, owner: str) -> Buffer:
    """Makes a buffer that holds nothing yet. Raises `LoopFault` where it has more than `MOST_BYTES`."""
    try:
        dtype = dtype_of(op.results[0].type)
    except NoNumbers as error:
        raise fault("unknown", op, str(error)) from None
    if prod(sizes) * dtype.itemsize > MOST_BYTES:
        raise fault("bounds", op, f"a buffer of sizes {listed(sizes)} has more than {MOST_BYTES} bytes")
    machine = scope.machine
    storage = Storage(prod(sizes) * dtype.itemsize, name_of(op.results[0]), owner=owner, birth=machine.tick())
    return laid_out(new_buffer(storage, dtype, sizes), op.results[0].type)


def laid_out(buffer: Buffer, type_: Attribute) -> Buffer:
    """Returns a dense buffer with the strides of its type where these are known. They must fit the elements it has."""
    assert isinstance(type_, MemRefType)
    layout = type_.layout
    if not isinstance(layout, StridedLayoutAttr) or layout.get_strides() is None:
        return buffer
    strides, offset = layout.get_strides(), layout.get_offset()
    assert strides is not None
    if None in strides or tuple(strides) == buffer.strides or not buffer.sizes:
        return buffer
    known = tuple(stride for stride in strides if stride is not None)
    span = span_of(offset or 0, buffer.sizes, known)
    needed = 0 if span is None else span[1] + 1
    old = buffer.storage
    storage = Storage(needed * buffer.itemsize, old.name, owner=old.owner, birth=old.birth)
    elements, mask = typed(storage, 0, needed * buffer.itemsize, buffer.elements.dtype)
    return Buffer(storage, 0, elements, mask, offset or 0, buffer.sizes, known)


# Elements


def _load(scope: Scope, op: Operation) -> Step:
    value, *indices = op.operands
    buffer, places, result = scope.slot(value), scope.slots_of(indices), scope.slot(op.results[0])
    machine = scope.machine

    def step(frame: Frame) -> None:
        frame[result] = load(machine, op, value, frame[buffer], [frame[slot] for slot in places])

    return step


def _store(scope: Scope, op: Operation) -> Step:
    new, value, *indices = op.operands
    number, buffer, places = scope.slot(new), scope.slot(value), scope.slots_of(indices)
    machine = scope.machine

    def step(frame: Frame) -> None:
        store(machine, op, value, frame[buffer], [frame[slot] for slot in places], frame[number])

    return step


_ATOMIC: dict[int, Callable[[Any, Any], Any]] = {
    0: lambda old, new: old + new,
    1: lambda old, new: old + new,
    2: lambda old, new: new,
    3: np.maximum,
    4: np.maximum,
    5: lambda old, new: np.maximum(unsigned(old), unsigned(new)).view(old.dtype),
    6: np.minimum,
    7: np.minimum,
    8: lambda old, new: np.minimum(unsigned(old), unsigned(new)).view(old.dtype),
    9: lambda old, new: old * new,
    10: lambda old, new: old | new,
    11: lambda old, new: old & new,
}
"""What an atomic of each kind of `arith` stores."""


def _atomic(scope: Scope, op: Any) -> Step:
    """Reads, combines and writes an element at once. Two iterations may do that to one element without a race."""
    combine = _ATOMIC[op.kind.value.data]
    number, buffer, result = scope.slot(op.value), scope.slot(op.memref), scope.slot(op.result)
    places, machine = scope.slots_of(op.indices), scope.machine

    def step(frame: Frame) -> None:
        loops, machine.parallel = machine.parallel, []
        indices = [frame[slot] for slot in places]
        old = load(machine, op, op.memref, frame[buffer], indices)
        store(machine, op, op.memref, frame[buffer], indices, combine(old, frame[number]))
        machine.parallel = loops
        frame[result] = old

    return step


def _copy(scope: Scope, op: Operation) -> Step:
    source, target = op.operands
    source_slot, target_slot = scope.slots_of(op.operands)
    machine = scope.machine

    def step(frame: Frame) -> None:
        one, other = frame[source_slot], frame[target_slot]
        if one.sizes != other.sizes:
            raise fault("bounds", op, f"elements {listed(one.sizes)} are copied to a buffer of {listed(other.sizes)}")
        if _mixes(one, other):
            message = "the views of the copy share elements at other places, and are not both contiguous"
            raise fault("alias", op, message, hint="copy by way of a buffer of its own")
        lanes = np.indices(one.sizes, np.int64) if one.sizes else []
        values = load_lanes(machine, op, source, one, list(lanes))
        store_lanes(machine, op, target, other, list(lanes), np.asarray(values))

    return step


def _mixes(one: Buffer, other: Buffer) -> bool:
    """Returns whether a copy between two views depends on the order of its elements. `memmove` copies whole blocks."""
    if one.storage is not other.storage or one.itemsize != other.itemsize or not prod(one.sizes):
        return False
    places, others = (each.base + each.places() * each.itemsize for each in (one, other))
    are_blocks = all((np.diff(each.ravel()) == one.itemsize).all() for each in (places, others))
    return not are_blocks and not np.array_equal(places, others) and bool(np.isin(places, others).any())


# Buffers


def _allocation(scope: Scope, op: Any) -> Step:
    given, result = scope.slots_of(op.dynamic_sizes), scope.slot(op.results[0])

    def step(frame: Frame) -> None:
        sizes = sizes_of(op, op.results[0].type, [frame[slot] for slot in given])
        frame[result] = allocate(scope, op, sizes, owner=op.name)

    return step


def _dealloc(scope: Scope, op: Operation) -> Step:
    value = op.operands[0]
    slot = scope.slot(value)

    def step(frame: Frame) -> None:
        storage = frame[slot].storage
        if storage.ended_by is not None:
            raise fault("lifetime", op, f"{name_of(value)} is freed twice", other=storage.ended_by)
        if storage.owner != "memref.alloc":
            raise fault("lifetime", op, f"{name_of(value)} is freed, but it does not come from 'memref.alloc'")
        storage.ended_by = op

    return step


def _get_global(scope: Scope, op: Any) -> Step:
    result, name, machine = scope.slot(op.results[0]), op.name_.string_value(), scope.machine

    def step(frame: Frame) -> None:
        if name not in machine.globals:
            machine.globals[name] = _global(op, machine.functions.get(name))
        frame[result] = machine.globals[name]

    return step


def _global(op: Operation, found: Any) -> Buffer:
    """Returns the buffer of a `memref.global`. One without a value holds zeros."""
    if found is None or found.name != "memref.global":
        raise fault("unknown", op, "the module has no such global")
    sizes, dtype = shape_of(op.results[0].type), dtype_of(op.results[0].type)
    storage = Storage(prod(sizes) * dtype.itemsize, f"@{found.sym_name.data}", written=True)
    buffer = new_buffer(storage, dtype, sizes)
    if hasattr(found.initial_value, "data"):
        buffer.elements[...] = np.broadcast_to(literal_array(found.initial_value), sizes).reshape(-1)
    return buffer.protected("it is a constant") if found.constant is not None else buffer


def forget(buffer: Buffer) -> Any:
    """Makes the elements of a buffer unwritten. Returns their masks before, in the shape of the buffer."""
    places = places_of(buffer.first, buffer.sizes, buffer.strides)
    before = buffer.mask[places]
    buffer.mask[places] = 0
    return before


def remember(buffer: Buffer, before: Any) -> None:
    """Makes the elements written that `forget` has made unwritten, beside those that have been written since."""
    places = places_of(buffer.first, buffer.sizes, buffer.strides)
    buffer.mask[places] |= before


TABLE: dict[str, Prepare] = {
    "memref.load": _load,
    "memref.store": _store,
    "memref.atomic_rmw": _atomic,
    "memref.copy": _copy,
    "memref.alloc": _allocation,
    "memref.alloca": _allocation,
    "tensor_loop.alloc": _allocation,
    "memref.dealloc": _dealloc,
    "memref.get_global": _get_global,
}
