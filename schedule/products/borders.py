"""
Convolutions on register tiles without a padded copy of the image. Reads of padding are left out.

    tap 0 of an image with one column of padding, step 2:      rows of the tile   0  1  2  3  4  5
                                                               columns           -1  1  3  5  7  9
                                                               added to              1  2  3  4  5

Along the axis of the rows of tiles, tiles at a border get code of their own. In it each tap is added to the rows that
it finds inside the image (`rows` of `tile.mma`). Along other axes a tap that finds nothing inside is skipped when the
kernel runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ...analysis.affine import linear_terms
from ...lazy_dataclass import dataclass
from ..kernels.contraction import Contraction, index_ranges
from ..kernels.padding import is_zero
from ..kernels.register_tiles import split_evenly
from ..kernels.scheduled_nest import Index, ScheduledNest

MOST_RUNS = 24
"""
Runs of taps of all tiles at borders together up to which those get code of their own. With more the image is copied
with its padding.
"""

MOST_TILES = 1000
"""Tiles at borders up to which their runs are counted. There are more only where the padding is very large."""


@dataclass(frozen=True)
class Run:
    """A run of taps one after the other that find the same rows of a tile inside the image."""

    first: int
    count: int
    row: int
    """The first row inside."""
    rows: int


@dataclass(frozen=True)
class Border:
    """A dimension of the image in which `start + by * axis + step * tap` may be outside of 0..size."""

    size: int
    start: int
    axis: int | None
    """The spatial axis. It is `None` where the index is always 0."""
    by: int
    tap: int
    """A reduce axis."""
    step: int
    before: bool
    """True where it may be less than 0."""
    after: bool
    """True where it may be `size` or more."""

    def runs(self, first: int, rows: int, taps: int) -> list[Run]:
        """
        Returns the runs of the tile of `rows` rows from row `first` on. Taps that find nothing inside are in none.
        """
        found: list[Run] = []
        for tap in range(taps):
            places = [self.start + self.by * (first + row) + self.step * tap for row in range(rows)]
            inside = [row for row, place in enumerate(places) if 0 <= place < self.size]
            if not inside:
                continue
            run = Run(tap, 1, inside[0], len(inside))
            last = found[-1] if found else None
            if last is not None and last.first + last.count == tap and (last.row, last.rows) == (run.row, run.rows):
                found[-1] = replace(last, count=last.count + 1)
            else:
                found.append(run)
        return found

    def rows_inside(self, taps: int) -> range:
        """Returns the rows that all `taps` find inside the image. There may be none."""
        # Neither `by` nor `step` is negative, so the first tap is the lowest.
        end = self.size - self.start - self.step * (taps - 1)
        return range(-(self.start // self.by), -(-end // self.by))


@dataclass(frozen=True)
class Borders:
    """The borders of the image of a contraction."""

    c: Contraction
    across: Border | None
    """The border along the rows of tiles."""
    down: tuple[Border, ...]

    @cached_property
    def taps(self) -> int:
        """Returns the extent of the reduce axis of `across`."""
        return 1 if self.across is None else self.c.extents[self.across.tap]

    def heights(self, most: int) -> list[tuple[int, int, int]]:
        """
        Returns tiles of at most `most` rows, in order, as (rows, first row, how many). A tile that is at a border
        stands alone.
        """
        found: list[tuple[int, int, int]] = []
        start = 0
        for rows, count in split_evenly(self.c.extent(self.c.m), most):
            first, end = self._inside(start, rows, count)
            found += [(rows, start + tile * rows, 1) for tile in range(first)]
            if first < end:
                found.append((rows, start + first * rows, end - first))
            found += [(rows, start + tile * rows, 1) for tile in range(end, count)]
            start += rows * count
        return found

    def _inside(self, start: int, rows: int, count: int) -> tuple[int, int]:
        """Returns which of `count` tiles from row `start` on have all taps inside the image: the first and the end."""
        if self.across is None:
            return 0, count
        inside = self.across.rows_inside(self.taps)
        first = min(max(-((start - inside.start) // rows), 0), count)
        return first, max(first, min((inside.stop - start) // rows, count))

    def runs(self, height: tuple[int, int, int]) -> list[Run]:
        """Returns the taps of `across` of tiles of one height."""
        rows, start, _ = height
        if self.across is None:
            return [Run(0, self.taps, 0, rows)]
        return self.across.runs(start, rows, self.taps)

    def _is_at_border(self, start: int, rows: int) -> bool:
        return self._inside(start, rows, 1) != (0, 1)

    def fit(self, most: int) -> bool:
        """Returns whether tiles of at most `most` rows have few runs at borders."""
        start = 0
        for rows, count in split_evenly(self.c.extent(self.c.m), most):
            first, end = self._inside(start, rows, count)
            if count - (end - first) > MOST_TILES:
                return False
            start += rows * count
        found = [self.runs(height) for height in self.heights(most) if self._is_at_border(height[1], height[0])]
        return sum(len(runs) for runs in found) <= MOST_RUNS


def borders_of(c: Contraction) -> Borders | None:
    """
    Returns the borders of `c`, or `None` where the elements outside cannot be left out.

    They cannot when they are not zero. They cannot either when an index that may be outside moves with other axes than
    one spatial axis and one reduce axis that is not k.
    """
    if c.a.padding is None or not is_zero(c.a.padding):
        return None
    across: Border | None = None
    down: list[Border] = []
    for low, high, index, size in index_ranges(c.a, c.block):
        if low >= 0 and high < size:
            continue
        terms, start = linear_terms(index)
        factors = {atom.position: by for atom, by in terms.items() if isinstance(atom, AffineDimExpr)}
        moving = [axis for axis in factors if c.extents[axis] > 1]
        taps = [axis for axis in factors if axis in c.reduce]
        axes = [axis for axis in moving if axis not in taps]
        if len(taps) != 1 or len(axes) > 1 or any(axis in (c.k, c.n) for axis in factors):
            return None
        axis, tap = axes[0] if axes else None, taps[0]
        by = 0 if axis is None else factors[axis]
        if min(by, factors[tap]) < 0:
            return None
        border = Border(size, start, axis, by, tap, factors[tap], low < 0, high >= size)
        if axis is not None and axis == c.m:
            if across is not None:
                return None
            across = border
        else:
            down.append(border)
    taken = [border.tap for border in (*down, *([] if across is None else [across]))]
    return Borders(c, across, tuple(down)) if len(set(taken)) == len(taken) else None


def emit_where_inside(
    builder: ScheduledNest,
    borders: Borders,
    tap: int,
    at: dict[int, Index],
    carried: SSAValue,
    body: Callable[[SSAValue], SSAValue],
) -> SSAValue:
    """
    Returns `body` of a tile where the tap at `at[tap]` along a reduce axis is inside the image, else the tile as it is.
    """
    inside = _inside(builder, borders, tap, at)
    if not isinstance(inside, SSAValue):
        return body(carried) if inside else carried
    then, otherwise = Block(), Block()
    with builder.inside(then):
        builder.add(scf.YieldOp(body(carried)))
    with builder.inside(otherwise):
        builder.add(scf.YieldOp(carried))
    return builder.add(scf.IfOp(inside, [carried.type], Region(then), Region(otherwise))).results[0]


def _inside(builder: ScheduledNest, borders: Borders, tap: int, at: dict[int, Index]) -> SSAValue | bool:
    """Returns whether a tap is inside the image, as far as other axes than the rows of tiles tell."""
    found: list[SSAValue] = []
    for border in borders.down:
        if border.tap != tap:
            continue
        moved = 0 if border.axis is None else builder.scaled(at[border.axis], border.by)
        place = builder.sum(builder.sum(moved, builder.scaled(at[tap], border.step)), border.start)
        if isinstance(place, int):
            if not 0 <= place < border.size:
                return False
            continue
        for needed, predicate, limit in ((border.before, "sge", 0), (border.after, "slt", border.size)):
            if needed:
                found.append(builder.add(arith.CmpiOp(place, builder.value(limit), predicate)).result)
    if not found:
        return True
    holds = found[0]
    for other in found[1:]:
        holds = builder.add(arith.AndIOp(holds, other)).result
    return holds
