"""Primitives that make several loops of one, after each other: loop_partition, fission."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.access_regions import root_buffer
from ...analysis.loop_nests import body_ops
from ...analysis.reductions import ReductionNest, reduction_nest
from ...dialects.schedule.ops import FissionOp, LoopPartitionOp
from ...dialects.tensor_loop import BlockOp, ForOp, FuncOp
from ...dialects.tensor_loop.syntax import value_name
from .dependences import Dependences, shared_inits, touches
from .errors import refuse
from .nests import (
    block_name,
    blocks_of,
    check_only_bound,
    clone_located,
    erase,
    fresh_block_name,
    function_of,
    loop_name,
    loops_of,
    new_nest,
    substitute,
)
from .reshape import check_plain, known_extent
from .steps import Number, step


@step(LoopPartitionOp)
def loop_partition(loop: ForOp, points: Sequence[Number]) -> list[ForOp]:
    """
    Cuts the range of a loop into loops after each other, which are returned.

    Args:
        loop: A serial loop of known extent.
        points: Where to cut, in ascending order, inside the range.

    Legal where the variable is used in bindings only. If there is an init, two kinds of loop are refused: one that runs
    through reduce and spatial axes at once, and one that stands inside a reduce loop and sets the same elements in
    several iterations. Where the loop runs through reduce axes alone, the first part initialises for all. Predicates
    that always hold in a part are dropped.

    Before and after `loop_partition(%i, [96])`:

        for %i in 100 { block "b" (%vi = %i) }
        for %i in 96 { block "b" (%vi = %i) }  for %i in 4 { block "b_1" (%vi = %i + 96) }
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
    """Refuses where the init of a later part would undo the work of the first part."""
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
        if loop not in around:
            _check_inner_init(loop, block, nest)
            continue
        first = next((n for n, each in enumerate(around) if each.variable in nest.reduce), len(around))
        if around.index(loop) <= first:
            continue
        # The parts stand in a reduce loop together. Each runs its init in the first iteration of that, loop by loop.
        blame = shared_inits(block, [each for each in around[first:] if each.variable not in nest.reduce])
        if blame is not None:
            refuse(f"every part would run the init of {block_name(block)}: {blame.reason}", loop, block)


def _check_inner_init(loop: ForOp, block: BlockOp, nest: ReductionNest) -> None:
    """Refuses where the init of a block inside a block runs by more than the loops in there, which stay as they are."""
    if not nest.sees_its_reduce_loops:
        refuse(
            f"the reduce axes of {block_name(block)} depend on loops outside of the block around it",
            loop,
            block,
            hint="decompose_reduction first",
        )


def _part_name(function: FuncOp, block: BlockOp) -> str:
    """Returns a name that no other block has. The block itself, a copy, counts as one with the old name."""
    return fresh_block_name(function, block.block_name.data)


def _drop_init(loop: ForOp, part: ForOp, block: BlockOp) -> None:
    """Removes the init of a later part of a reduction: the first part has run it."""
    if block.init is not None and part.variable in reduction_nest(block).reduce:
        block.init.detach()
        block.refresh_regions()


@step(FissionOp)
def fission(loop: ForOp, block: BlockOp) -> ForOp:
    """
    Cuts the body of a loop after a block. What follows runs in a loop of its own, which is returned.

    Args:
        loop: A serial loop of known extent, without annotations. It keeps the first part.
        block: A block in the loop. The op of the body that holds it is the last one of the first part.

    Legal where no iteration needs what the other part does in another iteration. So the elements of each buffer that
    both parts touch, and one writes, must tell the iteration of the loop. What is allocated in the first part must not
    be used in the second.

    Before and after `fission(%i, "init")`:

        for %i in 4 { block "init" { S[vi] = 0 }  for %k in 8 { block "sum" { S[vi] += A[vi, vk] } } }
        for %i in 4 { block "init" { S[vi] = 0 } }  for %i in 4 { for %k in 8 { block "sum" { … } } }
    """
    extent = known_extent(loop)
    check_plain(loop)
    first, second = _parts_of_body(loop, block)
    _check_independent(loop, first, second)
    (new,) = new_nest([loop.variable.name_hint], [extent], loop)
    Rewriter.insert_op(new, InsertPoint.after(loop))
    last = new.body.block.last_op
    assert last is not None
    for op in second:
        op.detach()
        new.body.block.insert_op_before(op, last)
    loop.variable.replace_uses_with_if(new.variable, lambda use: new.is_ancestor(use.operation))
    return new


def _parts_of_body(loop: ForOp, block: BlockOp) -> tuple[list[Operation], list[Operation]]:
    """Returns the ops of the body up to the one that holds `block`, and those after it."""
    body = body_ops(loop.body.block)
    at = next((number for number, op in enumerate(body) if op.is_ancestor(block)), None)
    if at is None:
        refuse(f"{block_name(block)} is not in {loop_name(loop)}", loop, block)
    if at == len(body) - 1:
        refuse(f"nothing stands after {block_name(block)} in {loop_name(loop)}", loop, block)
    return body[: at + 1], body[at + 1 :]


def _check_independent(loop: ForOp, first: Sequence[Operation], second: Sequence[Operation]) -> None:
    """Refuses parts of a body of which one needs what the other does in another iteration."""
    dependences = Dependences(loop)
    if dependences.opaque is not None:
        refuse(f"{loop_name(loop)} cannot be cut in two: {dependences.opaque.reason}", loop, dependences.opaque.op)
    for op in first:
        users = [use.operation for result in op.results for use in result.uses]
        if any(each.is_ancestor(user) for each in second for user in users):
            refuse(f"{loop_name(loop)} cannot be cut in two: both parts use what it allocates", loop)
    touched = _touched(second)
    for buffer in [each for each in _touched(first) if each in touched]:
        blame = dependences.blame_of(loop, buffer)
        if blame is not None:
            reason = f"both parts touch {value_name(buffer)}, and {blame.reason}"
            refuse(f"{loop_name(loop)} cannot be cut in two: {reason}", loop, blame.op)


def _touched(ops: Sequence[Operation]) -> list[SSAValue]:
    """Returns the buffers that blocks in `ops` load or store, each once, in the order of the text."""
    found = [touch for op in ops for block in blocks_of(op) for touch in touches(block)]
    return list(dict.fromkeys(root_buffer(touch.buffer) for touch in found))
