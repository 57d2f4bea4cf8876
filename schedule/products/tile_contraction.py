"""Contractions as loops over register tiles: packing, blocking for the caches, and the sums carried in registers."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, MemRefType, VectorType
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from ...core.ir.element_types import vector_type
from ...dialects import tile
from ...dialects.tensor_loop import GridOp
from ...lazy_dataclass import dataclass
from ...machine.machine import LINE_BYTES
from ..kernels.contraction import Contraction
from ..kernels.epilogue import Epilogue, emit_epilogue, epilogue_of, place_of, replace_grids
from ..kernels.padding import erase_with_buffers, padded_copy, without_copy
from ..kernels.register_tiles import waits_for_columns
from ..kernels.scheduled_nest import Bound, Index, ScheduledNest
from ..kernels.tilings import Tiling
from .borders import Borders, Run, borders_of, emit_where_inside
from .panels import PackedPanels


def tile_contraction(
    c: Contraction, tiling: Tiling, prepacked: SSAValue | None = None, keeps_copy: bool = False
) -> None:
    """
    Replaces the grid of `c` by loops over register tiles. `prepacked` holds b in panels already:
    `[panel, reduce axes, k, column]` (`panels_type`). A grid before that makes a padded copy of a is erased where the
    tiles can do without, unless `keeps_copy`.
    """
    block = Block()
    builder = ScheduledNest(block, c.block)
    source, reading = c, _reading(c, tiling, keeps_copy)
    c = reading.c
    if reading.copies:
        c = replace(c, a=padded_copy(builder, c))
    epilogue = _epilogue(c, tiling)
    if epilogue is not None and tiling.depth_blocks > 1 and epilogue.out.type.element_type == c.tile_element:
        c = replace(c, out=epilogue.out)  # The parts are summed up where the result goes in the end.
    nest = ContractionNest(builder, c, tiling, epilogue, prepacked, reading.borders)
    if prepacked is not None and tiling.extended:
        nest.extend()
    nest.run()
    replace_grids(source, epilogue, block)
    if reading.pad is not None:
        erase_with_buffers(reading.pad)


@dataclass(frozen=True)
class _Reading:
    """The way in which a contraction reads `a`."""

    c: Contraction
    """The contraction, on the image itself where it needs no padded copy."""
    pad: GridOp | None = None
    """The grid before that makes a padded copy, which is not needed."""
    borders: Borders | None = None
    copies: bool = False
    """True where the tiles make a padded copy of their own."""


def _reading(c: Contraction, tiling: Tiling, keeps_copy: bool) -> _Reading:
    direct, pad = (c, None) if keeps_copy else without_copy(c)
    borders = borders_of(direct)
    if borders is None or not borders.fit(tiling.tile.rows):
        return _Reading(c, copies=c.a.padding is not None)
    return _Reading(direct, pad, borders)


def _epilogue(c: Contraction, tiling: Tiling) -> Epilogue | None:
    """Returns the epilogue of `c`, if the last of several parts of the sum can do it."""
    epilogue = epilogue_of(c)
    return None if epilogue is None or (tiling.depth_blocks > 1 and epilogue.keeps_result) else epilogue


def grids_taken_up(c: Contraction, tiling: Tiling) -> tuple[GridOp | None, GridOp | None]:
    """Returns the grids that `tile_contraction` takes up: the epilogue, and the padded copy that it can do without."""
    reading = _reading(c, tiling, False)
    c = reading.c
    if reading.copies:  # The epilogue may write where the image was.
        c = replace(c, a=replace(c.a, buffer=Block(arg_types=[c.a.buffer.type]).args[0]))
    epilogue = _epilogue(c, tiling)
    return None if epilogue is None else epilogue.grid, reading.pad


class ContractionNest(PackedPanels):
    """The loop nest of one contraction on register tiles."""

    def __init__(
        self,
        builder: ScheduledNest,
        c: Contraction,
        tiling: Tiling,
        epilogue: Epilogue | None = None,
        prepacked: SSAValue | None = None,
        borders: Borders | None = None,
    ):
        super().__init__(builder, c, tiling, prepacked)
        self.epilogue = epilogue
        self.number: Index = 0
        """The number of the current tile among those that read the same panel."""
        self.extends: SSAValue | None = None
        """Whether the current tile extends its panel, `None` where it does not."""
        self.borders = Borders(c, None, ()) if borders is None else borders
        self.runs: list[Run] = []
        """The taps of the current tile along the axis of its rows."""
        self.here: Run | None = None
        """The taps that are being emitted."""

    def run(self) -> None:
        """Emits loops over batches, parts of k and blocks of panels. Inside those stand the tiles."""
        c, builder = self.c, self.builder
        runs = self._runs()
        if self.tiling.pack_b and not self.whole:
            self.packed = self._packed_buffer(max(run.count for run in runs))
        batch = self.batch
        outside = [] if self._batch_inside() else batch
        with self._over(outside), builder.loop(self.tiling.depth_blocks, "k0") as self.k0:
            for run in runs:
                self.run_ = run
                with builder.loop(self.run_.blocks, "n0") as self.n0:
                    if self._packs_blocks():
                        self._pack()
                    self._tiles([axis for axis in c.outer if axis not in batch])

    def _packs_blocks(self) -> bool:
        """Returns whether the panels of a block are made before its tiles."""
        if self.source is not None:
            return not self.tiling.panels_outside
        return self.packed is not None and not self.whole

    def _batch_inside(self) -> bool:
        """
        Returns whether the loops over batches of b are inside those over axes that b does not have.

        The channels of all groups are then read pixel by pixel. All of b stays in L2, from where it comes again and
        again.
        """
        shared = len(self.batch) < len(self.c.outer)
        return self.whole and bool(self.batch) and shared and not self.tiling.panels_outside

    # Tiles

    def _tiles(self, inner: list[int]) -> None:
        """
        Emits all tiles of rows per panel, or the other way round.

        `inner` are the axes that b does not have. Where the loops over them are outside, the rows of one value of them
        stay in L1 for all panels.
        """
        builder = self.builder
        for widths in self._widths():
            if self.tiling.panels_outside or inner:
                before = [] if self.tiling.panels_outside else [*inner, *(self.batch if self._batch_inside() else ())]
                after = inner if self.tiling.panels_outside else []
                with self._over(before), builder.loop(widths[1], "p") as panel:
                    if self.source is not None and self.tiling.panels_outside and not self.extends_in_tiles(widths[1]):
                        self._pack_panel(widths, panel)
                    with self._over(after):
                        for height in self._heights():
                            with builder.loop(height[2], "m0") as m0:
                                self._tile(height, m0, widths, panel)
            else:
                for height in self._heights():
                    with builder.loop(height[2], "m0") as m0, builder.loop(widths[1], "p") as panel:
                        self._tile(height, m0, widths, panel)

    def _heights(self) -> list[tuple[int, int, int]]:
        """Returns the tiles of a column as (rows, first row, how many)."""
        return self.borders.heights(self.tiling.tile.rows)

    def _number(self, values: list[Index], height: tuple[int, int, int], vm0: Index) -> Index:
        """Returns the number of a tile among all that read the same panel."""
        c, builder = self.c, self.builder
        heights = self._heights()
        before = sum(number for _, start, number in heights if start < height[1])
        total: Index = 0
        for axis, value in zip(c.outer, values, strict=False):
            if axis not in c.b.axes():
                total = builder.sum(builder.scaled(total, c.extents[axis]), value)
        total = builder.scaled(total, sum(number for _, _, number in heights))
        return builder.sum(total, builder.sum(vm0, before))

    def _is_first(self) -> SSAValue:
        """Returns whether the current tile is the first that reads its panel."""
        builder = self.builder
        return builder.add(arith.CmpiOp(builder.value(self.number), builder.value(0), "eq")).result

    def _tile(
        self, height: tuple[int, int, int], m0: AffineExpr, panels: tuple[int, int, int], panel: AffineExpr
    ) -> None:
        c, builder = self.c, self.builder
        (rows, start, number), (first, count, width) = height, panels
        outer = list(c.outer)
        axes = [
            *self._outer_axes(outer),
            *self._block_axes("reduce" if self.tiling.depth_blocks > 1 else "spatial"),
            Bound("spatial", m0, number, "vm0"),
            Bound("spatial", panel + first, first + count, "vp"),
        ]
        type_ = vector_type(c.tile_element, [rows, width])

        def corner(values: list[Index]) -> dict[int, Index]:
            at, (_, n0, vm0, vp) = self._take(values, outer)
            if c.m is not None:
                at[c.m] = builder.sum(builder.scaled(vm0, rows), start)
            at[c.n] = self._column(n0, vp)
            return at

        with builder.blocked(c.block.block_name.data, axes) as values:
            if self.tiling.depth_blocks > 1:
                with builder.init():
                    self._store(self._splat(type_), corner(values))
            at = corner(values)
            total = self._load(type_, at) if self.tiling.depth_blocks > 1 else self._splat(type_)
            k0, n0, vm0, vp = values[len(outer) :]
            extends = self.extends_in_tiles(count)
            self.number = self._number(values, height, vm0) if self.tiling.lines_ahead or extends else 0
            self.extends = self._is_first() if extends and start == 0 else None
            self.runs, self.here = self.borders.runs(height), None
            self._finish(self._sum(list(c.reduce), at, (k0, n0, vp), total), k0, at)

    def _finish(self, total: SSAValue, k0: Index, at: dict[int, Index]) -> None:
        """Stores the sum, or the result of the epilogue on it when this is the last part."""
        builder, epilogue = self.builder, self.epilogue
        if epilogue is None:
            self._store(total, at)
        elif self.tiling.depth_blocks == 1:
            if epilogue.keeps_result:
                self._store(total, at)
            emit_epilogue(builder, self.c, epilogue, total, at)
        else:
            last = builder.value(self.tiling.depth_blocks - 1)
            is_last = builder.add(arith.CmpiOp(builder.value(k0), last, "eq")).result
            then, otherwise = Block(), Block()
            with builder.inside(then):
                emit_epilogue(builder, self.c, epilogue, total, at)
                builder.add(scf.YieldOp())
            with builder.inside(otherwise):
                self._store(total, at)
                builder.add(scf.YieldOp())
            builder.add(scf.IfOp(is_last, [], Region(then), Region(otherwise)))

    def _load(self, type_: VectorType, at: dict[int, Index]) -> SSAValue:
        place = place_of(self.builder, self.c.out, at, self.c.m, self.c.n)
        return self.builder.add(tile.LoadOp(place.buffer, place.indices, type_, place.along, place.by)).result

    def _store(self, value: SSAValue, at: dict[int, Index]) -> None:
        place = place_of(self.builder, self.c.out, at, self.c.m, self.c.n)
        self.builder.add(tile.StoreOp(value, place.buffer, place.indices, place.along, place.by))

    def _splat(self, type_: VectorType) -> SSAValue:
        init = self.c.init
        assert isinstance(init, FloatAttr | IntegerAttr)
        splat = DenseIntOrFPElementsAttr.from_list(type_, [init.value.data])  # pyright: ignore
        return self.builder.constant(splat)

    def _sum(
        self, reduce: list[int], at: dict[int, Index], block: tuple[Index, Index, Index], total: SSAValue
    ) -> SSAValue:
        """Emits the loops over the reduce axes, k innermost, which all carry the tile."""
        builder, c, steps = self.builder, self.c, self.tiling.steps
        if reduce:
            axis, *others = reduce
            across = self.borders.across
            if across is None or across.tap != axis:
                return self._taps(axis, 0, c.extents[axis], others, at, block, total)
            for run in self.runs:
                self.here = run
                total = self._taps(axis, run.first, run.count, others, at, block, total)
            return total

        def step(k: Index, carried: SSAValue) -> SSAValue:
            result = self._mma(at, block, k, steps, carried)
            k = builder.scaled(k, self.at_once)
            self._look_ahead(at, block, k)
            if self.tiling.rows_ahead:
                self._rows_ahead(at, k, result.type.get_shape()[0])  # pyright: ignore[reportAttributeAccessIssue]
            return result

        rows, steps = self.depth // self.at_once, steps // self.at_once
        total = builder.counted(rows, steps, total, step, "k", unroll=not waits_for_columns(self.tiling.tile.rows))
        rest = rows % steps
        return self._mma(at, block, rows - rest, rest, total) if rest else total

    def _taps(
        self,
        axis: int,
        first: int,
        count: int,
        others: list[int],
        at: dict[int, Index],
        block: tuple[Index, Index, Index],
        total: SSAValue,
    ) -> SSAValue:
        """Emits the loop over some steps along a reduce axis. Steps outside the image are skipped."""
        builder = self.builder

        def tap(index: Index, carried: SSAValue) -> SSAValue:
            here = at | {axis: builder.sum(index, first)}
            return emit_where_inside(
                builder, self.borders, axis, here, carried, lambda inner: self._sum(others, here, block, inner)
            )

        name = (self.c.block.axes[axis].name_hint or "r").removeprefix("v")
        return builder.counted(count, 1, total, tap, name)

    def _mma(
        self, at: dict[int, Index], block: tuple[Index, Index, Index], k: Index, depth: int, total: SSAValue
    ) -> SSAValue:
        """Emits the products of `depth` rows of a panel, from row `k` of the part on."""
        c, builder = self.c, self.builder
        if self.extends is not None:
            width = total.type.get_shape()[1]  # pyright: ignore[reportAttributeAccessIssue]
            self.extend_rows(self.extends, at, block, (k, depth), width)
        at = at | {c.k: self._step(block[0] if self.tiling.depth_blocks > 1 else 0, k)}
        rows = self._rows(total)
        if rows is not None:
            assert c.m is not None
            at[c.m] = builder.sum(at[c.m], rows[0])
        a = place_of(builder, c.a, at, c.m, c.k)
        if self.packed is None:
            b = place_of(builder, c.b, at, c.k, c.n)
        else:
            b = self._packed(at, block, k)
        pairs = self.at_once > 1
        mma = tile.MmaOp(
            total, a, b, depth, groups=pairs, unsigned=c.a.unsigned, right_unsigned=c.b.unsigned, rows=rows
        )
        return builder.add(mma).result

    def _rows(self, total: SSAValue) -> tuple[int, int] | None:
        """
        Returns the first row of a tile that the current taps find inside the image and how many do, or `None` where all
        do.
        """
        run = self.here
        if run is None or run.rows == total.type.get_shape()[0]:  # pyright: ignore[reportAttributeAccessIssue]
            return None
        return run.row, run.rows

    def _look_ahead(self, at: dict[int, Index], block: tuple[Index, Index, Index], k: Index) -> None:
        """
        Prefetches a part of the panel that comes after those in use. Each tile of rows prefetches another part, and
        each step some lines of it.
        """
        c, builder, packed = self.c, self.builder, self.source or self.packed
        lines, at_once = self.tiling.lines_ahead, self.tiling.steps
        if not lines or not self.whole or packed is None:
            return
        assert isinstance(packed.type, MemRefType)
        k0, n0, panel = block
        steps = self.number
        for axis in c.reduce:
            steps = builder.sum(builder.scaled(steps, c.extents[axis]), at[axis])
        steps = builder.sum(builder.scaled(steps, self.depth - self.depth % at_once), k)
        count = lines * LINE_BYTES // packed.type.element_type.size  # pyright: ignore[reportAttributeAccessIssue]
        first = builder.scaled(k0, self.depth // self.at_once) if self.tiling.depth_blocks > 1 else 0
        place = (
            *(at[axis] for axis in self.batch),
            self._panel(n0, panel),
            *(0 for _ in c.reduce),
            first,
            builder.scaled(steps, count // at_once // self.at_once),
            *([0] if self.at_once > 1 else []),
        )
        size = prod(packed.type.get_shape()[len(self.batch) + 1 :])
        ahead = size if self.tiling.panels_outside else self.run_.count * size
        indices = [builder.value(index) for index in place]
        builder.add(tile.PrefetchOp(packed, indices, ahead, count, second=True))

    def _rows_ahead(self, at: dict[int, Index], k: Index, rows: int) -> None:
        """Prefetches a part of the next rows of a, which lie behind those of this tile."""
        place = place_of(self.builder, self.c.a, at | {self.c.k: self.builder.scaled(k, rows)}, None, self.c.k)
        ahead, count = rows * self.c.extent(self.c.k), rows * self.tiling.steps
        self.builder.add(tile.PrefetchOp(place.buffer, list(place.indices), ahead, count, second=True))
