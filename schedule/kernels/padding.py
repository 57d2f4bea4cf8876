"""Makes padding explicit, as a copy of a buffer with its padding around it."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects import memref
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ...analysis.affine import is_linear, normal_form
from ...analysis.loop_nests import levels_of, perfect_block
from ...core.ir.walk import ops_of
from ...dialects.schedule import LeftOutAttr
from ...dialects.tensor_loop import AllocOp, GridOp
from .contraction import Contraction, Operand, bound_in_order, index_ranges, operand_of
from .decisions import may_take
from .scheduled_nest import Bound, ScheduledNest


def padded_copy(builder: ScheduledNest, c: Contraction) -> Operand:
    """Emits a copy of `a` with its padding around it, and returns the operand that reads the copy."""
    a, shape = c.a, c.a.type.get_shape()
    assert a.padding is not None
    ranges = list(index_ranges(a, c.block))
    lows = [min(low, 0) for low, *_ in ranges]
    sizes = [max(high + 1, size) - low for low, (_, high, _, size) in zip(lows, ranges, strict=True)]
    copy = builder.add(AllocOp(MemRefType(a.type.element_type, sizes))).results[0]
    copy.name_hint = "padded"
    names = [f"d{number}" for number in range(len(sizes))]

    def axes(extents: list[int], variables: list[AffineExpr]) -> list[Bound]:
        return [
            Bound("spatial", variable, extent, f"v{name}")
            for variable, extent, name in zip(variables, extents, names, strict=True)
        ]

    with (
        builder.nest(sizes, names, "vectorized") as variables,
        builder.blocked("fill", axes(sizes, variables)) as values,
    ):
        places = [builder.value(value) for value in values]
        builder.add(memref.StoreOp.get(builder.constant(a.padding), copy, places))
    with (
        builder.nest(shape, names, "vectorized") as variables,
        builder.blocked("copy", axes(list(shape), variables)) as values,
    ):
        loaded = builder.add(memref.LoadOp.get(a.buffer, [builder.value(v) for v in values])).res
        places = [builder.value(builder.sum(value, -low)) for value, low in zip(values, lows, strict=True)]
        builder.add(memref.StoreOp.get(loaded, copy, places))
    indices = tuple(index - low for index, low in zip(a.indices, lows, strict=True))
    return Operand(copy, indices, unsigned=a.unsigned)


def is_zero(value: Attribute) -> bool:
    """Returns whether a constant is the number 0."""
    return isinstance(value, FloatAttr | IntegerAttr) and value.value.data == 0


def pad_before(c: Contraction) -> tuple[GridOp, Operand] | None:
    """
    Returns the grid before that fills the buffer of `a`, which nobody else reads, and the operand that it stores there.
    It is `None` where there is none, or one that a plan keeps.
    """
    return padding_of(c.a, c.grid, c.out.buffer)


def padding_of(a: Operand, reader: GridOp, out: SSAValue) -> tuple[GridOp, Operand] | None:
    """Returns the grid before `reader` that fills the buffer of `a` for it alone, and what that stores there."""
    buffer = a.buffer
    if not isinstance(buffer.owner, AllocOp) or a.padding is not None:
        return None
    top = buffer.owner.parent
    users = {_ancestor_in(top, use.operation) for use in buffer.uses} - {reader, None}
    if len(users) != 1:
        return None
    (grid,) = users
    if not isinstance(grid, GridOp) or not grid.is_before_in_block(reader):
        return None
    block = perfect_block(levels_of(grid))
    if block is None or block.has_reduce_axes or block.constraints or not bound_in_order(grid, block):
        return None
    taker = perfect_block(levels_of(reader))
    if taker is None or not may_take(taker, block, LeftOutAttr):
        return None
    stores = ops_of(block, memref.StoreOp)
    loads = ops_of(block, memref.LoadOp)
    if len(stores) != 1 or len(loads) != 1 or stores[0].memref is not buffer:
        return None
    if tuple(stores[0].indices) != tuple(block.axes) or tuple(block.extents) != a.type.get_shape():
        return None
    dims: dict[SSAValue, int] = {axis: position for position, axis in enumerate(block.axes)}
    source = operand_of(stores[0].value, dims, block)
    if source is None or source.padding is None or source.buffer is out:
        return None
    unchanged = source.type.element_type == a.type.element_type
    return (grid, source) if unchanged and _only_allocations_between(grid, reader) else None


def without_copy(c: Contraction) -> tuple[Contraction, GridOp | None]:
    """
    Returns `c` on the image itself and the grid that makes the padded copy, where `c` reads such a copy, else `c` as it
    is.
    """
    producer = pad_before(c)
    if producer is None:
        return c, None
    grid, source = producer
    composed = tuple(normal_form(index.replace_dims_and_symbols(list(c.a.indices), ())) for index in source.indices)
    direct = replace(c, a=replace(source, indices=composed, unsigned=c.a.unsigned))
    return (direct, grid) if all(is_linear(index) for index in composed) else (c, None)


def _ancestor_in(block: Block | None, op: Operation) -> Operation | None:
    """Returns the op of `block` that `op` is in."""
    current: Operation | None = op
    while current is not None and current.parent is not block:
        current = current.parent_op()
    return current


def _only_allocations_between(first: Operation, last: Operation) -> bool:
    between = first.next_op
    while isinstance(between, AllocOp):
        between = between.next_op
    return between is last


def erase_with_buffers(grid: GridOp) -> None:
    """Erases a grid, and the buffers that have no use after that."""
    buffers = {op.memref for op in ops_of(grid, memref.LoadOp, memref.StoreOp)}
    grid.detach()
    grid.erase()
    for buffer in buffers:
        if isinstance(buffer.owner, AllocOp) and buffer.first_use is None:
            buffer.owner.detach()
            buffer.owner.erase()
