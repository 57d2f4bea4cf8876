"""Checked loads and stores of elements and of lanes: indices, lifetimes, unwritten elements, inputs and races."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from ..element_types import Array
from .faults import LoopFault, fault, listed, name_of
from .state import Machine
from .storage import Buffer


def load(machine: Machine, op: Operation, value: SSAValue, buffer: Buffer, indices: Sequence[int]) -> Any:
    """Returns an element of `buffer`, which `op` knows as `value`. Raises `LoopFault` for a wrong access."""
    place = _place(op, value, buffer, indices)
    _alive(op, value, buffer)
    if buffer.mask[place] != buffer.full and not machine.samples:
        raise _unwritten(op, value, indices)
    if machine.parallel:
        _note(machine, op, value, buffer, np.asarray([place]), False, [indices])
    return buffer.elements[place]


def store(machine: Machine, op: Operation, value: SSAValue, buffer: Buffer, indices: Sequence[int], new: Any) -> None:
    """Stores an element. Raises `LoopFault` for every access that is wrong."""
    place = _place(op, value, buffer, indices)
    _alive(op, value, buffer)
    _writable(op, value, buffer)
    if machine.parallel:
        _note(machine, op, value, buffer, np.asarray([place]), True, [indices])
    buffer.elements[place] = new
    buffer.mask[place] = buffer.full


def load_lanes(
    machine: Machine,
    op: Operation,
    value: SSAValue,
    buffer: Buffer,
    lanes: Sequence[Array],
    active: Array | None = None,
) -> Array:
    """
    Returns the elements at `lanes`, one array of indices per dimension of the buffer.

    Where `active` is given, the other lanes are not accessed, and the result holds 0 there. Raises `LoopFault` for
    every access that is wrong.
    """
    places, chosen = _places(op, value, buffer, lanes, active)
    _alive(op, value, buffer)
    missing = buffer.mask[places] != buffer.full
    if missing.any() and not machine.samples:
        raise _unwritten(op, value, _at(chosen, int(np.flatnonzero(missing)[0])))
    if machine.parallel:
        _note(machine, op, value, buffer, places, False, chosen)
    shape = np.broadcast_shapes(*(lane.shape for lane in lanes)) if active is None else active.shape
    if active is None:
        return buffer.elements[places].reshape(shape)
    result = np.zeros(shape, buffer.elements.dtype)
    result[active] = buffer.elements[places]
    return result


def store_lanes(
    machine: Machine,
    op: Operation,
    value: SSAValue,
    buffer: Buffer,
    lanes: Sequence[Array],
    new: Array,
    active: Array | None = None,
) -> None:
    """Stores an array at `lanes`, where `active` is true. Raises `LoopFault` for every access that is wrong."""
    places, chosen = _places(op, value, buffer, lanes, active)
    _alive(op, value, buffer)
    if places.size:
        _writable(op, value, buffer)
    if machine.parallel:
        _note(machine, op, value, buffer, places, True, chosen)
    buffer.elements[places] = (new if active is None else new[active]).reshape(-1)
    buffer.mask[places] = buffer.full


def check_lanes(op: Operation, value: SSAValue, buffer: Buffer, lanes: Sequence[Array]) -> None:
    """Raises `LoopFault` where one of `lanes` is outside of the buffer. Nothing is accessed."""
    _places(op, value, buffer, lanes, None)


def _place(op: Operation, value: SSAValue, buffer: Buffer, indices: Sequence[int]) -> int:
    place = buffer.first
    for dimension, (index, size, stride) in enumerate(zip(indices, buffer.sizes, buffer.strides, strict=True)):
        if not 0 <= index < size:
            raise outside(op, value, dimension, int(index), size)
        place += int(index) * stride
    return place


def _places(
    op: Operation, value: SSAValue, buffer: Buffer, lanes: Sequence[Array], active: Array | None
) -> tuple[Array, list[Array]]:
    """Returns the numbers of the elements at `lanes`, flat, and the indices of each."""
    if len(lanes) != len(buffer.sizes):
        raise fault("bounds", op, f"{len(lanes)} indices into {name_of(value)} of rank {len(buffer.sizes)}")
    spread = np.broadcast_arrays(*lanes) if lanes else []
    chosen = [each.reshape(-1) if active is None else each[active] for each in spread]
    places = np.full(chosen[0].shape if chosen else 1, buffer.first, np.int64)
    for dimension, (index, size, stride) in enumerate(zip(chosen, buffer.sizes, buffer.strides, strict=True)):
        wrong = (index < 0) | (index >= size)
        if wrong.any():
            raise outside(op, value, dimension, int(index[np.flatnonzero(wrong)[0]]), size)
        places = places + index * stride
    return places, chosen


def _at(indices: Sequence[Array], position: int) -> list[int]:
    return [int(each[position]) for each in indices]


def outside(op: Operation, value: SSAValue, dimension: int, index: int, size: int) -> LoopFault:
    """Makes the fault of an index outside of a buffer."""
    return fault(
        "bounds", op, f"index {index} is outside of dimension {dimension} of {name_of(value)}, which has {size}"
    )


def _unwritten(op: Operation, value: SSAValue, indices: Sequence[int]) -> LoopFault:
    return fault("unwritten", op, f"element {listed(indices)} of {name_of(value)} is read, but nothing has written it")


def _alive(op: Operation, value: SSAValue, buffer: Buffer) -> None:
    if (ended_by := buffer.storage.ended_by) is not None:
        raise fault("lifetime", op, f"{name_of(value)} is used after its end", other=ended_by)


def _writable(op: Operation, value: SSAValue, buffer: Buffer) -> None:
    if buffer.read_only:
        kind = "alias" if buffer.is_shared else "input"
        raise fault(kind, op, f"{name_of(value)} is written, but {buffer.read_only}")


def _note(
    machine: Machine,
    op: Operation,
    value: SSAValue,
    buffer: Buffer,
    places: Array,
    is_store: bool,
    indices: Sequence[Any],
) -> None:
    """Tells the parallel loops of an access. Raises `LoopFault` where another iteration touches the same element."""
    for loop in machine.parallel:
        race = loop.access(op, buffer, places, is_store)
        if race is None:
            continue
        at = indices[0] if len(places) == 1 and len(indices) == 1 else _at(indices, race.position)
        message = (
            f"iterations {race.iteration} and {loop.iteration} of a parallel loop touch element {listed(at)} of "
            f"{name_of(value)}, and one of them writes it"
        )
        raise fault("race", op, message, hint="make the loop serial, or give each iteration its own", other=race.other)
