"""Emits the loops of a reduction over windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...core.ir.cloning import clone_op
from ...dialects.tensor_loop import AllocOp
from ..kernels.contraction import Operand
from ..kernels.padding import erase_with_buffers
from ..kernels.scheduled_nest import ZERO, Bound, Index, ScheduledNest
from .extremes import combined
from .plan import WindowPlan
from .window import Side, Window

At = Mapping[int, Index]

MOST_ROWS = 16
"""
The most rows of combinations that are made before they are read. Vectors that start between those that were just stored
wait until these are in the cache. Other rows fill that time.
"""


def apply_window(window: Window, plan: WindowPlan) -> None:
    """
    Replaces the grid of a window by the loops of its plan.

    Before:

        tensor_loop.grid (%c, %oh, %ow, %kh, %kw) in (64, 56, 56, 3, 3) { <out[c, oh, ow] max image[..]> }

    After, with channels first:

        tensor_loop.for %c in 64 {
          tensor_loop.for %r, %w in 14, 2 { <row[c, r, border] = -inf> }
          tensor_loop.for %oh in 4 {
            tensor_loop.for %r, %w in 14, 112 vectorized { <row[c, r, w + 1] = maximum of three rows of the image> }
            tensor_loop.for %r, %ow in 14, 56 vectorized { <out[c, 14 oh + r, ow] = maximum of three of row[c, r]> } } }

    An index outside of the image is moved to its border. Where the window holds the element there and may take it
    twice, that is all. Else the initial number is chosen instead.
    """
    block = Block()
    WindowNest(ScheduledNest(block, window.block), window, plan).run()
    parent = window.grid.parent
    assert parent is not None
    ops = list(block.ops)
    for op in ops:
        op.detach()
    parent.insert_ops_before(ops, window.grid)
    window.grid.detach()
    window.grid.erase()
    if window.copy is not None:
        erase_with_buffers(window.copy)


class WindowNest:
    """The nest of one window. Beside the axes of the grid it has the columns of a row, chunks of channels and lanes."""

    def __init__(self, builder: ScheduledNest, window: Window, plan: WindowPlan):
        self.builder = builder
        self.window = window
        self.plan = plan
        self.name = window.block.block_name.data
        names = [(axis.name_hint or f"v{number}").removeprefix("v") for number, axis in enumerate(window.block.axes)]
        self.column, self.chunk, self.lane, self.turn = range(len(names), len(names) + 4)
        self.names = [*names, "column", "chunk", "lane", "turn"]
        chunks = window.extents[plan.vector] // plan.chunk if plan.chunk else 1
        width = plan.row.size if plan.row is not None else 1
        self.extents = [*window.extents, width, chunks, max(plan.chunk, 1), self._rows_at_a_time()]

    def _rows_at_a_time(self) -> int:
        """Returns how many rows are combined before they are read. Vectors of channels start where they are stored."""
        others = [side for side in self.window.sides if side is not self.plan.row]
        if self.plan.chunk or self.plan.row is None or len(others) != 1:
            return 1
        rows = self.window.extents[others[0].axis]
        return max(count for count in range(1, MOST_ROWS + 1) if rows % count == 0)

    def run(self) -> None:
        """Emits all loops."""
        window, plan = self.window, self.plan
        if plan.row is not None:
            self._by_rows(plan.row)
            return
        outer = [n for n, kind in enumerate(window.block.kinds) if kind == "spatial" and n != plan.vector]
        with self.builder.nest([self.extents[n] for n in outer], [f"i_{self.names[n]}" for n in outer]) as variables:
            around = dict(zip(outer, variables, strict=True))
            self._reduce(self.name, around, [plan.vector], window.sides, window.out)

    def _by_rows(self, row: Side) -> None:
        """Emits the loops over images and rows, with a row of combinations for each image."""
        window, plan, builder = self.window, self.plan, self.builder
        lanes = [self.lane] if plan.chunk else []
        kept = [axis for axis in window.free if not plan.chunk or axis != plan.vector]
        kept += [self.chunk] if plan.chunk else []
        turns = [self.turn] if self.extents[self.turn] > 1 else []
        width = max(row.size, row.last + 1) + row.pad
        shape = [*(self.extents[axis] for axis in [*kept, *turns]), width, *(self.extents[axis] for axis in lanes)]
        buffer = builder.add(AllocOp(MemRefType(window.element, shape))).results[0]
        buffer.name_hint = "row"

        def place(column: AffineExpr) -> Operand:
            return Operand(buffer, (*map(AffineDimExpr, [*kept, *turns]), column, *map(AffineDimExpr, lanes)))

        column = AffineDimExpr(self.column)
        others = [side for side in window.sides if side is not row]
        with self._loops(kept) as around:
            for start, count in ((0, row.pad), (row.pad + row.size, max(0, row.last + 1 - row.size))):
                self._border(around, turns, lanes, place(column + start), count)
            down = [side.axis for side in others]
            with self._loops(down, self.extents[self.turn]) as rows:
                with self._loops(turns) as inner:
                    at = {**around, **self._moved(rows, inner), **inner}
                    self._reduce(f"{self.name}_rows", at, [self.column, *lanes], others, place(column + row.pad))
                start = AffineDimExpr(row.axis) * row.step + AffineDimExpr(row.tap) * row.apart
                with self._loops(turns) as inner:
                    at = {**around, **self._moved(rows, inner), **inner}
                    self._windows(at, [row.axis, *lanes], place(start), row)

    @contextmanager
    def _loops(self, axes: Sequence[int], by: int = 1) -> Iterator[dict[int, AffineExpr]]:
        """Emits loops over axes, in steps of `by`, and gives the variable of each."""
        names = [f"i_{self.names[n]}" for n in axes]
        with self.builder.nest([self.extents[n] // by for n in axes], names) as variables:
            yield dict(zip(axes, variables, strict=True))

    def _moved(self, rows: Mapping[int, AffineExpr], inner: Mapping[int, AffineExpr]) -> dict[int, AffineExpr]:
        """Returns the rows that are meant inside of the loop over some of them."""
        if not inner:
            return dict(rows)
        return {axis: by * self.extents[self.turn] + inner[self.turn] for axis, by in rows.items()}

    def _border(
        self, around: dict[int, AffineExpr], turns: list[int], lanes: list[int], row: Operand, count: int
    ) -> None:
        """Emits initial numbers in `count` columns of a row."""
        if count == 0:
            return
        inner = [*turns, self.column, *lanes]
        extents = [*self.extents]
        extents[self.column] = count
        kind = "vectorized" if lanes else "serial"
        with self.builder.nest([extents[n] for n in inner], [self.names[n] for n in inner], kind) as variables:
            bounds = {**around, **dict(zip(inner, variables, strict=True))}
            axes = [Bound("spatial", by, extents[n], f"v{self.names[n]}") for n, by in bounds.items()]
            with self.builder.blocked(f"{self.name}_border", axes) as values:
                at = dict(zip(bounds, values, strict=True))
                self._store(self.builder.constant(self.window.initial), row, at)

    def _windows(self, around: dict[int, AffineExpr], inner: list[int], row: Operand, side: Side) -> None:
        """Emits the windows of one dimension on a row."""
        names = [f"i_{self.names[n]}" for n in inner]
        with self.builder.nest([self.extents[n] for n in inner], names, "vectorized") as variables:
            bounds = {**around, **dict(zip(inner, variables, strict=True))}
            axes = [Bound("spatial", by, self.extents[n], f"v{self.names[n]}") for n, by in bounds.items()]
            with self.builder.blocked(self.name, axes) as values:
                at = self._with_channel(dict(zip(bounds, values, strict=True)))
                taps = [self._load(row, {**at, side.tap: tap}) for tap in range(side.taps)]
                self._store(combined(self.builder, self.window, taps, None), self.window.out, at)

    def _with_channel(self, at: dict[int, Index]) -> At:
        """Adds the channel that a lane of a chunk stands for."""
        if not self.plan.chunk:
            return at
        builder = self.builder
        return {**at, self.plan.vector: builder.sum(builder.scaled(at[self.chunk], self.plan.chunk), at[self.lane])}

    # Taps

    def _reduce(
        self, name: str, around: dict[int, AffineExpr], inner: list[int], sides: Sequence[Side], out: Operand
    ) -> None:
        """Emits the inner loops, the last of vectors, with the taps of `sides` that are not written out around it."""
        builder, window = self.builder, self.window
        flat = [side.tap for side in sides if side in self.plan.unrolled]
        looped = [side.tap for side in sides if side not in self.plan.unrolled]
        order = [*inner[:-1], *looped, inner[-1]]
        names = [f"i_{self.names[n]}" for n in order]
        with builder.nest([self.extents[n] for n in order], names, "vectorized") as variables:
            bounds = {**around, **dict(zip(order, variables, strict=True))}
            axes = [self._bound(n, by) for n, by in bounds.items()]
            with builder.blocked(name, axes) as values:
                at = self._with_channel(dict(zip(bounds, values, strict=True)))
                old = None
                if looped:
                    with builder.init():
                        self._store(builder.constant(window.initial), out, at)
                    old = self._load(out, at)
                places = product(*(range(self.extents[tap]) for tap in flat))
                parts = [self._element({**at, **dict(zip(flat, place, strict=True))}) for place in places]
                self._store(combined(builder, window, parts, old), out, at)

    def _bound(self, axis: int, by: AffineExpr = ZERO) -> Bound:
        kinds = self.window.block.kinds
        kind = kinds[axis] if axis < len(kinds) else "spatial"
        return Bound(kind, by, self.extents[axis], f"v{self.names[axis]}")

    def _element(self, at: At) -> SSAValue:
        """Returns what the update takes at a tap: the element of the image, or the initial number outside of it."""
        window, builder = self.window, self.builder
        indices: list[SSAValue] = []
        inside: list[SSAValue] = []
        by_dimension = {side.dimension: side for side in window.sides}
        for dimension, expr in enumerate(window.image.indices):
            side = by_dimension.get(dimension)
            if side is not None and side is self.plan.row:
                indices.append(builder.value(at[self.column]))
                continue
            index = builder.affine(expr, at)
            if side is not None and side.is_guarded:
                inside += self._conditions(index, side)
                index = self._nearest(index, side)
            indices.append(index)
        loaded = builder.add(memref.LoadOp.get(window.image.buffer, indices)).res
        return self._computed(window.value, loaded, inside, {})

    def _nearest(self, index: SSAValue, side: Side) -> SSAValue:
        """Moves an index to the border of the image where it is outside."""
        builder = self.builder
        if side.pad > 0:
            index = builder.add(arith.MaxSIOp(index, builder.value(0))).result
        if side.last >= side.size:
            index = builder.add(arith.MinSIOp(index, builder.value(side.size - 1))).result
        return index

    def _conditions(self, index: SSAValue, side: Side) -> list[SSAValue]:
        """Returns the conditions for an index to be inside, none where the nearest element may be taken instead."""
        builder, found = self.builder, list[SSAValue]()
        if self.window.is_idempotent and side.holds_nearest:
            return found
        if side.pad > 0:
            found.append(builder.add(arith.CmpiOp(index, builder.value(0), "sge")).result)
        if side.last >= side.size:
            found.append(builder.add(arith.CmpiOp(index, builder.value(side.size), "slt")).result)
        return found

    def _computed(
        self, value: SSAValue, loaded: SSAValue, inside: list[SSAValue], made: dict[SSAValue, SSAValue]
    ) -> SSAValue:
        """Returns a copy of `value`, made from the number that was loaded."""
        if value in made:
            return made[value]
        owner = value.owner
        assert isinstance(owner, Operation)
        choice = self.window.choice
        if choice is not None and owner is choice:
            last = choice.true_region.block.last_op
            assert last is not None
            result = self._chosen(inside, self._computed(last.operands[0], loaded, inside, made))
        elif isinstance(owner, memref.LoadOp):
            result = loaded if self.window.copy is None else self._chosen(inside, loaded)
        else:
            operands = {each: self._computed(each, loaded, inside, made) for each in owner.operands}
            result = self.builder.add(clone_op(owner, operands)).results[0]
        made[value] = result
        return result

    def _chosen(self, inside: list[SSAValue], value: SSAValue) -> SSAValue:
        """Returns the value where all conditions hold, the number for padding elsewhere."""
        if not inside:
            return value
        condition = inside[0]
        for each in inside[1:]:
            condition = self.builder.add(arith.AndIOp(condition, each)).result
        padding = self.builder.constant(self.window.padding)
        return self.builder.add(arith.SelectOp(condition, value, padding)).result

    # Memory

    def _load(self, operand: Operand, at: At) -> SSAValue:
        indices = [self.builder.affine(index, at) for index in operand.indices]
        return self.builder.add(memref.LoadOp.get(operand.buffer, indices)).res

    def _store(self, value: SSAValue, operand: Operand, at: At) -> None:
        indices = [self.builder.affine(index, at) for index in operand.indices]
        self.builder.add(memref.StoreOp.get(value, operand.buffer, indices))
