"""
Ops in other ops, all at once: what passes look at on their way over a module, found in a fraction of the time of
`Operation.walk`.

`Operation.walk` hands each op up through three generators per level of nesting, and classes of ops are abstract base
classes, for which `isinstance` is a call of Python code. With some thirty looks at a module of 10 000 ops that was a
sixth of the time to compile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from xdsl.ir import Block, Operation, Region

# pyright: reportPrivateUsage=false
# Each property of xDSL costs a call, and there are a thousand walks in a compilation.

AnyOp = TypeVar("AnyOp", bound=Operation)


def walk(root: Operation | Region | Block) -> list[Operation]:
    """
    The ops of `root.walk()`, in that order, as they are now: `root` itself if it is an op, then all inside, outer
    before inner.
    """
    found: list[Operation] = []
    pending: list[Operation] = []
    op: Operation | None
    if type(root) is Block:
        if root._first_op is not None:
            pending.append(root._first_op)
    elif type(root) is Region:
        _add_first_ops(root, pending)
    else:
        top: Any = root
        found.append(top)
        for region in reversed(top.regions):
            _add_first_ops(region, pending)
    while pending:
        op = pending.pop()
        while op is not None:
            found.append(op)
            following = op._next_op
            if op.regions:
                if following is not None:
                    pending.append(following)
                for region in reversed(op.regions):
                    _add_first_ops(region, pending)
                break
            op = following
    return found


def _add_first_ops(region: Region, pending: list[Operation]) -> None:
    """Adds the first op of each block of `region` to `pending`, the last block first."""
    block = region._last_block
    while block is not None:
        if block._first_op is not None:
            pending.append(block._first_op)
        block = block._prev_block


def op_and_inside(op: Operation) -> Sequence[Operation]:
    """What `walk` finds, for ops of which most have no regions."""
    return walk(op) if op.regions else (op,)


def ops_in(block: Block) -> list[Operation]:
    """The ops of `block.ops`, as they are now."""
    found: list[Operation] = []
    op = block._first_op
    while op is not None:
        found.append(op)
        op = op._next_op
    return found


def ops_of(root: Operation | Region | Block, *kinds: type[AnyOp]) -> list[AnyOp]:
    """The ops of `root.walk()` that are instances of one of `kinds`, in that order, as they are now."""
    fits: dict[type, bool] = {}
    found: list[AnyOp] = []
    for op in walk(root):
        kind = op.__class__
        fit = fits.get(kind)
        if fit is None:
            fit = fits[kind] = issubclass(kind, kinds)
        if fit:
            found.append(op)  # pyright: ignore[reportArgumentType]
    return found
