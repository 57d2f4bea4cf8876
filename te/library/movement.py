"""Tensors that hold the elements of others at other places."""

from __future__ import annotations

from collections.abc import Sequence

from .. import dtypes, ops
from ..expr import Expr, Number, TEError, compare, const
from ..tensor import Dim, Tensor
from .reshaping import reshaped_indices, resolve_shape
from .shapes import (
    ZERO,
    Indices,
    broadcast_indices,
    broadcast_shapes,
    normalise_axes,
    normalise_axis,
    number,
    require_integer,
    require_same_type,
    same_dim,
    shape_text,
    stage,
    static_dim,
)
from .windows import padded


def permute_dims(x: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    """`y[i[axes[0]], i[axes[1]], …] = x[i]`. The dimensions are reversed when `axes` is absent."""
    given = tuple(reversed(range(x.rank))) if axes is None else tuple(axes)
    order = [normalise_axis("permute_dims", axis, x.rank) for axis in given]
    if sorted(order) != list(range(x.rank)):
        raise TEError(f"permute_dims: axes {list(given)} are not a permutation of {x.rank} dimensions")
    source = [order.index(dim) for dim in range(x.rank)]
    return stage("permute_dims", [x.shape[dim] for dim in order], lambda i: x[tuple(i[k] for k in source)])


def reshape(x: Tensor, shape: Sequence[Dim]) -> Tensor:
    """The elements of `x` in row-major order with another shape. One size may be -1."""
    sizes = resolve_shape(x, shape)
    return stage("reshape", sizes, lambda i: x[reshaped_indices("reshape", x.shape, sizes, i)])


def expand_dims(x: Tensor, axis: int | Sequence[int]) -> Tensor:
    """`x` with dimensions of size 1 at the positions `axis` of the result."""
    given = (axis,) if isinstance(axis, int) else tuple(axis)
    new = normalise_axes("expand_dims", given, x.rank + len(given))
    sizes = iter(x.shape)
    shape = [1 if dim in new else next(sizes) for dim in range(x.rank + len(given))]
    return stage("expand_dims", shape, lambda i: x[tuple(index for dim, index in enumerate(i) if dim not in new)])


def squeeze(x: Tensor, axis: int | Sequence[int] | None = None) -> Tensor:
    """`x` without the dimensions `axis`, which have size 1. When `axis` is absent, all dimensions of size 1 go."""
    if axis is None:
        axis = [dim for dim, size in enumerate(x.shape) if same_dim(size, 1)]
    gone = normalise_axes("squeeze", axis, x.rank)
    for dim in gone:
        if isinstance(size := x.shape[dim], int) and size != 1:
            raise TEError(f"squeeze: dimension {dim} has size {size}, expected 1")
    kept = [dim for dim in range(x.rank) if dim not in gone]

    def body(indices: Indices) -> Expr:
        source: list[Expr] = [ZERO] * x.rank
        for dim, index in zip(kept, indices, strict=True):
            source[dim] = index
        return x[tuple(source)]

    return stage("squeeze", [x.shape[dim] for dim in kept], body)


def broadcast_to(x: Tensor, shape: Sequence[Dim]) -> Tensor:
    """`x` stretched to `shape`."""
    sizes = tuple(shape)
    common = broadcast_shapes("broadcast_to", x.shape, sizes)
    if len(common) != len(sizes) or any(
        isinstance(a, int) and isinstance(b, int) and a != b for a, b in zip(common, sizes, strict=True)
    ):
        raise TEError(f"broadcast_to: {shape_text(x.shape)} does not stretch to {shape_text(sizes)}")
    return stage("broadcast_to", sizes, lambda i: x[broadcast_indices(x.shape, sizes, i)])


def concat(*tensors: Tensor, axis: int = 0) -> Tensor:
    """The tensors one after the other along `axis`. All other sizes agree."""
    if not tensors:
        raise TEError("concat: no operands, expected at least one")
    require_same_type("concat", *tensors)
    dim = normalise_axis("concat", axis, tensors[0].rank)
    _check_concat(tensors, dim)
    starts = [0]
    for x in tensors:
        starts.append(starts[-1] + static_dim("concat", x, dim))
    parts = [(x, start) for x, start in zip(tensors, starts, strict=False) if x.shape[dim] != 0] or [(tensors[0], 0)]

    def pick(indices: Indices, first: int, last: int) -> Expr:
        """
        Returns the element of the parts `first` to `last - 1`. It selects between halves, so that the depth is
        logarithmic.
        """
        if last - first == 1:
            x, start = parts[first]
            return x[(*indices[:dim], indices[dim] - start, *indices[dim + 1 :])]
        middle = (first + last) // 2
        return ops.if_then_else(
            indices[dim] < parts[middle][1], pick(indices, first, middle), pick(indices, middle, last)
        )

    shape = (*tensors[0].shape[:dim], starts[-1], *tensors[0].shape[dim + 1 :])
    return stage("concat", shape, lambda i: pick(i, 0, len(parts)))


def _check_concat(tensors: Sequence[Tensor], dim: int) -> None:
    first = tensors[0]
    for x in tensors[1:]:
        if x.rank != first.rank:
            raise TEError(f"concat: '{x.name}' has {x.rank} dimensions, expected {first.rank} as '{first.name}'")
        for other, (a, b) in enumerate(zip(x.shape, first.shape, strict=True)):
            if other != dim and isinstance(a, int) and isinstance(b, int) and a != b:
                raise TEError(f"concat: dimension {other} of '{x.name}' is {a}, expected {b} as '{first.name}'")


def split(
    x: Tensor, axis: int = 0, sections: int | None = None, indices: Sequence[int] | None = None
) -> tuple[Tensor, ...]:
    """`x` cut along `axis` into `sections` equal parts, or before each of the increasing `indices`."""
    dim = normalise_axis("split", axis, x.rank)
    size = static_dim("split", x, dim)
    if (sections is None) == (indices is None):
        raise TEError("split: give either sections or indices")
    if sections is not None:
        if sections < 1 or size % sections:
            raise TEError(f"split: {sections} sections do not divide dimension {dim} of size {size}")
        part = size // sections
        cuts = [part * k for k in range(sections + 1)]
    else:
        cuts = [0, *(indices or ()), size]
        if cuts != sorted(cuts):
            raise TEError(f"split: indices {cuts[1:-1]} are not increasing within 0 to {size}")
    return tuple(_window(x, dim, first, last) for first, last in zip(cuts, cuts[1:], strict=False))


def _window(x: Tensor, dim: int, first: int, last: int) -> Tensor:
    shape = (*x.shape[:dim], last - first, *x.shape[dim + 1 :])
    return stage("split", shape, lambda i: x[(*i[:dim], i[dim] + first, *i[dim + 1 :])])


def strided_slice(
    x: Tensor,
    axes: Sequence[int],
    begin: Sequence[int | None],
    end: Sequence[int | None],
    strides: Sequence[int] | None = None,
) -> Tensor:
    """`x[begin:end:stride]` along each of `axes`, by the rules of Python's slices."""
    steps = [1] * len(axes) if strides is None else list(strides)
    if not len(axes) == len(begin) == len(end) == len(steps):
        raise TEError(
            f"strided_slice: axes, begin, end and strides have {len(axes)}, {len(begin)}, {len(end)} and {len(steps)} "
            "entries, expected the same number"
        )
    normalise_axes("strided_slice", axes, x.rank)
    ranges: dict[int, range] = {}
    for axis, first, last, step in zip(axes, begin, end, steps, strict=True):
        if step == 0:
            raise TEError("strided_slice: a stride is 0")
        dim = axis % x.rank
        ranges[dim] = range(*slice(first, last, step).indices(static_dim("strided_slice", x, dim)))
    shape = [len(ranges[dim]) if dim in ranges else size for dim, size in enumerate(x.shape)]

    def body(indices: Indices) -> Expr:
        return x[
            tuple(
                index * ranges[dim].step + ranges[dim].start if dim in ranges else index
                for dim, index in enumerate(indices)
            )
        ]

    return stage("strided_slice", shape, body)


def pad(x: Tensor, pad_width: Sequence[int], value: Number = 0) -> Tensor:
    """`x` surrounded by `value`: `pad_width = [before0, after0, before1, …]` elements per dimension."""
    if len(pad_width) != 2 * x.rank:
        raise TEError(f"pad: pad_width has {len(pad_width)} entries, expected {2 * x.rank} for {x.rank} dimensions")
    if any(width < 0 for width in pad_width):
        raise TEError(f"pad: pad_width {list(pad_width)} has a negative entry")
    return padded("pad", x, pad_width[::2], pad_width[1::2], number("pad", value, x.dtype))


def take(x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """
    `y[…, j…, …] = x[…, indices[j…], …]`. The shape of `indices` replaces dimension `axis`. A negative index counts from
    the end once. An index outside that range fails the program.
    """
    require_integer("take", indices)
    dim = normalise_axis("take", axis, x.rank)
    size = x.shape[dim]
    inner = range(dim, dim + indices.rank)

    def body(at: Indices) -> Expr:
        index = indices[tuple(at[k] for k in inner)]
        position, inside = position_in(index, size)
        value = x[(*at[:dim], position, *at[dim + indices.rank :])]
        return ops.check(inside, value, "graph.take: index out of range")

    return stage("take", (*x.shape[:dim], *indices.shape, *x.shape[dim + 1 :]), body)


def position_in(index: Expr, size: Dim) -> tuple[Expr, Expr]:
    """Returns the position that `index` means in a dimension of `size` elements, and whether there is one."""
    position = ops.cast("index", index)
    if index.dtype == "ui64" and isinstance(size, int):
        # The comparison comes before the conversion, which makes counts from 2 ** 63 on negative.
        return position, compare("lt", index, const(size, "ui64"))
    if dtypes.is_unsigned(index.dtype) and isinstance(size, int) and dtypes.integer_range(index.dtype)[1] < size:
        return position, const(True, "i1")
    if dtypes.is_unsigned(index.dtype):
        return position, ops.all(position >= 0, position < size) if index.dtype == "ui64" else position < size
    position = ops.select(position < 0, position + size, position)
    return position, ops.all(position >= 0, position < size)
