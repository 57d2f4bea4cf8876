"""Right operands that are laid out in panels once, from wherever their elements are."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from xdsl.dialects import arith, memref
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.tile.ops import LANES
from ..kernels.contraction import Contraction
from ..kernels.scheduled_nest import Bound, Index, ScheduledNest
from ..kernels.subnormals import number_without_subnormals
from ..kernels.tilings import Tiling
from .panels import PackedPanels
from .turned import TurnedPanels

WORTH_TILES = 1 << 21
"""
The elements from which a right operand is turned in register tiles, which LLVM takes 10 to 20 ms for. So many elements
take a few milliseconds one by one.
"""


def emit_packing(block: Block, c: Contraction, tiling: Tiling, packed: SSAValue, clean: bool = False) -> None:
    """
    Appends the nests that copy all of b into panels to `block`. With `clean` zeros replace subnormal numbers.

    Rows of vectors are copied where columns are next to each other in memory. Other operands are copied one by one, or
    turned in tiles.
    """
    builder = ScheduledNest(block, c.block)
    kind = PackedPanels if c.b.stride_along(c.n) == 1 else TurnedPanels if _is_turned(c, tiling) else StridedPanels
    emitter = kind(builder, c, replace(tiling, depth_blocks=1, panels=None), packed)
    emitter.clean = clean
    emitter.pack_all()


def _is_turned(c: Contraction, tiling: Tiling) -> bool:
    """Returns whether tiles of rows that become columns fill panels, and there are so many that this pays."""
    places = c.b.dimension_along(c.k), c.b.dimension_along(c.n)
    if None in places or places[0][0] == places[1][0]:  # pyright: ignore[reportOptionalSubscript]
        return False
    elements = prod(c.b.type.get_shape())
    plain = not c.reduce and not tiling.in_pairs and c.extent(c.k) % LANES == 0
    return plain and c.b.stride_along(c.k) == 1 and elements > WORTH_TILES


class StridedPanels(PackedPanels):
    """
    Panels whose elements are copied one by one.

    A vector of them would be as many loads and as many instructions that put them together. This runs once, and LLVM
    compiles it in a fraction of the time.
    """

    def _pack_panel(self, widths: tuple[int, int, int], panel: AffineExpr) -> None:
        c, builder = self.c, self.builder
        (first, count, width), rows = widths, self.depth // self.at_once
        extents = [c.extents[axis] for axis in c.reduce]
        names = ["k", *(f"r{axis}" for axis in c.reduce), "j"]
        with builder.nest([rows, *extents, width], names) as (k, *reduce, column):
            axes = [
                *self._outer_axes(self.batch),
                *self._block_axes("spatial"),
                Bound("spatial", panel + first, first + count, "vp"),
                *(Bound("spatial", r, e, f"vr{a}") for r, e, a in zip(reduce, extents, c.reduce, strict=True)),
                Bound("spatial", k, rows, "vk"),
                Bound("spatial", column, width, "vj"),
            ]
            with builder.blocked("pack", axes) as values:
                for step in range(self.at_once):
                    self._pack_element(values, step)

    def _pack_element(self, values: list[Index], step: int) -> None:
        """Copies an element of a row of b. The row is step number `step` of those that lie side by side."""
        c, builder = self.c, self.builder
        at, (k0, n0, panel, *reduce, k, column) = self._take(values, self.batch)
        at |= dict(zip(c.reduce, reduce, strict=True))
        here = at | {c.k: self._step(k0, k, step), c.n: builder.sum(self._column(n0, panel), column)}
        indices = [builder.affine(index, here) for index in c.b.indices]
        number: SSAValue = builder.add(memref.LoadOp.get(c.b.buffer, indices)).res
        number = number_without_subnormals(builder, number) if self.clean else number
        if self.widens and number.type != c.tile_element:
            number = builder.add(arith.ExtFOp(number, c.tile_element)).result  # pyright: ignore[reportArgumentType]
        place = self._packed(at, (k0, n0, panel), k, step)
        target = list(place.indices)
        target[place.along[1]] = builder.value(column)
        builder.add(memref.StoreOp.get(number, place.buffer, target))
