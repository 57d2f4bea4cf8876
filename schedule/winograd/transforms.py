"""
The transforms of filters, inputs and outputs of Winograd's filtering (`plan.py`): sums and differences of rows of
channels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, MemRefType
from xdsl.ir import Block, Operation, Region, SSAValue

from ...core.ir.element_types import vector_type
from ...dialects import tile
from ...machine.machine import Machine
from ..kernels.epilogue import place_of
from ..kernels.register_tiles import split_columns
from ..kernels.scheduled_nest import Bound, Index, ScheduledNest
from ..kernels.subnormals import without_subnormals
from ..kernels.widening import widened
from .plan import SQUARE, TAPS, Plan, Winograd

Steps = tuple[tuple[int, ...], ...]
"""The rows of a matrix of -1, 0 and 1."""

OF_INPUT: Steps = ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1))
OF_OUTPUT: Steps = ((1, 1, 1, 0), (0, 1, -1, -1))
OF_FILTER: Steps = ((1, 0, 0), (1, 1, 1), (1, -1, 1), (0, 0, 1))
HALVED = (False, True, True, False)
"""The rows of `G` that have a factor of one half."""


def _map(builder: ScheduledNest, tiles: Sequence[SSAValue], body: Callable[[Block], SSAValue]) -> SSAValue:
    block = Block(arg_types=[each.type.element_type for each in tiles])  # pyright: ignore[reportAttributeAccessIssue]
    block.add_op(tile.YieldOp(body(block)))
    return builder.add(tile.MapOp(tiles, tiles[0].type, Region(block))).result


def combined(builder: ScheduledNest, tiles: Sequence[SSAValue], signs: Sequence[int], halved: bool = False) -> SSAValue:
    """Returns the sum of the tiles with these signs, or half of it. The first tile that counts has the sign +."""
    ordered = sorted((place for place, sign in enumerate(signs) if sign), key=lambda place: -signs[place])
    if len(ordered) == 1 and not halved:
        return tiles[ordered[0]]

    def body(block: Block) -> SSAValue:
        total: SSAValue = block.args[0]
        for argument, place in zip(block.args[1:], ordered[1:], strict=True):
            kind = arith.AddfOp if signs[place] > 0 else arith.SubfOp
            op: Operation = kind(total, argument)
            block.add_op(op)
            total = op.results[0]
        if halved:
            half = arith.ConstantOp(FloatAttr(0.5, total.type))  # pyright: ignore
            op = arith.MulfOp(total, half.result)
            block.add_ops([half, op])
            total = op.result
        return total

    return _map(builder, [tiles[place] for place in ordered], body)


def load_row(builder: ScheduledNest, buffer: SSAValue, at: Sequence[Index], width: int) -> SSAValue:
    """Loads a row of elements along the last dimension."""
    assert isinstance(buffer.type, MemRefType)
    type_ = vector_type(buffer.type.element_type, [1, width])
    return builder.add(tile.LoadOp(buffer, [builder.value(index) for index in at], type_)).result


def store_row(builder: ScheduledNest, value: SSAValue, buffer: SSAValue, at: Sequence[Index]) -> None:
    """Stores a row of elements along the last dimension."""
    builder.add(tile.StoreOp(value, buffer, [builder.value(index) for index in at]))


def channels_at_once(w: Winograd, target: Machine) -> int:
    """
    Returns the channels of a square that are transformed at once. They fill two registers where 16 results of one step
    stay in registers.
    """
    lanes = target.lanes(w.c.tile_element.size)  # pyright: ignore[reportAttributeAccessIssue]
    return lanes * (2 if target.registers >= 2 * SQUARE**2 else 1)


def emit_filters(block: Block, w: Winograd, plan: Plan, made: SSAValue, target: Machine) -> None:
    """
    Appends the nests that transform all filters to `block`, as many channels at once as a register has. Zeros replace
    subnormal results.
    """
    c = w.c
    builder = ScheduledNest(block, c.block)
    lanes = target.lanes(c.tile_element.size)  # pyright: ignore[reportAttributeAccessIssue]
    first = 0
    for columns, count in split_columns(c.extent(c.n), plan.tile.columns):
        start = 0
        for width, pieces in split_columns(columns, lanes):
            with builder.nest([count, c.extent(c.k), pieces], ["p", "k", "j"]) as (panel, k, piece):
                axes = [
                    Bound("spatial", panel + first, first + count, "vp"),
                    Bound("spatial", k, c.extent(c.k), "vk"),
                    Bound("spatial", piece, pieces, "vj"),
                ]
                with builder.blocked("filters", axes) as (vp, vk, vj):
                    column = builder.sum(builder.scaled(vj, lanes), start)
                    _filters(builder, w, plan, made, (vp, vk, column), width)
            start += width * pieces
        first += count


def _filters(
    builder: ScheduledNest,
    w: Winograd,
    plan: Plan,
    made: SSAValue,
    place: tuple[Index, Index, Index],
    width: int,
) -> None:
    """
    Emits the filters from one place (panel, k, column of the panel) on. It transforms first down the columns of taps,
    then along the rows.
    """
    panel, k, column = place
    at = {w.c.k: k, w.c.n: builder.sum(builder.scaled(panel, plan.tile.columns), column)}
    columns: list[list[SSAValue]] = []
    for j in range(TAPS):
        taps = [_tap(builder, w, at | {w.ky: i, w.kx: j}, width) for i in range(TAPS)]
        columns.append(transformed(builder, taps, OF_FILTER, HALVED))
    for i in range(SQUARE):
        row = [each[i] for each in columns]
        for j, value in enumerate(transformed(builder, row, OF_FILTER, HALVED)):
            store_row(builder, without_subnormals(builder, value), made, (SQUARE * i + j, panel, k, column))


def _tap(builder: ScheduledNest, w: Winograd, at: dict[int, Index], width: int) -> SSAValue:
    place = place_of(builder, w.c.b, at, None, w.c.n)
    type_ = vector_type(w.c.b.type.element_type, [1, width])
    loaded = builder.add(tile.LoadOp(place.buffer, place.indices, type_, place.along, place.by)).result
    return widened(builder, loaded, w.c.tile_element)


def transformed(
    builder: ScheduledNest, tiles: Sequence[SSAValue], steps: Steps, halved: Sequence[bool] = (False,) * SQUARE
) -> list[SSAValue]:
    """Returns a matrix times a vector of tiles."""
    return [combined(builder, tiles, row, half) for row, half in zip(steps, halved, strict=False)]
