"""
Depthwise convolutions as loops over register tiles of some rows by some pixels by one vector of channels.

An input pixel is loaded once per tile and added to every sum of the tile that it counts for. A vector of weights serves
all of them. With 3 rows of 4 pixels that is 39 loads for 108 multiply-adds. The vectors of channels are innermost, so
that memory is read in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, VectorType
from xdsl.ir import Block, Region, SSAValue

from ...analysis.affine import linear_terms
from ...core.ir.element_types import vector_type
from ...core.roles import TILING
from ...dialects import tile
from ...dialects.schedule import DepthwiseAttr, FlatRowsAttr
from ...lazy_dataclass import dataclass
from ...machine.machine import Machine
from ..kernels.contraction import Operand
from ..kernels.epilogue import Epilogue, emit_epilogue, epilogue_of, place_of
from ..kernels.given_tiling import refuse
from ..kernels.padding import erase_with_buffers, padded_copy
from ..kernels.register_tiles import split_columns, split_evenly
from ..kernels.scheduled_nest import Bound, Index, ScheduledNest
from ..kernels.widening import whole_numbers, widened
from .columns import FlatDepthwiseNest
from .convolution import Depthwise, has_runs
from .flat import Flat, flat_in_lines, flat_of
from .tiles import DepthwiseTiles, Segment, Segments, Tap

# Loops


def tile_depthwise(d: Depthwise, target: Machine) -> None:
    """
    Replaces the grid of `d`, and the padded copy before it that is no longer needed, by loops over register tiles, or
    over vectors of flattened rows where its block has a `#schedule.flat_rows`. Fails at the block where its attribute
    does not fit.
    """
    block = Block()
    builder = ScheduledNest(block, d.c.block)
    source, epilogue = d, epilogue_of(d.c)
    d = _reading(builder, d)
    found = d.c.block.attributes.get(TILING)
    if isinstance(found, FlatRowsAttr):
        FlatDepthwiseNest(builder, _given_flat(d, found, epilogue, target), epilogue).run()
    else:
        DepthwiseNest(builder, d, epilogue, target).run()
    parent = d.c.grid.parent
    assert parent is not None
    ops = list(block.ops)
    for op in ops:
        op.detach()
    last = d.c.grid if epilogue is None else epilogue.grid
    parent.insert_ops_before(ops, last)
    for grid in {source.c.grid: None, last: None, source.pad: None}:
        if grid is not None:
            erase_with_buffers(grid)


def _reading(builder: ScheduledNest, d: Depthwise) -> Depthwise:
    """Returns `d` on a padded copy of the image, which it emits, where elements outside cannot be left out."""
    if d.c.a.padding is None or has_runs(d):
        return d
    return replace(d, c=replace(d.c, a=padded_copy(builder, d.c)))


def _given_flat(d: Depthwise, found: FlatRowsAttr, epilogue: Epilogue | None, target: Machine) -> Flat:
    rows = d.c.extent(d.c.outer[-1]) if d.c.outer else 1
    flat = flat_in_lines(d, epilogue, target, min(found.rows.data, rows))
    if flat is None:
        reason = f"its rows cannot be flattened in columns of {found.rows.data} rows for '{target.name}'"
        refuse(d.c.block, found, reason)
    return flat


def choose_depthwise(d: Depthwise, target: Machine) -> DepthwiseAttr | FlatRowsAttr:
    """
    Returns how `d` is cut up for `target`: as its block asks for, else by the rules of docs/targets.md. Fails at the
    block where its attribute does not fit.
    """
    scratch, epilogue = Block(), epilogue_of(d.c)
    d = _reading(ScheduledNest(scratch, d.c.block), d)
    found = d.c.block.attributes.get(TILING)
    if isinstance(found, FlatRowsAttr):
        _given_flat(d, found, epilogue, target)
        chosen: DepthwiseAttr | FlatRowsAttr = found
    elif found is None and (flat := flat_of(d, epilogue, target)) is not None:
        chosen = FlatRowsAttr.of(min(flat.lines, d.c.extent(flat.y)))
    else:
        tiles = DepthwiseTiles(d, target)
        chosen = DepthwiseAttr.of(tiles.rows, tiles.pixels)
    for op in reversed(list(scratch.ops)):
        op.detach()
        op.erase()
    return chosen


@dataclass(frozen=True)
class _InputRow:
    """
    The inputs at the same distance from the first row of a tile. It tells which sums of the tile they count for, and
    with which tap.
    """

    distance: int
    uses: tuple[tuple[Tap, tuple[tuple[int, Tap], ...]], ...]
    """The row of the tile and the tap of each sum, by the taps along other axes, in which the inputs differ."""


@dataclass(frozen=True)
class _Part:
    """The terms that a row of inputs adds to neighbouring pixels of a tile."""

    segment: Segment
    row: _InputRow
    type: VectorType
    weights: Mapping[Tap, SSAValue]
    sums: list[SSAValue]
    """The sums by row of the tile."""


class DepthwiseNest(DepthwiseTiles):
    """The loop nest of one depthwise convolution."""

    def __init__(self, builder: ScheduledNest, d: Depthwise, epilogue: Epilogue | None, target: Machine):
        super().__init__(d, target)
        self.builder = builder
        self.epilogue = epilogue
        self.first_rows = (0, 0)
        """The first rows of the first and the last tile that are being emitted."""

    def _input_rows(self, height: int, taps: frozenset[Tap]) -> list[_InputRow]:
        """Returns the rows of the image that a tile of that height reads, in order."""
        found: dict[int, dict[Tap, list[tuple[int, Tap]]]] = {}
        step = 0 if self.y is None else self._down(self.y)
        for row in range(height):
            for tap in sorted(taps):
                steps = [(self._down(axis), t) for axis, t in zip(self.d.reduce, tap, strict=True)]
                distance = row * step + sum(by * t for by, t in steps)
                others = tuple(0 if by else t for by, t in steps)
                found.setdefault(distance, {}).setdefault(others, []).append((row, tap))
        return [
            _InputRow(distance, tuple((others, tuple(uses)) for others, uses in sorted(found[distance].items())))
            for distance in sorted(found)
        ]

    # Loops

    def run(self) -> None:
        """
        Emits loops over batches, rows, pixels with the same taps, and vectors of channels innermost, in the order of
        memory.
        """
        with self.builder.nest([self.c.extents[a] for a in self.outer], [f"s{a}" for a in self.outer]) as batch:
            places = [
                Bound("spatial", at, self.c.extents[axis], f"vs{axis}")
                for axis, at in zip(self.outer, batch, strict=True)
            ]
            start = 0
            for height, count in split_evenly(self.c.extent(self.y), self.rows):
                self.first_rows = (start, start + height * (count - 1))
                with self.builder.loop(count, "y") as y:
                    self._pixels([*places, Bound("spatial", y, count, "vy")], (start, height))
                start += height * count

    def _pixels(self, places: list[Bound], rows: tuple[int, int]) -> None:
        """Emits the tiles of some rows of an image."""
        for start, size, number, segments in self._across_image(self.pixels):
            with self.builder.loop(number, "x") as x:
                first = 0
                for width, count in split_columns(self.c.extent(self.c.n), self.columns):
                    with self.builder.loop(count, "p") as panel:
                        axes = [
                            *places,
                            Bound("spatial", x, number, "vx"),
                            Bound("spatial", panel, count, "vp"),
                        ]
                        self._tile(axes, rows, (start, size), (first, width), segments)
                    first += width * count

    def _tile(
        self,
        axes: list[Bound],
        rows: tuple[int, int],
        pixels: tuple[int, int],
        channels: tuple[int, int],
        segments: Segments,
    ) -> None:
        c, builder = self.c, self.builder
        assert c.m is not None
        (y, height), (x, size), (first, width) = rows, pixels, channels
        with builder.blocked(c.block.block_name.data, axes) as values:
            *batch, vy, vx, vp = values
            at: dict[int, Index] = dict(zip(self.outer, batch, strict=True))
            at |= self._channels(vp, first, width)
            row, pixel = builder.sum(builder.scaled(vy, height), y), builder.sum(builder.scaled(vx, size), x)
            totals = self._sums(at, (row, pixel), height, width, segments)
            for number in range(height):
                here = at if self.y is None else at | {self.y: builder.sum(row, number)}
                for segment, sums in zip(segments, totals, strict=True):
                    self._finish(sums[number], here | {c.m: builder.sum(pixel, segment.first)})

    def _channels(self, panel: Index, first: int, width: int) -> dict[int, Index]:
        """Returns the values of the axes that follow from the number of a vector, the first one at channel `first`."""
        return {self.c.n: self.builder.sum(self.builder.scaled(panel, width), first)}

    def _finish(self, total: SSAValue, at: dict[int, Index]) -> None:
        """Stores sums, or the result of the epilogue on them."""
        builder, c = self.builder, self.c
        total = whole_numbers(builder, total, c.tile_element)
        if self.epilogue is None or self.epilogue.keeps_result:
            place = place_of(builder, c.out, at, c.m, c.n)
            builder.add(tile.StoreOp(total, place.buffer, place.indices, place.along, place.by))
        if self.epilogue is not None:
            emit_epilogue(builder, c, self.epilogue, total, at)

    def _sums(
        self, at: dict[int, Index], corner: tuple[Index, Index], height: int, width: int, segments: Segments
    ) -> list[list[SSAValue]]:
        """Returns the sums of each segment by row."""
        c, builder = self.c, self.builder
        number = c.init.value.data  # pyright: ignore[reportAttributeAccessIssue]
        number = number if isinstance(self.d.element, IntegerType) else float(number)
        types = [vector_type(self.d.element, [segment.count, width]) for segment in segments]
        splats = [DenseIntOrFPElementsAttr.from_list(type_, [number]) for type_ in types]  # pyright: ignore
        totals = [[builder.constant(splat)] * height for splat in splats]
        self._add_window(at, corner, segments, totals)
        return totals

    def _add_window(
        self, at: dict[int, Index], corner: tuple[Index, Index], segments: Segments, totals: list[list[SSAValue]]
    ) -> None:
        """Adds the products with all taps to the sums of each segment by row, row by row of the image."""
        width = totals[0][0].type.get_shape()[1]  # pyright: ignore[reportAttributeAccessIssue]
        types = [vector_type(self.d.element, [segment.count, width]) for segment in segments]
        rows_of = [len(sums) for sums in totals]
        weights = [
            self._weights(at, sorted(segment.taps), type_) for segment, type_ in zip(segments, types, strict=True)
        ]
        rows = [self._input_rows(height, segment.taps) for height, segment in zip(rows_of, segments, strict=True)]
        for distance in sorted({row.distance for each in rows for row in each}):
            here = [
                _Part(segment, row, type_, factors, sums)
                for segment, each, type_, factors, sums in zip(segments, rows, types, weights, totals, strict=True)
                for row in each
                if row.distance == distance
            ]
            self._add_row(at, corner, here)

    def _weights(self, at: dict[int, Index], taps: Iterable[Tap], type_: VectorType) -> Mapping[Tap, SSAValue]:
        """Returns the weights of a tile by their place in the window. Axes of extent 1 may be among their indices."""
        units: dict[int, Index] = {axis: 0 for axis in self.d.spatial if self.c.extents[axis] == 1}
        return {
            tap: self._load(self.c.b, units | at | dict(zip(self.d.reduce, tap, strict=True)), type_) for tap in taps
        }

    def _add_row(self, at: dict[int, Index], corner: tuple[Index, Index], parts: list[_Part]) -> None:
        """Adds a row of inputs to the sums that it counts for, unless it is above or below the image."""
        builder = self.builder
        inside = self._inside(corner[0], parts[0].row.distance)
        if not isinstance(inside, SSAValue):
            for part in parts if inside else ():
                self._add(at, corner, part)
            return
        places = [sorted({place for _, uses in part.row.uses for place, _ in uses}) for part in parts]
        before = [part.sums[place] for part, mine in zip(parts, places, strict=True) for place in mine]
        then, otherwise = Block(), Block()
        with builder.inside(then):
            for part in parts:
                self._add(at, corner, part)
            after = [part.sums[place] for part, mine in zip(parts, places, strict=True) for place in mine]
            builder.add(scf.YieldOp(*after))
        with builder.inside(otherwise):
            builder.add(scf.YieldOp(*before))
        types = [each.type for each in before]
        chosen = iter(builder.add(scf.IfOp(inside, types, Region(then), Region(otherwise))).results)
        for part, mine in zip(parts, places, strict=True):
            for place in mine:
                part.sums[place] = next(chosen)

    def _add(self, at: dict[int, Index], corner: tuple[Index, Index], part: _Part) -> None:
        """Emits the multiply-adds of a row of inputs with neighbouring pixels."""
        (row, pixel), builder = corner, self.builder
        assert self.c.m is not None
        images: list[SSAValue] = []
        for _, uses in part.row.uses:
            place, tap = uses[0]
            here = at | dict(zip(self.d.reduce, tap, strict=True))
            here[self.c.m] = builder.sum(pixel, part.segment.first)
            if self.y is not None:
                here[self.y] = builder.sum(row, place)
            images.append(self._load(self.c.a, here, part.type))
        for image, (_, uses) in zip(images, part.row.uses, strict=True):
            for place, tap in uses:
                step = tile.MultiplyAddOp(image, part.weights[tap], part.sums[place])
                part.sums[place] = builder.add(step).result

    def _inside(self, row: Index, distance: int) -> SSAValue | bool:
        """Returns whether a row of inputs is in the image."""
        if self.vertical is None or self.c.a.padding is None or self.y is None:
            return True
        builder, (dimension, index) = self.builder, self.vertical
        size, step = self.c.a.type.get_shape()[dimension], self._down(self.y)
        offset = distance + linear_terms(index)[1]
        least, greatest = (offset + step * first for first in self.first_rows)
        if greatest < 0 or least >= size:
            return False
        place = builder.sum(builder.scaled(row, step), offset)
        found: SSAValue | bool = True
        for needed, predicate, limit in ((least < 0, "sge", 0), (greatest >= size, "slt", size)):
            if needed:
                bounds = builder.value(place), builder.value(limit)
                holds = builder.add(arith.CmpiOp(*bounds, predicate)).result
                found = builder.add(arith.AndIOp(found, holds)).result if isinstance(found, SSAValue) else holds
        return found

    def _load(self, operand: Operand, at: dict[int, Index], type_: VectorType) -> SSAValue:
        """Returns elements of an operand, in the precision in which they are summed up."""
        place = place_of(self.builder, operand, at, self.c.m, self.c.n)
        stored = vector_type(operand.type.element_type, type_.get_shape())
        loaded = self.builder.add(tile.LoadOp(place.buffer, place.indices, stored, place.along, place.by))
        return widened(self.builder, loaded.result, type_.element_type, operand.unsigned)
