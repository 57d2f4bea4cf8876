"""Maps that walk through one buffer by rows and through the result by columns, as transposes of register tiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import IndexType, IntegerType, i1
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ...analysis.access_regions import body_accesses
from ...analysis.affine import is_linear, normal_form
from ...analysis.loop_nests import body_ops, levels_of, perfect_block
from ...analysis.reorder import may_reorder
from ...core.ir.answers import kept
from ...core.ir.cloning import clone_op
from ...core.ir.element_types import vector_type
from ...dialects import tile
from ...dialects.tensor_loop import BlockOp, GridOp
from ...dialects.tile.ops import LANES
from ...lazy_dataclass import dataclass
from ..kernels.contraction import Operand, bound_in_order
from ..kernels.epilogue import mapped_tile, maps_only, place_of
from ..kernels.scheduled_nest import Bound, Index, ScheduledNest


@dataclass(frozen=True)
class Transpose:
    """
    A grid that maps `out[...] = f(source[...], ...)`, axis `column` contiguous in the sources that are turned and axis
    `row` in the result.
    """

    grid: GridOp
    block: BlockOp
    extents: tuple[int, ...]
    loads: Mapping[Operation, Operand]
    turned: frozenset[Operation]
    """The loads of which whole tiles are turned. The others go along the result, or move in one direction only."""
    out: Operand
    row: int
    column: int

    @property
    def is_copy(self) -> bool:
        """Returns whether the result is the source, turned and nothing else."""
        stores = [op for op in body_ops(self.block.body.block) if isinstance(op, memref.StoreOp)]
        return len(self.loads) == 1 and stores[0].value.owner in self.loads

    @property
    def source(self) -> Operand:
        """Returns what a copy reads."""
        (source,) = self.loads.values()
        return source


def transpose_of(grid: GridOp) -> Transpose | None:
    """Returns the transpose that `grid` computes, or `None` where it computes none or has no room for a tile."""
    block = perfect_block(levels_of(grid))
    if block is None or block.has_reduce_axes or block.constraints or not may_reorder(block):
        return None
    if not bound_in_order(grid, block):
        return None
    extents = tuple(extent for extent in block.extents if isinstance(extent, int))
    operands = _mapped(block)
    if operands is None or len(extents) != len(block.axes):
        return None
    loads, out = operands
    axes = range(len(extents))
    columns = [axis for axis in axes if any(each.stride_along(axis) == 1 for each in loads.values())]
    rows = [axis for axis in axes if out.stride_along(axis) == 1]
    for column in columns:
        for row in rows:
            if row == column or min(extents[row], extents[column]) < LANES or not _is_tiled(out, row, column):
                continue
            if found := _turned(loads, row, column):
                return Transpose(grid, block, extents, loads, found, out, row, column)
    return None


def turned(block: BlockOp, row: int, column: int) -> bool:
    """
    Returns whether a block maps numbers that it loads to one that it stores, and whole tiles of some of them are to be
    turned, as they walk along `column`. None walks across the result otherwise.
    """
    operands = _mapped(block)
    return operands is not None and bool(_turned(operands[0], row, column))


@kept
def walks_apart(block: BlockOp) -> bool:
    """Returns whether a block maps numbers to one, and loads some along another axis than it stores that one."""
    operands = _mapped(block)
    if operands is None:
        return False
    loads, out = operands
    across = [axis for axis in range(len(block.axes)) if out.stride_along(axis) != 1]
    return any(each.stride_along(axis) == 1 for axis in across for each in loads.values())


@kept
def _mapped(block: BlockOp) -> tuple[Mapping[Operation, Operand], Operand] | None:
    """Returns the operands that a block loads and stores which does nothing but map numbers to one number."""
    if not maps_only(block):
        return None
    loads: dict[Operation, Operand] = {}
    stores: list[Operand] = []
    for access in body_accesses(block.body.block).accesses:
        indices = [index for index in access.indices if index is not None and is_linear(index)]
        if len(indices) != len(access.indices) or not isinstance(access.op, memref.LoadOp | memref.StoreOp):
            return None
        operand = Operand(access.buffer, tuple(normal_form(index) for index in indices))
        if not _has_whole_bytes(operand.type.element_type):
            return None
        if access.is_store:
            stores.append(operand)
        else:
            loads[access.op] = operand
    return (loads, stores[0]) if len(stores) == 1 else None


def _has_whole_bytes(element: Attribute) -> bool:
    return element != i1 and not (isinstance(element, IntegerType) and element.width.data % 8)


def _turned(loads: Mapping[Operation, Operand], row: int, column: int) -> frozenset[Operation]:
    """Returns the loads to be turned, none where one that is not walks across the result."""
    found = {op for op, each in loads.items() if each.stride_along(column) == 1 and _is_tiled(each, row, column)}
    for op, operand in loads.items():
        if op not in found and not _is_direct(operand, row, column):
            return frozenset()
    return frozenset(found)


def _is_tiled(operand: Operand, row: int, column: int) -> bool:
    """Returns whether rows and columns of a tile move in dimensions of their own, forwards."""
    places = [operand.dimension_along(axis) for axis in (row, column)]
    known = [place for place in places if place is not None and place[1] > 0]
    return len({dimension for dimension, _ in known}) == 2


def _is_direct(operand: Operand, row: int, column: int) -> bool:
    """Returns whether a tile of the result loads its part of an operand by rows, or one number for many."""
    moved = [axis for axis in (row, column) if axis in operand.axes()]
    places = [operand.dimension_along(axis) for axis in moved]
    known = [place for place in places if place is not None and place[1] > 0]
    own = len({dimension for dimension, _ in known}) == len(moved)
    return own and operand.stride_along(row) in (0, 1)


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
            loaded = {op: _loaded(builder, t, op, at) for op in t.loads}
            type_ = vector_type(t.out.type.element_type, (LANES, LANES))
            found = next(iter(loaded.values())) if t.is_copy else mapped_tile(builder, t.block, loaded, type_)
            out = place_of(builder, t.out, at, t.column, t.row)
            builder.add(tile.StoreOp(found, out.buffer, out.indices, out.along, out.by))


def _loaded(builder: ScheduledNest, t: Transpose, load: Operation, at: Mapping[int, Index]) -> SSAValue:
    """Returns the tile of what a load reads, as it lies in the result."""
    operand, is_turned = t.loads[load], load in t.turned
    place = place_of(builder, operand, at, *((t.row, t.column) if is_turned else (t.column, t.row)))
    type_ = vector_type(operand.type.element_type, (LANES, LANES))
    loaded = builder.add(tile.LoadOp(place.buffer, place.indices, type_, place.along, place.by)).result
    return builder.add(tile.TransposeOp(loaded)).result if is_turned else loaded


def _bounds(t: Transpose, bindings: dict[int, AffineExpr], counts: dict[int, int]) -> Sequence[Bound]:
    return [Bound("spatial", bindings[axis], counts[axis], name) for axis, name in enumerate(_names(t))]


def _rest(builder: ScheduledNest, t: Transpose, ranges: dict[int, int]) -> None:
    """
    Emits the map number by number. Each axis in `ranges` goes from that index to its end, or from 0 to minus the index
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
            copies: dict[SSAValue, SSAValue] = {}
            for op in body_ops(t.block.body.block):
                if isinstance(op, memref.LoadOp):
                    operand = t.loads[op]
                    indices = [builder.affine(index, at) for index in operand.indices]
                    copies[op.res] = builder.add(memref.LoadOp.get(operand.buffer, indices)).res
                elif isinstance(op, memref.StoreOp):
                    places = [builder.affine(index, at) for index in t.out.indices]
                    builder.add(memref.StoreOp.get(copies.get(op.value, op.value), t.out.buffer, places))
                elif not isinstance(op.results[0].type, IndexType):
                    builder.add(clone_op(op, copies))
