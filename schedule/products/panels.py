"""
The right operand of a contraction in panels as wide as its register tiles: blocks of them, and copying it into them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import ceil

from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineExpr

from ...core.ir.element_types import is_small_float
from ...dialects import tile
from ...dialects.tensor_loop import AllocOp
from ..kernels.contraction import Contraction
from ..kernels.epilogue import place_of
from ..kernels.register_tiles import split_columns
from ..kernels.scheduled_nest import ZERO, Bound, Index, ScheduledNest
from ..kernels.subnormals import without_subnormals
from ..kernels.tilings import Tiling
from ..kernels.widening import widened


@dataclass(frozen=True)
class _Panels:
    """A run of blocks of panels. Panel `first + block * count + number` is panel `number` of a block."""

    first: int
    count: int
    blocks: int


class PackedPanels:
    """The panels that b of one contraction is copied into."""

    def __init__(self, builder: ScheduledNest, c: Contraction, tiling: Tiling, packed: SSAValue | None = None):
        self.builder = builder
        self.c = c
        self.tiling = tiling
        self.columns = tiling.tile.columns
        self.depth = c.extent(c.k) // tiling.depth_blocks
        self.at: dict[int, AffineExpr] = {}
        """The variables of the loops over whole axes."""
        self.packed = packed
        self.clean = False
        """True where subnormal numbers become zeros on the way into panels."""
        self.widens = packed is None and is_small_float(c.b.type.element_type)
        """True where small floats are extended to the precision of the sums on the way into panels."""
        self.whole = packed is not None
        """
        True where `packed` holds all of b, and false where it holds the panels and the part of k of the current block.
        """

    @property
    def batch(self) -> list[int]:
        """Returns the axes that choose one of several b. They are the first dimensions of panels of all of b."""
        return [axis for axis in self.c.outer if axis in self.c.b.axes()]

    def pack_all(self, at: Sequence[AffineExpr] = ()) -> None:
        """Copies all of b, or that of the batch `at`."""
        self.k0 = self.n0 = ZERO
        self.at.update(zip(self.batch, at, strict=False))
        with self._over([] if at else self.batch):
            for run in self._runs():
                self.run_ = run
                self._pack()

    def _runs(self) -> list[_Panels]:
        """Returns blocks of panels. The last, narrower panel of b is in a run of one block."""
        whole, tail = divmod(self.c.extent(self.c.n), self.columns)
        count = min(whole + (tail > 0), self.tiling.panels or whole + 1)
        blocks, rest = divmod(whole, count)
        rest += tail > 0
        runs = [_Panels(0, count, blocks), _Panels(blocks * count, rest, 1)]
        return [run for run in runs if run.count and run.blocks]

    @contextmanager
    def _over(self, axes: list[int]) -> Iterator[None]:
        names = [self.c.block.axes[axis].name_hint or f"s{axis}" for axis in axes]
        with self.builder.nest([self.c.extents[axis] for axis in axes], [n.removeprefix("v") for n in names]) as found:
            self.at.update(zip(axes, found, strict=True))
            yield

    def _widths(self) -> list[tuple[int, int, int]]:
        """Returns the panels of a block of the current run as (number of the first, how many, width)."""
        run, extent = self.run_, self.c.extent(self.c.n)
        if run.blocks > 1 or (run.first + run.count) * self.columns <= extent:
            return [(0, run.count, self.columns)]
        parts = split_columns(extent - run.first * self.columns, self.columns)
        found: list[tuple[int, int, int]] = []
        for width, count in parts:
            found.append((sum(each[1] for each in found), count, width))
        return found

    # Packing

    def _packed_buffer(self, panels: int) -> SSAValue:
        c = self.c
        shape = [panels, *(c.extents[axis] for axis in c.reduce), self.depth, self.columns]
        element = c.tile_element if self.widens else c.b.type.element_type
        result = self.builder.add(AllocOp(MemRefType(element, shape))).results[0]
        result.name_hint = "packed"
        return result

    def _pack(self) -> None:
        """Copies the panels of a block, row by row."""
        c, builder = self.c, self.builder
        assert self.packed is not None
        extents = [c.extents[axis] for axis in c.reduce]
        for first, count, width in self._widths():
            with builder.nest([count, *extents, self.depth], ["p", *(f"r{axis}" for axis in c.reduce), "k"]) as found:
                panel, *reduce, k = found
                axes = [
                    *self._outer_axes(self.batch),
                    *self._block_axes("spatial"),
                    Bound("spatial", panel + first, first + count, "vp"),
                    *(Bound("spatial", r, e, f"vr{a}") for r, e, a in zip(reduce, extents, c.reduce, strict=True)),
                    Bound("spatial", k, self.depth, "vk"),
                ]
                with builder.blocked("pack", axes) as values:
                    self._pack_row(values, width)

    def _pack_row(self, values: list[Index], width: int) -> None:
        c, builder = self.c, self.builder
        at, rest = self._take(values, self.batch)
        k0, n0, panel, *reduce, k = rest
        at |= dict(zip(c.reduce, reduce, strict=True))
        at[c.k] = builder.sum(builder.scaled(k0, self.depth), k)
        at[c.n] = self._column(n0, panel)
        place = place_of(self.builder, c.b, at, None, c.n)
        row = VectorType(c.b.type.element_type, [1, width])
        loaded = builder.add(tile.LoadOp(place.buffer, place.indices, row, place.along, place.by)).result
        loaded = without_subnormals(builder, loaded) if self.clean else loaded
        loaded = widened(builder, loaded, c.tile_element) if self.widens else loaded
        assert self.packed is not None
        builder.add(tile.StoreOp(loaded, self.packed, self._packed_indices(at, n0, panel, k)))

    def _packed_indices(self, at: dict[int, Index], n0: Index, panel: Index, k: Index) -> list[SSAValue]:
        """Returns where a row of a panel starts. `k` counts from the start of the current part."""
        batch: list[Index] = []
        if self.whole:
            panel, k = self._panel(n0, panel), at[self.c.k]
            batch = [at[axis] for axis in self.batch]
        indices = (*batch, panel, *(at[axis] for axis in self.c.reduce), k, 0)
        return [self.builder.value(index) for index in indices]

    # Axes of blocks

    def _outer_axes(self, axes: list[int]) -> list[Bound]:
        block = self.c.block
        return [
            Bound("spatial", self.at[axis], self.c.extents[axis], block.axes[axis].name_hint or f"vs{axis}")
            for axis in axes
        ]

    def _block_axes(self, kind: str) -> list[Bound]:
        return [
            Bound(kind, self.k0, self.tiling.depth_blocks, "vk0"),
            Bound("spatial", self.n0, self.run_.blocks, "vn0"),
        ]

    def _take(self, values: list[Index], axes: list[int]) -> tuple[dict[int, Index], list[Index]]:
        return dict(zip(axes, values, strict=False)), values[len(axes) :]

    def _column(self, n0: Index, panel: Index) -> Index:
        """Returns the first column of a panel."""
        return self.builder.scaled(self._panel(n0, panel), self.columns)

    def _panel(self, n0: Index, panel: Index) -> Index:
        """Returns the number of a panel of a block among all panels."""
        builder, run = self.builder, self.run_
        return builder.sum(builder.sum(builder.scaled(n0, run.count), panel), run.first)


def panels_type(c: Contraction, tiling: Tiling) -> list[int]:
    """Returns the shape of all of b in panels, those of each batch of b one after the other."""
    panels = ceil(c.extent(c.n) / tiling.tile.columns)
    batch = [c.extents[axis] for axis in c.outer if axis in c.b.axes()]
    return [*batch, panels, *(c.extents[axis] for axis in c.reduce), c.extent(c.k), tiling.tile.columns]


def emit_packing(block: Block, c: Contraction, tiling: Tiling, packed: SSAValue, clean: bool = False) -> None:
    """Appends the nests that copy all of b into panels to `block`. With `clean` zeros replace subnormal numbers."""
    builder = ScheduledNest(block, c.block)
    emitter = PackedPanels(builder, c, replace(tiling, depth_blocks=1, panels=None), packed)
    emitter.clean = clean
    emitter.pack_all()
