"""
Makes contractions with a common operand into one: the work that `combine-parallel-conv2d`, `-dense` and `-batch-matmul`
share.

The other operands are concatenated along an axis. Elementwise ops that follow in every branch are applied to the whole.
Slices of the result take the places of the branches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...analysis.kinds import OpKind
from ...analysis.op_kind import kind_of_op
from ...core.messages.locations import copy_location
from ...dialects.graph.constants import is_constant
from ...dialects.graph.movement import ConcatOp, StridedSliceOp
from ...dialects.traits import is_commutative


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

    def run(self, ops: Sequence[Operation]) -> None:
        """Combines those of `ops`, which are in the order of the program."""
        for op in ops:
            if op.parent is None or (branch := self.branch_of(op)) is None:
                continue
            group = self._group(op, branch)
            if len(group) >= max(self._min_branches, 2):
                self.combined += len(group)
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

    def combine(self, group: list[Operation]) -> None:
        """Makes one contraction for all of `group`, before its first, and slices of it or of the ops that follow."""
        place = group[0]
        branches = [branch for op in group if (branch := self.branch_of(op)) is not None]
        axis = branches[0].axis
        weights = concatenated([branch.weight for branch in branches], branches[0].weight_axis, place)
        whole = like(place, [place.operands[0], weights], whole_type(group, axis), place)
        last, gone = group, list(group)
        while (step := _following(last, axis, place)) is not None:
            operands = [
                whole if others is None else _joined(others, axis_of, place) for others, axis_of in step.operands
            ]
            whole = like(step.ops[0], operands, whole_type(step.ops, axis), place)
            last = step.ops
            gone += step.ops
        replace_by_slices(last, whole, axis, place)
        for op in reversed(gone):
            op.detach()
            op.erase()


# What follows a contraction in every branch


@dataclass(frozen=True)
class _Step:
    """The next op of every branch: for each operand the values in all branches and the axis to join them along."""

    ops: list[Operation]
    operands: list[tuple[list[SSAValue] | None, int | None]]
    """
    The operands. `None` for the values stands for the result of the branch, and `None` for the axis for one value that
    all share.
    """


def _following(last: Sequence[Operation], axis: int, place: Operation) -> _Step | None:
    """Returns the elementwise op that follows in every branch, where it can be computed on the whole."""
    users: list[Operation] = []
    for op in last:
        uses = list(op.results[0].uses)
        if len(uses) != 1 or uses[0].operation.parent is not place.parent:
            return None
        users.append(uses[0].operation)
    first = users[0]
    if len(set(users)) < len(users) or not all(_same_step(first, user) for user in users):
        return None
    if any(shape_of(user.results[0]) != shape_of(op.results[0]) for user, op in zip(users, last, strict=True)):
        return None
    orders = [_operands_of(user, op.results[0]) for user, op in zip(users, last, strict=True)]
    operands: list[tuple[list[SSAValue] | None, int | None]] = []
    for number in range(len(first.operands)):
        values = [order[number] for order in orders]
        own = [value is op.results[0] for value, op in zip(values, last, strict=True)]
        if all(own):
            operands.append((None, None))
            continue
        found = None if any(own) else _joint(values, last, axis, place)
        if found is None:
            return None
        operands.append((values, found[0]))
    return _Step(users, operands)


def _same_step(first: Operation, other: Operation) -> bool:
    """Returns whether both are elementwise ops that differ in their operands only."""
    return (
        first.name == other.name
        and first.properties == other.properties
        and first.attributes == other.attributes
        and len(first.operands) == len(other.operands)
        and len(first.results) == 1
        and kind_of_op(other) == OpKind.ELEMENTWISE
        and type_without_sizes(first) == type_without_sizes(other)
    )


def type_without_sizes(op: Operation) -> Attribute:
    """Returns the element type of the first result."""
    type_ = op.results[0].type
    return type_.element_type if isinstance(type_, TensorType) else type_


def _operands_of(user: Operation, value: SSAValue) -> list[SSAValue]:
    """Returns the operands, of a commutative op `value` first."""
    operands = list(user.operands)
    if is_commutative(user) and len(operands) == 2 and operands[1] is value:
        operands.reverse()
    return operands


def _joint(values: list[SSAValue], last: Sequence[Operation], axis: int, place: Operation) -> tuple[int | None] | None:
    """
    Returns the axis along which values of the branches are joined, as a tuple.

    The axis is `None` where all branches have the same value. The result is `None` where there is no axis.
    """
    rank = len(shape_of(values[0]))
    if any(len(shape_of(value)) != rank or not can_come_before(value, place) for value in values):
        return None
    own_axis = axis - (len(shape_of(last[0].results[0])) - rank)
    if own_axis >= 0:
        pairs = list(zip(values, last, strict=True))
        outside = {_without(shape_of(value), own_axis) for value in values}
        if len(outside) == 1 and all(shape_of(value)[own_axis] == shape_of(op.results[0])[axis] for value, op in pairs):
            return (own_axis,)
        if any(shape_of(value)[own_axis] != 1 for value in values):
            return None
    return (None,) if all(value is values[0] for value in values) else None


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def _joined(values: list[SSAValue], axis: int | None, place: Operation) -> SSAValue:
    if axis is None:
        make_available(values[0], place)
        return values[0]
    return concatenated(values, axis, place)


# Making ops


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """Returns the sizes of a tensor, `DYNAMIC_INDEX` for `?`."""
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()


def whole_type(ops: Sequence[Operation], axis: int) -> TensorType:
    """Returns the type of the first results of `ops` next to each other along `axis`."""
    type_ = ops[0].results[0].type
    assert isinstance(type_, TensorType)
    shape = list(type_.get_shape())
    shape[axis] = sum(shape_of(op.results[0])[axis] for op in ops)
    return TensorType(type_.element_type, shape)


def like(op: Operation, operands: Sequence[SSAValue], type_: Attribute, place: Operation) -> SSAValue:
    """Returns the result of an op like `op` on other operands, which is put before `place`."""
    made = type(op).create(
        operands=operands, result_types=[type_], properties=dict(op.properties), attributes=dict(op.attributes)
    )
    return inserted(made, place).results[0]


def replace_by_slices(ops: Sequence[Operation], whole: SSAValue, axis: int, place: Operation) -> None:
    """Replaces the results of `ops` by slices of `whole` along `axis`."""
    start = 0
    for op in ops:
        end = start + shape_of(op.results[0])[axis]
        part = StridedSliceOp(whole, axes=[axis], begin=[start], end=[end], result_types=[op.results[0].type])
        inserted(part, place).results[0].name_hint = op.results[0].name_hint
        op.results[0].replace_all_uses_with(part.results[0])
        start = end


def is_static(value: SSAValue, *axes: int) -> bool:
    """Returns whether the sizes of these axes are known."""
    return all(shape_of(value)[axis] != DYNAMIC_INDEX for axis in axes)


MOST_MOVED = 32
"""The most ops that may be moved to have one value earlier."""


def ops_to_move(value: SSAValue, place: Operation) -> list[Operation] | None:
    """
    Returns the ops that must move before `place` so that `value` is available there, or `None` when they cannot.

    Literals can move, and so can ops that cannot fail and only map or move elements. A contraction never can, so that
    no branch of a group is in the way of another.
    """
    moved: dict[Operation, None] = {}
    stack = [(value, False)]
    while stack:
        current, is_ready = stack.pop()
        owner = current.owner
        if isinstance(owner, Block) or owner in moved or owner.parent is not place.parent:
            continue
        if is_ready:
            moved[owner] = None
            continue
        if owner is place or len(stack) > MOST_MOVED:
            return None
        if owner.is_before_in_block(place):
            continue
        if not is_constant(owner) and (owner.regions or kind_of_op(owner) > OpKind.INJECTIVE):
            return None
        stack.append((current, True))
        stack += [(operand, False) for operand in reversed(owner.operands)]
    return list(moved) if len(moved) <= MOST_MOVED else None


def can_come_before(value: SSAValue, place: Operation) -> bool:
    """Returns whether `value` is, or can be made, available before `place`."""
    return ops_to_move(value, place) is not None


def concatenated(values: Sequence[SSAValue], axis: int, place: Operation) -> SSAValue:
    """Returns the values next to each other along `axis`, made before `place`."""
    for value in values:
        make_available(value, place)
    return inserted(ConcatOp(*values, axis=axis), place).results[0]


def make_available(value: SSAValue, place: Operation) -> None:
    """Moves what `value` is made of before `place` where it comes after it."""
    block = place.parent
    assert block is not None
    for op in ops_to_move(value, place) or ():
        op.detach()
        block.insert_op_before(op, place)


def inserted(op: Operation, place: Operation) -> Operation:
    """Puts `op` before `place`, at its location."""
    block = place.parent
    assert block is not None
    copy_location(place, op)
    block.insert_op_before(op, place)
    return op
