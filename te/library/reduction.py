"""Reductions over axes, and softmax."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import dtypes, ops
from ..expr import Axis, Expr, TEError
from ..tensor import Dim, Tensor, reduce_axis
from .shapes import (
    ZERO,
    Indices,
    count_constant,
    elementwise,
    extent_product,
    normalise_axes,
    normalise_axis,
    require_bool,
    require_float,
    require_number,
    stage,
)

AxisLike = int | Sequence[int] | None


def _outer_shape(x: Tensor, dims: tuple[int, ...], keepdims: bool) -> tuple[list[Dim], list[str]]:
    """
    Returns the shape and the axis names of `x` reduced over `dims`. The axis `i2` always stands for dimension 2 of `x`.
    """
    if keepdims:
        return [1 if d in dims else size for d, size in enumerate(x.shape)], [f"i{d}" for d in range(x.rank)]
    kept = [d for d in range(x.rank) if d not in dims]
    return [x.shape[d] for d in kept], [f"i{d}" for d in kept]


def _merged(x: Tensor, dims: tuple[int, ...], keepdims: bool, outer: Indices, inner: Indices) -> Indices:
    """Returns the indices of `x`: `inner` along `dims`, and `outer` (the indices of the reduced tensor) elsewhere."""
    inside, outside = iter(inner), iter(outer)
    result: list[Expr] = []
    for dim in range(x.rank):
        if dim in dims:
            result.append(next(inside))
            if keepdims:
                next(outside)
        else:
            result.append(next(outside))
    return tuple(result)


def _axes_over(x: Tensor, dims: tuple[int, ...]) -> tuple[Axis, ...]:
    return tuple(reduce_axis(x.shape[dim], f"k{dim}") for dim in dims)


def reduced(
    name: str,
    x: Tensor,
    dims: tuple[int, ...],
    keepdims: bool,
    reducer: Callable[[Expr, tuple[Axis, ...]], Expr],
    element: Callable[[Expr, Indices], Expr] = lambda value, _: value,
) -> Tensor:
    """Builds one stage, `reducer(element(x[…], indices of the result), axes)` over the dimensions `dims` of `x`."""
    shape, names = _outer_shape(x, dims, keepdims)
    axes = _axes_over(x, dims)

    def body(outer: Indices) -> Expr:
        value = element(x[_merged(x, dims, keepdims, outer, axes)], outer)
        return reducer(value, axes) if axes else value

    return stage(name, shape, body, names)


def _accumulated(name: str, x: Tensor, axis: AxisLike, keepdims: bool, reducer: Callable[..., Expr]) -> Tensor:
    """Builds a reduction in at least f32, rounded once at the end."""
    require_number(name, x)
    dims = normalise_axes(name, axis, x.rank)
    acc = dtypes.accumulator(x.dtype)
    if acc == x.dtype or not dims:
        return reduced(name, x, dims, keepdims, reducer)
    total = reduced(f"{name}_acc", x, dims, keepdims, reducer, lambda value, _: ops.cast(acc, value))
    return elementwise(name, total, lambda value: ops.cast(x.dtype, value))


def sum(x: Tensor, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The sum over `axis`, or over all axes when it is absent. It is 0 for no elements."""
    return _accumulated("sum", x, axis, keepdims, ops.sum)


def prod(x: Tensor, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The product over `axis`, or over all axes when it is absent. It is 1 for no elements."""
    return _accumulated("prod", x, axis, keepdims, ops.prod)


def mean(x: Tensor, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The sum divided by the number of elements. It is NaN for no elements."""
    require_float("mean", x)
    dims = normalise_axes("mean", axis, x.rank)
    acc = dtypes.accumulator(x.dtype)
    total = reduced("mean_sum", x, dims, keepdims, ops.sum, lambda value, _: ops.cast(acc, value))
    count = count_constant([x.shape[dim] for dim in dims], acc)
    return elementwise("mean", total, lambda value: ops.cast(x.dtype, value / count))


def _require_elements(name: str, x: Tensor, dims: tuple[int, ...]) -> None:
    if extent_product([x.shape[dim] for dim in dims]) == 0:
        raise TEError(f"{name}: '{x.name}' has no elements along dimensions {list(dims)}, expected at least one")


def max(x: Tensor, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The largest element over `axis`. It is NaN if one element is."""
    require_number("max", x)
    dims = normalise_axes("max", axis, x.rank)
    _require_elements("max", x, dims)
    return reduced("max", x, dims, keepdims, ops.max)


def min(x: Tensor, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The smallest element over `axis`. It is NaN if one element is."""
    require_number("min", x)
    dims = normalise_axes("min", axis, x.rank)
    _require_elements("min", x, dims)
    return reduced("min", x, dims, keepdims, ops.min)


def any(x: Tensor, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """Returns whether an element over `axis` is true. It is false for no elements."""
    require_bool("any", x)
    return reduced("any", x, normalise_axes("any", axis, x.rank), keepdims, ops.any_of)


def all(x: Tensor, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """Returns whether every element over `axis` is true. It is true for no elements."""
    require_bool("all", x)
    return reduced("all", x, normalise_axes("all", axis, x.rank), keepdims, ops.all_of)


def _position(x: Tensor, dims: tuple[int, ...], axes: tuple[Axis, ...]) -> Expr:
    """Returns the row-major position of the point `axes` within the dimensions `dims`."""
    position: Expr = ZERO
    for dim, axis in zip(dims, axes, strict=True):
        position = position * x.shape[dim] + axis
    return position


def _arg(name: str, x: Tensor, axis: int | None, keepdims: bool, reducer: Callable[..., Expr]) -> Tensor:
    """
    Builds two reductions: the best element, then the lowest position that holds it, or a NaN where that is the best.

    Each of the two carries one value and runs in vectors. A single reduction of a value together with its position
    would not.
    """
    require_number(name, x)
    dims = tuple(range(x.rank)) if axis is None else (normalise_axis(name, axis, x.rank),)
    _require_elements(name, x, dims)
    shape, names = _outer_shape(x, dims, keepdims)
    if not dims:
        return stage(name, shape, lambda _: ops.cast("i64", 0))
    best = reduced(f"{name}_value", x, dims, keepdims, reducer)
    axes = _axes_over(x, dims)
    count = extent_product([x.shape[dim] for dim in dims])
    kind = "i32" if isinstance(count, int) and count < 2**31 else "i64"

    def body(outer: Indices) -> Expr:
        value = x[_merged(x, dims, keepdims, outer, axes)]
        found = ops.equal(value, best[outer])
        if dtypes.is_float(x.dtype):
            found = ops.any(found, ops.isnan(value))
        place = ops.cast(kind, _position(x, dims, axes))
        return ops.min(ops.select(found, place, ops.highest(kind)), axes)

    first = stage(f"{name}_place", shape, body, names)
    return first if kind == "i64" else elementwise(name, first, lambda place: ops.cast("i64", place))


def argmax(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position (i64) of the first largest element along `axis`, or in the flattened tensor. The first NaN wins."""
    return _arg("argmax", x, axis, keepdims, ops.max)


def argmin(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position (i64) of the first smallest element along `axis`, or in the flattened tensor. The first NaN wins."""
    return _arg("argmin", x, axis, keepdims, ops.min)


def _row(indices: Indices, dim: int) -> Indices:
    return indices[:dim] + indices[dim + 1 :]


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """`e / sum(e)` with `e = exp(x - max(x))` along `axis`. There is one division per sum, which is at least 1."""
    require_float("softmax", x)
    dim = normalise_axis("softmax", axis, x.rank)
    acc = dtypes.accumulator(x.dtype)
    largest = reduced("softmax_max", x, (dim,), False, ops.max, lambda value, _: ops.widened(acc, value))
    e = stage("softmax_exp", x.shape, lambda i: ops.exp(ops.widened(acc, x[i]) - largest[_row(i, dim)]))
    total = reduced("softmax_sum", e, (dim,), False, ops.sum)
    scale = elementwise("softmax_scale", total, lambda value: 1 / value)
    return stage("softmax", x.shape, lambda i: ops.rounded(x.dtype, e[i] * scale[_row(i, dim)]))


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """`(x - max(x)) - log(sum(exp(x - max(x))))` along `axis`."""
    require_float("log_softmax", x)
    dim = normalise_axis("log_softmax", axis, x.rank)
    acc = dtypes.accumulator(x.dtype)
    largest = reduced("log_softmax_max", x, (dim,), False, ops.max, lambda value, _: ops.cast(acc, value))
    total = reduced(
        "log_softmax_sum",
        x,
        (dim,),
        False,
        ops.sum,
        lambda value, row: ops.exp(ops.cast(acc, value) - largest[row]),
    )
    log_total = elementwise("log_softmax_log", total, ops.log)

    def body(indices: Indices) -> Expr:
        row = _row(indices, dim)
        return ops.cast(x.dtype, (ops.cast(acc, x[indices]) - largest[row]) - log_total[row])

    return stage("log_softmax", x.shape, body)
