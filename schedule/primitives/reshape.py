"""Primitives that change the loops around blocks: split, fuse, reorder, add_unit_loop."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.loop_nests import body_ops
from ...analysis.reductions import reduction_nest
from ...dialects.schedule.ops import AddUnitLoopOp, FuseOp, ReorderOp, SplitOp
from ...dialects.tensor_loop import BlockOp, ForOp, LoopOp, YieldOp
from .affine import FLOOR, MOD
from .dependences import Dependences, before_reduction, only_reduces, shared_inits
from .errors import refuse
from .nests import (
    block_name,
    blocks_of,
    check_only_bound,
    erase,
    insert_first,
    loop_name,
    move_body,
    new_nest,
    perfect_chain,
    replace_loop,
    substitute,
)
from .steps import Number, step


def known_extent(loop: ForOp) -> int:
    """Returns the number of iterations, and refuses where it is not known."""
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


@step(SplitOp)
def split(loop: ForOp, factors: Sequence[Number | None], balanced: bool = False) -> list[ForOp]:
    """
    Replaces a loop by a nest of loops, which are returned, outermost first.

    Args:
        loop: A serial loop of known extent, without annotations.
        factors: The extents of the new loops, outermost first. One of them may be `None`: it becomes as large as
            needed.
        balanced: Makes the loops inside the inferred one as short as the number of its iterations allows.

    Legal where the variable of the loop is used in bindings of blocks only. A split that is not exact adds a predicate,
    and needs every op in the loop to stand in a block that is bound. The order of iterations stays.

    Before and after `split(%i, [None, 8])`:

        for %i in 100 { block (%vi = %i) }
        for %i0 in 13 { for %i1 in 8 { block (%vi = %i0 * 8 + %i1) where (%i0 * 8 + %i1 < 100) } }
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
            f"{len(factors) - len(given)} factors of {loop_name(loop)} are to be inferred, expected one at most", loop
        )
    for factor in given:
        if factor < 1:
            refuse(f"factor {factor} of {loop_name(loop)}, expected a positive number", loop)
    if len(given) == len(factors):
        if prod(given) < extent:
            refuse(
                f"the factors of {loop_name(loop)} make {prod(given)} iterations, expected at least its {extent}", loop
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


@step(FuseOp)
def fuse(*loops: ForOp) -> ForOp:
    """
    Replaces loops that stand directly inside each other by one loop.

    Args:
        loops: Two or more serial loops of known extents, outermost first.

    Legal where each loop is the only op in the one before and the variables are used in bindings only. The order of
    iterations stays. Spatial and reduce loops that become one run their inits before it, so each iteration of the
    spatial ones must set its own elements.

    Before and after `fuse(%i, %j)`:

        for %i in 4 { for %j in 6 { block (%vi = %i, %vj = %j) } }
        for %ij in 24 { block (%vi = %ij floordiv 6, %vj = %ij mod 6) }
    """
    if len(loops) < 2:
        refuse("one loop to fuse, expected at least two", *loops)
    for outer, inner in zip(loops, loops[1:], strict=False):
        if body_ops(outer.body.block) != [inner]:
            refuse(
                f"{loop_name(inner)} is not the only op in {loop_name(outer)}, so the two cannot be fused", outer, inner
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
    """
    Refuses loops of which an outer one restarts the reduction that an inner one runs. Together they would start it only
    once.
    """
    for block in blocks_of(loops[-1]):
        outer = before_reduction(block, loops) if block.init is not None else []
        if outer and 0 in extents:
            refuse("a loop has no iterations: the init in the others would not run", *loops, block)
        blame = shared_inits(block, outer)
        if blame is not None:
            refuse(f"the init of {block_name(block)} would run once for all: {blame.reason}", *loops, block)
        _check_init_has_loop(block, loops, extents)


def _check_init_has_loop(block: BlockOp, loops: Sequence[ForOp], extents: Sequence[int]) -> None:
    """
    Refuses loops that are all the reduce loops of a block and have one iteration, where the block has a condition. It
    would have no reduce loop any more, and its init would stand under that condition.
    """
    reduce = set(reduction_nest(block).reduce)
    inside = {loop.variable for loop, extent in zip(loops, extents, strict=True) if extent == 1}
    if block.init is not None and block.constraints and reduce and reduce <= inside:
        name = block_name(block)
        refuse(f"no reduce loop would be left of {name}, whose init would run under its condition", *loops, block)


@step(ReorderOp)
def reorder(*loops: ForOp) -> None:
    """
    Puts loops of one perfect nest into another order.

    Args:
        loops: Two or more loops in the order that they are to have. Loops between them that are not named stay in
            place.

    Legal where loops whose iterations depend on each other keep their order. The reduce loops of one block may be
    permuted where its updates may be regrouped.

    Before and after `reorder(%j, %i)`:

        for %i in 4 { for %k in 8 { for %j in 6 { B } } }
        for %j in 6 { for %k in 8 { for %i in 4 { B } } }
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
        return
    _check_extents(chain)
    _check_order(chain, order)
    _permute(chain, order)


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


@step(AddUnitLoopOp)
def add_unit_loop(target: ForOp | BlockOp) -> ForOp:
    """
    Puts a loop of one iteration around a loop or block.

    Args:
        target: What the new loop holds.

    Legal always.

    Before and after `add_unit_loop("b")`:

        block "b" { B }
        for %u in 1 { block "b" { B } }
    """
    (loop,) = new_nest(["u"], [1], target)
    Rewriter.insert_op(loop, InsertPoint.before(target))
    target.detach()
    insert_first(target, loop)
    return loop
