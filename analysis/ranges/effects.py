"""
What is plainly wrong with the effects of a loop function: stores to inputs, reads of what nothing wrote, regions that
lie outside of their buffers.

A loop function writes its outputs, buffers of its own and arguments marked as temporaries. An output marked as in place
holds an input, and may be read first. Every other buffer that a function writes holds nothing before it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from ...core.ir.walk import ops_of, walk
from ...core.roles import TEMPORARY
from ...dialects.tensor_loop import BlockOp, BufferRegion, CallOp, FuncOp
from ...dialects.tensor_loop.regions import covers, infer_regions
from ...lazy_dataclass import dataclass
from .accesses import Access, Accesses
from .events import ALLOCATIONS, SILENT, empty_buffers, has_mark
from .linear import Form, number
from .plain import Fault, runs_first, value_of, witness
from .races import root_of
from .shared import shared_arguments


def effect_faults(function: FuncOp, accesses: Accesses, found: Sequence[Access]) -> Iterator[Fault]:
    """Yields what is plainly wrong with the effects of a loop function, whose accesses were found."""
    yield from _stores_to_inputs(function, found)
    yield from _early_reads(function, accesses, found)
    yield from _regions_outside(function, accesses)
    yield from shared_arguments(function)


def _stores_to_inputs(function: FuncOp, found: Sequence[Access]) -> Iterator[Fault]:
    inputs = {each for each in function.inputs if not has_mark(function, each, TEMPORARY)}
    written = [(access.touch.op, access.touch.buffer) for access in found if access.touch and access.touch.is_store]
    for call in ops_of(function, CallOp):
        written += [(call, output) for output in call.outputs]
    for op, buffer in written:
        root = root_of(buffer)
        if root in inputs:
            hint = "write to an argument in outs(…), or mark a scratch argument with {stepwell.temporary}"
            yield Fault(op, f"{_name(root)} is an input of @{function.sym_name.data}, which is not written", hint)


def _early_reads(function: FuncOp, accesses: Accesses, found: Sequence[Access]) -> Iterator[Fault]:
    """Yields reads in the first turns of their loops before which no op of the function writes to the buffer."""
    empty = set(empty_buffers(function))
    by_op: dict[Operation, list[Access]] = {}
    for access in found:
        if access.touch is not None:
            by_op.setdefault(access.touch.op, []).append(access)
    written: set[SSAValue] = set()
    for op in walk(function):
        for access in by_op.get(op, ()):
            touch = access.touch
            assert touch is not None
            root = root_of(touch.buffer)
            if touch.is_store:
                written.add(root)
            elif root in empty and root not in written and not isinstance(op, (*SILENT, *ALLOCATIONS)):
                if not runs_first(accesses.values.atoms, access.path):
                    continue
                hint = (
                    "write it first, in an init of the block for a sum; {stepwell.in_place} marks an output with values"
                )
                yield Fault(op, f"{_name(root)} is read before anything is written to it", hint)
        if op not in by_op and not isinstance(op, (*SILENT, *ALLOCATIONS, BlockOp)):
            written.update(root_of(each) for each in op.operands)  # what other ops do to buffers is not known


def _regions_outside(function: FuncOp, accesses: Accesses) -> Iterator[Fault]:
    """
    Yields blocks with a region that is not part of its buffer. Where the body says the region, it lies outside as a
    whole, wherever the block runs, if it does: what is read there may be less. Where a declaration says more than the
    body, some turn of the loops puts an end of it outside.
    """
    for block in ops_of(function, BlockOp):
        if 0 in block.extents:
            continue
        for keyword, regions in (("reads", block.reads), ("writes", block.writes)):
            for region in regions:
                places = list(_places(accesses, block, region))
                if not any(each.first < 0 or each.last >= each.extent for each in places):
                    continue
                fault = _region_fault(accesses, block, places, not _is_needed(block, keyword, region))
                if fault is not None and not _is_guarded(block, region.buffer):
                    dimension, first, last, extent = fault
                    message = (
                        f'block "{block.block_name.data}" {keyword} {first} to {last} of dimension '
                        f"{dimension} of {_name(region.buffer)}, which has {extent} elements"
                    )
                    yield Fault(block, message, "a region is part of its buffer")


@dataclass(frozen=True)
class _Place:
    """What a region takes of a dimension of its buffer, all sizes being known."""

    dimension: int
    low: Form
    size: int
    extent: int
    first: int
    """The least index in any turn of the loops."""
    last: int


def _places(accesses: Accesses, block: BlockOp, region: BufferRegion) -> Iterator[_Place]:
    shape: Any = region.buffer.type.get_shape()  # pyright: ignore[reportAttributeAccessIssue]
    for dimension, (low, size, extent) in enumerate(zip(region.lows, region.sizes, shape, strict=True)):
        form = accesses.values.affine(low, block.axes)
        if form is None or DYNAMIC_INDEX in (size, extent) or 0 in (size, extent):
            continue
        first, last = accesses.values.atoms.bounds(form)
        if first <= last:
            yield _Place(dimension, form, size, extent, first, last + size - 1)


def _is_needed(block: BlockOp, keyword: str, region: BufferRegion) -> bool:
    """Returns whether the body of a block says by itself that it touches all of a region."""
    reads, writes = infer_regions(block.body.block, block.has_reduce_axes)
    needed = [each for each in (reads if keyword == "reads" else writes) if each.buffer is region.buffer]
    return any(covers(each, region) for each in needed)


def _region_fault(
    accesses: Accesses, block: BlockOp, places: Sequence[_Place], declared_only: bool
) -> tuple[int, int, int, int] | None:
    """Returns a dimension of a region that is outside, its first and its last index there, and the size."""
    atoms = accesses.values.atoms
    inside = block.body.block.first_op
    path = accesses.paths.get(block if inside is None else inside, accesses.paths[block])
    if any(atoms.bounds(fact)[1] < 0 for fact in path.facts):  # The block never runs.
        return None
    for each in places:
        if each.first >= each.extent or each.last < 0:
            return each.dimension, each.first, each.last, each.extent
        if not declared_only:
            continue
        for goal in (each.low, number(each.extent - each.size).plus(each.low, -1)):
            turns = witness(atoms, path, goal) if path.exact else None
            if turns is not None:
                first = value_of(each.low, turns)
                return each.dimension, first, first + each.size - 1, each.extent
    return None


def _is_guarded(block: BlockOp, buffer: SSAValue) -> bool:
    """
    Returns whether a block accesses a buffer under a condition. Then the region says what is read if it holds.

    A window that lies in the padding as a whole reads nothing, and neither does the first line of a running sum.
    """
    for use in buffer.uses:
        op = use.operation.parent_op()
        while op is not None and op is not block:
            if isinstance(op, scf.IfOp) and block.is_ancestor(op):
                return True
            op = op.parent_op()
    return False


def _name(buffer: SSAValue) -> str:
    return f"%{buffer.name_hint}" if buffer.name_hint else "the buffer"
