"""The order of the loops of a grid for a CPU: the innermost loop walks through memory."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import f64

from ...analysis.access_regions import Access, body_accesses, is_inside, stride_along
from ...analysis.loop_nests import Level, axis_dependencies, levels_of, perfect_block
from ...analysis.reductions import accumulators
from ...analysis.reorder import is_reassociable, may_reorder
from ...core.ir.walk import walk
from ...dialects.tensor_loop import BlockOp, GridOp

MIN_VECTOR_EXTENT = 4
"""
The least extent of a loop of vectors. Four lanes is the narrowest register (SSE2, f32), so shorter loops are not worth
a vector.
"""


INSTRUCTIONS = frozenset(
    f"math.{name}" for name in ("absf", "ceil", "copysign", "floor", "fma", "roundeven", "sqrt", "trunc")
)
"""
The math ops that are instructions on f64 too. The others call libm there, as `expand-math` expands narrower floats
only.
"""


@dataclass(frozen=True)
class LoopOrder:
    """The levels of a grid as they should be nested, outermost first."""

    levels: tuple[Level, ...]
    vectorized: bool
    """True where the innermost loop should run several iterations at a time."""


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

    Spatial loops go outside, then reduce loops in their order, then the loop with the fewest jumps in memory.
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
        return LoopOrder(levels, vectorized=False)
    best = min(walks, key=lambda walk: walk.cost)
    inner = best.level
    order = [level for level in (*spatial, *reduces) if level != inner]
    return LoopOrder((*order, inner), _may_vectorize(block, best, inner in reduces))


def _walk(block: BlockOp, level: Level) -> _Walk:
    distinct: dict[tuple[object, ...], Access] = {}
    for access in body_accesses(block.body.block).accesses:
        if block.init is None or not is_inside(access.op, block.init.body.block):
            distinct.setdefault((access.buffer, access.indices, access.is_store), access)
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
        op.name in ("llvm.frem", "func.call")
        or (op.name.startswith("math.") and op.name not in INSTRUCTIONS and op.results[0].type == f64)
        for op in walk(block)
    )


def _may_vectorize(block: BlockOp, walk: _Walk, reduces: bool) -> bool:
    extent = walk.level.extent
    if _calls_library(block):
        return False
    if not walk.contiguous or (isinstance(extent, int) and extent < MIN_VECTOR_EXTENT):
        return False
    if reduces:
        return _order_is_free(block) and all(stride == 0 for stride in walk.stores)
    return all(stride == 1 for stride in walk.stores)
