"""
Finds the place of the replacement of several ops of one block: after all that it takes, and before all that uses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.ir import Block, Operation, SSAValue

from ...core.ir.walk import op_and_inside
from ..language.equivalence import BlockOrder, Visibility
from ..language.match import Match

# pyright: reportPrivateUsage=false


def place_of_replacement(match: Match, values: Sequence[SSAValue], far: bool) -> Operation | None:
    """
    Returns the op before which the new ops of a match go.

    It is `None` when something that they or `values` need cannot be used there. With `far`, the pattern looks beyond
    the values that the root is computed from, so the order of ops counts too.
    """
    taken = list(_taken(match.new_ops, values))
    block = match.root.parent
    for value in taken:
        home = value.owner.parent if isinstance(value.owner, Operation) else value.owner
        if home is not block and not match.session.index(Visibility).dominates(home, block):
            return None
    roots = match.roots
    if len(roots) == 1 and not far:
        return match.root
    order = match.session.index(BlockOrder)
    if len(roots) == 1:
        return match.root if _all_before(order, taken, match.root) else None
    outside = (value for value in taken if isinstance(value.owner, Operation) and value.owner.parent is not block)
    return place_between(order, roots, taken) if _all_before(order, outside, match.root) else None


def _taken(new_ops: Sequence[Operation], values: Sequence[SSAValue]) -> Iterator[SSAValue]:
    """Yields the values from outside that the new ops and the kept values need."""
    made: set[object] = set()
    for op in new_ops:
        for each in op_and_inside(op):
            made.add(each)
            if each.regions:
                made.update(block for region in each.regions for block in region.blocks)
    for op in new_ops:
        for each in op_and_inside(op):
            yield from [value for value in each._operands if value.owner not in made]
    yield from (value for value in values if value.owner not in made)


def _all_before(order: BlockOrder, values: Iterable[SSAValue], place: Operation) -> bool:
    """Returns whether the makers of `values` come before `place`, or the op around it, where they share a block."""
    for value in values:
        op = value.owner
        if isinstance(op, Operation):
            holder = anchor(place, op.parent)
            if holder is not None and not order.before(op, holder):
                return False
    return True


def place_between(order: BlockOrder, roots: Sequence[Operation], taken: Iterable[SSAValue]) -> Operation | None:
    """
    Returns the op before which something may stand that takes `taken` and replaces `roots`.

    It is the last root, the first root, or the first user of any root. The first of these that will do is taken.
    """
    block = roots[0].parent
    assert block is not None
    in_order = order.ordered(list(roots))
    makers = [op for value in taken if isinstance(op := value.owner, Operation) and op.parent is block]
    uses = (use.operation for root in roots for result in root.results for use in result.uses)
    users = [user for op in uses if (user := anchor(op, block)) is not None and user not in roots]
    before = order.ordered(users)[:1]
    latest = order.ordered(makers)[-1:]
    for place in (in_order[-1], in_order[0], *before):
        after_makers = all(op is not place and order.before(op, place) for op in latest)
        before_users = all(op is place or order.before(place, op) for op in before)
        if after_makers and before_users:
            return place
    return None


def anchor(op: Operation, block: Block | None) -> Operation | None:
    """Returns the op of `block` that is or holds `op`."""
    current: Operation | None = op
    while current is not None and current.parent is not block:
        current = current.parent_op()
    return current


__all__ = ["anchor", "place_between", "place_of_replacement"]
