"""
Tells whether a kernel may put a result where one of its inputs lies. It may if every element is read before it is
written.

The answer comes from the loops and blocks as they stand, after any schedule. In a sequence of ops, an op that writes
must not touch what a later one reads. The iterations of a loop must touch elements of their own: along some dimension
their boxes advance at least as fast as they are wide. A block reads all it needs of the input before its first store.
Whatever is not understood (opaque uses, bindings with `mod`, inits of the result) counts as a conflict.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ..core.ir.literals import constant_of
from ..core.ir.walk import walk
from ..dialects.tensor_loop import BlockOp, FuncOp, LoopOp
from ..lazy_dataclass import dataclass
from .access_regions import body_accesses, shape_of
from .affine import linear_terms
from .loop_nests import Level, body_ops, levels_of

Span = tuple[dict[SSAValue, int], int, int]
"""The indices i with `low <= i - sum(factor * variable) < high` along a dimension. The variables are those of loops."""


@dataclass(frozen=True)
class _Touch:
    """A box of elements that a block reads or writes. It spans a whole dimension where the access is not understood."""

    block: BlockOp
    is_store: bool
    spans: tuple[Span, ...]


def may_overwrite(kernel: FuncOp, inputs: Sequence[int], output: int) -> bool:
    """
    Returns whether output number `output` of `kernel` may lie where the inputs at positions `inputs` lie.

    These inputs are one buffer, and their types must be equal. An input that is never read may always be overwritten.
    """
    result = kernel.outputs[output]
    sources = [kernel.inputs[position] for position in inputs]
    if any(source.type != result.type for source in sources) or DYNAMIC_INDEX in shape_of(result):
        return False
    touches = _touches(kernel, set(sources), result)
    if touches is None:
        return False
    return _sequence_is_safe(body_ops(kernel.body.block), touches, set(), set(sources), result)


def _touches(kernel: FuncOp, sources: set[SSAValue], result: SSAValue) -> list[_Touch] | None:
    """
    Returns every access of `sources` and `result`. The result is `None` when a use is no access of a block, or sets
    `result` in an init.
    """
    blocks: dict[Operation, None] = {}
    for buffer in (*sources, result):
        for use in buffer.uses:
            block = _outermost_block(use.operation, kernel)
            if block is None or (buffer is result and _is_in_init(use.operation, block)):
                return None
            blocks[block] = None
    touches: list[_Touch] = []
    for block in blocks:
        assert isinstance(block, BlockOp)
        found = body_accesses(block.body.block)
        if result in found.opaque or any(source in found.opaque for source in sources):
            return None
        for access in found.accesses:
            if access.buffer is result or access.buffer in sources:
                if access.is_store and access.buffer is not result:
                    return None
                if access.is_store or access.buffer in sources:
                    spans = _spans(block, access.buffer, access.indices, access.sizes)
                    touches.append(_Touch(block, access.is_store, spans))
    return touches


def _outermost_block(op: Operation, kernel: FuncOp) -> BlockOp | None:
    """Returns the outermost block around `op`, which may be `op` itself."""
    found: BlockOp | None = None
    current: Operation | None = op
    while current is not None and current is not kernel:
        found = current if isinstance(current, BlockOp) else found
        current = current.parent_op()
    return found


def _is_in_init(op: Operation, block: BlockOp) -> bool:
    current: Operation | None = op
    while current is not None and current is not block:
        if current is block.init:
            return True
        current = current.parent_op()
    return False


def _spans(
    block: BlockOp,
    buffer: SSAValue,
    indices: Sequence[AffineExpr | None],
    sizes: Sequence[int] | None,
) -> tuple[Span, ...]:
    """Returns the box of one access in terms of the variables of the loops around its block."""
    spans: list[Span] = []
    for dim, (index, extent) in enumerate(zip(indices, shape_of(buffer), strict=True)):
        size = 1 if sizes is None else sizes[dim]
        found = None if index is None or size == DYNAMIC_INDEX else _span(block, index, size)
        spans.append(found or ({}, 0, extent))
    return tuple(spans)


def _span(block: BlockOp, index: AffineExpr, size: int) -> Span | None:
    terms, low = linear_terms(index.replace_dims_and_symbols(list(block.binding_exprs), ()))
    factors: dict[SSAValue, int] = {}
    for atom, factor in terms.items():
        if not isinstance(atom, AffineDimExpr):
            return None
        value = block.binding_operands[atom.position]
        if isinstance(value.owner, Block) and isinstance(value.owner.parent_op(), LoopOp):
            factors[value] = factors.get(value, 0) + factor
        elif (number := constant_of(value)) is not None:
            low += factor * number
        else:
            return None
    return factors, low, low + size


def _hull(span: Span, fixed: set[SSAValue]) -> Span | None:
    """
    Returns the indices that `span` covers while the variables in `fixed` stand still and the others run.

    The result is `None` for loops of unknown length.
    """
    factors, low, high = span
    kept: dict[SSAValue, int] = {}
    for variable, factor in factors.items():
        if variable in fixed:
            kept[variable] = factor
            continue
        extent = _extent(variable)
        if extent is None:
            return None
        reach = factor * max(extent - 1, 0)
        low, high = low + min(reach, 0), high + max(reach, 0)
    return kept, low, high


def _extent(variable: SSAValue) -> int | None:
    loop = variable.owner.parent_op() if isinstance(variable.owner, Block) else None
    if not isinstance(loop, LoopOp):
        return None
    extent = loop.extents[loop.variables.index(variable)]  # pyright: ignore[reportArgumentType]
    return extent if isinstance(extent, int) else None


def _sequence_is_safe(
    ops: Sequence[Operation],
    touches: Sequence[_Touch],
    fixed: set[SSAValue],
    sources: set[SSAValue],
    result: SSAValue,
) -> bool:
    """Returns whether no op writes what a later one reads, and each op is safe by itself."""
    inside = [[touch for touch in touches if _contains(op, touch.block)] for op in ops]
    written: list[_Touch] = []
    for op, here in zip(ops, inside, strict=True):
        reads = [touch for touch in here if not touch.is_store]
        stores = [touch for touch in here if touch.is_store]
        if any(not _disjoint(store, read, fixed) for store in written for read in reads):
            return False
        if reads and stores and not _op_is_safe(op, here, fixed, sources, result):
            return False
        written += stores
    return True


def _op_is_safe(
    op: Operation, touches: Sequence[_Touch], fixed: set[SSAValue], sources: set[SSAValue], result: SSAValue
) -> bool:
    """Returns whether one op that both reads and writes is safe by itself."""
    if isinstance(op, BlockOp):
        return _reads_come_first(op.body.block, sources, result)
    if not isinstance(op, LoopOp):
        return False
    around = set(fixed)
    for level in levels_of(op):
        around.add(level.variable)
        if not _iterations_are_apart(level, touches, around):
            return False
    return _sequence_is_safe(body_ops(op.body.block), touches, around, sources, result)


def _iterations_are_apart(level: Level, touches: Sequence[_Touch], fixed: set[SSAValue]) -> bool:
    """
    Returns whether no two iterations of a loop touch the same element, while the loops in `fixed` around it stand
    still.
    """
    if level.extent in (0, 1):
        return True
    for dim in range(len(touches[0].spans)):
        spans = [_hull(touch.spans[dim], fixed) for touch in touches]
        known = [span for span in spans if span is not None]
        if len(known) < len(spans) or any(span[0] != known[0][0] for span in known):
            continue
        step = abs(known[0][0].get(level.variable, 0))
        if max(high for _, _, high in known) - min(low for _, low, _ in known) <= step:
            return True
    return False


def _disjoint(one: _Touch, other: _Touch, fixed: set[SSAValue]) -> bool:
    """Returns whether two boxes have no element in common, while the loops in `fixed` stand still."""
    for span, against in zip(one.spans, other.spans, strict=True):
        left, right = _hull(span, fixed), _hull(against, fixed)
        if left is None or right is None or left[0] != right[0]:
            continue
        if left[2] <= right[1] or right[2] <= left[1]:
            return True
    return False


def _contains(op: Operation, inner: Operation) -> bool:
    current: Operation | None = inner
    while current is not None:
        if current is op:
            return True
        current = current.parent_op()
    return False


def _reads_come_first(body: Block, sources: set[SSAValue], result: SSAValue) -> bool:
    """
    Returns whether the ops of a block use `sources` only before the first op that writes `result`. Branches are looked
    at one by one.
    """
    written = False
    for op in body.ops:
        reads = any(operand in sources for inner in walk(op) for operand in inner.operands)
        writes = any(_stores(inner, result) for inner in walk(op))
        if reads and written:
            return False
        if reads and writes:
            if not isinstance(op, scf.IfOp):
                return False
            inner_blocks = [block for region in op.regions for block in region.blocks]
            if not all(_reads_come_first(block, sources, result) for block in inner_blocks):
                return False
        written |= writes
    return True


def _stores(op: Operation, result: SSAValue) -> bool:
    """Returns whether an op may write `result`, that is, whether it uses it in any way but a plain load."""
    return result in op.operands and not isinstance(op, memref.LoadOp) and op.name != "tile.load"
