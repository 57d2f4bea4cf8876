"""
Finds what convolutions of bytes read, in place or from copies with room around. There are no patches: the windows of a
row of the result overlap in memory.

A tap, a place in the window, reads the rows of a that lie `stride` pixels apart from its own first pixel on. Tile
registers are read whole, 16 rows of 64 bytes. So the elements that they read past the last row and past the channels
must exist. The bytes past the channels meet zeros of b.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.ir import SSAValue

from ...analysis.affine import bounds
from ..kernels.contraction import Contraction, Operand
from ..kernels.scheduled_nest import Bound
from .layouts import ByteLayouts, row_parts

Range = tuple[int, int]
"""The first and the last index."""


def is_image(c: Contraction) -> bool:
    """Returns whether `c` sums over more than k, or pads, as convolutions do."""
    return bool(c.reduce) or c.a.padding is not None


def has_rows(c: Contraction) -> bool:
    """
    Returns whether a has contiguous k and rows that lie some way apart, so that copies of it are read as rows of
    groups.
    """
    rank = len(c.a.indices)
    rows = None if c.m is None else c.a.dimension_along(c.m)
    return c.a.dimension_along(c.k) == (rank - 1, 1) and (c.m is None or (rows is not None and rows[1] > 0))


def copy_image(layouts: ByteLayouts, rows: Range, depth: int, flip: bool = False) -> Operand:
    """
    Emits a copy of the part of a that these rows of the result read, `depth` of k each. What a does not have is padding
    and zeros. Returns the copy over the axes of the contraction. With `flip` elements have the other sign bit.
    """
    c = layouts.c
    ranges = _ranges(c, rows, depth)
    sizes = [last - first + 1 for first, last in ranges]
    copy = layouts.buffer("image", layouts.element_type, *sizes)
    inside = [
        (max(first, 0) - first, min(last, size - 1) - first)
        for (first, last), size in zip(ranges, c.a.type.get_shape(), strict=True)
    ]
    empty = any(last < first for first, last in inside)
    for box in [[(0, size - 1) for size in sizes]] if empty else _around(inside, sizes):
        _put(layouts, "fill", copy, box, None, flip)
    if not empty and (flip or layouts.extends):
        _change(layouts, copy, inside, [first for first, _ in ranges])
    elif not empty:
        _put(layouts, "copy", copy, inside, [first for first, _ in ranges], flip)
    indices = tuple(index - first for index, (first, _) in zip(c.a.indices, ranges, strict=True))
    return Operand(copy, indices, unsigned=c.a.unsigned)


def _ranges(c: Contraction, rows: Range, depth: int) -> list[Range]:
    """Returns the indices of a that are read, dimension by dimension."""
    intervals: list[Range] = [(0, extent - 1) for extent in c.extents]
    intervals[c.k] = (0, depth - 1)
    if c.m is not None:
        intervals[c.m] = rows
    found = [bounds(index, intervals) for index in c.a.indices]
    return [range_ for range_ in found if range_ is not None]


def _around(inside: Sequence[Range], sizes: Sequence[int]) -> list[list[Range]]:
    """Returns the boxes that together with the box `inside` make up all of a buffer."""
    found: list[list[Range]] = []
    for dimension, ((first, last), size) in enumerate(zip(inside, sizes, strict=True)):
        for part in ((0, first - 1), (last + 1, size - 1)):
            if part[0] <= part[1]:
                whole = [(0, each - 1) for each in sizes[dimension + 1 :]]
                found.append([*inside[:dimension], part, *whole])
    return found


def _put(
    layouts: ByteLayouts, name: str, copy: SSAValue, box: list[Range], shifts: list[int] | None, flip: bool
) -> None:
    """Sets a box of the copy, to elements of a that many indices further on, or without `shifts` to the padding."""
    builder, c = layouts.builder, layouts.c
    counts = [last - first + 1 for first, last in box]
    names = [f"d{dimension}" for dimension in range(len(box))]
    with builder.nest(counts, names, "vectorized") as loops:
        axes = [
            Bound("spatial", loop, count, f"v{each}") for loop, count, each in zip(loops, counts, names, strict=True)
        ]
        with builder.blocked(name, axes) as values:
            places = [builder.sum(value, first) for value, (first, _) in zip(values, box, strict=True)]
            if shifts is None:
                value = _padding(layouts)
            else:
                source = [builder.value(builder.sum(place, shift)) for place, shift in zip(places, shifts, strict=True)]
                value = builder.add(memref.LoadOp.get(c.a.buffer, source)).res
            layouts.put(layouts.flipped(value) if flip else value, copy, *places)


def _change(layouts: ByteLayouts, copy: SSAValue, box: list[Range], shifts: list[int]) -> None:
    """Sets a box of the copy to elements of a that many indices further on, with the other sign bits or extended."""
    builder = layouts.builder
    *outer, last = [last - first + 1 for first, last in box]
    names = [f"d{dimension}" for dimension in range(len(box))]
    for start, width, number in row_parts(last):
        counts = [*outer, number]
        with builder.nest(counts, names) as loops:
            axes = [
                Bound("spatial", loop, count, f"v{name}")
                for loop, count, name in zip(loops, counts, names, strict=True)
            ]
            with builder.blocked(layouts.verb(not layouts.extends), axes) as values:
                *rows, column = values
                places = [*rows, builder.sum(builder.scaled(column, width), start)]
                places = [builder.sum(place, first) for place, (first, _) in zip(places, box, strict=True)]
                source = [builder.value(builder.sum(place, shift)) for place, shift in zip(places, shifts, strict=True)]
                layouts.change(layouts.c.a.buffer, source, copy, places, width)


def _padding(layouts: ByteLayouts) -> SSAValue:
    a = layouts.c.a
    return layouts.zero() if a.padding is None else layouts.extended(layouts.builder.constant(a.padding), a.unsigned)
