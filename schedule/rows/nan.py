"""
Finds maxima that need not look for NaNs, as the rest of the row becomes NaN anyway. They take one instruction a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from xdsl.dialects import arith, math, memref
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...analysis.reductions import Accumulator, accumulators
from ...core.ir.literals import constant_of, float_of
from ...dialects.tensor_loop import AllocOp, BlockOp, FuncOp
from ...lazy_dataclass import dataclass
from ..primitives.nests import covers_axes

Access = memref.LoadOp | memref.StoreOp


def nan_reaches_the_row(block: BlockOp, maximum: Accumulator) -> bool:
    """
    Returns whether a NaN among the numbers of which `block` takes the maximum makes all results of its row NaN.

    The value of the maximum does not matter for that.

    Softmax is such a case. The maximum is only subtracted before an exponential, from the very numbers it was taken of.
    The exponentials are summed up along the row. Each is multiplied by a number that is computed from the sum, or
    divided by the sum, and has no other use.

        m[i] = max x[i, k];  e[i, j] = exp(x[i, j] - m[i]);  s[i] = sum e[i, k];  s[i] = 1 / s[i];
            y[i, j] = e[i, j] * s[i]

    Or a product takes the exponentials, and its results are scaled (`scale-after-products`). The difference may be
    multiplied by a positive constant (`relax-exponentials`).
    """
    return exponentials_of(block, maximum) is not None


@dataclass(frozen=True)
class Exponentials:
    """The exponentials of numbers less the maximum of their row, which a number from their sum scales."""

    op: math.ExpOp
    difference: arith.SubfOp
    buffer: SSAValue
    """What the exponentials are stored in."""
    scale: SSAValue
    """The buffer of what they are scaled by, which is computed from their sum."""


def exponentials_of(block: BlockOp, maximum: Accumulator) -> Exponentials | None:
    """Returns the exponentials that a maximum is for. It is `None` where `nan_reaches_the_row` does not hold."""
    (load,) = maximum.loads
    update = maximum.store.value.owner
    assert isinstance(update, arith.MaximumfOp)
    (number,) = [operand for operand in update.operands if operand is not load.res]
    readers = _accesses(maximum.buffer, outside=block)
    if len(readers) != 1 or not isinstance(readers[0], memref.LoadOp) or not covers_axes(block):
        return None
    row = _exponential(readers[0])
    if row is None or row.block.has_reduce_axes or not covers_axes(row.block):
        return None
    pairs = _Pairs({})
    if not pairs.matches(readers[0], maximum.store) or not _same(row.argument, number, pairs):
        return None
    if not pairs.is_whole(row.block, block):
        return None
    total = _normaliser(row, list(readers[0].indices))
    return None if total is None else Exponentials(row.exponential, row.difference, row.store.memref, total)


@dataclass
class _Row:
    """A block that stores the exponential of `argument` less the maximum."""

    block: BlockOp
    argument: SSAValue
    difference: arith.SubfOp
    exponential: math.ExpOp
    store: memref.StoreOp


class _Pairs:
    """The axes of one block, with the axes of another that they stand for."""

    def __init__(self, known: dict[SSAValue, SSAValue]):
        self.known = known

    def matches(self, first: Access, second: Access) -> bool:
        """Returns whether two accesses of one buffer are at the same axes."""
        return first.memref is second.memref and all(
            self.same(a, b) for a, b in zip(first.indices, second.indices, strict=True)
        )

    def same(self, first: SSAValue, second: SSAValue) -> bool:
        if not isinstance(first, BlockArgument) or not isinstance(second, BlockArgument):
            return False
        if second in self.known.values() and first not in self.known:
            return False
        return self.known.setdefault(first, second) is second

    def is_whole(self, first: BlockOp, second: BlockOp) -> bool:
        """Returns whether all axes of both blocks stand for one another and have the same extents."""
        if set(self.known) != set(first.axes) or set(self.known.values()) != set(second.axes):
            return False
        sizes = dict(zip(second.axes, second.extents, strict=True))
        return all(
            isinstance(extent, int) and sizes[self.known[axis]] == extent  # pyright: ignore[reportArgumentType]
            for axis, extent in zip(first.axes, first.extents, strict=True)
        )


def _accesses(buffer: SSAValue, outside: BlockOp | None = None) -> list[Operation]:
    """Returns the ops that use a buffer, except those in `outside` and the blocks, which only name their regions."""
    users = [use.operation for use in buffer.uses if outside is None or not outside.is_ancestor(use.operation)]
    return [op for op in users if not isinstance(op, BlockOp)]


def _block_of(op: Operation) -> BlockOp | None:
    parent = op.parent_op()
    return parent if isinstance(parent, BlockOp) else None


def _only_user(value: SSAValue) -> Operation | None:
    users = [use.operation for use in value.uses]
    return users[0] if len(users) == 1 else None


def _exponential(maximum: memref.LoadOp) -> _Row | None:
    """
    Returns the block in which a loaded maximum is subtracted and the exponential is taken and stored. A small float is
    extended before, and so is what it is subtracted from.
    """
    subtracted, difference = maximum.res, _only_user(maximum.res)
    is_extended = isinstance(difference, arith.ExtFOp)
    if isinstance(difference, arith.ExtFOp):
        subtracted, difference = difference.result, _only_user(difference.result)
    if not isinstance(difference, arith.SubfOp) or difference.rhs is not subtracted:
        return None
    argument = difference.lhs
    if is_extended:
        if not isinstance(argument.owner, arith.ExtFOp):
            return None
        argument = argument.owner.input
    exponential = exponential_of(_only_user(difference.result))
    store = None if exponential is None else _only_user(exponential.result)
    block = _block_of(maximum)
    if exponential is None or not isinstance(store, memref.StoreOp) or block is None or _block_of(store) is not block:
        return None
    return _Row(block, argument, difference, exponential, store)


def exponential_of(user: Operation | None) -> math.ExpOp | None:
    """Returns the exponential that the only user of a difference is, or that it multiplies the argument of."""
    if isinstance(user, arith.MulfOp) and any(0.0 < (float_of(each) or 0.0) < inf for each in user.operands):
        user = _only_user(user.result)
    return user if isinstance(user, math.ExpOp) else None


def _same(first: SSAValue, second: SSAValue, pairs: _Pairs) -> bool:
    """Returns whether two values of two blocks are computed alike from the same elements."""
    pending = [(first, second)]
    while pending:
        a, b = pending.pop()
        if isinstance(a, BlockArgument) or isinstance(b, BlockArgument):
            if a is not b and not pairs.same(a, b):
                return False
            continue
        left, right = a.owner, b.owner
        if left is right:
            continue
        if isinstance(left, Block) or isinstance(right, Block):
            return False
        if isinstance(left, memref.LoadOp) and isinstance(right, memref.LoadOp):
            if not pairs.matches(left, right):
                return False
            continue
        if left.name != right.name or left.properties != right.properties or left.regions or right.regions:
            return False
        if left.dialect_name() not in ("arith", "math") or len(left.operands) != len(right.operands):
            return False
        pending += zip(left.operands, right.operands, strict=True)
    return True


def _normaliser(row: _Row, rows: list[SSAValue]) -> SSAValue | None:
    """
    Returns the buffer of what scales the exponentials, `None` where they do not go into a sum along the row and, scaled
    by a number from it, into results.
    """
    buffer = row.store.memref
    across = [number for number, index in enumerate(row.store.indices) if index not in rows]
    along = [list(row.store.indices).index(index) for index in rows if index in row.store.indices]
    if len(along) != len(rows) or len(across) + len(along) != len(row.store.indices):
        return None
    readers = [op for op in _accesses(buffer, outside=row.block) if not _is_earlier(op, row.block)]
    sums = [op for op in readers if isinstance(op, memref.LoadOp) and _is_sum(op, along)]
    if len(sums) != 1:
        return None
    total = accumulators(_block_of(sums[0]))[0].buffer  # pyright: ignore
    if not isinstance(total.owner, AllocOp) or not _keeps_nan(total, _block_of(sums[0])):
        return None
    overwritten = isinstance(buffer.owner, AllocOp)
    for op in readers:
        if op is sums[0]:
            continue
        if isinstance(op, memref.StoreOp):
            loads = [each for each in readers if isinstance(each, memref.LoadOp) and _block_of(each) is _block_of(op)]
            if len(loads) != 1 or list(loads[0].indices) != list(op.indices) or not _scaled(loads[0], total, along):
                return None
            overwritten = overwritten or covers_axes(_block_of(op))  # pyright: ignore
        elif not isinstance(op, memref.LoadOp) or not (
            _scaled(op, total, along) or _is_after(op, readers) or _scaled_later(op, total, along)
        ):
            return None
    return total if overwritten else None


def _is_after(load: memref.LoadOp, readers: list[Operation]) -> bool:
    """Returns whether a kernel before that of `load` has overwritten all elements with scaled ones, which it reads."""
    stores = [_block_of(op) for op in readers if isinstance(op, memref.StoreOp)]
    return any(block is not None and covers_axes(block) and _is_earlier(block, load) for block in stores)


def _is_earlier(first: Operation, second: Operation) -> bool:
    """
    Returns whether the kernel of one op ends before that of another one begins, in all loops that hold both.

    Kernels that share loops are on the same rows there.
    """
    around = {op.parent: op for op in _around(first)}
    for op in _around(second):
        if op.parent in around:
            before = around[op.parent]
            return before is not op and before.is_before_in_block(op)
    return False


def _around(op: Operation) -> Iterator[Operation]:
    """Yields `op` and the ops around it, the innermost first."""
    found: Operation | None = op
    while found is not None and not isinstance(found, FuncOp):
        yield found
        found = found.parent_op()


def _is_sum(load: memref.LoadOp, along: list[int]) -> bool:
    """Returns whether the only use of `load` is a sum over all of its row."""
    block = _block_of(load)
    found = None if block is None else accumulators(block)
    update = _only_user(load.res)
    if block is None or not found or len(found) != 1 or not isinstance(update, arith.AddfOp) or not covers_axes(block):
        return False
    sums = [each.res for each in found[0].loads]
    if found[0].store.value is not update.result or not any(operand in sums for operand in update.operands):
        return False
    kinds = dict(zip(block.axes, block.kinds, strict=True))
    return [load.indices[number] for number in along] == list(found[0].store.indices) and all(
        kinds.get(index) == "reduce"  # pyright: ignore[reportArgumentType]
        for number, index in enumerate(load.indices)
        if number not in along
    )


def _keeps_nan(total: SSAValue, block: BlockOp | None) -> bool:
    """Returns whether all values that are stored in the place of a sum are computed by dividing by it."""
    for op in _accesses(total, outside=block):
        if isinstance(op, memref.StoreOp):
            value = op.value.owner
            loaded = value.rhs.owner if isinstance(value, arith.DivfOp) else None
            if not isinstance(loaded, memref.LoadOp) or loaded.memref is not total:
                return False
            if list(loaded.indices) != list(op.indices):
                return False
    return True


def _scaled_later(load: memref.LoadOp, total: SSAValue, along: list[int]) -> bool:
    """Returns whether `load` has a single use, which is a term of sums that are all scaled by the sum of their row."""
    block, term = _block_of(load), _only_user(load.res)
    found = None if block is None else accumulators(block)
    if block is None or not found or len(found) != 1 or not isinstance(term, arith.MulfOp):
        return False
    update = _only_user(term.result)
    if not isinstance(update, arith.AddfOp) or found[0].store.value is not update.result:
        return False
    indices = list(found[0].store.indices)
    rows = [load.indices[number] for number in along]
    if any(index not in indices for index in rows):
        return False
    places = [indices.index(index) for index in rows]
    readers = _accesses(found[0].buffer, outside=block)
    overwritten = isinstance(found[0].buffer.owner, AllocOp)
    for op in readers:
        if isinstance(op, memref.LoadOp) and not _scaled(op, total, places):
            return False
        if isinstance(op, memref.StoreOp):
            loads = [each for each in readers if isinstance(each, memref.LoadOp) and _block_of(each) is _block_of(op)]
            if len(loads) != 1 or list(loads[0].indices) != list(op.indices):
                return False
            overwritten = overwritten or covers_axes(_block_of(op))  # pyright: ignore
        elif not isinstance(op, memref.LoadOp):
            return False
    return overwritten and any(isinstance(op, memref.LoadOp) for op in readers)


def _scaled(load: memref.LoadOp, total: SSAValue, along: list[int]) -> bool:
    """
    Returns whether `load` has a single use, which scales it by the sum of its row.

    The use is a product with a number computed from the sum, or a quotient by it, that is not part of a choice.
    """
    product = _only_user(load.res)
    if not isinstance(product, arith.MulfOp | arith.DivfOp):
        return False
    (other,) = [operand for operand in product.operands if operand is not load.res] or [None]
    factor = None if other is None else other.owner
    if not isinstance(factor, memref.LoadOp) or factor.memref is not total:
        return False
    rows = [load.indices[number] for number in along]
    return all(_alike(index, row) for index, row in zip(factor.indices, rows, strict=True))


def _alike(first: SSAValue, second: SSAValue) -> bool:
    """Returns whether two indices are one value or one constant."""
    return first is second or (constant_of(first) is not None and constant_of(first) == constant_of(second))
