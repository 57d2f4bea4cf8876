"""
Axes that walk through memory as one become one axis.

The sum over rows and columns of an image is a sum over its pixels. So 7 rows of 7 are 49 numbers in a row, four vectors
in place of seven that are half empty. A transpose of 56 × 56 pixels has 196 tiles of 16 in place of 56 × 3 and a rest.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, NoneAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.loop_nests import levels_of, perfect_block
from ...analysis.reductions import accumulators
from ...analysis.reorder import is_reassociable, may_reorder
from ...core.ir.walk import ops_of
from ...dialects.tensor_loop import BlockOp, Extent, GridOp
from ...dialects.tensor_loop.loops import loop_body
from ...dialects.tile.ops import LANES
from ...lazy_dataclass import dataclass
from ..kernels.contraction import bound_in_order
from ..products.transpose import transpose_of

SHORT = 64
"""The extent below which a row is short: loops over it begin and end more than they run."""

LONG = 4 * SHORT
"""The extent from which a row is long enough, so that loops around it stay for threads and for caches."""

Access = memref.LoadOp | memref.StoreOp


@dataclass(frozen=True)
class JoinPlan:
    """The axes of a grid in groups, of which each becomes one axis."""

    groups: tuple[tuple[int, ...], ...]
    reason: str


def decide_joins(grid: GridOp) -> JoinPlan | None:
    """Returns the axes that become one, `None` where that gains nothing."""
    block = perfect_block(levels_of(grid))
    if block is None or block.constraints or not bound_in_order(grid, block) or not may_reorder(block):
        return None
    if any(not isinstance(extent, int) or extent == 0 for extent in block.extents):
        return None
    if block.has_reduce_axes:
        last = _last_reduced(block)
        if last is None or not _is_joined(grid, block, last - 1):
            return None
        first = last - 1
        while first > 0 and _is_joined(grid, block, first - 1):
            first -= 1
        return JoinPlan(_groups(block, first, last), "the numbers to reduce are neighbours in memory")
    return _mapped(grid, block) or _copied(grid, block)


def _copied(grid: GridOp, block: BlockOp) -> JoinPlan | None:
    """Returns the axes of a copy to join: those of short rows, and those whose tiles leave a rest."""
    accesses = ops_of(block, memref.LoadOp, memref.StoreOp)
    if len(accesses) != 2 or any(isinstance(op, scf.IfOp) for op in block.body.block.ops):
        return None
    transpose = transpose_of(grid)
    for first in range(len(block.axes) - 1):
        extents = block.extents[first : first + 2]
        if 1 in extents or not _is_joined(grid, block, first):
            continue
        tiled = transpose is not None and {transpose.row, transpose.column} & {first, first + 1}
        rows = extents if tiled else extents[1:]
        if any(isinstance(extent, int) and (extent % LANES if tiled else extent < SHORT) for extent in rows):
            return JoinPlan(_groups(block, first, first + 1), "rows that are neighbours in memory are moved as one")
    return None


def _mapped(grid: GridOp, block: BlockOp) -> JoinPlan | None:
    """
    Returns the last axes of a block without sums or transposes that become one row, as many as make a long row of short
    ones.
    """
    if transpose_of(grid) is not None or any(isinstance(op, scf.IfOp) for op in block.body.block.ops):
        return None
    last = first = len(block.axes) - 1
    while first > 0 and prod(map(_number, block.extents[first:])) < LONG and _is_joined(grid, block, first - 1):
        first -= 1
    if first == last or _number(block.extents[last]) >= SHORT:
        return None
    return JoinPlan(_groups(block, first, last), "short rows that are neighbours in memory run as one")


def _number(extent: Extent) -> int:
    assert isinstance(extent, int)
    return extent


def _last_reduced(block: BlockOp) -> int | None:
    """Returns the last reduce axis if neighbours along it are neighbours in memory, and the order is free."""
    found = accumulators(block)
    if found is None or not all(map(is_reassociable, found)):
        return None
    last = max(axis for axis, kind in enumerate(block.kinds) if kind == "reduce")
    places = [op.indices[-1] is block.axes[last] for op in ops_of(block, memref.LoadOp) if op.indices]
    return last if any(places) and last > 0 else None


def _groups(block: BlockOp, first: int, last: int) -> tuple[tuple[int, ...], ...]:
    before = [(axis,) for axis in range(first)]
    after = [(axis,) for axis in range(last + 1, len(block.axes))]
    return (*before, tuple(range(first, last + 1)), *after)


def _is_joined(grid: GridOp, block: BlockOp, axis: int) -> bool:
    """Returns whether `axis` and the next one choose elements of neighbouring dimensions, the latter all of its own."""
    first, second = block.axes[axis], block.axes[axis + 1]
    if block.kinds[axis] != block.kinds[axis + 1]:
        return False
    for use in (*first.uses, *second.uses):
        if not isinstance(use.operation, Access):
            return False
    for op in ops_of(block, memref.LoadOp, memref.StoreOp):
        indices = list(op.indices)
        if first not in indices and second not in indices:
            continue
        type_ = op.memref.type
        assert isinstance(type_, MemRefType)
        if indices.count(first) != 1 or indices.count(second) != 1 or not isinstance(type_.layout, NoneAttr):
            return False
        place = indices.index(first)
        if indices.index(second) != place + 1 or type_.get_shape()[place + 1] != block.extents[axis + 1]:
            return False
        if type_.get_shape()[place] != block.extents[axis]:
            return False
        if any(not grid.is_ancestor(each.operation) for each in op.memref.uses):
            return False
    return True


def apply_joins(grid: GridOp, plan: JoinPlan) -> GridOp:
    """
    Replaces a grid by one over groups of its axes, and returns that.

    Before:

        tensor_loop.grid (%c, %h, %w) in (512, 7, 7) { <out[%c] += x[%c, %h, %w]> }

    After:

        %y = memref.collapse_shape %x [[0], [1, 2]]
        tensor_loop.grid (%c, %p) in (512, 49) { <out[%c] += y[%c, %p]> }
    """
    block = perfect_block(levels_of(grid))
    assert block is not None
    extents = [prod(block.extents[axis] for axis in group) for group in plan.groups]  # pyright: ignore
    region = loop_body([grid.variables[group[-1]].name_hint for group in plan.groups])
    body = Block(arg_types=[argument.type for argument in region.block.args])
    joined: dict[SSAValue, SSAValue | None] = {}
    for group, argument in zip(plan.groups, body.args, strict=True):
        argument.name_hint = block.axes[group[-1]].name_hint
        joined |= dict.fromkeys((block.axes[axis] for axis in group[:-1]), None)
        joined[block.axes[group[-1]]] = argument
    views: dict[tuple[SSAValue, int, int], SSAValue] = {}
    for op in ops_of(block, memref.LoadOp, memref.StoreOp):
        _join_access(grid, op, joined, views)
    for axis, argument in joined.items():
        if argument is not None:
            axis.replace_all_uses_with(argument)
    for op in list(block.body.block.ops):
        op.detach()
        body.add_op(op)
    bindings = [AffineDimExpr(position) for position in range(len(extents))]
    kinds = [block.kinds[group[0]] for group in plan.groups]
    new = BlockOp(block.block_name.data, kinds, extents, bindings, region.block.args, Region(body))
    new.location = block.location
    new.attributes.update(block.attributes)
    region.block.add_op(new)
    result = GridOp(extents, region)
    result.location = grid.location
    result.attributes.update(grid.attributes)
    Rewriter.replace_op(grid, result)
    return result


def _join_access(
    grid: GridOp,
    op: Access,
    joined: dict[SSAValue, SSAValue | None],
    views: dict[tuple[SSAValue, int, int], SSAValue],
) -> None:
    """Replaces an access by one to a view in which the dimensions of joined axes are one."""
    indices = list(op.indices)
    gone = [place for place, index in enumerate(indices) if index in joined and joined[index] is None]
    if not gone:
        return
    first, last = gone[0], gone[-1] + 1
    key = (op.memref, first, last)
    if key not in views:
        views[key] = _view(grid, op.memref, first, last)
    kept = [index for place, index in enumerate(indices) if place not in gone]
    if isinstance(op, memref.LoadOp):
        new: Operation = memref.LoadOp.get(views[key], kept)
    else:
        new = memref.StoreOp.get(op.value, views[key], kept)
    new.location = op.location
    Rewriter.replace_op(op, new)


def _view(grid: GridOp, buffer: SSAValue, first: int, last: int) -> SSAValue:
    """Makes a view, before the grid, in which the dimensions from `first` to `last` are one."""
    type_ = buffer.type
    assert isinstance(type_, MemRefType)
    shape = type_.get_shape()
    sizes = [*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :]]
    groups = [[n] for n in range(first)] + [list(range(first, last + 1))] + [[n] for n in range(last + 1, len(shape))]
    nested = ArrayAttr([ArrayAttr([IntegerAttr(n, i64) for n in group]) for group in groups])
    view = memref.CollapseShapeOp(
        operands=[buffer],
        result_types=[MemRefType(type_.element_type, sizes)],
        properties={"reassociation": nested},
    )
    view.location = grid.location
    Rewriter.insert_op(view, InsertPoint.before(grid))
    view.result.name_hint = f"{buffer.name_hint or 'image'}_joined"
    return view.result


def join_axes(grid: GridOp) -> GridOp | None:
    """Returns the grid over groups of axes in place of `grid`, `None` where it stays."""
    plan = decide_joins(grid)
    return None if plan is None else apply_joins(grid, plan)
