"""Right operands that are turned on the way into panels, with no transposed copy in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import memref
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ...analysis.affine import normal_form
from ...core.ir.element_types import vector_type
from ...dialects import tile
from ...dialects.schedule import LeftOutAttr
from ...dialects.tensor_loop import AllocOp, BlockOp
from ...dialects.tile.ops import LANES
from ...lazy_dataclass import dataclass
from ..kernels.contraction import Contraction, Operand
from ..kernels.decisions import may_take
from ..kernels.epilogue import place_of
from ..kernels.scheduled_nest import Bound, Index
from ..kernels.subnormals import without_subnormals
from ..kernels.widening import widened
from .panels import PackedPanels
from .transpose import Transpose, transpose_of


@dataclass(frozen=True)
class Turned:
    """A copy that turns the right operand of a product, which can read the source of the copy instead."""

    transpose: Transpose
    buffer: SSAValue
    """The copy."""

    def operand(self, b: Operand) -> Operand:
        """Returns the operand of the source that has the elements of `b`, which reads the copy."""
        t = self.transpose
        known: dict[int, AffineExpr] = {
            index.position: there
            for index, there in zip(t.out.indices, b.indices, strict=True)
            if isinstance(index, AffineDimExpr)
        }
        axes = [known.get(axis, AffineExpr.constant(0)) for axis in range(len(t.extents))]
        return Operand(
            t.source.buffer, tuple(normal_form(i.replace_dims_and_symbols(axes, ())) for i in t.source.indices)
        )


def turned(c: Contraction) -> Turned | None:
    """
    Returns the copy that turns the right operand of `c`, if nothing else needs it and tiles of it fill panels. It is
    `None` where there is none, or a plan keeps it.
    """
    alloc = c.b.buffer.owner
    grids = [op for op in _users(c.b.buffer) if op is not c.grid]
    if not isinstance(alloc, AllocOp) or len(grids) != 1 or c.extent(c.k) % LANES or c.reduce:
        return None
    found = transpose_of(grids[0]) if grids[0].name == "tensor_loop.grid" else None  # pyright: ignore
    if found is None or found.out.buffer is not c.b.buffer or not may_take(c.block, found.block, LeftOutAttr):
        return None
    if not found.is_copy or not is_whole(found.out, found.extents) or _is_written_later(found):
        return None
    result = Turned(found, c.b.buffer)
    operand = result.operand(c.b)
    if operand.stride_along(c.k) != 1 or operand.stride_along(c.n) in (0, 1, None):
        return None
    places = operand.dimension_along(c.k), operand.dimension_along(c.n)
    return result if None not in places and places[0][0] != places[1][0] else None  # pyright: ignore


def _users(buffer: SSAValue) -> list[Operation]:
    """Returns the ops at the top of the function that use a buffer, each once."""
    top = buffer.owner.parent if isinstance(buffer.owner, Operation) else buffer.owner
    found: dict[Operation, None] = {}
    for use in buffer.uses:
        op: Operation | None = use.operation
        while op is not None and op.parent is not top:
            op = op.parent_op()
        if op is not None:
            found[op] = None
    return list(found)


def is_whole(stored: Operand, extents: Sequence[object]) -> bool:
    """Returns whether each dimension of what is stored has an axis of its own that goes through all of it."""
    axes: set[int] = set()
    for index, size in zip(stored.indices, stored.type.get_shape(), strict=True):
        if isinstance(index, AffineDimExpr):
            if extents[index.position] != size or index.position in axes:
                return False
            axes.add(index.position)
        elif size != 1 or index != AffineConstantExpr(0):
            return False
    return True


def _is_written_later(t: Transpose) -> bool:
    """Returns whether the source is written after it has been copied."""
    stores = (use.operation for use in t.source.buffer.uses if not isinstance(use.operation, BlockOp))
    for op in stores:
        if not isinstance(op, memref.LoadOp):
            above: Operation | None = op
            while above is not None and above.parent is not t.grid.parent:
                above = above.parent_op()
            if above is None or t.grid.is_before_in_block(above):
                return True
    return False


class TurnedPanels(PackedPanels):
    """Panels of a right operand whose columns are rows in memory. It is turned in tiles of 16x16 elements."""

    def _pack(self) -> None:
        for first, count, width in self._widths():
            whole = width // LANES
            if whole:
                self._tiles_of(first, count, whole)
            if rest := width % LANES:
                self._rows_of(first, count, rest, whole * LANES)

    def _tiles_of(self, first: int, count: int, whole: int) -> None:
        builder, deep = self.builder, self.depth // LANES
        with builder.nest([count, whole, deep], ["p", "c", "k"]) as (panel, column, k):
            axes = [
                *self._outer_axes(self.batch),
                *self._block_axes("spatial"),
                Bound("spatial", panel + first, first + count, "vp"),
                Bound("spatial", column, whole, "vc"),
                Bound("spatial", k, deep, "vk"),
            ]
            with builder.blocked("pack", axes) as values:
                *before, place, step = values
                column_ = builder.scaled(place, LANES)
                at, panel_ = self._corner(before, column_, builder.scaled(step, LANES))
                self._copy(at, panel_, column_, (LANES, LANES))

    def _rows_of(self, first: int, count: int, width: int, start: int) -> None:
        builder = self.builder
        with builder.nest([count, self.depth], ["p", "k"]) as (panel, k):
            axes = [
                *self._outer_axes(self.batch),
                *self._block_axes("spatial"),
                Bound("spatial", panel + first, first + count, "vp"),
                Bound("spatial", k, self.depth, "vk"),
            ]
            with builder.blocked("pack", axes) as values:
                *before, step = values
                at, panel_ = self._corner(before, start, step)
                self._copy(at, panel_, start, (1, width))

    def _corner(self, values: list[Index], column: Index, k: Index) -> tuple[dict[int, Index], tuple[Index, Index]]:
        """Returns the axes of the product at the corner of a piece, with the block of panels and the panel."""
        c, builder = self.c, self.builder
        at, (k0, n0, panel) = self._take(values, self.batch)
        at[c.k] = builder.sum(builder.scaled(k0, self.depth), k)
        at[c.n] = builder.sum(self._column(n0, panel), column)
        return at, (n0, panel)

    def _copy(self, at: dict[int, Index], panel: tuple[Index, Index], column: Index, shape: tuple[int, int]) -> None:
        """Copies a row of some columns, or a tile that is turned on the way."""
        c, builder = self.c, self.builder
        is_tile = shape[0] > 1
        place = place_of(builder, c.b, at, c.n if is_tile else None, c.k if is_tile else c.n)
        type_ = vector_type(c.b.type.element_type, shape)
        loaded = builder.add(tile.LoadOp(place.buffer, place.indices, type_, place.along, place.by)).result
        loaded = without_subnormals(builder, loaded) if self.clean else loaded
        stored = builder.add(tile.TransposeOp(loaded)).result if is_tile else loaded
        stored = widened(builder, stored, c.tile_element) if self.widens else stored
        panels = self._packed(at, (0, *panel), at[c.k])
        indices = [*panels.indices[:-1], builder.value(column)]
        builder.add(tile.StoreOp(stored, panels.buffer, indices, panels.along))


def reading_source(c: Contraction, found: Turned) -> Contraction:
    """Returns `c` with the source of the copy as its right operand."""
    return replace(c, b=found.operand(c.b))
