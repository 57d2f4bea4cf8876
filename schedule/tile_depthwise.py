"""
Depthwise convolutions as loops over register tiles: some rows by some pixels by one vector of channels.

An input pixel is loaded once per tile and added to every sum of the tile that it counts for, a vector of weights serves all of them: with 3 rows of
4 pixels that is 39 loads for 108 multiply-adds. The vectors of channels are innermost, so that memory is read in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, ModuleOp, VectorType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ..analysis.affine import linear_terms
from ..core.walk import ops_of
from ..dialects import tile
from ..dialects.tensor_loop import GridOp
from .contraction import Operand
from .depthwise import Depthwise, depthwise_of, has_runs
from .depthwise_columns import FlatEmitter
from .depthwise_flat import flat_of
from .epilogue import Epilogue, emit_epilogue, epilogue_of, place_of
from .loop_builder import Bound, Index, NestBuilder
from .padding import erase_with_buffers, padded_copy
from .register_tiles import split_columns, split_evenly
from .targets import X86_64_V4, Target

# Loops


def tile_all_depthwise(module: ModuleOp, target: Target) -> int:
    """Tiles the depthwise convolutions of a module, before the padded copies that they need not are; how many."""
    count = 0
    for grid in ops_of(module, GridOp):
        found = None if grid.parent is None else depthwise_of(grid)
        if found is not None:
            tile_depthwise(found, target)
            count += 1
    return count


def tile_depthwise(d: Depthwise, target: Target = X86_64_V4) -> None:
    """Replaces the grid of `d`, and the padded copy before it that is no longer needed, by loops over register tiles."""
    block = Block()
    builder = NestBuilder(block, d.c.block)
    source, epilogue = d, epilogue_of(d.c)
    if d.c.a.padding is not None and not has_runs(d):
        d = replace(d, c=replace(d.c, a=padded_copy(builder, d.c)))
    flat = flat_of(d, epilogue, target)
    if flat is None:
        _Emitter(builder, d, epilogue, target).run()
    else:
        FlatEmitter(builder, flat, epilogue).run()
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


MOST_ROWS = 4
"""Rows of a tile: with more, rows read twice are few."""

COST_OF_VARIANT = 0.05
"""What another form of a tile, at a border or of another size, may save at least: it is spelled out too."""

Tap = tuple[int, ...]


@dataclass(frozen=True)
class _InputRow:
    """Inputs at the same distance from the first row of a tile, and which sums of the tile they count for with which tap."""

    distance: int
    uses: tuple[tuple[Tap, tuple[tuple[int, Tap], ...]], ...]
    """By the taps along other axes, in which the inputs differ: the row of the tile and the tap of each sum."""


@dataclass(frozen=True)
class _Segment:
    """Neighbouring pixels of a tile that have the same taps inside the image: the first of them from the left of the tile, how many."""

    first: int
    count: int
    taps: frozenset[Tap]


Segments = tuple[_Segment, ...]


class _Emitter:
    """Emits the nest of one depthwise convolution."""

    def __init__(self, builder: NestBuilder, d: Depthwise, epilogue: Epilogue | None, target: Target):
        self.builder = builder
        self.d = d
        self.c = d.c
        self.epilogue = epilogue
        self.taps = d.taps()
        *self.outer, self.y = d.c.outer or (None,)
        self.columns = min(d.c.extent(d.c.n), target.lanes(d.c.tile_element.size))  # pyright: ignore[reportAttributeAccessIssue]
        assert d.c.m is not None
        self.runs = d.runs(d.c.m)
        self.vertical = self._vertical()
        self.rows, self.pixels = self._shape(target)

    # The tile

    def _vertical(self) -> tuple[int, AffineExpr] | None:
        """The dimension of the image that y moves in, and its index."""
        place = None if self.y is None else self.c.a.dimension_along(self.y)
        return None if place is None else (place[0], self.c.a.indices[place[0]])

    def _down(self, axis: int) -> int:
        """Rows of the image per step of an axis."""
        return self._terms_down.get(AffineDimExpr(axis), 0)

    @cached_property
    def _terms_down(self) -> Mapping[AffineExpr, int]:
        return {} if self.vertical is None else linear_terms(self.vertical[1])[0]

    def _across(self, axis: int) -> int:
        """Pixels of a row of the image per step of an axis."""
        return self._terms_across.get(AffineDimExpr(axis), 0)

    @cached_property
    def _terms_across(self) -> Mapping[AffineExpr, int]:
        assert self.c.m is not None
        place = self.c.a.dimension_along(self.c.m)
        assert place is not None
        return linear_terms(self.c.a.indices[place[0]])[0]

    def _shape(self, target: Target) -> tuple[int, int]:
        """Rows and pixels of a tile: the fewest cycles for an image, as far as the registers go."""
        assert self.c.m is not None
        rows, pixels = self.c.extent(self.y), self.c.extent(self.c.m)
        most = MOST_ROWS if self.y is not None and self._down(self.y) else 1
        choices = [
            (height, width)
            for height in range(1, min(most, rows) + 1)
            for width in range(1, min(pixels, target.registers) + 1)
            if (height, width) == (1, 1) or self._registers(height, width, target) <= target.registers - 3
        ]

        def cost(shape: tuple[int, int]) -> tuple[float, int]:
            down, across = split_evenly(rows, shape[0]), split_evenly(pixels, shape[1])
            total = sum(
                m * n * self._cycles(height, width, target) for height, m in down for width, n in across
            )
            variants = len(down) * len(self._across_image(shape[1]))
            return total * (1 + COST_OF_VARIANT * variants), -shape[0] * shape[1]

        return min(choices, key=cost)

    def _inputs(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of the image that a tile reads."""
        assert self.c.m is not None
        down, across, _ = self._reach
        stride = self._down(self.y) if self.y is not None else 0
        return (height - 1) * stride + down + 1, (width - 1) * self._across(self.c.m) + across + 1

    @cached_property
    def _reach(self) -> tuple[int, int, int]:
        """How far down and across a tap reaches along one axis, and how many taps differ across."""
        places = [
            [
                (self._down(axis) * t, self._across(axis) * t)
                for axis, t in zip(self.d.reduce, tap, strict=True)
            ]
            for tap in self.taps
        ]
        down = max(down for steps in places for down, _ in steps)
        return (
            down,
            max(across for steps in places for _, across in steps),
            len({tuple(across for _, across in steps) for steps in places}),
        )

    def _registers(self, height: int, width: int, target: Target) -> int:
        """Sums, a row of inputs, the weights that this row is multiplied by, and the products where they are not added at once."""
        kept = min(len(self.taps), self._reach[2] * height)
        return height * width + self._inputs(height, width)[1] + kept + (1 if target.fma else 4)

    def _cycles(self, height: int, width: int, target: Target) -> float:
        """Multiply-adds, two a cycle, or loads, two a cycle; or the latency of a sum."""
        added = height * width * len(self.taps) * (1 if target.fma else 2)
        rows, columns = self._inputs(height, width)
        return (
            max(added / 2, (rows * columns + len(self.taps)) / 2, len(self.taps) * target.latency)
            + rows * columns / 4
        )

    def _input_rows(self, height: int, taps: frozenset[Tap]) -> list[_InputRow]:
        """The rows of the image that a tile of that height reads, in order."""
        found: dict[int, dict[Tap, list[tuple[int, Tap]]]] = {}
        step = 0 if self.y is None else self._down(self.y)
        for row in range(height):
            for tap in sorted(taps):
                steps = [(self._down(axis), t) for axis, t in zip(self.d.reduce, tap, strict=True)]
                distance = row * step + sum(by * t for by, t in steps)
                others = tuple(0 if by else t for by, t in steps)
                found.setdefault(distance, {}).setdefault(others, []).append((row, tap))
        return [
            _InputRow(
                distance, tuple((others, tuple(uses)) for others, uses in sorted(found[distance].items()))
            )
            for distance in sorted(found)
        ]

    # Loops

    def run(self) -> None:
        """Batches, rows, pixels with the same taps; the vectors of channels innermost, in the order of memory."""
        with self.builder.nest(
            [self.c.extents[a] for a in self.outer], [f"s{a}" for a in self.outer]
        ) as batch:
            places = [
                Bound("spatial", at, self.c.extents[axis], f"vs{axis}")
                for axis, at in zip(self.outer, batch, strict=True)
            ]
            start = 0
            for height, count in split_evenly(self.c.extent(self.y), self.rows):
                with self.builder.loop(count, "y") as y:
                    self._pixels([*places, Bound("spatial", y, count, "vy")], (start, height))
                start += height * count

    def _pixels(self, places: list[Bound], rows: tuple[int, int]) -> None:
        """The tiles of some rows of an image."""
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

    def _across_image(self, most: int) -> list[tuple[int, int, int, Segments]]:
        """Tiles side by side: where they start, pixels of each, how many with the same segments, those."""
        found: list[tuple[int, int, int, Segments]] = []
        start = 0
        for size, number in split_evenly(self.c.extent(self.c.m), most):
            for _ in range(number):
                segments = self._segments(start, size)
                if found and found[-1][1] == size and found[-1][3] == segments:
                    found[-1] = (*found[-1][:2], found[-1][2] + 1, segments)
                else:
                    found.append((start, size, 1, segments))
                start += size
        return found

    def _segments(self, start: int, size: int) -> Segments:
        found: list[_Segment] = []
        for run in self.runs:
            first, last = max(start, run.start), min(start + size, run.start + run.count)
            if first < last:
                found.append(_Segment(first - start, last - first, run.taps))
        return tuple(found)

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
            at[c.n] = builder.sum(builder.scaled(vp, width), first)
            row, pixel = builder.sum(builder.scaled(vy, height), y), builder.sum(builder.scaled(vx, size), x)
            totals = self._sums(at, (row, pixel), height, width, segments)
            for number in range(height):
                here = at if self.y is None else at | {self.y: builder.sum(row, number)}
                for segment, sums in zip(segments, totals, strict=True):
                    self._finish(sums[number], here | {c.m: builder.sum(pixel, segment.first)})

    def _finish(self, total: SSAValue, at: dict[int, Index]) -> None:
        """Stores sums, or what the epilogue makes of them."""
        builder, c = self.builder, self.c
        if self.epilogue is None or self.epilogue.keeps_result:
            place = place_of(builder, c.out, at, c.m, c.n)
            builder.add(tile.StoreOp(total, place.buffer, place.indices, place.along, place.by))
        if self.epilogue is not None:
            emit_epilogue(builder, c, self.epilogue, total, at)

    def _sums(
        self, at: dict[int, Index], corner: tuple[Index, Index], height: int, width: int, segments: Segments
    ) -> list[list[SSAValue]]:
        """The sums of each segment by row, computed row by row of the image."""
        c, builder = self.c, self.builder
        number = c.init.value.data  # pyright: ignore[reportAttributeAccessIssue]
        types = [VectorType(c.tile_element, [segment.count, width]) for segment in segments]
        splats = [DenseIntOrFPElementsAttr.from_list(type_, [number]) for type_ in types]  # pyright: ignore
        totals = [[builder.constant(splat)] * height for splat in splats]
        weights = [
            {
                tap: self._load(c.b, at | dict(zip(self.d.reduce, tap, strict=True)), type_)
                for tap in sorted(segment.taps)
            }
            for segment, type_ in zip(segments, types, strict=True)
        ]
        rows = [self._input_rows(height, segment.taps) for segment in segments]
        for distance in sorted({row.distance for each in rows for row in each}):
            here = [next((row for row in each if row.distance == distance), None) for each in rows]
            images = iter(self._images(at, corner, (segments, here), types))
            for input_row, sums, factors, type_ in zip(here, totals, weights, types, strict=True):
                for _, uses in () if input_row is None else input_row.uses:
                    image = next(images)
                    for place, tap in uses:
                        step = tile.MapOp([sums[place], image, factors[tap]], type_, self._step())
                        sums[place] = builder.add(step).result
        return totals

    def _images(
        self,
        at: dict[int, Index],
        corner: tuple[Index, Index],
        parts: tuple[Segments, list[_InputRow | None]],
        types: list[VectorType],
    ) -> list[SSAValue]:
        """A row of inputs, by segment and by the taps across; zeros where the row is above or below the image."""
        builder, (row, pixel) = self.builder, corner
        present = [
            (segment, input_row, type_)
            for segment, input_row, type_ in zip(*parts, types, strict=True)
            if input_row is not None
        ]

        def loads() -> list[SSAValue]:
            found: list[SSAValue] = []
            for segment, input_row, type_ in present:
                for _, uses in input_row.uses:
                    place, tap = uses[0]
                    here = at | dict(zip(self.d.reduce, tap, strict=True))
                    assert self.c.m is not None
                    here[self.c.m] = builder.sum(pixel, segment.first)
                    if self.y is not None:
                        here[self.y] = builder.sum(row, place)
                    found.append(self._load(self.c.a, here, type_))
            return found

        inside = self._inside(row, present[0][1].distance)
        if inside is None:
            return loads()
        then, otherwise = Block(), Block()
        with builder.inside(then):
            loaded = loads()
            builder.add(scf.YieldOp(*loaded))
        with builder.inside(otherwise):
            splats = [DenseIntOrFPElementsAttr.from_list(each.type, [0]) for each in loaded]  # pyright: ignore
            builder.add(scf.YieldOp(*(builder.constant(splat) for splat in splats)))
        yielded = [each.type for each in loaded]
        return list(builder.add(scf.IfOp(inside, yielded, Region(then), Region(otherwise))).results)

    def _inside(self, row: Index, distance: int) -> SSAValue | None:
        """Whether a row of inputs is in the image; `None` where it always is."""
        if self.vertical is None or self.c.a.padding is None or self.y is None:
            return None
        builder, (dimension, index) = self.builder, self.vertical
        size, step, start = self.c.a.type.get_shape()[dimension], self._down(self.y), linear_terms(index)[1]
        last = (self.c.extents[self.y] - 1) * step
        place = builder.sum(builder.scaled(row, step), distance + start)
        found: SSAValue | None = None
        least, greatest = distance + start, distance + start + last
        for needed, predicate, limit in ((least < 0, "sge", 0), (greatest >= size, "slt", size)):
            if needed:
                holds = builder.add(
                    arith.CmpiOp(builder.value(place), builder.value(limit), predicate)
                ).result
                found = holds if found is None else builder.add(arith.AndIOp(found, holds)).result
        return found

    def _load(self, operand: Operand, at: dict[int, Index], type_: VectorType) -> SSAValue:
        place = place_of(self.builder, operand, at, self.c.m, self.c.n)
        return self.builder.add(tile.LoadOp(place.buffer, place.indices, type_, place.along, place.by)).result

    def _step(self) -> Region:
        """`total + a * b`, rounded once where that is faster."""
        element = self.c.tile_element
        body = Block(arg_types=[element] * 3)
        total, left, right = body.args
        if isinstance(self.c.init, IntegerAttr):
            times: Operation = arith.MuliOp(left, right)
            plus: Operation = arith.AddiOp(total, times.results[0])
        else:
            flags = arith.FastMathFlagsAttr([FastMathFlag.REASSOC, FastMathFlag.ALLOW_CONTRACT])
            times = arith.MulfOp(left, right, flags)
            plus = arith.AddfOp(total, times.results[0], flags)
        body.add_ops([times, plus, tile.YieldOp(plus.results[0])])
        return Region(body)
