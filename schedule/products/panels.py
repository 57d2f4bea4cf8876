"""
The right operand of a contraction in panels as wide as its register tiles: blocks of them, and copying it into them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import ceil

from xdsl.dialects import scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from ...core.ir.element_types import is_small_float, vector_type
from ...dialects import tile
from ...dialects.tensor_loop import AllocOp
from ...dialects.tile import Place
from ...lazy_dataclass import dataclass
from ..kernels.contraction import Contraction
from ..kernels.epilogue import place_of
from ..kernels.register_tiles import split_columns
from ..kernels.scheduled_nest import ZERO, Bound, Index, ScheduledNest
from ..kernels.subnormals import without_subnormals
from ..kernels.tilings import Tiling
from ..kernels.widening import widened

PAIR = 2
"""The steps of the sum that lie side by side where panels are in pairs."""


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
        self.source: SSAValue | None = None
        """All panels of small floats, from which those in `packed` are extended."""
        self.clean = False
        """True where subnormal numbers become zeros on the way into panels."""
        self.widens = is_small_float(c.b.type.element_type) and (packed is None or _element(packed) == c.tile_element)
        """True where small floats are extended to the precision of the sums on the way into panels."""
        self.at_once = PAIR if tiling.in_pairs and packed is not None else 1
        """The steps of the sum that lie side by side in a panel."""
        self.whole = packed is not None
        """
        True where `packed` holds all of b, and false where it holds the panels and the part of k of the current block.
        """

    @property
    def batch(self) -> list[int]:
        """Returns the axes that choose one of several b. They are the first dimensions of panels of all of b."""
        return [axis for axis in self.c.outer if axis in self.c.b.axes()]

    def extend(self) -> None:
        """
        Puts panels in the precision of the sums in place of those of small floats.

        Each is extended from `source` before the first tile that reads it, or by that tile (`extends_in_tiles`).
        """
        assert self.packed is not None and isinstance(self.packed.type, MemRefType)
        made = self.builder.add(AllocOp(MemRefType(self.c.tile_element, self.packed.type.get_shape()))).results[0]
        made.name_hint = "extended"
        self.packed, self.source, self.widens = made, self.packed, True

    def extends_in_tiles(self, panels: int) -> bool:
        """
        Returns whether the first tile that reads each of some `panels` of a width extends its rows, step by step, among
        its own multiply-adds.

        It must read all rows, so there are no taps, which may be outside of the image. The tiles of a panel must come
        one after the other, so threads share panels, of which there must be several.
        """
        one_tap = all(self.c.extents[axis] == 1 for axis in self.c.reduce)
        return self.source is not None and self.tiling.panels_outside and one_tap and panels > 1

    def extend_rows(
        self,
        first: SSAValue,
        at: dict[int, Index],
        block: tuple[Index, Index, Index],
        rows: tuple[Index, int],
        width: int,
    ) -> None:
        """Emits the extension of some rows of a panel, from a row on, where `first` is true."""
        then = Block()
        with self.builder.inside(then):
            for number in range(rows[1]):
                row = self.builder.sum(rows[0], number)
                self._pack_row([*block, *(at[axis] for axis in self.c.reduce), row], width, 0)
            self.builder.add(scf.YieldOp())
        self.builder.add(scf.IfOp(first, [], Region(then)))

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
        for widths in self._widths():
            with self.builder.loop(widths[1], "p") as panel:
                self._pack_panel(widths, panel)

    def _pack_panel(self, widths: tuple[int, int, int], panel: AffineExpr) -> None:
        """Copies a panel of a block, one of those of `_widths`, row by row."""
        c, builder = self.c, self.builder
        (first, count, width), rows = widths, self.depth // self.at_once
        extents = [c.extents[axis] for axis in c.reduce]
        with builder.nest([*extents, rows], [*(f"r{axis}" for axis in c.reduce), "k"]) as (*reduce, k):
            axes = [
                *self._outer_axes(self.batch),
                *self._block_axes("spatial"),
                Bound("spatial", panel + first, first + count, "vp"),
                *(Bound("spatial", r, e, f"vr{a}") for r, e, a in zip(reduce, extents, c.reduce, strict=True)),
                Bound("spatial", k, rows, "vk"),
            ]
            with builder.blocked("pack", axes) as values:
                for step in range(self.at_once):
                    self._pack_row(values, width, step)

    def _pack_row(self, values: list[Index], width: int, step: int) -> None:
        """Copies a row of b. It is step number `step` of those that lie side by side."""
        c, builder = self.c, self.builder
        at, rest = self._take(values, self.batch)
        k0, n0, panel, *reduce, k = rest
        at |= dict(zip(c.reduce, reduce, strict=True))
        if self.source is not None:
            place = self._place(self.source, at, (k0, n0, panel), k, step)
        else:
            here = at | {c.k: self._step(k0, k, step), c.n: self._column(n0, panel)}
            place = place_of(builder, c.b, here, None, c.n)
        row = vector_type(c.b.type.element_type, [1, width])
        loaded = builder.add(tile.LoadOp(place.buffer, place.indices, row, place.along, place.by)).result
        loaded = without_subnormals(builder, loaded) if self.clean else loaded
        loaded = widened(builder, loaded, c.tile_element) if self.widens else loaded
        assert self.packed is not None
        place = self._packed(at, (k0, n0, panel), k, step)
        builder.add(tile.StoreOp(loaded, place.buffer, place.indices, place.along))

    def _step(self, k0: Index, k: Index, step: int = 0) -> Index:
        """Returns the step of the sum that is number `step` of those side by side in row `k` of a part of a panel."""
        builder = self.builder
        first = builder.sum(builder.scaled(k0, self.depth), builder.scaled(k, self.at_once))
        return builder.sum(first, step)

    def _packed(self, at: dict[int, Index], block: tuple[Index, Index, Index], k: Index, step: int = 0) -> Place:
        """
        Returns the rows of a panel from row `k` of the part on. `step` chooses one of the steps that lie side by side.
        """
        assert self.packed is not None
        return self._place(self.packed, at, block, k, step)

    def _place(
        self, buffer: SSAValue, at: dict[int, Index], block: tuple[Index, Index, Index], k: Index, step: int
    ) -> Place:
        k0, n0, panel = block
        batch: list[Index] = []
        if self.whole:
            panel, k = self._panel(n0, panel), self.builder.sum(self.builder.scaled(k0, self.depth // self.at_once), k)
            batch = [at[axis] for axis in self.batch]
        indices = (*batch, panel, *(at[axis] for axis in self.c.reduce), k, 0)
        columns = len(indices) - 1
        indices = (*indices, step) if self.at_once > 1 else indices
        return Place(buffer, tuple(map(self.builder.value, indices)), (columns - 1, columns), (1, 1))

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


def _element(buffer: SSAValue) -> Attribute:
    assert isinstance(buffer.type, MemRefType)
    return buffer.type.element_type


def panels_type(c: Contraction, tiling: Tiling) -> list[int]:
    """
    Returns the shape of all of b in panels, those of each batch of b one after the other. Steps of the sum that lie in
    pairs are the last dimension.
    """
    panels = ceil(c.extent(c.n) / tiling.tile.columns)
    batch = [c.extents[axis] for axis in c.outer if axis in c.b.axes()]
    depth, pair = (c.extent(c.k) // PAIR, [PAIR]) if tiling.in_pairs else (c.extent(c.k), [])
    return [*batch, panels, *(c.extents[axis] for axis in c.reduce), depth, tiling.tile.columns, *pair]
