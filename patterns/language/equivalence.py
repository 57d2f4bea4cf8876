"""
The index behind the condition `equivalent`: it finds ops that compute the same.

Two ops are equivalent when name, operands (in any order for commutative ops), properties in normal form, discardable
attributes, result types and regions are the same. Ops that read memory must also stand in one block with no write
between them. An op that has the attribute `graph.no_cse`, or whose name is in the option `skip`, is equivalent to no
other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsolatedFromAbove

from ...core.ir.dominance import DominatorTree
from ...core.ir.normal_form import normal_properties
from ...core.roles import PROTECTED
from ...dialects.traits import ClosedToLoops, is_commutative, only_reads
from .match import Index, Match, Session
from .registry import condition

Key = tuple[Any, ...]


class Visibility(Index):
    """The blocks where values may be used: those that their block dominates, and those in the regions inside."""

    def __init__(self, session: Session):
        super().__init__(session)
        self._above: dict[Block, Block | None] = {}

    def dominates(self, above: Block | None, below: Block | None) -> bool:
        """Returns whether values of `above` may be used in `below`."""
        while below is not None and below is not above:
            below = self.block_above(below)
        return below is not None

    def block_above(self, block: Block) -> Block | None:
        """Returns the immediate dominator of `block`, or the block of the op around its region."""
        if block not in self._above:
            region = block.parent
            if region is None:
                return None
            holder = region.parent
            outside = None if holder is None else _block_around(holder)
            if region.first_block is region.last_block:
                self._above[block] = outside
            else:
                tree = DominatorTree(region)
                for each in region.blocks:
                    dominator = tree.immediate_dominator(each)
                    self._above[each] = outside if dominator is None else dominator
        return self._above[block]


class EquivalenceIndex(Index):
    """
    The ops seen so far by block and key.

    Keys and attributes are numbered, so that two ops are compared by two small integers. A look-up climbs from the
    block of the op through the blocks that dominate it, out to the isolated op around. Most ops have operands that no
    other op of their name has. Such an op waits without a number.
    """

    def __init__(self, session: Session):
        super().__init__(session)
        self._skipped = frozenset(session.options.get("skip", ()))
        self._attribute_numbers: dict[Attribute, int] = {}
        self._numbers_by_identity: dict[int, tuple[Attribute, int]] = {}
        self._key_numbers: dict[Key, int] = {}
        self._number_of: dict[Operation, int] = {}
        self._members: dict[int, dict[Operation, None]] = {}
        self._seen: set[Operation] = set()
        self._by_block: dict[Block, dict[int, dict[Operation, None]]] = {}
        self._epochs: dict[Block, dict[Operation, int]] = {}
        self._waiting: dict[Key, Operation | None] = {}
        """The op of a name and operands that waits for a second one, `None` once there has been one."""
        self._waits_as: dict[Operation, Key] = {}

    def visited(self, op: Operation) -> None:
        if (rough := self._rough_key(op)) is not None:
            if rough not in self._waiting:
                self._waiting[rough], self._waits_as[op] = op, rough
                self._seen.add(op)
                return
            self._settle(rough, op)
        self._visited(op)

    def _settle(self, rough: Key, op: Operation) -> None:
        """Gives a number to the op that waits for another one of this key, which is `op`."""
        first = self._waiting[rough]
        if first is not None and first is not op:
            self._waiting[rough] = None
            del self._waits_as[first]
            self._visited(first)

    def _visited(self, op: Operation) -> None:
        number = self._number(op)
        if number is None or op.parent is None:
            return
        same = self._by_block.setdefault(op.parent, {}).setdefault(number, {})
        if op not in same:
            same[op] = None
            members = self._members.setdefault(number, {})
            if op in self._seen:  # It changed, so ops that were looked at before may be equal to it now.
                self.session.revisit.extend(members)
            members[op] = None
        self._seen.add(op)

    def inserted(self, op: Operation) -> None:
        if op.parent is not None and not (self.session.purity.is_pure(op) or only_reads(op)):
            self._epochs.pop(op.parent, None)
            for each in op.parent.ops:
                self.forget(each)

    def forget(self, op: Operation) -> None:
        if (rough := self._waits_as.pop(op, None)) is not None:
            del self._waiting[rough]
        number = self._number_of.pop(op, None)
        if number is not None and op.parent is not None:
            same = self._by_block.get(op.parent, {}).get(number, {})
            if op in same:
                del same[op]
                del self._members[number][op]

    def candidates(self, op: Operation) -> Iterator[Operation]:
        """Yields the ops equivalent to `op` in blocks that dominate its own, nearest block first."""
        if (rough := self._rough_key(op)) is not None:
            if rough not in self._waiting:
                return
            self._settle(rough, op)
        number = self._number(op)
        if number is None or not self._members.get(number):
            return
        block = op.parent
        while block is not None:
            same = self._by_block.get(block, {}).get(number)
            for candidate in list(same) if same else ():
                if candidate is not op:
                    yield candidate
            block = self.session.index(Visibility).block_above(block)

    def equivalent(self, first: Operation, second: Operation) -> bool:
        """Returns whether both ops compute the same."""
        number = self._number(first)
        return number is not None and number == self._number(second)

    # Keys

    @staticmethod
    def _rough_key(op: Operation) -> Key | None:
        """Returns what ops that are equal have in common and is found quickly, `None` for one without operands."""
        operands = op._operands  # pyright: ignore[reportPrivateUsage]
        if not operands or op.regions:
            return None
        places = [id(value) for value in operands]
        return (op.name, *(sorted(places) if len(places) > 1 and is_commutative(op) else places))

    def _number(self, op: Operation) -> int | None:
        """Returns the number of the key of `op`, or `None` for an op that is never merged."""
        found = self._number_of.get(op)
        if found is not None:
            return found
        if not op.results or op.name in self._skipped or PROTECTED in op.attributes:
            return None
        memory: tuple[Any, ...] = ()
        if not self.session.purity.is_pure(op):
            if not only_reads(op) or op.parent is None:
                return None
            memory = (op.parent, self._epoch(op))
        key = (*self._key(op, {}), memory)
        number = self._key_numbers.setdefault(key, len(self._key_numbers))
        self._number_of[op] = number
        return number

    def _epoch(self, op: Operation) -> int:
        """Returns how many ops before `op` in its block may write."""
        assert op.parent is not None
        epochs = self._epochs.get(op.parent)
        if epochs is None or op not in epochs:
            epochs, writes = {}, 0
            for each in op.parent.ops:
                epochs[each] = writes
                writes += not (self.session.purity.is_pure(each) or only_reads(each))
            self._epochs[op.parent] = epochs
        return epochs[op]

    def _key(self, op: Operation, inside: dict[Any, int]) -> Key:
        """Returns the key of `op`. Values and blocks that are defined inside it go by the numbers in `inside`."""
        values = op._operands  # pyright: ignore[reportPrivateUsage]
        operands: list[Any] = [self._operand(value, inside) for value in values]
        if len(operands) > 1 and is_commutative(op):
            operands.sort()
        types = [self._attribute_number(result.type) for result in op.results]
        parts: list[Any] = [op.name, tuple(operands), tuple(types)]
        parts.append(self._named_attributes(normal_properties(op)))
        parts.append(self._named_attributes(op.attributes))
        if op.regions:
            parts.append(self._regions_key(op, dict(inside)))
        return tuple(parts)

    @staticmethod
    def _operand(value: SSAValue, inside: dict[Any, int]) -> tuple[int, int]:
        number = inside.get(value)
        return (0, id(value)) if number is None else (1, number)

    def _regions_key(self, op: Operation, inside: dict[Any, int]) -> Key:
        for region in op.regions:
            for block in region.blocks:
                inside[block] = len(inside)
        parts: list[Any] = []
        for region in op.regions:
            parts.append(("region", len(region.blocks)))
            for block in region.blocks:
                for argument in block.args:
                    inside[argument] = len(inside)
                parts.append(tuple(self._attribute_number(argument.type) for argument in block.args))
                for inner in block.ops:
                    parts.append(self._key(inner, inside))
                    parts.append(tuple(inside.get(successor, -1) for successor in inner.successors))
                    for result in inner.results:
                        inside[result] = len(inside)
        return tuple(parts)

    def _named_attributes(self, attributes: Mapping[str, Attribute]) -> Key:
        if not attributes:
            return ()
        return tuple((name, self._attribute_number(attributes[name])) for name in sorted(attributes))

    def _attribute_number(self, attribute: Attribute) -> int:
        """Returns the number of an attribute, the same for equal ones. An object is hashed only once."""
        known = self._numbers_by_identity.get(id(attribute))
        if known is None:
            number = self._attribute_numbers.setdefault(attribute, len(self._attribute_numbers))
            known = self._numbers_by_identity[id(attribute)] = (attribute, number)
        return known[1]


def _block_around(holder: Operation) -> Block | None:
    """Returns the innermost block around the regions of `holder` whose values may be used inside them."""
    if holder.has_trait(IsolatedFromAbove, value_if_unregistered=True):
        return None
    block = holder.parent
    while holder.has_trait(ClosedToLoops, value_if_unregistered=False) and block is not None:
        around = block.parent_op()
        if around is None or around.has_trait(IsolatedFromAbove, value_if_unregistered=True):
            break
        block = around.parent
    return block


def _candidates(match: Match, op: Operation) -> Iterator[Operation]:
    return match.session.index(EquivalenceIndex).candidates(op)


@condition("equivalent", candidates=_candidates)
def equivalent(match: Match, first: Operation, second: Operation) -> bool:
    """
    Both ops compute the same: same name, operands, properties, attributes, types and regions, and no effect (or only
    reads, with no write between). Finds the first op by the second.
    """
    return match.session.index(EquivalenceIndex).equivalent(first, second)


@condition("available")
def available(match: Match, first: Operation, second: Operation) -> bool:
    """The results of the first op may be used where the second op is: its block dominates, or it comes before."""
    if first.parent is second.parent:
        return match.session.index(BlockOrder).before(first, second)
    return match.session.index(Visibility).dominates(first.parent, second.parent)


class BlockOrder(Index):
    """
    Positions of ops in their blocks.

    A new op gets a number between those of its neighbours. A block is numbered again only when there is none left.
    """

    def __init__(self, session: Session):
        super().__init__(session)
        self._positions: dict[Block, dict[Operation, float]] = {}

    def inserted(self, op: Operation) -> None:
        positions = None if op.parent is None else self._positions.get(op.parent)
        if positions is None:
            return
        before, after = op.prev_op, op.next_op
        while after is not None and after not in positions:  # Other new ops have no position yet.
            after = after.next_op
        low = positions.get(before) if before is not None else -1.0
        high = positions.get(after) if after is not None else None
        if low is not None and high is None:
            high = low + 2.0 if after is None else None
        if low is None or high is None or not low < (low + high) / 2 < high:
            del self._positions[op.parent]  # pyright: ignore
        else:
            positions[op] = (low + high) / 2

    def position(self, op: Operation) -> float:
        """Returns a number that grows along the block of `op`."""
        block = op.parent
        assert block is not None
        positions = self._positions.get(block)
        if positions is None or op not in positions:
            positions = self._positions[block] = {each: float(number) for number, each in enumerate(block.ops)}
        return positions[op]

    def before(self, first: Operation, second: Operation) -> bool:
        """Returns whether `first` comes before `second` in the block of both."""
        self.position(first)
        end = self.position(second)  # This may number the block again, and the first op with it.
        return self.position(first) < end

    def ordered(self, ops: list[Operation]) -> list[Operation]:
        """
        Returns `ops` sorted block by block. Blocks are in order of appearance, and the ops of a block in its order.
        """
        if len(ops) < 2:
            return ops
        blocks = {block: number for number, block in enumerate(dict.fromkeys(op.parent for op in ops))}
        for op in ops:
            if op.parent is not None:
                self.position(op)
        return sorted(ops, key=lambda op: (blocks[op.parent], 0.0 if op.parent is None else self.position(op)))
