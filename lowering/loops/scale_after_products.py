"""
The scaling of the result of a product in place of its left operand: pass `scale-after-products`.

Before: block "softmax" multiplies each row of exponentials by a number, and a product takes these rows.
After: the product takes the exponentials, and each row of its result is multiplied by the number.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, ModuleOp, bf16, f32, f64
from xdsl.ir import Block, BlockArgument, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.loop_nests import body_ops, levels_of, perfect_block
from ...analysis.reductions import accumulators
from ...core.ir.element_types import is_small_float
from ...core.ir.walk import ops_of
from ...core.messages.origins import inherit
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass
from ...dialects import tensor_loop
from ...lazy_dataclass import dataclass
from ...schedule.kernels.contraction import Contraction, bound_in_order, contraction_of
from ...schedule.kernels.epilogue import following_grid
from ...schedule.rows.nan import exponentials_of
from .inline_blocks import accessors, erase


@dataclass(frozen=True)
class ScaleAfterProductsPass(StepwellPass):
    """
    Multiplies the rows of the result of a product by what its left operand was multiplied by, in softmax before it.

    Before:

        tensor_loop.grid (%i, %k) in (512, 512) { <%p[%vi, %vk] = %e[%vi, %vk] * %r[%vi]> }
        tensor_loop.grid (%i, %j, %k) in (512, 64, 512) { <%y[%vi, %vj] += %p[%vi, %vk] * %v[%vk, %vj]> }

    After:

        tensor_loop.grid (%i, %j, %k) in (512, 64, 512) { <%t[%vi, %vj] += %e[%vi, %vk] * %v[%vk, %vj]> }
        tensor_loop.grid (%i, %j) in (512, 64) { <%y[%vi, %vj] = %t[%vi, %vj] * %r[%vi]> }

    Results round otherwise, so `strict` leaves the pass out. The numbers %e are exponentials of differences to the
    maximum of the row, hence at most 1, and %r is computed from their sum. So sums overflow only where an element of
    %v is within a factor of the greatest number that is the length of the row. The result has at most as many columns
    as the left operand. Where %p is f16 or bf16, %e is f32, and so are the sums. The product takes %e as it is, in
    place of numbers that were scaled and rounded. Sums in f16 or bf16 are left alone, as they would be rounded before
    they are scaled. `bf16=false` leaves products of bf16 alone too, for machines that have instructions for these.
    """

    name = "scale-after-products"

    bf16: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, tensor_loop.FuncOp) and allowed("loops", self.name, function):
                for scaling in list(_scalings(function)):
                    kept = not self.bf16 and scaling.product.a.type.element_type == bf16
                    if not kept and (places := _places(scaling)) is not None:
                        _move(scaling, places)
                        self.count("products scaled afterwards")


@dataclass(frozen=True)
class _Scaling:
    """A kernel that multiplies exponentials by a number per row, and the product right after it that takes them."""

    grid: tensor_loop.GridOp
    block: tensor_loop.BlockOp
    load: memref.LoadOp
    factor: memref.LoadOp
    scale: arith.MulfOp | arith.DivfOp
    """What it computes, in the precision of the sums. A small float is rounded from that."""
    store: memref.StoreOp
    product: Contraction


def _scalings(function: tensor_loop.FuncOp) -> Iterator[_Scaling]:
    """Yields the scalings of a function that may move behind the product after them."""
    rows = dict(_exponentials(function))
    for grid in body_ops(function.body.block) if rows else ():
        if not isinstance(grid, tensor_loop.GridOp) or (following := following_grid(grid)) is None:
            continue
        product = contraction_of(following)
        found = None if product is None else _scaling(grid, product)
        if found is not None and rows.get(found.load.memref) is found.factor.memref and _is_only_read_by(found):
            yield found


def _exponentials(function: tensor_loop.FuncOp) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Yields the buffers of exponentials of differences to the maximum of a row, with those of what scales them."""
    for block in ops_of(function, tensor_loop.BlockOp):
        for accumulator in accumulators(block) or ():
            if isinstance(accumulator.store.value.owner, arith.MaximumfOp) and len(accumulator.loads) == 1:
                found = exponentials_of(block, accumulator)
                if found is not None:
                    yield found.buffer, found.scale


def _scaling(grid: tensor_loop.GridOp, product: Contraction) -> _Scaling | None:
    """Returns the scaling that `grid` is, with the product after it, or `None` where it is none."""
    block = perfect_block(levels_of(grid))
    if block is None or block.has_reduce_axes or block.constraints or not bound_in_order(grid, block):
        return None
    ops = body_ops(block.body.block)
    loads = [op for op in ops if isinstance(op, memref.LoadOp)]
    store, scale = ops[-1], ops[2] if len(ops) in (4, 5) else None
    if not isinstance(store, memref.StoreOp) or len(loads) != 2 or not isinstance(scale, arith.MulfOp | arith.DivfOp):
        return None
    axes = list(block.axes)
    load, factor = loads if list(loads[0].indices) == axes else loads[::-1]
    if list(load.indices) != axes or list(store.indices) != axes:
        return None
    if store.value is not scale.result and not _rounds(store.value, scale.result):
        return None
    if isinstance(scale, arith.DivfOp) and scale.lhs is not load.res:
        return None
    if {*scale.operands} != {load.res, factor.res} or product.a.buffer is not store.memref:
        return None
    return _Scaling(grid, block, load, factor, scale, store, product)


def _rounds(value: SSAValue, wide: SSAValue) -> bool:
    """Returns whether `value` is the small float next to `wide`."""
    return isinstance(value.owner, arith.TruncFOp) and value.owner.input is wide and is_small_float(value.type)


def _is_only_read_by(scaling: _Scaling) -> bool:
    """Returns whether nothing but the product reads what is scaled, and the product is one that gains."""
    c = scaling.product
    source = scaling.load.memref
    assert isinstance(source.type, MemRefType)
    if c.tile_element not in (f32, f64) or source.type.element_type != c.tile_element or c.reduce:
        return False
    if c.extent(c.n) > c.extent(c.k) or not isinstance(c.a.buffer.owner, tensor_loop.AllocOp):
        return False
    factor = scaling.factor.memref
    if {source, factor} & {c.b.buffer, c.out.buffer} or c.a.buffer in (c.b.buffer, c.out.buffer, factor):
        return False
    found = accessors(c.a.buffer) or []
    start = next((each.time for each in found if each.nest is scaling.grid), None)
    return start is not None and [each.nest for each in found if each.time > start] == [c.grid]


def _places(scaling: _Scaling) -> list[int | None] | None:
    """
    Returns the dimension of the result that each index of the factor moves along, `None` for an index that is 0. There
    are no places where the factor moves along something else, or the result is not written in whole.
    """
    c, shape = scaling.product, scaling.product.out.type.get_shape()
    dimensions: dict[int, int] = {}
    for number, index in enumerate(c.out.indices):
        if isinstance(index, AffineDimExpr) and c.extents[index.position] == shape[number]:
            dimensions[index.position] = number
        elif shape[number] != 1:
            return None
    found: list[int | None] = []
    axes = list(scaling.block.axes)
    for value in scaling.factor.indices:
        if not isinstance(value, BlockArgument):
            return None
        index = c.a.indices[axes.index(value)]
        if isinstance(index, AffineConstantExpr) and scaling.block.extents[axes.index(value)] == 1:
            found.append(None)
        elif isinstance(index, AffineDimExpr) and index.position in dimensions:
            found.append(dimensions[index.position])
        else:
            return None
    return found


def _move(scaling: _Scaling, places: list[int | None]) -> None:
    """Has the product take the exponentials, and puts the scaling of its result behind it."""
    c, source, target = scaling.product, scaling.load.memref, scaling.product.out.buffer
    assert isinstance(target.type, MemRefType)
    whole = tensor_loop.AllocOp(target.type)
    whole.results[0].name_hint = target.name_hint
    scaled = _scale(scaling, places, whole.results[0])
    for op in (whole, scaled):
        op.location = scaling.grid.location
    inherit(scaled)
    Rewriter.insert_op(whole, InsertPoint.before(c.grid))
    _take_wide(c, source)
    for buffer, other in ((target, whole.results[0]), (c.a.buffer, source)):
        for use in list(buffer.uses):
            if c.grid.is_ancestor(use.operation) and other is not buffer:
                use.operation.operands[use.index] = other
    Rewriter.insert_op(scaled, InsertPoint.after(c.grid))
    erase(scaling.grid)
    c.block.refresh_regions()
    left = c.a.buffer.owner
    assert isinstance(left, tensor_loop.AllocOp)
    if left.memref.first_use is None:
        erase(left)


def _take_wide(c: Contraction, source: SSAValue) -> None:
    """Has the product load from `source`, in the precision of the sums, what it extended."""
    for load in [op for op in ops_of(c.grid, memref.LoadOp) if op.memref is c.a.buffer]:
        extensions = [use.operation for use in load.res.uses if isinstance(use.operation, arith.ExtFOp)]
        if not extensions:
            continue
        wide = memref.LoadOp.get(source, load.indices)
        wide.location = load.location
        Rewriter.insert_op(wide, InsertPoint.before(load))
        for extended in extensions:
            Rewriter.replace_op(extended, [], [wide.res])
        Rewriter.erase_op(load)


def _scale(scaling: _Scaling, places: list[int | None], whole: SSAValue) -> tensor_loop.GridOp:
    """Makes the grid that multiplies the result of the product."""
    target = scaling.product.out
    shape = target.type.get_shape()
    body = Block(arg_types=[IndexType()] * len(shape))
    for number, argument in enumerate(body.args):
        argument.name_hint = f"vi{number}"
    indices: list[SSAValue] = []
    for place in places:
        if place is None:
            zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
            body.add_op(zero)
            indices.append(zero.result)
        else:
            indices.append(body.args[place])
    loaded = memref.LoadOp.get(whole, body.args)
    factor = memref.LoadOp.get(scaling.factor.memref, indices)
    product = type(scaling.scale)(loaded.res, factor.res)
    body.add_ops([loaded, factor, product, memref.StoreOp.get(product.result, target.buffer, body.args)])
    for op in body.ops:
        op.location = scaling.block.location
    grid = tensor_loop.GridOp(shape, [f"i{number}" for number in range(len(shape))])
    block = tensor_loop.BlockOp(
        scaling.block.block_name.data,
        ["spatial"] * len(shape),
        list(shape),
        [AffineDimExpr(number) for number in range(len(shape))],
        grid.variables,
        Region(body),
    )
    block.location = scaling.block.location
    last = grid.body.block.last_op
    assert last is not None
    grid.body.block.insert_op_before(block, last)
    return grid
