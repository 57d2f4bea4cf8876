"""
The choices for a convolution that can be computed by Winograd's filtering: whether it is, how many squares at once,
and the tiles of their products.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from math import ceil, prod
from typing import Any

from ....core.roles import TILING
from ....lazy_dataclass import dataclass
from ....machine.machine import Machine
from ....schedule.default.given_choices import attribute_of_plan, reason_against_plan
from ....schedule.kernels.register_tiles import MOST_VECTORS, RegisterTile
from ....schedule.program.interactive import Schedule
from ....schedule.winograd.plan import Plan, Winograd, best_plan, blocks_of, plan_winograd, winograd_of
from .contraction import ContractionSpace

MOST_BLOCKS, MOST_TILES = 8, 8
"""The number of blocks of squares, and of tiles of their products, that are tried."""


@dataclass(frozen=True)
class WinogradSpace:
    """The knobs of one convolution: those of the filtering, and those of the product that it is otherwise."""

    product: ContractionSpace
    w: Winograd
    target: Machine

    @property
    def block(self) -> str:
        return self.product.block

    @cached_property
    def _plan(self) -> Plan:
        return best_plan(self.w, self.target)

    @cached_property
    def _by_default(self) -> bool:
        return plan_winograd(self.w, self.target) is not None

    def knobs(self) -> Mapping[str, tuple[Any, ...]]:
        own = {
            "winograd": (self._by_default, not self._by_default),
            "squares": self._blocks(),
            "products": self._tiles(),
        }
        return own | dict(self.product.knobs())

    def apply(self, schedule: Schedule, values: Mapping[str, Any]) -> None:
        """Adds one annotation, or none where the values that count are those of the default."""
        product = self.product.knobs()
        if values["winograd"]:
            images, rows = values["squares"]
            squares = images * rows * self.w.squares[1]
            tile = RegisterTile(min(values["products"].rows, squares), values["products"].columns)
            plan = replace(self._plan, images=images, rows=rows, tile=tile)
            if not self._by_default or plan != self._plan:
                block = schedule.get_block(self.block, "kernel")
                schedule.annotate(block, TILING, attribute_of_plan(plan))
        elif self._by_default or any(values[name] != given[0] for name, given in product.items()):
            self.product.apply(schedule, values)

    def _blocks(self) -> tuple[tuple[int, int], ...]:
        """Returns the blocks whose size is nearest to that of the default."""
        default = (self._plan.images, self._plan.rows)

        def distance(block: tuple[int, int]) -> float:
            size, usual = prod(block), prod(default)
            return max(size / usual, usual / size)

        blocks = sorted(blocks_of(self.w), key=lambda block: (block != default, distance(block), block))
        return tuple(blocks[:MOST_BLOCKS])

    def _tiles(self) -> tuple[RegisterTile, ...]:
        """Returns the tallest legal tile of each width, and three quarters and half of it."""
        columns = self.w.c.extent(self.w.c.n)
        lanes = self.target.lanes(self.w.c.tile_element.size)  # pyright: ignore[reportAttributeAccessIssue]
        found = [self._plan.tile]
        for vectors in range(1, min(MOST_VECTORS, ceil(columns / lanes)) + 1):
            width = min(columns, vectors * lanes)
            tall = [tile for rows in range(1, self.target.registers) if self._fits(tile := RegisterTile(rows, width))]
            if tall:
                rows = tall[-1].rows
                found += [RegisterTile(max(1, rows * part // 4), width) for part in (4, 3, 2)]
        return tuple(dict.fromkeys(found))[:MOST_TILES]

    def _fits(self, tile: RegisterTile) -> bool:
        return reason_against_plan(self.w, replace(self._plan, tile=tile), self.target) is None


def with_winograd(space: ContractionSpace) -> ContractionSpace | WinogradSpace:
    """Returns `space` with the filtering beside it, where the filters are known early and have the right form."""
    w = winograd_of(space.c) if space.prepacked else None
    return space if w is None else WinogradSpace(space, w, space.target)
