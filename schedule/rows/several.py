"""
Several rows at a time in a loop over rows: the processor works on one while it waits for what becomes of another.

A sum ends in a chain of additions, and a division or square root of one number takes as long. All that comes after them
in a row waits, and with rows one after the other, most of the next row waits as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from xdsl.dialects import memref
from xdsl.dialects.builtin import FixedBitwidthType, IntegerAttr, MemRefType
from xdsl.ir import Operation, SSAValue

from ...analysis.loop_nests import axis_dependencies, body_ops
from ...analysis.work import is_function
from ...core.ir.element_types import is_small_float
from ...core.ir.walk import ops_of, walk
from ...core.roles import ROWS_AT_ONCE
from ...dialects.tensor_loop import AllocOp, BlockOp, ForOp, LoopOp
from ...machine.machine import Machine
from ..kernels.given_tiling import refuse
from ..primitives.dependences import touches
from ..primitives.nests import erase, insert_first, new_nest
from ..primitives.reshape import split
from .schedule import FusedRows

NUMBERS = (4, 5, 6, 7, 8, 3, 2)
"""
The numbers of rows to take at a time, the best one first. (Layer norm of 128 rows of 384 on a Zen 5: 7.4 us one row at
a time and 5.7 us with two, four or eight. In f16: 8.9, 6.7, 6.0 and 5.9.)
"""

MOST_FUNCTIONS, MOST_OF_SMALL_FLOATS = 160, 512
"""
The most functions that a row computes where several rows pay. More keep the units busy, whatever waits. With small
floats there is more between one function and the next. (Softmax, four rows at a time on a Zen 5: rows of 128 take 0.80
of the time, of 192 1.03, of 512 1.15. In f16, rows of 384 take 0.83, of 512 0.91, of 768 1.0.)
"""


def choose_rows_at_once(fused: FusedRows, target: Machine) -> int:
    """
    Returns how many rows a loop is to take at a time, 1 where nothing waits for a sum or maximum of a row.

    The number divides that of all rows, and so many rows of all arrays stay in L1 together.
    """
    blocks = ops_of(fused.loop, BlockOp)
    if why_one_row(fused) is not None or not any(_has_one_result(block, fused.loop) for block in blocks[:-1]):
        return 1
    if _keeps_units_busy(fused.loop, blocks):
        return 1
    extent, most = fused.loop.extent, target.l1_bytes
    assert isinstance(extent, int)
    return next((each for each in NUMBERS if extent % each == 0 and _bytes(fused.loop, blocks, each) <= most), 1)


def why_one_row(fused: FusedRows) -> str | None:
    """Returns why a loop over rows cannot take several at a time, `None` where it can."""
    if fused.loop.kind_name != "serial" or fused.loop.attributes:
        return "the loop over its rows is annotated"
    if any(isinstance(op, AllocOp) for part in fused.parts for op in part):
        return "each of its rows has a buffer of its own"
    return None


def innermost(loops: Sequence[FusedRows]) -> list[FusedRows]:
    """Returns those of some loops that have no other inside."""
    return [
        each for each in loops if not any(each is not other and each.loop.is_ancestor(other.loop) for other in loops)
    ]


def take_rows(loops: Sequence[FusedRows], target: Machine) -> int:
    """
    Has loops over rows take several rows at a time, and returns how many loops do.

    Before (layer norm):

        for %i in 128 {
          for %k in 384 vectorized { <sum[i] of x[i, k]> }
          <mean[i]>
          for %j in 384 vectorized { <out[i, j] from x[i, j], mean[i]> } }

    After, with four rows at a time:

        for %i0 in 32 {
          for %i1 in 4 { for %k in 384 vectorized { <sum[i] of x[i, k]> } }
          for %i1 in 4 { <mean[i]> }
          for %i1 in 4 { for %j in 384 vectorized { <out[i, j] from x[i, j], mean[i]> } } }

    What was fused only needs what the same row wrote, so the rows of a part may all run before the next part. Each sum
    keeps its order. `stepwell.rows_at_once` of the first block says how many rows, else `choose_rows_at_once` does. A
    map stays in one loop with a sum of what it stores, because they become one loop (`lowering/scf/jam_loops.py`).
    """
    count = 0
    for fused in innermost(loops):
        number = _given(fused)
        number = choose_rows_at_once(fused, target) if number is None else number
        if number > 1:
            _take(fused, number)
            count += 1
    return count


def _given(fused: FusedRows) -> int | None:
    """Returns the number that the first block of a loop asks for, and removes it. Fails where it does not fit."""
    block = ops_of(fused.loop, BlockOp)[0]
    found = block.attributes.get(ROWS_AT_ONCE)
    if found is None:
        return None
    extent = fused.loop.extent
    assert isinstance(extent, int)
    if not isinstance(found, IntegerAttr) or found.value.data < 1:
        refuse(block, found, "expected a number of rows, at least 1", ROWS_AT_ONCE)
    number = found.value.data
    if extent % number:
        refuse(block, number, f"it does not divide the {extent} rows", ROWS_AT_ONCE)
    if number > 1 and (reason := why_one_row(fused)) is not None:
        refuse(block, number, reason, ROWS_AT_ONCE)
    del block.attributes[ROWS_AT_ONCE]
    return number


def refuse_untaken(blocks: Sequence[BlockOp]) -> None:
    """Fails at a block that still asks for several rows at a time: it is not the first one in a loop of several."""
    for block in blocks:
        found = block.attributes.get(ROWS_AT_ONCE)
        if found is not None:
            reason = "it is not the first block of a loop over rows that blocks share"
            value = found.value.data if isinstance(found, IntegerAttr) else found
            refuse(block, value, reason, ROWS_AT_ONCE)


def _has_one_result(block: BlockOp, rows: ForOp) -> bool:
    """Returns whether `block` reduces each of the rows to one result."""
    inside = {loop.variable for loop in ops_of(rows, ForOp) if loop is not rows}
    return block.has_reduce_axes and inside.isdisjoint(axis_dependencies(block, "spatial"))


def _keeps_units_busy(rows: ForOp, blocks: Sequence[BlockOp]) -> bool:
    """Returns whether a row computes so many functions that it does not matter what it waits for."""
    extents = {loop.variable: loop.extent for loop in ops_of(rows, ForOp) if loop is not rows}
    count = 0
    for block in blocks:
        each = sum(is_function(op) for op in walk(block.body))
        count += each and each * prod(_known(extents, operand) for operand in set(block.binding_operands))
    loaded = [access.memref.type for access in ops_of(rows, memref.LoadOp)]
    small = any(isinstance(type_, MemRefType) and is_small_float(type_.element_type) for type_ in loaded)
    return count > (MOST_OF_SMALL_FLOATS if small else MOST_FUNCTIONS)


def _bytes(rows: ForOp, blocks: Sequence[BlockOp], number: int) -> int:
    """Returns the bytes that so many rows of all arrays have. What is the same for all rows counts once."""
    inside = {loop.variable: loop.extent for loop in ops_of(rows, ForOp) if loop is not rows}
    found: dict[SSAValue, int] = {}
    for block in blocks:
        for touch in touches(block):
            used = [block.binding_operands[dim] for low in touch.lows if low is not None for dim in low.used_dims()]
            elements = prod(_known(inside, each) for each in dict.fromkeys(used))
            size = elements * _bits(touch.buffer) // 8 * (number if rows.variable in used else 1)
            found[touch.buffer] = max(found.get(touch.buffer, 0), size)
    return sum(found.values())


def _known(extents: Mapping[Any, object], variable: SSAValue) -> int:
    extent = extents.get(variable, 1)
    return extent if isinstance(extent, int) else 1


def _bits(buffer: SSAValue) -> int:
    assert isinstance(buffer.type, MemRefType)
    element = buffer.type.element_type
    return element.bitwidth if isinstance(element, FixedBitwidthType) else 64


def _take(fused: FusedRows, number: int) -> None:
    """Cuts the rows of a loop into groups of `number`, with a loop over the rows of a group around each part."""
    _, rows = split(fused.loop, [None, number])
    for part in _together(fused.parts):
        (loop,) = new_nest([rows.variable.name_hint], [number], rows)
        for op in reversed(part):
            op.detach()
            insert_first(op, loop)
        rows.body.block.insert_op_before(loop, rows.body.block.last_op)  # pyright: ignore[reportArgumentType]
        rows.variable.replace_uses_with_if(loop.variable, lambda use, loop=loop: loop.is_ancestor(use.operation))
    outer = rows.parent_op()
    assert isinstance(outer, ForOp)
    for op in body_ops(rows.body.block):
        op.detach()
        outer.body.block.insert_op_before(op, rows)
    erase(rows)


def _together(parts: Sequence[Sequence[Operation]]) -> list[list[Operation]]:
    """Returns parts of a row, a map and a sum after it in one part."""
    found: list[list[Operation]] = []
    after_map = False
    for part in parts:
        blocks = [block for op in part for block in ops_of(op, BlockOp)]
        is_loop = all(isinstance(op, LoopOp) for op in part)
        sums = any(block.has_reduce_axes for block in blocks)
        if after_map and is_loop and sums:
            found[-1] += part
        else:
            found.append(list(part))
        after_map = is_loop and not sums
    return found
