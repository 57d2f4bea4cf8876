"""
The choices for the loops of any other block: their order, whether the innermost one is vectorized or cut up, and how
many iterations are unrolled.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, permutations
from typing import Any

from ....analysis.loop_nests import perfect_block
from ....dialects.tensor_loop import GridOp
from ....lazy_dataclass import dataclass
from ....schedule.default.loop_order import LoopOrder, choose_order
from ....schedule.program.interactive import Schedule

MOST_ORDERS = 12
UNROLLED = (1, 2, 4, 8)
TILES = (32, 128, 512)
"""The sizes of a part of the innermost loop, which all loops around it are run for before the next part."""


@dataclass(frozen=True)
class NestSpace:
    """The knobs of the loops around one block."""

    block: str
    extents: tuple[int | None, ...]
    """The extents of the loops of the grid, None where not known."""
    order: tuple[int, ...]
    """The loops of the grid as the default nests them, outermost first."""
    vectorized: bool

    def knobs(self) -> Mapping[str, tuple[Any, ...]]:
        others = (each for each in permutations(self.order) if each != self.order)
        inner = self.extents[self.order[-1]]
        tiles = (size for size in TILES if inner is not None and size < inner and inner % size == 0)
        return {
            "tiled": (None, *tiles) if len(self.order) > 1 else (None,),
            "order": (self.order, *islice(others, MOST_ORDERS)),
            "vectorized": (self.vectorized, not self.vectorized),
            "unrolled": UNROLLED,
        }

    def apply(self, schedule: Schedule, values: Mapping[str, Any]) -> None:
        loops = schedule.get_loops(schedule.get_block(self.block, "kernel"))
        ordered = [loops[number] for number in values["order"]]
        if list(values["order"]) != sorted(values["order"]):
            schedule.reorder(*ordered)
        if values["tiled"] is not None and ordered[-1].op.extent % values["tiled"] == 0:
            outer, inner = schedule.split(ordered[-1], [None, values["tiled"]])
            ordered = [outer, *ordered[:-1], inner]
            schedule.reorder(*ordered)
        if values["unrolled"] > 1:
            # The loop around the vectors, or else the innermost one.
            number = max(0, len(ordered) - (2 if values["vectorized"] else 1))
            outer, inner = schedule.split(ordered[number], [None, values["unrolled"]])
            schedule.unroll(inner)
            ordered[number : number + 1] = [outer, inner]
        if values["vectorized"]:
            schedule.vectorize(ordered[-1])


def nest_space(grid: GridOp, left_as_loops: frozenset[str]) -> NestSpace | None:
    """Returns the knobs of `grid`, or None unless its block is one that the default leaves in single loops."""
    order = choose_order(grid)
    if order is None or len(order.levels) < 1:
        return None
    block = _block_name(order)
    if block not in left_as_loops:
        return None
    levels = sorted(order.levels, key=lambda level: level.position)
    extents = tuple(level.extent if isinstance(level.extent, int) else None for level in levels)
    return NestSpace(block, extents, tuple(level.position for level in order.levels), order.vectorized)


def _block_name(order: LoopOrder) -> str:
    block = perfect_block(sorted(order.levels, key=lambda level: level.position))
    assert block is not None
    return block.block_name.data
