"""Operators on sizes that are computed at run time: what stands in for a converter that must know them."""

from __future__ import annotations

from typing import Any

from ..emitter import Emitter
from ..errors import ConversionError
from ..forms import broadcast, counted, repeated, reshaped, sized, sliced
from ..registry import Known, converter
from ..sizes import (
    Extent,
    Size,
    combined,
    elements_of,
    extents_of,
    objects,
    product,
    scalar,
    sizes_value,
    vector,
)
from ..values import Value
from .movement import ints


def entries(value: Value, what: str) -> list[Extent]:
    """The elements of a vector of sizes. Raises `ConversionError` when it has too many or an unknown number of them."""
    found = elements_of(value)
    if found is None:
        raise ConversionError(f"{what} is {value.shaped}, expected a short vector of integers of known length")
    return found.reshape(-1).tolist()


@converter("Shape")
def shape(b: Emitter, x: Value, *, start: int = 0, end: int | None = None) -> Value:
    """Before a converter is asked, the importer takes the extents as they are known."""
    return sizes_value(objects(extents_of(x)[start:end]), "i64")


@converter("Size")
def size(b: Emitter, x: Value) -> Value:
    return sizes_value(objects([product(extents_of(x))]).reshape(()), "i64")


@converter("Reshape", since=5, at_run_time=True)
def reshape(b: Emitter, x: Value, shape: Value, *, allowzero: int = 0) -> Value:
    """0 copies an extent unless `allowzero`, also one that turns out to be 0 when the program runs."""
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
def expand(b: Emitter, x: Value, shape: Value) -> Value:
    return broadcast(b, x, entries(shape, "the shape"))


@converter("Slice", since=10, at_run_time=True)
def slice_(
    b: Emitter, x: Value, starts: Value, ends: Value, axes: Known | None = None, steps: Value | None = None
) -> Value:
    begin, end = entries(starts, "starts"), entries(ends, "ends")
    along = tuple(range(len(begin))) if axes is None else ints(axes)
    stride: list[Extent] = [1] * len(begin) if steps is None else entries(steps, "steps")
    return sliced(b, x, along, begin, end, stride)


@converter("Split", since=13, at_run_time=True)
def split(b: Emitter, x: Value, sizes: Value, *, axis: int = 0, num_outputs: int | None = None) -> Any:
    """One part after the other."""
    parts: list[Value] = []
    place: Extent = 0
    for size in entries(sizes, "the sizes"):
        end = combined("add", place, size)
        parts.append(sliced(b, x, [axis], [place], [end], [1]))
        place = end
    return parts


@converter("ConstantOfShape", since=9, at_run_time=True)
def constant_of_shape(b: Emitter, shape: Value, *, value: Any = None) -> Value:
    import numpy as np

    element = np.zeros(1, np.float32) if value is None else value
    return broadcast(b, b.constant(element.reshape(())), entries(shape, "the shape"))


@converter("Range", at_run_time=True)
def range_(b: Emitter, start: Value, limit: Value, delta: Value) -> Value:
    """As many elements as the three numbers say, which follow from shapes."""
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
def tile(b: Emitter, x: Value, repeats: Value) -> Value:
    return repeated(b, x, entries(repeats, "repeats"))


@converter("Pad", since=11, at_run_time=True)
def pad(
    b: Emitter,
    x: Value,
    pads: Value,
    value: Known | None = None,
    axes: Known | None = None,
    *,
    mode: str = "constant",
) -> Value:
    """Negative widths cut."""
    widths = entries(pads, "pads")
    along = tuple(range(x.rank)) if axes is None else ints(axes)
    before: list[Extent] = [0] * x.rank
    after: list[Extent] = [0] * x.rank
    for number, axis in enumerate(along):
        before[axis], after[axis] = widths[number], widths[number + len(along)]
    if mode != "constant":
        for axis in range(x.rank):
            if before[axis] != 0 or after[axis] != 0:
                x = padded_by_positions(b, x, axis, before[axis], after[axis], mode)
        return x
    fill = 0 if value is None else value.reshape(()).item()  # pyright: ignore[reportAttributeAccessIssue]
    pairs = [width for pair in zip(before, after, strict=True) for width in pair]
    return b.dynamic_pad(x, vector(b, pairs), value=fill)


def padded_by_positions(b: Emitter, x: Value, axis: int, before: Extent, after: Extent, mode: str) -> Value:
    """
    Elements of `x` itself around it along `axis`, of which each is taken from a place that is computed: place `p` outside is
    `p mod n` for `wrap`, the nearest one inside for `edge`, and for `reflect` mirrored as often as it takes.
    """
    import numpy as np

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
