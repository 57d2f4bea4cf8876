"""
Products of signed bytes summed up in 32 bits, by the instruction for dot products of four bytes (`vpdpbusd` of AVX-512 VNNI).

That instruction takes its left operand without a sign. `a + 128` is one: flipping the sign bit gives it, and

    sum over k of a * b = sum over k of (a + 128) * b - 128 * sum over k of b

so the sums start at the initial value less 128 times the column sums of b. All of this wraps in 32 bits, so the result is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, VectorType, i8, i32
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.ir.affine import AffineExpr

from ..dialects import tile
from ..dialects.tensor_loop import AllocOp
from ..dialects.tile import Place
from ..dialects.tile.mma import GROUP
from .contraction import Contraction, Operand
from .epilogue import Epilogue, emit_epilogue, epilogue_of, place_of, replace_grids
from .loop_builder import Bound, Index, NestBuilder
from .register_tiles import RegisterTile, choose_tile, split_columns, split_evenly
from .targets import Target, cpu_flags

INSTRUCTION = "vpdpbusd"

DEPTH = 4
"""Groups of the sum that one `tile.mma` spells out."""

LEAST = 16
"""Rows, columns and steps of the sum from which laying out both operands anew pays off."""

OFFSET = 128


def has_instruction(target: Target) -> bool:
    """Whether the machine has dot products of bytes in registers of 64 bytes."""
    flags = cpu_flags() if target.name == "host" else None
    return flags is not None and {"avx512vl", "avx512_vnni"} <= flags


def is_byte_product(c: Contraction) -> bool:
    """Whether `c` is one product of matrices of signed bytes, large enough to be laid out anew."""
    types = (c.a.type.element_type, c.b.type.element_type, c.tile_element)
    if types != (i8, i8, i32) or c.a.padding is not None or c.reduce:
        return False
    outer = any(c.extents[axis] > 1 for axis in c.outer)
    return not outer and c.m is not None and min(c.extent(c.m), c.extent(c.n), c.extent(c.k)) >= LEAST


def tile_byte_product(c: Contraction) -> None:
    """
    Replaces the grid of `c`, which `is_byte_product`, by loops over register tiles.

    Before:

        tensor_loop.grid (%m, %n, %k) in (64, 96, 100) { <product of i8 in i32> }

    After: nests that make `[m, k]` of shifted bytes, panels `[panel, k / 4, column, 4]` of b and the row of starting values, then

        tensor_loop.for %p in 2 { tensor_loop.for %m0 in 8 {
          %0 = tile.load %start[%column] : memref<96xi32>, vector<8x48xi32>
          %1 = <loop over k, %0 carried> tile.mma ... depth 4 groups unsigned using "vpdpbusd"
          tile.store %1, ... } }
    """
    block = Block()
    epilogue = epilogue_of(c)
    _Emitter(NestBuilder(block, c.block), c, epilogue).run()
    replace_grids(c, epilogue, block)


@dataclass(frozen=True)
class _Buffers:
    """The operands, laid out anew."""

    a: SSAValue
    """`[m, k]`, k rounded up to whole groups."""
    b: SSAValue
    """`[panel, k / 4, column, 4]`."""
    start: SSAValue
    """`[n]`."""


class _Emitter:
    """Emits the nests of one product."""

    def __init__(self, builder: NestBuilder, c: Contraction, epilogue: Epilogue | None):
        self.builder = builder
        self.c = c
        self.epilogue = epilogue
        self.rows, self.columns, self.depth = c.extent(c.m), c.extent(c.n), c.extent(c.k)
        self.groups = ceil(self.depth / GROUP)
        self.tile: RegisterTile = choose_tile(self.rows, self.columns, 4)

    def run(self) -> None:
        panels = ceil(self.columns / self.tile.columns)
        buffers = _Buffers(
            self._buffer("shifted", i8, self.rows, self.groups * GROUP),
            self._buffer("packed", i8, panels, self.groups, self.tile.columns, GROUP),
            self._buffer("start", i32, self.columns),
        )
        self._shift(buffers.a)
        self._pack(buffers.b)
        self._start(buffers.start)
        first = 0
        for width, count in split_columns(self.columns, self.tile.columns):
            with self.builder.loop(count, "p") as panel:
                start = 0
                for rows, number in split_evenly(self.rows, self.tile.rows):
                    with self.builder.loop(number, "m0") as m0:
                        self._tile(buffers, (rows, start, m0, number), (width, first, panel, count))
                    start += rows * number
            first += count

    def _buffer(self, name: str, element: Attribute, *sizes: int) -> SSAValue:
        result = self.builder.add(AllocOp(MemRefType(element, sizes))).results[0]
        result.name_hint = name
        return result

    # Layouts

    def _shift(self, target: SSAValue) -> None:
        """`target[m, k] = a[m, k] + 128`; what fills up the last group is multiplied by zeros."""
        builder, c = self.builder, self.c
        with builder.nest([self.rows, self.depth], ["m", "k"], "vectorized") as (m, k):
            axes = [Bound("spatial", m, self.rows, "vm"), Bound("spatial", k, self.depth, "vk")]
            with builder.blocked("shift", axes) as (vm, vk):
                assert c.m is not None
                loaded = self._element(c.a, {c.m: vm, c.k: vk})
                flipped = builder.add(arith.XOrIOp(loaded, builder.constant(IntegerAttr(-OFFSET, i8)))).result
                self._put(flipped, target, vm, vk)
        rest = self.groups * GROUP - self.depth
        if rest:
            with builder.nest([self.rows, rest], ["m", "k"]) as (m, k):
                axes = [
                    Bound("spatial", m, self.rows, "vm"),
                    Bound("spatial", k + self.depth, self.depth + rest, "vk"),
                ]
                with builder.blocked("fill", axes) as (vm, vk):
                    self._put(builder.constant(IntegerAttr(0, i8)), target, vm, vk)

    def _pack(self, target: SSAValue) -> None:
        """`target[p, q, j, e] = b[4 * q + e, columns * p + j]`, 0 where b has no such row."""
        whole, rest = divmod(self.depth, GROUP)
        first = 0
        for width, count in split_columns(self.columns, self.tile.columns):
            if whole:
                self._pack_panels(target, (first, count, width), (0, whole, GROUP))
            if rest:
                self._pack_panels(target, (first, count, width), (whole, 1, rest))
            first += count

    def _pack_panels(
        self, target: SSAValue, panels: tuple[int, int, int], groups: tuple[int, int, int]
    ) -> None:
        """Panels as (first, how many, width), groups as (first, how many, rows of b in each)."""
        builder, c = self.builder, self.c
        (first, count, width), (first_group, number, rows) = panels, groups
        with builder.nest([count, number, width], ["p", "q", "n"], "vectorized") as (p, q, n):
            axes = [
                Bound("spatial", p + first, first + count, "vp"),
                Bound("spatial", q + first_group, first_group + number, "vq"),
                Bound("spatial", n, width, "vn"),
            ]
            with builder.blocked("pack", axes) as (vp, vq, vn):
                at: dict[int, Index] = {c.n: builder.sum(builder.scaled(vp, self.tile.columns), vn)}
                values = [
                    self._element(c.b, at | {c.k: builder.sum(builder.scaled(vq, GROUP), row)})
                    for row in range(rows)
                ]
                values += [builder.constant(IntegerAttr(0, i8)) for _ in range(GROUP - rows)]
                for element, value in enumerate(values):
                    self._put(value, target, vp, vq, vn, element)

    def _start(self, target: SSAValue) -> None:
        """`target[n] = initial value - 128 * sum over k of b[k, n]`."""
        builder, c = self.builder, self.c
        with builder.nest([self.depth, self.columns], ["k", "n"], "vectorized") as (k, n):
            axes = [Bound("spatial", n, self.columns, "vn"), Bound("reduce", k, self.depth, "vk")]
            with builder.blocked("column_sums", axes) as (vn, vk):
                with builder.init():
                    self._put(builder.constant(c.init), target, vn)
                wide = builder.add(arith.ExtSIOp(self._element(c.b, {c.k: vk, c.n: vn}), i32)).result
                part = builder.add(arith.MuliOp(wide, builder.constant(IntegerAttr(OFFSET, i32)))).result
                old = builder.add(memref.LoadOp.get(target, [builder.value(vn)])).res
                self._put(builder.add(arith.SubiOp(old, part)).result, target, vn)

    def _element(self, operand: Operand, at: Mapping[int, Index]) -> SSAValue:
        at = {**dict.fromkeys(self.c.outer, 0), **at}
        indices = [self.builder.affine(index, at) for index in operand.indices]
        return self.builder.add(memref.LoadOp.get(operand.buffer, indices)).res

    def _put(self, value: SSAValue, target: SSAValue, *indices: Index) -> None:
        builder = self.builder
        builder.add(memref.StoreOp.get(value, target, [builder.value(index) for index in indices]))

    # Tiles

    def _tile(
        self,
        buffers: _Buffers,
        height: tuple[int, int, AffineExpr, int],
        panels: tuple[int, int, AffineExpr, int],
    ) -> None:
        """One tile: (rows, first row, loop, how many) and (width, first panel, loop, how many)."""
        builder, c = self.builder, self.c
        (rows, start, m0, number), (width, first, panel, count) = height, panels
        axes = [
            Bound("spatial", m0, number, "vm0"),
            Bound("spatial", panel + first, first + count, "vp"),
        ]
        with builder.blocked(c.block.block_name.data, axes) as (vm0, vp):
            assert c.m is not None
            row = builder.sum(builder.scaled(vm0, rows), start)
            at: dict[int, Index] = {
                **dict.fromkeys(c.outer, 0),
                c.m: row,
                c.n: builder.scaled(vp, self.tile.columns),
            }
            type_ = VectorType(i32, [rows, width])
            column = [builder.value(at[c.n])]
            total = builder.add(tile.LoadOp(buffers.start, column, type_)).result
            total = self._sum(buffers, row, vp, total)
            if self.epilogue is None or self.epilogue.keeps_result:
                place = place_of(builder, c.out, at, c.m, c.n)
                builder.add(tile.StoreOp(total, place.buffer, place.indices, place.along, place.by))
            if self.epilogue is not None:
                emit_epilogue(builder, c, self.epilogue, total, at)

    def _sum(self, buffers: _Buffers, row: Index, panel: Index, total: SSAValue) -> SSAValue:
        builder = self.builder

        def multiply(group: Index, carried: SSAValue, depth: int) -> SSAValue:
            k = builder.scaled(group, GROUP)
            left = Place(buffers.a, (builder.value(row), builder.value(k)), (0, 1), (1, 1))
            indices = (panel, group, 0, 0)
            right = Place(buffers.b, tuple(builder.value(each) for each in indices), (1, 2), (1, 1))
            product = tile.MmaOp(carried, left, right, depth, groups=True, unsigned=True, using=INSTRUCTION)
            return builder.add(product).result

        total = builder.counted(
            self.groups, DEPTH, total, lambda group, carried: multiply(group, carried, DEPTH), "k"
        )
        rest = self.groups % DEPTH
        return multiply(self.groups - rest, total, rest) if rest else total
