"""Takes strips of rows through all kernels of a chain, so that what is between the products stays in a cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import MemRefType, StringAttr, VectorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...analysis.loop_nests import body_ops
from ...core.ir.element_types import is_small_float
from ...core.ir.walk import ops_of
from ...core.roles import TILING
from ...dialects.schedule import TilingAttr
from ...dialects.tensor_loop import AllocOp, BlockOp, ForOp, FuncOp, GridOp
from ...lazy_dataclass import dataclass
from ...machine.machine import Machine
from ..kernels.contraction import Contraction, contraction_of
from ..kernels.epilogue import Epilogue, epilogue_of
from ..kernels.given_tiling import tiling_of
from ..kernels.register_tiles import RegisterTile, choose_tile
from ..kernels.scheduled_nest import Index, ScheduledNest
from ..kernels.tilings import Tiling, rows_near, steps_of
from ..products.panels import PackedPanels, panels_type
from ..products.tile_contraction import ContractionNest
from ..products.turned import TurnedPanels, reading_source, turned
from ..rows.maxima import relax_block, relaxed
from ..rows.schedule import fuse_rows_in
from ..rows.several import take_rows
from .ahead import RowsAhead, rows_ahead
from .chain import Chain
from .plan import StripPlan
from .recut import Cut, Strips, kept_dimensions, outer_extents, recut, share_memory, strip_type

FEW_TILES = 2
"""The tiles of rows that extend the small floats of a right operand as they load it. Panels hold it for more."""

Split = Callable[[GridOp, int], ForOp]
"""Replaces a grid by single loops, of which the first so many keep their places. Returns the outermost one."""


def apply_strips(function: FuncOp, chain: Chain, plan: StripPlan, target: Machine, split: Split) -> None:
    """
    Replaces the kernels of `chain` by one nest that takes each strip through all of them. `split` makes loops of those
    that are no products.

    Before:

        tensor_loop.grid (%h, %m, %n, %k) in (12, 512, 512, 64) { <s += q * k> }
        tensor_loop.grid (%h, %m, %n) in (12, 512, 512) { <p = exp(s)> }
        tensor_loop.grid (%h, %m, %d, %k) in (12, 512, 64, 512) { <out += p * v> }

    After, %s and %p being buffers for one strip of each %h:

        tensor_loop.for %h in 12 {
          tensor_loop.for %i in 16 { <tiles of s += q * k>  <p = exp(s)>  <tiles of out += p * v> } }
    """
    _StripNest(function, chain, plan, target, split).run()


@dataclass(frozen=True)
class _Product:
    """A product of the chain on strips."""

    c: Contraction
    tiling: Tiling
    packed: SSAValue | None


class _InStrip(ContractionNest):
    """The tiles of one strip. The loops around them are there."""

    ahead: RowsAhead | None = None
    """What each tile prefetches."""

    def emit(self, at: Sequence[AffineExpr]) -> None:
        """Emits the tiles. `at` are the variables of the loops around, which are the outer axes in order."""
        builder = self.builder
        self.at.update(zip(self.c.outer, at, strict=True))
        runs = self._runs()
        with builder.loop(self.tiling.depth_blocks, "k0") as self.k0:
            for run in runs:
                self.run_ = run
                with builder.loop(run.blocks, "n0") as self.n0:
                    self._tiles([])

    def _sum(
        self, reduce: list[int], at: dict[int, Index], block: tuple[Index, Index, Index], total: SSAValue
    ) -> SSAValue:
        if self.ahead is not None and self.c.m is not None:
            assert isinstance(total.type, VectorType)
            self.ahead.prefetch(self.builder, at, at[self.c.m], total.type.get_shape()[0])
        return super()._sum(reduce, at, block, total)


class _StripNest:
    def __init__(self, function: FuncOp, chain: Chain, plan: StripPlan, target: Machine, split: Split):
        self.function, self.chain, self.plan, self.target, self.split = function, chain, plan, target, split
        self.tilings = [_given(chain.first), _given(chain.second)]
        self.block = Block()
        self.panels: dict[int, SSAValue] = {}
        self.strips: dict[SSAValue, Strips] = {}

    def run(self) -> None:
        """Emits the nests, and puts them where the last kernel of the chain was."""
        chain = self.chain
        last = chain.links[-1].grid
        anchor = last.next_op
        parent = last.parent
        assert parent is not None and anchor is not None
        grids = [link.grid for link in chain.links]
        self.turned = turned(chain.first)
        cuts = self.plan.cuts()
        wide = self.target.has_wide_registers
        self.maxima = [relaxed(link.block, wide) for link in chain.links]
        for grid in grids:
            grid.detach()
        self.builder = ScheduledNest(self.block, self.function)
        shared = self._buffers(cuts[0], False)
        if any(cut.groups > 1 for cut in cuts):
            for cut in cuts:
                self._nest(cut, shared, [])
        else:
            names, extents = _names_and_extents(outer_extents(chain, replace(cuts[0], count=1)))
            with self.builder.nest(extents, names) as at:
                for cut in cuts:
                    self._nest(cut, shared, at)
        ops = list(self.block.ops)
        for op in ops:
            op.detach()
        parent.insert_ops_before(ops, anchor)
        if self.turned is not None:
            self.turned.transpose.grid.detach()
            grids.append(self.turned.transpose.grid)
        for grid in grids:
            grid.erase()
        for alloc in [op for op in parent.ops if isinstance(op, AllocOp) and op.results[0].first_use is None]:
            alloc.detach()
            alloc.erase()
        for op in ops:
            if isinstance(op, ForOp):
                _fuse_inside(op, len(self.plan.outer) + 1, self.target)

    def _buffers(self, cut: Cut, whole: bool) -> dict[SSAValue, Strips]:
        """Makes buffers in place of the temporaries: of all strips, or of those that are there at the same time."""
        found: dict[SSAValue, Strips] = {}
        for buffer, dimensions in self.chain.buffers.items():
            assert isinstance(buffer.type, MemRefType)
            with self.builder.inside(self.block):
                alloc = self.builder.add(AllocOp(strip_type(buffer.type, dimensions, self.chain, cut, whole)))
            alloc.results[0].name_hint = buffer.name_hint
            found[buffer] = Strips(alloc.results[0], kept_dimensions(dimensions, self.chain))
        return found

    def _nest(self, cut: Cut, shared: dict[SSAValue, Strips], around: list[AffineExpr]) -> None:
        """
        Emits the loops over strips of one height. `around` are the variables of the loops over other rows, where these
        loops are there. The temporaries end up in the buffers `shared`.
        """
        chain, builder = self.chain, self.builder
        self.strips = self._buffers(cut, True)
        holder = Block()
        grids = [recut(link, chain, cut, self.strips) for link in chain.links]
        holder.add_ops(grids)
        products = {number: self._product(number, grids[number], around) for number in (0, chain.last)}
        names, extents = _names_and_extents(outer_extents(chain, cut)[len(around) :])
        taken: GridOp | None = None
        with builder.nest(extents, names) as inner:
            at = [*around, *inner]
            for number, grid in enumerate(grids):
                if number in products:
                    ahead = rows_ahead(products[0].c, products[number].c, cut, len(around)) if number else None
                    taken = self._tiles(products[number], at, ahead)
                elif grid is not taken:
                    self._rest(grid, at, self.maxima[number])
        for op in list(holder.ops):
            op.detach()
            op.erase()
        for buffer, strips in self.strips.items():
            share_memory(strips.buffer, shared[buffer].buffer)

    def _tiles(self, product: _Product, at: Sequence[AffineExpr], ahead: RowsAhead | None) -> GridOp | None:
        """Emits the tiles of a product. Returns the grid of the map after it if that is done on the tiles."""
        c = product.c
        epilogue: Epilogue | None = epilogue_of(c)
        if epilogue is not None and product.tiling.depth_blocks > 1 and epilogue.keeps_result:
            epilogue = None
        if (
            epilogue is not None
            and product.tiling.depth_blocks > 1
            and epilogue.out.type.element_type == c.tile_element
        ):
            c = replace(c, out=epilogue.out)
        nest = _InStrip(self.builder, c, product.tiling, epilogue, product.packed)
        if product.tiling.depth_blocks == 1 and c.extent(c.n) <= product.tiling.tile.columns:  # One tile per row.
            nest.ahead = ahead
        nest.emit(at)
        return None if epilogue is None else epilogue.grid

    def _product(self, number: int, grid: GridOp, around: list[AffineExpr]) -> _Product:
        c = contraction_of(grid)
        assert c is not None
        if number == 0 and self.turned is not None:
            c = reading_source(c, self.turned)
        which = 0 if number == 0 else 1
        tiling = self._tiling(c, number != 0, self.tilings[which])
        self.tilings[which] = tiling  # Strips of all heights read the same panels.
        packed = None
        if tiling.pack_b:
            if number not in self.panels:
                self.panels[number] = self._pack(c, tiling, around)
            packed = self.panels[number]
        return _Product(c, tiling, packed)

    def _tiling(self, c: Contraction, deep: bool, given: Tiling | None) -> Tiling:
        rows, columns = c.extent(c.m), c.extent(c.n)
        bytes_per = c.tile_element.size  # pyright: ignore[reportAttributeAccessIssue]
        if given is not None:
            tile = RegisterTile(min(given.tile.rows, rows), min(given.tile.columns, columns))
        else:
            tile = choose_tile(rows, columns, bytes_per, self.target, tallest=rows_near(c, self.target))
        depth = c.extent(c.k)
        apart = c.b.stride_along(c.n) != 1 or columns > tile.columns or not _stays_near(c, self.target)
        apart = apart or (is_small_float(c.b.type.element_type) and self.plan.total > FEW_TILES * tile.rows)
        parts = 1
        if deep:
            most = max(1, self.target.l2_bytes // 8 // (columns * bytes_per))
            parts = next((count for count in range(-(-depth // most), depth) if depth % count == 0), 1)
            parts = parts if depth // parts * 4 > most else 1
        return Tiling(tile, apart, parts, None, True, steps_of(c, tile, self.target))

    def _pack(self, c: Contraction, tiling: Tiling, around: list[AffineExpr]) -> SSAValue:
        """
        Lays out the right operand of a product in panels, once for all strips. In the loops `around` that is done where
        each iteration has its own, so that the strips find their panels in a cache. Small floats are extended there, as
        each tile of rows would have to.
        """
        element = c.tile_element if is_small_float(c.b.type.element_type) else c.b.type.element_type
        type_ = MemRefType(element, panels_type(c, tiling))
        with self.builder.inside(self.block):
            packed = self.builder.add(AllocOp(type_)).results[0]
        packed.name_hint = "packed"
        kind = (
            PackedPanels
            if self.turned is None or self.turned.transpose.source.buffer is not c.b.buffer
            else TurnedPanels
        )
        panels = kind(self.builder, c, replace(tiling, depth_blocks=1, panels=None), packed)
        if not around or panels.batch == list(range(len(around))):
            panels.pack_all(around)
        else:
            with self.builder.inside(self.block):
                panels.pack_all()
        return packed

    def _rest(self, grid: GridOp, at: Sequence[AffineExpr], maximum: str | None) -> None:
        """Emits loops for a kernel that is no product, inside the loops that are there."""
        loop = self.split(grid, len(at))
        for block in ops_of(loop, BlockOp):
            relax_block(block, maximum)
            block.properties["block_name"] = StringAttr(self.builder.fresh(block.block_name.data))
        content: list[Operation] = [loop]
        for place in at:
            (inner,) = content
            assert isinstance(inner, ForOp) and isinstance(place, AffineDimExpr)
            inner.variable.replace_all_uses_with(self.builder.variables[place.position])
            content = body_ops(inner.body.block)
        for op in content:
            op.detach()
            self.builder.block.add_op(op)
        if at:
            loop.detach()
            loop.erase()


def _stays_near(c: Contraction, target: Machine) -> bool:
    """
    Returns whether half of the second-level cache holds the right operand of a product where it is, beside the rest.

    Rows some way apart only use some sets of the cache: one part in `apart / row` where `apart` is the largest power of
    two that divides the bytes between them. Rows that are no whole registers have loads from two lines, which panels
    avoid.
    """
    bytes_per = c.tile_element.size  # pyright: ignore[reportAttributeAccessIssue]
    row, between = c.extent(c.n) * bytes_per, (c.b.stride_along(c.k) or 0) * bytes_per
    if row == between:
        return True
    if row % target.register_bytes or between % target.register_bytes:
        return False
    return between > 0 and c.extent(c.k) * max(row, between & -between) <= target.l2_bytes // 2


def _given(c: Contraction) -> Tiling | None:
    """Returns the tiling that the block of a product asks for, and takes it from there."""
    found = c.block.attributes.pop(TILING, None)
    return tiling_of(found) if isinstance(found, TilingAttr) else None


def _names_and_extents(loops: Sequence[tuple[str, int]]) -> tuple[list[str], list[int]]:
    return [name for name, _ in loops], [extent for _, extent in loops]


def _fuse_inside(loop: ForOp, depth: int, target: Machine) -> None:
    """Fuses the loops over rows inside the loops over strips, which are at most `depth` around each other."""
    inner = [op for op in body_ops(loop.body.block) if isinstance(op, ForOp)]
    take_rows(fuse_rows_in(loop.body.block), target)
    for op in inner if depth > 1 else ():
        if op.parent is not None:
            _fuse_inside(op, depth - 1, target)
