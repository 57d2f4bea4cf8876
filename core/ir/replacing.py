"""
Replaces values and erases ops, faster than xDSL's methods do: a rewrite does both, and they were a third of its time.

To change one operand, `replace_all_uses_with` goes through a view of all of them. `erase` gives each result an erased
value with a name of its own, also where nothing uses it.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue, SSAValues

# pyright: reportPrivateUsage=false


def replace_all_uses(old: SSAValue, new: SSAValue) -> None:
    """Lets the users of `old` use `new`, as `replace_all_uses_with` does: in the same order, with the same name."""
    if new is old:
        return
    use, first = old.first_use, new.first_use
    while use is not None:
        following = use._next_use
        op, index = use._operation, use._index
        operands = op._operands
        op._operands = SSAValues((*operands[:index], new, *operands[index + 1 :]))
        use._next_use, use._prev_use = first, None
        if first is not None:
            first._prev_use = use
        first, use = use, following
    old.first_use, new.first_use = None, first
    if new._name is None:
        new._name = old._name


def erase_op(op: Operation) -> None:
    """Takes `op`, whose results nothing uses, out of its block and drops its operands, as `detach` and `erase` do."""
    if op.regions or op._successors or any(result.first_use is not None for result in op.results):
        op.detach()
        op.erase()
        return
    block, before, after = op.parent, op._prev_op, op._next_op
    if block is not None:
        if before is None:
            block._first_op = after
        else:
            before._next_op = after
        if after is None:
            block._last_op = before
        else:
            after._prev_op = before
        op.parent = op._prev_op = op._next_op = None
    for operand, use in zip(op._operands, op._operand_uses, strict=True):
        operand.remove_use(use)
    op._operand_uses = ()
