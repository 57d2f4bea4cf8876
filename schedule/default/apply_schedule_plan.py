"""The pass `apply-schedule-plan`: kernels are made of grids as the attributes of their blocks say."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.ir.answers import kept_answers
from ...core.ir.walk import ops_of
from ...core.messages.origins import inherit
from ...core.passes.base import StepwellPass
from ...core.roles import MAXIMUM, PREPACKED, REASON, ROWS, SHARE, STRIP, TILING
from ...dialects.schedule import (
    DepthwiseAttr,
    DotsAttr,
    FlatRowsAttr,
    OrderAttr,
    TileRegistersAttr,
    TilingAttr,
    TransposeAttr,
    WinogradAttr,
)
from ...dialects.tensor_loop import BlockOp, FuncOp, GridOp
from ...lazy_dataclass import dataclass
from ...machine.machine import Machine
from ...machine.named import chosen_machine
from ..bytes.choose import check_flush, is_byte_product
from ..bytes.products import tile_byte_product
from ..depthwise.convolution import depthwise_of
from ..depthwise.schedule import tile_depthwise
from ..grouped.split import split_all_groups
from ..grouped.spread import decide_spread
from ..grouped.spread_tiles import tile_spread
from ..kernels.contraction import contraction_of
from ..kernels.given_tiling import refuse, refuse_unused, tiling_for
from ..products.tile_contraction import tile_contraction
from ..products.transpose import tile_transpose, transpose_of
from ..rows.maxima import relax_maxima
from ..rows.schedule import check_rows, fuse_rows
from ..rows.several import refuse_untaken, take_rows
from ..strips.apply import apply_strips
from ..strips.chain import chain_of
from ..strips.plan import check_strip, plan_strips, strip_rows
from ..windows.apply import apply_window
from ..windows.schedule import planned_window
from .decide import block_of, check_side, chosen_for, handing_on
from .loop_order import split_grid, split_inside
from .parallelize import check_share, lift_grains, parallelize
from .scans import given_order

STRIPPED = (REASON, PREPACKED, ROWS, SHARE, MAXIMUM, STRIP)
"""The attributes of blocks that nobody needs once the plan is applied."""


@dataclass(frozen=True)
class ApplySchedulePlanPass(StepwellPass):
    """
    Makes kernels of grids, as the attributes that `plan-schedules` wrote on their blocks say.

    Before:

        tensor_loop.grid (%i, %j, %k) in (128, 10, 784) { tensor_loop.block "matmul" ...
            attributes {stepwell.tiling = #schedule.order<[0, 2, 1], vectorized>} { ... } }

    After:

        tensor_loop.for %i in 128 {
          tensor_loop.for %k in 784 {
            tensor_loop.for %j in 10 vectorized { tensor_loop.block "matmul" ... { ... } } } }

    A grid whose block has no such attribute stays as it is. An attribute that does not fit, or that nothing takes up,
    is an error at the block. Running it twice changes nothing.

    `target` names the machine to schedule for (docs/targets.md), or that of the pass context when left out. `flush`
    says which products of bf16 may take numbers below 2**-126 for zeros, as AMX does: `none`, those with `weights` that
    are laid out once, or `all`.
    """

    name = "apply-schedule-plan"

    target: str | None = None
    flush: str = "none"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_flush(self.flush, self.name)
        target = chosen_machine(self.target)
        lift_grains(op)
        for function in ops_of(op, FuncOp):
            self._strips(function, target)
        self.count("convolutions split into groups", split_all_groups(op))
        grids = ops_of(op, GridOp)
        for grid in grids:
            self._depthwise(grid, target)
        for grid in grids:
            self._product(grid, target)
        for grid in grids:
            self._window(grid)
        for grid in grids:
            self._loops(grid)
        refuse_unused(op)
        for function in ops_of(op, FuncOp):
            with kept_answers():  # They are about the bodies of blocks, which stay.
                fused = fuse_rows(function)
                blocks = ops_of(function, BlockOp)
                check_rows(blocks)
            self.count("loops over rows fused", sum(len(each.parts) - 1 for each in fused))
            self.count("maxima relaxed", relax_maxima(blocks, target.has_wide_registers))
            self.count("loops over several rows at a time", take_rows(fused, target))
            refuse_untaken(blocks)
            check_share(blocks)
            self.count("loops parallelized", parallelize(function))
        for block in ops_of(op, BlockOp):
            for name in STRIPPED:
                block.attributes.pop(name, None)
        inherit(op)

    def _strips(self, function: FuncOp, target: Machine) -> None:
        """Takes strips of rows through a chain of kernels, where the first of them says so."""
        for block in [block for block in ops_of(function, BlockOp) if STRIP in block.attributes]:
            rows = strip_rows(block)
            if rows == 0:
                continue
            chain = chain_of(function, block)
            if chain is None:
                refuse(block, rows, "no product of its rows follows, or something else needs what is between", STRIP)
            check_strip(chain, rows)
            for link in chain.links:
                if (own := link.block.attributes.get(TILING)) is not None:
                    refuse(link.block, own, f'block "{block.block_name.data}" takes it along in strips of {rows} rows')
            apply_strips(function, chain, plan_strips(chain, target, rows), target, split_inside)
            self.count("chains cut into strips")

    def _depthwise(self, grid: GridOp, target: Machine) -> None:
        """
        Tiles a depthwise convolution, or a grouped one whose groups share vectors. They come first, before padded
        copies that others read.
        """
        if not isinstance(chosen_for(grid), DepthwiseAttr | FlatRowsAttr):
            return
        found = depthwise_of(grid)
        if found is not None:
            with handing_on(found.c.block):
                tile_depthwise(found, target)
            self.count("depthwise convolutions tiled")
        elif (spread := decide_spread(grid, target)) is not None:
            with handing_on(spread.c.block):
                tile_spread(spread, target)
            self.count("grouped convolutions on shared vectors")

    def _product(self, grid: GridOp, target: Machine) -> None:
        """
        Tiles a contraction. They come before other grids, which may be padded copies that contractions can do without.
        """
        chosen = chosen_for(grid)
        if not isinstance(chosen, TilingAttr | WinogradAttr | DotsAttr | TileRegistersAttr):
            return
        c = contraction_of(grid)
        if c is None:
            return
        _check_prepacked(c.block)
        with handing_on(c.block):
            if not isinstance(chosen, TilingAttr) and is_byte_product(c, target, flush=self.flush):
                tile_byte_product(c, target)
            else:
                tile_contraction(c, tiling_for(c, False, target))
        self.count("contractions tiled")

    def _window(self, grid: GridOp) -> None:
        """Schedules a reduction over windows about which nothing else is decided, before the copies that it reads."""
        if grid.parent is None or chosen_for(grid) is not None or (found := planned_window(grid)) is None:
            return
        window, plan = found
        with handing_on(window.block):
            apply_window(window, plan)
        self.count("windows scheduled")

    def _loops(self, grid: GridOp) -> None:
        """Makes loops of tiles of a copy, or single loops of any other grid."""
        if grid.parent is None:  # It has been taken up by another kernel.
            return
        chosen = chosen_for(grid)
        if isinstance(chosen, TransposeAttr):
            transpose = transpose_of(grid)
            if transpose is not None:
                check_side(transpose, chosen)
                with handing_on(transpose.block):
                    tile_transpose(transpose, chosen.side.data)
                self.count("transposes tiled")
        elif isinstance(chosen, OrderAttr):
            order, block = given_order(grid, chosen), block_of(grid)
            if block is not None:
                del block.attributes[TILING]
            split_grid(grid, order)
            self.count("grids scheduled")
            if order.vectorized:
                self.count("loops vectorized")
        else:
            self.count("grids left alone")


def _check_prepacked(block: BlockOp) -> None:
    """Fails at a block whose right operand should have been laid out."""
    found = block.attributes.get(PREPACKED)
    if found is not None and found.value.data:  # pyright: ignore[reportAttributeAccessIssue]
        refuse(block, "true", "'prepack-weights' has not laid out its right operand", PREPACKED)
