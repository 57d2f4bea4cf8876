"""
Makes contractions with a common operand into one: the work that `combine-parallel-conv2d`, `-dense` and `-batch-matmul`
share.

The other operands are concatenated along an axis. Elementwise ops that follow in every branch are applied to the whole.
Slices of the result take the places of the branches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence

from xdsl.ir import Operation, SSAValue

from ...core.messages.diagnostics import emit_remark, remarks_wanted
from ...core.messages.origins import fuse
from ...lazy_dataclass import dataclass
from .parallel_tails import SideBySide, can_come_before, concatenated, erase_chains, followed, like, replace_by_slices


@dataclass(frozen=True)
class Branch:
    """A contraction that may be combined with those of equal `key`."""

    key: Hashable
    weight: SSAValue
    weight_axis: int
    """The axis of `weight` that becomes the axis `axis` of the result."""
    axis: int


class Combiner(ABC):
    """Combines the contractions of a scope. Derived classes choose which and how."""

    def __init__(self, min_branches: int):
        self._min_branches = min_branches
        self.combined = 0
        """The number of contractions that went into others."""

    @abstractmethod
    def branch_of(self, op: Operation) -> Branch | None:
        """Returns how `op` may be combined, or `None` when it may not. Branches share `op.operands[0]`."""

    def obstacle(self, op: Operation) -> str | None:
        """Returns why a contraction of the kind of this class may not be combined. `None` for other ops."""
        return None

    def run(self, ops: Sequence[Operation]) -> None:
        """Combines those of `ops`, which are in the order of the program."""
        for op in ops:
            if op.parent is None:
                continue
            branch = self.branch_of(op)
            if branch is None:
                if remarks_wanted():
                    self._remark(op)
                continue
            group = self._group(op, branch)
            if len(group) >= max(self._min_branches, 2):
                self.combined += len(group)
                group[0].location = fuse(op.location for op in group)  # What is made for the group stands there.
                self.combine(group)

    def _group(self, first: Operation, branch: Branch) -> list[Operation]:
        """Returns `first` and the contractions of its block that can be computed with it, in program order."""
        users = {use.operation for use in first.operands[0].uses if use.operation.parent is first.parent}
        if len(users) < self._min_branches:
            return []
        found = [first]
        op = first.next_op
        while op is not None:
            if op in users and op.operands[0] is first.operands[0]:
                other = self.branch_of(op)
                if other is not None and other.key == branch.key and can_come_before(other.weight, first):
                    found.append(op)
            op = op.next_op
        return found

    def _remark(self, op: Operation) -> None:
        """Says why a contraction is not combined, where there are others with its operand that are not either."""
        reason = self.obstacle(op)
        if reason is None:
            return
        users = {use.operation for use in op.operands[0].uses if use.operation.parent is op.parent}
        alike = [user for user in users if user.operands[0] is op.operands[0] and self.obstacle(user) == reason]
        if len(alike) >= self._min_branches and not any(user.is_before_in_block(op) for user in alike):
            emit_remark(op, f"{len(alike)} contractions of one value are not combined: {reason}")

    def combine(self, group: list[Operation]) -> None:
        """Makes one contraction for all of `group`, before its first, and slices of it or of the ops that follow."""
        place = group[0]
        branches = [branch for op in group if (branch := self.branch_of(op)) is not None]
        axis = branches[0].axis
        weights = concatenated([branch.weight for branch in branches], branches[0].weight_axis, place)
        side_by_side = SideBySide(place, axis)
        whole = like(place, [place.operands[0], weights], side_by_side.whole_type(group), place)
        last, whole = followed(group, whole, side_by_side)
        replace_by_slices(last, whole, axis, place)
        erase_chains(last, group)
