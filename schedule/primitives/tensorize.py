"""Primitives that turn loops into units: blockize, tensorize onto register tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, MemRefType, StringAttr, VectorType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.access_regions import body_accesses
from ...analysis.affine import affine_of_value, is_linear, linear_terms
from ...analysis.loop_nests import body_ops
from ...analysis.reductions import accumulators, reduction_nest
from ...analysis.reorder import is_reassociable
from ...core.messages.articles import quoted
from ...dialects import tile
from ...dialects.schedule.ops import BlockizeOp, TensorizeOp
from ...dialects.tensor_loop import BlockOp, ForOp, GridOp
from ...dialects.tensor_loop.syntax import value_name
from ...machine.x86_64 import X86_64_V4
from ..kernels.contraction import contraction_of, factors_of, initial_value
from ..kernels.register_tiles import RegisterTile
from ..kernels.tilings import choose_tiling
from ..products.tile_contraction import tile_contraction
from .buffers import check_once, only_store, stores_in
from .dependences import orderless
from .errors import refuse
from .nests import (
    axes_block,
    block_name,
    blocks_of,
    bound_block,
    clone_located,
    covers_axes,
    erase,
    fresh_block_name,
    function_of,
    is_alone,
    loop_name,
    loops_of,
    rebind,
    short_name,
    top_of,
)
from .reshape import check_plain, known_extent
from .steps import Number, step

MOST_COLUMNS = 256
"""The longest row that is one tile."""


@step(BlockizeOp)
def blockize(loop: ForOp) -> BlockOp:
    """
    Makes the part of a block's nest from a loop inwards one block, which other primitives take as a whole.

    Args:
        loop: The outermost loop that the new block holds.

    Legal for a perfect nest around one block without predicate. Each loop outside that runs through reduce axes makes
    the new block reduce. An init must then have been decomposed.

    Before and after `blockize(%i1)`:

        for %i0 in 4 { for %i1 in 8 { block "b" (vi = %i0 * 8 + %i1) { … } } }
        for %i0 in 4 { block "b_outer" (v0 = %i0) { for %i1 in 8 { block "b" (vi = v0 * 8 + %i1) { … } } } }
    """
    blocks = blocks_of(loop)
    if len(blocks) != 1 or any(
        body_ops(each.body.block) != [_child(each, blocks[0])] for each in _from(loop, blocks[0])
    ):
        refuse(f"{loop_name(loop)} does not hold one block alone", loop, *blocks)
    (block,) = blocks
    if block.constraints:
        refuse(f"{block_name(block)} has a predicate", block, hint="split by factors that divide the extent")
    outside = [each for each in loops_of(block) if each is not loop and not loop.is_ancestor(each)]
    used = [each for each in outside if each.variable in block.binding_operands]
    nest = reduction_nest(block)
    reduce = {each for each in used if each.variable in nest.reduce}
    if reduce and block.init is not None:
        refuse(
            f"{block_name(block)} has an init and reduce loops outside {loop_name(loop)}",
            block,
            *sorted(reduce, key=outside.index),
            hint="decompose_reduction first",
        )
    body = axes_block(len(used))
    kinds = ["reduce" if each in reduce else "spatial" for each in used]
    axes = [(kind, each.extent, f"v{each.variable.name_hint or 'o'}") for kind, each in zip(kinds, used, strict=True)]
    parent, following = loop.parent_block(), loop.next_op
    assert parent is not None and following is not None
    loop.detach()
    body.add_op(loop)
    values: dict[SSAValue, SSAValue] = {e.variable: a for e, a in zip(used, body.args, strict=True)}
    operands = [values.get(value, value) for value in block.binding_operands]
    rebind(block, block.binding_exprs, operands, ())
    outer = bound_block(
        "", axes, [AffineDimExpr(number) for number in range(len(used))], [each.variable for each in used], body, block
    )
    parent.insert_op_before(outer, following)
    outer.block_name = StringAttr(fresh_block_name(function_of(outer), f"{block.block_name.data}_outer"))
    return outer


def _from(loop: ForOp, block: BlockOp) -> list[ForOp]:
    return [each for each in loops_of(block) if each is loop or loop.is_ancestor(each)]


def _child(loop: ForOp, block: BlockOp) -> Operation:
    op: Operation = block
    while op.parent_op() is not loop:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


@step(TensorizeOp)
def tensorize(target: ForOp | BlockOp, form: str, shape: Sequence[Number] | None = None, packed: bool = False) -> None:
    """
    Computes a contraction on register tiles (`"mma"`), or the iterations of a loop as one row of a tile (`"row"`).

    Args:
        target: The block of the contraction, or the loop.
        form: "mma" or "row".
        shape: Rows and columns of the register tile of a contraction, chosen for it where they are left out.
        packed: Copies the second operand of a contraction into panels.

    Legal as "mma" for a contraction that `schedule/kernels/contraction.py` knows. It is alone in its nest, its extents
    are static, and its updates may be regrouped and fused into multiply-adds. An elementwise nest right after it that
    maps its result is taken into the tiles. As "row", legal for a loop of at most 256 iterations right around a block
    without reduce axes that has one store and arithmetic on numbers. One axis is the loop variable plus something. It
    chooses the element of each access by a step along one dimension, which is 1 in the store.

    Before and after `tensorize("mm", "mma", [8, 48])`, then `tensorize(%j1, "row")`:

        grid (%i, %j, %k) { block "mm" { C[vi, vj] += A[vi, vk] * B[vk, vj] } }
        for %m0 { for %p { block "mm" { … scf.for … { tile.mma … } … tile.store … } } }

        for %j1 in 16 { block "exp" (vj = %j0 * 16 + %j1) { B[vj] = exp A[vj] } }
        block "exp" (vj = %j0 * 16) { %t = tile.load A[vj] : vector<1x16xf32>  …  tile.store %r, B[vj] }
    """
    if form == "row":
        if not isinstance(target, ForOp):
            refuse('the form "row" takes a loop, found a block', target)
        _tensorize_row(target)
    else:
        if not isinstance(target, BlockOp):
            refuse('the form "mma" takes a block, found a loop', target)
        _tensorize_mma(target, shape, packed)


def _tensorize_mma(block: BlockOp, shape: Sequence[int] | None, packed: bool) -> None:
    """Computes a contraction on register tiles."""
    if not is_alone(block) or not covers_axes(block):
        refuse(f"{block_name(block)} is not alone in its nest, or not known to run for every value of its axes", block)
    check_once(block)
    for loop in loops_of(block):
        check_plain(loop)
    if shape is not None and any(size < 1 for size in shape):
        refuse(f"a tile of {list(shape)}, expected positive numbers", block)
    grid = _as_grid(block)
    function = function_of(block)
    nest = top_of(block)
    Rewriter.insert_op(grid, InsertPoint.before(nest))
    found = contraction_of(grid)
    if found is None:
        erase(grid)
        refuse(f"{block_name(block)} is no contraction whose sums may be regrouped: {_difference(block)}", block)
    erase(nest)
    tiling = choose_tiling(found, False, X86_64_V4)  # the same on every machine
    if shape is not None:
        tiling = replace(
            tiling, tile=RegisterTile(min(shape[0], found.extent(found.m)), min(shape[1], found.extent(found.n)))
        )
    tiling = replace(tiling, pack_b=packed)
    if not packed:
        tiling = replace(tiling, depth_blocks=1, panels=None)
    tile_contraction(found, tiling, keeps_copy=True)  # The block that makes the copy may have a handle.
    names = set[str]()
    for each in blocks_of(function):
        name = each.block_name.data
        if name in names:
            each.block_name = StringAttr(fresh_block_name(function, name))
        names.add(each.block_name.data)


def _difference(block: BlockOp) -> str:
    """Returns the first difference between a block and a product of matrices (or the like) that is summed up."""
    found = accumulators(block) if block.has_reduce_axes else ()
    if not block.has_reduce_axes:
        return "it has no reduce axes"
    if found is None or len(found) != 1:
        return f"it updates {len(found or ())} accumulators, expected one"
    (accumulator,) = found
    name = value_name(accumulator.buffer)
    update = accumulator.store.value.owner
    if not isinstance(update, arith.AddfOp | arith.AddiOp):
        what = update.name if isinstance(update, Operation) else "value"
        return f"it updates {name} by {quoted(what)}, expected an addition"
    if not is_reassociable(accumulator):
        return f"the additions to {name} lack fastmath<reassoc>"
    if initial_value(block, accumulator) is None:
        return f"{name} does not start as a constant"
    added = update.rhs if update.lhs is accumulator.loads[0].res else update.lhs
    if not isinstance(added.owner, arith.MulfOp | arith.MuliOp):
        what = added.owner.name if isinstance(added.owner, Operation) else "value"
        return f"it adds {quoted(what)} to {name}, expected a product"
    if factors_of(accumulator, block) is None:
        return "the factors are no loaded elements of one type, or the product lacks fastmath<contract>"
    return "its axes do not choose rows, columns and terms of the sum"


def _as_grid(block: BlockOp) -> GridOp:
    """Makes a grid with one loop per axis around a copy of `block`."""
    grid = GridOp(block.extents, [short_name(axis) for axis in block.axes])
    grid.location = block.location
    copy = clone_located(block, {})
    assert isinstance(copy, BlockOp)
    rebind(copy, [AffineDimExpr(number) for number in range(len(copy.axes))], list(grid.variables), ())
    last = grid.body.block.last_op
    assert last is not None
    grid.body.block.insert_op_before(copy, last)
    return grid


def _tensorize_row(loop: ForOp) -> None:
    """Computes the iterations of a loop at once, as one row of a register tile."""
    content = body_ops(loop.body.block)
    if len(content) != 1 or not isinstance(content[0], BlockOp):
        refuse(f"{loop_name(loop)} does not hold one block alone", loop)
    block = content[0]
    check_plain(loop)
    columns = known_extent(loop)
    if not 1 <= columns <= MOST_COLUMNS:
        refuse(f"a row of {columns} elements, expected 1 to {MOST_COLUMNS}", loop)
    blame = orderless(block)
    if blame is not None or block.has_reduce_axes:
        refuse(f"{block_name(block)} has reduce axes" if blame is None else blame.reason, block)
    axis = _row_axis(block, loop)
    _check_maps(block, axis)
    _emit_row(block, axis, columns)
    dim = list(block.binding_operands).index(loop.variable)
    without = [AffineConstantExpr(0) if n == dim else AffineDimExpr(n) for n in range(len(block.binding_operands))]
    bindings = [expr.replace_dims_and_symbols(without, ()) for expr in block.binding_exprs]
    rebind(block, bindings, list(block.binding_operands), block.constraints)
    block.detach()
    Rewriter.insert_op(block, InsertPoint.before(loop))
    erase(loop)
    block.refresh_regions()


def _row_axis(block: BlockOp, loop: ForOp) -> int:
    """Returns the axis that is the loop variable plus something else. No other axis may depend on that variable."""
    if loop.variable not in block.binding_operands:
        refuse(f"no axis of {block_name(block)} depends on {loop_name(loop)}", loop, block)
    dim = list(block.binding_operands).index(loop.variable)
    found = [number for number, expr in enumerate(block.binding_exprs) if dim in expr.used_dims()]
    if any(dim in expr.used_dims() for expr, _ in block.constraints):
        refuse(
            f"the predicate of {block_name(block)} depends on {loop_name(loop)}",
            loop,
            block,
            hint="loop_partition first",
        )
    (axis, *more) = found
    terms, _ = linear_terms(block.binding_exprs[axis])
    mine = {atom: factor for atom, factor in terms.items() if dim in atom.used_dims()}
    if more or mine != {AffineDimExpr(dim): 1}:
        refuse(f"no single axis of {block_name(block)} is {loop_name(loop)} plus something", loop, block)
    return axis


def _step(block: BlockOp, axis: int, op: memref.LoadOp | memref.StoreOp) -> tuple[int, int]:
    """Returns the dimension in which the axis moves an access, and by how much. It is (-1, 1) for none."""
    dims: dict[SSAValue, int] = {argument: number for number, argument in enumerate(block.axes)}
    found: list[tuple[int, int]] = []
    for dimension, index in enumerate(op.indices):
        expr = affine_of_value(index, dims)
        if expr is None or (axis in expr.used_dims() and not is_linear(expr)):
            refuse(f"an index of {quoted(op.name)} in {block_name(block)} is no sum of axes", block, op)
        factor = linear_terms(expr)[0].get(AffineDimExpr(axis), 0)
        if factor:
            found.append((dimension, factor))
    if len(found) > 1 or (found and found[0][1] < 1):
        refuse(
            f"the axis moves {quoted(op.name)} in {block_name(block)} along several dimensions or backwards", block, op
        )
    return found[0] if found else (-1, 1)


def _check_maps(block: BlockOp, axis: int) -> None:
    store = only_store(block)
    if len(stores_in(block)) != 1 or _step(block, axis, store)[1] != 1 or _step(block, axis, store)[0] < 0:
        refuse(f"{block_name(block)} does not store a row of neighbours along one dimension", block, store)
    if not any(isinstance(op, memref.LoadOp) for op in body_ops(block.body.block)):
        refuse(f"{block_name(block)} loads nothing", block)
    stored = [access for access in body_accesses(block.body.block).accesses if access.is_store]
    for op in body_ops(block.body.block):
        if isinstance(op, memref.LoadOp):
            _step(block, axis, op)
            same = next(iter(stored)).indices == next(
                access.indices for access in body_accesses(block.body.block).accesses if access.op is op
            )
            if op.memref is store.memref and not same:
                refuse(f"{block_name(block)} reads other elements of what it writes", block, op)
        elif isinstance(op, memref.StoreOp):
            continue
        elif op.regions or len(op.results) != 1 or op.name.partition(".")[0] not in ("arith", "math"):
            refuse(f"{block_name(block)} holds {quoted(op.name)}, which has no form on tiles", block, op)
        elif not isinstance(op.results[0].type, IndexType) and any(
            isinstance(operand.type, IndexType) for operand in op.operands
        ):
            refuse(f"{block_name(block)} computes with its axes", block, op)


def _emit_row(block: BlockOp, axis: int, columns: int) -> None:
    """Replaces loads by loads of rows, the arithmetic by a map over them, the store by that of a row."""
    store = only_store(block)
    steps = {op: _step(block, axis, op) for op in body_ops(block.body.block) if isinstance(op, memref.LoadOp)}
    store_step = _step(block, axis, store)
    body = Block()
    tiles: list[SSAValue] = []
    copies: dict[SSAValue, SSAValue] = {}
    old: list[Operation] = []
    for op in body_ops(block.body.block):
        if isinstance(op, memref.LoadOp):
            assert isinstance(op.memref.type, MemRefType)
            dimension, by = steps[op]
            row = VectorType(op.memref.type.element_type, [1, columns])
            load = tile.LoadOp(op.memref, list(op.indices), row, (-1, dimension), (1, by))
            load.location = op.location
            Rewriter.insert_op(load, InsertPoint.before(op))
            tiles.append(load.result)
            copies[op.res] = body.insert_arg(op.res.type, len(body.args))
            old.append(op)
        elif isinstance(op, memref.StoreOp):
            old.append(op)
        elif not isinstance(op.results[0].type, IndexType):
            body.add_op(clone_located(op, copies))
            old.append(op)
    end = tile.YieldOp(copies.get(store.value, store.value))
    body.add_op(end)
    type_ = store.memref.type
    assert isinstance(type_, MemRefType)
    row = VectorType(type_.element_type, [1, columns])
    mapped = tile.MapOp(tiles, row, Region(body))
    saved = tile.StoreOp(mapped.results[0], store.memref, list(store.indices), (-1, store_step[0]), (1, 1))
    for op in (mapped, saved):
        op.location = store.location
    block.body.block.insert_ops_before([mapped, saved], store)
    for op in reversed(old):
        erase(op)
