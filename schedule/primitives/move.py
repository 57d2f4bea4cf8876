"""Primitives that move a block under a loop of another: compute_at, reverse_compute_at."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr
from xdsl.rewriter import InsertPoint

from ...analysis.affine import bounds, from_terms, linear_terms
from ...analysis.reductions import reduction_nest
from ...dialects.schedule.ops import ComputeAtOp, ReverseComputeAtOp
from ...dialects.tensor_loop import BlockOp, Constraint, ForOp
from ...dialects.tensor_loop.syntax import value_name
from ...lazy_dataclass import dataclass
from .affine import Coverage
from .buffers import (
    axes_at,
    axes_of_reads,
    check_once,
    check_unread,
    check_unstored,
    check_untouched,
    check_unwritten,
    check_writes_once,
    hoist_buffers,
    loads_in,
    only_store,
    store_to_temporary,
    stores_in,
    time_of,
    users_of,
)
from .dependences import Dependences, Touch, check_order_known, only_reduces, touches
from .errors import refuse
from .nests import (
    block_name,
    check_covers_axes,
    function_of,
    is_alone,
    loop_name,
    loops_of,
    new_nest,
    place,
    ranges_of,
    rebind,
    short_name,
)
from .reshape import check_plain
from .steps import step


@dataclass(frozen=True)
class Span:
    """
    A range of `size` elements of a dimension from `base` on. `base` is an expression over `values`, which are all
    defined outside the loops that vary.
    """

    base: AffineExpr
    values: tuple[SSAValue, ...]
    size: int


def _is_inside(value: SSAValue, loop: ForOp) -> bool:
    """Returns whether `value` changes while one iteration of `loop` runs."""
    owner = value.owner
    place = owner if isinstance(owner, Operation) else owner.parent_op()
    return place is not None and place is not loop and loop.is_ancestor(place)


def _parts(
    touch: Touch, dimension: int, loop: ForOp
) -> tuple[dict[AffineExpr, int], dict[AffineExpr, int], int] | None:
    """Returns the terms of an index that stand still in an iteration of `loop`, those that move, and the constant."""
    low = touch.lows[dimension]
    if low is None or touch.sizes[dimension] == DYNAMIC_INDEX:
        return None
    operands = touch.block.binding_operands
    moving = {dim for dim, value in enumerate(operands) if _is_inside(value, loop)}
    terms, constant = linear_terms(low)
    inner = {atom: factor for atom, factor in terms.items() if atom.used_dims() & moving}
    if any(atom.used_dims() - moving for atom in inner):
        return None
    outer = {atom: factor for atom, factor in terms.items() if atom not in inner}
    return outer, inner, constant


def region_under(loop: ForOp, group: Sequence[Touch], dimension: int, extent: int) -> Span:
    """
    Returns the part of one dimension that the touches need in one iteration of `loop`. It is all of it where that is
    not known.
    """
    whole = Span(AffineConstantExpr(0), (), extent)
    values: list[SSAValue] = []
    bases: list[AffineExpr] = []
    lows: list[int] = []
    highs: list[int] = []
    for touch in group:
        parts = _parts(touch, dimension, loop)
        if parts is None:
            return whole
        outer, inner, constant = parts
        span = bounds(from_terms(inner, constant), ranges_of(touch.block.binding_operands))
        if span is None:
            return whole
        for value in touch.block.binding_operands:
            if value not in values:
                values.append(value)
        dims = [AffineDimExpr(values.index(value)) for value in touch.block.binding_operands]
        bases.append(from_terms(outer, 0).replace_dims_and_symbols(dims, ()))
        lows.append(span[0])
        highs.append(span[1] + touch.sizes[dimension] - 1)
    first = linear_terms(bases[0])
    size = max(highs) - min(lows) + 1
    if any(linear_terms(base) != first for base in bases) or size >= extent or size < 1:
        return whole
    base = from_terms(first[0], min(lows))
    used = sorted(base.used_dims())
    renamed = [AffineDimExpr(used.index(dim)) if dim in used else base for dim in range(len(values))]
    return Span(base.replace_dims_and_symbols(renamed, ()), tuple(values[dim] for dim in used), size)


def _check_movable(block: BlockOp, loop: ForOp) -> None:
    if loop.is_ancestor(block):
        refuse(f"{block_name(block)} is under {loop_name(loop)} already", block, loop)
    if function_of(block) is not function_of(loop):
        refuse(f"{loop_name(loop)} is a loop of another function", loop)
    if not is_alone(block):
        refuse(f"{block_name(block)} shares its loops with other blocks", block)
    check_order_known(block)
    for each in loops_of(block):
        check_plain(each)
    check_covers_axes(block)
    for each in _around(loop):
        if each.kind_name not in ("serial", "unrolled"):
            refuse(
                f"{loop_name(each)} is {each.kind_name}, so nothing may be moved into it",
                block,
                each,
                hint="mark loops after moving blocks into them",
            )


def _around(loop: ForOp) -> list[ForOp]:
    return [*loops_of(loop), loop]


@step(ComputeAtOp)
def compute_at(block: BlockOp, loop: ForOp) -> None:
    """
    Computes, in each iteration of a loop, just the part of a temporary that this iteration reads.

    Args:
        block: The block that writes the temporary.
        loop: A loop around all that reads it.

    Legal for a block that is alone in its nest and alone writes a temporary, one element at its axes. All readers of
    the temporary are under the loop. From where the block stands to the end of the nest of the loop, nobody writes what
    it reads.

    Before and after `compute_at("p", %i)`:

        for %i in 8 { block "p" { T[vi] = … } }  for %i in 8 { block "c" { … T[vi] … } }
        for %i in 8 { block "p" (%vi = %i) { T[vi] = … }  block "c" { … T[vi] … } }
    """
    _check_movable(block, loop)
    store = store_to_temporary(block)
    buffer = store.memref
    users = users_of(buffer, block)
    readers = [user.block for user in users if user.block is not block]
    for user in users:
        if user.block is block:
            continue
        if user.stores:
            refuse(f"{block_name(user.block)} writes {value_name(buffer)} too", block, user.block)
        if not loop.is_ancestor(user.block):
            refuse(
                f"{block_name(user.block)} reads {value_name(buffer)} but is not under {loop_name(loop)}",
                block,
                user.block,
                loop,
            )
    if not readers:
        refuse(f"nothing under {loop_name(loop)} reads {value_name(buffer)}", block, loop)
    start, end = time_of(block), time_of(loop)
    if start > end:
        refuse(f"{block_name(block)} comes after {loop_name(loop)}", block, loop)
    axes = axes_at(block, store.indices, buffer)
    _check_producer(block, axes, buffer)
    check_unwritten([load.memref for load in loads_in(block) if load.memref is not buffer], start, end, block)
    group = [touch for reader in readers for touch in touches(reader) if touch.buffer is buffer]
    spans = _axis_spans(block, axes, buffer, loop, group)
    target = next(op for op in loop.body.block.ops if any(op is r or op.is_ancestor(r) for r in readers))
    _rebuild(block, spans, InsertPoint.before(target))


def _check_producer(block: BlockOp, axes: list[int | None], buffer: SSAValue) -> None:
    for axis, (kind, extent) in enumerate(zip(block.kinds, block.extents, strict=True)):
        if kind == "spatial" and axis not in axes and extent != 1:
            refuse(f"axis {value_name(block.axes[axis])} does not choose the element that is written", block)
    if not block.has_reduce_axes:
        check_unread(block, buffer)
        return
    loads = loads_in(block, buffer)
    if block.init is None:
        refuse(f"{block_name(block)} has no init: moved, it would add to what earlier iterations left", block)
    if any(
        axes_at(block, each.indices, buffer) != axes for each in (*loads, *stores_in(block)) if each.memref is buffer
    ):
        refuse(f"{block_name(block)} accesses {value_name(buffer)} at several places", block)
    check_once(block)
    loops = loops_of(block)
    reduce_loops = [loop for loop in loops if _binds_plainly(block, loop)]
    plain = [axis for loop in reduce_loops for axis in _axes_of(block, loop)]
    wanted = [axis for axis, kind in enumerate(block.kinds) if kind == "reduce"]
    if plain != wanted:
        nest = reduction_nest(block)
        blame = only_reduces(block, [loop for loop in loops if loop.variable in nest.reduce])
        if blame is not None:
            refuse(f"the reduce loops of {block_name(block)} would change their order: {blame.reason}", block)


def _axes_of(block: BlockOp, loop: ForOp) -> list[int]:
    """Returns the reduce axes that have the value of the loop variable."""
    return [
        axis
        for axis, (expr, kind) in enumerate(zip(block.binding_exprs, block.kinds, strict=True))
        if kind == "reduce"
        and isinstance(expr, AffineDimExpr)
        and block.binding_operands[expr.position] is loop.variable
    ]


def _binds_plainly(block: BlockOp, loop: ForOp) -> bool:
    return len(_axes_of(block, loop)) == 1


def _axis_spans(
    block: BlockOp, axes: list[int | None], buffer: SSAValue, loop: ForOp, group: Sequence[Touch]
) -> list[Span | None]:
    """Returns per axis of `block` the part of it that is needed, or `None` for all."""
    assert isinstance(buffer.type, MemRefType)
    spans: list[Span | None] = [None] * len(block.axes)
    for dimension, (axis, extent) in enumerate(zip(axes, buffer.type.get_shape(), strict=True)):
        if axis is None:
            continue
        found = region_under(loop, group, dimension, extent)
        spans[axis] = found if found.size < extent else None
    return spans


def _rebuild(block: BlockOp, spans: Sequence[Span | None], at: InsertPoint) -> None:
    """
    Moves `block` to `at` with new loops. They go over the span of each axis, or over all of it where there is none.
    """
    old: Operation = block
    while isinstance(parent := old.parent_op(), ForOp):
        old = parent
    sizes = [_loop_size(block, axis, span) for axis, span in enumerate(spans)]
    looped = [axis for axis, kind in enumerate(block.kinds) if sizes[axis] != 1 or kind == "reduce"]
    looped.sort(key=lambda axis: block.kinds[axis] == "reduce")
    loops = new_nest([short_name(block.axes[axis]) for axis in looped], [sizes[axis] for axis in looped], block)
    variables = {axis: loop.variable for axis, loop in zip(looped, loops, strict=True)}
    block.detach()
    if old is not block:
        old.detach()  # It is erased once the block has new bindings.
    operands: list[SSAValue] = []
    bindings: list[AffineExpr] = []
    constraints: list[Constraint] = []
    for axis, span in enumerate(spans):
        expr: AffineExpr = AffineConstantExpr(0)
        if span is not None:
            operands += span.values
            dims = [AffineDimExpr(len(operands) - len(span.values) + n) for n in range(len(span.values))]
            expr = span.base.replace_dims_and_symbols(dims, ())
        if axis in variables:
            operands.append(variables[axis])
            expr = expr + AffineDimExpr(len(operands) - 1)
        bindings.append(expr)
        if span is not None:
            extent = block.extents[axis]
            assert isinstance(extent, int)
            constraints += [(expr, extent), (expr * -1, 1)]
    bindings, constraints, operands = _merge(bindings, constraints, operands)
    place(loops, block, at)
    rebind(block, bindings, operands, constraints)
    if old is not block:
        old.erase()


def _loop_size(block: BlockOp, axis: int, span: Span | None) -> int:
    extent = block.extents[axis]
    assert isinstance(extent, int)
    return extent if span is None else span.size


def _merge(
    bindings: list[AffineExpr], constraints: list[Constraint], operands: list[SSAValue]
) -> tuple[list[AffineExpr], list[Constraint], list[SSAValue]]:
    """Returns the same bindings and constraints over operands that are all different."""
    unique = list(dict.fromkeys(operands))
    dims = [AffineDimExpr(unique.index(value)) for value in operands]
    return (
        [expr.replace_dims_and_symbols(dims, ()) for expr in bindings],
        [(expr.replace_dims_and_symbols(dims, ()), bound) for expr, bound in constraints],
        unique,
    )


@step(ReverseComputeAtOp)
def reverse_compute_at(block: BlockOp, loop: ForOp) -> None:
    """
    Computes a block, in each iteration of a loop, on just the part of a buffer that this iteration has completed.

    Args:
        block: The block that reads the buffer.
        loop: A loop around the block that writes the buffer.

    Legal for a block without reduce axes that is alone in its nest and writes no element twice. At its axes it reads a
    buffer that one block under the loop writes completely. Different iterations of the loop and those around write
    different parts, without gaps. From the nest of the loop to where the block stands, nobody else touches what it
    writes, or writes what it reads.

    Before and after `reverse_compute_at("c", %i)`:

        for %i in 8 { block "p" { T[vi] = … } }  for %i in 8 { block "c" { C[vi] = … T[vi] … } }
        for %i in 8 { block "p" { T[vi] = … }  block "c" (%vi = %i) { C[vi] = … T[vi] … } }
    """
    _check_movable(block, loop)
    if block.has_reduce_axes:
        refuse(f"{block_name(block)} has reduce axes", block)
    store = only_store(block)
    check_writes_once(block)
    start, end = time_of(loop), time_of(block)
    if start > end:
        refuse(f"{block_name(block)} comes before {loop_name(loop)}", block, loop)
    buffer, producer = _source_under(block, loop)
    check_unstored(block, buffer)
    axes = axes_of_reads(block, buffer)
    spans = _completed(block, producer, buffer, axes, loop)
    check_unwritten([load.memref for load in loads_in(block) if load.memref is not buffer], start, end, block)
    check_untouched(store.memref, start, end, block)
    target = next(op for op in loop.body.block.ops if op is producer or op.is_ancestor(producer))
    _rebuild(block, spans, InsertPoint.after(target))
    hoist_buffers(block)


def _source_under(block: BlockOp, loop: ForOp) -> tuple[SSAValue, BlockOp]:
    """Returns the buffer that `block` reads and a block under `loop` writes, and that block."""
    found: list[tuple[SSAValue, BlockOp]] = []
    for buffer in dict.fromkeys(load.memref for load in loads_in(block)):
        writers = [user.block for user in users_of(buffer, block) if user.stores and user.block is not block]
        under = [writer for writer in writers if loop.is_ancestor(writer)]
        if under and len(writers) > 1:
            names = " and ".join(block_name(writer) for writer in writers)
            refuse(f"{names} write {value_name(buffer)}, expected one block", block, *writers)
        found += [(buffer, writer) for writer in under]
    if len(found) != 1:
        refuse(
            f"{block_name(block)} reads {len(found)} buffers that are written under {loop_name(loop)}, expected one",
            block,
            loop,
        )
    return found[0]


def _completed(
    block: BlockOp, producer: BlockOp, buffer: SSAValue, axes: list[int | None], loop: ForOp
) -> list[Span | None]:
    """
    Returns per axis of `block` the part of the buffer that an iteration of `loop` completes. Refuses where that is not
    known.
    """
    assert isinstance(buffer.type, MemRefType)
    stored = axes_at(producer, only_store(producer).indices, buffer)
    check_covers_axes(producer, block)
    limits = dict(zip(producer.binding_exprs, producer.extents, strict=True))
    if any(limits.get(expr) != bound for expr, bound in producer.constraints):
        refuse(f"{block_name(producer)} runs under a condition", block, producer)
    outer = _around(loop)
    dependences = Dependences(outer[0])
    for each in outer:
        reason = dependences.blame_of(each, buffer)
        if reason is not None:
            refuse(
                f"{value_name(buffer)} is not complete after an iteration of {loop_name(loop)}: {reason.reason}",
                block,
                each,
            )
    group = [touch for touch in touches(producer) if touch.buffer is buffer]
    coverage = Coverage(ranges_of(producer.binding_operands), {})
    spans: list[Span | None] = [None] * len(block.axes)
    for dimension, (axis, source, extent) in enumerate(zip(axes, stored, buffer.type.get_shape(), strict=True)):
        if axis is None or source is None:
            if axis is not source:
                refuse(f"{block_name(block)} and {block_name(producer)} index {value_name(buffer)} differently", block)
            continue
        if block.extents[axis] != extent or producer.extents[source] != extent:
            refuse(f"not every element of {value_name(buffer)} is visited by both blocks", block, producer)
        parts = _parts(group[0], dimension, loop)
        span = region_under(loop, group, dimension, extent)
        if parts is None or coverage.extent(from_terms(parts[1], 0)) is None:
            refuse(f"what {loop_name(loop)} completes of {value_name(buffer)} is no box", block, loop)
        spans[axis] = None if span.size == extent and not span.values else span
    return spans
