"""Dominator tree of the blocks of a region, by the iterative algorithm of Cooper, Harvey and Kennedy (2001)."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Region


class DominatorTree:
    """
    Block `a` dominates block `b` when every path from the entry block to `b` passes `a`.

    Source: K. Cooper, T. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm", figure 3.
    """

    def __init__(self, region: Region):
        self._postorder = _postorder(region)
        self._number = {block: index for index, block in enumerate(self._postorder)}
        self.unreachable = [block for block in region.blocks if block not in self._number]
        """Blocks that no path from the entry reaches, in program order; they are not in the tree."""
        self._parent = self._immediate_dominators()
        self._children: dict[Block, list[Block]] = {block: [] for block in self._postorder}
        for block in region.blocks:
            parent = self.immediate_dominator(block)
            if parent is not None:
                self._children[parent].append(block)

    def children(self, block: Block) -> list[Block]:
        """The blocks whose immediate dominator is `block`, in program order."""
        return self._children[block]

    def immediate_dominator(self, block: Block) -> Block | None:
        """Returns the closest strict dominator, or `None` for the entry and for unreachable blocks."""
        number = self._number.get(block)
        if number is None or number == len(self._postorder) - 1:
            return None
        return self._postorder[self._parent[number]]

    def dominates(self, above: Block, below: Block) -> bool:
        """Returns whether `above` dominates `below`. A block dominates itself."""
        block: Block | None = below
        while block is not None:
            if block is above:
                return True
            block = self.immediate_dominator(block)
        return False

    def _immediate_dominators(self) -> list[int]:
        """The immediate dominator of each block by postorder number, the entry its own."""
        entry = len(self._postorder) - 1
        predecessors: list[list[int]] = [[] for _ in self._postorder]
        for number, block in enumerate(self._postorder):
            for successor in successors(block):
                # A branch out of the region is an error that others report.
                if successor in self._number:
                    predecessors[self._number[successor]].append(number)
        parent = [-1] * len(self._postorder)
        parent[entry] = entry
        changed = True
        while changed:
            changed = False
            for number in range(entry - 1, -1, -1):
                known = [previous for previous in predecessors[number] if parent[previous] >= 0]
                dominator = known[0]
                for previous in known[1:]:
                    dominator = _meet(parent, dominator, previous)
                if parent[number] != dominator:
                    parent[number] = dominator
                    changed = True
        return parent


def _meet(parent: list[int], left: int, right: int) -> int:
    """The closest common dominator; higher postorder numbers are nearer to the entry."""
    while left != right:
        while left < right:
            left = parent[left]
        while right < left:
            right = parent[right]
    return left


def successors(block: Block) -> tuple[Block, ...]:
    """The blocks that control may go to next."""
    last = block.last_op
    return () if last is None else tuple(last.successors)


def _postorder(region: Region) -> list[Block]:
    """The blocks reachable from the entry, each after its successors, the entry last."""
    entry = region.first_block
    if entry is None:
        return []
    order: list[Block] = []
    seen = {entry}
    stack: list[tuple[Block, Iterator[Block]]] = [(entry, iter(successors(entry)))]
    while stack:
        block, following = stack[-1]
        unseen = next((successor for successor in following if successor not in seen), None)
        if unseen is None:
            order.append(block)
            stack.pop()
        elif unseen.parent is region:
            seen.add(unseen)
            stack.append((unseen, iter(successors(unseen))))
    return order
