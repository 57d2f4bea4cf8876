"""Operators that read and write at indices, or look for positions: gathers, scatters, TopK, OneHot, ArgMax."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..emitting.forms import backwards, counted, repeated
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import combined, extents_of, scalar
from ..errors import ConversionError
from ..registry import Known, converter, direct
from ..value import Value
from .movement import ints

Array = np.ndarray[Any, Any]

direct("GatherElements", "take_along_axis", inputs=2, axis=("axis", 0))
direct("GatherND", "gather_nd", inputs=2, batch_dims=("batch_dims", 0))

REDUCTIONS = {"none": "none", "add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}
"""What the attribute `reduction` is called in the graph dialect."""


def _reduction(name: str) -> str:
    if name not in REDUCTIONS:
        raise ConversionError(f"reduction is '{name}', expected one of {', '.join(REDUCTIONS)}")
    return REDUCTIONS[name]


@converter("Scatter")
@converter("ScatterElements")
def scatter_elements(
    b: GraphBuilder, x: Value, indices: Value, updates: Value, *, axis: int = 0, reduction: str = "none"
) -> Value:
    return _on_numbers(
        b, x, updates, reduction, lambda old, new, how: b.scatter_elements(old, indices, new, axis=axis, reduction=how)
    )


@converter("ScatterND")
def scatter_nd(b: GraphBuilder, x: Value, indices: Value, updates: Value, *, reduction: str = "none") -> Value:
    return _on_numbers(b, x, updates, reduction, lambda old, new, how: b.scatter_nd(old, indices, new, reduction=how))


def _on_numbers(b: GraphBuilder, x: Value, updates: Value, reduction: str, scatter: Any) -> Value:
    """Booleans are combined as bytes: a sum and a maximum are "or", a product and a minimum "and"."""
    how = _reduction(reduction)
    if how == "none" or x.dtype != "i1":
        return scatter(x, updates, how)
    how = {"add": "maximum", "multiply": "minimum"}.get(how, how)
    combined = scatter(b.astype(x, dtype="ui8"), b.astype(updates, dtype="ui8"), how)
    return b.astype(combined, dtype="i1")


@converter("TensorScatter")
def tensor_scatter(
    b: GraphBuilder,
    past: Value,
    update: Value,
    starts: Value | None = None,
    *,
    axis: int = -2,
    mode: str = "linear",
) -> Value:
    """
    `y[b, …, start[b] + t, …] = update[b, …, t, …]`. A place beyond the end is an error at run time with mode 'linear',
    and one at the start with 'circular'.
    """
    if mode not in ("linear", "circular"):
        raise ConversionError(f"mode is '{mode}', expected 'linear' or 'circular'")
    shape, size = b.static_shape(past, "the cache"), b.static_shape(update, "the update")
    axis = axis + past.rank if axis < 0 else axis
    if axis == 0:
        raise ConversionError("the axis is 0, which is that of the batch")
    if starts is None:
        starts = b.constant(np.zeros(shape[0], np.int64))
    counted = b.constant(np.arange(size[axis], dtype=np.int64).reshape(1, -1))
    places = b.add(b.reshape(b.astype(starts, dtype="i64"), shape=(-1, 1)), counted)
    if mode == "circular":
        places = b.mod(places, b.full((), shape[axis], "i64"))
    return written(b, past, update, places, axis)


def written(b: GraphBuilder, past: Value, update: Value, places: Value, axis: int) -> Value:
    """`y[b, …, places[b, t], …] = update[b, …, t, …]`, and the rest that of `past`."""
    outer = b.static_shape(update, "the update")[: axis + 1]
    own = np.moveaxis(np.indices(outer, np.int64)[:axis], 0, -1)
    spread = b.reshape(places, shape=(outer[0], *(1,) * (axis - 1), outer[axis], 1))
    spread = b.broadcast_to(spread, shape=(*outer, 1))
    return b.scatter_nd(past, b.concat(b.constant(np.ascontiguousarray(own)), spread, axis=axis + 1), update)


def scattered(
    b: GraphBuilder, past: Value, update: Value, source: Value, axis: int, count: Value | None = None
) -> Value:
    """
    `y[b, …, t, …] = update[b, …, source[b, t], …]` where there is such an element, else that of `past`.

    With `count` only the first `count[b]` elements are looked at.
    """
    shape, size = b.static_shape(past, "the cache"), b.static_shape(update, "the update")
    limit = size[axis] if count is None else b.reshape(count, shape=(-1, 1))
    written = b.logical_and(b.greater_equal(source, 0), b.less(source, limit))
    taken = update
    if size[axis] > 1:
        inside = b.clip(source, min=0, max=size[axis] - 1)
        order = (0, axis, *(number for number in range(1, past.rank) if number != axis))
        taken = b.gather_nd(b.permute_dims(update, axes=order), b.expand_dims(inside, axis=(2,)), batch_dims=1)
        taken = b.permute_dims(taken, axes=tuple(order.index(number) for number in range(past.rank)))
    spread = [1] * past.rank
    spread[0], spread[axis] = shape[0], shape[axis]
    return b.where(b.reshape(written, shape=tuple(spread)), taken, past)


@converter("ReverseSequence")
def reverse_sequence(b: GraphBuilder, x: Value, lengths: Value, *, batch_axis: int = 1, time_axis: int = 0) -> Value:
    """`y[t, b] = x[length[b] - 1 - t, b]` for `t < length[b]`, else `x[t, b]`."""
    axes = {batch_axis % x.rank, time_axis % x.rank}
    if axes != {0, 1}:
        raise ConversionError(f"batch_axis is {batch_axis} and time_axis {time_axis}, expected 0 and 1")
    time_first = batch_axis % x.rank == 1
    if time_first and None not in x.shape[:2]:
        return _reversed_columns(b, x, lengths)
    order = (1, 0, *range(2, x.rank))
    rows = b.permute_dims(x, axes=order) if time_first else x
    turned = reversed_rows(b, rows, lengths)
    return b.permute_dims(turned, axes=order) if time_first else turned


def reversed_rows(b: GraphBuilder, x: Value, lengths: Value) -> Value:
    """Each `x[b]` with its first `lengths[b]` elements in reverse order. `lengths` is a vector of integers."""
    time = b.expand_dims(counted(b, 0, extents_of(x)[1]), axis=(0,))
    places = _mirrored(b, time, b.expand_dims(b.astype(lengths, dtype="i64"), axis=(1,)))
    return b.gather_nd(x, b.expand_dims(places, axis=(2,)), batch_dims=1)


def _mirrored(b: GraphBuilder, time: Value, ends: Value) -> Value:
    mirrored = b.subtract(b.subtract(ends, b.full((), 1, "i64")), time)
    return b.where(b.less(time, ends), mirrored, time)


def _reversed_columns(b: GraphBuilder, x: Value, lengths: Value) -> Value:
    """The same for each `x[:, b]`, without moving anything twice: a gather by time and number."""
    times, numbers = x.shape[:2]
    assert times is not None and numbers is not None
    time = b.constant(np.arange(times, dtype=np.int64)[:, None])
    places = _mirrored(b, time, b.expand_dims(b.astype(lengths, dtype="i64"), axis=(0,)))
    own = np.broadcast_to(np.arange(numbers, dtype=np.int64)[None, :, None], (times, numbers, 1))
    return b.gather_nd(x, b.concat(b.expand_dims(places, axis=(2,)), b.constant(np.ascontiguousarray(own)), axis=2))


# Positions


def _arg(op: str) -> Any:
    def convert(b: GraphBuilder, x: Value, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Value:
        """The last of equal elements is the first one from the end."""
        if not select_last_index:
            return getattr(b, op)(x, axis=axis, keepdims=bool(keepdims))
        found = getattr(b, op)(backwards(b, x, axis), axis=axis, keepdims=bool(keepdims))
        return b.subtract(scalar(b, combined("subtract", extents_of(x)[axis], 1)), found)

    return convert


converter("ArgMax")(_arg("argmax"))
converter("ArgMin")(_arg("argmin"))


@converter("TopK", since=10)
def top_k(b: GraphBuilder, x: Value, k: Known, *, axis: int = -1, largest: int = 1, sorted: int = 1) -> Any:
    """Always in order, which `sorted = 0` leaves open."""
    return b.top_k(x, k=ints(k)[0], axis=axis, largest=bool(largest))


@converter("TopK")
def top_k_by_attribute(b: GraphBuilder, x: Value, *, k: int, axis: int = -1) -> Any:
    return b.top_k(x, k=k, axis=axis)


@converter("OneHot", since=9)
def one_hot(b: GraphBuilder, indices: Value, depth: Known, values: Value, *, axis: int = -1) -> Value:
    """
    Returns `values[1]` where a new dimension of extent `depth` is at the index, else `values[0]`.

    An index outside gives `values[0]` everywhere.
    """
    size = ints(depth)[0]
    place = axis + indices.rank + 1 if axis < 0 else axis
    if not 0 <= place <= indices.rank:
        raise ConversionError(f"axis {axis} is out of range for indices {indices.shaped}")
    found = indices if indices.dtype == "i64" else b.astype(indices, dtype="i64")
    found = b.where(b.less(found, 0), b.add(found, size), found)
    numbers = np.arange(size, dtype=np.int64).reshape(-1, *(1,) * (indices.rank - place))
    hot = b.equal(b.expand_dims(found, axis=(place,)), b.constant(numbers))
    off, on = b.split(values, sections=2)
    return b.where(hot, b.squeeze(on), b.squeeze(off))


@converter("Compress", since=9)
def compress(b: GraphBuilder, x: Value, condition: Known, *, axis: int | None = None) -> Value:
    """Returns the slices along `axis` for which a known condition holds. Without an axis the input is flattened."""
    places = np.flatnonzero(np.asarray(condition)).astype(np.int64)
    if axis is None:
        return b.take(b.reshape(x, shape=(-1,)), b.constant(places), axis=0)
    return b.take(x, b.constant(places), axis=axis)


@converter("Tile", since=6)
def tile(b: GraphBuilder, x: Value, repeats: Known) -> Value:
    """`y[i…] = x[i % size…]`: each dimension split into its repetitions and itself."""
    return repeated(b, x, ints(repeats))
