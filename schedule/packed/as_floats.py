"""
Products of many rows with packed weights by products of floats, where the machine has no instruction for bytes that is
as fast.

The weights of a panel become floats once for all rows: `(number - zero_point) * scale`, as the op says. No more of them
are floats at a time than a panel for each thread.
"""

from __future__ import annotations

from math import ceil

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType, f32, i8, i32
from xdsl.ir import SSAValue

from ...dialects import tile
from ...dialects.tensor_loop import AllocOp
from ...dialects.tile import Place
from ..kernels.epilogue import place_of
from ..kernels.register_tiles import split_columns, split_evenly, steps_at_once
from ..kernels.scheduled_nest import Bound, Index
from .maps import MapBody, mapped
from .nest import PackedNest

GROUPS = 8
"""The most groups of panels, which threads share. Each has a buffer for the floats of one panel."""


class FloatsNest(PackedNest):
    """The loop nests of one product by products of floats."""

    def run(self) -> None:
        """Emits loops over groups of panels, panels, and rows."""
        builder, columns = self.builder, self.c.extent(self.c.n)
        groups = [
            (width, size, number)
            for width, count in split_columns(columns, self.width)
            for size, number in split_evenly(count, ceil(count / GROUPS))
        ]
        count = sum(number for *_, number in groups)
        length = self.p.blocks * self.p.block_size
        self.floats = builder.add(AllocOp(MemRefType(f32, [count, length, min(self.width, columns)]))).results[0]
        self.floats.name_hint = "floats"
        first = group = 0
        for width, size, number in groups:
            with builder.loop(number, "g") as g, builder.loop(size, "p") as p:
                panel = Bound("spatial", g * size + p + first, first + size * number, "vp")
                own = Bound("spatial", g + group, group + number, "vg")
                self._unpack(panel, own, width)
                self._rows(panel, own, width)
            first, group = first + size * number, group + number

    def _unpack(self, panel: Bound, own: Bound, width: int) -> None:
        """Emits the loops that make the weights of a panel floats, a byte of each row at a time."""
        builder, numbers = self.builder, 8 // self.p.bits
        within = self.p.block_size // numbers
        with builder.nest([self.p.blocks, within], ["b", "k"]) as (b, k):
            axes = [panel, own, Bound("spatial", b, self.p.blocks, "vb"), Bound("spatial", k, within, "vk")]
            with builder.blocked("floats", axes) as (vp, vg, vb, vk):
                place = builder.sum(builder.scaled(vb, within), vk)
                bytes_ = self.tiled(self.weights, i8, (1, width), (vp, place, 0), (-1, 2))
                scale = self.tiled(self.scales, f32, (1, width), (vp, vb, 0), (-1, 2))
                zeros = self._zero_points(width, vp, vb)
                for number in range(numbers):
                    row = builder.sum(builder.scaled(place, numbers), number)
                    made = self._floats([bytes_, scale, *zeros], number)
                    indices = [builder.value(index) for index in (vg, row, 0)]
                    builder.add(tile.StoreOp(made, self.floats, indices, (-1, 2)))

    def _zero_points(self, width: int, panel: Index, block: Index) -> list[SSAValue]:
        """Returns the zero points of a block of a panel as bytes, or nothing where all are one number."""
        zero = self.p.zero_point
        if isinstance(zero, int):
            return []
        if zero.indices:
            return [self.tiled(self.zero_points, i8, (1, width), (panel, block, 0), (-1, 2))]
        return [self.tiled(zero.buffer, i8, (1, width), (), (-1, -1))]

    def _floats(self, sources: list[SSAValue], number: int) -> SSAValue:
        """Returns one number of each byte as a float. `sources` are bytes, scales, and zero points in memory."""
        bits, zero = self.p.bits, self.p.zero_point

        def made(body: MapBody, byte: SSAValue, scale: SSAValue, *zeros: SSAValue) -> SSAValue:
            whole = body(arith.ExtUIOp(byte, i32))
            if number:
                whole = body(arith.ShRUIOp(whole, body.whole(bits)))
            elif bits == 4:
                whole = body(arith.AndIOp(whole, body.whole(15)))
            less = body(arith.UIToFPOp(zeros[0], f32)) if zeros else body.number(float(zero))  # pyright: ignore
            return body(arith.MulfOp(body(arith.SubfOp(body(arith.SIToFPOp(whole, f32)), less)), scale))

        return mapped(self.builder, sources, f32, made)

    def _rows(self, panel: Bound, own: Bound, width: int) -> None:
        """Emits the loops over tiles of rows of a panel."""
        start = 0
        for rows, number in split_evenly(self.c.extent(self.c.m), self.tile.rows):
            with self.builder.loop(number, "m0") as m0:
                self.emit_tile([Bound("spatial", m0, number, "vm0"), panel, own], (rows, start), (width, 0))
            start += rows * number

    def column(self, last: Index, columns: tuple[int, int]) -> Index:
        """Returns the column of a panel at which a tile begins. A tile is as wide as its panel."""
        return 0

    def sums(self, row: Index, panel: Index, last: Index, column: Index, total: SSAValue) -> SSAValue:
        """Emits the loop over the row of x, which carries the tile. The last axis is the group."""
        builder, c = self.builder, self.c
        depth = c.extent(c.k)
        steps = min(depth, steps_at_once(self.tile, 4, self.target))

        def products(k: Index, count: int, carried: SSAValue) -> SSAValue:
            at: dict[int, Index] = dict.fromkeys(c.outer, 0) | {c.k: k}
            if c.m is not None:
                at[c.m] = row
            left = place_of(builder, c.a, at, c.m, c.k)
            right = Place(self.floats, tuple(builder.value(index) for index in (last, k, 0)), (1, 2), (1, 1))
            return builder.add(tile.MmaOp(carried, left, right, count)).result

        total = builder.counted(depth, steps, total, lambda k, carried: products(k, steps, carried), "k")
        rest = depth % steps
        return products(depth - rest, rest, total) if rest else total
