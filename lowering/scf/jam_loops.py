"""The jamming of a loop that stores a row with the loop after it that sums the row up."""

from __future__ import annotations

from xdsl.dialects import arith, memref, scf
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from .vector_body import VectorBody, is_marked, same_indices, vector_body


def jam_into(loop: scf.ForOp) -> bool:
    """
    Lets the loop after `loop` run together with it where that one carries sums, maxima or minima and stores nothing.

    Returns whether it does.

    Before:

        scf.for %j { … memref.store %e, %b[%i, %j] } {stepwell.loop = "vectorize"}
        %s = scf.for %k iter_args(%t = %zero) { %e = memref.load %b[%i, %k] … } {stepwell.loop = "vectorize"}

    After:

        %s = scf.for %j iter_args(%t = %zero) { … memref.store %e, %b[%i, %j] … } {stepwell.loop = "vectorize"}

    The second reads what the first stores at the index of the iteration only, and only constants stand between them.
    """
    after = _following(loop)
    if after is None or loop.iter_args or not after.iter_args:
        return False
    first, second = vector_body(loop), vector_body(after)
    if first is None or second is None or first.extent != second.extent:
        return False
    known = _known(first, second)
    if known is None or any(isinstance(op, memref.StoreOp) for op in second.moving):
        return False
    _jam(loop, after, known)
    return True


def _following(loop: scf.ForOp) -> scf.ForOp | None:
    op = loop.next_op
    while isinstance(op, arith.ConstantOp):
        op = op.next_op
    return op if isinstance(op, scf.ForOp) and is_marked(op) else None


def _known(first: VectorBody, second: VectorBody) -> dict[Operation, SSAValue] | None:
    """Returns the loads of `second` that read what `first` stores, or None where one reads at other indices."""
    stored = {op.memref: op for op in first.moving if isinstance(op, memref.StoreOp)}
    found: dict[Operation, SSAValue] = {}
    for op in (*second.moving, *second.kept):
        if not isinstance(op, memref.LoadOp) or op.memref not in stored:
            continue
        store = stored[op.memref]
        same = {second.variable: first.variable}
        if not same_indices([same.get(index, index) for index in op.indices], store.indices):
            return None
        found[op] = store.value
    return found


def _jam(loop: scf.ForOp, after: scf.ForOp, known: dict[Operation, SSAValue]) -> None:
    """Moves the ops of the first loop before those of the second."""
    between: list[Operation] = []
    op = loop.next_op
    while op is not None and op is not after:
        between.append(op)
        op = op.next_op
    for op in between:
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(loop))
    block, target = loop.body.block, after.body.block
    block.args[0].replace_all_uses_with(target.args[0])
    first_of_second = target.first_op
    assert first_of_second is not None
    for op in list(block.ops):
        if not isinstance(op, scf.YieldOp):
            op.detach()
            target.insert_op_before(op, first_of_second)
    for load, value in known.items():
        Rewriter.replace_op(load, [], [value])
    loop.detach()
    loop.erase()
