"""The times at which buffers are alive: a clock over the ops of a function, those in regions included."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue


class Clock:
    """
    A time for every op of `block`: when it starts, and when the last op in its regions has ended.

    Branches have times of their own, one after the other. A loop runs its body again: what it reads from outside is
    alive until its end.
    """

    def __init__(self, block: Block):
        self.start: dict[Operation, int] = {}
        self.end: dict[Operation, int] = {}
        self._position: dict[Operation, int] = {}
        time = 0
        stack: list[tuple[Operation, bool]] = [(op, False) for op in reversed(list(block.ops))]
        while stack:
            op, is_done = stack.pop()
            if is_done:
                self.end[op] = time
                time += 1
                continue
            self.start[op] = time
            inner = [each for region in op.regions for b in region.blocks for each in b.ops]
            if not inner:
                self.end[op] = time
            else:
                stack.append((op, True))
                stack += [(each, False) for each in reversed(inner)]
            time += 1

    def last_use(self, value: SSAValue, block: Block) -> int:
        """Returns when the last op has read `value`, whose buffer is made in `block`, or -1 without uses."""
        return max((self._use(use.operation, block) for use in value.uses), default=-1)

    def _use(self, user: Operation, block: Block) -> int:
        time = self.start[user]
        while user.parent_block() is not block and (around := user.parent_op()) in self.start:
            assert around is not None
            user = around
            if not isinstance(user, scf.IfOp):
                time = self.end[user]
        return time
