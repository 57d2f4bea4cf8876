"""The ops of `memref` that view a buffer in another way, or tell its sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation

from ..arith import dtype_of
from .accesses import outside
from .faults import LoopFault, fault, listed, name_of
from .memory import shape_of, sizes_of
from .state import Frame, Prepare, Scope, Step
from .storage import Buffer, row_major, span_of, typed


def _dim(scope: Scope, op: Operation) -> Step:
    value, number = op.operands
    buffer, dimension, result = scope.slot(value), scope.slot(number), scope.slot(op.results[0])

    def step(frame: Frame) -> None:
        sizes, index = frame[buffer].sizes, int(frame[dimension])
        if not 0 <= index < len(sizes):
            raise fault("bounds", op, f"dimension {index} of {name_of(value)}, which has {len(sizes)}")
        frame[result] = np.int64(sizes[index])

    return step


def _rank(scope: Scope, op: Operation) -> Step:
    buffer, result = scope.slot(op.operands[0]), scope.slot(op.results[0])

    def step(frame: Frame) -> None:
        frame[result] = np.int64(len(frame[buffer].sizes))

    return step


def _address(scope: Scope, op: Operation) -> Step:
    buffer, result = scope.slot(op.operands[0]), scope.slot(op.results[0])

    def step(frame: Frame) -> None:
        frame[result] = np.int64(frame[buffer].storage.data.ctypes.data + frame[buffer].base)

    return step


def _same(scope: Scope, op: Operation) -> Step:
    buffer, result = scope.slot(op.operands[0]), scope.slot(op.results[0])

    def step(frame: Frame) -> None:
        frame[result] = checked(op, frame[buffer], op.results[0].type)

    return step


def checked(op: Operation, buffer: Buffer, type_: Attribute) -> Buffer:
    """Returns a buffer. Raises `LoopFault` where it has not the sizes of `type_`, as far as these are known."""
    declared = shape_of(type_)
    fits = len(declared) == len(buffer.sizes) and all(
        size in (DYNAMIC_INDEX, found) for size, found in zip(declared, buffer.sizes, strict=True)
    )
    if not fits:
        raise fault("bounds", op, f"a buffer of sizes {listed(buffer.sizes)} is taken for one of type {type_}")
    return buffer


def _view(scope: Scope, op: Operation) -> Step:
    value, shift_value, *given = op.operands
    source_slot, shift_slot, result = scope.slot(value), scope.slot(shift_value), scope.slot(op.results[0])
    slots, dtype = scope.slots_of(given), dtype_of(op.results[0].type)

    def step(frame: Frame) -> None:
        source, shift = frame[source_slot], int(frame[shift_slot])
        sizes = sizes_of(op, op.results[0].type, [frame[slot] for slot in slots])
        end = shift + prod(sizes) * dtype.itemsize
        if shift < 0 or end > source.sizes[0]:
            message = f"bytes {shift} to {end} of {name_of(value)} are viewed, which has {source.sizes[0]}"
            raise fault("bounds", op, message)
        base = source.base + source.first + shift
        elements, mask = typed(source.storage, base, end - shift, dtype)
        dense = Buffer(source.storage, base, elements, mask, 0, sizes, row_major(sizes))
        frame[result] = replace(dense, read_only=source.read_only, is_shared=source.is_shared)

    return step


class _Numbers:
    """The offsets, sizes and strides of a subview or reinterpret_cast, as numbers or as values."""

    def __init__(self, scope: Scope, op: Any):
        self._parts = [
            (tuple(static.get_values()), scope.slots_of(values))
            for static, values in (
                (op.static_offsets, op.offsets),
                (op.static_sizes, op.sizes),
                (op.static_strides, op.strides),
            )
        ]

    def read(self, frame: Frame) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = []
        for static, slots in self._parts:
            rest = iter(slots)
            found.append(tuple(int(frame[next(rest)]) if each == DYNAMIC_INDEX else int(each) for each in static))
        return found


def _subview(scope: Scope, op: Any) -> Step:
    value = op.source
    numbers, source_slot, result = _Numbers(scope, op), scope.slot(value), scope.slot(op.result)

    def step(frame: Frame) -> None:
        source = frame[source_slot]
        offsets, sizes, steps = numbers.read(frame)
        first = source.first
        for dimension, (offset, size, step_, extent) in enumerate(
            zip(offsets, sizes, steps, source.sizes, strict=True)
        ):
            ends = (offset, offset + (size - 1) * step_)
            if size < 0:
                raise fault("bounds", op, f"a view of sizes {listed(sizes)}; sizes are 0 or more")
            for index in ends if size else ():
                if not 0 <= index < extent:
                    raise outside(op, value, dimension, index, extent)
            first += offset * source.strides[dimension]
        strides = [step_ * stride for step_, stride in zip(steps, source.strides, strict=True)]
        kept = _kept_dimensions(op, sizes)
        frame[result] = replace(
            source, first=first, sizes=tuple(sizes[d] for d in kept), strides=tuple(strides[d] for d in kept)
        )

    return step


def _kept_dimensions(op: Any, sizes: Sequence[int]) -> list[int]:
    """Returns the dimensions of the result of a subview, which may leave out dimensions of size 1."""
    wanted = list(shape_of(op.result.type))
    kept: list[int] = []
    to_drop = len(sizes) - len(wanted)
    for dimension, size in enumerate(sizes):
        expected = wanted[len(kept)] if len(kept) < len(wanted) else None
        if to_drop and size == 1 and expected != 1:
            to_drop -= 1
        else:
            kept.append(dimension)
    return kept


def _reinterpret_cast(scope: Scope, op: Any) -> Step:
    value = op.source
    numbers, source_slot, result = _Numbers(scope, op), scope.slot(value), scope.slot(op.result)

    def step(frame: Frame) -> None:
        source = frame[source_slot]
        (offset,), sizes, strides = numbers.read(frame)
        span = span_of(offset, sizes, strides)
        if span is not None and not (span[0] >= 0 and span[1] < len(source.elements)):
            message = (
                f"elements {span[0]} to {span[1]} of {name_of(value)} are viewed, which has {len(source.elements)}"
            )
            raise fault("bounds", op, message)
        frame[result] = replace(source, first=offset, sizes=sizes, strides=strides)

    return step


def _reshape(scope: Scope, op: Any) -> Step:
    """Prepares `memref.collapse_shape` and `memref.expand_shape` of a dense buffer."""
    source_slot, result = scope.slot(op.operands[0]), scope.slot(op.results[0])

    def step(frame: Frame) -> None:
        source = frame[source_slot]
        declared = shape_of(op.results[0].type)
        if not source.is_row_major() or declared.count(DYNAMIC_INDEX) > 1:
            raise fault("unknown", op, "only dense buffers with at most one unknown size are interpreted")
        known = prod(size for size in declared if size != DYNAMIC_INDEX)
        sizes = tuple(prod(source.sizes) // max(known, 1) if size == DYNAMIC_INDEX else size for size in declared)
        if prod(sizes) != prod(source.sizes):
            raise _reshaped_wrongly(op, source.sizes, sizes)
        frame[result] = replace(source, sizes=sizes, strides=row_major(sizes))

    return step


def _reshaped_wrongly(op: Operation, sizes: Sequence[int], wanted: Sequence[int]) -> LoopFault:
    return fault("bounds", op, f"a buffer of sizes {listed(sizes)} becomes one of {listed(wanted)}")


TABLE: dict[str, Prepare] = {
    "memref.dim": _dim,
    "memref.rank": _rank,
    "memref.extract_aligned_pointer_as_index": _address,
    "memref.cast": _same,
    "memref.memory_space_cast": _same,
    "memref.assume_alignment": _same,
    "memref.view": _view,
    "memref.subview": _subview,
    "memref.reinterpret_cast": _reinterpret_cast,
    "memref.collapse_shape": _reshape,
    "memref.expand_shape": _reshape,
}
