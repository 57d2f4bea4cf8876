"""
Products with packed weights by dot products of bytes.

Weights are unpacked in registers, where they become bytes from 0 to 255. Rows of x are in parts of 8 bits
(`parts.py`). A step of the sum is exact in 32 bits:

    total[m, n] += (sum over parts of 256^i * (sum over k of part * number - zero_point * sum of part)) * (unit * scale)
"""

from __future__ import annotations

from functools import cached_property

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import VectorType, f32, i8, i32
from xdsl.ir import SSAValue

from ...dialects import tile
from ...dialects.tile import Place
from ...dialects.tile.instructions import SDOT
from ...dialects.tile.mma import GROUP
from ..kernels.register_tiles import split_columns, split_evenly
from ..kernels.scheduled_nest import Bound, Index
from .instructions import instruction_for
from .maps import MapBody, mapped
from .nest import PackedNest
from .parts import Parts, emit_parts, place_of_part


class BytesNest(PackedNest):
    """The loop nests of one product by dot products of bytes."""

    @cached_property
    def instruction(self) -> str | None:
        """The instruction for dot products, `None` for those that every machine has."""
        return instruction_for(self.p.bits, self.target)

    @property
    def groups(self) -> int:
        """The groups of weights of a step."""
        return self.p.depth * self.p.bits // (8 * GROUP)

    def run(self) -> None:
        """Emits the parts of x, then loops over panels, rows, and the tiles of a panel."""
        self.in_parts, first = emit_parts(self.builder, self.p, self.parts), 0
        for width, count in split_columns(self.c.extent(self.c.n), self.width):
            with self.builder.loop(count, "p") as p:
                panel, start = (Bound("spatial", p + first, first + count, "vp"), 0)
                for rows, number in split_evenly(self.c.extent(self.c.m), self.tile.rows):
                    with self.builder.loop(number, "m0") as m0:
                        self._row(panel, width, (Bound("spatial", m0, number, "vm0"), rows, start))
                    start += rows * number
            first += count

    def _row(self, panel: Bound, width: int, rows: tuple[Bound, int, int]) -> None:
        """Emits the tiles of one panel and some rows, given as (loop, rows of each, first row)."""
        start = 0
        for columns, count in split_columns(width, self.tile.columns):
            with self.builder.loop(count, "q") as q:
                within = Bound("spatial", q, count, "vq")
                self.emit_tile([rows[0], panel, within], (rows[1], rows[2]), (columns, start))
            start += columns * count

    def column(self, last: Index, columns: tuple[int, int]) -> Index:
        """Returns the column of a panel at which a tile begins. The last axis counts tiles."""
        return self.builder.sum(self.builder.scaled(last, columns[0]), columns[1])

    def sums(self, row: Index, panel: Index, last: Index, column: Index, total: SSAValue) -> SSAValue:
        """Emits the loops over blocks and their steps, which carry the tile."""
        corner, parts = (row, panel, column), self.in_parts
        builder, within = self.builder, self.p.block_size // self.p.depth

        def over_steps(block: Index, carried: SSAValue) -> SSAValue:
            first = builder.scaled(block, within)
            return builder.counted(
                within, 1, carried, lambda s, acc: self._step(parts, corner, block, builder.sum(first, s), acc), "s"
            )

        return builder.counted(self.p.blocks, 1, total, over_steps, "b")

    def _step(
        self, parts: Parts, corner: tuple[Index, Index, Index], block: Index, step: Index, total: SSAValue
    ) -> SSAValue:
        """Returns `total` plus the products of one step."""
        row, panel, column = corner
        builder, type_ = self.builder, total.type
        assert isinstance(type_, VectorType)
        shape = type_.get_shape()
        first = builder.scaled(step, parts.count)
        starts = [
            self.tiled(parts.sums, i32, shape, (row, builder.sum(first, part)), (0, -1))
            if self.p.one_zero_point
            else self.splat(VectorType(i32, shape), 0)
            for part in range(parts.count)
        ]
        sums = self._products(parts, corner, step, starts)
        unit = self.tiled(parts.units, f32, shape, (row, step), (0, -1))
        scale = self.tiled(self.scales, f32, shape, (panel, block, column), (-1, 2))
        if self.p.one_zero_point:
            return mapped(builder, [total, unit, scale, *sums], f32, _scaled)
        zero_point = self.tiled(self.zero_points, i8, shape, (panel, block, column), (-1, 2))
        of_parts = [
            self.tiled(parts.sums, f32, shape, (row, builder.sum(first, part)), (0, -1)) for part in range(parts.count)
        ]
        return mapped(builder, [total, unit, scale, zero_point, *of_parts, *sums], f32, _with_zero_point)

    def _products(
        self, parts: Parts, corner: tuple[Index, Index, Index], step: Index, starts: list[SSAValue]
    ) -> list[SSAValue]:
        """
        Returns what the sums of each part start with and its products. All parts take a group before the next is
        unpacked.
        """
        row, panel, column = corner
        builder, bits = self.builder, self.p.bits
        sums = list(starts)
        for group in range(self.groups):
            number = builder.sum(builder.scaled(step, self.groups), group)
            at = (builder.value(panel), builder.value(number), builder.value(column), builder.value(0))
            right = Place(self.weights, at, (1, 2), (1, 1))
            for part in range(parts.count):
                first = place_of_part(builder, self.p, parts, step, part)
                left = builder.sum(first, group * 8 * GROUP // bits)
                sums[part] = builder.add(
                    tile.MmaOp(
                        sums[part],
                        Place(parts.values, (builder.value(row), builder.value(left)), (0, 1), (1, 1)),
                        right,
                        1,
                        groups=True,
                        nibbles=bits == 4,
                        right_unsigned=self.instruction != SDOT,
                        using=self.instruction,
                    )
                ).result
        return sums


def _scaled(body: MapBody, total: SSAValue, unit: SSAValue, scale: SSAValue, *sums: SSAValue) -> SSAValue:
    """Returns the element of the total with the sums of the parts of one step."""
    return _added(body, total, unit, scale, [body(arith.SIToFPOp(each, f32)) for each in sums])


def _with_zero_point(
    body: MapBody, total: SSAValue, unit: SSAValue, scale: SSAValue, zero_point: SSAValue, *sums: SSAValue
) -> SSAValue:
    """
    Returns the same with a zero point. The first half of `sums` are those of parts, the rest those of products.

    Both are integers below 2**24, so nothing is rounded here.
    """
    count = len(sums) // 2
    offset = body(arith.NegfOp(body(arith.UIToFPOp(zero_point, f32))))
    products = [body(arith.SIToFPOp(each, f32)) for each in sums[count:]]
    found = [body(math.FmaOp(offset, *each)) for each in zip(sums[:count], products, strict=True)]
    return _added(body, total, unit, scale, found)


def _added(body: MapBody, total: SSAValue, unit: SSAValue, scale: SSAValue, parts: list[SSAValue]) -> SSAValue:
    found = parts[0]
    for each in parts[1:]:
        found = body(math.FmaOp(found, body.number(256.0), each))
    return body(math.FmaOp(found, body(arith.MulfOp(unit, scale)), total))
