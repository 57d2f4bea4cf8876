"""
Decides what follows from the loops that the grids of a function become: which loops are fused over rows, which threads
share, and what maxima may pass over.

Loops over rows are decided on a copy of the function whose grids are split, because they depend on the order that was
decided for each grid. The rule is that of `apply-schedule-plan`, so it finds there what it found here.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute

from ...analysis.loop_nests import body_ops
from ...analysis.work import WORTH_SHARING, nanoseconds
from ...core.ir.walk import ops_of
from ...core.roles import MAXIMUM, ROWS, SHARE
from ...dialects.schedule import OrderAttr
from ...dialects.tensor_loop import BlockOp, ForOp, FuncOp, GridOp, LoopOp
from ..rows.maxima import NAN, ZEROS, relaxed
from ..rows.schedule import fuse_rows, shared_loops
from .decide import block_of, chosen_for, write
from .loop_order import given_order, split_grid

WHY = {
    ZEROS: "it is only subtracted before an exponential, where the sign of a zero does not count",
    NAN: "it is only subtracted before an exponential, and a NaN reaches all of its row by way of the sum",
}


def decide_loops(function: FuncOp, wide: bool) -> None:
    """
    Writes what is decided about rows, threads and maxima on the blocks of `function`, whose grids have been decided
    about. `wide` tells that the target has registers of 64 bytes.

    What is computed on register tiles has no loops yet. So rows and maxima are decided later where a grid of the
    function is.
    """
    if all(isinstance(chosen_for(grid), OrderAttr | None) for grid in ops_of(function, GridOp)):
        _rows(function)
        for block in ops_of(function, BlockOp):
            chosen = relaxed(block, wide)
            if chosen is not None:
                _write(block, MAXIMUM, StringAttr(chosen), WHY[chosen])
    _share(function)


def _write(block: BlockOp, name: str, value: Attribute, reason: str) -> None:
    write(block, name, block.attributes.get(name, value), reason)


def _kernels(function: FuncOp) -> Iterator[tuple[LoopOp, BlockOp]]:
    """Yields the outermost loops of a function, each with its first block."""
    for op in body_ops(function.body.block):
        if isinstance(op, LoopOp):
            block = block_of(op) if isinstance(op, GridOp) else next(iter(ops_of(op, BlockOp)), None)
            if block is not None:
                yield op, block


def _rows(function: FuncOp) -> None:
    """Decides which loops become one, from the second kernel of a function on."""
    blocks = [block for _, block in _kernels(function)]
    if len(blocks) < 2:
        return
    copy = function.clone()
    for block in ops_of(copy, BlockOp):
        block.attributes.pop(ROWS, None)
    numbers = {id(block): number for number, block in enumerate(ops_of(function, BlockOp))}
    for grid in ops_of(copy, GridOp):
        chosen = chosen_for(grid)
        if isinstance(chosen, OrderAttr):
            split_grid(grid, given_order(grid, chosen))
    fuse_rows(copy)
    copies = ops_of(copy, BlockOp)
    for block in blocks[1:]:
        number = numbers[id(block)]
        shared, before = shared_loops(copies[number], copies[number - 1]), copies[number - 1].block_name.data
        reason = f'each row of "{before}" is used while it is in a cache' if shared else f'not the rows of "{before}"'
        _write(block, ROWS, IntegerAttr(shared, i64), reason)
    copy.erase()


def _share(function: FuncOp) -> None:
    """Decides from how much work on threads share loops."""
    if any(loop.kind_name == "parallel" for loop in ops_of(function, ForOp)):
        return
    most = sum(nanoseconds(op) for op, _ in _kernels(function))
    least = WORTH_SHARING if most >= WORTH_SHARING else 0
    reason = (
        f"a loop of {WORTH_SHARING // 1000} µs is worth a second thread"
        if least
        else f"all of it takes less than {WORTH_SHARING // 1000} µs"
    )
    for _, block in _kernels(function):
        _write(block, SHARE, IntegerAttr(least, i64), reason)
