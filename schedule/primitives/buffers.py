"""Finds who uses a buffer and when, and edits the accesses of blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.access_regions import body_accesses
from ...analysis.affine import linear_terms
from ...core.messages.articles import quoted
from ...dialects.tensor_loop import AllocOp, BlockOp, FuncOp
from ...dialects.tensor_loop.syntax import value_name
from ...lazy_dataclass import dataclass
from .affine import told_apart
from .errors import refuse
from .nests import (
    axes_block,
    block_name,
    bound_block,
    clone_located,
    erase,
    fresh_block_name,
    function_of,
    new_nest,
    place,
    runs_once,
    top_of,
)


@dataclass
class User:
    """A block that loads from or stores to a buffer, and the place in the function of the nest that holds it."""

    block: BlockOp
    time: int
    loads: list[memref.LoadOp] = field(default_factory=list)
    stores: list[memref.StoreOp] = field(default_factory=list)


def users_of(buffer: SSAValue, blamed: Operation) -> list[User]:
    """
    Returns the blocks that load or store `buffer`, in order. It refuses where the buffer is used in another way or is a
    view.
    """
    if isinstance(buffer.owner, Operation) and not isinstance(buffer.owner, AllocOp):
        refuse(
            f"{value_name(buffer)} is made by {quoted(buffer.owner.name)}, expected an argument or a tensor_loop.alloc",
            blamed,
        )
    function = function_of(blamed)
    times = {op: number for number, op in enumerate(function.body.block.ops)}
    found: dict[BlockOp, User] = {}
    for use in buffer.uses:
        op = use.operation
        if isinstance(op, BlockOp):
            continue
        block = _block_around(op)
        if block is None or not isinstance(op, memref.LoadOp | memref.StoreOp):
            refuse(
                f"{value_name(buffer)} is used by {quoted(op.name)}, expected loads and stores in blocks only",
                blamed,
                op,
            )
        around = _block_around(block)
        if around is not None:
            refuse(f"{block_name(block)} is a part of {block_name(around)}, which is taken as a whole", blamed, around)
        if block not in found:
            found[block] = User(block, times[top_of(block)])
        if isinstance(op, memref.LoadOp):
            found[block].loads.append(op)
        else:
            found[block].stores.append(op)
    return sorted(found.values(), key=lambda user: user.time)


def _block_around(op: Operation) -> BlockOp | None:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, BlockOp):
        parent = parent.parent_op()
    return parent


def time_of(op: Operation) -> int:
    """Returns the number of the op at the top of the function that holds `op`."""
    top = top_of(op)
    return next(number for number, each in enumerate(function_of(op).body.block.ops) if each is top)


def loads_in(block: BlockOp, buffer: SSAValue | None = None) -> list[memref.LoadOp]:
    """Returns all loads in the init and the body of `block`, or those of `buffer`, in order of the text."""
    loads = [op for op in block.walk() if isinstance(op, memref.LoadOp)]
    return loads if buffer is None else [load for load in loads if load.memref is buffer]


def stores_in(block: BlockOp) -> list[memref.StoreOp]:
    """Returns all stores in the init and the body of `block`, in order of the text."""
    return [op for op in block.walk() if isinstance(op, memref.StoreOp)]


def check_unwritten(
    buffers: Iterable[SSAValue], first: int, last: int, blamed: BlockOp, but: Sequence[BlockOp] = ()
) -> None:
    """Refuses where a block in the nests number `first` to `last` writes one of `buffers`."""
    for buffer in dict.fromkeys(buffers):
        for user in users_of(buffer, blamed):
            if user.stores and first <= user.time <= last and user.block not in but:
                refuse(
                    (
                        f"{block_name(user.block)} writes {value_name(buffer)}, which {block_name(blamed)} reads, in "
                        "between"
                    ),
                    blamed,
                    user.block,
                )


def check_untouched(buffer: SSAValue, start: int, end: int, block: BlockOp) -> None:
    """Refuses where another block loads or stores the buffer in the nests number `start` to `end`."""
    for user in users_of(buffer, block):
        if user.block is not block and start <= user.time <= end:
            refuse(
                f"{block_name(user.block)} touches {value_name(buffer)}, which {block_name(block)} writes, in between",
                block,
                user.block,
            )


def only_store(block: BlockOp) -> memref.StoreOp:
    """Returns the one store of a block outside its init, at the top of its body. It refuses other stores."""
    init = block.init
    stores = [op for op in stores_in(block) if init is None or not init.is_ancestor(op)]
    if len(stores) != 1 or stores[0].parent_block() is not block.body.block:
        refuse(f"{block_name(block)} has {len(stores)} stores, expected one that no condition guards", block)
    return stores[0]


def axes_at(block: BlockOp, indices: Sequence[SSAValue], buffer: SSAValue) -> list[int | None]:
    """
    Returns, per dimension of `buffer`, the axis of `block` that is the index. It is `None` for a dimension of size 1.
    Refuses other indices.
    """
    shape = buffer.type.get_shape() if isinstance(buffer.type, MemRefType) else ()
    found: list[int | None] = []
    for index, extent in zip(indices, shape, strict=True):
        if isinstance(index, BlockArgument) and index in block.axes and index.index not in found:
            found.append(index.index)
        elif extent == 1:
            found.append(None)
        else:
            refuse(f"{block_name(block)} indexes {value_name(buffer)} by other values than its axes, each once", block)
    return found


def axes_of_reads(block: BlockOp, buffer: SSAValue) -> list[int | None]:
    """Returns what `axes_at` does for every load of `buffer` in `block`. It refuses several places."""
    first, *others = [axes_at(block, load.indices, buffer) for load in loads_in(block, buffer)]
    if any(axes != first for axes in others):
        refuse(f"{block_name(block)} reads {value_name(buffer)} at several places", block)
    return first


def check_unread(block: BlockOp, buffer: SSAValue) -> None:
    """Refuses a block that reads `buffer`, which it writes."""
    if loads_in(block, buffer):
        refuse(f"{block_name(block)} reads {value_name(buffer)}, which it writes", block)


def check_unstored(block: BlockOp, buffer: SSAValue) -> None:
    """Refuses a block that writes `buffer`, which it reads."""
    if only_store(block).memref is buffer:
        refuse(f"{block_name(block)} writes {value_name(buffer)}, which it reads", block)


def check_separate(block: BlockOp, buffer: SSAValue, indices: Sequence[AffineExpr | None]) -> None:
    """
    Refuses where two values of the spatial axes may choose one element of `buffer`: the last run of the block decides
    then.
    """
    ranges = [(0, extent - 1) if isinstance(extent, int) else None for extent in block.extents]
    single = [axis for axis, extent in enumerate(block.extents) if extent == 1]
    known = [(linear_terms(expr)[0], 0) for expr in indices if expr is not None]
    told = told_apart(known, single, ranges)
    if any(kind == "spatial" and axis not in told for axis, kind in enumerate(block.kinds)):
        refuse(f"{block_name(block)} may write an element of {value_name(buffer)} more than once", block)


def check_writes_once(block: BlockOp) -> None:
    """Refuses a block without reduce axes that may store one element twice: the order of its runs would count."""
    store = only_store(block)
    found = body_accesses(block.body.block).accesses
    check_separate(block, store.memref, next(access.indices for access in found if access.op is store))


def check_once(block: BlockOp) -> None:
    """Refuses a block that is run more than once for the same values of its axes."""
    if not runs_once(block):
        refuse(f"{block_name(block)} may run more than once for the same values of its axes", block)


def emit_affine(expr: AffineExpr, values: Sequence[SSAValue], before: Operation) -> SSAValue:
    """Emits index arithmetic that computes `expr`, before an op. Dividends are not negative."""

    def add(
        op: arith.ConstantOp | arith.AddiOp | arith.MuliOp | arith.SubiOp | arith.FloorDivSIOp,
    ) -> SSAValue:
        op.location = before.location
        Rewriter.insert_op(op, InsertPoint.before(before))
        return op.results[0]

    def emit(node: AffineExpr) -> SSAValue:
        if isinstance(node, AffineDimExpr):
            return values[node.position]
        if isinstance(node, AffineConstantExpr):
            return add(arith.ConstantOp(IntegerAttr(node.value, IndexType())))
        assert isinstance(node, AffineBinaryOpExpr)
        lhs, rhs = emit(node.lhs), emit(node.rhs)
        match node.kind:
            case AffineBinaryOpKind.Add:
                return add(arith.AddiOp(lhs, rhs))
            case AffineBinaryOpKind.Mul:
                return add(arith.MuliOp(lhs, rhs))
            case AffineBinaryOpKind.FloorDiv:
                return add(arith.FloorDivSIOp(lhs, rhs))
            case _:
                whole = add(arith.FloorDivSIOp(lhs, rhs))
                return add(arith.SubiOp(lhs, add(arith.MuliOp(whole, rhs))))

    return emit(expr)


def inline_body(block: BlockOp, values: Mapping[SSAValue, SSAValue], before: Operation) -> SSAValue:
    """Puts a copy of the body of a block, its last store left out, before an op. Returns what the store would store."""
    known = dict(values)
    store = only_store(block)
    for op in list(block.body.block.ops):
        if op is store or op.name in ("tensor_loop.yield", "tensor_loop.init"):
            continue
        Rewriter.insert_op(clone_located(op, known), InsertPoint.before(before))
    return known.get(store.value, store.value)


def new_alloc(type_: MemRefType, name: str, scope: str, before: Operation) -> AllocOp:
    """Makes a buffer right before the op at the top of the function that holds `before`."""
    alloc = AllocOp(type_, scope=scope)
    alloc.memref.name_hint = name
    alloc.location = before.location
    Rewriter.insert_op(alloc, InsertPoint.before(top_of(before)))
    return alloc


def replace_alloc(buffer: SSAValue, new_type: MemRefType) -> SSAValue:
    """Makes a temporary of another type where `buffer` is made. Nothing uses it yet."""
    old = buffer.owner
    assert isinstance(old, AllocOp)
    new = AllocOp(new_type, scope=old.scope.data)
    new.memref.name_hint = buffer.name_hint
    new.location = old.location
    Rewriter.insert_op(new, InsertPoint.before(old))
    return new.memref


def hoist_buffers(block: BlockOp) -> None:
    """Makes the temporaries that a block uses, which has moved up, at the start of the function."""
    function = function_of(block)
    first = function.body.block.first_op
    assert first is not None
    for op in block.walk():
        for operand in op.operands:
            alloc = operand.owner
            if isinstance(alloc, AllocOp) and alloc is not first and not alloc.dynamic_sizes:
                if alloc.parent_op() is function:
                    alloc.detach()
                    function.body.block.insert_op_before(alloc, first)


def static_type(buffer: SSAValue, blamed: Operation) -> MemRefType:
    """Returns the type of a buffer, and refuses one of unknown size or with a layout."""
    type_ = buffer.type
    if not isinstance(type_, MemRefType) or not type_.has_static_shape():
        refuse(f"the size of {value_name(buffer)} is not known before the program runs", blamed)
    if type_.layout.name != "none":
        refuse(f"{value_name(buffer)} has a layout, expected a buffer without one", blamed)
    return type_


def copy_nest(
    name: str, source: SSAValue, target: SSAValue, shape: Sequence[int], at: InsertPoint, like: BlockOp
) -> BlockOp:
    """Makes loops around a block that copies `shape` elements from the start of one buffer to the start of another."""
    body = axes_block(len(shape))
    load = memref.LoadOp.get(source, body.args)
    body.add_ops([load, memref.StoreOp.get(load.res, target, body.args)])
    return spatial_nest(name, shape, body, at, like)


def spatial_nest(name: str, shape: Sequence[int], body: Block, at: InsertPoint, like: BlockOp) -> BlockOp:
    """Makes one loop per axis around a block over `body`, all spatial, at a place at the top of the function."""
    names = [f"d{number}" for number in range(len(shape))]
    loops = new_nest(names, shape, like)
    block = bound_block(
        fresh_block_name(function_of(like), name),
        [("spatial", extent, f"v{each}") for extent, each in zip(shape, names, strict=True)],
        [AffineDimExpr(number) for number in range(len(shape))],
        [loop.variable for loop in loops],
        body,
        like,
    )
    place(loops, block, at)
    return block


def replace_buffer(block: BlockOp, old: SSAValue, new: SSAValue) -> None:
    """Has the loads and stores of a block access another buffer."""
    for op in block.walk():
        if isinstance(op, memref.LoadOp | memref.StoreOp) and op.memref is old:
            op.operands[1 if isinstance(op, memref.StoreOp) else 0] = new
    block.refresh_regions()


def drop_unused_arithmetic(block: BlockOp) -> None:
    """Erases arithmetic of a block whose results nothing uses. It computed indices that are gone."""
    for op in reversed([op for op in block.walk() if op.name.startswith("arith.")]):
        if all(result.first_use is None for result in op.results):
            erase(op)


def is_temporary(buffer: SSAValue) -> bool:
    """
    Returns whether a `tensor_loop.alloc` of the function makes `buffer`. Arguments and buffers inside of loops are no
    temporaries.
    """
    return isinstance(buffer.owner, AllocOp) and isinstance(buffer.owner.parent_op(), FuncOp)


def store_to_temporary(block: BlockOp) -> memref.StoreOp:
    """Returns the only store of a block that writes a temporary. It refuses other blocks."""
    store = only_store(block)
    if not is_temporary(store.memref):
        refuse(f"{value_name(store.memref)} is no temporary: {block_name(block)} writes an output and must stay", block)
    return store
