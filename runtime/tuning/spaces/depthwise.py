"""
The choices for a depthwise convolution: the rows and pixels of a tile, also where the default is flattened rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ....core.roles import TILING
from ....dialects.schedule import DepthwiseAttr
from ....dialects.tensor_loop import GridOp
from ....lazy_dataclass import dataclass
from ....machine.machine import Machine
from ....schedule.depthwise.convolution import Depthwise, depthwise_of
from ....schedule.depthwise.flat import flat_of
from ....schedule.depthwise.tiles import DepthwiseTiles
from ....schedule.kernels.epilogue import epilogue_of
from ....schedule.program.interactive import Schedule

MOST_TILES = 24
"""The number of shapes of register tiles that are tried."""


@dataclass(frozen=True)
class DepthwiseSpace:
    """The knob of one depthwise convolution."""

    d: Depthwise
    target: Machine

    @property
    def block(self) -> str:
        return self.d.c.block.block_name.data

    @cached_property
    def _tiles(self) -> DepthwiseTiles:
        return DepthwiseTiles(self.d, self.target)

    def knobs(self) -> Mapping[str, tuple[Any, ...]]:
        """Returns the shapes with the fewest cycles, after None for the default."""
        tiles = self._tiles
        shapes = sorted(tiles.legal_shapes(self.target), key=lambda shape: tiles.cost(shape, self.target))
        if flat_of(self.d, epilogue_of(self.d.c), self.target) is None:
            shapes.remove((tiles.rows, tiles.pixels))
        return {"tile": (None, *shapes[:MOST_TILES])}

    def apply(self, schedule: Schedule, values: Mapping[str, Any]) -> None:
        if values["tile"] is not None:
            block = schedule.get_block(self.block, "kernel")
            schedule.annotate(block, TILING, DepthwiseAttr.of(*values["tile"]))


def depthwise_space(grid: GridOp, target: Machine) -> DepthwiseSpace | None:
    """Returns the knob of what `grid` computes, or None where it is no depthwise convolution."""
    d = depthwise_of(grid)
    return None if d is None else DepthwiseSpace(d, target)
