"""
Products of bytes or bf16 summed up in 32 bits on the tile registers of AMX. Four of them hold 32x32 sums, and rows are
read 64 bytes at a time.

The instructions take bytes with and without a sign on either side and wrap, so results are exact. Rows of a are read
where they lie. Rows that make no whole register are copied and filled up. So are all rows where k is not contiguous or
no multiple of 64 bytes. b is laid out in panels of groups of four bytes (docs/decisions/009). docs/targets.md describes
the blocking. bf16 below 2**-126 count as zeros. Convolutions are one product per tap, and the sums stay in their
registers in between (`images.py`).
"""

from __future__ import annotations

from itertools import product
from math import ceil

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, VectorType, bf16, i32
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects import tile
from ...dialects.tile import Place
from ...dialects.tile.mma import AMX, AMX_MOST, AMX_ROWS, GROUP, group_of
from ...lazy_dataclass import dataclass
from ...machine.machine import Machine
from ..kernels.contraction import Contraction, Operand
from ..kernels.epilogue import Epilogue, emit_epilogue, epilogue_of, place_of, replace_grids
from ..kernels.register_tiles import split_columns, split_evenly
from ..kernels.scheduled_nest import Bound, Index, ScheduledNest
from .dots import shared_rows
from .given import given_panels
from .images import copy_image, is_image
from .layouts import ByteLayouts, panels_shape


def fits_tile_registers(c: Contraction, target: Machine) -> bool:
    """
    Returns whether `c`, a product of bytes in i32 or of bf16 in f32, can be computed on the tile registers of `target`.
    """
    zero = isinstance(c.init, IntegerAttr | FloatAttr) and str(c.init.value.data) in ("0", "0.0")
    return zero and (target.has_half_tiles if c.a.type.element_type == bf16 else target.has_byte_tiles)


def tile_register_panels(c: Contraction) -> list[int]:
    """Returns the shape of all of b in panels."""
    return panels_shape(c, _width(c), _groups(c), group_of(c.a.type.element_type))


def emit_tile_register_panels(block: Block, c: Contraction, packed: SSAValue) -> None:
    """Appends the nests that put all of b into panels to `block`."""
    ByteLayouts(ScheduledNest(block, c.block), c, _width(c), _groups(c)).pack(packed, once=True)


def tile_on_tile_registers(c: Contraction, target: Machine, packed: SSAValue | None = None) -> None:
    """
    Replaces the grid of `c`, which `fits_tile_registers`, by loops over 32x32 tiles. `packed` holds b in panels
    already.

    Before:

        tensor_loop.grid (%m, %n, %k) in (64, 96, 128) { <product of i8 in i32> }

    After: a nest that makes panels `[panel, k / 4, column, 4]` of b, then

        tensor_loop.for %m0 in 2 { tensor_loop.for %p in 3 {
          %0 = arith.constant dense<0> : vector<32x32xi32>
          %1 = tile.mma %0, %a[%row, %c0], %packed[%p, ...] along [1, 2] depth 32 groups using "amx"
          tile.store %1, ... } }
    """
    block = Block()
    epilogue = epilogue_of(c)
    layouts = ByteLayouts(ScheduledNest(block, c.block), c, _width(c), _groups(c))
    TileRegisterNest(layouts, epilogue, target).run(packed)
    replace_grids(c, epilogue, block)


def panels_at_once(c: Contraction, rows: int, target: Machine) -> int:
    """Returns the panels of b that stay in L2 while `rows` rows are multiplied by them, or all for few rows."""
    width = _width(c)
    every = ceil(c.extent(c.n) / width)
    if rows <= AMX_MOST:
        return every
    bytes_per = panels_shape(c, width, _groups(c), 1)[1] * width * GROUP
    return min(every, max(1, target.l2_bytes // 2 // bytes_per))


def default_panels(c: Contraction, target: Machine) -> int:
    """Returns `panels_at_once` for the rows that share b."""
    return panels_at_once(c, shared_rows(c) if is_image(c) else c.extent(c.m), target)


def _width(c: Contraction) -> int:
    return AMX_ROWS if c.extent(c.n) <= AMX_ROWS else AMX_MOST


def _groups(c: Contraction) -> int:
    return ceil(c.extent(c.k) / _step(c)) * AMX_ROWS


def _step(c: Contraction) -> int:
    """Returns the steps of the sum that a row of a tile register holds."""
    return AMX_ROWS * group_of(c.a.type.element_type)


@dataclass(frozen=True)
class _Rows:
    """Rows of a that are multiplied in the same way."""

    first: int
    count: int
    copy: SSAValue | None = None
    """The buffer that they were copied to, row `first` to row 0. It is `None` where they lie in `operand`."""
    operand: Operand | None = None
    """The operand a, or a copy of it, over the axes of the contraction."""


@dataclass(frozen=True)
class _Panels:
    """Blocks with the same number of panels, one after the other."""

    first: int
    blocks: int
    size: int
    """The number of panels of a block."""
    width: int


class TileRegisterNest:
    """The loop nests of one product on the tile registers of AMX."""

    def __init__(self, layouts: ByteLayouts, epilogue: Epilogue | None, target: Machine):
        self.layouts = layouts
        self.builder, self.c = layouts.builder, layouts.c
        self.epilogue = epilogue
        self.target = target
        self.packed: SSAValue | None = None

    def run(self, packed: SSAValue | None) -> None:
        """
        Emits loops over the batches of b, its panels, the batches of a and its rows. Inside those stand the tiles.
        """
        layouts, c = self.layouts, self.c
        batch = [axis for axis in c.outer if axis in c.b.axes()]
        rows = self._parts_of_image() if is_image(c) else self._rows()
        self.packed = (
            layouts.buffer("packed", layouts.element_type, *layouts.panels_shape) if packed is None else packed
        )
        if is_image(c):
            self._images(rows, packed is None)
            return
        with layouts.over(batch):
            if packed is None:
                layouts.pack(self.packed)
            with layouts.over([axis for axis in c.outer if axis not in batch]):
                for part in rows:
                    if part.copy is not None:
                        layouts.copy_rows(part.copy, (part.first, part.count))
                for panels in self._blocks(layouts.rows):
                    for part in rows:
                        with self.builder.loop(panels.blocks, "n0") as n0:
                            self._tiles(part, panels, n0)

    def _images(self, parts: list[_Rows], pack: bool) -> None:
        """Emits blocks of panels and all rows inside each, so that every block is read from L2 by all rows."""
        layouts, c = self.layouts, self.c
        batch = [axis for axis in c.outer if axis in c.b.axes()]
        with layouts.over(batch):
            if pack:
                layouts.pack(self.packed)  # pyright: ignore[reportArgumentType]
            for panels in self._blocks(shared_rows(c)):
                with (
                    self.builder.loop(panels.blocks, "n0") as n0,
                    layouts.over([axis for axis in c.outer if axis not in batch]),
                ):
                    for part in parts:
                        self._tiles(part, panels, n0)

    def _parts_of_image(self) -> list[_Rows]:
        """Returns whole registers of rows from a where that is possible, and the rest from a copy with room around."""
        layouts, c = self.layouts, self.c
        inside = c.a.padding is None and c.a.stride_along(c.k) == 1 and layouts.depth % _step(c) == 0
        direct = layouts.rows - layouts.rows % AMX_ROWS if inside else 0
        found = [_Rows(0, direct, operand=c.a)] if direct else []
        if direct < layouts.rows:
            last = ceil(layouts.rows / AMX_ROWS) * AMX_ROWS - 1
            copy = copy_image(layouts, (direct, last), layouts.groups * layouts.group)
            found.append(_Rows(direct, layouts.rows - direct, operand=copy))
        return found

    def _rows(self) -> list[_Rows]:
        """Returns whole registers of rows from a where that is possible, and the rest from copies."""
        layouts, c = self.layouts, self.c
        rows = layouts.rows
        inside = c.a.stride_along(c.k) == 1 and layouts.depth % _step(c) == 0
        direct = rows - rows % AMX_ROWS if inside else 0
        found = [_Rows(0, direct, operand=c.a)] if direct else []
        if direct < rows:
            count = ceil((rows - direct) / AMX_ROWS) * AMX_ROWS
            copy = self.layouts.buffer("rows", layouts.element_type, count, layouts.groups * layouts.group)
            found.append(_Rows(direct, rows - direct, copy))
        return found

    def _blocks(self, rows: int) -> list[_Panels]:
        """Returns the blocks of panels. A block stays in L2 while all rows are multiplied by it."""
        layouts = self.layouts
        most = given_panels(self.c) or panels_at_once(self.c, rows, self.target)
        found: list[_Panels] = []
        first = 0
        for width, count in split_columns(layouts.columns, layouts.width):
            for size, blocks in split_evenly(count, most):
                found.append(_Panels(first, blocks, size, width))
                first += size * blocks
        return found

    def _tiles(self, part: _Rows, panels: _Panels, n0: AffineExpr) -> None:
        """Emits the tiles of block `n0` of panels."""
        start, size, last = 0, panels.size, panels.first + panels.blocks * panels.size
        for rows, number in split_columns(part.count, AMX_MOST):
            with (
                self.builder.loop(number, "m0") as m0,
                self.builder.loop(size, "p") as p,
            ):
                axes = [
                    Bound("spatial", m0, number, "vm0"),
                    Bound("spatial", n0 * size + p + panels.first, last, "vp"),
                ]
                with self.layouts.blocked(self.c.block.block_name.data, axes) as (at, (vm0, vp)):
                    row = self.builder.sum(self.builder.scaled(vm0, rows), start)
                    self._tile(part, at, (row, vp), VectorType(self.c.tile_element, [rows, panels.width]))
            start += rows * number

    def _tile(self, part: _Rows, at: dict[int, Index], corner: tuple[Index, Index], type_: VectorType) -> None:
        """Emits a tile from row (of the part) and panel `corner` on."""
        builder, c = self.builder, self.c
        row, panel = corner
        if c.m is not None:
            at[c.m] = builder.sum(row, part.first)
        at[c.n] = builder.scaled(panel, self.layouts.width)
        zero = 0 if type_.element_type == i32 else 0.0
        total = builder.constant(DenseIntOrFPElementsAttr.from_list(type_, [zero]))  # pyright: ignore
        for tap in product(*(range(c.extents[axis]) for axis in self.layouts.taps)):
            total = self._multiplied(part, corner, at | dict(zip(self.layouts.taps, tap, strict=True)), total)
        if self.epilogue is None or self.epilogue.keeps_result:
            place = place_of(builder, c.out, at, c.m, c.n)
            builder.add(tile.StoreOp(total, place.buffer, place.indices, place.along, place.by))
        if self.epilogue is not None:
            emit_epilogue(builder, c, self.epilogue, total, at)

    def _multiplied(self, part: _Rows, corner: tuple[Index, Index], at: dict[int, Index], total: SSAValue) -> SSAValue:
        """Returns `total` plus the products of a tap."""
        builder, c, groups = self.builder, self.c, self.layouts.groups
        row, panel = corner
        if part.operand is not None:
            left = place_of(builder, part.operand, at | {c.k: 0}, c.m, c.k)
        else:
            assert part.copy is not None
            left = Place(part.copy, (builder.value(row), builder.value(0)), (0, 1), (1, 1))
        first = builder.scaled(self.layouts.tap(at), groups)
        assert self.packed is not None
        right = Place(self.packed, tuple(map(builder.value, (panel, first, 0, 0))), (1, 2), (1, 1))
        multiplied = tile.MmaOp(
            total, left, right, groups, groups=True, unsigned=c.a.unsigned, right_unsigned=c.b.unsigned, using=AMX
        )
        return builder.add(multiplied).result
