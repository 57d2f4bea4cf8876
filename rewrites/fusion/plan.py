"""
The fusion plan in the IR: attributes of the ops of a function, how they are written, read back and checked.

`graph.group = 3 : i64` says which group an op is in. Numbers belong to one function. `graph.group_reason = "rule"` says
which rule put the op together with those that use it. The op with the result of the group has no reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Block, Operation
from xdsl.traits import IsTerminator

from ...analysis.kinds import OpKind
from ...analysis.op_kind import facts_of_op, kind_of_op
from ...analysis.post_dominators import PostDominators
from ...core.messages.diagnostics import fail
from ...core.roles import GROUP, GROUP_REASON
from ...dialects.traits import LoopSemantics, LoopTemplate, is_pure, may_fail
from ...patterns.language.functions import functions_of, is_closed
from .groups import is_member, looks_up_bytes
from .siblings import UnitOf, obstacle


def planned_functions(module: ModuleOp) -> Iterator[func.FuncOp]:
    """
    Yields the functions that fusion looks into.

    It leaves out functions that are a group already, were partitioned, or are for another compiler. What runs once,
    when a program is loaded, is fused too: a quantised layer has a dozen ops on its scales, which cost as many kernels.
    """
    for function in functions_of(module):
        if not is_closed(function):
            yield function


def blocks_of(function: func.FuncOp) -> Iterator[Block]:
    """Yields every block of a function, nested ones included, in program order."""
    stack = list(reversed(function.regions))
    while stack:
        for block in stack.pop().blocks:
            yield block
            stack.extend(region for op in block.ops for region in op.regions)


def write_group(ops: Sequence[Operation], number: int, reasons: Mapping[Operation, str]) -> None:
    """Marks `ops` as group `number`."""
    attribute = IntegerAttr(number, i64)
    for op in ops:
        op.attributes[GROUP] = attribute
        if (reason := reasons.get(op)) is not None:
            op.attributes[GROUP_REASON] = StringAttr(reason)


def erase_plan(function: func.FuncOp) -> None:
    """Takes the plan out of a function."""
    for op in function.walk():
        op.attributes.pop(GROUP, None)
        op.attributes.pop(GROUP_REASON, None)


def has_plan(function: func.FuncOp) -> bool:
    return any(GROUP in op.attributes for op in function.walk())


def read_plan(function: func.FuncOp) -> list[list[Operation]]:
    """
    Returns the groups of a function in the order of their first op, with their ops in program order.

    Raises `OperationError` at the op where a plan is not valid. The reasons are a group in two blocks, an op that
    cannot be in a group, a group with several results or without one, and groups that need each other.
    """
    groups: dict[int, list[Operation]] = {}
    for block in blocks_of(function):
        for op in block.ops:
            if GROUP in op.attributes:
                groups.setdefault(_number_of(op), []).append(op)
    post_dominators: dict[Block, PostDominators] = {}
    unit_of = {op: ops for ops in groups.values() for op in ops}
    for number, ops in groups.items():
        block = ops[0].parent
        assert block is not None
        if block not in post_dominators:
            post_dominators[block] = PostDominators(block)
        _check_group(number, ops, post_dominators[block], lambda op: unit_of.get(op, (op,)))
    return list(groups.values())


def _number_of(op: Operation) -> int:
    found = op.attributes[GROUP]
    if not isinstance(found, IntegerAttr) or found.value.data < 0:
        fail(op, f"'{GROUP}' is {found}, expected a number such as 3 : i64")
    return found.value.data


def _check_group(number: int, ops: list[Operation], post_dominators: PostDominators, unit_of: UnitOf) -> None:
    for op in ops:
        if op.parent is not ops[0].parent:
            hint = "groups do not reach into branches or loops: give the op another number"
            fail(op, f"group {number} has ops in two blocks", hint=hint)
        if (reason := why_opaque(op)) is not None:
            fail(op, f"cannot be in group {number}: {reason}", hint=f"take '{GROUP}' away from it")
    if len(ops) == 1:
        return
    inside = set(ops)
    root = ops[-1]
    several = False
    for op in ops[:-1]:
        users = post_dominators.users(op)
        outside = [user for user in users if user not in inside]
        used = bool(outside) or post_dominators.is_used_elsewhere(op)
        if used and _is_from_rows(op, ops):
            several = True
        elif used or not users:
            _refuse(number, op, outside, inside, root, post_dominators)
    if several and (op := obstacle(ops, unit_of, post_dominators)) is not None:
        _refuse_together(number, op, inside, post_dominators)


def _is_from_rows(op: Operation, ops: Sequence[Operation]) -> bool:
    """
    Returns whether an op of a group may give a second result: all reductions of the group go over the same rows, and
    both this op and the last one need one of them.
    """
    facts = {each: facts_of_op(each) for each in ops}
    reducing = [each for each in ops if facts[each].kind >= OpKind.REDUCTION]
    rows = {facts[each].rows for each in reducing}
    if len(rows) != 1 or None in rows:
        return False
    after: set[Operation] = set(reducing)
    for each in ops:
        if any(operand.owner in after for operand in each.operands):
            after.add(each)
    return op in after and ops[-1] in after


def _refuse_together(number: int, op: Operation, inside: set[Operation], post_dominators: PostDominators) -> None:
    """Raises the error for an op outside that keeps a group with several results from being one function."""
    if any(user in inside for user in post_dominators.users(op)):
        message = f"group {number} needs '{op.name}', which is outside and needs a result of the group"
        fail(op, message, hint=f"give it the number {number} too, or split the group")
    message = f"'{op.name}' needs a result of group {number} before its last op, and may not move behind that"
    fail(op, message, hint="give the op that it needs another number")


def _refuse(
    number: int,
    op: Operation,
    outside: list[Operation],
    inside: set[Operation],
    root: Operation,
    post_dominators: PostDominators,
) -> None:
    """Raises the error for an op of a group that does not only lead to its root."""
    for user in outside:
        if (back := _way_back(user, inside, root, post_dominators)) is not None:
            fail(
                back,
                f"group {number} needs '{user.name}', which is outside and needs {_shown(op)} of the group",
                hint=f"give '{user.name}' the number {number} too, or {_shown(op)} another one",
            )
    used = bool(outside) or post_dominators.is_used_elsewhere(op)
    why = f"{_shown(op)} is used outside" if used else f"nothing uses {_shown(op)}"
    hint = f"a group has one result, here that of '{root.name}': give the op another number"
    fail(op, f"group {number} has one more result: {why}", hint=hint)


def _way_back(
    user: Operation, inside: set[Operation], root: Operation, post_dominators: PostDominators
) -> Operation | None:
    """Returns the op of the group that is reached from `user`, an op outside, or `None` when there is none."""
    last = post_dominators.place(root)
    seen, pending = {user}, [user]
    while pending:
        for each in post_dominators.users(pending.pop()):
            if each in inside:
                return each
            if each not in seen and post_dominators.place(each) < last:
                seen.add(each)
                pending.append(each)
    return None


def _shown(op: Operation) -> str:
    hint = op.results[0].name_hint if op.results else None
    return f"'{op.name}'" if hint is None else f"%{hint}"


def why_opaque(op: Operation) -> str | None:
    """Returns why `op` cannot be in a group, or `None` when it can."""
    if op.has_trait(IsTerminator, value_if_unregistered=False):
        return "it ends its block"
    if isinstance(op, func.CallOp):
        return "it calls a function, which stays as it is"
    if isinstance(op, LoopSemantics) and not is_pure(op):
        return "it has an effect"
    if may_fail(op):
        return "it may fail at run time"
    if looks_up_bytes(op):
        return "bytes are looked up by the register in a loop of their own"
    if not is_member(op) or (not isinstance(op, LoopSemantics | LoopTemplate) and op.name != "graph.call_kernel"):
        return "it is no computation on tensors"
    if kind_of_op(op) is OpKind.OPAQUE:
        return "nothing is known about which elements it needs"
    return None


__all__ = [
    "GROUP",
    "GROUP_REASON",
    "blocks_of",
    "erase_plan",
    "has_plan",
    "planned_functions",
    "read_plan",
    "why_opaque",
    "write_group",
]
