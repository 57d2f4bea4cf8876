"""
Depthwise convolutions as loops over register tiles of pixels x channels: `out[p, c] += a[p + tap, c] * b[tap, c]`.

Every tap of the window is spelled out; a vector of channels of b serves all pixels of a tile. At the borders the taps that would read
padding are left out, so that no padded copy is made: outputs with the same taps inside the image form a run of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, ModuleOp, VectorType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ..analysis.affine import is_linear, linear_terms, normal_form
from ..analysis.loop_nests import levels_of, perfect_block
from ..analysis.reductions import accumulators
from ..analysis.reorder import is_reassociable, may_reorder
from ..dialects import tile
from ..dialects.tensor_loop import BlockOp, GridOp
from .contraction import (
    Contraction,
    Operand,
    alone,
    bound_in_order,
    factors_of,
    index_ranges,
    initial_value,
)
from .epilogue import Epilogue, emit_epilogue, epilogue_of, place_of
from .loop_builder import Bound, Index, NestBuilder
from .padding import erase_with_buffers, is_zero, pad_before, padded_copy
from .register_tiles import fits, split_columns, split_evenly
from .targets import X86_64_V4, Target

MOST_TAPS = 32
"""Taps of a window that are spelled out."""

MOST_PIECES = 200
"""Taps of all runs together up to which runs of their own are made at the borders; else the image is copied with its padding."""

MOST_VECTORS = 4
"""Vectors of channels of a tile: four leave room for six pixels."""

Taps = tuple[tuple[int, ...], ...]
"""Places in the window: a number per reduce axis."""


@dataclass(frozen=True)
class Run:
    """Outputs along an axis that read the same taps inside the image."""

    start: int
    count: int
    taps: frozenset[tuple[int, ...]]


@dataclass(frozen=True)
class Depthwise:
    """A grid that sums few products of elements with the same channel; `c` has the roles of its axes, its `k` means nothing."""

    c: Contraction
    pad: GridOp | None = None
    """What makes a padded copy of the image that is not needed."""

    @property
    def reduce(self) -> tuple[int, ...]:
        return tuple(axis for axis, kind in enumerate(self.c.block.kinds) if kind == "reduce")

    def taps(self) -> Taps:
        """All places in the window."""
        return tuple(product(*(range(self.c.extents[axis]) for axis in self.reduce)))

    def runs(self, axis: int) -> list[Run]:
        """The outputs along a spatial axis, in order."""
        found: list[Run] = []
        dimensions = [
            (index, size)
            for low, high, index, size in index_ranges(self.c.a, self.c.block)
            if axis in index.used_dims() and (low < 0 or high >= size)
        ]
        taps = self.taps()
        for at in range(self.c.extents[axis] if dimensions else 0):
            inside = frozenset(
                tap for tap in taps if all(0 <= self._index(i, axis, at, tap) < n for i, n in dimensions)
            )
            if found and found[-1].taps == inside:
                found[-1] = replace(found[-1], count=found[-1].count + 1)
            else:
                found.append(Run(at, 1, inside))
        return found or [Run(0, self.c.extents[axis], frozenset(taps))]

    def _index(self, index: AffineExpr, axis: int, at: int, tap: tuple[int, ...]) -> int:
        values = {axis: at, **dict(zip(self.reduce, tap, strict=True))}
        terms, total = linear_terms(index)
        for atom, factor in terms.items():
            assert isinstance(atom, AffineDimExpr)
            total += factor * values[atom.position]
        return total

    @property
    def spatial(self) -> tuple[int, ...]:
        """The axes but the channels, those with loops outside first."""
        assert self.c.m is not None
        return (*self.c.outer, self.c.m)


def depthwise_of(grid: GridOp) -> Depthwise | None:
    """The depthwise convolution that `grid` computes, `None` when it is none that can be tiled."""
    block = perfect_block(levels_of(grid))
    if block is None or block.constraints or not block.has_reduce_axes or not bound_in_order(grid, block):
        return None
    extents = tuple(extent for extent in block.extents if isinstance(extent, int))
    if len(extents) != len(block.extents) or 0 in extents or not _is_short(block, extents):
        return None
    if not may_reorder(block):
        return None
    found = accumulators(block)
    if found is None or len(found) != 1 or not is_reassociable(found[0]):
        return None
    out = Operand(found[0].buffer, found[0].indices)
    init, factors = initial_value(block, found[0]), factors_of(found[0], block)
    if init is None or factors is None or not all(is_linear(index) for index in out.indices):
        return None
    if any(each.type.element_type != out.type.element_type for each in factors):
        return None
    for a, b in (factors, factors[::-1]):
        roles = _roles(block, extents, a, b, out)
        if roles is not None:
            m, n, outer = roles
            c = Contraction(grid, block, extents, a, b, out, init, m, n, -1, outer, ())
            return _without_copy(Depthwise(c))
    return None


def _is_short(block: BlockOp, extents: Sequence[int]) -> bool:
    """Whether the taps can be spelled out."""
    return prod(e for e, kind in zip(extents, block.kinds, strict=True) if kind == "reduce") <= MOST_TAPS


def _roles(
    block: BlockOp, extents: Sequence[int], a: Operand, b: Operand, out: Operand
) -> tuple[int, int, tuple[int, ...]] | None:
    """Axes m and n and the other spatial ones."""
    spatial = [axis for axis, kind in enumerate(block.kinds) if kind == "spatial"]
    columns = [
        axis
        for axis in spatial
        if extents[axis] > 1
        and all(alone(each, axis) and each.stride_along(axis) == 1 for each in (a, b, out))
    ]
    if b.padding is not None or len(columns) != 1:
        return None
    (n,) = columns
    rows = [axis for axis in spatial if axis not in b.axes() and extents[axis] > 1 and alone(out, axis)]
    rows = [axis for axis in rows if _moves_apart(a, axis, n) and _moves_apart(out, axis, n)]
    if not rows or any(axis in b.axes() for axis in spatial if axis != n and extents[axis] > 1):
        return None
    m = rows[-1]
    return m, n, tuple(axis for axis in spatial if axis not in (m, n))


def _moves_apart(operand: Operand, axis: int, columns: int) -> bool:
    """Whether `axis` moves in one dimension, forwards, which is not that of the columns."""
    first, second = operand.dimension_along(axis), operand.dimension_along(columns)
    return first is not None and second is not None and first[1] > 0 and first[0] != second[0]


# Padding


def _without_copy(d: Depthwise) -> Depthwise:
    """`d` on the image itself where it reads a padded copy and the runs at the borders are few."""
    producer = pad_before(d.c)
    if producer is None:
        return d
    grid, source = producer
    composed = tuple(
        normal_form(index.replace_dims_and_symbols(list(d.c.a.indices), ())) for index in source.indices
    )
    direct = Depthwise(replace(d.c, a=replace(source, indices=composed)), grid)
    if not all(is_linear(index) for index in composed) or not has_runs(direct):
        return d
    return direct


def has_runs(d: Depthwise) -> bool:
    """Whether what is outside the image can be left out: it is zero, each padded index moves with one axis, and runs are few."""
    assert d.c.m is not None
    if d.c.a.padding is None:
        return True
    if not is_zero(d.c.a.padding):
        return False
    place = d.c.a.dimension_along(d.c.n)
    for dimension, (low, high, index, size) in enumerate(index_ranges(d.c.a, d.c.block)):
        spatial = [axis for axis in d.spatial if axis in index.used_dims() and d.c.extents[axis] > 1]
        if (low < 0 or high >= size) and (
            len(spatial) != 1
            or spatial[0] not in d.spatial[-2:]
            or place is None
            or place[0] == dimension
            or index.used_dims() & _units(d)
        ):
            return False
    pieces = 0
    for runs in product(*(d.runs(axis) for axis in d.spatial)):
        pieces += len(frozenset.intersection(*(run.taps for run in runs)))
    return pieces <= MOST_PIECES


def _units(d: Depthwise) -> set[int]:
    """The spatial axes of extent 1."""
    return {axis for axis in d.spatial if d.c.extents[axis] == 1}


# Loops


def tile_all_depthwise(module: ModuleOp, target: Target) -> int:
    """Tiles the depthwise convolutions of a module, before the padded copies that they need not are; how many."""
    count = 0
    for grid in [found for found in module.walk() if isinstance(found, GridOp)]:
        found = None if grid.parent is None else depthwise_of(grid)
        if found is not None:
            tile_depthwise(found, target)
            count += 1
    return count


def tile_depthwise(d: Depthwise, target: Target = X86_64_V4) -> None:
    """Replaces the grid of `d`, and the padded copy before it that is no longer needed, by loops over register tiles."""
    block = Block()
    builder = NestBuilder(block, d.c.block)
    source, epilogue = d, epilogue_of(d.c)
    if d.c.a.padding is not None and not has_runs(d):
        d = replace(d, c=replace(d.c, a=padded_copy(builder, d.c)))
    _Emitter(builder, d, epilogue, target).run()
    parent = d.c.grid.parent
    assert parent is not None
    ops = list(block.ops)
    for op in ops:
        op.detach()
    last = d.c.grid if epilogue is None else epilogue.grid
    parent.insert_ops_before(ops, last)
    for grid in {source.c.grid: None, last: None, source.pad: None}:
        if grid is not None:
            erase_with_buffers(grid)


class _Emitter:
    """Emits the nest of one depthwise convolution."""

    def __init__(self, builder: NestBuilder, d: Depthwise, epilogue: Epilogue | None, target: Target):
        self.builder = builder
        self.d = d
        self.c = d.c
        self.epilogue = epilogue
        lanes = target.lanes(d.c.tile_element.size)  # pyright: ignore[reportAttributeAccessIssue]
        vectors = min(MOST_VECTORS, ceil(d.c.extent(d.c.n) / lanes))
        while vectors > 1 and not fits(2, vectors, target):
            vectors -= 1
        self.columns = min(d.c.extent(d.c.n), vectors * lanes)
        self.rows = max(
            rows for rows in range(1, target.registers) if rows == 1 or fits(rows, vectors, target)
        )
        self.runs = {axis: d.runs(axis) for axis in d.spatial}

    def run(self) -> None:
        """Batches, rows and pixels with the same taps; the panels of channels innermost, in the order of memory."""
        *outer, last = self.c.outer or (None,)
        rows = [Run(0, 1, frozenset(self.d.taps()))] if last is None else self.runs[last]
        with self.builder.nest([self.c.extents[a] for a in outer], [f"s{a}" for a in outer]) as batch:
            places = dict(zip(outer, batch, strict=True))
            for row in rows:
                with self.builder.loop(row.count, "y") as y:
                    self._pixels(places, (last, y, row))

    def _pixels(self, batch: dict[int, AffineExpr], row: tuple[int | None, AffineExpr, Run]) -> None:
        """The tiles of a row of an image."""
        assert self.c.m is not None
        for pixels in self.runs[self.c.m]:
            start, taps = pixels.start, row[2].taps & pixels.taps
            for size, number in split_evenly(pixels.count, self.rows):
                with self.builder.loop(number, "x") as x:
                    first = 0
                    for width, count in split_columns(self.c.extent(self.c.n), self.columns):
                        with self.builder.loop(count, "p") as panel:
                            self._tile(
                                batch, row, (x, number, start, size), (panel, count, first, width), taps
                            )
                        first += width * count
                start += size * number

    def _tile(
        self,
        batch: dict[int, AffineExpr],
        row: tuple[int | None, AffineExpr, Run],
        pixels: tuple[AffineExpr, int, int, int],
        panels: tuple[AffineExpr, int, int, int],
        taps: frozenset[tuple[int, ...]],
    ) -> None:
        c, builder = self.c, self.builder
        assert c.m is not None
        (last, y, run), (x, number, start, size), (panel, count, first, width) = row, pixels, panels
        axes = [
            *(Bound("spatial", at, c.extents[axis], f"vs{axis}") for axis, at in batch.items()),
            Bound("spatial", y, run.count, "vy"),
            Bound("spatial", panel, count, "vp"),
            Bound("spatial", x, number, "vx"),
        ]
        with builder.blocked(c.block.block_name.data, axes) as values:
            *outer, vy, vp, vx = values
            at: dict[int, Index] = dict(zip(batch, outer, strict=True))
            if last is not None:
                at[last] = builder.sum(vy, run.start)
            at[c.m] = builder.sum(builder.scaled(vx, size), start)
            at[c.n] = builder.sum(builder.scaled(vp, width), first)
            total = self._sum(at, VectorType(c.tile_element, [size, width]), taps)
            if self.epilogue is None or self.epilogue.keeps_result:
                place = place_of(builder, c.out, at, c.m, c.n)
                builder.add(tile.StoreOp(total, place.buffer, place.indices, place.along, place.by))
            if self.epilogue is not None:
                emit_epilogue(builder, c, self.epilogue, total, at)

    def _sum(self, at: dict[int, Index], type_: VectorType, taps: frozenset[tuple[int, ...]]) -> SSAValue:
        c, builder = self.c, self.builder
        number = c.init.value.data  # pyright: ignore[reportAttributeAccessIssue]
        splat = DenseIntOrFPElementsAttr.from_list(type_, [number])  # pyright: ignore
        total = builder.constant(splat)
        for tap in sorted(taps):
            here = at | dict(zip(self.d.reduce, tap, strict=True))
            factors = list(self.factors(here, type_))
            total = builder.add(tile.MapOp([total, *factors], type_, self._step())).result
        return total

    def factors(self, at: dict[int, Index], type_: VectorType) -> Iterator[SSAValue]:
        for operand in (self.c.a, self.c.b):
            place = place_of(self.builder, operand, at, self.c.m, self.c.n)
            yield self.builder.add(
                tile.LoadOp(place.buffer, place.indices, type_, place.along, place.by)
            ).result

    def _step(self) -> Region:
        """`total + a * b`, rounded once where that is faster."""
        element = self.c.tile_element
        body = Block(arg_types=[element] * 3)
        total, left, right = body.args
        if isinstance(self.c.init, IntegerAttr):
            times: Operation = arith.MuliOp(left, right)
            plus: Operation = arith.AddiOp(total, times.results[0])
        else:
            flags = arith.FastMathFlagsAttr([FastMathFlag.REASSOC, FastMathFlag.ALLOW_CONTRACT])
            times = arith.MulfOp(left, right, flags)
            plus = arith.AddfOp(total, times.results[0], flags)
        body.add_ops([times, plus, tile.YieldOp(plus.results[0])])
        return Region(body)
