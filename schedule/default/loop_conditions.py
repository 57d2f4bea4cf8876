"""Named conditions about blocks and their loads and stores, for rules that decide (docs/schedules.md)."""

from __future__ import annotations

from math import prod

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...analysis.access_regions import body_accesses
from ...analysis.affine import is_linear, normal_form
from ...analysis.loop_nests import enclosing_levels, perfect_block
from ...analysis.reorder import may_reorder
from ...core.ir.element_types import element_bytes
from ...core.ir.walk import ops_of
from ...dialects.tensor_loop import BlockOp, FuncOp, GridOp
from ...dialects.tile.ops import LANES
from ...machine.machine import Machine
from ...machine.named import chosen_machine
from ...patterns.language.match import Match
from ...patterns.language.registry import condition
from ..kernels.contraction import Operand, bound_in_order
from ..products.transpose import turned, walks_apart

ONE = IntegerAttr(1, i64)

ONCE, TARGET = "once", "target"
"""
The settings of a session with the names of the loop functions that only prepare weights, and with the machine to
schedule for.
"""


@condition("any-order", protects="structure")
def any_order(match: Match, block: BlockOp) -> bool:
    """The loops around the block may change places, reduce loops aside."""
    return may_reorder(block)


@condition("whole-grid", protects="structure")
def whole_grid(match: Match, block: BlockOp) -> bool:
    """The block is all that a grid of known extents holds, has an axis for each loop, and runs at all of its points."""
    grid = block.parent_op()
    if not isinstance(grid, GridOp) or block.constraints or block.dynamic_extents:
        return False
    levels = tuple(level for level in enclosing_levels(block) if level.loop is grid)
    return perfect_block(levels) is block and bound_in_order(grid, block)


@condition("only-accesses", protects="structure")
def only_accesses(match: Match, block: BlockOp, *accesses: Operation) -> bool:
    """The block has no loads and stores but these."""
    return set(ops_of(block, memref.LoadOp, memref.StoreOp)) == set(accesses)


@condition("walks", protects="structure")
def walks(match: Match, access: Operation, axis: SSAValue, *, by: IntegerAttr = ONE) -> bool:
    """
    A load or store, whose indices are linear in the axes of its block, moves by one element of memory (`by`) where
    this axis goes on by one.
    """
    operand, number = _operand(access), _number(access, axis)
    return operand is not None and number is not None and operand.stride_along(number) == by.value.data


@condition("own-dimensions", protects="structure")
def own_dimensions(match: Match, access: Operation, one: SSAValue, other: SSAValue) -> bool:
    """Two axes move a load or store forwards, each in a dimension of the buffer of its own."""
    operand, numbers = _operand(access), (_number(access, one), _number(access, other))
    places = [None if operand is None or number is None else operand.dimension_along(number) for number in numbers]
    known = [place for place in places if place is not None and place[1] > 0]
    return len({dimension for dimension, _ in known}) == 2


@condition("turns", protects="structure")
def turns(match: Match, block: BlockOp, row: SSAValue, column: SSAValue) -> bool:
    """
    The block maps numbers that it loads, all of whole bytes, to one that it stores. Some loads walk through memory
    along the second axis, and the others do so along the first or do not move with it.
    """
    if row not in block.axes or column not in block.axes:
        return False
    assert isinstance(row, BlockArgument) and isinstance(column, BlockArgument)
    return turned(block, row.index, column.index)


@condition("walks-apart", protects="cost")
def has_walks_apart(match: Match, block: BlockOp) -> bool:
    """
    The block maps numbers that it loads, all of whole bytes, to one that it stores, and walks through memory along
    different axes. It is asked before axes are chosen.
    """
    return walks_apart(block)


@condition("lines-together", protects="cost")
def lines_together(match: Match, access: Operation, axis: SSAValue, *, steps: IntegerAttr) -> bool:
    """
    The first-level cache of the target holds the lines of so many steps of an axis together, or not even those of 16.
    """
    operand, number = _operand(access), _number(access, axis)
    stride = None if operand is None or number is None else operand.stride_along(number)
    bytes_ = None if operand is None else element_bytes(operand.type.element_type)
    if not stride or not bytes_:
        return True
    target: Machine = match.session.options.get(TARGET) or chosen_machine(None)
    return target.lines_together(stride * bytes_, steps.value.data) not in range(LANES, steps.value.data)


@condition("runs-often", protects="cost")
def runs_often(match: Match, block: BlockOp, *, iterations: IntegerAttr) -> bool:
    """The block runs at every call of the program, not only when weights are loaded, or has more `iterations`."""
    function = block.parent_op()
    while function is not None and not isinstance(function, FuncOp):
        function = function.parent_op()
    once: frozenset[str] = match.session.options.get(ONCE, frozenset())
    if function is None or function.sym_name.data not in once:
        return True
    return prod(extent for extent in block.extents if isinstance(extent, int)) > iterations.value.data


def _operand(access: Operation) -> Operand | None:
    """Returns the element that a load or store in a block touches, `None` where its indices are not linear."""
    block = _block_of(access)
    if block is None:
        return None
    for each in body_accesses(block.body.block).accesses:
        if each.op is access:
            indices = [index for index in each.indices if index is not None and is_linear(index)]
            if len(indices) == len(each.indices):
                return Operand(each.buffer, tuple(normal_form(index) for index in indices))
    return None


def _number(access: Operation, axis: SSAValue) -> int | None:
    """Returns the number of an axis of the block around a load or store."""
    block = _block_of(access)
    return axis.index if isinstance(axis, BlockArgument) and block is not None and axis in block.axes else None


def _block_of(op: Operation) -> BlockOp | None:
    block = op.parent_op()
    while block is not None and not isinstance(block, BlockOp):
        block = block.parent_op()
    return block
