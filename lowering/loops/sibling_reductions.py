"""Finds reductions of one loop function that go over the same elements, and tells where they may stand together."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ...analysis.access_regions import body_accesses, is_inside, root_buffer
from ...analysis.loop_nests import levels_of, perfect_block
from ...analysis.reductions import Accumulator, accumulators, init_stores
from ...analysis.reorder import is_reassociable, may_reorder
from ...core.ir.walk import walk
from ...dialects.tensor_loop import AllocOp, BlockOp, ForOp, GridOp, InitOp, YieldOp
from ...dialects.traits import is_pure
from ...lazy_dataclass import dataclass
from .inline_blocks import is_perfect_nest

MOST_ACCUMULATORS = 6
"""The most results of a joined reduction. Four registers of sums each, and what is read, fill 32 vector registers."""

_FRAMES = (AllocOp, BlockOp, ForOp, GridOp, InitOp, YieldOp, scf.IfOp, scf.YieldOp)
"""The ops that have no effect beside those of the ops in them."""

Place = tuple[int, ...]
"""The index of an element: the number of the long axis that each dimension goes along, -1 for the index 0."""


@dataclass(frozen=True)
class RowReduction:
    """A grid whose one block reduces whole rows of tensors, every element of which is read at one place."""

    grid: GridOp
    block: BlockOp
    long: tuple[int, ...]
    """The axes with more than one iteration."""
    elements: dict[SSAValue, Place]
    """The tensors whose elements along the rows are read, each with the place."""
    written: tuple[SSAValue, ...]
    is_free: bool
    """True where the order of its updates is free."""

    @property
    def shape(self) -> tuple[tuple[str, int], ...]:
        """The kind and the extent of every long axis."""
        return tuple((self.block.kinds[axis], self.block.extents[axis]) for axis in self.long)  # pyright: ignore


def row_reduction(op: Operation) -> RowReduction | None:
    """
    Returns the reduction that a nest at the top of a function is, or `None` for every other op.

    It has one loop per axis over all of it, no attributes that ask for a schedule, and an init that only sets the
    accumulators. A contraction or a window reads elements at several places, so it is none.
    """
    if not isinstance(op, GridOp) or op.attributes or not all(isinstance(extent, int) for extent in op.extents):
        return None
    block = perfect_block(levels_of(op))
    if block is None or block.attributes or not is_perfect_nest(block, op) or not may_reorder(block):
        return None
    found = accumulators(block)
    if found is None or block.constraints or init_stores(block, found) is None:
        return None
    long = tuple(axis for axis, extent in enumerate(block.extents) if extent != 1)
    elements = _elements(block, long)
    if elements is None:
        return None
    is_free = all(is_reassociable(each) for each in found)
    return RowReduction(op, block, long, elements, tuple(each.buffer for each in found), is_free)


def _elements(block: BlockOp, long: tuple[int, ...]) -> dict[SSAValue, Place] | None:
    """Returns what is read along the rows, or `None` where that is nothing, or not one place for all."""
    reduced = {axis for axis in long if block.kinds[axis] == "reduce"}
    found: dict[SSAValue, Place] = {}
    for access in body_accesses(block.body.block).accesses:
        if block.init is not None and is_inside(access.op, block.init.body.block):
            continue
        if None in access.indices:
            return None
        if not any(index.used_dims() & reduced for index in access.indices if index is not None):
            continue
        place = _place(access.indices, long)
        if place is None or found.setdefault(access.buffer, place) != place:
            return None
    places = {tuple(part for part in place if part >= 0) for place in found.values()}
    return found if len(places) == 1 else None


def _place(indices: Sequence[AffineExpr | None], long: tuple[int, ...]) -> Place | None:
    parts: list[int] = []
    for index in indices:
        if isinstance(index, AffineDimExpr):
            parts.append(long.index(index.position) if index.position in long else -1)
        elif isinstance(index, AffineConstantExpr) and index.value == 0:
            parts.append(-1)
        else:
            return None
    return tuple(parts)


def are_siblings(first: RowReduction, second: RowReduction) -> bool:
    """
    Returns whether two reductions read elements of one tensor in the same turns of equal loops.

    One whose sum may not be regrouped would take the other off vectors, so both are free or none is. LLVM makes one
    value of equal sums of floats and then finds no form on vectors, so these stay apart. No two buffers may be views of
    one.
    """
    if first.shape != second.shape or first.is_free != second.is_free:
        return False
    if len(first.written) + len(second.written) > MOST_ACCUMULATORS:
        return False
    if not any(second.elements.get(buffer) == place for buffer, place in first.elements.items()):
        return False
    if _have_equal_sums(first, second):
        return False
    buffers = _buffers(first.block) | _buffers(second.block)
    return len({root_buffer(buffer) for buffer in buffers}) == len(buffers)


def _have_equal_sums(first: RowReduction, second: RowReduction) -> bool:
    """Returns whether both blocks add up the same floats, as a sum and a mean of one tensor do."""
    axes: dict[SSAValue, SSAValue] = {}
    for a, b in zip(first.long, second.long, strict=True):
        axes[second.block.axes[b]] = first.block.axes[a]
    sums = [_summand(each) for each in accumulators(first.block) or ()]
    others = [_summand(each) for each in accumulators(second.block) or ()]
    return any(one is not None and two is not None and _are_equal(one, two, axes) for one in sums for two in others)


def _summand(accumulator: Accumulator) -> SSAValue | None:
    """Returns what is added to a sum of floats in each turn, or `None` for any other accumulator."""
    update, old = accumulator.store.value.owner, [load.res for load in accumulator.loads]
    if not isinstance(update, arith.AddfOp):
        return None
    return next((operand for operand in update.operands if operand not in old), None)


def _are_equal(first: SSAValue, second: SSAValue, axes: dict[SSAValue, SSAValue]) -> bool:
    """Returns whether values of two blocks are computed alike. `axes` are those of the first for each of the second."""
    pending = [(first, second)]
    while pending:
        a, b = pending.pop()
        left, right = a.owner, b.owner
        if isinstance(left, Operation) and isinstance(right, Operation) and (left.operands or right.operands):
            if left.name != right.name or left.properties != right.properties or left.regions or right.regions:
                return False
            if len(left.operands) != len(right.operands):
                return False
            pending += zip(left.operands, right.operands, strict=True)
        elif isinstance(left, arith.ConstantOp) and isinstance(right, arith.ConstantOp):
            if left.value != right.value:
                return False
        elif a is not b and axes.get(b) is not a and not _is_short(a, b, axes):
            return False
    return True


def _is_short(first: SSAValue, second: SSAValue, axes: dict[SSAValue, SSAValue]) -> bool:
    """Returns whether two indices are 0 in both blocks: axes of one iteration, or the constant in place of one."""
    return all(
        isinstance(each.type, IndexType) and each not in axes and each not in axes.values() for each in (first, second)
    )


def _buffers(block: BlockOp) -> set[SSAValue]:
    return {op.memref for op in walk(block) if isinstance(op, memref.LoadOp | memref.StoreOp)}


@dataclass(frozen=True)
class Effects:
    """The buffers that an op reads and writes. A view counts as the buffer that it is of."""

    reads: frozenset[SSAValue]
    writes: frozenset[SSAValue]

    def commute(self, other: Effects) -> bool:
        """Returns whether the two ops may change places: neither touches what the other writes."""
        touched, others = self.writes | self.reads, other.writes | other.reads
        return self.writes.isdisjoint(others) and other.writes.isdisjoint(touched)


def effects_of(op: Operation) -> Effects | None:
    """Returns the effects of an op at the top of a function, or `None` for one that nothing moves over."""
    reads, writes = set[SSAValue](), set[SSAValue]()
    for each in walk(op):
        if isinstance(each, memref.LoadOp):
            reads.add(root_buffer(each.memref))
        elif isinstance(each, memref.StoreOp):
            writes.add(root_buffer(each.memref))
        elif not isinstance(each, _FRAMES) and not is_pure(each):
            return None
    return Effects(frozenset(reads), frozenset(writes))
