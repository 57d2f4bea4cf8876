"""Elementwise work on the result of a contraction, done on its register tiles before they are stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

from xdsl.dialects import arith, math, memref, scf
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, StringAttr, VectorType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...analysis.access_regions import Access, body_accesses
from ...analysis.affine import is_linear, linear_terms, normal_form
from ...analysis.loop_nests import body_ops, levels_of, perfect_block
from ...analysis.reorder import may_reorder
from ...core.ir.cloning import clone_op
from ...core.ir.element_types import vector_type
from ...core.roles import LOOP
from ...dialects import tile
from ...dialects.schedule import OnTilesAttr
from ...dialects.tensor_loop import AllocOp, BlockOp, Extent, GridOp
from ...dialects.tile.ops import LANES
from ...lazy_dataclass import dataclass
from .contraction import Contraction, Operand
from .decisions import may_take
from .scheduled_nest import Index, ScheduledNest

LONG_BODY = 24
"""The instructions per register from which on an epilogue may be a loop. Storing and loading the sums adds two."""

LONG_TILE = 200
"""The instructions of an epilogue on a tile that are worth a loop. LLVM takes 0.1 ms for ten."""

AT_ONCE = 8
"""The registers of rows that are done at a time, so that the processor need not wait for one of them."""

FUNCTION = 20
"""The instructions of a function of `math`, about."""

SINGLE = (
    math.AbsFOp,
    math.CeilOp,
    math.FloorOp,
    math.FmaOp,
    math.CopySignOp,
    math.RoundEvenOp,
    math.SqrtOp,
    math.TruncOp,
)


@dataclass(frozen=True)
class Epilogue:
    """
    A grid right after a contraction that maps each element of its result, and what else it reads, to one of `out`.
    """

    grid: GridOp
    block: BlockOp
    out: Operand
    """The operand that is written, over the axes of the contraction."""
    loads: Mapping[Operation, Operand]
    """The operands that are loaded, over the axes of the contraction. Loads of its result are left out."""
    keeps_result: bool
    """True where the result itself is needed later."""


def epilogue_of(c: Contraction) -> Epilogue | None:
    """Returns the epilogue of `c`, or `None` where no epilogue follows, or one that a plan keeps apart."""
    grid = following_grid(c.grid)
    if grid is None:
        return None
    block = perfect_block(levels_of(grid))
    if block is None or block.has_reduce_axes or block.constraints or not may_reorder(block):
        return None
    if not _takes_every_value(grid, block) or not maps_only(block):
        return None
    if not may_take(c.block, block, OnTilesAttr):
        return None
    accesses = body_accesses(block.body.block).accesses
    stores = [access for access in accesses if access.is_store]
    results = [access for access in accesses if access.buffer is c.out.buffer]
    if len(stores) != 1 or all(access.is_store for access in results):
        return None
    if stores[0].buffer in (c.a.buffer, c.b.buffer):  # Other tiles need those buffers unchanged.
        return None
    axes = _axes(c, block, results)
    operands = None if axes is None else _operands(c, accesses, axes)
    if operands is None:
        return None
    in_place = stores[0].buffer is c.out.buffer
    out = c.out if in_place else operands[stores[0].op]
    if out.stride_along(c.n) != 1 or (c.m is not None and out.dimension_along(c.m) is None):
        return None
    loads = {access.op: operands[access.op] for access in accesses if access.op in operands and not access.is_store}
    return Epilogue(grid, block, out, loads, not in_place and _is_needed(c, grid))


def following_grid(grid: GridOp) -> GridOp | None:
    """Returns the grid right after another one, allocations aside."""
    following = grid.next_op
    while isinstance(following, AllocOp):
        following = following.next_op
    return following if isinstance(following, GridOp) else None


def maps_only(block: BlockOp) -> bool:
    """Returns whether the block has loads, one store, and elementwise ops on numbers between them."""
    for op in body_ops(block.body.block):
        if isinstance(op, memref.LoadOp | memref.StoreOp):
            continue
        if op.dialect_name() not in ("arith", "math") or op.regions or len(op.results) != 1:
            return False
        index = isinstance(op.results[0].type, IndexType)
        if any(isinstance(operand.type, IndexType) for operand in op.operands) and not index:
            return False
        if isinstance(op, arith.ConstantOp) and not isinstance(op.value, FloatAttr | IntegerAttr):
            return False
    return True


def _takes_every_value(grid: GridOp, block: BlockOp) -> bool:
    """Returns whether each axis has the value of a loop variable of its own, from 0 to its extent."""
    if tuple(block.binding_operands) != grid.variables:
        return False
    bound: set[int] = set()
    for expr, extent in zip(block.binding_exprs, block.extents, strict=True):
        if isinstance(expr, AffineDimExpr):
            if grid.extents[expr.position] != extent or expr.position in bound:
                return False
            bound.add(expr.position)
        elif extent != 1:
            return False
    return True


def _axes(c: Contraction, block: BlockOp, results: list[Access]) -> list[AffineExpr] | None:
    """Returns for each axis of `block` the axis of the contraction that it is, from how both index the result."""
    found: dict[int, AffineExpr] = {}
    for access in results:
        if access.indices != results[0].indices:
            return None
    for index, wanted in zip(results[0].indices, c.out.indices, strict=True):
        if isinstance(index, AffineDimExpr) and _extent_of(wanted, c) is not None:
            found[index.position] = wanted
        elif (paired := _paired(index, wanted, block.extents, c.extents)) is not None:
            found |= paired
        elif _without_ones(index, block.extents) != _without_ones(wanted, c.extents):
            return None
    extents = [extent for extent in block.extents if isinstance(extent, int)]
    if len(extents) != len(block.axes) or len(set(found.values())) != len(found):
        return None
    for position, extent in enumerate(extents):
        if position not in found:
            if extent != 1:
                return None
            found[position] = AffineExpr.constant(0)
    for position, expr in found.items():
        if expr.used_dims() and _extent_of(expr, c) != extents[position]:
            return None
    covered = {dim for expr in found.values() for dim in expr.used_dims()}
    if any(c.extents[axis] != 1 and axis not in covered for axis in (c.m, c.n, *c.outer) if axis is not None):
        return None
    return [found[position] for position in range(len(extents))]


def _paired(
    index: AffineExpr | None, wanted: AffineExpr, extents: Sequence[Extent], others: Sequence[int]
) -> dict[int, AffineExpr] | None:
    """
    Returns which axis of the contraction each axis in `index` is where both indices are the same sum, as in
    `strip * 50 + row`, and `None` where they are not.
    """
    if index is None or not is_linear(index) or not is_linear(wanted):
        return None
    (own, start), (theirs, other_start) = linear_terms(index), linear_terms(wanted)
    by_factor = {factor: atom for atom, factor in theirs.items() if isinstance(atom, AffineDimExpr)}
    if start != other_start or not own or {*own.values()} != {*by_factor} or len({*own.values()}) != len(own):
        return None
    found: dict[int, AffineExpr] = {}
    for atom, factor in own.items():
        other = by_factor[factor]
        if not isinstance(atom, AffineDimExpr) or extents[atom.position] != others[other.position]:
            return None
        found[atom.position] = other
    return found if len(theirs) == len(own) else None


def _without_ones(index: AffineExpr | None, extents: Sequence[Extent]) -> AffineExpr | None:
    """Returns an index in which axes of one value are 0."""
    ones = [
        AffineExpr.constant(0) if extent == 1 else AffineExpr.dimension(axis) for axis, extent in enumerate(extents)
    ]
    return None if index is None else normal_form(index.replace_dims_and_symbols(ones, ()))


def _extent_of(index: AffineExpr, c: Contraction) -> int | None:
    """
    Returns the extent of the axis that `index` is, or of the one that its axes are digits of, as in `g * 32 + o` with
    32 values of `o`. It is `None` where there is no such axis.
    """
    terms, start = linear_terms(index)
    total = 1
    for atom, factor in sorted(terms.items(), key=lambda term: term[1]):
        if not isinstance(atom, AffineDimExpr) or factor != total:
            return None
        total *= c.extents[atom.position]
    return total if terms and not start else None


def _operands(c: Contraction, accesses: tuple[Access, ...], axes: list[AffineExpr]) -> dict[Operation, Operand] | None:
    found: dict[Operation, Operand] = {}
    for access in accesses:
        if access.buffer is c.out.buffer:
            continue
        indices: list[AffineExpr] = []
        for index in access.indices:
            if index is None or not is_linear(index):
                return None
            indices.append(normal_form(index.replace_dims_and_symbols(axes, ())))
        operand = Operand(access.buffer, tuple(indices))
        moves = [operand.dimension_along(axis) for axis in (c.m, c.n) if axis is not None and axis in operand.axes()]
        if None in moves or len({place[0] for place in moves if place is not None}) != len(moves):
            return None
        if any(place is not None and place[1] < 1 for place in moves):
            return None
        found[access.op] = operand
    return found


def _is_needed(c: Contraction, grid: GridOp) -> bool:
    """Returns whether anything but the contraction and `grid` uses the result."""
    buffer = c.out.buffer
    if not isinstance(buffer.owner, AllocOp):
        return True
    return any(not c.grid.is_ancestor(use.operation) and not grid.is_ancestor(use.operation) for use in buffer.uses)


def emit_epilogue(
    builder: ScheduledNest,
    c: Contraction,
    epilogue: Epilogue,
    total: SSAValue,
    at: Mapping[int, Index],
    loaded: Mapping[Operation, SSAValue] | None = None,
) -> None:
    """
    Emits the body of the epilogue on the tile `total`, whose corner is at `at`. `loaded` holds tiles that stand for its
    loads.

    A long body is done by a loop over some rows at a time, which read their sums from a buffer on the stack.
    """
    assert isinstance(total.type, VectorType)
    rows, columns = total.type.get_shape()
    step = rows if c.m is None or loaded else _rows_at_once(epilogue, rows, ceil(columns / LANES))
    if step == rows or c.m is None:
        _emit_rows(builder, c, epilogue, total, at, loaded or {})
        return
    stack = memref.AllocaOp.get(total.type.element_type, shape=[rows, columns])
    stack.memref.name_hint = "sums"
    builder.add(stack)
    zero = builder.value(0)
    builder.add(tile.StoreOp(total, stack.memref, [zero, zero]))
    body = Block(arg_types=[IndexType()])
    (row,) = body.args
    row.name_hint = "row"
    with builder.inside(body):
        type_ = vector_type(total.type.element_type, (step, columns))
        part = builder.add(tile.LoadOp(stack.memref, [row, builder.value(0)], type_)).result
        _emit_rows(builder, c, epilogue, part, {**at, c.m: builder.sum(at[c.m], row)}, {})
        builder.add(scf.YieldOp())
    bounds = (zero, builder.value(rows), builder.value(step))
    loop = builder.add(scf.ForOp(*bounds, [], Region(body)))
    loop.attributes[LOOP] = StringAttr("no-unroll")


def _rows_at_once(epilogue: Epilogue, rows: int, registers: int) -> int:
    """
    Returns how many of the `rows` of a tile, of so many registers each, are mapped at a time: all of them, or as few as
    give independent work where the code for all of them would be long.
    """
    steps = sum(_instructions(op) for op in body_ops(epilogue.block.body.block))
    if steps < LONG_BODY or steps * rows * registers < LONG_TILE:
        return rows
    return max(each for each in range(1, rows + 1) if rows % each == 0 and (each == 1 or each * registers <= AT_ONCE))


def _instructions(op: Operation) -> int:
    """Returns how many instructions `op` is on a register, about."""
    if isinstance(op, memref.LoadOp | memref.StoreOp | arith.ConstantOp) or isinstance(op.results[0].type, IndexType):
        return 0
    return FUNCTION if op.dialect_name() == "math" and not isinstance(op, SINGLE) else 1


def _emit_rows(
    builder: ScheduledNest,
    c: Contraction,
    epilogue: Epilogue,
    total: SSAValue,
    at: Mapping[int, Index],
    loaded: Mapping[Operation, SSAValue],
) -> None:
    """Emits the body of the epilogue on a tile, all rows at once."""
    assert isinstance(total.type, VectorType)
    shape = total.type.get_shape()
    tiles: dict[Operation, SSAValue] = dict(loaded)
    for op in body_ops(epilogue.block.body.block):
        if isinstance(op, memref.LoadOp) and op not in tiles:
            operand = epilogue.loads.get(op)
            tiles[op] = total if operand is None else _load(builder, c, operand, shape, at)
    mapped = mapped_tile(builder, epilogue.block, tiles, vector_type(epilogue.out.type.element_type, shape))
    place = place_of(builder, epilogue.out, at, c.m, c.n)
    builder.add(tile.StoreOp(mapped, place.buffer, place.indices, place.along, place.by))


def mapped_tile(
    builder: ScheduledNest, block: BlockOp, tiles: Mapping[Operation, SSAValue], type_: VectorType
) -> SSAValue:
    """Returns the tile of what `block`, which only maps numbers, stores. `tiles` has one for each of its loads."""
    operands: list[SSAValue] = []
    body = Block()
    copies: dict[SSAValue, SSAValue] = {}
    for op in body_ops(block.body.block):
        if isinstance(op, memref.LoadOp):
            operands.append(tiles[op])
            copies[op.res] = body.insert_arg(op.res.type, len(body.args))
        elif isinstance(op, memref.StoreOp):
            body.add_op(tile.YieldOp(copies.get(op.value, op.value)))
        elif not isinstance(op.results[0].type, IndexType):
            body.add_op(clone_op(op, copies))
    return builder.add(tile.MapOp(operands, type_, Region(body))).result


def _load(
    builder: ScheduledNest, c: Contraction, operand: Operand, shape: tuple[int, ...], at: Mapping[int, Index]
) -> SSAValue:
    place = place_of(builder, operand, at, c.m, c.n)
    type_ = vector_type(operand.type.element_type, shape)
    return builder.add(tile.LoadOp(place.buffer, place.indices, type_, place.along, place.by)).result


def place_of(
    builder: ScheduledNest, operand: Operand, at: Mapping[int, Index], rows: int | None, columns: int | None
) -> tile.Place:
    """Returns where a tile starts in an operand whose rows and columns move with these axes."""
    indices = tuple(builder.affine(index, at) for index in operand.indices)
    moves = [(-1, 1) if axis is None else operand.dimension_along(axis) or (-1, 1) for axis in (rows, columns)]
    (row, row_by), (column, column_by) = moves
    return tile.Place(operand.buffer, indices, (row, column), (row_by, column_by))


def replace_grids(c: Contraction, epilogue: Epilogue | None, block: Block) -> None:
    """
    Puts the ops of `block` in the place of the contraction and its epilogue. The result goes when nothing needs it.
    """
    last = c.grid if epilogue is None else epilogue.grid
    parent, ops = last.parent, list(block.ops)
    assert parent is not None
    for op in ops:
        op.detach()
    parent.insert_ops_before(ops, last)
    for grid in {c.grid: None, last: None}:
        grid.detach()
        grid.erase()
    result = c.out.buffer
    if isinstance(result.owner, AllocOp) and result.first_use is None:
        result.owner.detach()
        result.owner.erase()
