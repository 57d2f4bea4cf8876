"""The order of the loops of a grid for a CPU: the innermost loop walks through memory."""

from __future__ import annotations

from xdsl.dialects.builtin import f64
from xdsl.ir import Block, Region
from xdsl.rewriter import Rewriter

from ...analysis.access_regions import Access, body_accesses, is_inside, stride_along
from ...analysis.loop_nests import Level, axis_dependencies, levels_of, perfect_block
from ...analysis.reductions import accumulators
from ...analysis.reorder import is_reassociable, may_reorder
from ...core.ir.walk import ops_of, walk
from ...dialects.schedule import OrderAttr
from ...dialects.tensor_loop import BlockOp, Extent, ForOp, GridOp
from ...dialects.tensor_loop.loops import loop_body
from ...lazy_dataclass import dataclass
from ..kernels.given_tiling import refuse
from .several_rows import several_at_once

MIN_VECTOR_EXTENT = 4
"""
The least extent of a loop of vectors. Four lanes is the narrowest register (SSE2, f32), so shorter loops are not worth
a vector.
"""


INSTRUCTIONS = frozenset(
    f"math.{name}" for name in ("absf", "ceil", "copysign", "floor", "fma", "roundeven", "sqrt", "trunc")
)
"""The math ops that are instructions on f64 too."""

EXPANDED = frozenset(
    f"math.{name}" for name in ("cos", "exp", "exp2", "expm1", "log", "log10", "log2", "sin", "tan", "tanh")
)
"""The math ops on f64 that `expand-math` expands. The others call libm there."""

_IN_VECTORS = INSTRUCTIONS | EXPANDED
_FUNCTIONS = ("math.", "llvm.frem")


@dataclass(frozen=True)
class LoopOrder:
    """The levels of a grid as they should be nested, outermost first."""

    levels: tuple[Level, ...]
    vectorized: bool
    """True where the innermost loop should run several iterations at a time."""
    reason: str = ""
    """The reason why it should, or why not."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """Returns the numbers of the loops in the grid, outermost first."""
        return tuple(level.position for level in self.levels)


@dataclass(frozen=True)
class _Walk:
    """The moves of the accesses of a block when one loop advances and the others stand still."""

    level: Level
    strides: tuple[int | None, ...]
    """The moves in elements, one per distinct access."""
    stores: tuple[int | None, ...]
    """The moves of the stores."""

    @property
    def cost(self) -> tuple[int, int, bool, int]:
        """
        Returns a key that is smaller for loops that are better innermost.

        It counts accesses that jump, then those that do not stream, stores first, and then the old place.
        """
        jumps = sum(1 for stride in self.strides if stride not in (-1, 0, 1))
        streams = sum(1 for stride in self.strides if stride in (-1, 1))
        stores_stream = any(stride in (-1, 1) for stride in self.stores)
        return jumps, -streams, not stores_stream, -self.level.position

    @property
    def contiguous(self) -> bool:
        return all(stride in (0, 1) for stride in self.strides)


def choose_order(grid: GridOp) -> LoopOrder | None:
    """
    Returns the order for `grid`, or `None` where it must stay as it is.

    It must when it is not a perfect nest around one block, or when the iterations of the block may not be reordered.

    Spatial loops go outside, those of one iteration first, so that the others of several grids meet. Then come reduce
    loops in their order, and the loop with the fewest jumps in memory.
    """
    levels = levels_of(grid)
    block = perfect_block(levels)
    if block is None or not levels or not may_reorder(block):
        return None
    reduce_variables = axis_dependencies(block, "reduce")
    reduces = [level for level in levels if level.variable in reduce_variables]
    spatial = [level for level in levels if level.variable not in reduce_variables]
    walks = [_walk(block, level) for level in levels if level.extent not in (0, 1)]
    walks = [walk for walk in walks if walk.level not in reduces[:-1] or _order_is_free(block)]
    if not walks:
        return LoopOrder(levels, False, "no loop has several iterations")
    best = min(walks, key=lambda walk: walk.cost)
    inner = best.level
    spatial.sort(key=lambda level: level.extent != 1)
    order = [level for level in (*spatial, *reduces) if level != inner]
    against = reason_against_vectors(block, best, inner in reduces)
    if against is None and isinstance(inner.extent, int) and inner.extent < MIN_VECTOR_EXTENT:
        against = f"{level_name(inner)} has {inner.extent} iterations, vectors pay from {MIN_VECTOR_EXTENT} on"
    return LoopOrder((*order, inner), against is None, against or f"{level_name(inner)} walks along memory")


def why_left_alone(grid: GridOp) -> str:
    """Returns why `choose_order` leaves a grid as it is."""
    levels = levels_of(grid)
    block = perfect_block(levels)
    if block is None or not levels:
        return "it is no perfect nest around one block"
    return "its iterations must keep their order"


def reordered(grid: GridOp, given: OrderAttr) -> LoopOrder:
    """
    Returns the order of the loops of `grid` that its block asks for. Fails at the block where it does not fit.

    Loops of a sum keep their order unless it may be regrouped. Vectors need elements that are next to each other.
    """
    levels = levels_of(grid)
    block = perfect_block(levels)
    if block is None or not may_reorder(block):
        refuse(block or _first_block(grid), given, why_left_alone(grid))
    if len(given.numbers) != len(levels):
        refuse(block, given, f"the grid has {len(levels)} loops")
    order = as_given(grid, given).levels
    variables = axis_dependencies(block, "reduce")
    reduces = [level for level in order if level.variable in variables]
    if not _order_is_free(block) and reduces != sorted(reduces, key=lambda level: level.position):
        refuse(block, given, "the loops of the sum must keep their order, as it may not be regrouped")
    if given.vectorized.data:
        against = reason_against_vectors(block, _walk(block, order[-1]), order[-1] in reduces)
        if against is not None:
            refuse(block, given, against)
    return as_given(grid, given)


def as_given(grid: GridOp, given: OrderAttr) -> LoopOrder:
    """Returns the order that an attribute describes, which is known to fit."""
    levels = levels_of(grid)
    return LoopOrder(tuple(levels[number] for number in given.numbers), bool(given.vectorized.data))


def _first_block(grid: GridOp) -> BlockOp:
    return ops_of(grid, BlockOp)[0]


def level_name(level: Level) -> str:
    """Returns how messages call a loop: by its name, else by its number."""
    name = level.variable.name_hint
    return f"loop {level.position}" if name is None else f"%{name}"


def _walk(block: BlockOp, level: Level) -> _Walk:
    distinct: dict[tuple[object, ...], Access] = {}
    for access in body_accesses(block.body.block).accesses:
        if block.init is None or not is_inside(access.op, block.init.body.block):
            distinct.setdefault((access.buffer, access.indices, access.unknown, access.is_store), access)
    operands = list(block.binding_operands)
    strides: dict[tuple[object, ...], int | None] = dict.fromkeys(distinct, 0)
    if level.variable in operands:
        number = operands.index(level.variable)
        strides = {key: stride_along(access, block.binding_exprs, number) for key, access in distinct.items()}
    return _Walk(
        level, tuple(strides.values()), tuple(strides[key] for key, access in distinct.items() if access.is_store)
    )


def _order_is_free(block: BlockOp) -> bool:
    """Returns whether the reduce loops may change places among each other."""
    found = accumulators(block)
    return found is not None and all(is_reassociable(accumulator) for accumulator in found)


def _calls_library(block: BlockOp) -> bool:
    """
    Returns whether machine code for the block calls a function per element. LLVM has no vector form of such calls.
    """
    return any(
        op.name == "func.call"
        or (op.results and op.results[0].type == f64 and op.name.startswith(_FUNCTIONS) and op.name not in _IN_VECTORS)
        for op in walk(block)
    )


def reason_against_vectors(block: BlockOp, walk: _Walk, reduces: bool) -> str | None:
    """Returns why a loop must not be the one that runs on vectors, or `None` where it may."""
    if _calls_library(block):
        return "each element calls a function of the C library"
    if reduces and not _order_is_free(block):
        return "its sum may not be regrouped"
    stores = (0,) if reduces else (1,)
    if not walk.contiguous or any(stride not in stores for stride in walk.stores):
        return f"iterations of {level_name(walk.level)} touch elements that are not next to each other"
    return None


def split_grid(grid: GridOp, order: LoopOrder) -> ForOp:
    """Replaces `grid` by single loops in `order`, and returns the outermost one."""
    inner = grid.body.block
    paired = not order.vectorized and _interleaves(grid, order.levels)
    terminator = inner.last_op
    content = [op for op in inner.ops if op is not terminator]
    for op in content:
        op.detach()
    loop: ForOp | None = None
    last = ["unrolled", "vectorized"] if paired else ["vectorized" if order.vectorized else "serial"]
    kinds = last + ["serial"] * len(order.levels)
    for level, kind in zip(reversed(order.levels), kinds, strict=False):
        region = loop_body([level.variable.name_hint])
        block: Block = region.block
        block.add_ops(content)
        level.variable.replace_all_uses_with(block.args[0])
        loop = _loop(grid, level.extent, region, kind)
        content = [loop]
    assert loop is not None
    loop.attributes.update(grid.attributes)
    Rewriter.replace_op(grid, loop)
    if order.vectorized:
        several_at_once(loop)
    return loop


def split_inside(grid: GridOp, depth: int) -> ForOp:
    """Replaces `grid` by single loops in the best order in which the first `depth` loops keep their places."""
    levels = levels_of(grid)
    order = choose_order(grid)
    if order is None or order.levels[:depth] != levels[:depth]:
        order = LoopOrder(levels, False)
    return split_grid(grid, order)


def _interleaves(grid: GridOp, levels: tuple[Level, ...]) -> bool:
    """
    Returns whether the last loop has so few iterations that they are written out, and the one around it then runs on
    vectors: its stores are groups of neighbours, and what it loads are neighbours, such groups, or one element.
    """
    block = perfect_block(levels_of(grid))
    if block is None or len(levels) < 2 or block.has_reduce_axes or not may_reorder(block) or _calls_library(block):
        return False
    few, many = levels[-1], levels[-2]
    if not isinstance(few.extent, int) or not 1 < few.extent < MIN_VECTOR_EXTENT:
        return False
    if not isinstance(many.extent, int) or many.extent < 2 * MIN_VECTOR_EXTENT:
        return False
    short, long = _walk(block, few), _walk(block, many)
    if any(pair != (1, few.extent) for pair in zip(short.stores, long.stores, strict=True)):
        return False
    return all(
        by == 1 or (step, by) in ((0, 0), (1, few.extent)) for step, by in zip(short.strides, long.strides, strict=True)
    )


def _loop(grid: GridOp, extent: Extent, region: Region, kind: str) -> ForOp:
    loop = ForOp(extent, region, kind)
    loop.location = grid.location
    return loop
