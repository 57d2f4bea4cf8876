"""
Rows of f16 and bf16 that loops extend to f32 again and again. They are extended once, and kept in f32 on the stack.

A row that is the same for all rows of a loop around, such as the weights of a normalisation, is extended before that
loop. A row that at least `READERS` loops read one after the other is kept by the first of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr, f32
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...core.ir.element_types import is_small_float
from ...core.ir.literals import constant_of
from ...core.roles import BUFFER_ALIGNMENT, LOOP
from ...lazy_dataclass import dataclass
from .vector_body import VectorBody

READERS = 2
"""The loops from which on a row is kept. A store takes as long as extending a vector, but none of its units."""

ROWS = 4
"""The rows of the loop around from which on one that is the same for all is extended before it."""

MOST_BYTES = 4096
"""The most bytes of a row on the stack."""

WIDE_BYTES = 4


@dataclass(frozen=True)
class _Reader:
    """A load of a row of small floats that is only extended to f32."""

    body: VectorBody
    load: memref.LoadOp

    @property
    def place(self) -> list[SSAValue]:
        """The buffer, and the indices of the row."""
        return [self.load.memref, *self.load.indices[:-1]]

    def read_from(self, row: SSAValue) -> None:
        """Loads from `row`, in f32, instead."""
        wide = memref.LoadOp.get(row, [self.load.indices[-1]])
        wide.location = self.load.location
        Rewriter.insert_op(wide, InsertPoint.before(self.load))
        for use in list(self.load.res.uses):
            Rewriter.replace_op(use.operation, [], [wide.res])
        Rewriter.erase_op(self.load)


def keep_wide_rows(bodies: Sequence[VectorBody]) -> int:
    """
    Keeps rows in f32, and returns how many. A loop that stores to a row reads it at the index of the store only.

    Before (%w is not stored to):

        scf.for %i { scf.for %j { %w0 = memref.load %w[%j] : memref<384xbf16>
                                  %w1 = arith.extf %w0 : bf16 to f32 … } }

    After:

        %row = memref.alloca() : memref<384xf32>
        scf.for %j { … memref.store %w1, %row[%j] }
        scf.for %i { scf.for %j { %w1 = memref.load %row[%j] : memref<384xf32> … } }
    """
    beside: dict[Block, list[_Reader]] = {}
    for body in bodies:
        parent = body.loop.parent
        if parent is not None and isinstance(parent.parent_op(), scf.ForOp):
            beside.setdefault(parent, []).extend(_readers(body))
    count = 0
    for readers in beside.values():
        rows: list[list[_Reader]] = []
        for reader in readers:
            same = next((row for row in rows if _is_same_row(row[0], reader)), None)
            if same is None:
                rows.append([reader])
            else:
                same.append(reader)
        count += sum(_extend_before(row) or _keep_first(row) for row in rows)
    return count


def _readers(body: VectorBody) -> list[_Reader]:
    """Returns the loads of `body` that may read from a row in f32."""
    if body.extent * WIDE_BYTES > MOST_BYTES:
        return []
    found: list[_Reader] = []
    for op in body.moving:
        if not isinstance(op, memref.LoadOp) or not is_small_float(op.res.type) or op.indices[-1] is not body.variable:
            continue
        users = [use.operation for use in op.res.uses]
        extended = all(isinstance(user, arith.ExtFOp) and user.result.type == f32 for user in users)
        inside = any(_is_inside(index, body.loop) for index in op.indices[:-1])
        if extended and not inside and _is_plain(op.memref):
            found.append(_Reader(body, op))
    return found


def _is_inside(value: SSAValue, loop: Operation) -> bool:
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    return block is not None and loop.is_ancestor(block)


def _is_same_row(one: _Reader, other: _Reader) -> bool:
    return one.body.extent == other.body.extent and one.place == other.place


def _is_plain(buffer: SSAValue) -> bool:
    """Returns whether `buffer` is an argument, which has no other name, and nothing but loads and stores use it."""
    accesses = all(isinstance(use.operation, memref.LoadOp | memref.StoreOp) for use in buffer.uses)
    return isinstance(buffer, BlockArgument) and isinstance(buffer.block.parent_op(), func.FuncOp) and accesses


def _writers(reader: _Reader, loop: Operation) -> list[Operation]:
    """Returns the stores in `loop` to the buffer that is read."""
    users = (use.operation for use in reader.load.memref.uses)
    return [op for op in users if isinstance(op, memref.StoreOp) and loop.is_ancestor(op)]


def _extend_before(row: list[_Reader]) -> bool:
    """Extends a row before the outermost of the loops in which it stays the same. Returns whether there is one."""
    loop, found = row[0].body.loop.parent_op(), None
    while isinstance(loop, scf.ForOp):
        if any(_is_inside(value, loop) for value in row[0].place) or _writers(row[0], loop):
            break
        loop, found = loop.parent_op(), loop
    if found is None or (_trips(found) or ROWS) < ROWS:
        return False
    stack = _stack(row[0])
    if stack is None:
        return False
    _emit_extension(row[0], stack, found)
    for reader in row:
        reader.read_from(stack)
    return True


def _trips(loop: scf.ForOp) -> int | None:
    bounds = [constant_of(value) for value in (loop.lb, loop.ub, loop.step)]
    lower, upper, step = bounds
    return None if lower is None or upper is None or step is None else (upper - lower) // step


def _keep_first(row: list[_Reader]) -> bool:
    """Has the first loop that reads a row keep it for the others. Returns whether it does."""
    outer = row[0].body.loop.parent_op()
    assert outer is not None
    writers = _writers(row[0], outer)
    last = row[-1].body.loop
    if len({reader.body.loop for reader in row}) < READERS:
        return False
    if not all(_is_after(op, last, [reader.load for reader in row if reader.body.loop is last]) for op in writers):
        return False
    stack = _stack(row[0])
    if stack is None:
        return False
    first = next(iter(row[0].load.res.uses)).operation
    store = memref.StoreOp.get(first.results[0], stack, [row[0].body.variable])
    store.location = first.location
    Rewriter.insert_op(store, InsertPoint.after(first))
    for reader in row:
        if reader.body is not row[0].body:
            reader.read_from(stack)
    return True


def _is_after(writer: Operation, loop: scf.ForOp, loads: Sequence[Operation]) -> bool:
    """Returns whether `writer` is in `loop` and after all of `loads`, or after the loop in the block of that."""
    if writer.parent is loop.body.block:
        return all(load.is_before_in_block(writer) for load in loads)
    around: Operation | None = writer
    while around is not None and around.parent is not loop.parent:
        around = around.parent_op()
    return around is not None and around is not loop and loop.is_before_in_block(around)


def _stack(reader: _Reader) -> SSAValue | None:
    """Returns a row of f32 on the stack of the function."""
    function: Operation | None = reader.body.loop
    while function is not None and not isinstance(function, func.FuncOp):
        function = function.parent_op()
    if function is None:
        return None
    stack = memref.AllocaOp.get(f32, BUFFER_ALIGNMENT, [reader.body.extent])
    stack.location = reader.load.location
    stack.memref.name_hint = "wide"
    first = function.body.block.first_op
    assert first is not None
    Rewriter.insert_op(stack, InsertPoint.before(first))
    return stack.memref


def _emit_extension(reader: _Reader, stack: SSAValue, before: Operation) -> None:
    """Emits the loop that fills `stack`."""
    bounds = [arith.ConstantOp(IntegerAttr(number, IndexType())) for number in (0, reader.body.extent, 1)]
    block = Block(arg_types=[IndexType()])
    load = memref.LoadOp.get(reader.load.memref, [*reader.load.indices[:-1], block.args[0]])
    wide = arith.ExtFOp(load.res, f32)
    block.add_ops([load, wide, memref.StoreOp.get(wide.result, stack, [block.args[0]]), scf.YieldOp()])
    lower, upper, step = (bound.result for bound in bounds)
    loop = scf.ForOp(lower, upper, step, [], Region(block))
    loop.attributes[LOOP] = StringAttr("vectorize")
    for op in (*bounds, *block.ops, loop):
        op.location = reader.load.location
    for op in (*bounds, loop):
        Rewriter.insert_op(op, InsertPoint.before(before))
