"""
Tells which parts of which buffers a block touches.

A region gives for each dimension of a buffer the first index (affine in the axes of the block) and the number of
elements. The regions of a block follow from the `memref.load`s and `memref.store`s of its body.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, ArrayAttr, DenseArrayBase, IntegerType, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from ...core.ir.answers import kept
from ...core.ir.literals import constant_of
from ...core.ir.number_lists import i64_array
from ...core.ir.walk import walk
from ...lazy_dataclass import dataclass
from ..traits import AccessesBoxes, BoxAccess
from .affine_expressions import Known, affine_of_value, constant_difference, from_terms, linear_terms, owner_of

# pyright: reportPrivateUsage=false
# Each property of xDSL costs a call, and these questions are asked of all ops, several times.


@dataclass(frozen=True)
class BufferRegion:
    """The box `buffer[lows[d] : sizes[d], ...]`, in elements. A size is `DYNAMIC_INDEX` where it is not known."""

    buffer: SSAValue
    lows: tuple[AffineExpr, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Access:
    """
    A load or store of one element, or of the box of `sizes` that starts there. An index is `None` where it is not
    affine in the axes, such as one that depends on data.
    """

    op: Any
    """The `memref.load` or `memref.store`, or any op that accesses boxes."""
    buffer: SSAValue
    indices: tuple[AffineExpr | None, ...]
    is_store: bool
    sizes: tuple[int, ...] | None = None
    unknown: frozenset[int] | None = None
    """The axes that the indices depend on which are `None`. It is `None` itself where they may depend on any."""


@dataclass(frozen=True)
class BodyAccesses:
    """All that a block does to buffers from outside it, in program order."""

    accesses: tuple[Access, ...]
    opaque: tuple[SSAValue, ...]
    """The buffers that are handed to ops that are neither loads nor stores. Where these read or write is not known."""


def shape_of(buffer: SSAValue) -> tuple[int, ...]:
    """
    Returns the extents of a buffer, with `DYNAMIC_INDEX` where one is not known. It is `()` for a value that is no
    memref.
    """
    kind = buffer._type
    if not isinstance(kind, MemRefType):
        return ()
    return tuple([size.data for size in kind.shape.data])


@kept
def body_accesses(body: Block) -> BodyAccesses:
    """
    Returns the accesses in `body`, a block whose arguments are the axes. Nested regions (`scf.if`, init) are included.

    What an op on boxes touches in an `scf.for` with known bounds is one box, where that is exact.
    """
    dims: dict[SSAValue, int] = {axis: position for position, axis in enumerate(body.args)}
    steps: list[range] = []
    known: Known = {}
    accesses: list[Access] = []
    opaque: dict[SSAValue, None] = {}
    inside: dict[int, bool] = {}
    for op in walk(body):
        if op.__class__ is scf.ForOp and (run := _steps_of(op)):
            dims[op.regions[0].block.args[0]] = len(body.args) + len(steps)
            steps.append(run)
        boxes = _boxes_of(op)
        if boxes is None:
            for operand in op._operands:
                if operand._type.__class__ is MemRefType and not _is_inside(operand, body):
                    opaque[operand] = None
            continue
        for buffer, indices, is_store, sizes in boxes:
            if (is_inside := inside.get(id(buffer))) is None:
                is_inside = inside[id(buffer)] = _is_inside(buffer, body)
            if not is_inside:
                found = tuple([affine_of_value(index, dims, known) for index in indices])
                if steps:
                    found, sizes = _over_steps(found, sizes, len(body.args), steps)
                open_ = [index for index, expr in zip(indices, found, strict=True) if expr is None]
                unknown = _axes_of(open_, dims, body) if open_ else _NO_AXES
                accesses.append(Access(op, buffer, found, is_store, sizes, unknown))
    return BodyAccesses(tuple(accesses), tuple(opaque))


def _steps_of(loop: Operation) -> range:
    """Returns the values of the variable of an `scf.for`. There are none where they are not known."""
    lower, upper, step = (constant_of(value) for value in loop._operands[:3])
    if lower is None or upper is None or step is None or step < 1:
        return range(0)
    return range(lower, upper, step)


def _over_steps(
    indices: tuple[AffineExpr | None, ...], sizes: tuple[int, ...] | None, axes: int, steps: Sequence[range]
) -> tuple[tuple[AffineExpr | None, ...], tuple[int, ...] | None]:
    """
    Returns the box that is touched by all steps of the loops around, whose variables are the dimensions after `axes`.

    An index is `None` where the boxes of the steps leave gaps, where two dimensions go with one loop, and for an op on
    one element.
    """
    lows: list[AffineExpr | None] = []
    extents = list(sizes or (1,) * len(indices))
    taken: set[int] = set()
    for dimension, index in enumerate(indices):
        terms, start = ({}, 0) if index is None else linear_terms(index)
        own = [atom for atom in terms if any(dim >= axes for dim in atom.used_dims())]
        for atom in own:
            position = atom.position - axes if isinstance(atom, AffineDimExpr) else -1
            factor, run = terms.pop(atom), steps[position]
            gap = factor * run.step
            if sizes is None or position < 0 or position in taken or not 0 < gap <= extents[dimension]:
                index = None
                break
            taken.add(position)
            start += factor * run.start
            extents[dimension] += gap * (len(run) - 1)
        lows.append(index if index is None or not own else from_terms(terms, start))
    return tuple(lows), None if sizes is None else tuple(extents)


def _axes_of(values: Sequence[SSAValue], dims: dict[SSAValue, int], body: Block) -> frozenset[int] | None:
    """Returns the axes of a block that values are computed from, `None` where that is not known."""
    axes: set[int] = set()
    seen: set[SSAValue] = set()
    waiting = [*values]
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in dims:
            axes.add(dims[value])
        elif _is_inside(value, body):
            owner = value.owner
            if not isinstance(owner, Operation) or owner.regions:
                return None
            waiting += owner.operands
    return frozenset(axes)


_NO_AXES: frozenset[int] = frozenset()


@cache
def _accesses_boxes(kind: type[Operation]) -> bool:
    return issubclass(kind, AccessesBoxes)  # Python code for an abstract class, and this is asked of every op.


_Box = tuple[SSAValue, Sequence[SSAValue], bool, tuple[int, ...] | None]


def _boxes_of(op: Operation) -> Sequence[_Box] | None:
    """
    Returns the boxes that `op` itself loads and stores, each as buffer, indices, whether it stores, and sizes. It is
    `None` where they are not known.
    """
    kind = op.__class__
    if kind is memref.LoadOp:  # The buffer is the first operand, and the indices follow.
        buffer, *indices = op._operands
        return [(buffer, indices, False, None)] if len(indices) == len(shape_of(buffer)) else None
    if kind is memref.StoreOp:
        _, buffer, *indices = op._operands
        return [(buffer, indices, True, None)] if len(indices) == len(shape_of(buffer)) else None
    if _accesses_boxes(kind):
        boxes: Sequence[BoxAccess] = op.box_accesses()  # pyright: ignore[reportAttributeAccessIssue]
        return [(box.buffer, box.indices, box.is_store, box.sizes) for box in boxes]
    # A block inside a block names its regions, but only its loads and stores count for the outer one.
    return () if kind is memref.DimOp or op.name == "tensor_loop.block" else None


def _is_inside(value: SSAValue, body: Block) -> bool:
    owner = owner_of(value)
    if owner is body:
        return True
    block = owner.parent_block() if isinstance(owner, Operation) else owner
    while block is not None:
        if block is body:
            return True
        block = block.parent_block()
    return False


def accumulator_loads(accesses: Sequence[Access]) -> set[Operation]:
    """
    Returns the loads of an element that the same block stores, with the same buffer and the same indices, all of them
    affine.
    """
    stored = {(access.buffer, access.indices) for access in accesses if access.is_store}
    return {
        access.op
        for access in accesses
        if not access.is_store and None not in access.indices and (access.buffer, access.indices) in stored
    }


def infer_regions(body: Block, has_reduce_axes: bool) -> tuple[tuple[BufferRegion, ...], tuple[BufferRegion, ...]]:
    """
    Returns the regions that a block with this body reads and writes, one per buffer in order of first access.

    Several accesses to a buffer are covered by one box. A dimension whose index is not affine in the axes counts as
    touched from end to end. Buffers handed to ops that are neither load nor store count as read and written from end to
    end. In a block with reduce axes the read of the accumulator is no read.
    """
    found = body_accesses(body)
    hidden = accumulator_loads(found.accesses) if has_reduce_axes else set()
    loads = [access for access in found.accesses if not access.is_store and access.op not in hidden]
    stores = [access for access in found.accesses if access.is_store]
    return _cover(loads, found.opaque), _cover(stores, found.opaque)


def _cover(accesses: Sequence[Access], opaque: Sequence[SSAValue]) -> tuple[BufferRegion, ...]:
    by_buffer: dict[SSAValue, list[Access]] = {}
    for access in accesses:
        by_buffer.setdefault(access.buffer, []).append(access)
    for buffer in opaque:
        by_buffer[buffer] = []
    return tuple(_box(buffer, group) for buffer, group in by_buffer.items())


def _box(buffer: SSAValue, accesses: Sequence[Access]) -> BufferRegion:
    """Returns the smallest known box around `accesses`, or the whole buffer when there are none."""
    lows: list[AffineExpr] = []
    sizes: list[int] = []
    for dim, extent in enumerate(shape_of(buffer)):
        span = _span([(a.indices[dim], 1 if a.sizes is None else a.sizes[dim]) for a in accesses])
        low, size = (AffineConstantExpr(0), extent) if span is None else span
        lows.append(low)
        sizes.append(size)
    return BufferRegion(buffer, tuple(lows), tuple(sizes))


def _span(parts: Sequence[tuple[AffineExpr | None, int]]) -> tuple[AffineExpr, int] | None:
    """
    Returns the first index and the number of elements of all parts (index, size). It is `None` unless their indices
    differ by constants.
    """
    first = parts[0][0] if parts else None
    if first is None:
        return None
    low, high = 0, 0
    for index, size in parts:
        offset = None if index is None else constant_difference(index, first)
        if offset is None:
            return None
        low, high = min(low, offset), max(high, offset + size)
    return first + low, high - low


def covers(declared: BufferRegion, needed: BufferRegion) -> bool:
    """Returns whether `declared` provably holds every element of `needed` (two regions of one buffer)."""
    for dim, extent in enumerate(shape_of(declared.buffer)):
        low, size = declared.lows[dim], declared.sizes[dim]
        if low == AffineConstantExpr(0) and size in (extent, DYNAMIC_INDEX):
            continue
        offset = constant_difference(needed.lows[dim], low)
        if offset is None or offset < 0 or DYNAMIC_INDEX in (size, needed.sizes[dim]):
            return False
        if offset + needed.sizes[dim] > size:
            return False
    return True


def region_properties(which: str, num_axes: int, regions: Sequence[BufferRegion]) -> dict[str, Attribute]:
    """Returns the properties that hold the `which` (`read` or `write`) regions of a block."""
    maps = ArrayAttr(AffineMapAttr(AffineMap(num_axes, 0, region.lows)) for region in regions)
    sizes = ArrayAttr(i64_array(region.sizes) for region in regions)
    return {f"{which}_maps": maps, f"{which}_sizes": sizes}


def regions_of(
    buffers: Sequence[SSAValue], maps: ArrayAttr[AffineMapAttr], sizes: ArrayAttr[DenseArrayBase[IntegerType]]
) -> tuple[BufferRegion, ...]:
    """Returns the regions that the properties of a block hold."""
    return tuple(
        BufferRegion(buffer, mapping.data.results, tuple(int(size) for size in extents.get_values()))
        for buffer, mapping, extents in zip(buffers, maps, sizes, strict=True)
    )
