"""Ops that take sizes: the static op where they are known, else the one that takes them as a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ....dialects.graph.shapes import Dim, Shaped, broadcast_dim
from ....dialects.graph.signature import tensor_type
from ..errors import ConversionError
from ..files.tensors import LARGEST_EXTENT
from ..value import Value
from .graph_builder import GraphBuilder
from .sizes import Extent, Size, combined, extents_of, product, quotient, scalar, vector
from .values import RuntimeValue

SHORT_ROW = 16
"""Elements of a row that is not worth a copy of its own. `plan-fusion` says so too (`no-repeat-of-short-rows`)."""


def dims(extents: Sequence[Extent]) -> tuple[Dim, ...]:
    """Returns the shape of a type, with `None` for each extent that is computed."""
    return tuple(None if isinstance(each, Size) else each for each in extents)


def sized(value: Value, extents: Sequence[Extent]) -> Value:
    """Notes what the extents of `value` are made of, and returns it."""
    if isinstance(value, RuntimeValue):
        value.sizes = tuple(each if isinstance(each, Size) else None for each in extents)
    return value


def reshaped(b: GraphBuilder, x: Value, wanted: Sequence[Extent], *, copy_zeros: bool = False) -> Value:
    """
    Returns `x` with the extents `wanted`, of which one may be -1.

    With `copy_zeros`, an extent that turns out to be 0 is that of `x`.
    """
    extents = list(wanted)
    source = extents_of(x)
    if -1 in extents:
        rest = [each for each in extents if each != -1]
        left = quotient(source, rest)
        if left is not None:
            extents[extents.index(-1)] = left
    unknown = [number for number, each in enumerate(extents) if isinstance(each, Size)]
    if tuple(extents) == source and not copy_zeros:
        return x
    if not unknown:
        return b.reshape(x, shape=tuple(extents))
    if len(unknown) == 1 and -1 not in extents and 0 not in extents:
        shape = [-1 if isinstance(each, Size) else each for each in extents]
        return sized(b.reshape(x, shape=tuple(shape)), extents)
    declared = [None if each == -1 else each for each in dims(extents)]
    type_ = tensor_type(Shaped(tuple(declared), x.dtype))
    given = {"copy_zeros": True} if copy_zeros else {}
    result = b.dynamic_reshape(x, vector(b, extents), result_types=[type_], **given)
    return sized(result, extents) if -1 not in extents else result


def broadcast(b: GraphBuilder, x: Value, wanted: Sequence[Extent]) -> Value:
    """Returns `x` stretched to what its shape and `wanted` broadcast to."""
    source = extents_of(x)
    rank = max(len(source), len(wanted))
    pairs = zip((1,) * (rank - len(source)) + source, (1,) * (rank - len(wanted)) + tuple(wanted), strict=True)
    target = [_common(mine, other) for mine, other in pairs]
    if tuple(target) == source:
        return x
    if not any(isinstance(each, Size) or each is None for each in target):
        return b.broadcast_to(x, shape=tuple(each for each in target if each is not None))
    type_ = tensor_type(Shaped(dims(list(target)), x.dtype))  # pyright: ignore[reportArgumentType]
    result = b.dynamic_broadcast_to(x, vector(b, wanted), result_types=[type_])
    return result if None in target else sized(result, [each for each in target if each is not None])


def _common(mine: Extent, other: Extent) -> Extent | None:
    """Returns the extent that two broadcast to, `None` when that is not known yet."""
    if mine is other or other == 1:
        return mine
    if mine == 1:
        return other
    known = [each for each in (mine, other) if not isinstance(each, Size)]
    if len(known) < 2:
        return known[0] if known else None
    try:
        return broadcast_dim(*known)
    except ValueError:
        raise ConversionError(f"extents {mine} and {other} do not broadcast") from None


def sliced(
    b: GraphBuilder,
    x: Value,
    axes: Sequence[int],
    begin: Sequence[Extent],
    end: Sequence[Extent],
    steps: Sequence[Extent],
) -> Value:
    """Returns `x[begin:end:step]` along `axes`."""
    along = [axis % x.rank if -x.rank <= axis < x.rank else axis for axis in axes]
    rows = list(zip(along, begin, end, steps, strict=True))
    static = [row for row in rows if not any(isinstance(each, Size) for each in row)]
    dynamic = [row for row in rows if row not in static]
    if static:
        columns: Any = list(zip(*static, strict=True))
        x = b.strided_slice(x, axes=columns[0], begin=columns[1], end=columns[2], strides=columns[3])
    if dynamic:
        axes_, *bounds = zip(*dynamic, strict=True)
        x = b.dynamic_slice(x, *(vector(b, each) for each in bounds), axes=tuple(axes_))
    return x


def repeated(b: GraphBuilder, x: Value, counts: Sequence[Extent]) -> Value:
    """Repeats each dimension of `x` the given number of times: `y[i…] = x[i % size…]`."""
    if len(counts) != x.rank:
        raise ConversionError(f"repeats has {len(counts)} entries, expected {x.rank} for {x.shaped}")
    shape = extents_of(x)
    if all(count == 1 for count in counts):
        return x
    last = max(axis for axis, count in enumerate(counts) if count != 1)
    if any(count != 1 for count in counts[:last]) and _is_short(shape[last:]):
        rows = [count if axis == last else 1 for axis, count in enumerate(counts)]
        return repeated(b, repeated(b, x, rows), [1 if axis == last else count for axis, count in enumerate(counts)])
    before = [extent for size in shape for extent in (1, size)]
    after = [extent for pair in zip(counts, shape, strict=True) for extent in pair]
    spread = broadcast(b, reshaped(b, x, before), after)
    return reshaped(b, spread, [product(pair) for pair in zip(counts, shape, strict=True)])


def _is_short(extents: Sequence[Extent]) -> bool:
    """Returns whether rows are so short that they are repeated first, and long rows then."""
    sizes = [extent for extent in extents if isinstance(extent, int)]
    return len(sizes) == len(extents) and prod(sizes) < SHORT_ROW


def backwards(b: GraphBuilder, x: Value, axis: int) -> Value:
    """Returns `x` in reverse order along an axis."""
    return b.strided_slice(x, axes=(axis,), begin=(-1,), end=(-LARGEST_EXTENT,), strides=(-1,))


def filled(b: GraphBuilder, extents: Sequence[Extent], value: float | int, dtype: str) -> Value:
    """Returns a tensor of these extents with the same value everywhere."""
    shape = dims(extents)
    if None not in shape:
        return b.full(tuple(each for each in shape if each is not None), value, dtype)
    return broadcast(b, b.full((), value, dtype), extents)


def counted(b: GraphBuilder, first: Extent, limit: Extent) -> Value:
    """Returns the numbers from `first` to before `limit` as an i64 vector."""
    if not isinstance(first, Size) and not isinstance(limit, Size):
        return b.constant(np.arange(first, limit, dtype=np.int64))
    result = b.arange(scalar(b, first), scalar(b, limit), b.constant(np.array(1, np.int64)))
    return sized(result, [limit]) if first == 0 and isinstance(limit, Size) and limit.natural else result


def padded_by_positions(b: GraphBuilder, x: Value, axis: int, before: Extent, after: Extent, mode: str) -> Value:
    """
    Pads `x` along `axis` with its own elements, each taken from a place that is computed.

    A place `p` outside stands for `p mod n` with `wrap` and for the nearest place inside with `edge`. With `reflect` it
    is mirrored as often as it takes.
    """
    extent = extents_of(x)[axis]
    last = combined("subtract", extent, 1)
    zero = b.constant(np.array(0, np.int64))
    places = counted(b, combined("subtract", 0, before), combined("add", extent, after))
    match mode:
        case "wrap":
            places = b.mod(places, scalar(b, extent))
        case "edge":
            places = b.maximum(b.minimum(places, scalar(b, last)), zero)
        case "reflect":
            period = scalar(b, combined("maximum", combined("multiply", last, 2), 1))
            places = b.mod(places, period)
            places = b.minimum(places, b.subtract(period, places))
            places = b.minimum(places, scalar(b, last))
        case _:
            raise ConversionError(f"mode is '{mode}', expected constant, reflect, edge or wrap")
    return b.take(x, places, axis=axis)
