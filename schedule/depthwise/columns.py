"""Emits the loops over columns of vectors of a depthwise convolution on flattened rows (`flat.py`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, VectorType
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects import tile
from ...lazy_dataclass import dataclass
from ..kernels.contraction import Contraction, Operand
from ..kernels.epilogue import Epilogue, emit_epilogue, place_of
from ..kernels.register_tiles import split_columns, split_evenly
from ..kernels.scheduled_nest import Bound, Index, ScheduledNest
from .convolution import Run
from .flat import Flat, FlatOperands

Tap = tuple[int, ...]


@dataclass(frozen=True)
class _Line:
    """
    A row of inputs, given by the row of outputs that it would start. All rows of this form lie from `least` to
    `greatest`.
    """

    place: Index
    least: int
    greatest: int


@dataclass(frozen=True)
class _Column:
    """The values that a column of vectors needs in each row."""

    at: dict[int, Index]
    type: VectorType
    zero: SSAValue
    weights: Mapping[Tap, SSAValue]
    loaded: Mapping[Operation, SSAValue]
    """The values that the epilogue reads and that are the same in all rows."""


class FlatDepthwiseNest:
    """The loop nest of one depthwise convolution on flattened rows."""

    def __init__(self, builder: ScheduledNest, flat: Flat, epilogue: Epilogue | None):
        self.builder = builder
        self.flat = flat
        operands, c = FlatOperands(builder, flat), flat.d.c
        self.c: Contraction = replace(c, a=operands.of(c.a), b=operands.repeated(c.b), out=operands.of(c.out), m=None)
        self.epilogue: Epilogue | None = None
        self.repeated: dict[Operation, Operand] = {}
        if epilogue is not None:
            loads = {op: operands.of(operand) for op, operand in epilogue.loads.items()}
            self.epilogue = replace(epilogue, out=operands.of(epilogue.out), loads=loads)
            self.repeated = {op: each for op, each in loads.items() if operands.is_repeated(each)}

    # Loops

    def run(self) -> None:
        """Emits the loops over batches, bands of rows and columns of vectors."""
        builder, c, flat = self.builder, self.c, self.flat
        *outer, y = c.outer
        with builder.nest([c.extents[axis] for axis in outer], [f"s{axis}" for axis in outer]) as batch:
            places = [Bound("spatial", at, c.extents[axis], f"vs{axis}") for axis, at in zip(outer, batch, strict=True)]
            start = 0
            for height, count in split_evenly(c.extent(y), flat.lines):
                with builder.loop(count, "y") as band:
                    axes = [*places, Bound("spatial", band, count, "vy")]
                    for run in flat.runs():
                        self._columns(axes, (start, height, count), run)
                start += height * count

    def _columns(self, axes: list[Bound], rows: tuple[int, int, int], run: Run) -> None:
        """Emits the columns of pixels with the same taps."""
        builder, flat = self.builder, self.flat
        first = 0
        for width, number in split_columns(run.count * flat.channels, flat.lanes):
            with builder.loop(number, "q") as column:
                bounds = [*axes, Bound("spatial", column, number, "vq")]
                with builder.blocked(self.c.block.block_name.data, bounds) as values:
                    *batch, band, place = values
                    inside = builder.sum(builder.scaled(place, width), first)
                    at: dict[int, Index] = dict(zip(self.c.outer, batch, strict=False))
                    at[self.c.n] = 0
                    at[flat.base] = builder.sum(inside, run.start * flat.channels)
                    at[flat.phase] = self._phase(inside, first + width * number)
                    self._column(at, rows, band, width, run)
            first += width * number

    def _phase(self, place: Index, end: int) -> Index:
        """Returns the channel of an element of a row that starts with channel 0. All elements are before `end`."""
        builder, channels = self.builder, self.flat.channels
        if isinstance(place, int):
            return place % channels
        if end <= channels:
            return place
        return builder.add(arith.RemUIOp(place, builder.value(channels))).result

    def _column(self, at: dict[int, Index], rows: tuple[int, int, int], band: Index, width: int, run: Run) -> None:
        """Emits a column down a band of `rows` (where the first band starts, rows of each, how many)."""
        builder, c, window = self.builder, self.c, self.flat.window
        start, height, count = rows
        type_ = VectorType(c.tile_element, [1, width])
        number = c.init.value.data  # pyright: ignore[reportAttributeAccessIssue]
        column = _Column(
            at,
            type_,
            builder.constant(DenseIntOrFPElementsAttr.from_list(type_, [number])),  # pyright: ignore
            {
                tap: self._load(c.b, at | dict(zip(self.flat.d.reduce, tap, strict=True)), type_)
                for tap in sorted(run.taps)
            },
            {op: self._load(operand, at, type_) for op, operand in self.repeated.items()},
        )
        top = builder.sum(builder.scaled(band, height), start)

        def line(number: int) -> _Line:
            return _Line(builder.sum(top, number), start + number, start + height * (count - 1) + number)

        sums: list[SSAValue] = []
        for number in range(window - 1):
            sums = self._guarded(column, line(number), [*sums, column.zero], number)
        sums = self._middle(column, top, height, sums)
        for number in range(height, height + window - 1):
            sums = self._guarded(column, line(number), sums, window - 1)
            self._finish(column, sums[0], builder.sum(top, number - window + 1))
            sums = sums[1:]

    def _middle(self, column: _Column, top: Index, height: int, sums: list[SSAValue]) -> list[SSAValue]:
        """
        Emits the rows of inputs that complete a sum and begin another. Returns the sums that are incomplete after them.
        """
        builder, window = self.builder, self.flat.window

        def step(place: Index, carried: Sequence[SSAValue]) -> list[SSAValue]:
            made = self._added(column, place, [*carried, column.zero], window - 1)
            if column.weights:
                self._ask(column, place)
            self._finish(column, made[0], builder.sum(place, 1 - window))
            return made[1:]

        if height == window:
            return step(builder.sum(top, window - 1), sums)
        body = Block(arg_types=[IndexType(), *(each.type for each in sums)])
        body.args[0].name_hint = "line"
        with builder.inside(body):
            builder.add(scf.YieldOp(*step(builder.sum(top, body.args[0]), body.args[1:])))
        first, last, by = (builder.value(number) for number in (window - 1, height, 1))
        return list(builder.add(scf.ForOp(first, last, by, sums, Region(body))).results)

    def _ask(self, column: _Column, place: Index) -> None:
        """
        Prefetches the elements of a row that the column after the next one reads.

        Rows are too far apart for the processor to see the pattern.
        """
        reduce, width = self.flat.d.reduce, self.flat.lanes
        last: dict[int, Index] = {
            axis: 0 if axis == self.flat.down else t for axis, t in zip(reduce, max(column.weights), strict=True)
        }
        source = place_of(self.builder, self.c.a, column.at | last | {self.flat.y: place}, None, self.c.n)
        self.builder.add(tile.PrefetchOp(source.buffer, source.indices, 2 * width, width))

    # Rows of inputs

    def _guarded(self, column: _Column, line: _Line, sums: list[SSAValue], tap: int) -> list[SSAValue]:
        """Returns the sums of `_added`, or the sums unchanged where the row is outside the image."""
        builder, flat = self.builder, self.flat
        inside: SSAValue | None = None
        for outside, everywhere, predicate, limit in (
            (line.least + flat.first < 0, line.greatest + flat.first < 0, "sge", -flat.first),
            (
                line.greatest + flat.first >= flat.rows,
                line.least + flat.first >= flat.rows,
                "slt",
                flat.rows - flat.first,
            ),
        ):
            if everywhere:
                return sums
            if outside:
                place, bound = builder.value(line.place), builder.value(limit)
                holds = builder.add(arith.CmpiOp(place, bound, predicate)).result
                inside = holds if inside is None else builder.add(arith.AndIOp(inside, holds)).result
        if inside is None:
            return self._added(column, line.place, sums, tap)
        then, otherwise = Block(), Block()
        with builder.inside(then):
            builder.add(scf.YieldOp(*self._added(column, line.place, sums, tap)))
        with builder.inside(otherwise):
            builder.add(scf.YieldOp(*sums))
        types = [each.type for each in sums]
        return list(builder.add(scf.IfOp(inside, types, Region(then), Region(otherwise))).results)

    def _added(self, column: _Column, place: Index, sums: Sequence[SSAValue], tap: int) -> list[SSAValue]:
        """
        Returns the sums with the products of a row of inputs added.

        The first sum takes row `tap` of the window, and the others the rows above that.
        """
        c, flat, reduce = self.c, self.flat, self.flat.d.reduce
        images: dict[Tap, SSAValue] = {}
        made: list[SSAValue] = []
        for number, total in enumerate(sums):
            for each, weight in column.weights.items():
                across = tuple(0 if axis == flat.down else t for axis, t in zip(reduce, each, strict=True))
                if flat.down is not None and each[reduce.index(flat.down)] != tap - number:
                    continue
                if across not in images:
                    at: dict[int, Index] = {
                        **column.at,
                        **dict(zip(reduce, across, strict=True)),
                        flat.y: place,
                    }
                    images[across] = self._load(c.a, at, column.type)
                total = self.builder.add(tile.MultiplyAddOp(images[across], weight, total)).result
            made.append(total)
        return made

    def _finish(self, column: _Column, total: SSAValue, place: Index) -> None:
        """Stores a row of sums, or the result of the epilogue on them."""
        builder, c, at = self.builder, self.c, {**column.at, self.flat.y: place}
        if self.epilogue is None or self.epilogue.keeps_result:
            to = place_of(builder, c.out, at, None, c.n)
            builder.add(tile.StoreOp(total, to.buffer, to.indices, to.along, to.by))
        if self.epilogue is not None:
            emit_epilogue(builder, c, self.epilogue, total, at, column.loaded)

    def _load(self, operand: Operand, at: Mapping[int, Index], type_: VectorType) -> SSAValue:
        place = place_of(self.builder, operand, at, None, self.c.n)
        return self.builder.add(tile.LoadOp(place.buffer, place.indices, type_, place.along, place.by)).result
