"""
The shape algebra of the graph ops, on plain tuples. Nothing here knows the IR.

A dimension is a number of elements, or `None` where it is unknown (`?`). Every function returns the shape of a result,
or raises `ShapeError` with a message that names what was found and what was expected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

Dim = int | None
Shape = tuple[Dim, ...]


class ShapeError(ValueError):
    """The error for operands and properties that do not fit together."""


class Shaped(NamedTuple):
    """The shape and element type (`f32`, `i1`, …) of a tensor."""

    shape: Shape
    dtype: str

    def __str__(self) -> str:
        return f"tensor<{'x'.join([*map(_dim_text, self.shape), self.dtype])}>"


def _dim_text(dim: Dim) -> str:
    return "?" if dim is None else str(dim)


def text(shape: Shape) -> str:
    """Returns the text of a shape, such as `3x4` or `?x4`. A shape of rank 0 is `()`."""
    return "x".join(map(_dim_text, shape)) if shape else "()"


def size(shape: Iterable[Dim]) -> Dim:
    """
    Returns the number of elements, or `None` when it is unknown. An extent of 0 makes it 0 whatever the others are.
    """
    dims = tuple(shape)
    if 0 in dims:
        return 0
    return None if None in dims else prod(dim for dim in dims if dim is not None)


def compatible(lhs: Shape, rhs: Shape) -> bool:
    """
    Returns whether both can describe one tensor: their ranks are equal, and so are the extents where both are known.
    """
    return len(lhs) == len(rhs) and all(a is None or b is None or a == b for a, b in zip(lhs, rhs, strict=True))


def same_dim(lhs: Dim, rhs: Dim, message: str) -> Dim:
    """Returns the common extent of two dimensions. Raises `ShapeError` with `message` when they differ."""
    if lhs is None:
        return rhs
    if rhs is None or lhs == rhs:
        return lhs
    raise ShapeError(message)


def rank_error(name: str, shape: Shape, expected: str) -> ShapeError:
    return ShapeError(f"{name} has rank {len(shape)}, expected {expected}")


# Axes


def normalise_axis(axis: int, rank: int, name: str = "axis") -> int:
    """Returns `axis` counted from the start. Raises `ShapeError` when it is out of range."""
    if -rank <= axis < rank:
        return axis + rank if axis < 0 else axis
    allowed = f"expected {-rank} to {rank - 1}" if rank else "a tensor of rank 0 has no axes"
    raise ShapeError(f"{name} {axis} is out of range for rank {rank}, {allowed}")


def normalise_axes(axes: Sequence[int], rank: int, name: str = "axis") -> tuple[int, ...]:
    """Returns `axes` counted from the start, in the given order. Raises `ShapeError` when one is repeated."""
    found: list[int] = []
    for axis in axes:
        normal = normalise_axis(axis, rank, name)
        if normal in found:
            raise ShapeError(f"{name} {axis} is given twice in [{', '.join(map(str, axes))}]")
        found.append(normal)
    return tuple(found)


# Elementwise


def broadcast_dim(lhs: Dim, rhs: Dim) -> Dim:
    """Returns the extent that two extents broadcast to. Raises `ValueError` when they do not. `?` against 1 is `?`."""
    if lhs == rhs or rhs == 1:
        return lhs
    if lhs == 1:
        return rhs
    if lhs is None:
        return rhs
    if rhs is None:
        return lhs
    raise ValueError


def broadcast(*shapes: Shape) -> Shape:
    """
    Returns the shape that all shapes broadcast to. As in NumPy they are aligned at the right, and extents of 1 stretch.
    """
    result: Shape = ()
    for shape in shapes:
        result = _broadcast_two(result, shape)
    return result


def _broadcast_two(lhs: Shape, rhs: Shape) -> Shape:
    rank = max(len(lhs), len(rhs))
    left, right = (1,) * (rank - len(lhs)) + lhs, (1,) * (rank - len(rhs)) + rhs
    dims: list[Dim] = []
    for number in reversed(range(rank)):
        try:
            dims.append(broadcast_dim(left[number], right[number]))
        except ValueError:
            raise ShapeError(
                f"shapes {text(lhs)} and {text(rhs)} do not broadcast: "
                f"dimension {number} is {left[number]} and {right[number]}"
            ) from None
    return tuple(reversed(dims))


# Contractions


def matmul(lhs: Shape, rhs: Shape) -> Shape:
    """Returns the shape of a matrix product. Leading dimensions broadcast, and a 1-D operand is a row or a column."""
    for name, shape in (("lhs", lhs), ("rhs", rhs)):
        if not shape:
            raise rank_error(name, shape, "at least 1")
    k_of_lhs, k_of_rhs = lhs[-1], rhs[-2:][0]
    columns = "elements" if len(lhs) == 1 else "columns"
    rows = "elements" if len(rhs) == 1 else "rows"
    same_dim(k_of_lhs, k_of_rhs, f"lhs has K = {k_of_lhs} {columns} but rhs has K = {k_of_rhs} {rows}")
    try:
        batch = broadcast(lhs[:-2], rhs[:-2])
    except ShapeError:
        raise ShapeError(
            f"leading dimensions {text(lhs[:-2])} of lhs and {text(rhs[:-2])} of rhs do not broadcast"
        ) from None
    return batch + lhs[-2:-1] + (rhs[-1:] if len(rhs) > 1 else ())


def window_extent(extent: Dim, before: int, after: int, kernel: Dim, stride: int, dilation: int, what: str) -> Dim:
    """
    Returns the number of positions of a window along one dimension, which is the extent of the result.

    It is `floor((extent + before + after - dilation * (kernel - 1) - 1) / stride) + 1`. `what` names the dimension
    (`height`). An empty result is legal only for an empty input.
    """
    if kernel == 0:
        raise ShapeError(f"the kernel has {what} 0, expected at least 1")
    if extent is None or kernel is None:
        return None
    reach = dilation * (kernel - 1) + 1
    positions = (extent + before + after - reach) // stride + 1
    if positions > 0 or (positions == 0 and extent == 0):
        return positions
    dilated = f" (dilated to {reach})" if dilation != 1 else ""
    raise ShapeError(
        f"a kernel of {what} {kernel}{dilated} does not fit into {what} {extent} padded by {before} and {after}"
    )


def windows(
    extents: Sequence[Dim],
    kernel: Sequence[Dim],
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> tuple[Dim, Dim]:
    """
    Returns the height and width of the result of a convolution or pooling.

    `padding` lists the widths at the top, left, bottom and right.
    """
    for name, values, least in (("strides", strides, 1), ("dilation", dilation, 1), ("padding", padding, 0)):
        if min(values) < least:
            raise ShapeError(f"{name} is [{', '.join(map(str, values))}], expected each at least {least}")
    height, width = (
        window_extent(
            extents[i], padding[i], padding[i + 2], kernel[i], strides[i], dilation[i], ("height", "width")[i]
        )
        for i in (0, 1)
    )
    return height, width


# Reductions


def reduced_axes(axes: Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Returns the axes that a reduction runs over. These are all axes when none are given."""
    return tuple(range(rank)) if axes is None else normalise_axes(axes, rank)


def reduce(shape: Shape, axes: Sequence[int] | None, keepdims: bool) -> Shape:
    """Returns `shape` without the reduced axes, or with extent 1 in their place."""
    over = reduced_axes(axes, len(shape))
    if keepdims:
        return tuple(1 if i in over else dim for i, dim in enumerate(shape))
    return tuple(dim for i, dim in enumerate(shape) if i not in over)


def reject_empty(shape: Shape, axes: Sequence[int] | None, what: str) -> None:
    """Raises `ShapeError` when a reduction that has no neutral element runs over no elements."""
    over = reduced_axes(axes, len(shape))
    if size(shape[i] for i in over) == 0:
        empty = next(i for i in over if shape[i] == 0)
        raise ShapeError(f"{what} of no elements is not defined, but axis {empty} of {text(shape)} is empty")


# Movement


def permute(shape: Shape, axes: Sequence[int] | None) -> Shape:
    """Returns `shape` in the order of `axes`, or reversed when they are absent."""
    if axes is None:
        return shape[::-1]
    order = normalise_axes(axes, len(shape), "axes entry")
    if len(order) != len(shape):
        raise ShapeError(f"axes has {len(order)} entries, expected one per dimension of {text(shape)}")
    return tuple(shape[axis] for axis in order)


def reshape(shape: Shape, new_shape: Sequence[int]) -> Shape:
    """Returns `new_shape` with its -1, if any, replaced by the extent that keeps the number of elements."""
    wanted = f"[{', '.join(map(str, new_shape))}]"
    if any(dim < -1 for dim in new_shape) or list(new_shape).count(-1) > 1:
        raise ShapeError(f"shape is {wanted}, expected extents and at most one -1")
    known = prod(dim for dim in new_shape if dim != -1)
    count = size(shape)
    if -1 not in new_shape:
        if count is not None and count != known:
            raise ShapeError(f"{text(shape)} has {count} elements but shape {wanted} has {known}")
        _check_divisible(shape, known, wanted, exact=True)
        return tuple(new_shape)
    if known == 0:
        raise ShapeError(f"the -1 in shape {wanted} is ambiguous: the other extents multiply to 0")
    if count is not None and count % known != 0:
        raise ShapeError(f"{count} elements of {text(shape)} do not divide into shape {wanted}")
    inferred = None if count is None else count // known
    return tuple(inferred if dim == -1 else dim for dim in new_shape)


def _check_divisible(shape: Shape, count: int, wanted: str, *, exact: bool) -> None:
    """Raises `ShapeError` when `shape` has a `?` and `count` is not a multiple of its known extents."""
    known = prod(dim for dim in shape if dim is not None)
    if None in shape and known and count % known != 0:
        raise ShapeError(f"shape {wanted} has {count} elements, not a multiple of the {known} known of {text(shape)}")


def expand_dims(shape: Shape, axes: Sequence[int]) -> Shape:
    """Returns `shape` with extents of 1 at the positions `axes` of the result."""
    rank = len(shape) + len(axes)
    positions = normalise_axes(axes, rank)
    rest = iter(shape)
    return tuple(1 if i in positions else next(rest) for i in range(rank))


def squeeze(shape: Shape, axes: Sequence[int] | None) -> Shape:
    """Returns `shape` without `axes`, which have extent 1. When `axes` is absent, it leaves out all extents of 1."""
    if axes is None:
        if None in shape:
            raise ShapeError(f"axis must be given because {text(shape)} has a ? extent")
        return tuple(dim for dim in shape if dim != 1)
    positions = normalise_axes(axes, len(shape))
    for axis in positions:
        if shape[axis] not in (1, None):
            raise ShapeError(f"axis {axis} of {text(shape)} has extent {shape[axis]}, expected 1")
    return tuple(dim for i, dim in enumerate(shape) if i not in positions)


def broadcast_to(shape: Shape, new_shape: Sequence[int]) -> Shape:
    """Returns `new_shape`. Raises `ShapeError` unless `shape` stretches to it."""
    wanted = tuple(new_shape)
    if any(dim < 0 for dim in wanted):
        raise ShapeError(f"shape is [{', '.join(map(str, wanted))}], expected extents of at least 0")
    aligned = wanted[len(wanted) - len(shape) :] if len(shape) <= len(wanted) else None
    if aligned is None or any(dim not in (1, None, new) for dim, new in zip(shape, aligned, strict=True)):
        raise ShapeError(f"{text(shape)} does not broadcast to {text(wanted)}")
    return wanted


def concat(shapes: Sequence[Shape], axis: int) -> Shape:
    """Returns the shape of the operands of `shapes` joined along `axis`."""
    first = shapes[0]
    position = normalise_axis(axis, len(first))
    joined = list(first)
    for number, shape in enumerate(shapes[1:], 1):
        if len(shape) != len(first):
            raise ShapeError(f"operand {number} has rank {len(shape)} but operand 0 has rank {len(first)}")
        for i, dim in enumerate(shape):
            if i == position:
                here = joined[i]
                joined[i] = None if dim is None or here is None else here + dim
                continue
            message = f"operand {number} is {text(shape)} but operand 0 is {text(first)}: they differ in dimension {i}"
            joined[i] = same_dim(joined[i], dim, message)
    return tuple(joined)


def split(shape: Shape, axis: int, sections: int | None, indices: Sequence[int] | None) -> tuple[Shape, ...]:
    """Returns the shapes of the parts of `shape` cut along `axis`, into equal `sections` or at `indices`."""
    position = normalise_axis(axis, len(shape))
    if (sections is None) == (indices is None):
        given = "neither is given" if sections is None else "both are given"
        raise ShapeError(f"either sections or indices must be given, but {given}")
    extent = shape[position]
    parts = _equal_parts(extent, sections) if sections is not None else _cut_parts(extent, indices or ())
    return tuple((*shape[:position], part, *shape[position + 1 :]) for part in parts)


def _equal_parts(extent: Dim, sections: int) -> list[Dim]:
    if sections < 1:
        raise ShapeError(f"sections is {sections}, expected at least 1")
    if extent is None:
        return [None] * sections
    if extent % sections != 0:
        raise ShapeError(f"{extent} elements do not divide into {sections} equal sections")
    return [extent // sections] * sections


def _cut_parts(extent: Dim, indices: Sequence[int]) -> list[Dim]:
    points = [0, *indices]
    shown = f"[{', '.join(map(str, indices))}]"
    if any(a > b for a, b in zip(points, points[1:], strict=False)):
        raise ShapeError(f"indices is {shown}, expected cut points in increasing order from 0")
    if extent is not None and points[-1] > extent:
        raise ShapeError(f"indices is {shown}, expected cut points of at most {extent}")
    parts: list[Dim] = [b - a for a, b in zip(points, points[1:], strict=False)]
    return [*parts, None if extent is None else extent - points[-1]]


def strided_slice(
    shape: Shape,
    axes: Sequence[int],
    begin: Sequence[int],
    end: Sequence[int],
    strides: Sequence[int] | None,
) -> Shape:
    """Returns the shape of `x[begin:end:stride]` on each of `axes`, by the rules of Python's slices."""
    positions = normalise_axes(axes, len(shape), "axes entry")
    steps = [1] * len(axes) if strides is None else strides
    for name, values in (("begin", begin), ("end", end), ("strides", steps)):
        if len(values) != len(axes):
            raise ShapeError(f"{name} has {len(values)} entries but axes has {len(axes)}")
    if 0 in steps:
        raise ShapeError("strides has an entry 0, expected a positive or negative step")
    dims = list(shape)
    for axis, first, last, step in zip(positions, begin, end, steps, strict=True):
        extent = shape[axis]
        dims[axis] = None if extent is None else len(range(*slice(first, last, step).indices(extent)))
    return tuple(dims)


def pad(shape: Shape, pad_width: Sequence[int]) -> Shape:
    """Returns `shape` with `pad_width[2 * i]` elements before and `pad_width[2 * i + 1]` after dimension `i`."""
    if len(pad_width) != 2 * len(shape):
        raise ShapeError(f"pad_width has {len(pad_width)} entries, expected 2 per dimension of {text(shape)}")
    if any(width < 0 for width in pad_width):
        raise ShapeError(f"pad_width is [{', '.join(map(str, pad_width))}], expected each at least 0")
    return tuple(None if dim is None else pad_width[2 * i] + dim + pad_width[2 * i + 1] for i, dim in enumerate(shape))


def take(shape: Shape, indices: Shape, axis: int) -> Shape:
    """Returns `shape` with the shape of `indices` in place of `axis`."""
    position = normalise_axis(axis, len(shape))
    return shape[:position] + indices + shape[position + 1 :]
