"""Primitives on reductions: decompose_reduction, rfactor."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, MemRefType, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.access_regions import root_buffer
from ...analysis.affine import bounds, from_terms, linear_terms
from ...analysis.loop_nests import body_ops
from ...analysis.reductions import Accumulator, accumulators, init_stores, reduction_nest
from ...core.ir.cloning import clone_op
from ...dialects.schedule.ops import DecomposeReductionOp, RFactorOp
from ...dialects.tensor_loop import BlockOp, Extent, ForOp, InitOp
from ...dialects.tensor_loop.syntax import value_name
from .buffers import check_once, check_separate, emit_affine, new_alloc, static_type
from .dependences import before_reduction, check_order_known, only_reduces, shared_inits, touches
from .errors import refuse
from .nests import (
    axes_block,
    block_name,
    blocks_of,
    bound_block,
    check_covers_axes,
    clone_located,
    erase,
    fresh_block_name,
    function_of,
    is_alone,
    loop_name,
    loops_of,
    new_nest,
    place,
    ranges_of,
    rebind,
    short_name,
    top_of,
)
from .reshape import check_plain, known_extent
from .steps import step


@step(DecomposeReductionOp)
def decompose_reduction(block: BlockOp, loop: ForOp) -> BlockOp:
    """
    Makes the init of a reduction a block of its own, which runs right before a loop and is returned.

    Args:
        block: A block with an init.
        loop: A loop around the block.

    Legal where no loop around `loop` runs through reduce axes, and nothing else under it touches what the init writes.
    Different iterations of the loops from `loop` to the first that runs through reduce axes set different elements.

    Before and after `decompose_reduction("sum", %k)`:

        for %i in 4 { for %k in 8 { block "sum" { init { S[vi] = 0 }  S[vi] += A[vi, vk] } } }
        for %i in 4 { block "sum_init" { S[vi] = 0 }  for %k in 8 { block "sum" { S[vi] += A[vi, vk] } } }
    """
    init = block.init
    if init is None:
        refuse(f"{block_name(block)} has no init", block)
    loops = loops_of(block)
    if loop not in loops:
        refuse(f"{loop_name(loop)} is not around {block_name(block)}", block, loop)
    nest = reduction_nest(block)
    for outer in loops[: loops.index(loop)]:
        if outer.variable in nest.reduce:
            refuse(
                f"{loop_name(outer)}, around {loop_name(loop)}, runs through reduce axes of {block_name(block)}",
                outer,
                loop,
            )
    check_order_known(block)
    inside = loops[loops.index(loop) :]
    if any(each.variable in nest.reduce and each.variable in nest.spatial for each in inside):
        refuse(f"a loop runs through reduce and spatial axes of {block_name(block)} at once", block, loop)
    _check_init_alone(block, loop)
    shared = shared_inits(block, before_reduction(block, inside))
    if shared is not None:
        refuse(f"the init of {block_name(block)} would run once for all: {shared.reason}", block, loop)
    kept = [each for each in inside if each.variable in nest.spatial]
    new_loops = new_nest([each.variable.name_hint for each in kept], [each.extent for each in kept], loop)
    variables: dict[SSAValue, SSAValue] = {old.variable: new.variable for old, new in zip(kept, new_loops, strict=True)}
    reduced = set[SSAValue](each.variable for each in inside) - variables.keys()
    created = _init_block(block, init, variables, reduced)
    place(new_loops, created, InsertPoint.before(loop))
    rebind(created, created.binding_exprs, list(created.binding_operands), created.constraints)
    erase(init)
    block.refresh_regions()
    return created


def _check_init_alone(block: BlockOp, loop: ForOp) -> None:
    """Checks that nothing but `block` under `loop` touches what the init writes or writes what it reads."""
    assert block.init is not None
    written = {root_buffer(op.memref) for op in block.init.walk() if isinstance(op, memref.StoreOp)}
    read = {root_buffer(op.memref) for op in block.init.walk() if isinstance(op, memref.LoadOp)}
    for other in blocks_of(loop):
        for touch in touches(other):
            buffer = root_buffer(touch.buffer)
            if (other is not block and buffer in written) or (buffer in read and touch.is_store):
                refuse(
                    f"{block_name(other)} under {loop_name(loop)} touches {value_name(touch.buffer)}, which the init "
                    "of "
                    f"{block_name(block)} uses",
                    other,
                    loop,
                )


def _init_block(block: BlockOp, init: InitOp, variables: dict[SSAValue, SSAValue], reduced: set[SSAValue]) -> BlockOp:
    """Returns the init as a block over the spatial axes, with loop variables replaced."""
    spatial = [axis for axis, kind in enumerate(block.kinds) if kind == "spatial"]
    operands = [variables.get(value, value) for value in block.binding_operands]
    dropped = {n for n, value in enumerate(block.binding_operands) if value in reduced}
    constraints = [term for term in block.constraints if not term[0].used_dims() & dropped]
    for expr, _ in block.constraints:
        if expr.used_dims() & dropped and expr.used_dims() - dropped:
            refuse(f"the predicate of {block_name(block)} mixes spatial and reduce loops", block)
    body = axes_block(len(spatial))
    values: dict[SSAValue, SSAValue] = {
        block.axes[axis]: argument for axis, argument in zip(spatial, body.args, strict=True)
    }
    for op in body_ops(init.body.block):
        body.add_op(clone_located(op, values))
    return bound_block(
        fresh_block_name(function_of(block), f"{block.block_name.data}_init"),
        [("spatial", block.extents[axis], block.axes[axis].name_hint) for axis in spatial],
        [block.binding_exprs[axis] for axis in spatial],
        operands,
        body,
        block,
        constraints,
    )


# rfactor


@step(RFactorOp)
def rfactor(loop: ForOp, axis: int = 0) -> tuple[BlockOp, BlockOp]:
    """
    Sums up the iterations of a reduce loop apart, then adds up their sums. The loop becomes spatial.

    The block of the partial sums and the block that adds them up are returned.

    Args:
        loop: A loop that runs through reduce axes.
        axis: The dimension of the partial sums that the loop chooses.

    Legal for a reduction alone in its nest with one accumulator and an init that sets it, whose updates may be
    regrouped. It runs once for each value of its axes. For other values of the spatial axes it updates other elements.

    Before and after `rfactor(%k0)`:

        for %i in 4 { for %k0 in 8 { for %k1 in 8 { block "sum" { S[vi] += A[vi, %k0 * 8 + %k1] } } } }
        for %i in 4 { for %k0 in 8 { for %k1 in 8 { block "sum_rf" { R[vk0, vi] += A[vi, vk0 * 8 + vk1] } } } }
        for %i in 4 { for %k0 in 8 { block "sum" { S[vi] += R[vk0, vi] } } }
    """
    found = [block for block in blocks_of(loop) if loop.variable in block.binding_operands]
    if len(found) != 1 or not is_alone(found[0]):
        refuse(f"{loop_name(loop)} is not around one block alone in its nest", loop, *found)
    (block,) = found
    check_plain(loop)
    extent = known_extent(loop)
    blame = only_reduces(block, [loop])
    if blame is not None:
        refuse(f"{loop_name(loop)} cannot be factored: {blame.reason}", loop, blame.op)
    accumulator = _accumulator(block)
    identity = _identity(accumulator, block)
    check_covers_axes(block)
    check_once(block)
    check_separate(block, accumulator.buffer, accumulator.indices)
    type_ = static_type(accumulator.buffer, block)
    if not 0 <= axis <= len(type_.get_shape()):
        refuse(f"axis {axis} of {value_name(accumulator.buffer)}, expected 0 to {len(type_.get_shape())}", block)
    rest = _rest_of_axes(block, loop)
    shape = list(type_.get_shape())
    shape.insert(axis, extent)
    name = f"{accumulator.buffer.name_hint or 'acc'}_rf"
    partial = new_alloc(MemRefType(type_.element_type, shape), name, "global", block).memref
    final = _final_block(block, loop, accumulator, partial, axis, extent)
    _factor_block(block, loop, rest, accumulator, partial, axis, identity)
    block.block_name = StringAttr("")
    final_name = final.block_name.data
    block.block_name = StringAttr(fresh_block_name(function_of(block), f"{final_name}_rf"))
    return block, final


def _accumulator(block: BlockOp) -> Accumulator:
    found = accumulators(block)
    assert found is not None
    if len(found) != 1:
        refuse(f"{block_name(block)} has {len(found)} accumulators, expected one", block)
    if init_stores(block, found) is None:
        refuse(f"{block_name(block)} has no init that just sets its accumulator", block)
    return found[0]


def _identity(accumulator: Accumulator, block: BlockOp) -> Attribute:
    """Returns the neutral number of the update, which leaves every other number as it is."""
    update = accumulator.store.value.owner
    assert isinstance(update, Operation)
    type_ = update.results[0].type
    name = update.name.partition(".")[2]
    if isinstance(type_, AnyFloat):
        numbers = {
            "addf": -0.0,
            "mulf": 1.0,
            "fma": -0.0,
            "maximumf": float("-inf"),
            "minimumf": float("inf"),
        }
        if name in numbers:
            return FloatAttr(numbers[name], type_)
    if isinstance(type_, IntegerType):
        width = type_.width.data
        top = 1 << (width - 1)
        whole = {
            "addi": 0,
            "muli": 1,
            "ori": 0,
            "xori": 0,
            "andi": -1,
            "maxsi": -top,
            "minsi": top - 1,
            "maxui": 0,
            "minui": -1,
        }
        if name in whole and width > 1:
            return IntegerAttr(whole[name], type_)
    refuse(f"'{update.name}' of {type_} has no known neutral element", block)


def _rest_of_axes(block: BlockOp, loop: ForOp) -> list[tuple[AffineExpr, AffineExpr | None]]:
    """
    Returns per axis its binding without `loop`, and the term to add for each iteration of `loop`.

    The term is over (loop,). Refuses an axis that mixes the loop with others other than by a sum.
    """
    dim = list(block.binding_operands).index(loop.variable)
    result: list[tuple[AffineExpr, AffineExpr | None]] = []
    for expr in block.binding_exprs:
        terms, constant = linear_terms(expr)
        mine = {atom: factor for atom, factor in terms.items() if dim in atom.used_dims()}
        if any(len(atom.used_dims()) > 1 for atom in mine):
            refuse(f"an axis of {block_name(block)} is no sum of {loop_name(loop)} and other loops", block, loop)
        others = {atom: factor for atom, factor in terms.items() if atom not in mine}
        if not mine:
            result.append((expr, None))
            continue
        only = AffineDimExpr(0)
        renamed = [only if n == dim else AffineConstantExpr(0) for n in range(len(block.binding_operands))]
        result.append((from_terms(others, constant), from_terms(mine, 0).replace_dims_and_symbols(renamed, ())))
    return result


def _final_block(
    block: BlockOp, loop: ForOp, accumulator: Accumulator, partial: SSAValue, axis: int, extent: int
) -> BlockOp:
    """Makes the block that sums up the partial sums, after the nest of `block`. It takes over its name and init."""
    spatial = [number for number, kind in enumerate(block.kinds) if kind == "spatial"]
    body = axes_block(len(spatial) + 1)
    values: dict[SSAValue, SSAValue] = {
        block.axes[number]: argument for number, argument in zip(spatial, body.args[:-1], strict=True)
    }
    assert block.init is not None
    body.add_op(clone_located(block.init, values))
    names = [short_name(block.axes[number]) for number in spatial] + [loop.variable.name_hint]
    extents = [block.extents[number] for number in spatial] + [extent]
    kinds = ["spatial"] * len(spatial) + ["reduce"]
    loops = new_nest(names, extents, block)
    axes = [(kind, size, f"v{name}") for kind, size, name in zip(kinds, extents, names, strict=True)]
    update = accumulator.store.value.owner
    assert isinstance(update, Operation)
    anchor = arith.ConstantOp(IntegerAttr(0, IntegerType(1)))
    body.add_op(anchor)
    positions = [AffineConstantExpr(0)] * len(block.axes)
    for place_, number in enumerate(spatial):
        positions[number] = AffineDimExpr(place_)  # pyright: ignore[reportArgumentType, reportCallIssue]
    arguments = list(body.args[:-1])
    indices = [
        emit_affine(index.replace_dims_and_symbols(positions, ()), arguments, anchor) for index in accumulator.indices
    ]
    source = list(indices)
    source.insert(axis, body.args[-1])
    old = memref.LoadOp.get(accumulator.buffer, indices)
    part = memref.LoadOp.get(partial, source)
    combined = _combine(update, old.res, part.res)
    body.insert_ops_before([old, part, combined], anchor)
    body.insert_op_before(memref.StoreOp.get(combined.results[0], accumulator.buffer, indices), anchor)
    erase(anchor)
    final = bound_block(
        block.block_name.data,
        axes,
        [AffineDimExpr(number) for number in range(len(axes))],
        [each.variable for each in loops],
        body,
        block,
    )
    place(loops, final, InsertPoint.after(top_of(block)))
    return final


def _combine(update: Operation, old: SSAValue, part: SSAValue) -> Operation:
    """Makes the update of two numbers. For a multiply-add that is the addition."""
    if update.name == "math.fma":
        flags = update.properties.get("fastmath")
        return arith.AddfOp(old, part, flags=flags if isinstance(flags, arith.FastMathFlagsAttr) else None)
    values: dict[SSAValue, SSAValue] = dict(zip(update.operands, (old, part), strict=True))
    if update.operands[0] is update.operands[1]:
        values = {}
    copy = clone_op(update, values)
    copy.operands = [old, part]
    return copy


def _factor_block(
    block: BlockOp,
    loop: ForOp,
    rest: Sequence[tuple[AffineExpr, AffineExpr | None]],
    accumulator: Accumulator,
    partial: SSAValue,
    axis: int,
    identity: Attribute,
) -> None:
    """
    Has `block` sum up into the partial sums. The loop becomes a spatial axis of it, and the other parts of its axes
    reduce.
    """
    body, init = block.body.block, block.init
    assert init is not None
    first = init.next_op
    assert first is not None
    factored = body.insert_arg(body.args[0].type, len(body.args)) if body.args else None
    assert factored is not None
    factored.name_hint = f"v{loop.variable.name_hint or 'rf'}"
    extents = _extents_of_parts(block, rest)
    _add_parts(block, rest, factored, first)
    dim = list(block.binding_operands).index(loop.variable)
    rebind(
        block,
        [*(binding for binding, _ in rest), AffineDimExpr(dim)],
        list(block.binding_operands),
        block.constraints,
        [*block.kinds, "spatial"],
        [*extents, known_extent(loop)],
    )
    for op in [
        op for op in block.walk() if isinstance(op, memref.LoadOp | memref.StoreOp) and op.memref is accumulator.buffer
    ]:
        _redirect(op, partial, axis, factored, identity if init.is_ancestor(op) else None)
    block.refresh_regions()


def _extents_of_parts(block: BlockOp, rest: Sequence[tuple[AffineExpr, AffineExpr | None]]) -> list[Extent]:
    """Returns the extents of the axes of `block` without what the loop adds to them."""
    ranges = ranges_of(block.binding_operands)
    extents = list(block.extents)
    for number, (expr, added) in enumerate(rest):
        if added is not None:
            interval = bounds(expr, ranges)
            assert interval is not None
            extents[number] = interval[1] + 1
    return extents


def _add_parts(
    block: BlockOp,
    rest: Sequence[tuple[AffineExpr, AffineExpr | None]],
    factored: SSAValue,
    first: Operation,
) -> None:
    """Has the body, from `first` on, use the sum of an axis and what `factored` adds to it in the place of the axis."""
    for number, (_, added) in enumerate(rest):
        if added is None:
            continue
        argument = block.body.block.args[number]
        marker = arith.ConstantOp(IntegerAttr(0, argument.type))  # pyright: ignore
        Rewriter.insert_op(marker, InsertPoint.before(first))
        argument.replace_all_uses_with(marker.result)
        total = emit_affine(
            AffineDimExpr(0) + added.replace_dims_and_symbols([AffineDimExpr(1)], ()), [argument, factored], marker
        )
        marker.result.replace_all_uses_with(total)
        erase(marker)


def _redirect(
    op: memref.LoadOp | memref.StoreOp,
    partial: SSAValue,
    axis: int,
    factored: SSAValue,
    identity: Attribute | None,
) -> None:
    """Has an access of the accumulator access the partial sum. A store of the init stores the neutral element."""
    indices = list(op.indices)
    indices.insert(axis, factored)
    if isinstance(op, memref.LoadOp):
        new = memref.LoadOp.get(partial, indices)
        op.res.replace_all_uses_with(new.res)
    else:
        value = op.value
        if identity is not None:
            constant = arith.ConstantOp(identity)  # pyright: ignore[reportArgumentType]
            constant.location = op.location
            Rewriter.insert_op(constant, InsertPoint.before(op))
            value = constant.result
        new = memref.StoreOp.get(value, partial, indices)
    new.location = op.location
    Rewriter.insert_op(new, InsertPoint.before(op))
    erase(op)
