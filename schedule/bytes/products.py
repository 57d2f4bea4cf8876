"""
Products of bytes summed up in 32 bits, by the instructions for dot products of four bytes. These are tile registers
(`amx_products.py`) where the machine has them, else instructions on vector registers (`dots.py`). Products of bf16 are
made by dot products of two in the same way, where numbers below 2**-126 may count as zeros.

`vpdpbusd` takes one operand without a sign and the other with one, `sdot` both with signs. Where the operands have
other signs than the instruction takes, the sign bits of a are flipped, which gives a + 128 or a - 128, and

    sum over k of a * b = sum over k of (a + 128) * b - sum over k of 128 * b

so the sums start at the initial value less the sums of 128 * b (-128 * b). All of this wraps in 32 bits, so the result
is exact.

Machines of x86-64 without such an instruction multiply bytes as numbers of 16 bits (`vpmaddwd`), of any signs. Where b
has many rows, both operands are copied into pairs of those. Few rows wait for b, so bytes are extended in registers,
every other one of a group at a time. `vpmaddubsw`, which multiplies bytes, saturates, so it would not be exact.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    VectorType,
    i8,
    i32,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects import tile
from ...dialects.tile import Place
from ...dialects.tile.mma import GROUP, group_of
from ...lazy_dataclass import dataclass
from ...machine.machine import Machine
from ..kernels.contraction import Contraction, Operand
from ..kernels.epilogue import Epilogue, emit_epilogue, epilogue_of, place_of, replace_grids
from ..kernels.register_tiles import (
    COST_OF_FORM,
    RegisterTile,
    choose_tile,
    split_columns,
    split_evenly,
    steps_that_stream,
    waits_for_columns,
)
from ..kernels.scheduled_nest import Bound, Index, ScheduledNest
from ..kernels.tilings import has_several
from .amx_products import emit_tile_register_panels, tile_on_tile_registers, tile_register_panels
from .choose import on_tile_registers
from .dots import Dots, dots_of, words_of
from .given import given_dots
from .images import copy_image, is_image
from .layouts import SIGN, ByteLayouts, panels_shape

DEPTH = 4
"""The groups of the sum that one `tile.mma` writes out."""

MANY_ROWS = 64
"""The rows from which tiles that leave no rest are worth some cycles. With fewer, lower tiles read b more often."""


def byte_panels(c: Contraction, target: Machine) -> MemRefType:
    """Returns the type of all of b in panels, of a product for which `is_byte_product` holds."""
    element = _element(c, target)
    if on_tile_registers(c, target):
        return MemRefType(element, tile_register_panels(c))
    group = group_of(element)
    return MemRefType(element, panels_shape(c, byte_tile(c, target).columns, _groups(c, group), group))


def _groups(c: Contraction, group: int) -> int:
    """Returns the groups of k. The last one is filled up with zeros."""
    return ceil(c.extent(c.k) / group)


def _element(c: Contraction, target: Machine) -> Attribute:
    """Returns the elements of the layouts of both operands."""
    dots = None if on_tile_registers(c, target) else dots_of(c, target)
    return c.a.type.element_type if dots is None or dots.element is None else dots.element


def emit_byte_panels(block: Block, c: Contraction, target: Machine, packed: SSAValue) -> None:
    """Appends the nests that put all of b into panels to `block`."""
    if on_tile_registers(c, target):
        emit_tile_register_panels(block, c, packed)
    else:
        _layouts(block, c, target).pack(packed, once=True)


def tile_byte_product(c: Contraction, target: Machine, packed: SSAValue | None = None) -> None:
    """
    Replaces the grid of `c`, which `is_byte_product`, by loops over register tiles. `packed` holds b in panels already.

    Before:

        tensor_loop.grid (%m, %n, %k) in (64, 96, 100) { <product of i8 in i32> }

    After, on tile registers: see `tile_on_tile_registers`; else nests that make `[m, k]` of shifted bytes, panels
    `[panel, k / 4, column, 4]` of b and the row of starting values, then

        tensor_loop.for %p in 2 { tensor_loop.for %m0 in 8 {
          %0 = tile.load %start[%column] : memref<96xi32>, vector<8x48xi32>
          %1 = <loop over k, %0 carried> tile.mma ... depth 4 groups unsigned using "vpdpbusd"
          tile.store %1, ... } }
    """
    if on_tile_registers(c, target):
        tile_on_tile_registers(c, target, packed)
        return
    block = Block()
    epilogue = epilogue_of(c)
    tile_ = byte_tile(c, target)
    dots = dots_of(c, target)
    assert dots is not None, "the target has no instruction for this product"
    DotProductNest(_layouts(block, c, target), tile_, dots, epilogue).run(packed)
    replace_grids(c, epilogue, block)


def byte_tile(c: Contraction, target: Machine) -> RegisterTile:
    """
    Returns the tile of sums that are kept in vector registers at once, as the block requests or else by the rules.
    """
    rows, shared = c.extent(c.m), [axis for axis in c.outer if axis not in c.b.axes()]
    form = COST_OF_FORM if rows >= MANY_ROWS or has_several(c, shared) else 0.0
    return given_dots(c, target) or choose_tile(
        rows, c.extent(c.n), i32.size, target, words=words_of(c, target), cost_of_form=form
    )


def _layouts(block: Block, c: Contraction, target: Machine) -> ByteLayouts:
    element = _element(c, target)
    columns, groups = byte_tile(c, target).columns, _groups(c, group_of(element))
    return ByteLayouts(ScheduledNest(block, c.block), c, columns, groups, element)


@dataclass(frozen=True)
class _Buffers:
    """The operands in their new layouts."""

    a: SSAValue | Operand
    """The operand a or a copy of it over the axes of the contraction, or `[m, k]` with k rounded up to whole groups."""
    b: SSAValue
    """The panels `[panel, taps * k / 4, column, 4]` of b."""
    start: SSAValue | None
    """The starting values `[n]`. It is `None` where sums start at the initial value."""


class DotProductNest:
    """The loop nests of one product by an instruction for dot products."""

    def __init__(self, layouts: ByteLayouts, tile_: RegisterTile, dots: Dots, epilogue: Epilogue | None):
        self.layouts = layouts
        self.builder, self.c = layouts.builder, layouts.c
        self.tile = tile_
        self.epilogue = epilogue
        self.group, self.element = layouts.group, layouts.element_type
        self.dots = dots

    def run(self, packed: SSAValue | None) -> None:
        """
        Emits loops over the batches of b, its panels, the batches of a and its rows. Inside those stand the tiles.
        """
        layouts, c = self.layouts, self.c
        batch = [axis for axis in c.outer if axis in c.b.axes()]
        buffers = self._buffers(packed)
        shared = [axis for axis in c.outer if axis not in batch]
        signs = None if buffers.start is None else self._signs()
        with layouts.over(batch):
            if packed is None:
                layouts.pack(buffers.b)
            if buffers.start is not None and signs is not None:
                self._start(buffers.b, signs, buffers.start)
            if is_image(c):
                self._tiles(buffers, shared)
                return
            with layouts.over(shared):
                if not isinstance(buffers.a, Operand):
                    layouts.copy_rows(buffers.a, (0, layouts.rows), self.dots.flip)
                self._tiles(buffers, [])

    def _buffers(self, packed: SSAValue | None) -> _Buffers:
        layouts, c = self.layouts, self.c
        own = not (self.dots.flip or layouts.extends)
        direct = own and c.a.stride_along(c.k) == 1 and layouts.depth % self.group == 0
        depth = layouts.groups * self.group
        a: SSAValue | Operand
        if direct and c.a.padding is None:
            a = c.a
        elif is_image(c):
            a = copy_image(layouts, (0, layouts.rows - 1), depth, self.dots.flip)
        else:
            a = layouts.buffer("shifted" if self.dots.flip else "rows", self.element, layouts.rows, depth)
        b = layouts.buffer("packed", self.element, *layouts.panels_shape) if packed is None else packed
        return _Buffers(a, b, layouts.buffer("start", i32, layouts.columns) if self.dots.flip else None)

    def _signs(self) -> SSAValue:
        """Emits a row of the byte of 128, which stands before the loops over batches, as all of them read it."""
        builder, layouts = self.builder, self.layouts
        signs = layouts.buffer("factors", i8, 1, DEPTH * GROUP)
        with (
            builder.loop(1, "k") as k,
            layouts.blocked("factors", [Bound("spatial", k, 1, "vk")]),
        ):
            # One store, and no loop for LLVM to make vectors of: that would cost a kernel its short way (`effort.py`).
            row = self._splat(VectorType(i8, [1, DEPTH * GROUP]), SIGN)
            builder.add(tile.StoreOp(row, signs, [builder.value(0), builder.value(0)], (0, 1)))
        return signs

    def _start(self, panels: SSAValue, signs: SSAValue, target: SSAValue) -> None:
        """Emits `target[n] = initial value - sum over k of 128 * b[k, n]`, where the byte of 128 may mean -128."""
        builder, layouts = self.builder, self.layouts
        first = 0
        for width, count in split_columns(layouts.columns, layouts.width):
            with builder.loop(count, "p") as p:
                axes = [Bound("spatial", p + first, first + count, "vp")]
                with layouts.blocked("column_sums", axes) as (_, (vp,)):
                    type_ = VectorType(i32, [1, width])
                    left = Place(signs, (builder.value(0), builder.value(0)), (0, 1), (1, 1))
                    groups = layouts.panels_shape[1]
                    total = self._sum(lambda _, left=left: left, panels, (vp, 0), groups, self._splat(type_, 0))
                    initial = self._splat(type_, self._initial)
                    body = Block(arg_types=[i32, i32])
                    difference = arith.SubiOp(body.args[0], body.args[1])
                    body.add_ops([difference, tile.YieldOp(difference.result)])
                    found = builder.add(tile.MapOp([initial, total], type_, Region(body))).result
                    column = builder.value(builder.scaled(vp, layouts.width))
                    builder.add(tile.StoreOp(found, target, [column], (-1, 0)))
            first += count

    @property
    def _initial(self) -> float:
        assert isinstance(self.c.init, IntegerAttr | FloatAttr)
        return self.c.init.value.data

    def _splat(self, type_: VectorType, value: float) -> SSAValue:
        return self.builder.constant(DenseIntOrFPElementsAttr.from_list(type_, [value]))  # pyright: ignore

    # Tiles

    def _tiles(self, buffers: _Buffers, shared: list[int]) -> None:
        """Emits all tiles. `shared` are the axes of rows whose loops are inside the one over panels."""
        first = 0
        for width, count in split_columns(self.layouts.columns, self.layouts.width):
            with self.builder.loop(count, "p") as panel, self.layouts.over(shared):
                start = 0
                for rows, number in split_evenly(self.layouts.rows, self.tile.rows):
                    with self.builder.loop(number, "m0") as m0:
                        self._tile(buffers, (rows, start, m0, number), (width, first, panel, count))
                    start += rows * number
            first += count

    def _tile(
        self,
        buffers: _Buffers,
        height: tuple[int, int, AffineExpr, int],
        panels: tuple[int, int, AffineExpr, int],
    ) -> None:
        """Emits one tile, given as (rows, first row, loop, how many) and (width, first panel, loop, how many)."""
        builder, c = self.builder, self.c
        (rows, start, m0, number), (width, first, panel, count) = height, panels
        axes = [
            Bound("spatial", m0, number, "vm0"),
            Bound("spatial", panel + first, first + count, "vp"),
        ]
        with self.layouts.blocked(c.block.block_name.data, axes) as (at, (vm0, vp)):
            row = builder.sum(builder.scaled(vm0, rows), start)
            if c.m is not None:
                at[c.m] = row
            at[c.n] = builder.scaled(vp, self.tile.columns)
            type_ = VectorType(c.tile_element, [rows, width])
            if buffers.start is None:
                total = self._splat(type_, self._initial)
            else:
                total = builder.add(tile.LoadOp(buffers.start, [builder.value(at[c.n])], type_)).result
            total = self._over_taps(self.layouts.taps, buffers, (row, vp), at, total)
            if self.epilogue is None or self.epilogue.keeps_result:
                place = place_of(builder, c.out, at, c.m, c.n)
                builder.add(tile.StoreOp(total, place.buffer, place.indices, place.along, place.by))
            if self.epilogue is not None:
                emit_epilogue(builder, c, self.epilogue, total, at)

    def _over_taps(
        self,
        taps: list[int],
        buffers: _Buffers,
        corner: tuple[Index, Index],
        at: dict[int, Index],
        total: SSAValue,
    ) -> SSAValue:
        """Emits the loops over the axes `taps`, which all carry the tile from row and panel `corner` on."""
        builder, c, groups = self.builder, self.c, self.layouts.groups
        if taps:
            axis, *others = taps
            return builder.counted(
                c.extents[axis],
                1,
                total,
                lambda tap, carried: self._over_taps(others, buffers, corner, at | {axis: tap}, carried),
                (c.block.axes[axis].name_hint or "tap").removeprefix("v"),
            )
        row, panel = corner
        first = builder.scaled(self.layouts.tap(at), groups)
        return self._sum(lambda k: self._left(buffers.a, row, at, k), buffers.b, (panel, first), groups, total)

    def _left(self, a: SSAValue | Operand, row: Index, at: dict[int, Index], k: Index) -> Place:
        """Returns the rows of a from step `k` of the sum on."""
        builder, c = self.builder, self.c
        if isinstance(a, Operand):
            return place_of(builder, a, at | {c.k: k}, c.m, c.k)
        return Place(a, (builder.value(row), builder.value(k)), (0, 1), (1, 1))

    def _sum(
        self,
        left: Callable[[Index], Place],
        panels: SSAValue,
        start: tuple[Index, Index],
        groups: int,
        total: SSAValue,
    ) -> SSAValue:
        """Returns `total` plus the products of `groups` groups, from panel and group `start` on."""
        builder, c = self.builder, self.c
        panel, first = start

        def multiply(group: Index, carried: SSAValue, depth: int) -> SSAValue:
            indices = (panel, builder.sum(first, group), 0, 0)
            right = Place(panels, tuple(builder.value(each) for each in indices), (1, 2), (1, 1))
            product = tile.MmaOp(
                carried,
                left(builder.scaled(group, self.group)),
                right,
                depth,
                groups=True,
                unsigned=c.a.unsigned != self.dots.flip and not self.layouts.extends,
                right_unsigned=c.b.unsigned and not self.layouts.extends,
                using=self.dots.instruction,
            )
            return builder.add(product).result

        assert isinstance(total.type, VectorType)
        rows, columns = total.type.get_shape()
        depth = 1 if self.dots.words is not None else steps_that_stream(rows, columns * GROUP, DEPTH)
        total = builder.counted(
            groups,
            depth,
            total,
            lambda group, carried: multiply(group, carried, depth),
            "k",
            unroll=not waits_for_columns(rows),
        )
        rest = groups % depth
        return multiply(groups - rest, total, rest) if rest else total
