"""Operators on sizes that are computed at run time: what stands in for a converter that must know them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..emitting.forms import broadcast, padded_by_positions, repeated, reshaped, sized, sliced
from ..emitting.graph_builder import GraphBuilder
from ..emitting.sizes import Extent, Size, combined, elements_of, extents_of, objects, product, sizes_value, vector
from ..errors import ConversionError
from ..registry import Known, converter
from ..value import Value
from .movement import ints, padded_axes, padded_with


def entries(value: Value, what: str) -> list[Extent]:
    """
    Returns the elements of a vector of sizes. Raises `ConversionError` when it has too many or an unknown number of
    them.
    """
    found = elements_of(value)
    if found is None:
        raise ConversionError(f"{what} is {value.shaped}, expected a short vector of integers of known length")
    return found.reshape(-1).tolist()


@converter("Shape")
def shape(b: GraphBuilder, x: Value, *, start: int = 0, end: int | None = None) -> Value:
    """Returns the extents that are computed. The importer folds known ones before a converter is asked."""
    return sizes_value(objects(extents_of(x)[start:end]), "i64")


@converter("Size")
def size(b: GraphBuilder, x: Value) -> Value:
    return sizes_value(objects([product(extents_of(x))]).reshape(()), "i64")


@converter("Reshape", since=5, at_run_time=True)
def reshape(b: GraphBuilder, x: Value, shape: Value, *, allowzero: int = 0) -> Value:
    """Reshapes: 0 copies an extent unless `allowzero` is set, also one that turns out to be 0 when the program runs."""
    wanted = entries(shape, "the shape")
    if allowzero:
        return reshaped(b, x, wanted)
    source = extents_of(x)
    for number, extent in enumerate(wanted):
        if extent == 0 and number < len(source):
            wanted[number] = source[number]
    open_ = [
        number
        for number, extent in enumerate(wanted)
        if isinstance(extent, Size) and not (number < len(source) and extent is source[number])
    ]
    return reshaped(b, x, wanted, copy_zeros=bool(open_))


@converter("Expand", at_run_time=True)
def expand(b: GraphBuilder, x: Value, shape: Value) -> Value:
    return broadcast(b, x, entries(shape, "the shape"))


@converter("Slice", since=10, at_run_time=True)
def slice_(
    b: GraphBuilder, x: Value, starts: Value, ends: Value, axes: Known | None = None, steps: Value | None = None
) -> Value:
    begin, end = entries(starts, "starts"), entries(ends, "ends")
    along = tuple(range(len(begin))) if axes is None else ints(axes)
    stride: list[Extent] = [1] * len(begin) if steps is None else entries(steps, "steps")
    return sliced(b, x, along, begin, end, stride)


@converter("Split", since=13, at_run_time=True)
def split(b: GraphBuilder, x: Value, sizes: Value, *, axis: int = 0, num_outputs: int | None = None) -> Any:
    """Cuts one part after the other."""
    parts: list[Value] = []
    place: Extent = 0
    for size in entries(sizes, "the sizes"):
        end = combined("add", place, size)
        parts.append(sliced(b, x, [axis], [place], [end], [1]))
        place = end
    return parts


@converter("ConstantOfShape", since=9, at_run_time=True)
def constant_of_shape(b: GraphBuilder, shape: Value, *, value: Any = None) -> Value:
    element = np.zeros(1, np.float32) if value is None else value
    return broadcast(b, b.constant(element.reshape(())), entries(shape, "the shape"))


@converter("Range", at_run_time=True)
def range_(b: GraphBuilder, start: Value, limit: Value, delta: Value) -> Value:
    """Returns as many elements as the three numbers say, which follow from shapes."""
    numbers = [elements_of(each) for each in (start, limit, delta)]
    operands = [b.reshape(each, shape=()) if each.rank else each for each in (start, limit, delta)]
    result = b.arange(*operands)
    if any(each is None for each in numbers):
        return result
    first, last, step = (each.reshape(-1)[0] for each in numbers if each is not None)
    if first == 0 and step == 1 and isinstance(last, Size) and last.natural:
        return sized(result, [last])
    return result


@converter("Tile", since=6, at_run_time=True)
def tile(b: GraphBuilder, x: Value, repeats: Value) -> Value:
    return repeated(b, x, entries(repeats, "repeats"))


@converter("Pad", since=11, at_run_time=True)
def pad(
    b: GraphBuilder,
    x: Value,
    pads: Value,
    value: Known | Value | None = None,
    axes: Known | None = None,
    *,
    mode: str = "constant",
) -> Value:
    """Pads. Negative widths cut."""
    widths = entries(pads, "pads")
    along = padded_axes(x, len(widths), axes)
    before: list[Extent] = [0] * x.rank
    after: list[Extent] = [0] * x.rank
    for number, axis in enumerate(along):
        before[axis], after[axis] = widths[number], widths[number + len(along)]
    if mode != "constant":
        for axis in range(x.rank):
            if before[axis] != 0 or after[axis] != 0:
                x = padded_by_positions(b, x, axis, before[axis], after[axis], mode)
        return x
    pairs = [width for pair in zip(before, after, strict=True) for width in pair]
    return padded_with(b, x, value, lambda part, fill: b.dynamic_pad(part, vector(b, pairs), value=fill))
