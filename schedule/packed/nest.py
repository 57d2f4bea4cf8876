"""What the loop nests of all products with packed weights have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, VectorType, f32
from xdsl.ir import Attribute, SSAValue

from ...dialects import tile
from ...dialects.schedule import PackedAttr
from ...machine.machine import Machine
from ..kernels.epilogue import Epilogue, emit_epilogue, place_of
from ..kernels.register_tiles import RegisterTile
from ..kernels.scheduled_nest import Bound, Index, ScheduledNest
from .panels import panel_columns
from .product import PackedProduct


class PackedNest(ABC):
    """The loop nests of one product."""

    def __init__(
        self,
        builder: ScheduledNest,
        p: PackedProduct,
        chosen: PackedAttr,
        target: Machine,
        panels: tuple[SSAValue, ...],
        epilogue: Epilogue | None,
    ):
        self.builder, self.p, self.c, self.target, self.epilogue = builder, p, p.c, target, epilogue
        rows, columns, self.parts = chosen.numbers
        self.tile = RegisterTile(min(rows, p.c.extent(p.c.m)), columns)
        self.width = panel_columns(chosen, target)
        self.weights, self.scales = panels[:2]
        self.zero_points = panels[-1]

    @abstractmethod
    def run(self) -> None:
        """Emits all nests."""

    @abstractmethod
    def column(self, last: Index, columns: tuple[int, int]) -> Index:
        """Returns the column of a panel at which a tile of (size, first) columns begins."""

    @abstractmethod
    def sums(self, row: Index, panel: Index, last: Index, column: Index, total: SSAValue) -> SSAValue:
        """Returns `total` plus the sums of the tile at a row and a column of a panel. `last` is the last axis."""

    def emit_tile(self, axes: list[Bound], rows: tuple[int, int], columns: tuple[int, int]) -> None:
        """
        Emits one tile of (size, first) rows and columns of a panel. `axes` are those of tiles of rows, of panels, and
        the one that `column` is asked about.
        """
        builder, c = self.builder, self.c
        with builder.blocked(c.block.block_name.data, axes) as (vm0, vp, last):
            row = builder.sum(builder.scaled(vm0, rows[0]), rows[1])
            column = self.column(last, columns)
            at: dict[int, Index] = dict.fromkeys((*c.outer, c.k), 0)
            if c.m is not None:
                at[c.m] = row
            at[c.n] = builder.sum(builder.scaled(vp, self.width), column)
            total = self.splat(VectorType(f32, [rows[0], columns[0]]), 0.0)
            total = self.sums(row, vp, last, column, total)
            if self.epilogue is None or self.epilogue.keeps_result:
                place = place_of(builder, c.out, at, c.m, c.n)
                builder.add(tile.StoreOp(total, place.buffer, place.indices, place.along, place.by))
            if self.epilogue is not None:
                emit_epilogue(builder, c, self.epilogue, total, at)

    def splat(self, type_: VectorType, value: float) -> SSAValue:
        return self.builder.constant(DenseIntOrFPElementsAttr.from_list(type_, [value]))  # pyright: ignore

    def tiled(
        self,
        buffer: SSAValue,
        element: Attribute,
        shape: tuple[int, ...],
        at: tuple[Index, ...],
        along: tuple[int, int],
    ) -> SSAValue:
        """Returns a tile of a buffer."""
        indices = [self.builder.value(index) for index in at]
        return self.builder.add(tile.LoadOp(buffer, indices, VectorType(element, shape), along)).result
