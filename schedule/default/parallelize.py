"""Marks loops of a scheduled function that run on several threads."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Block, Operation

from ...analysis.loop_nests import body_ops
from ...analysis.work import CHUNKS, WORTH_SHARING, chunk_of, grain_of, nanoseconds, nanoseconds_of_iteration
from ...core.ir.answers import kept_answers
from ...core.ir.walk import ops_of
from ...core.messages.diagnostics import fail
from ...core.roles import GRAIN, SHARE
from ...dialects.tensor_loop import BlockOp, ForOp, FuncOp, LoopOp
from ..primitives.cut import loop_partition
from ..primitives.dependences import Dependences, KnownBlocks
from ..primitives.nests import function_of
from ..primitives.reshape import known_extent, split

ENOUGH = 8
"""The number of iterations that share well among a few threads. With fewer, loops inside are looked at first."""

LEAST_INSIDE = 100.0
"""The nanoseconds of an iteration from which on it does not matter that its number is divided to get the variables."""

VECTORS = 64
"""The chunks of a loop of vectors are a multiple of that many iterations."""


def lift_grains(root: Operation) -> None:
    """
    Moves `stepwell.grain` of blocks, which are taken apart from here on, to their functions. Fails at one that is no
    number of nanoseconds.

    Before (annotated by a schedule):

        tensor_loop.func @f(...) { ... tensor_loop.block "mm" ... attributes {stepwell.grain = 40000 : i64} { ... } }

    After:

        tensor_loop.func @f(...) attributes {stepwell.grain = 40000 : i64} { ... tensor_loop.block "mm" ... { ... } }
    """
    for op in ops_of(root, BlockOp):
        if (grain := op.attributes.get(GRAIN)) is not None:
            if not isinstance(grain, IntegerAttr) or grain.value.data < 1:
                fail(op, f"'{GRAIN}' is {grain}, expected a positive number of nanoseconds")
            function_of(op).attributes[GRAIN] = grain
            del op.attributes[GRAIN]


def parallelize(function: FuncOp) -> int:
    """
    Marks the outermost loops that may share their work, and returns how many.

    Before, the work worth it (`analysis.work`), the iterations of %i independent:

        tensor_loop.for %i in 512 { tensor_loop.for %j in 1024 vectorized { <exp> } }

    After:

        tensor_loop.for %i in 512 parallel { tensor_loop.for %j in 1024 vectorized { <exp> } }

    A loop that is `vectorized` itself is split in two first. Where a loop has few iterations, the loops that stand
    directly inside it are marked with it, and `outline-parallel-loops` makes one of them. So threads meet once and end
    together. Where that cannot be, loops inside it are taken if they are worth it. A function that has parallel loops
    already has been scheduled, and stays. `stepwell.share` of a block says from how much work on the loops around it
    are shared.
    """
    if any(op.kind_name == "parallel" for op in ops_of(function, ForOp)):
        return 0
    with kept_answers():
        return _inside(function.body.block, KnownBlocks())


def _inside(block: Block, known: KnownBlocks) -> int:
    """Marks loops in `block`. Blocks that are `known` stay as they are until the loop around them is marked."""
    count = 0
    for op in body_ops(block):
        if isinstance(op, LoopOp) and _is_worth(op):
            count += _loop(op, known)
    return count


def _is_worth(op: LoopOp) -> bool:
    """
    Returns whether a loop takes at least as long as the `stepwell.share` of each block inside says. One that says 0
    keeps all loops around it to one thread.
    """
    found = [block.attributes[SHARE] for block in ops_of(op, BlockOp) if SHARE in block.attributes]
    numbers = [share.value.data for share in found if isinstance(share, IntegerAttr)]
    return 0 not in numbers and nanoseconds(op) >= max(numbers, default=WORTH_SHARING)


def check_share(blocks: Iterable[BlockOp]) -> None:
    """Fails at a block whose `stepwell.share` is no number of nanoseconds."""
    for block in blocks:
        found = block.attributes.get(SHARE)
        if found is not None and (not isinstance(found, IntegerAttr) or found.value.data < 0):
            fail(block, f"'{SHARE}' is {found}, expected a number of nanoseconds, 0 for one thread")


def _loop(op: LoopOp, known: KnownBlocks) -> int:
    """Marks `op` or the loops inside it."""
    if not isinstance(op, ForOp) or not isinstance(op.extent, int):
        return _inside(op.body.block, known)
    nest = _nest(op, known)
    if nest and prod(known_extent(loop) for loop in nest) >= ENOUGH:
        for loop in nest[1:]:
            loop.kind = StringAttr("parallel")
        return _mark(op)
    if op.extent < ENOUGH and (count := _inside(op.body.block, known)):
        return count
    if op.extent > 1 and op.kind_name != "unrolled" and Dependences(op, known).blame(op) is None:
        return _mark(op)
    return _inside(op.body.block, known) if op.extent >= ENOUGH else 0


def _nest(op: ForOp, known: KnownBlocks) -> list[ForOp]:
    """
    Returns `op` and loops that stand directly inside each other in it, until there are `CHUNKS` iterations of all
    together. They all are serial and have independent iterations. It is empty where that is not so for `op`.
    """
    nest: list[ForOp] = []
    inside: list[Operation] = [op]
    while len(inside) == 1 and isinstance(loop := inside[0], ForOp) and loop.kind_name == "serial":
        if not isinstance(loop.extent, int) or loop.extent < 1 or Dependences(loop, known).blame(loop) is not None:
            break
        if nest and nanoseconds_of_iteration(loop) < LEAST_INSIDE:
            break
        nest.append(loop)
        if prod(known_extent(each) for each in nest) >= CHUNKS:
            break
        inside = body_ops(loop.body.block)
    return nest


def _mark(loop: ForOp) -> int:
    if loop.kind_name == "vectorized":
        outer = _split_vectors(loop)
        if outer is None:
            return 0
        loop = outer
    loop.kind = StringAttr("parallel")
    return 1


def _split_vectors(loop: ForOp) -> ForOp | None:
    """
    Cuts a loop of vectors into chunks, with the rest behind them. Returns the loop over the chunks, or `None` without
    two of them.
    """
    extent = loop.extent
    assert isinstance(extent, int)
    each = nanoseconds_of_iteration(loop)
    size = chunk_of(extent, each, grain_of(function_of(loop), extent * each))
    size = -(-size // VECTORS) * VECTORS
    count = extent // size
    if count < 2:
        return None
    kind = loop.kind
    loop.kind = None
    main = loop
    if count * size < extent:
        main, rest = loop_partition(loop, [count * size])
        rest.kind = kind
    outer, inner = split(main, [count, size])
    inner.kind = kind
    return outer
