"""
Decides what follows from the loops that the grids of a function become: which loops are fused over rows, which threads
share, and what maxima may pass over.

Loops over rows are decided on a copy of the function whose grids are split, because they depend on the order that was
decided for each grid. The rule is that of `apply-schedule-plan`, so it finds there what it found here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, prod

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation

from ...analysis.loop_nests import body_ops
from ...analysis.work import KEEPS_AWAKE, SCALAR, WORTH_SHARING, WORTH_SHARING_AWAKE, nanoseconds
from ...core.ir.cloning import clone_op
from ...core.ir.walk import ops_of
from ...core.roles import MAXIMUM, ROWS, ROWS_AT_ONCE, SHARE, STRIP
from ...dialects.graph.calls import CallKernelOp
from ...dialects.schedule import (
    DepthwiseAttr,
    FlatRowsAttr,
    LeftOutAttr,
    OnTilesAttr,
    OrderAttr,
    TransposeAttr,
    WinogradAttr,
)
from ...dialects.tensor_loop import BlockOp, CallOp, ForOp, FuncOp, GridOp, LoopOp
from ...machine.machine import Machine
from ..rows.maxima import NAN, ZEROS, relaxed
from ..rows.schedule import fuse_rows, shared_loops
from ..rows.several import choose_rows_at_once, innermost
from .decide import chosen_for, write
from .loop_order import as_given, split_grid

OF_PRODUCT, OF_SUM, OF_LAYOUT = 1 / 30, 0.15, 0.4
"""
Nanoseconds: twice the multiply-add of `analysis.work`, one with operands from memory, and an element that is copied.
"""

WHY = {
    ZEROS: "it is only subtracted before an exponential, where the sign of a zero does not count",
    NAN: "it is only subtracted before an exponential, and a NaN reaches all of its row by way of the sum",
}

OTHER_ROWS = "one row goes on while the sums of another are waited for"


def decide_loops(function: FuncOp, target: Machine) -> None:
    """
    Writes what is decided about rows and maxima on the blocks of `function`, whose grids have been decided about.

    What is computed on register tiles has no loops yet. So rows and maxima are decided later where a grid of the
    function is.
    """
    cut = any(STRIP in block.attributes for block in ops_of(function, BlockOp))
    if not cut and all(isinstance(chosen_for(grid), OrderAttr | None) for grid in ops_of(function, GridOp)):
        _rows(function, target)
        for block in ops_of(function, BlockOp):
            chosen = relaxed(block, target.has_wide_registers)
            if chosen is not None:
                _write(block, MAXIMUM, StringAttr(chosen), WHY[chosen])


def _write(block: BlockOp, name: str, value: Attribute, reason: str) -> None:
    write(block, name, block.attributes.get(name, value), reason)


def kernels(function: FuncOp) -> Iterator[tuple[LoopOp, BlockOp]]:
    """Yields the outermost loops of a function, each with its first block."""
    for op in body_ops(function.body.block):
        if isinstance(op, LoopOp):
            block = next(iter(ops_of(op, BlockOp)), None)
            if block is not None:
                yield op, block


def _rows(function: FuncOp, target: Machine) -> None:
    """Decides which loops become one, from the second kernel of a function on, and how many rows each takes at once."""
    blocks = [block for _, block in kernels(function)]
    if len(blocks) < 2:
        return
    copy = clone_op(function)
    for block in ops_of(copy, BlockOp):
        block.attributes.pop(ROWS, None)
    originals = ops_of(function, BlockOp)
    numbers = {id(block): number for number, block in enumerate(originals)}
    for grid in ops_of(copy, GridOp):
        chosen = chosen_for(grid)
        if isinstance(chosen, OrderAttr):
            split_grid(grid, as_given(grid, chosen))
    fused = fuse_rows(copy)
    copies = ops_of(copy, BlockOp)
    for block in blocks[1:]:
        number = numbers[id(block)]
        shared, before = shared_loops(copies[number], copies[number - 1]), copies[number - 1].block_name.data
        reason = f'each row of "{before}" is used while it is in a cache' if shared else f'not the rows of "{before}"'
        _write(block, ROWS, IntegerAttr(shared, i64), reason)
    places = {id(block): number for number, block in enumerate(copies)}
    for each in innermost(fused):
        number, first = choose_rows_at_once(each, target), ops_of(each.loop, BlockOp)[0]
        if number > 1:
            _write(originals[places[id(first)]], ROWS_AT_ONCE, IntegerAttr(number, i64), OTHER_ROWS)
    copy.erase()


def decide_threads(module: Operation) -> None:
    """
    Decides for each loop function of `module` from how much work on threads share loops, when all else is decided.

    Workers are woken once in a program and then stay awake from one shared loop to the next. So in a program of
    `KEEPS_AWAKE` small loops are worth a second thread as well.
    """
    times = {f.sym_name.data: sum(_at_most(op) for op, _ in kernels(f)) for f in ops_of(module, FuncOp)}
    callers = _callers(module, times)
    for function in ops_of(module, FuncOp):
        name = function.sym_name.data
        _share(function, times[name], callers.get(name, ("", 0.0)))


def _callers(module: Operation, times: Mapping[str, float]) -> dict[str, tuple[str, float]]:
    """Returns for each loop function which of its callers takes longest, and how long. Loops of callers run once."""
    found: dict[str, tuple[str, float]] = {}
    for caller in ops_of(module, func.FuncOp):
        called = [
            op.callee_name if isinstance(op, CallKernelOp) else op.callee.string_value()
            for op in ops_of(caller, CallKernelOp, CallOp)
        ]
        total = sum(times.get(name, 0.0) for name in called)
        for name in called:
            if total > found.get(name, ("", 0.0))[1]:
                found[name] = caller.sym_name.data, total
    return found


def _share(function: FuncOp, total: float, caller: tuple[str, float]) -> None:
    """Decides about a function that takes `total` nanoseconds and is called by `caller`, which takes some as well."""
    if any(loop.kind_name == "parallel" for loop in ops_of(function, ForOp)):
        return
    name, of_caller = caller
    is_awake = of_caller >= KEEPS_AWAKE
    worth = WORTH_SHARING_AWAKE if is_awake else WORTH_SHARING
    least = worth if total >= worth else 0
    time = ceil(total / 1000)
    reason = f"all of @{function.sym_name.data} takes at most {time} microsecond{'' if time == 1 else 's'}"
    if least:
        reason += f", and a loop of {worth // 1000} is worth a second thread"
    if least and is_awake:
        reason += f", as @{name} takes at most {ceil(of_caller / 1000)} and keeps threads awake"
    for op, block in kernels(function):
        if not isinstance(op, GridOp) or not isinstance(chosen_for(op), OnTilesAttr | LeftOutAttr):
            _write(block, SHARE, IntegerAttr(least, i64), reason)


def _at_most(op: LoopOp) -> float:
    """
    Returns a bound of the nanoseconds that a kernel takes, once its grid has been cut up as was decided.

    Multiply-adds on register tiles take at most `OF_PRODUCT` each, and those that load their operands anew, as sums of
    few products do, `OF_SUM`. Each element that the kernel reads or writes may be laid out anew.
    """
    chosen = chosen_for(op) if isinstance(op, GridOp) else None
    if isinstance(chosen, OnTilesAttr | LeftOutAttr | OrderAttr):
        is_fast = not isinstance(chosen, OrderAttr) or chosen.vectorized.data
        return nanoseconds(op) / (SCALAR if is_fast else 1)
    if chosen is None or isinstance(chosen, TransposeAttr):
        return nanoseconds(op)
    of_each = OF_SUM if isinstance(chosen, DepthwiseAttr | FlatRowsAttr | WinogradAttr) else OF_PRODUCT
    buffers = {access.memref for access in ops_of(op, memref.LoadOp, memref.StoreOp)}
    elements = sum(prod(buffer.type.get_shape()) for buffer in buffers)  # pyright: ignore[reportAttributeAccessIssue]
    return prod(extent for extent in op.extents if isinstance(extent, int)) * of_each + elements * OF_LAYOUT
