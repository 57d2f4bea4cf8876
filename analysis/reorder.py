"""
Tells whether the iterations of a block may run in another order, and whether the updates of an accumulator may be
regrouped.
"""

from __future__ import annotations

from functools import cache

from xdsl.dialects import arith, llvm, math, memref, scf
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.irdl import IRDLOperation

from ..core.ir.answers import kept
from ..core.ir.walk import walk
from ..dialects.tensor_loop import BlockOp, InitOp, YieldOp
from .access_regions import body_accesses, is_inside, root_buffer
from .affine import is_linear, linear_terms
from .reductions import Accumulator

_ORDERLESS_DIALECTS = frozenset({"arith", "math"})

_ORDERLESS = (memref.LoadOp, memref.StoreOp, memref.DimOp, scf.IfOp, scf.YieldOp, InitOp, YieldOp, llvm.FRemOp)
"""Ops of other dialects that a block which may be reordered can have."""

_ASSOCIATIVE = (
    arith.AddiOp,
    arith.MuliOp,
    arith.AndIOp,
    arith.OrIOp,
    arith.XOrIOp,
    arith.MaxSIOp,
    arith.MinSIOp,
    arith.MaxUIOp,
    arith.MinUIOp,
    arith.MaximumfOp,
    arith.MinimumfOp,
)
"""The updates that give the same bits in any order."""


@cache
def _is_orderless(kind: type[Operation]) -> bool:
    return issubclass(kind, _ORDERLESS) or (
        issubclass(kind, IRDLOperation) and kind.dialect_name() in _ORDERLESS_DIALECTS
    )


@kept
def may_reorder(block: BlockOp) -> bool:
    """
    Returns whether loops around `block` may be interchanged while reduce loops keep their order among each other.

    Its ops only compute, load and store, because an assert must fail in program order. Each buffer that it writes is
    stored at indices affine in the axes and accessed nowhere else. These indices differ between points of the spatial
    axes, as else the last store wins. No two of its buffers are views of one.
    """
    if not all(_is_orderless(op.__class__) for op in walk(block.body)):
        return False
    accesses = body_accesses(block.body.block).accesses
    if block.init is not None:
        init = block.init.body.block
        written = {access.buffer for access in accesses if access.is_store}
        if any(is_inside(access.op, init) and not access.is_store and access.buffer in written for access in accesses):
            return False
        accesses = tuple(access for access in accesses if not is_inside(access.op, init))
    buffers = list(dict.fromkeys(access.buffer for access in accesses))
    if len({root_buffer(buffer) for buffer in buffers}) != len(buffers):
        return False
    for buffer in dict.fromkeys(access.buffer for access in accesses if access.is_store):
        indices = {access.indices for access in accesses if access.buffer is buffer}
        if len(indices) != 1 or not _separates_points(block, next(iter(indices))):
            return False
    return True


def _separates_points(block: BlockOp, indices: tuple[AffineExpr | None, ...]) -> bool:
    """
    Returns whether different points of the spatial axes of `block` always have different `indices`.

    Axes that other indices tell are removed from an index first. The index tells its axes apart when each factor
    exceeds what all smaller ones together reach, as in `i * 16 + j` for j below 16.
    """
    told = {number for number, extent in enumerate(block.extents) if isinstance(extent, int) and extent <= 1}
    left = [index for index in indices if index is not None and is_linear(index)]
    if len(left) != len(indices):
        return False
    known = -1
    while known < len(told):
        known = len(told)
        for index in left:
            told |= _axes_told_apart(block, index, told)
    return all(number in told for number, kind in enumerate(block.kinds) if kind == "spatial")


def _axes_told_apart(block: BlockOp, index: AffineExpr, told: set[int]) -> set[int]:
    """
    Returns the axes whose values follow from the value of `index` and those of the axes in `told`: all of them or none.
    """
    factors = sorted(
        (abs(factor), atom.position)
        for atom, factor in linear_terms(index)[0].items()
        if isinstance(atom, AffineDimExpr) and factor != 0 and atom.position not in told
    )
    reach = 0
    for place, (factor, number) in enumerate(factors):
        if factor <= reach:
            return set()
        extent = block.extents[number]
        if place + 1 < len(factors):
            if not isinstance(extent, int):
                return set()
            reach += factor * (extent - 1)
    return {number for _, number in factors}


def is_reassociable(accumulator: Accumulator) -> bool:
    """
    Returns whether the updates of `accumulator` may be grouped in any way.

    They may for an associative integer op, for a maximum or minimum, and for a float sum or product marked
    `fastmath<reassoc>`. Neither the old nor the new value of the accumulator may have another use: in `s += a; t += s`
    every partial sum counts.
    """
    update = accumulator.store.value.owner
    if len(accumulator.loads) != 1 or not isinstance(update, Operation):
        return False
    old = accumulator.loads[0].res
    if not old.has_one_use() or old not in update.operands or not update.results[0].has_one_use():
        return False
    if isinstance(update, arith.AddfOp | arith.MulfOp):
        return _has_reassoc(update.fastmath)
    if isinstance(update, math.FmaOp):
        return old is update.c and _has_reassoc(update.fastmath)
    return isinstance(update, _ASSOCIATIVE)


def _has_reassoc(flags: arith.FastMathFlagsAttr | None) -> bool:
    return flags is not None and FastMathFlag.REASSOC in flags.data
