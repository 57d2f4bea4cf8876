"""The place of a value of a branch: the innermost block that holds all its uses, looking through `scf.if` only."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Operation
from xdsl.traits import IsTerminator

from ...dialects.traits import is_pure, may_fail


def movable(op: Operation) -> bool:
    """
    Returns whether `op` may run less often, and later.

    It must be pure and unable to fail. An op with regions must be a branch of movable ops.
    """
    if op.has_trait(IsTerminator) or not op.results or not is_pure(op):
        return False
    if op.regions and not isinstance(op, scf.IfOp):
        return False
    return not any(may_fail(each) or isinstance(each, scf.WhileOp) for each in op.walk())


def branch_path(block: Block, op: Operation) -> list[Block]:
    """
    Returns the blocks from `block` down to the one that holds `op`, as far as they are branches of `scf.if`.

    A loop body, or a region of another op, is not entered, because an op in it would be computed many times.
    """
    path: list[Block] = []
    current = op.parent
    while current is not None and current is not block:
        path.append(current)
        parent = current.parent_op()
        current = None if parent is None else parent.parent
    if current is None:
        return []
    path.append(block)
    path.reverse()
    for number, inner in enumerate(path[1:], start=1):
        if not isinstance(inner.parent_op(), scf.IfOp):
            return path[:number]
    return path


def common_block(paths: Sequence[Sequence[Block]]) -> Block | None:
    """Returns the last block that all paths go through, or `None` when there is no path, or an empty one."""
    if not paths or not all(paths):
        return None
    common: Block | None = None
    for blocks in zip(*paths, strict=False):
        if any(block is not blocks[0] for block in blocks):
            break
        common = blocks[0]
    return common


def lowest_common_scope(op: Operation) -> Block | None:
    """
    Returns the innermost block that holds all uses of `op`, or `None` without uses, or with one in another region tree.
    """
    block = op.parent
    if block is None:
        return None
    users = list(dict.fromkeys(use.operation for result in op.results for use in result.uses))
    return common_block([branch_path(block, user) for user in users])


def ancestor_in(block: Block, op: Operation) -> Operation | None:
    """Returns `op`, or the op around it that is directly in `block`."""
    current: Operation | None = op
    while current is not None and current.parent is not block:
        current = current.parent_op()
    return current
