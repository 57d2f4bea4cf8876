"""The choices for a product of bytes: panels at a time on tile registers, or tiles of sums in vector registers."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

from ....core.roles import TILING
from ....dialects.schedule import DotsAttr, TileRegistersAttr
from ....lazy_dataclass import dataclass
from ....machine.machine import Machine
from ....schedule.bytes.choose import is_byte_product, on_tile_registers
from ....schedule.bytes.dots import dots_of
from ....schedule.bytes.given import reason_against_dots
from ....schedule.bytes.products import byte_tile
from ....schedule.kernels.contraction import Contraction
from ....schedule.kernels.register_tiles import MOST_VECTORS, RegisterTile
from ....schedule.program.interactive import Schedule
from .contraction import ContractionSpace

PANELS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class ByteSpace:
    """The knob of one product. Its values are None, for the default, and attributes of the block."""

    c: Contraction
    target: Machine

    @property
    def block(self) -> str:
        return self.c.block.block_name.data

    def knobs(self) -> Mapping[str, tuple[Any, ...]]:
        registers = on_tile_registers(self.c, self.target)
        blocks = self._blocks() if registers else []
        return {"bytes": (None, *blocks, *self._dots(registers))}

    def apply(self, schedule: Schedule, values: Mapping[str, Any]) -> None:
        if values["bytes"] is not None:
            schedule.annotate(schedule.get_block(self.block, "kernel"), TILING, values["bytes"])

    def _blocks(self) -> list[TileRegistersAttr]:
        panels = ceil(self.c.extent(self.c.n) / 32)
        return [TileRegistersAttr.of(count) for count in PANELS if count < panels] + [TileRegistersAttr.of(panels)]

    def _dots(self, registers: bool) -> list[DotsAttr]:
        """Returns the tallest legal tile of each width, and three quarters and half of it."""
        if dots_of(self.c, self.target) is None:
            return []
        rows, columns = self.c.extent(self.c.m), self.c.extent(self.c.n)
        lanes = self.target.lanes(4)
        default = None if registers else byte_tile(self.c, self.target)
        found: list[RegisterTile] = []
        for vectors in range(1, min(MOST_VECTORS, ceil(columns / lanes)) + 1):
            width = min(columns, vectors * lanes)
            heights = [
                height
                for height in range(1, self.target.registers)
                if reason_against_dots(RegisterTile(height, width), self.c, self.target) is None
            ]
            if heights:
                found += [RegisterTile(min(rows, max(1, heights[-1] * part // 4)), width) for part in (4, 3, 2)]
        return [DotsAttr.of(tile.rows, tile.columns) for tile in dict.fromkeys(found) if tile != default]


def byte_space(space: ContractionSpace) -> ByteSpace | None:
    """Returns the knob of a product that is computed by instructions for bytes or pairs, or None where it is not."""
    if not is_byte_product(space.c, space.target, space.prepacked, "weights"):
        return None
    return ByteSpace(space.c, space.target)
