"""
Weights that a prepare function only moves before they are laid out: their elements get other places, as when axes are
permuted. What lays them out reads them where they are, so nothing of the size of the weights is made in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...analysis.access_regions import body_accesses
from ...analysis.affine import is_linear, linear_terms, normal_form
from ...analysis.loop_nests import body_ops, levels_of, perfect_block
from ...dialects.graph.calls import CallKernelOp
from ...dialects.tensor_loop import FuncOp, GridOp
from ...dialects.traits import constant_kind
from ...lazy_dataclass import dataclass
from ..kernels.contraction import Indices, Operand, bound_in_order
from ..kernels.epilogue import maps_only
from ..products.turned import is_whole
from .constants import STORED


@dataclass(frozen=True)
class MovedWeight:
    """A stored weight, and where an operand that is made of it by moving elements has its elements there."""

    leaf: Operation
    type: Attribute
    """Its type in kernels."""
    indices: Indices


def moved_weight(
    source: SSAValue,
    operand: Operand,
    extents: Sequence[int],
    prepare: Mapping[str, func.FuncOp],
    kernels: Mapping[str, FuncOp],
) -> MovedWeight | None:
    """
    Returns the weight that `source`, the result of a prepare function, is made of by moving elements. It is `None`
    where it is made in another way.

    `operand` is what a kernel reads of `source`, over axes of these `extents`.
    """
    call = source.owner
    if not isinstance(call, func.CallOp) or not isinstance(source, OpResult):
        return None
    ops = list(prepare[call.callee.string_value()].body.block.ops)
    if len(ops) != 3:
        return None
    leaf, move, end = ops
    if constant_kind(leaf) not in STORED or not isinstance(move, CallKernelOp):
        return None
    if list(move.inputs) != list(leaf.results) or list(end.operands) != list(move.results):
        return None
    kernel = kernels[move.callee_name]
    indices = indices_in_source(kernel, operand.indices, extents)
    return None if indices is None else MovedWeight(leaf, kernel.inputs[0].type, indices)


def indices_in_source(kernel: FuncOp, indices: Indices, extents: Sequence[int]) -> Indices | None:
    """
    Returns where `kernel`, which moves elements of its input, has the element of its result at `indices` from. It is
    `None` where it does something else, or the indices are not linear.

    `indices` are linear over axes of these `extents`. Of a kernel that computes `y[i, j] = x[j, i]`, and `[k, n]`, they
    are `[n, k]`. Axes that are joined, `y[ij, k] = x[k, ij]`, come apart again.
    """
    copy = _copy_of(kernel)
    if copy is None or not all(map(is_linear, indices)):
        return None
    loaded, stored = copy
    values: dict[int, AffineExpr] = {}
    for index, joined in zip(stored.indices, _joined(stored.buffer), strict=True):
        sizes = [_shape_of_argument(stored.buffer)[number] for number in joined]
        if isinstance(index, AffineDimExpr):
            values[index.position] = _sum_of([indices[number] for number in joined], sizes)
    found: dict[int, AffineExpr] = {}
    for index, joined in zip(loaded.indices, _joined(loaded.buffer), strict=True):
        axes = [values.get(axis, AffineExpr.constant(0)) for axis in range(1 + max(values, default=0))]
        sizes = [_shape_of_argument(loaded.buffer)[number] for number in joined]
        parts = _apart(normal_form(index.replace_dims_and_symbols(axes, ())), sizes, extents)
        if parts is None:
            return None
        found |= zip(joined, parts, strict=True)
    return tuple(found[number] for number in range(len(found)))


def _copy_of(kernel: FuncOp) -> tuple[Operand, Operand] | None:
    """Returns what a kernel loads and stores that copies each element of its input to another place, once."""
    ops = [op for op in body_ops(kernel.body.block) if not isinstance(op, memref.CollapseShapeOp)]
    if len(ops) != 1 or not isinstance(grid := ops[0], GridOp) or len(kernel.inputs) != 1 or len(kernel.outputs) != 1:
        return None
    block = perfect_block(levels_of(grid))
    if block is None or block.has_reduce_axes or block.constraints or not maps_only(block):
        return None
    accesses = body_accesses(block.body.block).accesses
    if len(accesses) != 2 or not bound_in_order(grid, block) or not isinstance(accesses[1].op, memref.StoreOp):
        return None
    if accesses[0].op is not accesses[1].op.value.owner:
        return None
    operands: list[Operand] = []
    for access in accesses:
        indices = [index for index in access.indices if index is not None and is_linear(index)]
        if len(indices) != len(access.indices):
            return None
        operands.append(Operand(access.buffer, tuple(map(normal_form, indices))))
    loaded, stored = operands
    known = _argument_of(loaded.buffer) is kernel.inputs[0] and _argument_of(stored.buffer) is kernel.outputs[0]
    once = all(extent == 1 or axis in stored.axes() for axis, extent in enumerate(block.extents))
    return (loaded, stored) if known and once and is_whole(stored, block.extents) else None


def _argument_of(buffer: SSAValue) -> SSAValue:
    """Returns the argument that `buffer` is, or is a view of."""
    owner = buffer.owner
    return owner.src if isinstance(owner, memref.CollapseShapeOp) else buffer


def _shape_of_argument(buffer: SSAValue) -> Sequence[int]:
    type_ = _argument_of(buffer).type
    assert isinstance(type_, MemRefType)
    return type_.get_shape()


def _joined(buffer: SSAValue) -> list[list[int]]:
    """Returns which dimensions of the argument behind `buffer` each of its own dimensions stands for."""
    owner = buffer.owner
    if not isinstance(owner, memref.CollapseShapeOp):
        assert isinstance(buffer, BlockArgument)
        return [[number] for number in range(len(_shape_of_argument(buffer)))]
    groups: list[list[int]] = []
    for group in owner.reassociation:
        assert isinstance(group, ArrayAttr)
        groups.append([each.value.data for each in group if isinstance(each, IntegerAttr)])
    return groups


def _sum_of(indices: Sequence[AffineExpr], sizes: Sequence[int]) -> AffineExpr:
    """Returns the index into dimensions of these sizes that are joined to one."""
    total: AffineExpr = AffineExpr.constant(0)
    for number, index in enumerate(indices):
        total = total + index * prod(sizes[number + 1 :])
    return normal_form(total)


def _apart(index: AffineExpr, sizes: Sequence[int], extents: Sequence[int]) -> list[AffineExpr] | None:
    """Returns the indices into dimensions of these sizes of which `index` goes through all together."""
    terms, rest = linear_terms(index)
    left = dict(terms)
    found: list[AffineExpr] = []
    for number, size in enumerate(sizes):
        step = prod(sizes[number + 1 :])
        here = {atom: factor // step for atom, factor in left.items() if factor >= step and factor % step == 0}
        last = sum(factor * (extents[_axis(atom)] - 1) for atom, factor in here.items())
        if last >= size:
            return None
        left = {atom: factor for atom, factor in left.items() if atom not in here}
        part: AffineExpr = AffineExpr.constant(0)
        for atom, factor in here.items():
            part = part + atom * factor
        found.append(part)
    return None if left or rest else found


def _axis(atom: AffineExpr) -> int:
    assert isinstance(atom, AffineDimExpr)
    return atom.position
