"""The pass `schedule-cpu`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region
from xdsl.rewriter import Rewriter

from ...core.ir.walk import ops_of
from ...core.passes.base import StepwellPass
from ...dialects.tensor_loop import Extent, ForOp, FuncOp, GridOp
from ...dialects.tensor_loop.loops import loop_body
from ...machine.machine import Machine
from ...machine.named import chosen_machine
from ..bytes.products import is_byte_product, tile_byte_product
from ..depthwise.schedule import tile_all_depthwise
from ..grouped.split import split_all_groups
from ..grouped.spread_tiles import tile_all_spread
from ..kernels.contraction import contraction_of
from ..kernels.given_tiling import refuse_unused, tiling_for
from ..products.tile_contraction import tile_contraction
from ..products.transpose import tile_transpose, transpose_of
from ..rows.maxima import relax_maxima
from ..rows.schedule import fuse_rows
from .loop_order import LoopOrder, choose_order
from .parallelize import lift_grains, parallelize


@dataclass(frozen=True)
class ScheduleCPUPass(StepwellPass):
    """
    Orders the loops of each grid so that the innermost one walks through memory, and marks it `vectorized` where it
    may.

    Before:

        tensor_loop.grid (%i, %j, %k) in (128, 10, 784) { <matmul> }

    After:

        tensor_loop.for %i in 128 {
          tensor_loop.for %k in 784 {
            tensor_loop.for %j in 10 vectorized { <matmul> } } }

    Grids that are not a perfect nest around one block are left as they are. So are blocks with asserts or ops other
    than loads, stores and arithmetic, and single loops, which have been scheduled. Float sums are marked only if their
    additions carry `fastmath<reassoc>`. Running it twice changes nothing.

    Copies that turn an array move tiles of 16x16 elements (`products/transpose.py`). Loops over the same rows become
    one loop (`rows/schedule.py`). Maxima before an exponential do not look at the sign of zeros (`rows/maxima.py`).

    A convolution reads its image without a padded copy where taps outside can be left out (`products/borders.py`).

    A contraction whose block has `stepwell.tiling = #schedule.tiling<...>` is cut up by that attribute
    (docs/tuning.md). A tiling that does not fit is an error.

    `target` names the machine to schedule for (docs/targets.md), or that of the pass context when left out. With
    `flush`, products of bf16 may take numbers below 2**-126 for zeros, as AMX does.
    """

    name = "schedule-cpu"

    target: str | None = None
    flush: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = chosen_machine(self.target)
        lift_grains(op)
        self.count("convolutions split into groups", split_all_groups(op))
        self.count("depthwise convolutions tiled", tile_all_depthwise(op, target))
        self.count("grouped convolutions on shared vectors", tile_all_spread(op, target))
        self._tile_contractions(op, target)
        for grid in ops_of(op, GridOp):
            transpose = transpose_of(grid)
            if transpose is not None:
                tile_transpose(transpose)
                self.count("transposes tiled")
                continue
            order = choose_order(grid)
            if order is None:
                self.count("grids left alone")
                continue
            split_grid(grid, order)
            self.count("grids scheduled")
            if order.vectorized:
                self.count("loops vectorized")
        refuse_unused(op)
        for function in ops_of(op, FuncOp):
            self.count("loops over rows fused", fuse_rows(function))
            self.count("maxima relaxed", relax_maxima(function, target.has_wide_registers))
            self.count("loops parallelized", parallelize(function))

    def _tile_contractions(self, op: ModuleOp, target: Machine) -> None:
        """
        Tiles contractions. They come first, since other grids may be padded copies that contractions can do without.
        """
        for grid in ops_of(op, GridOp):
            if grid.parent is None:  # It has been taken up in the tiles of a contraction.
                continue
            contraction = contraction_of(grid)
            if contraction is None:
                continue
            if is_byte_product(contraction, target, flush=self.flush):
                tile_byte_product(contraction, target)
            else:
                tile_contraction(contraction, tiling_for(contraction, False, target))
            self.count("contractions tiled")


def split_grid(grid: GridOp, order: LoopOrder) -> ForOp:
    """Replaces `grid` by single loops in `order`, and returns the outermost one."""
    inner = grid.body.block
    terminator = inner.last_op
    content = [op for op in inner.ops if op is not terminator]
    for op in content:
        op.detach()
    loop: ForOp | None = None
    for level in reversed(order.levels):
        kind = "vectorized" if loop is None and order.vectorized else "serial"
        region = loop_body([level.variable.name_hint])
        block: Block = region.block
        block.add_ops(content)
        level.variable.replace_all_uses_with(block.args[0])
        loop = _loop(grid, level.extent, region, kind)
        content = [loop]
    assert loop is not None
    loop.attributes.update(grid.attributes)
    Rewriter.replace_op(grid, loop)
    return loop


def _loop(grid: GridOp, extent: Extent, region: Region, kind: str) -> ForOp:
    loop = ForOp(extent, region, kind)
    loop.location = grid.location
    return loop
