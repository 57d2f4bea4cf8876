"""Weighted sums of elements at places that other tensors give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ...lazy_dataclass import dataclass
from .. import dtypes, ops
from ..expr import Expr, TEError, binary, const
from ..tensor import Dim, Tensor, reduce_axis
from .shapes import ZERO, Indices, elementwise, normalise_axis, require_float, require_integer, stage, static_dim

UNROLLED = 4
"""The most taps that are written out, so that the sum can be part of what uses it. More taps become a reduction."""

FARTHEST = 2.0**30
"""Coordinates beyond this limit count as the limit itself, so that positions stay numbers of elements."""

VECTOR = 8
"""The least number of channels that are sampled side by side."""

CUBIC = -0.75
"""The free parameter of cubic convolution."""


def resample(x: Tensor, indices: Tensor, weights: Tensor, axis: int) -> Tensor:
    """
    `y[…, i, …] = sum_t weights[i, t] * x[…, indices[i, t], …]`. An index outside stands for the nearest one inside.
    """
    require_float("resample", x, weights)
    require_integer("resample", indices)
    dim = normalise_axis("resample", axis, x.rank)
    if indices.rank != 2 or weights.rank != 2:
        raise TEError(f"resample: '{indices.name}' and '{weights.name}' are not matrices")
    taps, acc = static_dim("resample", weights, 1), dtypes.accumulator(x.dtype)

    def term(at: Indices, tap: Expr) -> Expr:
        position = _clamped(ops.cast("index", indices[(at[dim], tap)]), x.shape[dim])
        value = x[(*at[:dim], position, *at[dim + 1 :])]
        return ops.cast(acc, weights[(at[dim], tap)]) * ops.cast(acc, value)

    shape = (*x.shape[:dim], weights.shape[0], *x.shape[dim + 1 :])
    if 0 < taps <= UNROLLED:
        return stage("resample", shape, lambda at: ops.cast(x.dtype, _total(at, taps, term)))
    k = reduce_axis(taps, "t")
    total = stage("resample_acc", shape, lambda at: ops.sum(term(at, k), axis=k))
    return elementwise("resample", total, lambda value: ops.cast(x.dtype, value)) if acc != x.dtype else total


def _total(at: Indices, taps: int, term: Callable[[Indices, Expr], Expr]) -> Expr:
    total = term(at, ZERO)
    for tap in range(1, taps):
        total = total + term(at, const(tap, "index"))
    return total


def _clamped(position: Expr, size: Dim) -> Expr:
    """Returns the nearest position within `size` elements."""
    return binary("max", binary("min", position, size + const(-1, "index")), 0)


# Points


@dataclass(frozen=True)
class _Tap:
    """One element that contributes to the value at a point, in one dimension."""

    position: Expr
    """The position, limited to the image."""
    inside: Expr | None
    """The condition that the element itself lies in the image. `None` stands for always."""
    weight: Expr | None
    """The weight. `None` stands for 1."""


def sample(x: Tensor, points: Tensor, mode: str = "linear", padding: str = "zeros") -> Tensor:
    """
    `y[n, c, p…] = sum over i… of w(points[n, p…, 0] - i0) * … * x[n, c, i…]`. It reads images between their elements,
    whose centres are whole numbers.
    """
    require_float("sample", x, points)
    rank = x.rank - 2
    if rank < 1 or points.rank < 2 or points.shape[-1] != rank:
        raise TEError(f"sample: '{points.name}' does not hold points in the dimensions of '{x.name}'")
    if mode not in _TAPS or padding not in ("zeros", "edge", "reflect", "symmetric"):
        raise TEError(f"sample: unknown mode '{mode}' or padding '{padding}'")
    acc = dtypes.accumulator(x.dtype)

    def taps_at(batch: Expr, place: Sequence[Expr]) -> list[list[_Tap]]:
        taps: list[list[_Tap]] = []
        for dim in range(rank):
            point = ops.cast(acc, points[(batch, *place, const(dim, "index"))])
            bounded = ops.minimum(ops.maximum(point, -FARTHEST), FARTHEST)
            taps.append([_tap(each, weight, x.shape[2 + dim], padding) for each, weight in _TAPS[mode](bounded)])
        return taps

    def value(load: Callable[[Indices], Expr], batch: Expr, place: Sequence[Expr]) -> Expr:
        return ops.cast(x.dtype, _weighed(lambda at: ops.cast(acc, load(at)), (), taps_at(batch, place), acc))

    shape = (*x.shape[:2], *points.shape[1:-1])
    if not _many_channels(x, points):
        return stage("sample", shape, lambda at: value(lambda i: x[(at[0], at[1], *i)], at[0], at[2:]))
    last = stage("sample_image", (x.shape[0], *x.shape[2:], x.shape[1]), lambda at: x[(at[0], at[-1], *at[1:-1])])
    lines = stage(
        "sample_lines",
        (shape[0], *shape[2:], shape[1]),
        lambda at: value(lambda i: last[(at[0], *i, at[-1])], at[0], at[1:-1]),
    )
    return stage("sample", shape, lambda at: lines[(at[0], *at[2:], at[1])])


def _many_channels(x: Tensor, points: Tensor) -> bool:
    """
    Returns whether vectors of channels are worth it to turn the image and the result. Each point finds its neighbours
    once then, not once for each channel. There are as many points as pixels, or nearly.
    """
    channels, pixels, places = x.shape[1], x.shape[2:], points.shape[1:-1]
    if not isinstance(channels, int) or channels < VECTOR:
        return False
    sizes = [size for size in (*pixels, *places) if isinstance(size, int)]
    return len(sizes) == len(pixels) + len(places) and prod(sizes[len(pixels) :]) * 4 >= prod(sizes[: len(pixels)])


def _weighed(load: Callable[[Indices], Expr], at: Indices, taps: list[list[_Tap]], acc: str, *inside: Expr) -> Expr:
    """Returns the sum over the taps of the dimensions that `at` does not name yet, one dimension inside the other."""
    if not taps:
        value = load(at)
        return ops.select(ops.all(*inside), value, const(0, acc)) if inside else value
    total: Expr | None = None
    for tap in taps[0]:
        conditions = inside if tap.inside is None else (*inside, tap.inside)
        value = _weighed(load, (*at, tap.position), taps[1:], acc, *conditions)
        term = value if tap.weight is None else tap.weight * value
        total = term if total is None else total + term
    assert total is not None
    return total


def _tap(element: Expr, weight: Expr | None, size: Dim, padding: str) -> _Tap:
    """Returns the tap at a whole number, which is given as a float."""
    position = ops.cast("index", ops.cast("i64", element))
    match padding:
        case "zeros":
            inside = ops.all(position >= 0, position < size)
            return _Tap(_clamped(position, size), inside, weight)
        case "edge":
            return _Tap(_clamped(position, size), None, weight)
        case "reflect":
            period = binary("max", size * const(2, "index") + const(-2, "index"), 1)
            last = size * const(2, "index") + const(-2, "index")
        case _:
            period = size * const(2, "index")
            last = period + const(-1, "index")
    offset = position % period
    return _Tap(binary("min", offset, last - offset), None, weight)


def _nearest(point: Expr) -> list[tuple[Expr, Expr | None]]:
    return [(ops.unary("round", point), None)]


def _linear(point: Expr) -> list[tuple[Expr, Expr | None]]:
    first = ops.floor(point)
    share = point - first
    return [(first, 1.0 - share), (first + 1.0, share)]


def _cubic(point: Expr) -> list[tuple[Expr, Expr | None]]:
    """
    Returns the weights `w(1 + s), w(s), w(1 - s), w(2 - s)`, where s is the fraction of the way from the second tap to
    the third.
    """
    first = ops.floor(point)
    share = point - first
    rest = 1.0 - share
    return [
        (first - 1.0, _far(share + 1.0)),
        (first, _near(share)),
        (first + 1.0, _near(rest)),
        (first + 2.0, _far(rest + 1.0)),
    ]


def _near(distance: Expr) -> Expr:
    """Returns `(a + 2) d^3 - (a + 3) d^2 + 1`, for `d <= 1`."""
    return (distance * (CUBIC + 2) - (CUBIC + 3)) * distance * distance + 1.0


def _far(distance: Expr) -> Expr:
    """Returns `a d^3 - 5 a d^2 + 8 a d - 4 a`, for `1 <= d <= 2`."""
    return ((distance * CUBIC - 5 * CUBIC) * distance + 8 * CUBIC) * distance - 4 * CUBIC


_TAPS: dict[str, Callable[[Expr], list[tuple[Expr, Expr | None]]]] = {
    "nearest": _nearest,
    "linear": _linear,
    "cubic": _cubic,
}
"""The taps of each mode: elements as floats, and their weights."""
