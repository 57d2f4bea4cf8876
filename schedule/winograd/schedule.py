"""
Convolutions by Winograd's filtering (`plan.py`) as loops over blocks of squares: inputs transformed, products, outputs
transformed.
"""

from __future__ import annotations

from math import ceil

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, MemRefType, VectorType
from xdsl.ir import Block, Region, SSAValue

from ...core.ir.element_types import vector_type
from ...dialects import tile
from ...dialects.tensor_loop import AllocOp
from ...dialects.tile import Place
from ...machine.machine import Machine
from ..kernels.epilogue import Epilogue, emit_epilogue, epilogue_of, place_of
from ..kernels.padding import erase_with_buffers
from ..kernels.register_tiles import split_columns, split_evenly
from ..kernels.scheduled_nest import Bound, Index, ScheduledNest
from ..kernels.widening import widened
from .plan import OUTPUTS, SQUARE, Plan, Winograd
from .transforms import OF_INPUT, OF_OUTPUT, channels_at_once, combined, load_row, store_row, transformed


def tile_winograd(w: Winograd, plan: Plan, filters: SSAValue, target: Machine) -> None:
    """
    Replaces the grid of `w` by loops over blocks of squares. `filters` holds the transformed filters (`filters_type`).
    """
    block = Block()
    epilogue = epilogue_of(w.c)
    WinogradNest(ScheduledNest(block, w.c.block), w, plan, filters, epilogue, target).run()
    last = w.c.grid if epilogue is None else epilogue.grid
    parent, ops = last.parent, list(block.ops)
    assert parent is not None
    for op in ops:
        op.detach()
    parent.insert_ops_before(ops, last)
    for grid in {w.c.grid: None, last: None, w.pad: None}:
        if grid is not None:
            erase_with_buffers(grid)


class WinogradNest:
    """The loop nest of one convolution by the method of Winograd."""

    def __init__(
        self,
        builder: ScheduledNest,
        w: Winograd,
        plan: Plan,
        filters: SSAValue,
        epilogue: Epilogue | None,
        target: Machine,
    ):
        self.builder = builder
        self.w = w
        self.c = w.c
        self.plan = plan
        self.filters = filters
        self.epilogue = epilogue
        self.most = channels_at_once(w, target)
        self.down, self.across = w.squares
        self.squares = plan.images * plan.rows * self.across
        self.width = min(w.c.extent(w.c.k), self.most)

    def run(self) -> None:
        """Emits the loops over blocks of squares: inputs transformed, products, outputs transformed."""
        parts = self.plan.parts
        chunks = ceil(self.c.extent(self.c.k) / self.width)
        columns = SQUARE + OUTPUTS * (self.across - 1)
        self.strip = self._buffer([parts, chunks, SQUARE, columns, self.width], "strip")
        self.inputs = self._buffer([parts, SQUARE**2, self.squares, self.c.extent(self.c.k)], "inputs")
        self.products = self._buffer([parts, SQUARE**2, self.squares, self.c.extent(self.c.n)], "products")
        self._borders(chunks, columns)
        self.blocks = (self.w.images // self.plan.images, self.down // self.plan.rows)
        self.of_images = self.blocks[0] > 1
        shared = [
            extent // (parts if of_images == self.of_images else 1)
            for extent, of_images in zip(self.blocks, (True, False), strict=True)
        ]
        kind = "parallel" if parts > 1 else "serial"
        with self.builder.loop(parts, "t", kind) as t, self.builder.nest(shared, ["n0", "y0"]) as found:
            self.outside = [
                Bound("spatial", at, extent, name)
                for at, extent, name in zip((t, *found), (parts, *shared), ("vt", "vn0", "vy0"), strict=True)
            ]
            self._transform_inputs()
            self._multiply()
            self._transform_outputs()

    def _buffer(self, shape: list[int], name: str) -> SSAValue:
        result = self.builder.add(AllocOp(MemRefType(self.c.tile_element, shape))).results[0]
        result.name_hint = name
        return result

    # Places

    def _kept(self) -> tuple[int, int, int]:
        """
        Returns the columns of the strip that are in the image: how many are left and right of them, and how many they
        are.
        """
        _, size, start = self.w.inputs(self.w.x)
        columns = SQUARE + OUTPUTS * (self.across - 1)
        kept = min(size + -start, columns) - -start
        return -start, columns - kept - -start, kept

    def _image(self, t: Index, n0: Index, n1: Index) -> Index:
        builder = self.builder
        if self.of_images:
            n0 = builder.sum(builder.scaled(t, self.blocks[0] // self.plan.parts), n0)
        return builder.sum(builder.scaled(n0, self.plan.images), n1)

    def _row(self, t: Index, y0: Index, y1: Index) -> Index:
        """Returns the number of a row of squares in its image."""
        builder = self.builder
        if not self.of_images:
            y0 = builder.sum(builder.scaled(t, self.blocks[1] // self.plan.parts), y0)
        return builder.sum(builder.scaled(y0, self.plan.rows), y1)

    def _square(self, n1: Index, y1: Index, x: Index) -> Index:
        """Returns the number of a square in its block."""
        builder = self.builder
        row = builder.sum(builder.scaled(n1, self.plan.rows), y1)
        return builder.sum(builder.scaled(row, self.across), x)

    def _splat(self, type_: VectorType) -> SSAValue:
        return self.builder.constant(DenseIntOrFPElementsAttr.from_list(type_, [0.0]))  # pyright: ignore

    # Inputs

    def _borders(self, chunks: int, columns: int) -> None:
        """Emits zeros left and right of the image, which stay there."""
        left, right, _ = self._kept()
        for first, count in ((0, left), (columns - right, right)):
            if not count:
                continue
            extents = [self.plan.parts, chunks, SQUARE, count]
            with self.builder.nest(extents, ["t", "c", "i", "x"]) as (t, c, i, x):
                axes = [
                    Bound("spatial", t, self.plan.parts, "vt"),
                    Bound("spatial", c, chunks, "vc"),
                    Bound("spatial", i, SQUARE, "vi"),
                    Bound("spatial", x, count, "vx"),
                ]
                with self.builder.blocked("border", axes) as (vt, vc, vi, vx):
                    zero = self._splat(vector_type(self.c.tile_element, [1, self.width]))
                    store_row(self.builder, zero, self.strip, (vt, vc, vi, self.builder.sum(vx, first), 0))

    def _transform_inputs(self) -> None:
        """
        Transforms a strip of four rows at a time, first down the rows and then along them. It does so for as many
        channels as keep it in the first-level cache.
        """
        first = 0
        for width, count in split_columns(self.c.extent(self.c.k), self.width):
            extents = [count, self.plan.images, self.plan.rows]
            with self.builder.nest(extents, ["c", "n1", "y1"]) as (c, n1, y1):
                axes = [
                    *self.outside,
                    Bound("spatial", c + first, first + count, "vc"),
                    Bound("spatial", n1, self.plan.images, "vn1"),
                    Bound("spatial", y1, self.plan.rows, "vy1"),
                ]
                self._down(axes, width)
                self._along(axes, width)
            first += count

    def _down(self, axes: list[Bound], width: int) -> None:
        builder = self.builder
        left, _, kept = self._kept()
        with (
            builder.loop(kept, "x") as x,
            builder.blocked("rows", [*axes, Bound("spatial", x, kept, "vx")]) as (t, n0, y0, c, n1, y1, vx),
        ):
            row = builder.scaled(self._row(t, y0, y1), OUTPUTS)
            image, channel = self._image(t, n0, n1), builder.scaled(c, self.width)
            loaded = [self._input(image, builder.sum(row, i), i, vx, channel, width) for i in range(SQUARE)]
            for i, value in enumerate(transformed(builder, loaded, OF_INPUT)):
                store_row(builder, value, self.strip, (t, c, i, builder.sum(vx, left), 0))

    def _input(self, image: Index, row: Index, i: int, x: Index, channel: Index, width: int) -> SSAValue:
        """Returns a pixel of the image, with zeros above and below it. `row` is that of the square and `i`."""
        builder = self.builder
        dimension, size, start = self.w.inputs(self.w.y)
        low, high = i + start, OUTPUTS * (self.down - 1) + i + start
        row = builder.value(builder.sum(row, start))
        at: list[Index] = []
        for number, index in enumerate(self.c.a.indices):
            used = index.used_dims()
            if number == dimension:
                at.append(row)
            elif self.w.x in used:
                at.append(x)
            elif self.c.k in used:
                at.append(channel)
            else:
                at.append(image if self.w.batch in used else 0)
        bounds = [(low < 0, "sge", 0), (high >= size, "slt", size)]
        compared = [
            builder.add(arith.CmpiOp(row, builder.value(limit), predicate)).result
            for needed, predicate, limit in bounds
            if needed
        ]
        if not compared:
            return self._pixel(at, width)
        inside = compared[0] if len(compared) == 1 else builder.add(arith.AndIOp(compared[0], compared[1])).result
        then, otherwise = Block(), Block()
        with builder.inside(then):
            value = self._pixel(at, width)
            builder.add(scf.YieldOp(value))
        with builder.inside(otherwise):
            builder.add(scf.YieldOp(self._splat(vector_type(self.c.tile_element, [1, width]))))
        return builder.add(scf.IfOp(inside, [value.type], Region(then), Region(otherwise))).results[0]

    def _pixel(self, at: list[Index], width: int) -> SSAValue:
        place = self.c.a.dimension_along(self.c.k)
        assert place is not None
        type_ = vector_type(self.c.a.type.element_type, [1, width])
        indices = [self.builder.value(index) for index in at]
        loaded = self.builder.add(tile.LoadOp(self.c.a.buffer, indices, type_, (-1, place[0]))).result
        return widened(self.builder, loaded, self.c.tile_element)

    def _along(self, axes: list[Bound], width: int) -> None:
        builder = self.builder
        with builder.nest([SQUARE, self.across], ["i", "x"]) as (i, x):
            here = [*axes, Bound("spatial", i, SQUARE, "vi"), Bound("spatial", x, self.across, "vx")]
            with builder.blocked("squares", here) as (t, _, _, c, n1, y1, vi, vx):
                column = builder.scaled(vx, OUTPUTS)
                loaded = [
                    load_row(builder, self.strip, (t, c, vi, builder.sum(column, j), 0), width) for j in range(SQUARE)
                ]
                place, square = builder.scaled(vi, SQUARE), self._square(n1, y1, vx)
                channel = builder.scaled(c, self.width)
                for j, value in enumerate(transformed(builder, loaded, OF_INPUT)):
                    store_row(builder, value, self.inputs, (t, builder.sum(place, j), square, channel))

    # Products

    def _multiply(self) -> None:
        builder, columns = self.builder, self.plan.tile.columns
        with builder.loop(SQUARE**2, "s") as s:
            first = 0
            for width, count in split_columns(self.c.extent(self.c.n), columns):
                with builder.loop(count, "p") as panel:
                    start = 0
                    for rows, number in split_evenly(self.squares, self.plan.tile.rows):
                        with builder.loop(number, "m0") as m0:
                            axes = [
                                *self.outside,
                                Bound("spatial", s, SQUARE**2, "vs"),
                                Bound("spatial", panel + first, first + count, "vp"),
                                Bound("spatial", m0, number, "vm0"),
                            ]
                            self._product(axes, start, rows, width)
                        start += rows * number
                first += count

    def _product(self, axes: list[Bound], start: int, rows: int, width: int) -> None:
        builder = self.builder
        with builder.blocked(self.c.block.block_name.data, axes) as (t, _, _, s, panel, m0):
            row = builder.sum(builder.scaled(m0, rows), start)
            depth = self.c.extent(self.c.k)

            def step(k: Index, total: SSAValue, steps: int = self.plan.steps) -> SSAValue:
                values = [builder.value(index) for index in (t, s, row, k)]
                a = Place(self.inputs, tuple(values), (2, 3), (1, 1))
                values = [builder.value(index) for index in (s, panel, k, 0)]
                b = Place(self.filters, tuple(values), (2, 3), (1, 1))
                return builder.add(tile.MmaOp(total, a, b, steps)).result

            total = self._splat(vector_type(self.c.tile_element, [rows, width]))
            total = builder.counted(depth, self.plan.steps, total, step, "k")
            if rest := depth % self.plan.steps:
                total = step(depth - rest, total, rest)
            column = builder.scaled(panel, self.plan.tile.columns)
            store_row(builder, total, self.products, (t, s, row, column))

    # Outputs

    def _transform_outputs(self) -> None:
        """
        Transforms the products back. Squares that reach over the right edge are in runs of their own, and those over
        the lower edge are tested.
        """
        most = self.most
        whole, rest = divmod(self.c.extents[self.w.x], OUTPUTS)
        extents = [self.plan.images, self.plan.rows]
        with self.builder.nest(extents, ["n1", "y1"]) as (n1, y1):
            for start, count, across in ((0, whole, OUTPUTS), (whole, 1, rest)):
                if not count or not across:
                    continue
                with self.builder.loop(count, "x") as x:
                    first = 0
                    for width, panels in split_columns(self.c.extent(self.c.n), most):
                        with self.builder.loop(panels, "p") as panel:
                            axes = [
                                *self.outside,
                                Bound("spatial", n1, self.plan.images, "vn1"),
                                Bound("spatial", y1, self.plan.rows, "vy1"),
                                Bound("spatial", x + start, start + count, "vx"),
                                Bound("spatial", panel + first, first + panels, "vp"),
                            ]
                            with self.builder.blocked("outputs", axes) as values:
                                self._outputs(values, across, width)
                        first += panels

    def _outputs(self, values: list[Index], across: int, width: int) -> None:
        builder, c = self.builder, self.c
        t, n0, y0, n1, y1, x, panel = values
        square = self._square(n1, y1, x)
        column = builder.scaled(panel, self.most)
        sums: list[list[SSAValue]] = []
        for i in range(SQUARE):
            loaded = [
                load_row(builder, self.products, (t, SQUARE * i + j, square, column), width) for j in range(SQUARE)
            ]
            sums.append(transformed(builder, loaded, OF_OUTPUT[:across]))
        row, x = builder.scaled(self._row(t, y0, y1), OUTPUTS), builder.scaled(x, OUTPUTS)
        at: dict[int, Index] = dict.fromkeys(c.outer, 0)
        if self.w.batch is not None:
            at[self.w.batch] = self._image(t, n0, n1)
        at[c.n] = column
        for i in range(OUTPUTS):
            at[self.w.y] = builder.sum(row, i)
            tiles = [combined(builder, [each[j] for each in sums], OF_OUTPUT[i]) for j in range(across)]
            if OUTPUTS * (self.down - 1) + i < c.extents[self.w.y]:
                self._finish(tiles, at, x)
                continue
            limit = builder.value(c.extents[self.w.y])
            inside = builder.add(arith.CmpiOp(builder.value(at[self.w.y]), limit, "slt")).result
            then = Block()
            with builder.inside(then):
                self._finish(tiles, at, x)
                builder.add(scf.YieldOp())
            builder.add(scf.IfOp(inside, [], Region(then)))

    def _finish(self, tiles: list[SSAValue], at: dict[int, Index], x: Index) -> None:
        """Stores outputs side by side, or the result of the epilogue on them."""
        builder, c, epilogue = self.builder, self.c, self.epilogue
        for j, value in enumerate(tiles):
            here = at | {self.w.x: builder.sum(x, j)}
            if epilogue is None or epilogue.keeps_result:
                place = place_of(builder, c.out, here, c.m, c.n)
                builder.add(tile.StoreOp(value, place.buffer, place.indices, place.along, place.by))
            if epilogue is not None:
                emit_epilogue(builder, c, epilogue, value, here)
