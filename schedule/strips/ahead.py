"""
Prefetches what the next iteration of the loop around the strips reads.

Queries, keys and values of a head are rows of a few cache lines, far from each other in memory. The processor's own
prefetching loses track of such rows. The tiles of the second product leave its loads idle for long, so each asks for
the rows of its number, one head further on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...dialects import tile
from ...lazy_dataclass import dataclass
from ..kernels.contraction import Contraction, Operand
from ..kernels.scheduled_nest import Index, ScheduledNest
from .recut import Cut


@dataclass(frozen=True)
class _Rows:
    """The rows of an operand that one iteration of the loop around the strips reads."""

    operand: Operand
    axis: int
    """The axis of the product along which the rows follow."""
    step: int
    """The elements in memory to the same row in the next iteration."""
    count: int
    """The elements of a row."""


@dataclass(frozen=True)
class RowsAhead:
    """The rows that the tiles of the second product prefetch. The `around` first axes are loops around the strips."""

    rows: Sequence[_Rows]
    cut: Cut
    around: int

    def prefetch(self, builder: ScheduledNest, at: Mapping[int, Index], row: Index, height: int) -> None:
        """Emits the prefetches of a tile of `height` rows, the first of which is number `row` of its strip."""
        if self.cut.count > 1:
            row = builder.sum(builder.scaled(at[self.around], self.cut.rows), row)
        row = builder.sum(row, self.cut.start)
        for rows in self.rows:
            for number in range(height):
                axes: dict[int, Index] = dict.fromkeys(rows.operand.axes(), 0)
                axes |= {axis: at[axis] for axis in range(self.around)}
                axes[rows.axis] = builder.sum(row, number)
                places = [builder.affine(index, axes) for index in rows.operand.indices]
                builder.add(tile.PrefetchOp(rows.operand.buffer, places, rows.step, rows.count, second=True))


def rows_ahead(first: Contraction, second: Contraction, cut: Cut, around: int) -> RowsAhead | None:
    """
    Returns what the tiles of `second` prefetch, `None` where there is no loop around the strips.

    The operands are those of both products that are not made in between. Each has as many rows as there are queries, or
    more, of which the first are prefetched.
    """
    if not around or first.m is None:
        return None
    wanted = (
        (first.a, first.m, first.k),
        (first.b, first.n, first.k),
        (second.b, second.k, second.n),
    )
    found: list[_Rows] = []
    for (operand, axis, column), c in zip(wanted, (first, first, second), strict=True):
        step = operand.stride_along(around - 1)
        if step and operand.stride_along(column) == 1:
            found.append(_Rows(operand, axis, step, c.extent(column)))
    return RowsAhead(found, cut, around) if found else None
