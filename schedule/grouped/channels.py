"""
Finds the groups of a grouped convolution: `out[.., c] += a[.., (c floordiv OUTS) * INS + i] * b[.., i, c]`.

`split.py` makes the group an axis, `c = g * OUTS + o`. After that the product is a contraction like all others, with
the group as an axis that both operands have. Groups with few channels share vectors (`spread.py`).
"""

from __future__ import annotations

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import AnyFloat, IntegerAttr, MemRefType, i8
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from ...analysis.affine import Known, affine_of_value, linear_terms
from ...analysis.loop_nests import levels_of, perfect_block
from ...core.ir.walk import ops_of
from ...dialects.tensor_loop import BlockOp, GridOp
from ...lazy_dataclass import dataclass
from ..kernels.contraction import bound_in_order


@dataclass(frozen=True)
class GroupedChannels:
    """The axis of a grid that runs through the channels of the result of a grouped convolution."""

    grid: GridOp
    block: BlockOp
    axis: int
    outs: int
    """The channels of the result in a group."""

    @property
    def groups(self) -> int:
        extent = self.block.extents[self.axis]
        assert isinstance(extent, int)
        return extent // self.outs


def grouped_channels(grid: GridOp) -> GroupedChannels | None:
    """
    Returns the grouped channels of a sum of products of floats or bytes, or `None` where there are none.

    There is one axis whose quotient by one number chooses elements, and the number divides its extent.
    """
    block = perfect_block(levels_of(grid))
    if block is None or block.constraints or not block.has_reduce_axes or not bound_in_order(grid, block):
        return None
    found = {quotient for load in ops_of(block, memref.LoadOp) for quotient in _chosen_by(load, block)}
    if len(found) != 1:
        return None
    ((axis, outs),) = found
    extent = block.extents[axis]
    if block.kinds[axis] != "spatial" or not isinstance(extent, int) or extent % outs or outs < 2:
        return None
    return GroupedChannels(grid, block, axis, outs)


def quotients_of(block: BlockOp) -> dict[SSAValue, tuple[int, int]]:
    """Returns the values in a block that are an axis divided by a number, with both. Axes are never negative."""
    found: dict[SSAValue, tuple[int, int]] = {}
    for op in ops_of(block, arith.DivUIOp, arith.FloorDivSIOp):
        by = op.rhs.owner
        if op.lhs in block.axes and isinstance(by, arith.ConstantOp) and isinstance(by.value, IntegerAttr):
            found[op.result] = block.axes.index(op.lhs), by.value.value.data  # pyright: ignore[reportArgumentType]
    return found


def known_quotients(block: BlockOp) -> Known:
    """Returns the values of `quotients_of` as affine expressions of the axes, for `affine_of_value`."""
    return {id(value): AffineDimExpr(axis) // by for value, (axis, by) in quotients_of(block).items()}


def _chosen_by(load: memref.LoadOp, block: BlockOp) -> list[tuple[int, int]]:
    """
    Returns the axes whose quotient chooses the element of a load of floats or bytes, with the numbers that divide them.
    """
    type_ = load.memref.type
    if not isinstance(type_, MemRefType) or not (isinstance(type_.element_type, AnyFloat) or type_.element_type == i8):
        return []
    dims: dict[SSAValue, int] = {axis: position for position, axis in enumerate(block.axes)}
    known = known_quotients(block)
    indices = [affine_of_value(index, dims, known) for index in load.indices]
    atoms = [atom for index in indices if index is not None for atom in linear_terms(index)[0]]
    return [quotient for atom in atoms if (quotient := _quotient(atom)) is not None]


def _quotient(atom: AffineExpr) -> tuple[int, int] | None:
    """Returns the axis and the number of `axis floordiv number`."""
    if not isinstance(atom, AffineBinaryOpExpr) or atom.kind is not AffineBinaryOpKind.FloorDiv:
        return None
    if not isinstance(atom.lhs, AffineDimExpr) or not isinstance(atom.rhs, AffineConstantExpr):
        return None
    return atom.lhs.position, atom.rhs.value
