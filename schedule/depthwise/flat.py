"""
Depthwise convolutions whose channels do not fill vectors, on vectors that run on from one pixel to the next.

A row of an image is contiguous over pixels and channels, `x[h, w, c] = row[h][w * C + c]`, and a tap reads `C` elements
per pixel further on. So a vector may hold the last channels of one pixel and the first ones of the next. With 33
channels and 16 lanes a row of 28 pixels takes 58 vectors, and 84 where each pixel starts a new one. Its weights repeat
every `C` elements. They are copied once, with the first of them again behind the last, so that a vector of them starts
at any channel (`place of the first lane mod C`).

A column of such vectors goes down the image with its weights in registers. A row of inputs is read once. It completes
the sum of one row of outputs, adds to those of the rows below and starts a new one. The incomplete sums are carried
from row to row. Borders are as in `schedule.py`: taps left and right that would read padding are left out, and so are
rows above and below.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import ceil

from xdsl.dialects import memref
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...analysis.affine import is_linear, linear_terms
from ...dialects.tensor_loop import AllocOp
from ...lazy_dataclass import dataclass
from ...machine.machine import Machine
from ..kernels.contraction import Operand
from ..kernels.epilogue import Epilogue
from ..kernels.register_tiles import split_evenly
from ..kernels.scheduled_nest import Bound, ScheduledNest
from .convolution import Depthwise, Run

MOST_LINES = 32
"""
The most rows of outputs that a column of vectors goes down. As many pages of memory are read, and written, at a time.
"""

WORTH = 0.9
"""
The share of the vectors of channels that must be enough, because neighbours in memory are loaded across cache lines.
"""


@dataclass(frozen=True)
class Flat:
    """
    The way in which a depthwise convolution is computed on flattened rows.

    Places along a row are `base + n`: `n`, the axis of the channels, walks the lanes of a vector, and `base` is where
    it starts. What repeats every pixel is read at `phase + n`. Both are axes of their own, numbered behind those of the
    block.
    """

    d: Depthwise
    y: int
    """The axis of the rows."""
    down: int | None
    """The axis of the window that moves down, a row per step, or none where the window has one row."""
    first: int
    """The row of the image that the first row of the window reads for the first row of outputs."""
    lanes: int
    lines: int = MOST_LINES
    """The most rows of outputs that a column of vectors goes down."""

    @property
    def channels(self) -> int:
        return self.d.c.extent(self.d.c.n)

    @property
    def window(self) -> int:
        """Returns the number of rows of the window."""
        return 1 if self.down is None else self.d.c.extent(self.down)

    @property
    def base(self) -> int:
        return len(self.d.c.extents)

    @property
    def phase(self) -> int:
        return len(self.d.c.extents) + 1

    @property
    def period(self) -> int:
        """
        Returns the elements of a copy of values that repeat every pixel, which holds a whole vector from any channel
        on.
        """
        return self.channels + self.lanes - 1

    @property
    def rows(self) -> int:
        """Returns the number of rows of the image."""
        place = self.d.c.a.dimension_along(self.y)
        assert place is not None
        return self.d.c.a.type.get_shape()[place[0]]

    def runs(self) -> list[Run]:
        assert self.d.c.m is not None
        return self.d.runs(self.d.c.m)


def flat_of(d: Depthwise, epilogue: Epilogue | None, target: Machine) -> Flat | None:
    """Returns how `d` is computed on flattened rows, or `None` where that saves no vectors or is not possible."""
    flat = flat_in_lines(d, epilogue, target, MOST_LINES)
    if flat is None or flat.channels % flat.lanes == 0:
        return None
    pixels = d.c.extent(d.c.m)
    vectors = sum(ceil(run.count * flat.channels / flat.lanes) for run in flat.runs())
    return flat if pixels > 1 and vectors <= WORTH * pixels * ceil(flat.channels / flat.lanes) else None


def flat_in_lines(d: Depthwise, epilogue: Epilogue | None, target: Machine, lines: int) -> Flat | None:
    """
    Returns how `d` is computed on flattened rows, a column of vectors going down at most `lines` rows of outputs, or
    `None` where that is not possible.
    """
    c = d.c
    if c.m is None or not c.outer or c.a.type.element_type != c.out.type.element_type:
        return None
    lanes = target.lanes(c.tile_element.size)  # pyright: ignore[reportAttributeAccessIssue]
    flat = _lines(d, c.outer[-1], lanes)
    if flat is None:
        return None
    flat = replace(flat, lines=lines)
    if not _fits(flat, target) or not _is_inside(flat) or not all(_is_row(each, flat) for each in (c.a, c.out)):
        return None
    if epilogue is not None and not all(
        _is_row(each, flat) or _repeats(each, flat) or not each.axes() & {c.m, c.n}
        for each in (epilogue.out, *epilogue.loads.values())
    ):
        return None
    return flat


def _lines(d: Depthwise, y: int, lanes: int) -> Flat | None:
    """Returns how rows of outputs and of the window move down the image, where that is a row per step."""
    place = d.c.a.dimension_along(y)
    if place is None or place[1] != 1:
        return None
    terms, first = linear_terms(d.c.a.indices[place[0]])
    factors = {atom.position: factor for atom, factor in terms.items() if isinstance(atom, AffineDimExpr)}
    moving = [axis for axis in d.reduce if factors.get(axis, 0) and d.c.extents[axis] > 1]
    if len(moving) > 1 or any(factors[axis] != 1 for axis in moving):
        return None
    if any(axis != y and axis not in d.reduce and d.c.extents[axis] > 1 for axis in factors):
        return None
    return Flat(d, y, moving[0] if moving else None, first, lanes)


def _fits(flat: Flat, target: Machine) -> bool:
    """
    Returns whether the weights, the sums of a row of inputs, two of those, and the values for an epilogue stay in
    registers.
    """
    needed = len(flat.d.taps()) + flat.window + 2 + (0 if target.fma else 2)
    return needed <= target.registers - 2


def _is_inside(flat: Flat) -> bool:
    """
    Returns whether only the first and the last rows of inputs of a column can be outside the image.

    These are the rows before a sum is complete and after the last one is begun.
    """
    rows = flat.d.c.extent(flat.y)
    heights = [height for height, _ in split_evenly(rows, flat.lines)]
    return min(heights) >= flat.window and flat.window - 1 + flat.first >= 0 and rows - 1 + flat.first < flat.rows


def _is_row(operand: Operand, flat: Flat) -> bool:
    """Returns whether pixels and channels are the last two dimensions, with pixels right after each other."""
    c, shape = flat.d.c, operand.type.get_shape()
    assert c.m is not None
    if len(shape) < 2 or shape[-1] != flat.channels or not _is_channel(operand.indices[-1], flat):
        return False
    return (
        operand.dimension_along(c.m) == (len(shape) - 2, 1)
        and operand.stride_along(c.m) == flat.channels
        and operand.stride_along(c.n) == 1
        and all(is_linear(index) for index in operand.indices)
    )


def _is_channel(index: AffineExpr, flat: Flat) -> bool:
    """Returns whether an index is that of the channel, from the first one on."""
    terms, start = linear_terms(index)
    extents = flat.d.c.extents
    moving = {
        atom: factor
        for atom, factor in terms.items()
        if not isinstance(atom, AffineDimExpr) or extents[atom.position] > 1
    }
    return start == 0 and moving == {AffineDimExpr(flat.d.c.n): 1}


def _repeats(operand: Operand, flat: Flat) -> bool:
    """Returns whether the channel alone chooses the element."""
    extents = flat.d.c.extents
    moving = {axis for axis in operand.axes() if extents[axis] > 1}
    return moving == {flat.d.c.n} and all(is_linear(index) for index in operand.indices)


# Operands


class FlatOperands:
    """
    Makes flattened rows and repeated weights in the place of the operands. The views and copies are made at the cursor.
    """

    def __init__(self, builder: ScheduledNest, flat: Flat):
        self.builder = builder
        self.flat = flat
        self._views: dict[SSAValue, SSAValue] = {}
        self._copies: dict[Operand, Operand] = {}

    def of(self, operand: Operand) -> Operand:
        """Returns the operand that stands for `operand`, over the axes of the block, the base and the phase."""
        if _is_row(operand, self.flat):
            return self._row(operand)
        return self.repeated(operand) if _repeats(operand, self.flat) else operand

    def is_repeated(self, operand: Operand) -> bool:
        """Returns whether what `of` gave for an operand is the same for all rows."""
        return AffineDimExpr(self.flat.phase) in {atom for index in operand.indices for atom in linear_terms(index)[0]}

    def _row(self, operand: Operand) -> Operand:
        c, flat = self.flat.d.c, self.flat
        pixel = operand.indices[-2]
        without = [AffineDimExpr(axis) if axis != c.m else AffineExpr.constant(0) for axis in range(flat.base)]
        along = pixel.replace_dims_and_symbols(without, ()) * flat.channels
        place = along + AffineDimExpr(flat.base) + AffineDimExpr(c.n)
        indices = tuple(index.replace_dims_and_symbols(without, ()) for index in operand.indices[:-2])
        return replace(operand, buffer=self._view(operand.buffer), indices=(*indices, place))

    def _view(self, buffer: SSAValue) -> SSAValue:
        """Returns a view with pixels and channels as one dimension."""
        if buffer not in self._views:
            assert isinstance(buffer.type, MemRefType)
            *outer, pixels, channels = buffer.type.get_shape()
            groups = [[number] for number in range(len(outer))] + [[len(outer), len(outer) + 1]]
            view = memref.CollapseShapeOp(
                operands=[buffer],
                result_types=[MemRefType(buffer.type.element_type, [*outer, pixels * channels])],
                properties={"reassociation": _nested(groups)},
            )
            self._views[buffer] = self.builder.add(view).result
            self._views[buffer].name_hint = f"{buffer.name_hint or 'image'}_rows"
        return self._views[buffer]

    def repeated(self, operand: Operand) -> Operand:
        """
        Makes a copy with all channels, then the first of them again: `copy[taps.., i] = operand[taps.., i mod
        channels]`.
        """
        if operand not in self._copies:
            self._copies[operand] = self._copy(operand)
        return self._copies[operand]

    def _copy(self, operand: Operand) -> Operand:
        flat, builder, extents = self.flat, self.builder, self.flat.d.c.extents
        taps = [axis for axis in flat.d.reduce if axis in operand.axes() and extents[axis] > 1]
        sizes = [extents[axis] for axis in taps]
        copy = builder.add(AllocOp(MemRefType(operand.type.element_type, [*sizes, flat.period]))).results[0]
        copy.name_hint = "repeated"
        whole, rest = divmod(flat.period, flat.channels)
        for start, times, count in ((0, whole, flat.channels), (whole * flat.channels, 1, rest)):
            if not count:
                continue
            numbers = [*sizes, times, count]
            names = [*(f"k{axis}" for axis in taps), "r", "i"]
            with builder.nest(numbers, names, "vectorized") as variables:
                axes = [
                    Bound("spatial", variable, number, f"v{name}")
                    for variable, number, name in zip(variables, numbers, names, strict=True)
                ]
                with builder.blocked("repeat", axes) as values:
                    *places, time, channel = values
                    at = dict.fromkeys(range(flat.base), 0) | dict(zip(taps, places, strict=True))
                    at[flat.d.c.n] = channel
                    indices = [builder.affine(index, at) for index in operand.indices]
                    loaded = builder.add(memref.LoadOp.get(operand.buffer, indices)).res
                    place = builder.sum(builder.scaled(time, flat.channels), builder.sum(channel, start))
                    builder.add(memref.StoreOp.get(loaded, copy, [builder.value(each) for each in (*places, place)]))
        place = AffineDimExpr(flat.phase) + AffineDimExpr(flat.d.c.n)
        return Operand(copy, (*(AffineDimExpr(axis) for axis in taps), place), unsigned=operand.unsigned)


def _nested(groups: Iterable[Sequence[int]]) -> ArrayAttr[ArrayAttr[IntegerAttr]]:
    return ArrayAttr([ArrayAttr([IntegerAttr(number, i64) for number in group]) for group in groups])
