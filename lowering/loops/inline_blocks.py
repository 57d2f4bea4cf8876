"""The two rewrites of `inline-loops`, each with the conditions under which it keeps the meaning."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...core.ir.cloning import clone_op
from ...core.ir.literals import constant_of
from ...core.ir.walk import ops_of, walk
from ...core.messages.origins import fuse
from ...dialects import tensor_loop
from ...dialects.traits import is_pure
from ...lazy_dataclass import dataclass
from .inline_costs import VectorAxes

_MOVES = frozenset(
    {
        "memref.load",
        "memref.store",
        "scf.if",
        "scf.yield",
        "tensor_loop.yield",
        "arith.constant",
        "arith.cmpi",
        "arith.andi",
        "arith.ori",
        "arith.select",
        "arith.extf",
        "arith.truncf",
        "arith.extui",
        "arith.extsi",
        "arith.trunci",
    }
)
"""The ops that cost nothing beside the load that they surround."""


MOST_ADDED = 256
"""
The most ops that inlining one temporary may add. Our benchmarks add 12. Each level of `concat(v, v)` doubles the loads
of the one before.
"""


@dataclass(frozen=True)
class Accessor:
    """A block that touches a buffer, with the op at the top of the function that holds it."""

    block: tensor_loop.BlockOp
    nest: Operation
    time: int
    loads: tuple[memref.LoadOp, ...]
    stores: tuple[memref.StoreOp, ...]


class FunctionFacts:
    """
    Facts that the inlining of many temporaries of one function asks for again and again, found once.

    It stays true while producers are inlined: nests only go away, and no buffer gets a store or a view.
    """

    def __init__(self, function: tensor_loop.FuncOp):
        self.times = {op: number for number, op in enumerate(function.body.block.ops)}
        self.vectors = VectorAxes()
        own = [op.memref for op in function.body.block.ops if isinstance(op, tensor_loop.AllocOp)]
        self.read_only = {
            buffer
            for buffer in (*function.body.block.args, *own)
            if all(isinstance(use.operation, memref.LoadOp | tensor_loop.BlockOp) for use in buffer.uses)
        }
        """Buffers that nothing in the function writes, views or hands on."""


def inline_producer(alloc: tensor_loop.AllocOp, facts: FunctionFacts) -> tuple[tensor_loop.BlockOp, ...]:
    """
    Computes an elementwise temporary where it is read, and returns the blocks that read it.

    Returns no blocks when that is not allowed or not cheap. The caller refreshes the regions of these blocks, then
    erases the temporary.

    The rewrite is legal when one block writes the buffer at every point once: its spatial axes are bound one to one,
    and a single store is at the axes. Its only effects are loads from buffers that nobody writes later, and all readers
    come after it.
    """
    found = accessors(alloc.memref, facts.times)
    if found is None:
        return ()
    writers = [accessor for accessor in found if accessor.stores]
    if len(writers) != 1 or writers[0].loads:
        return ()
    producer, readers = writers[0], [accessor for accessor in found if accessor.loads]
    if not readers or any(reader.time <= producer.time for reader in readers):
        return ()
    if not _is_pointwise(producer, alloc.memref) or not _sources_keep(producer, facts):
        return ()
    if _added(producer, readers) > MOST_ADDED or not _is_cheap(producer, readers, alloc.memref, facts.vectors):
        return ()
    for reader in readers:
        facts.vectors.merge(producer.block, reader.block, reader.loads)
    for reader in readers:
        for load in reader.loads:
            _compute_at(producer, load)
        reader.nest.location = fuse((reader.nest.location, producer.nest.location))
        reader.block.location = fuse((reader.block.location, producer.block.location))
    erase(producer.nest)
    return tuple(reader.block for reader in readers)


def drop_unread(alloc: tensor_loop.AllocOp, facts: FunctionFacts) -> bool:
    """
    Removes a temporary that nothing loads, with the nests that compute it, and returns whether it did.

    A result of a split that nobody uses becomes such a temporary when the split is fused.
    """
    found = accessors(alloc.memref, facts.times)
    if not found or any(each.loads or not _is_pointwise(each, alloc.memref) for each in found):
        return False
    for each in found:
        erase(each.nest)
    erase(alloc)
    return True


def forward_to_output(function: tensor_loop.FuncOp, alloc: tensor_loop.AllocOp) -> bool:
    """
    Lets a temporary live in the buffer that its last reader writes, or returns False when that is not allowed.

    The rewrite is legal when the last nest that touches the temporary is one elementwise block that visits every
    element once. It must load the temporary only at the index at which it stores the other buffer as its last act, and
    nobody may touch the other buffer before or beside it. Both buffers have the same type, of known size.
    """
    found = accessors(alloc.memref)
    if not found or found[-1].stores or len(found) < 2:
        return False
    last = found[-1]
    store = _final_store(last.block)
    if store is None or store.memref.type != alloc.memref.type or alloc.dynamic_sizes:
        return False
    target = store.memref
    if target not in function.outputs and not _is_temporary(target, function):
        return False
    touching = accessors(target)
    if touching is None or any(a.time < last.time or (a.block is last.block and a.loads) for a in touching):
        return False
    indices = tuple(store.indices)
    if not _is_identity(last.block, indices) or any(tuple(load.indices) != indices for load in last.loads):
        return False
    if not _is_perfect(last):  # A block alone in its nest is the only user of the buffers at that time.
        return False
    if isinstance(target.owner, tensor_loop.AllocOp):
        target.owner.detach()
        Rewriter.insert_op(target.owner, InsertPoint.before(alloc))
    alloc.memref.replace_all_uses_with(target)
    for accessor in found:
        accessor.block.refresh_regions()
    erase(alloc)
    return True


def _final_store(block: tensor_loop.BlockOp) -> memref.StoreOp | None:
    """Returns the only store of a block when it is unconditional and the last thing that the block does."""
    stores = ops_of(block, memref.StoreOp)
    end = block.body.block.last_op
    if len(stores) != 1 or end is None or end.prev_op is not stores[0]:
        return None
    return stores[0]


def _is_temporary(buffer: SSAValue, function: tensor_loop.FuncOp) -> bool:
    return isinstance(buffer.owner, tensor_loop.AllocOp) and buffer.owner.parent_op() is function


def accessors(buffer: SSAValue, times: dict[Operation, int] | None = None) -> list[Accessor] | None:
    """
    Returns the blocks that load or store `buffer`, an argument or temporary of the function, in order.

    Returns None for a view of another buffer, or when something else uses it. `times` numbers the ops at the top of the
    function, if that is known.
    """
    function = buffer.owner.parent_op()
    if not isinstance(function, tensor_loop.FuncOp):
        return None
    if isinstance(buffer.owner, Operation) and not isinstance(buffer.owner, tensor_loop.AllocOp):
        return None
    blocks: dict[tensor_loop.BlockOp, tuple[list[memref.LoadOp], list[memref.StoreOp]]] = {}
    for use in buffer.uses:
        op = use.operation
        if isinstance(op, tensor_loop.BlockOp):
            continue
        block = _block_of(op)
        if block is None or not isinstance(op, memref.LoadOp | memref.StoreOp):
            return None
        loads, stores = blocks.setdefault(block, ([], []))
        if isinstance(op, memref.LoadOp):
            loads.append(op)
        elif op.memref is buffer:
            stores.append(op)
    if times is None:
        times = {op: i for i, op in enumerate(function.body.block.ops)}
    found: list[Accessor] = []
    for block, (loads, stores) in blocks.items():
        nest: Operation | None = block
        while nest is not None and nest not in times:
            nest = nest.parent_op()
        if nest is None:
            return None
        found.append(Accessor(block, nest, times[nest], tuple(loads), tuple(stores)))
    return sorted(found, key=lambda accessor: accessor.time)


def _block_of(op: Operation) -> tensor_loop.BlockOp | None:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, tensor_loop.BlockOp):
        parent = parent.parent_op()
    return parent


def _is_identity(block: tensor_loop.BlockOp, indices: Sequence[SSAValue]) -> bool:
    """Returns whether `indices` are the axes in order, all spatial, of a block without predicate or init."""
    return (
        tuple(indices) == tuple(block.axes)
        and not block.has_reduce_axes
        and block.init is None
        and not block.constraints
    )


def _is_pointwise(producer: Accessor, buffer: SSAValue) -> bool:
    """Returns whether the producer computes every element of `buffer` once, and does nothing else."""
    block = producer.block
    if len(producer.stores) != 1 or not _is_identity(block, producer.stores[0].indices):
        return False
    if not isinstance(buffer.type, MemRefType) or block.extents != tuple(buffer.type.get_shape()):
        return False
    if not _is_perfect(producer):
        return False
    for op in walk(block):
        if op in (block, producer.stores[0]) or isinstance(op, memref.LoadOp | tensor_loop.YieldOp):
            continue
        if not is_pure(op) and op.name not in ("scf.if", "scf.yield") and not _divides_index(op):
            return False
    return True


def _divides_index(op: Operation) -> bool:
    """Returns whether `op` divides an index by a constant, as reshapes do, so that it cannot fail."""
    if not isinstance(op, arith.DivUIOp | arith.RemUIOp) or not isinstance(op.result.type, IndexType):
        return False
    return (constant_of(op.rhs) or 0) > 0


def _is_perfect(producer: Accessor) -> bool:
    return is_perfect_nest(producer.block, producer.nest)


def is_perfect_nest(block: tensor_loop.BlockOp, nest: Operation) -> bool:
    """Returns whether the nest is a grid of the block alone, one loop per axis over its whole extent."""
    if not block.axes:
        return nest is block
    if not isinstance(nest, tensor_loop.GridOp) or block.parent_op() is not nest:
        return False
    bound = [str(expr) for expr in block.binding_exprs]
    one_to_one = bound == [f"d{i}" for i in range(len(bound))] and tuple(block.binding_operands) == tuple(
        nest.variables
    )
    alone = [op for op in nest.body.block.ops if not isinstance(op, tensor_loop.YieldOp)] == [block]
    return one_to_one and alone and nest.extents == block.extents


def _sources_keep(producer: Accessor, facts: FunctionFacts) -> bool:
    """Returns whether no buffer the producer loads from is written at or after the producer."""
    sources = {op.memref for op in ops_of(producer.block, memref.LoadOp)}
    for source in sources - facts.read_only:
        found = accessors(source, facts.times)
        if found is None or any(a.stores and a.time >= producer.time for a in found):
            return False
    return True


def _added(producer: Accessor, readers: Sequence[Accessor]) -> int:
    """Returns how many ops copies of the producer add, in place of all its loads but one."""
    copies = sum(len(reader.loads) for reader in readers) - 1
    return copies * sum(1 for _ in walk(producer.block.body)) if copies else 0


def _is_cheap(producer: Accessor, readers: Sequence[Accessor], buffer: SSAValue, vectors: VectorAxes) -> bool:
    """Returns whether inlining repeats no arithmetic or scattered loads, and leaves on vectors what runs on them."""
    assert isinstance(buffer.type, MemRefType)
    reads, size = 0, prod(buffer.type.get_shape())
    for reader in readers:
        extents = [extent for block in _blocks_around(reader.block) for extent in block.extents]
        if any(not isinstance(extent, int) for extent in extents):
            return False
        runs = prod(extent for extent in extents if isinstance(extent, int))
        reads += len(reader.loads) * runs
        if not vectors.survive(producer.block, reader.block, reader.loads, runs / max(size, 1)):
            return False
    if reads <= size:
        return True
    if any(op.name == "arith.select" for op in walk(producer.block.body)) and any(map(_sums_up_products, readers)):
        return False  # A choice in each term would keep the product from register tiles.
    return all(_costs_nothing(op) for op in walk(producer.block.body)) and _keeps_rows(producer.block)


def _blocks_around(block: tensor_loop.BlockOp) -> list[tensor_loop.BlockOp]:
    """Returns a block and those that it stands in, each of which runs it for all of its axes."""
    found = [block]
    while (outer := _block_of(found[-1])) is not None:
        found.append(outer)
    return found


def _sums_up_products(reader: Accessor) -> bool:
    """Returns whether a block with reduce axes multiplies what it loads."""
    users = [use.operation for load in reader.loads for use in load.res.uses]
    users += [use.operation for op in users if isinstance(op, arith.ExtFOp) for use in op.result.uses]
    return reader.block.has_reduce_axes and any(isinstance(op, arith.MulfOp | arith.MuliOp) for op in users)


def _costs_nothing(op: Operation) -> bool:
    return op.name in _MOVES or (bool(op.results) and isinstance(op.results[0].type, IndexType))


def _keeps_rows(block: tensor_loop.BlockOp) -> bool:
    """Returns whether neighbours along the last axis are loaded from neighbouring places, or from one place."""
    if not block.axes:
        return True
    last = block.axes[-1]
    for op in walk(block):
        if isinstance(op, memref.LoadOp):
            places = [_uses_axis(index, last) for index in op.indices]
            if any(places[:-1]):
                return False
    return True


def _uses_axis(index: SSAValue, axis: BlockArgument) -> bool:
    """Returns whether an index is computed from `axis`."""
    pending, seen = [index], set[SSAValue]()
    while pending:
        value = pending.pop()
        if value is axis:
            return True
        if value not in seen and isinstance(value.owner, Operation):
            seen.add(value)
            pending.extend(value.owner.operands)
    return False


def _compute_at(producer: Accessor, load: memref.LoadOp) -> None:
    """Replaces `load` by the producer's computation at its indices."""
    values: dict[SSAValue, SSAValue] = dict(zip(producer.block.axes, load.indices, strict=True))
    for op in producer.block.body.block.ops:
        if isinstance(op, memref.StoreOp):
            stored = values.get(op.value, op.value)
            load.results[0].replace_all_uses_with(stored)
        elif not isinstance(op, tensor_loop.YieldOp):
            clone = clone_op(op, values)
            for old, new in zip(walk(op), walk(clone), strict=True):
                new.location = old.location
            Rewriter.insert_op(clone, InsertPoint.before(load))
    erase(load)


def is_inside(op: Operation, scope: Operation) -> bool:
    """Returns whether an op still is in the scope, a function as a rule, and not in a nest that has been erased."""
    parent = op.parent_op()
    while parent is not None and parent is not scope:
        parent = parent.parent_op()
    return parent is scope


def erase(op: Operation) -> None:
    """Takes an op without uses out of its block for good."""
    op.detach()
    op.erase()
