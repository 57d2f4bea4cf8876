"""Groups of ops while a fusion plan is made: their facts, and what merging them makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from ...analysis.kinds import OpFacts, OpKind
from ...analysis.op_kind import facts_of_op
from ...analysis.post_dominators import PostDominators
from ...analysis.reduced_rows import Rows, Sizes, without_ones
from ...dialects.graph.calls import CallKernelOp
from ...dialects.graph.movement import TakeOp
from ...dialects.graph.signature import shaped_of
from ...dialects.traits import is_pure
from ...lazy_dataclass import dataclass
from ...patterns.language.constants import is_constant_op
from ...te.dtypes import bit_width

TABLE_BYTES = 256

MOST_BETWEEN = 64
"""The most groups between a producer and its post-dominator. Farther apart, the two are not merged."""


@dataclass(eq=False)
class Group:
    """
    Ops that are to be one function. `root` is the last one whose results are used outside, as a rule the only one, and
    all others lead to such ops.
    """

    root: Operation
    kind: OpKind
    rows: Rows | None
    """The rows of the reductions in it. It is `None` when there are none, or one without rows, or different ones."""
    ops: list[Operation] = field(default_factory=list)
    results: list[Operation] = field(default_factory=list)
    """The ops whose results are used outside. There are several in a group of sibling reductions only."""

    def __post_init__(self) -> None:
        self.ops, self.results = [self.root], [self.root]

    @property
    def size(self) -> int:
        return len(self.ops)

    @property
    def shape(self) -> Sizes:
        """The sizes of the result."""
        return sizes_of(self.root)

    @property
    def reduces(self) -> bool:
        return self.kind >= OpKind.REDUCTION


def sizes_of(op: Operation) -> Sizes:
    """Returns the shape of the first result."""
    return shape_of_value(op.results[0])


def shape_of_value(value: SSAValue) -> Sizes:
    """Returns the shape of a tensor, and that of a scalar for any other value."""
    return tuple(value.type.get_shape()) if isinstance(value.type, TensorType) else ()


def merged_kind(kinds: Sequence[OpKind], last: OpKind) -> OpKind:
    """
    Returns the kind of a group from those of its parts. `last` is the kind of the part with the result.

    A reduction with ops after it is `OUT_FUSABLE`. A reduction after maps stays one. A group of maps has the kind of
    its hardest op.
    """
    if any(kind >= OpKind.REDUCTION for kind in kinds):
        return OpKind.OUT_FUSABLE
    return last if last >= OpKind.REDUCTION else max(*kinds, last)


@dataclass
class Groups:
    """The groups of one block, at first one for each op that may be in a group."""

    block: Block
    post_dominators: PostDominators = field(init=False)
    facts: dict[Operation, OpFacts] = field(init=False, default_factory=dict)
    """The facts about every op that may be in a group."""
    _of: dict[Operation, Group] = field(init=False, default_factory=dict)
    _into: dict[Group, Group] = field(init=False, default_factory=dict)
    _kernels: dict[Operation, OpFacts] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.post_dominators = PostDominators(self.block)
        for op in self.block.ops:
            if is_member(op) and (facts := self._facts(op)).kind is not OpKind.OPAQUE and not looks_up_bytes(op):
                self.facts[op] = facts
                self._of[op] = Group(op, facts.kind, facts.rows)

    def _facts(self, op: Operation) -> OpFacts:
        kernel = op.kernel() if isinstance(op, CallKernelOp) else None
        if kernel is None:
            return facts_of_op(op)
        if kernel not in self._kernels:
            self._kernels[kernel] = facts_of_op(op)
        return self._kernels[kernel]

    def of(self, op: Operation | None) -> Group | None:
        """Returns the group that `op` is in, or `None` for an opaque op."""
        found = None if op is None else self._of.get(op)
        if found is None:
            return None
        path: list[Group] = []
        while found in self._into:
            path.append(found)
            found = self._into[found]
        for group in path[:-1]:
            self._into[group] = found
        return found

    def __iter__(self) -> Iterator[Group]:
        """Yields the groups in the order of their roots."""
        return (group for group in self._of.values() if group not in self._into)

    def ops_of(self, group: Group) -> list[Operation]:
        """Returns the ops of one group, its root first."""
        found: dict[Operation, None] = {group.root: None}
        pending = [group.root]
        while pending:
            for operand in pending.pop().operands:
                owner = operand.owner
                if isinstance(owner, Operation) and owner not in found and self.of(owner) is group:
                    found[owner] = None
                    pending.append(owner)
        return list(found)

    def members(self) -> dict[Group, list[Operation]]:
        """Returns the ops of each group in program order, the groups in the order of their first op."""
        found: dict[Group, list[Operation]] = {}
        for op in self._of:
            group = self.of(op)
            assert group is not None
            found.setdefault(group, []).append(op)
        return found

    def between(self, producer: Group, consumer: Group) -> list[Group] | None:
        """
        Returns the groups on the ways from `producer` to `consumer`, where all of them meet.

        It is `None` when an opaque op is on one, or when there are too many.
        """
        found: dict[Group, None] = {}
        pending = [producer.root]
        while pending:
            for user in self.post_dominators.users(pending.pop()):
                group = self.of(user)
                if group is consumer or group in found:
                    continue
                if group is None or len(group.results) > 1 or len(found) == MOST_BETWEEN:
                    return None
                found[group] = None
                pending.append(group.root)
        return list(found)

    def merge(self, parts: Sequence[Group], consumer: Group) -> None:
        """Makes `parts` part of `consumer`."""
        rows = [part.rows for part in (*parts, consumer) if part.reduces]
        consumer.kind = merged_kind([part.kind for part in parts], consumer.kind)
        consumer.rows = rows[0] if rows and all(each == rows[0] for each in rows) else None
        for part in parts:
            consumer.ops += part.ops
            self._into[part] = consumer

    def join(self, first: Group, second: Group) -> None:
        """Makes `first` part of `second`, which comes later, and gives that the results of both."""
        self.merge([first], second)
        second.results = [*first.results, *second.results]


def is_member(op: Operation) -> bool:
    """
    Returns whether `op` may be in a group, leaving its kind aside: it computes tensors, has no effect and is no
    constant.
    """
    tensors = bool(op.results) and all(isinstance(result.type, TensorType) for result in op.results)
    return tensors and is_pure(op) and not is_constant_op(op)


def looks_up_bytes(op: Operation) -> bool:
    """
    Returns whether `op` looks up bytes in a table of all 256. Machines do so for a whole register at once, where its
    loop does nothing else (`lowering/scf/byte_tables.py`).
    """
    if not isinstance(op, TakeOp):
        return False
    table, indices = (shaped_of(value.type, "operand") for value in op.operands)
    return table.shape == (TABLE_BYTES,) and bit_width(table.dtype) == 8 and indices.dtype == "ui8"


__all__ = [
    "Group",
    "Groups",
    "is_member",
    "looks_up_bytes",
    "merged_kind",
    "shape_of_value",
    "sizes_of",
    "without_ones",
]
