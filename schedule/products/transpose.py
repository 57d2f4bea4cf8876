"""Copies that walk through one buffer by rows and through the other by columns, as transposes of register tiles."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Block
from xdsl.ir.affine import AffineExpr

from ...analysis.access_regions import body_accesses
from ...analysis.affine import is_linear, normal_form
from ...analysis.loop_nests import body_ops, levels_of, perfect_block
from ...analysis.reorder import may_reorder
from ...core.ir.element_types import vector_type
from ...dialects import tile
from ...dialects.tensor_loop import BlockOp, GridOp
from ...dialects.tile.ops import LANES
from ...lazy_dataclass import dataclass
from ..kernels.contraction import Operand, bound_in_order
from ..kernels.epilogue import place_of
from ..kernels.scheduled_nest import Bound, ScheduledNest


@dataclass(frozen=True)
class Transpose:
    """
    A grid that copies `out[...] = source[...]`, axis `column` contiguous in the source and axis `row` in the result.
    """

    grid: GridOp
    block: BlockOp
    extents: tuple[int, ...]
    source: Operand
    out: Operand
    row: int
    column: int


def transpose_of(grid: GridOp) -> Transpose | None:
    """Returns the transpose that `grid` computes, or `None` where it computes none or has no room for a tile."""
    block = perfect_block(levels_of(grid))
    if block is None or block.has_reduce_axes or block.constraints or not may_reorder(block):
        return None
    if not bound_in_order(grid, block):
        return None
    extents = tuple(extent for extent in block.extents if isinstance(extent, int))
    operands = _copied(block)
    if operands is None or len(extents) != len(block.axes):
        return None
    source, out = operands
    columns = [axis for axis in range(len(extents)) if source.stride_along(axis) == 1]
    rows = [axis for axis in range(len(extents)) if out.stride_along(axis) == 1]
    for column in columns:
        for row in rows:
            found = Transpose(grid, block, extents, source, out, row, column)
            if row != column and min(extents[row], extents[column]) >= LANES and _is_tiled(found):
                return found
    return None


def _copied(block: BlockOp) -> tuple[Operand, Operand] | None:
    """Returns the operands that a block loads and stores which does nothing but copy."""
    numbers = [op for op in body_ops(block.body.block) if isinstance(op, memref.LoadOp | memref.StoreOp)]
    if len(numbers) != 2:
        return None
    load, store = numbers
    if not isinstance(load, memref.LoadOp) or not isinstance(store, memref.StoreOp) or store.value is not load.res:
        return None
    if load.res.type == i1 or (isinstance(load.res.type, IntegerType) and load.res.type.width.data % 8):
        return None
    found: list[Operand] = []
    for access in body_accesses(block.body.block).accesses:
        indices = [index for index in access.indices if index is not None and is_linear(index)]
        if len(indices) != len(access.indices):
            return None
        found.append(Operand(access.buffer, tuple(normal_form(index) for index in indices)))
    return (found[0], found[1]) if len(found) == 2 else None


def _is_tiled(t: Transpose) -> bool:
    """Returns whether rows and columns of a tile move in dimensions of their own, forwards, in both buffers."""
    for operand in (t.source, t.out):
        places = [operand.dimension_along(axis) for axis in (t.row, t.column)]
        known = [place for place in places if place is not None and place[1] > 0]
        if len({dimension for dimension, _ in known}) != 2:
            return False
    return True


def tile_transpose(t: Transpose, side: int) -> None:
    """
    Replaces the grid of `t` by loops over tiles, `side` tiles side by side in the source at a time, and loops over the
    elements that are left at the edges. `side` divides the columns of tiles.

    Before:

        tensor_loop.grid (%i, %j) in (2048, 2048) { <out[i, j] = x[j, i]> }

    After:

        tensor_loop.for %jb in 32 { tensor_loop.for %i in 128 { tensor_loop.for %j in 4 {
          %t = tile.load %x[16 * j, 16 * i]
          %u = tile.transpose %t
          tile.store %u, %out[16 * i, 16 * j] } } }
    """
    block = Block()
    builder = ScheduledNest(block, t.block)
    rows, columns = t.extents[t.row] // LANES, t.extents[t.column] // LANES
    _tiles(builder, t, rows, columns, side)
    _rest(builder, t, {t.row: rows * LANES})
    _rest(builder, t, {t.row: -rows * LANES, t.column: columns * LANES})
    parent = t.grid.parent
    assert parent is not None
    ops = list(block.ops)
    for op in ops:
        op.detach()
    parent.insert_ops_before(ops, t.grid)
    t.grid.detach()
    t.grid.erase()


def _names(t: Transpose) -> list[str]:
    return [axis.name_hint or f"a{number}" for number, axis in enumerate(t.block.axes)]


def _tiles(builder: ScheduledNest, t: Transpose, rows: int, columns: int, side: int) -> None:
    """Emits the tiles. Beside the other axes, a few columns of tiles come at a time, from the first row to the last."""
    others = [axis for axis in range(len(t.extents)) if axis not in (t.row, t.column)]
    extents = [*(t.extents[axis] for axis in others), columns // side, rows, side]
    loops = [*(f"i{axis}" for axis in others), "cb", "r", "c"]
    with builder.nest(extents, loops) as variables:
        *outer, c_block, r, c = variables
        bindings: dict[int, AffineExpr] = dict(zip(others, outer, strict=True))
        bindings |= {t.row: r, t.column: c_block * side + c}
        counts = {**{axis: t.extents[axis] for axis in others}, t.row: rows, t.column: columns}
        with builder.blocked(t.block.block_name.data, _bounds(t, bindings, counts)) as values:
            at = dict(enumerate(values))
            for axis in (t.row, t.column):
                at[axis] = builder.scaled(at[axis], LANES)
            source = place_of(builder, t.source, at, t.row, t.column)
            type_ = vector_type(t.source.type.element_type, (LANES, LANES))
            loaded = builder.add(tile.LoadOp(source.buffer, source.indices, type_, source.along, source.by))
            turned = builder.add(tile.TransposeOp(loaded.result)).result
            out = place_of(builder, t.out, at, t.column, t.row)
            builder.add(tile.StoreOp(turned, out.buffer, out.indices, out.along, out.by))


def _bounds(t: Transpose, bindings: dict[int, AffineExpr], counts: dict[int, int]) -> Sequence[Bound]:
    return [Bound("spatial", bindings[axis], counts[axis], name) for axis, name in enumerate(_names(t))]


def _rest(builder: ScheduledNest, t: Transpose, ranges: dict[int, int]) -> None:
    """
    Emits copies element by element. Each axis in `ranges` goes from that index to its end, or from 0 to minus the index
    if it is negative.
    """
    starts = [max(0, ranges.get(axis, 0)) for axis in range(len(t.extents))]
    ends = [-ranges[axis] if ranges.get(axis, 0) < 0 else size for axis, size in enumerate(t.extents)]
    counts = [end - start for start, end in zip(starts, ends, strict=True)]
    if min(counts) <= 0:
        return
    with builder.nest(counts, [f"i{axis}" for axis in range(len(counts))]) as variables:
        bounds = _bounds(t, dict(enumerate(variables)), dict(enumerate(counts)))
        with builder.blocked(f"{t.block.block_name.data}_rest", bounds) as values:
            at = {axis: builder.sum(value, starts[axis]) for axis, value in enumerate(values)}
            indices = [builder.affine(index, at) for index in t.source.indices]
            value = builder.add(memref.LoadOp.get(t.source.buffer, indices)).res
            places = [builder.affine(index, at) for index in t.out.indices]
            builder.add(memref.StoreOp.get(value, t.out.buffer, places))
