"""
Lays out packed weights, their scales and zero points as register tiles read them: in panels of columns.

Weights that are multiplied as bytes lie there in groups. A group is four bytes of a row. Where a byte holds two
numbers, those of a group change places: the first four lie in the lower halves and the others in the upper ones, so
that one mask gives four neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, MemRefType, f32, i8
from xdsl.ir import Block, SSAValue

from ...dialects.schedule import PackedAttr
from ...dialects.tile.mma import GROUP
from ...machine.machine import Machine
from ..kernels.contraction import Operand
from ..kernels.register_tiles import split_columns
from ..kernels.scheduled_nest import Bound, Index, ScheduledNest
from .product import PackedProduct

VECTORS = 4
"""The vectors of a row of a panel, which one row of sums needs to hide the latency of dot products."""

HALF = 4
"""The bits of half a byte."""


def panel_columns(chosen: PackedAttr, target: Machine) -> int:
    """Returns the columns of a panel: those of a tile where weights become floats, else of `VECTORS` vectors."""
    return VECTORS * target.lanes(GROUP) if chosen.parts.data else chosen.columns.data


def panels_type(p: PackedProduct, chosen: PackedAttr, operand: Operand, target: Machine) -> MemRefType:
    """
    Returns the type of an operand in panels: `[panel, group, column, 4]` of weights that are multiplied as bytes, and
    else `[panel, place in a row, column]`.
    """
    width = panel_columns(chosen, target)
    panels = ceil(p.c.extent(p.c.n) / width)
    if operand is p.c.b and not chosen.parts.data:
        return MemRefType(i8, [panels, operand.type.get_shape()[1], width])
    if operand is p.c.b:
        return MemRefType(i8, [panels, operand.type.get_shape()[1] // GROUP, width, GROUP])
    return MemRefType(operand.type.element_type, [panels, p.blocks, width])


def emit_panels(
    block: Block,
    p: PackedProduct,
    chosen: PackedAttr,
    operand: Operand,
    target: Machine,
    source: SSAValue,
    made: SSAValue,
) -> None:
    """Appends the nests that copy an operand from `source` into the panels `made` to `block`."""
    copies = _Copies(ScheduledNest(block, p.c.block), p, panel_columns(chosen, target), source, made)
    copies.run(operand is p.c.b and chosen.parts.data > 0)


class _Copies:
    """The copies of one operand."""

    def __init__(self, builder: ScheduledNest, p: PackedProduct, width: int, source: SSAValue, made: SSAValue) -> None:
        self.builder, self.p, self.width, self.source, self.made = builder, p, width, source, made

    def run(self, in_groups: bool) -> None:
        """Emits the copy of all columns, and of zeros to the columns of the last panel that there are none for."""
        assert isinstance(self.made.type, MemRefType)
        columns, depth = self.p.c.extent(self.p.c.n), self.made.type.get_shape()[1]
        put, first = self._group if in_groups else self._element, 0
        for width, count in split_columns(columns, self.width):
            self._nest("pack", (first, count), (0, width), depth, put)
            first += count
        rest = columns % self.width
        if rest:
            fill = self._no_group if in_groups else self._no_element
            self._nest("fill", (first - 1, 1), (rest, self.width - rest), depth, fill)

    def _nest(
        self,
        name: str,
        panels: tuple[int, int],
        columns: tuple[int, int],
        depth: int,
        put: Callable[[Index, Index, Index], None],
    ) -> None:
        """Emits loops over panels and columns, given as (first, how many), and inside over what is next in a row."""
        builder, (first, count), (left, width) = self.builder, panels, columns
        with builder.nest([count, width, depth], ["p", "n", "k"]) as (p, n, k):
            axes = [
                Bound("spatial", p + first, first + count, "vp"),
                Bound("spatial", n + left, left + width, "vn"),
                Bound("spatial", k, depth, "vk"),
            ]
            with builder.blocked(name, axes) as (vp, vn, vk):
                put(vp, vn, vk)

    def _row(self, panel: Index, column: Index) -> Index:
        return self.builder.sum(self.builder.scaled(panel, self.width), column)

    def _load(self, row: Index, place: Index) -> SSAValue:
        indices = [self.builder.value(row), self.builder.value(place)]
        return self.builder.add(memref.LoadOp.get(self.source, indices)).res

    def _store(self, value: SSAValue, *indices: Index) -> None:
        places = [self.builder.value(index) for index in indices]
        self.builder.add(memref.StoreOp.get(value, self.made, places))

    def _element(self, panel: Index, column: Index, block: Index) -> None:
        self._store(self._load(self._row(panel, column), block), panel, block, column)

    def _no_element(self, panel: Index, column: Index, block: Index) -> None:
        assert isinstance(self.made.type, MemRefType)
        zero = FloatAttr(0.0, 32) if self.made.type.element_type == f32 else IntegerAttr(0, i8)
        self._store(self.builder.constant(zero), panel, block, column)

    def _group(self, panel: Index, column: Index, group: Index) -> None:
        builder = self.builder
        row, first = self._row(panel, column), builder.scaled(group, GROUP)
        found = [self._load(row, builder.sum(first, number)) for number in range(GROUP)]
        for number, byte in enumerate(found if self.p.bits == 8 else self._halves(found)):
            self._store(byte, panel, group, column, number)

    def _no_group(self, panel: Index, column: Index, group: Index) -> None:
        zero = self.builder.constant(IntegerAttr(0, i8))
        for number in range(GROUP):
            self._store(zero, panel, group, column, number)

    def _halves(self, found: list[SSAValue]) -> list[SSAValue]:
        """Returns bytes of which the lower halves are the first four of eight numbers, and the upper ones the rest."""
        add, constant = self.builder.add, self.builder.constant
        places, low, high = (constant(IntegerAttr(number, i8)) for number in (HALF, 15, -16))
        made: list[SSAValue] = []
        for one, other in ((found[0], found[2]), (found[1], found[3])):
            upper = add(arith.ShLIOp(other, places)).result
            made.append(add(arith.OrIOp(add(arith.AndIOp(one, low)).result, upper)).result)
            lower = add(arith.ShRUIOp(one, places)).result
            made.append(add(arith.OrIOp(lower, add(arith.AndIOp(other, high)).result)).result)
        return made
