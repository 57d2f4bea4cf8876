"""Tells what blocks access: regions per buffer, single loads and stores, and how far a loop moves through memory."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ..dialects.tensor_loop.regions import Access as Access
from ..dialects.tensor_loop.regions import BodyAccesses as BodyAccesses
from ..dialects.tensor_loop.regions import BufferRegion as BufferRegion
from ..dialects.tensor_loop.regions import accumulator_loads as accumulator_loads
from ..dialects.tensor_loop.regions import body_accesses as body_accesses
from ..dialects.tensor_loop.regions import covers as covers
from ..dialects.tensor_loop.regions import infer_regions as infer_regions
from ..dialects.tensor_loop.regions import shape_of as shape_of
from .affine import is_linear, linear_terms


def root_buffer(buffer: SSAValue) -> SSAValue:
    """
    Returns the buffer that `buffer` is a view of, through any number of views. It is `buffer` itself when it views
    none.
    """
    while isinstance(buffer.owner, Operation):
        sources = [operand for operand in buffer.owner.operands if isinstance(operand.type, MemRefType)]
        if not sources:
            break
        buffer = sources[0]
    return buffer


def element_strides(buffer: SSAValue) -> tuple[int | None, ...]:
    """Returns the elements between neighbours along each dimension, or `None` where that is not known."""
    assert isinstance(buffer.type, MemRefType)
    strides = buffer.type.get_strides()
    if strides is None:
        return (None,) * len(shape_of(buffer))
    return tuple(None if stride == DYNAMIC_INDEX else stride for stride in strides)


def stride_along(access: Access, bindings: Sequence[AffineExpr], operand: int) -> int | None:
    """
    Returns how many elements `access` moves when binding operand number `operand` of its block grows by one.

    `bindings` are the axes over the operands. The result is 0 where the operand does not matter, and `None` where the
    step is not constant. An index that depends on data stands still where the data do.
    """
    total = 0
    for index, stride in zip(access.indices, element_strides(access.buffer), strict=True):
        if index is None:
            if access.unknown is None or any(operand in bindings[axis].used_dims() for axis in access.unknown):
                return None
            continue
        step = _coefficient(index.replace_dims_and_symbols(list(bindings), ()), operand)
        if step is None or (step != 0 and stride is None):
            return None
        total += step * (stride or 0)
    return total


def _coefficient(expr: AffineExpr, dim: int) -> int | None:
    """Returns the factor of dimension `dim` in `expr`, or `None` where `expr` is not linear in it."""
    if dim not in expr.used_dims():
        return 0
    terms, _ = linear_terms(expr)
    if not is_linear(expr) and any(dim in atom.used_dims() and not isinstance(atom, AffineDimExpr) for atom in terms):
        return None
    return terms.get(AffineDimExpr(dim), 0)


def is_inside(op: Operation, block: Block) -> bool:
    """Returns whether `op` lies in `block` or in a region nested in it."""
    parent = op.parent_block()
    while parent is not None:
        if parent is block:
            return True
        parent = parent.parent_block()
    return False
