"""Primitives that change the loops around blocks: split, fuse, reorder, loop_partition, add_unit_loop."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.loop_nests import body_ops
from ...analysis.reductions import reduction_nest
from ...dialects.tensor_loop import BlockOp, ForOp, LoopOp, YieldOp
from .affine import FLOOR, MOD
from .dependences import Dependences, before_reduction, only_reduces, shared_inits
from .errors import refuse
from .nests import (
    block_name,
    blocks_of,
    check_only_bound,
    clone_located,
    erase,
    fresh_block_name,
    function_of,
    insert_first,
    loop_name,
    loops_of,
    move_body,
    new_nest,
    perfect_chain,
    replace_loop,
    substitute,
)


def known_extent(loop: ForOp) -> int:
    """The number of iterations; refuses where it is not known."""
    if not isinstance(loop.extent, int):
        refuse(f"the extent of {loop_name(loop)} is not known before the program runs", loop)
    return loop.extent


def check_plain(loop: ForOp) -> None:
    """Refuses a loop that has a kind or annotations, which would be lost."""
    if loop.kind_name != "serial":
        refuse(f"{loop_name(loop)} is {loop.kind_name}, expected a serial loop", loop)
    if loop.attributes:
        names = ", ".join(loop.attributes)
        refuse(f"{loop_name(loop)} is annotated with {names}, expected no annotation", loop)


def split(loop: ForOp, factors: Sequence[int | None], balanced: bool = False) -> list[ForOp]:
    """
    Replaces a loop by a nest of loops; the factors are their extents, outermost first, at most one of them `None`: as large as needed.

        for %i in 100 { block (%vi = %i) }                                      split(%i, [None, 8])
        for %i0 in 13 { for %i1 in 8 { block (%vi = %i0 * 8 + %i1) where (%i0 * 8 + %i1 < 100) } }

    `balanced` makes the loops inside the inferred one as short as the number of its iterations allows (8 above stays 8, as 100 / 13
    rounded up). Legal where the variable is used in bindings of blocks only, and where the split is not exact by all
    blocks in the loop; the order of iterations stays.
    """
    extent = known_extent(loop)
    check_plain(loop)
    blocks = check_only_bound(loop)
    extents = _extents(loop, extent, factors, balanced)
    if prod(extents) != extent:
        _check_all_bound(loop, blocks, prod(extents))
    name = loop.variable.name_hint
    names = [None if name is None else f"{name}{number}" for number in range(len(extents))]
    nest = new_nest(names, extents, loop)
    strides = [prod(extents[number + 1 :]) for number in range(len(extents))]
    expr: AffineExpr = AffineExpr.constant(0)
    for number, stride in enumerate(strides):
        expr = expr + AffineDimExpr(number) * stride
    values = [each.variable for each in nest]
    more = [] if prod(extents) == extent else [((expr, values), extent)]
    move_body(loop, nest[-1])
    _insert_before(loop, nest[0])
    for block in blocks:
        substitute(block, {loop.variable: (expr, values)}, more)
    _require_unused(loop)
    erase(loop)
    return nest


def _insert_before(loop: ForOp, new: Operation) -> None:
    Rewriter.insert_op(new, InsertPoint.before(loop))


def _require_unused(loop: ForOp) -> None:
    assert loop.variable.first_use is None


def _check_all_bound(loop: ForOp, bound: Sequence[BlockOp], runs: int) -> None:
    """Refuses where something in the loop would run once per iteration that a predicate is to leave out."""
    for op in loop.body.walk():
        if op in bound or any(block.is_ancestor(op) for block in bound) or isinstance(op, LoopOp | YieldOp):
            continue
        refuse(f"'{op.name}' in {loop_name(loop)} does not depend on it and would run {runs} times", loop, op)


def _extents(loop: ForOp, extent: int, factors: Sequence[int | None], balanced: bool) -> list[int]:
    given = [factor for factor in factors if factor is not None]
    if not factors:
        refuse(f"no factors for {loop_name(loop)}, expected at least one", loop)
    if len(given) + 1 < len(factors):
        refuse(
            f"{len(factors) - len(given)} factors of {loop_name(loop)} are to be inferred, expected one at most",
            loop,
        )
    for factor in given:
        if factor < 1:
            refuse(f"factor {factor} of {loop_name(loop)}, expected a positive number", loop)
    if len(given) == len(factors):
        if prod(given) < extent:
            refuse(
                f"the factors of {loop_name(loop)} make {prod(given)} iterations, expected at least its {extent}",
                loop,
            )
        if balanced:
            refuse(f"a balanced split of {loop_name(loop)} needs a factor to infer", loop)
        return given
    inferred = max(1, ceil(extent / prod(given)))
    if balanced:
        *outer, last = given or [1]
        last = max(1, ceil(extent / (inferred * prod(outer))))
        given = [*outer, last] if given else []
    sizes = iter(given)
    return [inferred if factor is None else next(sizes) for factor in factors]


def fuse(loops: Sequence[ForOp]) -> ForOp:
    """
    Replaces loops directly inside each other by one.

        for %i in 4 { for %j in 6 { block (%vi = %i, %vj = %j) } }              fuse(%i, %j)
        for %ij in 24 { block (%vi = %ij floordiv 6, %vj = %ij mod 6) }

    Legal where each loop is the only op in the one before and the variables are used in bindings only; the order of iterations stays.
    Where spatial and reduce loops become one, which runs inits before it, each iteration of the spatial ones must set its own elements.
    """
    if len(loops) < 2:
        refuse("one loop to fuse, expected at least two", *loops)
    for outer, inner in zip(loops, loops[1:], strict=False):
        if body_ops(outer.body.block) != [inner]:
            refuse(
                f"{loop_name(inner)} is not the only op in {loop_name(outer)}, so the two cannot be fused",
                outer,
                inner,
            )
    extents = [known_extent(loop) for loop in loops]
    for loop in loops:
        check_plain(loop)
        check_only_bound(loop)
    _check_inits_before(loops, extents)
    names = [loop.variable.name_hint for loop in loops]
    name = "".join(each for each in names if each) or None
    (fused,) = new_nest([name], [prod(extents)], loops[0])
    bound: dict[SSAValue, tuple[AffineExpr, Sequence[SSAValue]]] = {}
    for number, loop in enumerate(loops):
        inner = prod(extents[number + 1 :])
        expr: AffineExpr = AffineDimExpr(0)
        if inner != 1:
            expr = AffineExpr.binary(FLOOR, expr, AffineExpr.constant(inner)) if inner else AffineExpr.constant(0)
        if number and extents[number]:
            expr = AffineExpr.binary(MOD, expr, AffineExpr.constant(extents[number]))
        bound[loop.variable] = (expr, [fused.variable])
    move_body(loops[-1], fused)
    blocks = blocks_of(fused)
    for block in blocks:
        substitute(block, bound)
    replace_loop(loops[0], fused)
    return fused


def _check_inits_before(loops: Sequence[ForOp], extents: Sequence[int]) -> None:
    """Refuses loops of which outer ones start the reduction anew that inner ones do: together they would start it once."""
    for block in blocks_of(loops[-1]):
        outer = before_reduction(block, loops) if block.init is not None else []
        if outer and 0 in extents:
            refuse("a loop has no iterations: the init in the others would not run", *loops, block)
        blame = shared_inits(block, outer)
        if blame is not None:
            refuse(f"the init of {block_name(block)} would run once for all: {blame.reason}", *loops, block)


def reorder(loops: Sequence[ForOp]) -> list[ForOp]:
    """
    Puts loops of one perfect nest into the given order; loops between them that are not named stay where they are.

        for %i in 4 { for %k in 8 { for %j in 6 { B } } }                       reorder(%j, %i)
        for %j in 6 { for %k in 8 { for %i in 4 { B } } }

    Legal where loops whose iterations depend on each other keep their order; the reduce loops of one block may be permuted where its
    updates may be regrouped.
    """
    if len(set(loops)) != len(loops):
        refuse("a loop is named twice", *loops)
    by_depth = sorted(loops, key=_depth)
    chain = perfect_chain(by_depth[0], by_depth[-1])
    if chain is None or any(loop not in chain for loop in loops):
        refuse("the loops are not one perfect nest: each must be the only op in the one around it", *by_depth)
    places = iter(loops)
    order = [next(places) if loop in loops else loop for loop in chain]
    if order == chain:
        return list(loops)
    _check_extents(chain)
    _check_order(chain, order)
    _permute(chain, order)
    return list(loops)


def _depth(loop: ForOp) -> int:
    depth, parent = 0, loop.parent_op()
    while parent is not None:
        depth, parent = depth + 1, parent.parent_op()
    return depth


def _check_extents(chain: Sequence[ForOp]) -> None:
    for loop in chain:
        for extent in loop.dynamic_extents:
            owner = extent.owner
            inside = owner if isinstance(owner, Operation) else owner.parent_op()
            if inside is not None and chain[0].is_ancestor(inside):
                refuse(f"the extent of {loop_name(loop)} is computed in the nest", loop)


def _check_order(chain: Sequence[ForOp], order: Sequence[ForOp]) -> None:
    dependences = Dependences(chain[0])
    blames = {loop: dependences.blame(loop) for loop in chain}
    if dependences.opaque is not None:
        refuse(f"the loops cannot be reordered: {dependences.opaque.reason}", *chain, dependences.opaque.op)
    dependent = [loop for loop in chain if blames[loop] is not None]
    if [loop for loop in order if loop in dependent] == dependent:
        return
    content = body_ops(chain[-1].body.block)
    first = blames[dependent[0]]
    assert first is not None
    while len(content) == 1 and isinstance(content[0], ForOp):
        content = body_ops(content[0].body.block)
    if len(content) == 1 and isinstance(content[0], BlockOp):
        first = only_reduces(content[0], dependent)
        if first is None:
            return
    names = " and ".join(loop_name(loop) for loop in dependent)
    refuse(f"{names} must keep their order: {first.reason}", *dependent, first.op)


def _permute(chain: Sequence[ForOp], order: Sequence[ForOp]) -> None:
    parent, following = chain[0].parent_block(), chain[0].next_op
    assert parent is not None and following is not None
    content = body_ops(chain[-1].body.block)
    for op in (*chain, *content):
        op.detach()
    parent.insert_op_before(order[0], following)
    for outer, inner in zip(order, order[1:], strict=False):
        insert_first(inner, outer)
    terminator = order[-1].body.block.last_op
    assert terminator is not None
    order[-1].body.block.insert_ops_before(content, terminator)


def loop_partition(loop: ForOp, points: Sequence[int]) -> list[ForOp]:
    """
    Cuts the range of a loop at `points` into loops after each other.

        for %i in 100 { block "b" (%vi = %i) }                                  loop_partition(%i, [96])
        for %i in 96 { block "b" (%vi = %i) }  for %i in 4 { block "b_1" (%vi = %i + 96) }

    The order of iterations stays; predicates that always hold in a part are dropped. Legal where the variable is used in bindings
    only. Where the loop runs through reduce axes alone the first part initialises for all; a loop of reduce and spatial axes at once,
    or one inside a reduce loop with iterations in it that set the same elements, is refused if there is an init.
    """
    extent = known_extent(loop)
    check_plain(loop)
    check_only_bound(loop)
    if not points or sorted(set(points)) != list(points) or points[0] <= 0 or points[-1] >= extent:
        refuse(f"points {list(points)} do not cut 0 … {extent} in ascending order", loop)
    _check_inits_of_parts(loop)
    edges = [0, *points, extent]
    parts: list[ForOp] = []
    function = function_of(loop)
    for number, (low, high) in enumerate(zip(edges, edges[1:], strict=False)):
        (part,) = new_nest([loop.variable.name_hint], [high - low], loop)
        last = part.body.block.last_op
        assert last is not None
        values: dict[SSAValue, SSAValue] = {loop.variable: part.variable}
        for op in body_ops(loop.body.block):
            part.body.block.insert_op_before(clone_located(op, values), last)
        Rewriter.insert_op(part, InsertPoint.before(loop))
        for block in blocks_of(part):
            if number:
                block.block_name = StringAttr(_part_name(function, block))
                _drop_init(loop, part, block)
            substitute(block, {part.variable: (AffineDimExpr(0) + low, [part.variable])})
        parts.append(part)
    erase(loop)
    return parts


def _check_inits_of_parts(loop: ForOp) -> None:
    """Refuses where the init of a later part would undo what the first part has done."""
    for block in blocks_of(loop):
        if block.init is None:
            continue
        nest = reduction_nest(block)
        if loop.variable in nest.spatial & nest.reduce:
            refuse(
                f"{loop_name(loop)} runs through reduce and spatial axes of {block_name(block)} at once",
                loop,
                block,
                hint="decompose_reduction first",
            )
        around = loops_of(block)
        first = next((n for n, each in enumerate(around) if each.variable in nest.reduce), len(around))
        if around.index(loop) <= first:
            continue
        # The parts stand in a reduce loop together: each runs its init in the first iteration of that, loop by loop.
        blame = shared_inits(block, [each for each in around[first:] if each.variable not in nest.reduce])
        if blame is not None:
            refuse(f"every part would run the init of {block_name(block)}: {blame.reason}", loop, block)


def _part_name(function: Operation, block: BlockOp) -> str:
    """A name that no other block has; the block itself, a copy, counts as one with the old name."""
    from ...dialects.tensor_loop import FuncOp

    assert isinstance(function, FuncOp)
    return fresh_block_name(function, block.block_name.data)


def _drop_init(loop: ForOp, part: ForOp, block: BlockOp) -> None:
    """Removes the init of a later part of a reduction: the first part has run it."""
    if block.init is not None and part.variable in reduction_nest(block).reduce:
        block.init.detach()
        block.refresh_regions()


def add_unit_loop(target: Operation) -> ForOp:
    """
    Puts a loop of one iteration around a loop or block.

        block "b" { … }                                                         add_unit_loop("b")
        for %u in 1 { block "b" { … } }
    """
    (loop,) = new_nest(["u"], [1], target)
    Rewriter.insert_op(loop, InsertPoint.before(target))
    target.detach()
    insert_first(target, loop)
    return loop
