"""Sums over columns go over several rows at once, so that they are loaded and stored once for all of these."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32, f64

from ...analysis.loop_nests import axis_dependencies, enclosing_levels
from ...analysis.reductions import Accumulator, accumulators
from ...core.ir.walk import ops_of
from ...dialects.tensor_loop import BlockOp, ForOp
from ..primitives.marks import unroll
from ..primitives.reshape import reorder, split

ROWS = (4, 5, 6, 7, 8, 3, 2)
"""
The numbers of rows to go over at once, the best one first. Each is a stream of its own for the processor, and four make
loads and stores of sums few beside those of elements.
"""


def several_at_once(outermost: ForOp) -> bool:
    """
    Cuts the loop over the rows of a joined reduction over columns, and returns whether it did.

    Before:

        for %k in 128 { for %j in 1024 vectorized { <sum[j], squares[j] from x[k, j]> } }

    After:

        for %k0 in 32 { for %j in 1024 vectorized { for %k1 in 4 unrolled { <sum[j], squares[j] from x[k, j]> } } }

    Two and more results of a column would be loaded and stored for each element. Every sum keeps its order. Maxima and
    minima of f32 and f64 alone stay, because their time goes into the handling of NaNs.
    """
    blocks = ops_of(outermost, BlockOp)
    if len(blocks) != 1 or not blocks[0].has_reduce_axes:
        return False
    loops = [level.loop for level in enclosing_levels(blocks[0])]
    if len(loops) < 2 or not _goes_down_columns(blocks[0], loops[-2], loops[-1]):
        return False
    rows, found = loops[-2], accumulators(blocks[0])
    assert isinstance(rows, ForOp) and isinstance(rows.extent, int)
    if found is None or len(found) < 2 or all(map(_handles_nans, found)):
        return False
    number = next((each for each in ROWS if rows.extent % each == 0 and rows.extent > each), None)
    if number is None:
        return False
    few = split(rows, [None, number])[1]
    columns = few.body.block.first_op
    assert isinstance(columns, ForOp)
    reorder(columns, few)
    unroll(few)
    return True


def _goes_down_columns(block: BlockOp, rows: object, columns: object) -> bool:
    """Returns whether the last loop is over columns on vectors, and the one around it over the rows of each sum."""
    if not isinstance(rows, ForOp) or not isinstance(columns, ForOp) or columns.kind_name != "vectorized":
        return False
    if rows.attributes or not isinstance(rows.extent, int) or rows.kind_name != "serial":
        return False
    reduced, spatial = axis_dependencies(block, "reduce"), axis_dependencies(block, "spatial")
    return rows.variable in reduced - spatial and columns.variable in spatial - reduced


def _handles_nans(accumulator: Accumulator) -> bool:
    update = accumulator.store.value.owner
    return isinstance(update, arith.MaximumfOp | arith.MinimumfOp) and update.result.type in (f32, f64)
