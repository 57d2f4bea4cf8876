"""
Sequences of tensors, as long as their length is known at import: they are lists of values and leave nothing behind.
"""

from __future__ import annotations

import numpy as np

from ..emitting.graph_builder import GraphBuilder
from ..emitting.values import SequenceValue
from ..errors import ConversionError
from ..registry import Known, converter
from ..value import Value
from .movement import ints


def parts_of(value: Value) -> list[Value]:
    """The tensors of a sequence."""
    if not isinstance(value, SequenceValue):
        raise ConversionError(f"the input is {value.shaped}, expected a sequence")
    return value.parts


def _place(position: Known, count: int, last: int) -> int:
    """A position from 0 to `last`, negative ones from the end of `count` tensors."""
    (place,) = ints(position)
    if not -count <= place <= last:
        raise ConversionError(f"the position is {place}, expected one in a sequence of {count}")
    return place + count if place < 0 else place


@converter("SequenceConstruct")
def sequence_construct(b: GraphBuilder, *xs: Value) -> Value:
    return SequenceValue(list(xs))


@converter("SequenceEmpty")
def sequence_empty(b: GraphBuilder, *, dtype: int = 1) -> Value:
    return SequenceValue([])


@converter("SequenceLength")
def sequence_length(b: GraphBuilder, sequence: Value) -> Value:
    return b.constant(np.array(len(parts_of(sequence)), np.int64))


@converter("SequenceAt")
def sequence_at(b: GraphBuilder, sequence: Value, position: Known) -> Value:
    parts = parts_of(sequence)
    return parts[_place(position, len(parts), len(parts) - 1)]


@converter("SequenceInsert")
def sequence_insert(b: GraphBuilder, sequence: Value, x: Value, position: Known | None = None) -> Value:
    """Inserts a tensor before `position`, or at the end without one."""
    parts = list(parts_of(sequence))
    parts.insert(len(parts) if position is None else _place(position, len(parts), len(parts)), x)
    return SequenceValue(parts)


@converter("SequenceErase")
def sequence_erase(b: GraphBuilder, sequence: Value, position: Known | None = None) -> Value:
    """Removes the tensor at `position`, or the last one where no position is given."""
    parts = list(parts_of(sequence))
    if not parts:
        raise ConversionError("the sequence is empty")
    del parts[-1 if position is None else _place(position, len(parts), len(parts) - 1)]
    return SequenceValue(parts)


@converter("ConcatFromSequence")
def concat_from_sequence(b: GraphBuilder, sequence: Value, *, axis: int, new_axis: int = 0) -> Value:
    """Concatenates the tensors along `axis`, which `new_axis` makes a new dimension."""
    parts = parts_of(sequence)
    if not parts:
        raise ConversionError("the sequence is empty")
    rank = parts[0].rank + bool(new_axis)
    if not -rank <= axis < rank:
        raise ConversionError(f"axis is {axis}, expected one of {rank} dimensions")
    if new_axis:
        parts = [b.expand_dims(part, axis=(axis % rank,)) for part in parts]
    return parts[0] if len(parts) == 1 else b.concat(*parts, axis=axis % rank)


@converter("SplitToSequence")
def split_to_sequence(
    b: GraphBuilder, x: Value, split: Known | None = None, *, axis: int = 0, keepdims: int = 1
) -> Value:
    """
    Parts of one element each, of `split` elements (the last of what is left), or of the elements that a vector says.
    """
    size = b.extent(x, axis, "the input")
    sizes = [1] * size
    if split is not None:
        wanted = ints(split)
        if np.ndim(split) == 0:  # pyright: ignore[reportArgumentType, reportCallIssue]
            if wanted[0] < 1:
                raise ConversionError(f"split is {wanted[0]}, expected at least 1")
            wanted = [min(wanted[0], size - start) for start in range(0, size, wanted[0])]
        sizes = list(wanted)
    if sum(sizes) != size or min(sizes, default=0) < 0:
        raise ConversionError(f"the parts have {sizes} elements, the axis has {size}")
    parts: list[Value] = []
    start = 0
    for each in sizes:
        part = b.strided_slice(x, axes=(axis,), begin=(start,), end=(start + each,))
        parts.append(part if keepdims or split is not None else b.squeeze(part, axis=(axis,)))
        start += each
    return SequenceValue(parts)
