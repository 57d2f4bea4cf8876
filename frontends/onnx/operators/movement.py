"""Operators that move elements: reshape, transpose, slices, concatenation, gathers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..emitting.forms import broadcast, padded_by_positions, reshaped
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import extents_of, product
from ..errors import ConversionError
from ..registry import Known, converter, direct
from ..value import Value

direct("Transpose", "permute_dims", perm=("axes", None))


def ints(array: Any) -> tuple[int, ...]:
    """Returns a 1-D array of integers, or a scalar, as a tuple."""
    return tuple(int(each) for each in array.reshape(-1))


@converter("Concat", since=4)
def concat(b: GraphBuilder, *xs: Value, axis: int) -> Value:
    return xs[0] if len(xs) == 1 else b.concat(*xs, axis=axis)


@converter("Reshape", since=5)
def reshape(b: GraphBuilder, x: Value, shape: Known, *, allowzero: int = 0) -> Value:
    """Reshapes: 0 copies an extent unless `allowzero` is set, and -1 is what is left."""
    wanted: list[int | None] = list(ints(shape))
    if not allowzero:
        for number, extent in enumerate(wanted):
            if extent == 0:
                if number >= x.rank:
                    raise ConversionError(f"extent {number} of the shape is 0, which copies one of {x.shaped}")
                wanted[number] = x.shape[number]
    if None in wanted:
        source = extents_of(x)
        return reshaped(b, x, [source[number] if dim is None else dim for number, dim in enumerate(wanted)])
    return b.reshape(x, shape=tuple(dim for dim in wanted if dim is not None))


@converter("Flatten")
def flatten(b: GraphBuilder, x: Value, *, axis: int = 1) -> Value:
    """Makes a matrix. Both of its extents are computed: with one of 0, `-1` could be anything."""
    axis = axis + x.rank if axis < 0 else axis
    source = extents_of(x)
    return reshaped(b, x, (product(source[:axis]), product(source[axis:])))


@converter("Squeeze", since=13)
def squeeze(b: GraphBuilder, x: Value, axes: Known | None = None) -> Value:
    return b.squeeze(x, axis=None if axes is None else ints(axes))


@converter("Squeeze")
def squeeze_by_attribute(b: GraphBuilder, x: Value, *, axes: tuple[int, ...] | None = None) -> Value:
    return b.squeeze(x, axis=axes)


@converter("Unsqueeze", since=13)
def unsqueeze(b: GraphBuilder, x: Value, axes: Known) -> Value:
    return b.expand_dims(x, axis=ints(axes))


@converter("Unsqueeze")
def unsqueeze_by_attribute(b: GraphBuilder, x: Value, *, axes: tuple[int, ...]) -> Value:
    return b.expand_dims(x, axis=axes)


@converter("Expand")
def expand(b: GraphBuilder, x: Value, shape: Known) -> Value:
    """Broadcasts both ways: an extent 1 of `shape` keeps that of `x`."""
    return broadcast(b, x, ints(shape))


@converter("Slice", since=10)
def slice_(
    b: GraphBuilder, x: Value, starts: Known, ends: Known, axes: Known | None = None, steps: Known | None = None
) -> Value:
    begin, end = ints(starts), ints(ends)
    along = tuple(range(len(begin))) if axes is None else ints(axes)
    return b.strided_slice(x, axes=along, begin=begin, end=end, strides=None if steps is None else ints(steps))


@converter("Slice")
def slice_by_attributes(
    b: GraphBuilder,
    x: Value,
    *,
    starts: tuple[int, ...],
    ends: tuple[int, ...],
    axes: tuple[int, ...] | None = None,
) -> Value:
    along = tuple(range(len(starts))) if axes is None else axes
    return b.strided_slice(x, axes=along, begin=starts, end=ends)


@converter("Split", since=13)
def split(
    b: GraphBuilder, x: Value, sizes: Known | None = None, *, axis: int = 0, num_outputs: int | None = None
) -> Any:
    """
    Cuts into equal parts, or into parts of the given sizes. From version 18 on the last of equal parts may be smaller.
    """
    return _split(b, x, None if sizes is None else ints(sizes), axis, num_outputs)


@converter("Split", since=2)
def split_by_attribute(b: GraphBuilder, x: Value, *, split: tuple[int, ...] | None = None, axis: int = 0) -> Any:
    return _split(b, x, split, axis, None)


def _split(b: GraphBuilder, x: Value, sizes: tuple[int, ...] | None, axis: int, parts: int | None) -> Any:
    extent = x.shape[axis]
    if sizes is None:
        count = b.output_count if parts is None else parts
        if extent is None:
            return b.split(x, sections=count, axis=axis)
        size = -(-extent // count)
        sizes = tuple(min(size, extent - size * number) for number in range(count))
    if extent is not None and sum(sizes) != extent:
        raise ConversionError(f"the sizes {list(sizes)} add up to {sum(sizes)}, expected {extent}")
    if len(sizes) == 1:
        return x
    places = [sum(sizes[: number + 1]) for number in range(len(sizes) - 1)]
    return b.split(x, indices=tuple(places), axis=axis)


@converter("Gather")
def gather(b: GraphBuilder, x: Value, indices: Value, *, axis: int = 0) -> Value:
    return b.take(x, indices, axis=axis)


@converter("Pad", since=11)
def pad(
    b: GraphBuilder,
    x: Value,
    pads: Known,
    value: Known | Value | None = None,
    axes: Known | None = None,
    *,
    mode: str = "constant",
) -> Value:
    """Pads. Negative widths cut."""
    before, after = _widths(x, ints(pads), axes)
    if mode != "constant":
        return pad_repeating(b, x, before, after, mode)
    return padded_with(b, x, value, lambda part, fill: pad_constant(b, part, before, after, fill))


@converter("Pad", since=2)
def pad_by_attributes(
    b: GraphBuilder, x: Value, *, pads: tuple[int, ...], mode: str = "constant", value: float = 0.0
) -> Value:
    before, after = _widths(x, pads, None)
    return pad_constant(b, x, before, after, value) if mode == "constant" else pad_repeating(b, x, before, after, mode)


def _widths(x: Value, pads: tuple[int, ...], axes: Any) -> tuple[list[int], list[int]]:
    """
    Returns the widths before and after each dimension. Raises `ConversionError` where they leave less than nothing.

    One side may cut more than there is. Nothing of the data is left then, and the other side is that much shorter.
    """
    before, after = [0] * x.rank, [0] * x.rank
    along = padded_axes(x, len(pads), axes)
    for number, axis in enumerate(along):
        before[axis], after[axis] = pads[number], pads[number + len(along)]
    for axis, size in enumerate(x.shape):
        if size is None:
            continue
        left = size + before[axis] + after[axis]
        if left < 0:
            raise ConversionError(f"pads leave {left} elements of dimension {axis} of {x.shaped}, expected at least 0")
        if min(before[axis], after[axis]) < -size:
            before[axis], after[axis] = -size, left
    return before, after


def padded_axes(x: Value, count: int, axes: Any) -> tuple[int, ...]:
    """Returns the dimensions that `count` pads are for. Raises `ConversionError` unless each of them has two."""
    along = tuple(range(x.rank)) if axes is None else ints(axes)
    if any(not -x.rank <= axis < x.rank for axis in along):
        raise ConversionError(f"axes are {list(along)}, expected {-x.rank} to {x.rank - 1} for {x.shaped}")
    if count != 2 * len(along):
        raise ConversionError(f"there are {count} pads, expected two for each of the axes {list(along)}")
    return tuple(axis % x.rank for axis in along)


def padded_with(b: GraphBuilder, x: Value, value: Any, padded: Callable[[Value, Any], Value]) -> Value:
    """
    Returns `x` padded with the only element of `value`, or with zero where there is none. `padded(x, number)` pads.

    Where the value is known at run time only, `x` is padded with zero, and a padded mask says where the value stands.
    """
    if value is None:
        return padded(x, 0)
    if value.known is not None:
        return padded(x, value.known.reshape(()).item())
    inside = b.logical_and(b.equal(x, x), b.full((), False, "i1"))
    return b.where(padded(inside, 1), reshaped(b, value, []), padded(x, 0))


def pad_constant(b: GraphBuilder, x: Value, before: list[int], after: list[int], fill: Any) -> Value:
    """Puts elements `fill` around `x`, `before` and `after` it in each dimension. Negative numbers cut."""
    cut = [number for number in range(x.rank) if before[number] < 0 or after[number] < 0]
    if cut:
        begin = tuple(max(-before[number], 0) for number in cut)
        end = tuple(min(after[number], 0) or 2**62 for number in cut)
        x = b.strided_slice(x, axes=tuple(cut), begin=begin, end=end)
    widths = [max(width, 0) for pair in zip(before, after, strict=True) for width in pair]
    return b.pad(x, pad_width=tuple(widths), value=fill) if any(widths) else x


def pad_repeating(b: GraphBuilder, x: Value, before: list[int], after: list[int], mode: str) -> Value:
    """
    Pads `x` with its own elements: mirrored (`reflect`), those of the border (`edge`), or from the other end (`wrap`).
    """
    if mode not in ("reflect", "edge", "wrap"):
        raise ConversionError(f"mode is '{mode}', expected constant, reflect, edge or wrap")
    for axis in range(x.rank):
        if x.shape[axis] is None and (before[axis] or after[axis]):
            x = padded_by_positions(b, x, axis, before[axis], after[axis], mode)
            continue
        x = _pad_axis(b, x, axis, before[axis], after[axis], mode)
    return x


def _pad_axis(b: GraphBuilder, x: Value, axis: int, before: int, after: int, mode: str) -> Value:
    if not before and not after:
        return x
    size = x.shape[axis]
    assert size is not None

    def part(begin: int, end: int, step: int = 1) -> Value:
        return b.strided_slice(x, axes=(axis,), begin=(begin,), end=(end,), strides=(step,))

    if before < 0 or after < 0:
        kept = part(max(-before, 0), size + min(after, 0))
        return _pad_axis(b, kept, axis, max(before, 0), max(after, 0), mode)
    if size == 0 and before + after:
        raise ConversionError(f"dimension {axis} is empty, expected elements to pad with")
    if mode == "wrap":
        (copies, rest), (more, tail) = divmod(before, size or 1), divmod(after, size or 1)
        parts = [part(size - rest, size)] if rest else []
        parts += [x] * (copies + 1 + more) + ([part(0, tail)] if tail else [])
    elif mode == "edge" or size == 1:
        parts = [_stretched(b, part(0, 1), axis, before)] if before else []
        parts += [x] + ([_stretched(b, part(size - 1, size), axis, after)] if after else [])
    else:
        left, right = min(before, size - 1), min(after, size - 1)
        parts = [part(left, 0, -1)] if left else []
        parts += [x] + ([part(-2, -2 - right, -1)] if right else [])
        if left < before or right < after:  # the mirror image is mirrored again
            x = b.concat(*parts, axis=axis)
            return _pad_axis(b, x, axis, before - left, after - right, mode)
    return b.concat(*parts, axis=axis) if len(parts) > 1 else x


def _stretched(b: GraphBuilder, x: Value, axis: int, count: int) -> Value:
    shape = list(extents_of(x))
    shape[axis] = count
    return broadcast(b, x, shape)


def channels_first(b: GraphBuilder, x: Value) -> Value:
    """Returns images whose channels are the last dimension with channels as the second one."""
    if x.rank < 3:
        raise ConversionError(f"the input is {x.shaped}, expected rank 3 or more")
    return b.permute_dims(x, axes=(0, x.rank - 1, *range(1, x.rank - 1)))


def channels_last_of(b: GraphBuilder, x: Value) -> Value:
    """Returns images whose channels are the second dimension with channels as the last one."""
    return b.permute_dims(x, axes=(0, *range(2, x.rank), 1))
