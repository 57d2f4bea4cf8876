"""The choices for a contraction: its tile, packing, parts of k, panels per block, and which loop is outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from math import ceil
from typing import Any

from xdsl.ir import BlockArgument

from ....analysis.divisors import divisors
from ....core.roles import TILING
from ....dialects.tensor_loop import GridOp
from ....dialects.tile.ops import LANES
from ....lazy_dataclass import dataclass
from ....machine.machine import Machine
from ....schedule.kernels.contraction import Contraction, contraction_of
from ....schedule.kernels.given_tiling import attribute_of, reason_against, tiling_for
from ....schedule.kernels.register_tiles import MOST_VECTORS, RegisterTile
from ....schedule.kernels.tilings import Tiling
from ....schedule.program.interactive import Schedule

MOST_TILES = 16
"""The number of shapes of register tiles that are tried."""

LEAST_PART, LARGEST_PART = 64, 2048
"""The steps of the sum in a part."""

PANELS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class ContractionSpace:
    """The knobs of one contraction."""

    c: Contraction
    prepacked: bool
    target: Machine

    @property
    def block(self) -> str:
        return self.c.block.block_name.data

    @cached_property
    def default(self) -> Tiling:
        return tiling_for(self.c, self.prepacked, self.target)

    def knobs(self) -> Mapping[str, tuple[Any, ...]]:
        default = self.default
        found: dict[str, tuple[Any, ...]] = {
            "tile": _default_first(default.tile, self._tiles()),
            "panels_outside": (default.panels_outside, not default.panels_outside),
            "panels": _default_first(self._default_panels(), self._panels()),
        }
        if not self.prepacked and self.c.b.stride_along(self.c.n) == 1:
            found["packed"] = (default.pack_b, not default.pack_b)
        if not self.c.reduce:
            found["parts"] = _default_first(default.depth_blocks, self._parts())
        return found

    def apply(self, schedule: Schedule, values: Mapping[str, Any]) -> None:
        tiling = replace(
            self.default,
            tile=values["tile"],
            pack_b=values.get("packed", self.default.pack_b),
            depth_blocks=values.get("parts", self.default.depth_blocks),
            panels=values["panels"],
            panels_outside=values["panels_outside"],
        )
        block = schedule.get_block(self.block, "kernel")
        schedule.annotate(block, TILING, attribute_of(tiling))

    def _tiles(self) -> list[RegisterTile]:
        """Returns the legal shapes that load least per multiply-add, with what hangs over the edges of the result."""
        c, target = self.c, self.target
        rows, columns = c.extent(c.m), c.extent(c.n)
        lanes = target.lanes(c.tile_element.size)  # pyright: ignore[reportAttributeAccessIssue]
        costs: dict[RegisterTile, float] = {}
        for vectors in range(1, MOST_VECTORS + 1):
            rest = vectors * lanes % LANES
            if rest & (rest - 1) or (vectors > 1 and (vectors - 1) * lanes >= columns):
                continue
            for most in range(1, target.registers):
                height = ceil(rows / ceil(rows / most))
                tile = RegisterTile(height, min(columns, vectors * lanes))
                if reason_against(Tiling(tile, True), c, self.prepacked, target) is None:
                    strips = ceil(rows / height) * ceil(columns / (vectors * lanes))
                    costs[tile] = strips * (height * vectors + (height + vectors) / 2)
        return sorted(costs, key=lambda tile: (costs[tile], tile.rows, tile.columns))[:MOST_TILES]

    def _parts(self) -> list[int]:
        depth = self.c.extent(self.c.k)
        sizes = divisors(depth)[::-1]
        return [depth // size for size in sizes if LEAST_PART <= size <= LARGEST_PART or size == depth]

    @property
    def _all_panels(self) -> int:
        return ceil(self.c.extent(self.c.n) / self.default.tile.columns)

    def _default_panels(self) -> int | None:
        panels = self.default.panels
        return None if panels is None or panels >= self._all_panels else panels

    def _panels(self) -> list[int | None]:
        return [None, *(count for count in PANELS if count < self._all_panels)]


def contraction_space(grid: GridOp, constants: frozenset[int], target: Machine) -> ContractionSpace | None:
    """Returns the knobs of a contraction, or None where `grid` is none. `constants` are the inputs known early."""
    c = contraction_of(grid)
    if c is None:
        return None
    b = c.b.buffer
    known = isinstance(b, BlockArgument) and b.index in constants
    return ContractionSpace(c, known and not any(axis in c.b.axes() for axis in c.outer), target)


def _default_first(default: Any, values: list[Any]) -> tuple[Any, ...]:
    return (default, *(value for value in values if value != default))
