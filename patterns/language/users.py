"""The users of values in program order, kept up to date while the program changes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from heapq import merge

from xdsl.ir import Block, Operation, SSAValue

from .equivalence import BlockOrder
from .match import Index, Session, users_of


class Users(Index):
    """
    The ops that use a value, each once, in program order, as lists by name.

    The lists of a value are made when they are first asked for. They hold users of one block: of a value that several
    blocks use there are none.
    """

    def __init__(self, session: Session):
        super().__init__(session)
        self._order = session.index(BlockOrder)
        self._users: dict[SSAValue, tuple[Block, dict[str, list[Operation]]] | None] = {}

    def of(self, value: SSAValue, names: Iterable[str]) -> Iterator[Operation] | None:
        """
        Returns the users of `value` that are called one of `names`, or all where there are no names.

        It is `None` where several blocks use the value.
        """
        if value not in self._users:
            self._users[value] = self._listed(value)
        found = self._users[value]
        if found is None:
            return None
        by_name = found[1]
        lists = [by_name[name] for name in names or by_name if name in by_name]
        return iter(lists[0]) if len(lists) == 1 else merge(*lists, key=self._order.position)

    def _listed(self, value: SSAValue) -> tuple[Block, dict[str, list[Operation]]] | None:
        users = users_of((value,))
        blocks = {user.parent for user in users}
        block = blocks.pop() if len(blocks) == 1 else None
        if block is None:
            return None
        by_name: dict[str, list[Operation]] = {}
        for user in self._order.ordered(users):
            by_name.setdefault(user.name, []).append(user)
        return block, by_name

    def linked(self, op: Operation) -> None:
        for value in dict.fromkeys(op.operands):
            found = self._users.get(value)
            if found is None:
                self._users.pop(value, None)  # Of users in several blocks one may have gone.
                continue
            block, by_name = found
            if op.parent is not block:
                self._users[value] = None
                continue
            users = by_name.setdefault(op.name, [])
            place = self._place(users, op)
            if place == len(users) or users[place] is not op:
                users.insert(place, op)

    def unlinked(self, op: Operation) -> None:
        for value in dict.fromkeys(op.operands):
            found = self._users.get(value)
            if found is None or op.parent is not found[0]:
                continue
            users = found[1].get(op.name, [])
            place = self._place(users, op)
            if place < len(users) and users[place] is op:
                del users[place]

    def _place(self, users: list[Operation], op: Operation) -> int:
        position = self._order.position
        return bisect_left(users, position(op), key=position)


__all__ = ["Users"]
