"""An order of the ops of a block in which producers come first, as near to the old one as can be."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ...dialects.traits import may_fail
from ...patterns.language.functions import Purity
from ...patterns.matching.groups import anchor


def producers_in(op: Operation, block: Block) -> list[Operation]:
    """Returns the ops of `block` whose results `op`, or an op inside it, uses, each once, in order of use."""
    found: dict[Operation, None] = {}
    values: Sequence[SSAValue] = op.operands
    if op.regions:
        values = [value for each in op.walk() for value in each.operands]
    for value in values:
        owner = value.owner
        if isinstance(owner, Operation):
            around = owner if owner.parent is block else anchor(owner, block)
            if around is not None and around is not op:
                found[around] = None
    return list(found)


def group_order(block: Block, groups: Sequence[Sequence[Operation]], purity: Purity) -> list[Operation] | int:
    """
    An order of the ops of `block` in which each group stands together, at the place of its last op where possible.

    Producers come before users, and ops that may fail or have effects keep their order. Returns the number of a group
    that depends on itself when there is no such order.
    """
    ops = list(block.ops)
    group_of = {op: number for number, group in enumerate(groups) for op in group}
    node_of: dict[Operation, int] = {}
    members: list[list[Operation]] = [list(group) for group in groups]
    place = [0] * len(groups)
    for position, op in enumerate(ops):
        if op in group_of:
            place[group_of[op]] = position
            node_of[op] = group_of[op]
        else:
            node_of[op] = len(members)
            members.append([op])
            place.append(position)
    needs, users = _dependences(block, ops, node_of, len(members), purity)
    ready = [(place[node], node) for node, count in enumerate(needs) if count == 0]
    heapify(ready)
    order: list[Operation] = []
    while ready:
        _, node = heappop(ready)
        order += members[node]
        for user in users[node]:
            needs[user] -= 1
            if needs[user] == 0:
                heappush(ready, (place[user], user))
    if len(order) == len(ops):
        return order
    return _in_a_cycle(needs, users, len(groups))


def _dependences(
    block: Block, ops: Sequence[Operation], node_of: dict[Operation, int], count: int, purity: Purity
) -> tuple[list[int], list[list[int]]]:
    """Returns how many nodes each node waits for, and which wait for it."""
    pairs: dict[tuple[int, int], None] = {}
    ordered: Operation | None = None
    for op in ops:
        for producer in producers_in(op, block):
            pairs[node_of[producer], node_of[op]] = None
        if is_ordered(op, purity):
            if ordered is not None:
                pairs[node_of[ordered], node_of[op]] = None
            ordered = op
    last = node_of[ops[-1]]
    needs, users = [0] * count, [[] for _ in range(count)]
    for node in range(count):  # the terminator stays last
        pairs[node, last] = None
    for before, after in pairs:
        if before != after:
            needs[after] += 1
            users[before].append(after)
    return needs, users


def is_ordered(op: Operation, purity: Purity) -> bool:
    """Returns whether `op` must keep its place among others of its kind: effects and failures keep their order."""
    return any(
        may_fail(each) or not (each.regions or each.has_trait(IsTerminator) or purity.is_pure(each))
        for each in op.walk()
    )


def _in_a_cycle(needs: Sequence[int], users: Sequence[Sequence[int]], groups: int) -> int:
    """Returns a group in a cycle: one that is still left when nodes without users are removed too."""
    left = {node for node, count in enumerate(needs) if count}
    uses = {node: sum(user in left for user in users[node]) for node in left}
    producers: dict[int, list[int]] = {node: [] for node in left}
    for node in left:
        for user in users[node]:
            if user in left:
                producers[user].append(node)
    free = [node for node, count in uses.items() if count == 0]
    while free:
        node = free.pop()
        left.discard(node)
        for producer in producers[node]:
            uses[producer] -= 1
            if uses[producer] == 0:
                free.append(producer)
    return min(node for node in left if node < groups)
