"""Named builders: slices, paddings and permutations that join each other, or move past an op."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from ...dialects.graph.base import plain_properties, python_properties
from ...dialects.graph.movement import ConcatOp, PadOp, PermuteDimsOp, ReshapeOp, StridedSliceOp, TakeOp
from ...patterns.language.match import Match, as_value
from ...patterns.language.registry import Thing, builder
from ..constants.known_indices import known_indices
from .builders import with_operands
from .conditions import permutation
from .shared_builders import changed, known_shape, made


def _ranges(op: StridedSliceOp) -> list[range] | None:
    """Returns the places that a slice keeps of each dimension. Declines a size that is unknown."""
    shape = known_shape(op.operands[0])
    if shape is None:
        return None
    found = plain_properties(op)
    kept = [range(size) for size in shape]
    strides = found["strides"] or [1] * len(found["axes"])
    for axis, begin, end, step in zip(found["axes"], found["begin"], found["end"], strides, strict=True):
        kept[axis] = range(shape[axis])[begin:end:step]
    return kept


def _slice(match: Match, value: SSAValue, kept: Sequence[range], same_type: bool = True) -> Sequence[SSAValue] | None:
    """
    Returns the slice of `value` that keeps these places of each dimension, of the type of the root unless `same_type`
    is false. Declines one that keeps nothing.
    """
    shape = known_shape(value)
    if shape is None or any(not places for places in kept):
        return None
    axes = [axis for axis, places in enumerate(kept) if places != range(shape[axis])]
    begin = [kept[axis][0] for axis in axes]
    strides = [kept[axis].step for axis in axes]
    # A slice that goes back ends before the first element, which no other position from the start says.
    ends = [kept[axis][-1] + (1 if kept[axis].step > 0 else -1) for axis in axes]
    end = [last if last >= 0 else -shape[axis] - 1 for axis, last in zip(axes, ends, strict=True)]
    properties = {"axes": axes, "begin": begin, "end": end, "strides": strides}
    if same_type:
        return made(match, "graph.strided_slice", [value], properties)
    return match.create("graph.strided_slice", [value], None, python_properties(StridedSliceOp, properties)).results


@builder("composed-slices")
def composed_slices(match: Match, outer: StridedSliceOp, inner: StridedSliceOp) -> Sequence[SSAValue] | None:
    """One `graph.strided_slice` of the operand of `inner`. Declines unknown sizes, and what keeps no element."""
    first, second = _ranges(inner), _ranges(outer)
    if first is None or second is None or not all(second):
        return None
    kept = [
        places[chosen.start : chosen.stop : chosen.step] if chosen.step > 0 else _backwards(places, chosen)
        for places, chosen in zip(first, second, strict=True)
    ]
    return _slice(match, inner.operands[0], kept)


def _backwards(places: range, chosen: range) -> range:
    stop = None if chosen.stop < 0 else chosen.stop
    return places[chosen.start : stop : chosen.step]


@builder("slice-of-part")
def slice_of_part(match: Match, root: StridedSliceOp, parts: ConcatOp) -> Sequence[SSAValue] | None:
    """The slice of the one operand of `parts` that it lies in. Declines where it takes of two, or keeps nothing."""
    kept, axis = _ranges(root), plain_properties(parts)["axis"]
    shapes = [known_shape(part) for part in parts.operands]
    if kept is None or not all(kept) or None in shapes:
        return None
    axis %= len(kept)
    least, most = min(kept[axis]), max(kept[axis])
    sizes = [0 if shape is None else shape[axis] for shape in shapes]
    for part, size, end in zip(parts.operands, sizes, accumulate(sizes), strict=True):
        if end - size <= least and most < end:
            places = kept[axis]
            kept[axis] = range(places.start - end + size, places.stop - end + size, places.step)
            return _slice(match, part, kept)
    return None


@builder("slice-of-middle")
def slice_of_middle(match: Match, root: StridedSliceOp, padded: PadOp) -> Sequence[SSAValue] | None:
    """The slice of what `padded` pads. Declines where it takes of the padding, or keeps nothing."""
    kept, shape = _ranges(root), known_shape(padded.operands[0])
    if kept is None or shape is None or not all(kept):
        return None
    before = plain_properties(padded)["pad_width"][::2]
    for axis, (places, start) in enumerate(zip(kept, before, strict=True)):
        if min(places) < start or max(places) >= start + shape[axis]:
            return None
        kept[axis] = range(places.start - start, places.stop - start, places.step)
    return _slice(match, padded.operands[0], kept)


@builder("slice-in-place-of-take")
def slice_in_place_of_take(match: Match, root: TakeOp, indices: Thing) -> Sequence[SSAValue] | None:
    """
    The slice that holds what `root` takes, in the shape of the root. Declines indices that are unknown, out of range,
    none, of two dimensions or more, or not equally far apart, and sizes that are unknown.
    """
    places, shape = known_indices(as_value(indices)), known_shape(root.operands[0])
    if not places or shape is None or len(known_shape(root.operands[1]) or ()) > 1:
        return None
    axis = plain_properties(root)["axis"] % len(shape)
    size = shape[axis]
    places = [place + size if place < 0 else place for place in places]
    step = places[1] - places[0] if len(places) > 1 else 1
    if step == 0 or not all(0 <= place < size for place in places):
        return None
    kept = [range(extent) for extent in shape]
    kept[axis] = range(places[0], places[-1] + (1 if step > 0 else -1), step)
    if list(kept[axis]) != places:
        return None
    sliced = _slice(match, root.operands[0], kept, same_type=False)
    if sliced is None or known_shape(sliced[0]) == known_shape(root.results[0]):
        return sliced
    return made(match, "graph.reshape", sliced, {"shape": list(known_shape(root.results[0]) or ())})


@builder("joined-pads")
def joined_pads(match: Match, outer: PadOp, inner: PadOp) -> Sequence[SSAValue]:
    """One `graph.pad` of the operand of `inner` with the widths of both."""
    widths = [plain_properties(op)["pad_width"] for op in (outer, inner)]
    total = [one + other for one, other in zip(*widths, strict=True)]
    return made(match, outer.name, [inner.operands[0]], changed(outer, pad_width=total))


@builder("joined-concats")
def joined_concats(match: Match, outer: ConcatOp, inner: ConcatOp) -> Sequence[SSAValue] | None:
    """One `graph.concat` with the operands of `inner` in its place. Declines another axis."""
    shape = known_shape(outer.results[0])
    axes = [plain_properties(op)["axis"] for op in (outer, inner)]
    if shape is None or axes[0] % len(shape) != axes[1] % len(shape):
        return None
    operands = [part for each in outer.operands for part in (inner.operands if each is inner.results[0] else [each])]
    return made(match, outer.name, operands, changed(outer))


@builder("moved-before")
def moved_before(match: Match, op: Operation, outer: PermuteDimsOp, inner: PermuteDimsOp) -> Sequence[SSAValue] | None:
    """`op` of the operand of `inner`, which is permuted as both permutations do, where they do not cancel."""
    first = permutation(inner)
    axes = [first[axis] for axis in permutation(outer)]
    value = inner.operands[0]
    return with_operands(match, op, value if axes == sorted(axes) else permuted(match, value, axes))


@builder("reshaped-before")
def reshaped_before(match: Match, op: Operation, value: Thing) -> Sequence[SSAValue] | None:
    """`op` of `value`, which has the shape of the root first. Declines unknown sizes."""
    shape, type_ = known_shape(match.root.results[0]), as_value(value).type
    if shape is None or not isinstance(type_, TensorType):
        return None
    if shape == type_.get_shape():
        return with_operands(match, op, value)
    properties = python_properties(ReshapeOp, {"shape": list(shape)})
    reshaped = match.create("graph.reshape", [as_value(value)], [TensorType(type_.element_type, shape)], properties)
    return with_operands(match, op, reshaped)


@builder("moved-once")
def moved_once(match: Match, op: Operation, movement: Operation, *values: Thing) -> Sequence[SSAValue] | None:
    """The movement of `op` on `values`, which have not been moved. Declines unknown sizes, and another shape."""
    if not values:
        return None
    before, after = known_shape(as_value(values[0])), known_shape(match.root.results[0])
    type_ = match.root.results[0].type
    if before is None or known_shape(movement.results[0]) != after or not isinstance(type_, TensorType):
        return None
    computed = match.create(
        op.name, list(map(as_value, values)), [TensorType(type_.element_type, before)], op.properties
    )
    return with_operands(match, movement, computed)


def permuted(match: Match, value: SSAValue, axes: Sequence[int]) -> SSAValue:
    """Returns a new permutation of a value."""
    properties = python_properties(PermuteDimsOp, {"axes": list(axes)})
    return match.create("graph.permute_dims", [value], None, properties).results[0]
