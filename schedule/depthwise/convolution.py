"""
Depthwise convolutions as loops over register tiles of pixels x channels: `out[p, c] += a[p + tap, c] * b[tap, c]`.

No padded copy is made. Left and right the taps that would read padding are left out, and outputs with the same taps
inside the image form a run of their own. Above and below, whole rows of inputs are left out (`schedule.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from math import prod

from xdsl.dialects.builtin import f32, i8, i32
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...analysis.affine import is_linear, linear_terms
from ...analysis.loop_nests import levels_of, perfect_block
from ...analysis.reductions import accumulators
from ...analysis.reorder import is_reassociable, may_reorder
from ...core.ir.element_types import is_small_float
from ...dialects.tensor_loop import BlockOp, GridOp
from ...lazy_dataclass import dataclass
from ..kernels.contraction import Contraction, Operand, alone, bound_in_order, factors_of, index_ranges, initial_value
from ..kernels.padding import is_zero, without_copy

MOST_TAPS = 49
"""The most taps of a window that are written out: those of 7x7, as networks have them."""

MOST_PIECES = 64
"""
The most taps of all runs together for which runs at the borders are made. With more, the image is copied with its
padding.
"""

Taps = tuple[tuple[int, ...], ...]
"""The places in the window, each a number per reduce axis."""


@dataclass(frozen=True)
class Run:
    """A run of outputs along an axis that read the same taps inside the image."""

    start: int
    count: int
    taps: frozenset[tuple[int, ...]]


@dataclass(frozen=True)
class Depthwise:
    """
    A grid that sums few products of elements with the same channel. `c` has the roles of its axes. Its `k` is -1, or an
    axis around the window (`schedule/grouped/spread.py`).
    """

    c: Contraction
    pad: GridOp | None = None
    """The grid that makes a padded copy of the image, which is not needed."""

    @property
    def element(self) -> Attribute:
        """
        Returns the element type of the sums in registers: f32 for bytes, whose products stay below 2^16 and whose sums
        of at most `MOST_TAPS` are exact.
        """
        return f32 if self.c.a.type.element_type == i8 else self.c.tile_element

    @cached_property
    def reduce(self) -> tuple[int, ...]:
        """Returns the axes of the window."""
        return tuple(axis for axis, kind in enumerate(self.c.block.kinds) if kind == "reduce" and axis != self.c.k)

    def taps(self) -> Taps:
        """Returns all places in the window."""
        return tuple(product(*(range(self.c.extents[axis]) for axis in self.reduce)))

    def runs(self, axis: int) -> list[Run]:
        """Returns the outputs along a spatial axis, in order."""
        found: list[Run] = []
        dimensions = [
            (index, size)
            for low, high, index, size in index_ranges(self.c.a, self.c.block)
            if axis in index.used_dims() and (low < 0 or high >= size)
        ]
        taps = self.taps()
        bounds = [self._lines(index, axis, taps) for index, _ in dimensions]
        for at in range(self.c.extents[axis] if dimensions else 0):
            inside = frozenset(
                tap
                for number, tap in enumerate(taps)
                if all(
                    0 <= starts[number] + step * at < size
                    for (step, starts), (_, size) in zip(bounds, dimensions, strict=True)
                )
            )
            if found and found[-1].taps == inside:
                found[-1] = replace(found[-1], count=found[-1].count + 1)
            else:
                found.append(Run(at, 1, inside))
        return found or [Run(0, self.c.extents[axis], frozenset(taps))]

    def _lines(self, index: AffineExpr, axis: int, taps: Taps) -> tuple[int, list[int]]:
        """Returns how far `index` moves by step of `axis`, and where it starts for each tap."""
        terms, constant = linear_terms(index)
        step, factors = 0, [0] * len(self.reduce)
        for atom, factor in terms.items():
            assert isinstance(atom, AffineDimExpr)
            if atom.position == axis:
                step = factor
            else:
                factors[self.reduce.index(atom.position)] = factor
        starts = [constant + sum(f * t for f, t in zip(factors, tap, strict=True)) for tap in taps]
        return step, starts

    @property
    def spatial(self) -> tuple[int, ...]:
        """Returns the axes but the channels, those with loops outside first."""
        assert self.c.m is not None
        return (*self.c.outer, self.c.m)


def depthwise_of(grid: GridOp) -> Depthwise | None:
    """Returns the depthwise convolution that `grid` computes, or `None` when it computes none that can be tiled."""
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
    init, factors = initial_value(block, found[0]), factors_of(found[0], block, unsigned=True)
    if init is None or factors is None or not all(is_linear(index) for index in out.indices):
        return None
    if not all(_is_summed_in(each.type.element_type, out.type.element_type) for each in factors):
        return None
    if factors[0].type.element_type == i8 and not is_zero(init):
        return None
    for a, b in (factors, factors[::-1]):
        roles = _roles(block, extents, a, b, out)
        if roles is not None:
            m, n, outer = roles
            c = Contraction(grid, block, extents, a, b, out, init, m, n, -1, outer, ())
            return _without_copy(Depthwise(c))
    return None


def _is_summed_in(factor: Attribute, total: Attribute) -> bool:
    """Returns whether tiles can hold the sums: of the elements themselves, or of small floats and bytes in f32."""
    if factor == i8:
        return total == i32
    return factor == total or (is_small_float(factor) and total == f32)


def _is_short(block: BlockOp, extents: Sequence[int]) -> bool:
    """Returns whether the taps can be written out."""
    return prod(e for e, kind in zip(extents, block.kinds, strict=True) if kind == "reduce") <= MOST_TAPS


def _roles(
    block: BlockOp, extents: Sequence[int], a: Operand, b: Operand, out: Operand
) -> tuple[int, int, tuple[int, ...]] | None:
    """Returns the axes m and n and the other spatial ones."""
    spatial = [axis for axis, kind in enumerate(block.kinds) if kind == "spatial"]
    columns = [
        axis
        for axis in spatial
        if extents[axis] > 1 and all(alone(each, axis) and each.stride_along(axis) == 1 for each in (a, b, out))
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
    """Returns whether `axis` moves forwards in one dimension, which is not that of the columns."""
    first, second = operand.dimension_along(axis), operand.dimension_along(columns)
    return first is not None and second is not None and first[1] > 0 and first[0] != second[0]


# Padding


def _without_copy(d: Depthwise) -> Depthwise:
    """Returns `d` on the image itself, if it reads a padded copy and the runs at the borders are few."""
    contraction, grid = without_copy(d.c)
    direct = Depthwise(contraction, grid)
    return direct if grid is not None and has_runs(direct) else d


def has_runs(d: Depthwise) -> bool:
    """
    Returns whether the elements outside the image can be left out.

    They can when they are zero, each padded index moves with one axis, and runs are few.
    """
    assert d.c.m is not None
    if d.c.a.padding is None:
        return True
    if not is_zero(d.c.a.padding) or d.c.a.type.element_type == i8:
        return False
    place = d.c.a.dimension_along(d.c.n if d.c.k < 0 else d.c.k)
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
    for run in d.runs(d.c.m):
        pieces += len(run.taps)
    return pieces <= MOST_PIECES


def _units(d: Depthwise) -> set[int]:
    """Returns the spatial axes of extent 1."""
    return {axis for axis in d.spatial if d.c.extents[axis] == 1}
