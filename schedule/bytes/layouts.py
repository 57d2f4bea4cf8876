"""Lays out operands of products of bytes (or bf16) as the instructions for dot products of four (two) read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import ceil, prod

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, MemRefType, VectorType, i8, i16
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from ...core.ir.element_types import vector_type
from ...dialects import tile
from ...dialects.tensor_loop import AllocOp
from ...dialects.tile.mma import group_of
from ..kernels.contraction import Contraction, Operand
from ..kernels.epilogue import place_of
from ..kernels.register_tiles import split_columns
from ..kernels.scheduled_nest import Bound, Index, ScheduledNest

SIGN = -128
"""The byte whose bits but the sign are 0. What differs by that bit differs by 128 modulo 256."""


ROW = 64
"""The most bytes that are copied at a time."""


def row_parts(size: int) -> list[tuple[int, int, int]]:
    """Returns a row of bytes in parts, as (start, width, how many)."""
    found: list[tuple[int, int, int]] = []
    start = 0
    for width, number in split_columns(size, ROW):
        found.append((start, width, number))
        start += width * number
    return found


class ByteLayouts:
    """Emits the nests that lay out the operands of one product, inside loops over its outer axes."""

    def __init__(
        self, builder: ScheduledNest, c: Contraction, width: int, groups: int, element: Attribute | None = None
    ):
        """
        Takes `width`, the columns of a panel, and `groups`, the groups of k with those that are filled up with zeros.

        Bytes are extended to `element` where it is wider.
        """
        self.builder = builder
        self.c = c
        self.width = width
        self.groups = groups
        self.rows, self.columns, self.depth = c.extent(c.m), c.extent(c.n), c.extent(c.k)
        self.element_type = c.a.type.element_type if element is None else element
        self.group = group_of(self.element_type)
        self.taps = taps_of(c)
        self.at: dict[int, AffineExpr] = {}
        """The variables of the loops over whole axes."""

    @property
    def panels_shape(self) -> list[int]:
        """Returns the shape `[panel, taps * k / 4, column, 4]`."""
        return panels_shape(self.c, self.width, self.groups, self.group)

    def tap(self, at: Mapping[int, Index]) -> Index:
        """Returns the number of a tap, from the values of its axes."""
        number: Index = 0
        for axis in self.taps:
            number = self.builder.sum(self.builder.scaled(number, self.c.extents[axis]), at[axis])
        return number

    @contextmanager
    def over(self, axes: Sequence[int]) -> Iterator[None]:
        """Emits loops over whole axes."""
        names = [(self.c.block.axes[axis].name_hint or f"s{axis}").removeprefix("v") for axis in axes]
        with self.builder.nest([self.c.extents[axis] for axis in axes], names) as found:
            self.at.update(zip(axes, found, strict=True))
            yield
        for axis in axes:
            del self.at[axis]

    @contextmanager
    def blocked(self, name: str, axes: Sequence[Bound]) -> Iterator[tuple[dict[int, Index], list[Index]]]:
        """Emits a block in the loops over whole axes. Yields the values of those and of `axes`."""
        outer = list(self.at)
        names = [self.c.block.axes[axis].name_hint or f"vs{axis}" for axis in outer]
        bounds = [
            Bound("spatial", self.at[axis], self.c.extents[axis], name) for axis, name in zip(outer, names, strict=True)
        ]
        with self.builder.blocked(name, [*bounds, *axes]) as values:
            once: dict[int, Index] = dict.fromkeys(self.c.reduce, 0)
            yield once | dict(zip(outer, values, strict=False)), values[len(outer) :]

    def buffer(self, name: str, element: Attribute, *sizes: int) -> SSAValue:
        """Makes a temporary."""
        result = self.builder.add(AllocOp(MemRefType(element, sizes))).results[0]
        result.name_hint = name
        return result

    # The left operand

    def copy_rows(self, target: SSAValue, rows: tuple[int, int], flip: bool = False) -> None:
        """
        Emits `target[m, k] = a[first + m, k]` for (first, count) rows, and 0 for k that a does not have.

        With `flip` the sign bit is flipped, which gives a + 128 for bytes without a sign, or a - 128 with one.
        """
        builder, c = self.builder, self.c
        first, count = rows
        if (flip or self.extends) and c.a.dimension_along(c.k) == (len(c.a.indices) - 1, 1):
            self._change_rows(target, first, count)
        else:
            with builder.nest([count, self.depth], ["m", "k"], "vectorized") as (m, k):
                axes = [Bound("spatial", m, count, "vm"), Bound("spatial", k, self.depth, "vk")]
                with self.blocked(self.verb(flip), axes) as (at, (vm, vk)):
                    if c.m is not None:
                        at[c.m] = builder.sum(vm, first)
                    value = self.element(c.a, at | {c.k: vk})
                    self.put(self.flipped(value) if flip else value, target, vm, vk)
        rest = self.groups * self.group - self.depth
        if rest:
            with builder.nest([count, rest], ["m", "k"]) as (m, k):
                axes = [
                    Bound("spatial", m, count, "vm"),
                    Bound("spatial", k + self.depth, self.depth + rest, "vk"),
                ]
                with self.blocked("fill", axes) as (_, (vm, vk)):
                    self.put(self.zero(), target, vm, vk)

    def verb(self, flip: bool) -> str:
        """Returns the name of the block that copies elements of a."""
        return "shift" if flip else "extend" if self.extends else "copy"

    def _change_rows(self, target: SSAValue, first: int, count: int) -> None:
        """Emits the copy of `copy_rows` with flipped sign bits, or of 16 bits, where k is contiguous."""
        builder, c = self.builder, self.c
        for start, width, number in row_parts(self.depth):
            with builder.nest([count, number], ["m", "k"]) as (m, k):
                axes = [Bound("spatial", m, count, "vm"), Bound("spatial", k, number, "vk")]
                with self.blocked(self.verb(not self.extends), axes) as (at, (vm, vk)):
                    if c.m is not None:
                        at[c.m] = builder.sum(vm, first)
                    column = builder.sum(builder.scaled(vk, width), start)
                    at[c.k] = column
                    indices = [builder.affine(index, at) for index in c.a.indices]
                    self.change(c.a.buffer, indices, target, [vm, column], width)

    def change(
        self, source: SSAValue, indices: Sequence[SSAValue], target: SSAValue, places: Sequence[Index], width: int
    ) -> None:
        """
        Emits the copy of `width` neighbouring bytes of a with the other sign bits, or extended.

        A kernel with a loop for LLVM to make vectors of would lose its short way through LLVM (`effort.py`).
        """
        builder = self.builder
        loaded = builder.add(tile.LoadOp(source, indices, VectorType(i8, [1, width]), (-1, len(indices) - 1))).result
        changed = self._mapped(loaded, self.c.a.unsigned if self.extends else None)
        builder.add(tile.StoreOp(changed, target, [builder.value(each) for each in places], (-1, len(places) - 1)))

    def _mapped(self, loaded: SSAValue, unsigned: bool | None) -> SSAValue:
        """Returns a tile of bytes extended, with their signs or without, or with the other sign bits for `None`."""
        assert isinstance(loaded.type, VectorType)
        body = Block(arg_types=[i8])
        with self.builder.inside(body):
            (byte,) = body.args
            changed = self.flipped(byte) if unsigned is None else self.extended(byte, unsigned)
            self.builder.add(tile.YieldOp(changed))
        type_ = VectorType(changed.type, loaded.type.get_shape())
        return self.builder.add(tile.MapOp([loaded], type_, Region(body))).result

    def flipped(self, value: SSAValue) -> SSAValue:
        """Returns a byte with the other sign bit."""
        sign = self.builder.constant(IntegerAttr(SIGN, i8))
        return self.builder.add(arith.XOrIOp(value, sign)).result

    # The right operand

    def pack(self, target: SSAValue, once: bool = False) -> None:
        """
        Emits `target[p, tap * groups + q, j, e] = b[tap, 4 * q + e, width * p + j]`, and 0 where b has no such row.

        What runs `once`, when weights are loaded, gets no loops for LLVM to make vectors of. They take longer to
        compile than bytes to copy.
        """
        whole, rest = divmod(self.depth, self.group)
        filled = whole + (rest > 0)
        first = 0
        for width, count in split_columns(self.columns, self.width):
            panels = (first, count, width)
            for group, number, rows in ((0, whole, self.group), (whole, filled - whole, rest)):
                if number:
                    self._pack_panels(target, panels, (group, number, rows), once)
            if self.groups > filled:
                self._pack_panels(target, panels, (filled, self.groups - filled, 0), once)
            first += count
        rest = self.columns % self.width
        if once and rest:
            self._fill_columns(target, first - 1, rest)

    def _fill_columns(self, target: SSAValue, panel: int, first: int) -> None:
        """
        Puts zeros into the columns of a panel that b has none for. Tile registers read them, and what a function
        returns must be written.
        """
        builder = self.builder
        taps = [(self.c.extents[axis], f"t{axis}") for axis in self.taps]
        extents, names = zip(*taps, (self.groups, "q"), (self.width - first, "n"), strict=True)
        with builder.nest(extents, names) as (*loops, q, n):
            axes = [
                *(Bound("spatial", t, *tap) for t, tap in zip(loops, taps, strict=True)),
                Bound("spatial", q, self.groups, "vq"),
                Bound("spatial", n + first, self.width, "vn"),
            ]
            with self.blocked("fill", axes) as (at, (*tap, vq, vn)):
                at.update(zip(self.taps, tap, strict=True))
                place = builder.sum(builder.scaled(self.tap(at), self.groups), vq)
                for element in range(self.group):
                    self.put(self.zero(), target, panel, place, vn, element)

    def _pack_panels(
        self, target: SSAValue, panels: tuple[int, int, int], groups: tuple[int, int, int], once: bool
    ) -> None:
        """
        Copies b into panels.

        Panels are given as (first, how many, width), and groups as (first, how many, rows of b in each). Rows of b are
        read from end to end, and columns where those are contiguous in memory.
        """
        builder, c = self.builder, self.c
        (first, count, width), (first_group, number, rows) = panels, groups
        is_row = c.b.dimension_along(c.n) == (len(c.b.indices) - 1, 1) and c.b.dimension_along(c.k) is not None
        if is_row and rows == self.group:
            self._interleave_panels(target, panels, (first_group, number))
            return
        by_columns = c.b.stride_along(c.k) == 1
        outer = [(count, "p"), (number, "q")] if by_columns else [(number, "q"), (count, "p")]
        taps = [(c.extents[axis], f"t{axis}") for axis in self.taps]
        extents, names = zip(*taps, *outer, (width, "n"), strict=True)
        with builder.nest(extents, names, "serial" if is_row or once else "vectorized") as loops:
            *outer_loops, n = loops[len(taps) :]
            p, q = outer_loops if by_columns else reversed(outer_loops)
            axes = [
                *(Bound("spatial", t, *tap) for t, tap in zip(loops, taps, strict=False)),
                Bound("spatial", p + first, first + count, "vp"),
                Bound("spatial", q + first_group, first_group + number, "vq"),
                Bound("spatial", n, width, "vn"),
            ]
            with self.blocked("pack", axes) as (at, (*tap, vp, vq, vn)):
                at.update(zip(self.taps, tap, strict=True))
                at[c.n] = builder.sum(builder.scaled(vp, self.width), vn)
                place = builder.sum(builder.scaled(self.tap(at), self.groups), vq)
                values = [
                    self.element(c.b, at | {c.k: builder.sum(builder.scaled(vq, self.group), row)})
                    for row in range(rows)
                ]
                if rows < self.group:
                    values += [self.zero()] * (self.group - rows)
                for element, value in enumerate(values):
                    self.put(value, target, vp, place, vn, element)

    def _interleave_panels(self, target: SSAValue, panels: tuple[int, int, int], groups: tuple[int, int]) -> None:
        """
        Copies whole groups of b, whose rows are contiguous in memory, into panels: a tile of b is stored by columns.

        A kernel with a loop for LLVM to make vectors of would lose its short way through LLVM (`effort.py`).
        """
        builder, c = self.builder, self.c
        (first, count, width), (first_group, number) = panels, groups
        taps = [(c.extents[axis], f"t{axis}") for axis in self.taps]
        extents, names = zip(*taps, (number, "q"), (count, "p"), strict=True)
        with builder.nest(extents, names) as (*loops, q, p):
            axes = [
                *(Bound("spatial", t, *tap) for t, tap in zip(loops, taps, strict=True)),
                Bound("spatial", p + first, first + count, "vp"),
                Bound("spatial", q + first_group, first_group + number, "vq"),
            ]
            with self.blocked("pack", axes) as (at, (*tap, vp, vq)):
                at.update(zip(self.taps, tap, strict=True))
                at |= {c.n: builder.scaled(vp, self.width), c.k: builder.scaled(vq, self.group)}
                source = place_of(builder, c.b, at, c.k, c.n)
                type_ = vector_type(c.b.type.element_type, (self.group, width))
                loaded = builder.add(tile.LoadOp(source.buffer, source.indices, type_, source.along, source.by)).result
                if self.extends:
                    loaded = self._mapped(loaded, c.b.unsigned)
                group = builder.sum(builder.scaled(self.tap(at), self.groups), vq)
                place = [builder.value(index) for index in (vp, group, 0, 0)]
                builder.add(tile.StoreOp(loaded, target, place, (3, 2)))

    # Elements

    def element(self, operand: Operand, at: Mapping[int, Index]) -> SSAValue:
        """Returns one element of an operand."""
        indices = [self.builder.affine(index, at) for index in operand.indices]
        return self.extended(self.builder.add(memref.LoadOp.get(operand.buffer, indices)).res, operand.unsigned)

    @property
    def extends(self) -> bool:
        """Returns whether bytes are extended to 16 bits."""
        return self.element_type == i16

    def extended(self, value: SSAValue, unsigned: bool) -> SSAValue:
        """Returns an element of an operand as it is laid out."""
        if not self.extends:
            return value
        extend = arith.ExtUIOp if unsigned else arith.ExtSIOp
        return self.builder.add(extend(value, i16)).result

    def zero(self) -> SSAValue:
        """Returns the zero that operands are filled up with."""
        element = self.element_type
        number = IntegerAttr(0, element) if isinstance(element, IntegerType) else FloatAttr(0.0, element)  # pyright: ignore
        return self.builder.constant(number)

    def put(self, value: SSAValue, target: SSAValue, *indices: Index) -> None:
        """Stores an element."""
        builder = self.builder
        builder.add(memref.StoreOp.get(value, target, [builder.value(index) for index in indices]))


def taps_of(c: Contraction) -> list[int]:
    """Returns the reduce axes beside k that run more than once. In convolutions these are the places in the window."""
    return [axis for axis in c.reduce if c.extents[axis] > 1]


def panels_shape(c: Contraction, width: int, groups: int, group: int) -> list[int]:
    """Returns the shape of b in panels: `[panel, taps * k / group, column, group]`, with 4 bytes or 2 of 16 bits."""
    taps = prod(c.extents[axis] for axis in c.reduce)
    return [ceil(c.extent(c.n) / width), taps * groups, width, group]
