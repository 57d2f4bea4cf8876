"""Fuses loops over the rows of one array. A row is finished while it is in the first-level cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.rewriter import Rewriter

from ...analysis.access_regions import root_buffer
from ...analysis.loop_nests import body_ops
from ...core.ir.walk import ops_of
from ...core.roles import ROWS
from ...dialects.tensor_loop import AllocOp, BlockOp, ForOp, FuncOp, LoopOp
from ...dialects.tensor_loop.loops import loop_body
from ...lazy_dataclass import dataclass
from ..kernels.given_tiling import refuse
from ..primitives.dependences import Touch, orderless, touches

MIN_ROW = 64
"""
The iterations per row from which a row is worth a loop of its own. Work that is done once per row is then no longer
done in vectors.
"""

Known = dict[ForOp, list[Touch]]
"""What loops touch, as long as nothing changes them."""


@dataclass(frozen=True)
class FusedRows:
    """A loop over rows, with what it has from each of the loops that it was made of, in order."""

    loop: ForOp
    parts: list[list[Operation]]


def fuse_rows(function: FuncOp) -> list[FusedRows]:
    """
    Fuses loops one after the other over the same rows, and returns the loops that are made of several.

    Before (softmax):

        tensor_loop.for %i in 128 { tensor_loop.for %k in 1024 vectorized { <max[i] of x[i, k]> } }
        tensor_loop.for %i in 128 { tensor_loop.for %j in 1024 vectorized { <out[i, j] from x[i, j], max[i]> } }

    After:

        tensor_loop.for %i in 128 {
          tensor_loop.for %k in 1024 vectorized { <max[i] of x[i, k]> }
          tensor_loop.for %j in 1024 vectorized { <out[i, j] from x[i, j], max[i]> } }

    Iteration %i of a later loop may only need what iteration %i of those before it wrote: every access to a buffer that
    one of them writes has %i itself as index in one and the same dimension. Only loads, stores and arithmetic move.

    A loop whose first block has `stepwell.rows` joins those before only inside as many loops as that number says.
    """
    return fuse_rows_in(function.body.block)


def fuse_rows_in(body: Block) -> list[FusedRows]:
    """Fuses the loops of one block as `fuse_rows` does, and returns those that are made of several."""
    found: list[FusedRows] = []
    pending = [(body, 0)]
    while pending:
        block, depth = pending.pop()
        for group in list(_groups(block, depth)):
            found.append(_fused(group))
            pending.append((found[-1].loop.body.block, depth + 1))
    return found


def _groups(block: Block, depth: int) -> Iterator[list[ForOp]]:
    """Yields the runs of two and more loops to fuse, in order. `depth` is the number of loops around them."""
    group: list[ForOp] = []
    known: Known = {}
    for op in body_ops(block):
        if isinstance(op, AllocOp):
            continue
        if isinstance(op, ForOp) and group and _is_asked(op, depth) and why_apart(group, op, known) is None:
            group.append(op)
            continue
        if len(group) > 1 and _has_rows(group):
            yield group
        group = [op] if isinstance(op, ForOp) else []
    if len(group) > 1 and _has_rows(group):
        yield group


def _is_asked(loop: ForOp, depth: int) -> bool:
    """Returns whether the first block of `loop` has no `stepwell.rows`, or shares more than `depth` loops by it."""
    found = next((block.attributes.get(ROWS) for block in ops_of(loop.body, BlockOp)), None)
    return not isinstance(found, IntegerAttr) or found.value.data > depth


def shared_loops(block: BlockOp, before: BlockOp) -> int:
    """Returns how many loops are around both blocks."""
    return len({id(loop) for loop in _around(block)} & {id(loop) for loop in _around(before)})


def check_rows(blocks: Sequence[BlockOp]) -> None:
    """
    Fails at a block of a function that does not share as many loops with the one before it as its `stepwell.rows` says.
    """
    before: BlockOp | None = None
    for block in blocks:
        found = block.attributes.get(ROWS)
        if found is not None:
            _check(block, found, before)
        before = block


def _check(block: BlockOp, found: Attribute, before: BlockOp | None) -> None:
    if not isinstance(found, IntegerAttr) or found.value.data < 0:
        refuse(block, found, "expected a number of loops, at least 0", ROWS)
    asked = found.value.data
    if asked and before is None:
        refuse(block, asked, "no block is before it", ROWS)
    if before is None or (shared := shared_loops(block, before)) >= asked:
        return
    mine, others = _around(block)[shared:], _around(before)[shared:]
    if not mine or not others:
        reason = f"only {shared} loops are around it and around"
    else:
        reason = why_apart([others[0]], mine[0]) or f"a row has less than {MIN_ROW} iterations here or in"
    refuse(block, asked, f'{reason} "{before.block_name.data}"', ROWS)


def _around(block: BlockOp) -> list[ForOp]:
    """Returns the loops around a block, outermost first."""
    found: list[ForOp] = []
    parent = block.parent_op()
    while isinstance(parent, ForOp):
        found.insert(0, parent)
        parent = parent.parent_op()
    return found


def _has_rows(group: Sequence[ForOp]) -> bool:
    """Returns whether one loop of the group has rows, and all that have are long enough."""
    sizes = [_row_size(loop) for loop in _over_rows(group)]
    return any(size > 1 for size in sizes) and all(size == 1 or size >= MIN_ROW for size in sizes)


def _over_rows(group: Sequence[ForOp]) -> list[ForOp]:
    """
    Returns the loops over rows, which are those of `group` or inside them, where all have the same loops: the first two
    of `%i in 8, %j in 6, %k in 384` and of `%i in 8, %j in 6`.
    """
    loops = list(group)
    while all(len(body_ops(loop.body.block)) == 1 for loop in loops):
        inner = [op for loop in loops for op in body_ops(loop.body.block) if isinstance(op, ForOp)]
        same = len(inner) == len(loops) and len({str(loop.extent) for loop in inner}) == 1
        if not same or not any(isinstance(op, ForOp) for loop in inner for op in body_ops(loop.body.block)):
            break
        loops = inner
    return loops


def _row_size(loop: ForOp) -> int:
    """
    Returns the most iterations of the loops inside one another in `loop`. It is 1 where there are none, and -1 where
    that is not known.
    """
    size = 1
    ops = body_ops(loop.body.block)
    inner = [op for op in ops if isinstance(op, LoopOp)]
    for nested in inner:
        product = 1
        for each in ops_of(nested, LoopOp):
            for extent in each.extents:
                if not isinstance(extent, int):
                    return -1
                product *= extent
        size = max(size, product)
    return size


def _is_candidate(loop: ForOp) -> bool:
    """Returns whether `loop` may be in a group, because its blocks only compute, load and store."""
    if not isinstance(loop.extent, int) or loop.kind_name not in ("serial", "vectorized"):
        return False
    if any(orderless(block) is not None for block in ops_of(loop.body, BlockOp)):
        return False
    return all(isinstance(op, LoopOp | BlockOp | AllocOp) for op in _around_blocks(loop))


def _around_blocks(loop: ForOp) -> Iterator[Operation]:
    """Yields the ops in `loop` that are in no block, loops and blocks among them."""
    pending: list[LoopOp] = [loop]
    while pending:
        for op in body_ops(pending.pop().body.block):
            yield op
            if isinstance(op, LoopOp):
                pending.append(op)


def why_apart(group: Sequence[ForOp], loop: ForOp, known: Known | None = None) -> str | None:
    """
    Returns why `loop` may not run its iteration %i right after that of the loops of `group`, `None` where it may. The
    text ends before the name of a block of `group`. `known` keeps what loops touch for the next call.
    """
    known = {} if known is None else known
    if loop.extent != group[0].extent:
        return "its outermost loop has another number of iterations than that of"
    if not _is_candidate(loop) or (len(group) == 1 and not _is_candidate(group[0])):
        return "something else than loads, stores and arithmetic is in its loops or in those of"
    before = [(each.variable, touch) for each in group for touch in _touches(each, known)]
    after = [(loop.variable, touch) for touch in _touches(loop, known)]
    shared = {touch.buffer for _, touch in before} & {touch.buffer for _, touch in after}
    written = {touch.buffer for _, touch in (*before, *after) if touch.is_store}
    if any(root_buffer(touch.buffer) is not touch.buffer for _, touch in (*before, *after)):
        return "a view of a buffer is touched by it or by"
    if loop.extent == 1:
        return "it touches nothing that is written by" if shared.isdisjoint(written) else None
    rows: dict[SSAValue, set[int]] = {}
    for variable, touch in (*before, *after):
        if touch.buffer in shared and touch.buffer in written:
            found = _row_dimensions(touch, variable)
            rows[touch.buffer] = rows.get(touch.buffer, found) & found
    if not rows:
        return "it touches nothing that is written by"
    return None if all(rows.values()) else "it needs other rows than the one that is just written by"


def _touches(loop: ForOp, known: Known) -> list[Touch]:
    """Returns what the blocks of a loop touch. A group is compared with each loop after it, so `known` keeps this."""
    if loop not in known:
        known[loop] = [touch for block in ops_of(loop.body, BlockOp) for touch in touches(block)]
    return known[loop]


def _row_dimensions(touch: Touch, variable: SSAValue) -> set[int]:
    """Returns the dimensions of the buffer in which the index is `variable` itself."""
    operands = touch.block.binding_operands
    return {
        dimension
        for dimension, (low, size) in enumerate(zip(touch.lows, touch.sizes, strict=True))
        if isinstance(low, AffineDimExpr) and operands[low.position] is variable and size == 1
    }


def _fused(group: Sequence[ForOp]) -> FusedRows:
    """Makes one loop in place of the last of `group`, with the bodies of all of them."""
    last = group[-1]
    assert isinstance(last.extent, int)
    region = loop_body([group[0].variable.name_hint])
    block = region.block
    parts = [body_ops(loop.body.block) for loop in group]
    for loop, part in zip(group, parts, strict=True):
        loop.variable.replace_all_uses_with(block.args[0])
        for op in part:
            op.detach()
            block.add_op(op)
    fused = ForOp(last.extent, region)
    fused.location = group[0].location
    for loop in group:
        fused.attributes.update(loop.attributes)
    for loop in group[:-1]:
        loop.detach()
        loop.erase()
    Rewriter.replace_op(last, fused)
    return FusedRows(fused, parts)
