"""
Groups with several results: reductions of one tensor that none of the others needs, and what may join them.

A group with one result is computed where that stands. One with several is computed where the last one stands, and what
needs an earlier one moves behind it. So it must not need anything that needs it, and what moves must have no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xdsl.ir import Operation, SSAValue

from ...analysis.kinds import OpKind
from ...analysis.op_kind import kind_of_op
from ...analysis.post_dominators import PostDominators
from ...analysis.reduced_rows import without_ones
from ...dialects.graph.calls import CallKernelOp
from ...dialects.traits import LoopSemantics, may_fail
from .groups import Group, Groups, shape_of_value

UnitOf = Callable[[Operation], Sequence[Operation]]
"""Tells the ops that are computed together with one: those of its group, or itself."""


def obstacle(ops: Sequence[Operation], unit_of: UnitOf, found: PostDominators, *, far: bool = True) -> Operation | None:
    """
    Returns an op outside that keeps `ops` from being computed where the last of them stands, or `None`.

    It needs one of them and is needed by another, or it stands before the last, needs one and may not move. Without
    `far`, what comes after the last is known to lead to none of them.
    """
    inside = set(ops)
    last = max(found.place(op) for op in ops)
    pending = [user for op in ops for user in found.users(op) if user not in inside]
    seen: set[Operation] = set()
    while pending:
        op = pending.pop()
        if op in seen or (not far and found.place(op) > last):
            continue
        unit = unit_of(op)
        seen.update(unit)
        for each in unit:
            if found.place(each) < last and not may_move(each):
                return each
            users = found.users(each)
            if any(user in inside for user in users):
                return each
            pending += [user for user in users if user not in seen]
    return None


def may_move(op: Operation) -> bool:
    """Returns whether `op` may stand later in its block: it computes tensors and cannot fail."""
    if isinstance(op, CallKernelOp):
        return kind_of_op(op) is not OpKind.OPAQUE
    return isinstance(op, LoopSemantics) and not op.regions and not may_fail(op)


def are_siblings(groups: Groups, first: Group, second: Group) -> bool:
    """
    Returns whether two groups reduce one tensor, the reductions of each need no result of the other, and both may be
    computed together.
    """
    if not tensors_of(first) & tensors_of(second):
        return False
    if any(not _is_used(groups, op) for op in (*first.results, *second.results)):
        return False
    if _reduces_result_of(groups, first, second) or _reduces_result_of(groups, second, first):
        return False
    return _may_join(groups, first, second)


def tensors_of(group: Group) -> set[SSAValue]:
    """Returns the values from outside that have an element per element of the rows that a group reduces."""
    if group.rows is None:
        return set()
    own, space = {result for op in group.ops for result in op.results}, group.rows.space
    used = {value for op in group.ops for value in op.operands}
    return {value for value in used - own if without_ones(shape_of_value(value)) == space}


def _is_used(groups: Groups, op: Operation) -> bool:
    return bool(groups.post_dominators.users(op)) or groups.post_dominators.is_used_elsewhere(op)


def _reduces_result_of(groups: Groups, first: Group, second: Group) -> bool:
    """Returns whether a reduction of `second` needs what `first` computes, by way of ops of `second`."""
    members = set(second.ops)
    pending = [user for op in first.results for user in groups.post_dominators.users(op) if user in members]
    seen: set[Operation] = set()
    while pending:
        op = pending.pop()
        if op in seen:
            continue
        if groups.facts[op].kind >= OpKind.REDUCTION:
            return True
        seen.add(op)
        pending += [user for user in groups.post_dominators.users(op) if user in members]
    return False


def _may_join(groups: Groups, first: Group, second: Group) -> bool:
    """Returns whether the ops of two groups can be computed together, and those of every other group still can."""
    together = [*first.ops, *second.ops]
    members = set(together)

    def unit_of(op: Operation) -> Sequence[Operation]:
        if op in members:
            return together
        group = groups.of(op)
        return (op,) if group is None else group.ops

    found = groups.post_dominators
    others = [each for each in groups if len(each.results) > 1 and each is not first and each is not second]
    overlapping = [each for each in others if _overlap(found, each.ops, together)]
    if obstacle(together, unit_of, found, far=bool(overlapping)) is not None:
        return False
    return all(obstacle(each.ops, unit_of, found) is None for each in overlapping)


def _overlap(found: PostDominators, first: Sequence[Operation], second: Sequence[Operation]) -> bool:
    """Returns whether the stretches of the block in which two groups stand have a common part."""
    places, others = [found.place(op) for op in first], [found.place(op) for op in second]
    return min(places) < max(others) and min(others) < max(places)


def pairs(groups: Groups) -> Iterator[tuple[Group, Group]]:
    """Yields two groups with rows at a time that use one tensor, the one whose result comes first before the other."""
    by_tensor: dict[SSAValue, list[Group]] = {}
    for group in groups:
        for tensor in tensors_of(group):
            by_tensor.setdefault(tensor, []).append(group)
    for found in by_tensor.values():
        for number, second in enumerate(found[1:], 1):
            for first in found[:number]:
                yield first, second


def uses_only_inside(groups: Groups, producer: Group, consumer: Group) -> bool:
    """Returns whether all that is computed from the result of `producer` is computed by way of ops of `consumer`."""
    users = groups.post_dominators.users(producer.root)
    elsewhere = groups.post_dominators.is_used_elsewhere(producer.root)
    return bool(users) and not elsewhere and all(groups.of(user) is consumer for user in users)
