"""
The post-dominator tree of the ops of one block. It tells where everything that is computed from a value meets again.

Source: K. Cooper, T. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm", 2001. On a graph without cycles one walk
from the last op to the first is enough. Common ancestors are found by jump pointers (E. Myers, "An applicative
random-access stack", 1983), so a block of n ops with m uses takes O(n + m log n).
"""

from __future__ import annotations

from xdsl.ir import Block, Operation


class PostDominators:
    """
    The users and the immediate post-dominators of the ops of `block`.

    A use in a nested region counts as a use by the op of `block` that holds it. A use in another block counts as a use
    by the end.
    """

    def __init__(self, block: Block):
        self._ops = list(block.ops)
        self._block = block
        self._numbers = {op: number for number, op in enumerate(self._ops)}
        self._users: list[list[int]] = [self._users_of(op) for op in self._ops]
        end = len(self._ops)
        self._depth = [0] * (end + 1)
        self._parent = [end] * (end + 1)
        self._jump = [end] * (end + 1)
        for number in reversed(range(end)):
            self._attach(number)

    def of(self, op: Operation) -> Operation | None:
        """
        Returns the first op through which every way from `op` leads. It is `None` when that is only the end of the
        block.
        """
        number = self._parent[self._numbers[op]]
        return None if number == len(self._ops) else self._ops[number]

    def users(self, op: Operation) -> list[Operation]:
        """Returns the ops of the block that use a result of `op`, in order, each once."""
        return [self._ops[user] for user in self._users[self._numbers[op]] if user < len(self._ops)]

    def is_used_elsewhere(self, op: Operation) -> bool:
        """Returns whether a result of `op` is used in a block that no op of this one holds."""
        return len(self._ops) in self._users[self._numbers[op]]

    def place(self, op: Operation) -> int:
        """Returns the number of `op` in its block."""
        return self._numbers[op]

    def _users_of(self, op: Operation) -> list[int]:
        found = {self._anchor(use.operation) for result in op.results for use in result.uses}
        return sorted(found)

    def _anchor(self, op: Operation) -> int:
        current: Operation | None = op
        while current is not None and current.parent is not self._block:
            current = current.parent_op()
        return len(self._ops) if current is None else self._numbers[current]

    def _attach(self, number: int) -> None:
        users = self._users[number]
        parent = users[0] if users else len(self._ops)
        for user in users[1:]:
            parent = self._common(parent, user)
        self._parent[number] = parent
        self._depth[number] = self._depth[parent] + 1
        # Skew-binary numbers: the jump of the parent's jump when the two are equally long, else the parent.
        up = self._jump[parent]
        equal = self._depth[parent] - self._depth[up] == self._depth[up] - self._depth[self._jump[up]]
        self._jump[number] = self._jump[up] if equal else parent

    def _common(self, a: int, b: int) -> int:
        """Returns the nearest common ancestor of two numbers."""
        depth, parent, jump = self._depth, self._parent, self._jump
        if depth[a] < depth[b]:
            a, b = b, a
        while depth[a] > depth[b]:
            a = jump[a] if depth[jump[a]] >= depth[b] else parent[a]
        while a != b:
            a, b = (jump[a], jump[b]) if jump[a] != jump[b] else (parent[a], parent[b])
        return a
