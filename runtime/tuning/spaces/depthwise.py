"""
The choices for a depthwise convolution, or one whose groups share vectors: the rows and pixels of a tile, also where
the default is flattened rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....core.roles import TILING
from ....dialects.schedule import DepthwiseAttr
from ....dialects.tensor_loop import GridOp
from ....lazy_dataclass import dataclass
from ....machine.machine import Machine
from ....schedule.depthwise.convolution import depthwise_of
from ....schedule.depthwise.flat import flat_of
from ....schedule.depthwise.tiles import DepthwiseTiles
from ....schedule.grouped.spread import decide_spread
from ....schedule.grouped.spread_tiles import spread_tiles
from ....schedule.kernels.epilogue import epilogue_of
from ....schedule.program.interactive import Schedule

MOST_TILES = 24
"""The number of shapes of register tiles that are tried."""


@dataclass(frozen=True)
class DepthwiseSpace:
    """The knob of one depthwise convolution, or of a grouped one whose groups share vectors."""

    block: str
    tiles: DepthwiseTiles
    target: Machine
    is_default: bool
    """True where the default is the tile that `tiles` chose, and not flattened rows."""

    def knobs(self) -> Mapping[str, tuple[Any, ...]]:
        """Returns the shapes with the fewest cycles, after None for the default."""
        tiles = self.tiles
        shapes = sorted(tiles.legal_shapes(self.target), key=lambda shape: tiles.cost(shape, self.target))
        if self.is_default:
            shapes.remove((tiles.rows, tiles.pixels))
        return {"tile": (None, *shapes[:MOST_TILES])}

    def apply(self, schedule: Schedule, values: Mapping[str, Any]) -> None:
        if values["tile"] is not None:
            block = schedule.get_block(self.block, "kernel")
            schedule.annotate(block, TILING, DepthwiseAttr.of(*values["tile"]))


def depthwise_space(grid: GridOp, target: Machine) -> DepthwiseSpace | None:
    """Returns the knob of what `grid` computes, or None where it is no depthwise convolution."""
    d = depthwise_of(grid)
    if d is None:
        return None
    flat = flat_of(d, epilogue_of(d.c), target)
    return DepthwiseSpace(d.c.block.block_name.data, DepthwiseTiles(d, target), target, flat is None)


def spread_space(grid: GridOp, target: Machine) -> DepthwiseSpace | None:
    """Returns the knob of what `grid` computes, or None where that is no convolution whose groups share vectors."""
    s = decide_spread(grid, target)
    if s is None:
        return None
    return DepthwiseSpace(s.c.block.block_name.data, spread_tiles(s, target), target, True)
