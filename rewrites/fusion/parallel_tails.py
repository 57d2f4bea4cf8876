"""
What follows contractions that are made into one: the elementwise ops of all branches are applied to the whole. Makes
the ops that combining takes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...analysis.kinds import OpKind
from ...analysis.op_kind import kind_of_op
from ...core.messages.diagnostics import emit_remark, remarks_wanted
from ...core.messages.locations import copy_location
from ...core.messages.origins import fuse
from ...dialects.graph.constants import is_constant
from ...dialects.graph.movement import ConcatOp, ExpandDimsOp, StridedSliceOp
from ...dialects.traits import is_commutative
from ...lazy_dataclass import dataclass

Joined = Callable[[], SSAValue]
"""Makes the value that takes the place of one value per branch."""


class Arrangement(ABC):
    """The order of the results of branches in one tensor, which is made before `place`."""

    def __init__(self, place: Operation):
        self.place = place

    @abstractmethod
    def whole_type(self, ops: Sequence[Operation]) -> TensorType:
        """Returns the type of the tensor that holds the first results of `ops`."""

    @abstractmethod
    def joined(self, values: list[SSAValue], last: Sequence[Operation]) -> Joined | None:
        """
        Returns what makes one value of those that stand beside the results of `last` as operands of an elementwise op,
        or `None` where there is no such value.
        """


class SideBySide(Arrangement):
    """The results lie next to each other along `axis`."""

    def __init__(self, place: Operation, axis: int):
        super().__init__(place)
        self._axis = axis

    def whole_type(self, ops: Sequence[Operation]) -> TensorType:
        return whole_type(ops, self._axis)

    def joined(self, values: list[SSAValue], last: Sequence[Operation]) -> Joined | None:
        found = _joint(values, last, self._axis, self.place)
        return None if found is None else lambda: _joined(values, found[0], self.place)


class Stacked(Arrangement):
    """The results, which have one shape, lie behind each other along a new first axis."""

    def whole_type(self, ops: Sequence[Operation]) -> TensorType:
        type_ = ops[0].results[0].type
        assert isinstance(type_, TensorType)
        return TensorType(type_.element_type, [len(ops), *type_.get_shape()])

    def joined(self, values: list[SSAValue], last: Sequence[Operation]) -> Joined | None:
        if not all(can_come_before(value, self.place) for value in values):
            return None
        if all(value is values[0] for value in values):
            return lambda: _joined(values, None, self.place)
        if len({shape_of(value) for value in values}) > 1:
            return None
        missing = len(shape_of(last[0].results[0])) - len(shape_of(values[0]))
        return lambda: stacked(values, missing, self.place)


def stacked(values: Sequence[SSAValue], missing: int, place: Operation) -> SSAValue:
    """Returns the values behind each other along a new first axis, after which come `missing` axes of size 1."""
    parts: list[SSAValue] = []
    for value in values:
        make_available(value, place)
        parts.append(inserted(ExpandDimsOp(value, axis=list(range(missing + 1))), place).results[0])
    return inserted(ConcatOp(*parts, axis=0), place).results[0]


def followed(group: list[Operation], whole: SSAValue, arrangement: Arrangement) -> tuple[list[Operation], SSAValue]:
    """
    Applies the elementwise ops that follow in every branch of `group` to `whole`, the tensor of all branches.

    Returns the last op of every branch that `whole` stands for now, and `whole`.
    """
    last = group
    while (step := _following(last, arrangement)) is not None:
        operands = [whole if make is None else make() for make in step.operands]
        whole = like(step.ops[0], operands, arrangement.whole_type(step.ops), arrangement.place)
        whole.owner.location = fuse(op.location for op in step.ops)  # pyright: ignore[reportAttributeAccessIssue]
        last = step.ops
    if remarks_wanted():
        _remark_on_tail(last, arrangement)
    return last, whole


def erase_chains(last: Sequence[Operation], group: Sequence[Operation]) -> None:
    """Erases the ops from those of `group` to those of `last`, one user after the other."""
    for end, op in zip(last, group, strict=True):
        chain = [op]
        while chain[-1] is not end:
            chain.append(next(iter(chain[-1].results[0].uses)).operation)
        for each in reversed(chain):
            each.detach()
            each.erase()


def _remark_on_tail(last: Sequence[Operation], arrangement: Arrangement) -> None:
    """Says which op follows in every branch and is not combined."""
    users = [{use.operation for use in op.results[0].uses} for op in last]
    names = {user.name for found in users for user in found}
    if len(names) != 1 or any(len(found) != 1 for found in users) or len(set.union(*users)) < len(last):
        return
    first = next(iter(users[0]))
    if first.results:
        emit_remark(first, f"stays in each of {len(last)} branches whose contractions are combined")


@dataclass(frozen=True)
class _Step:
    """The next op of every branch, and what makes each operand. `None` stands for the result of the branch."""

    ops: list[Operation]
    operands: list[Joined | None]


def _following(last: Sequence[Operation], arrangement: Arrangement) -> _Step | None:
    """Returns the elementwise op that follows in every branch, where it can be computed on the whole."""
    place = arrangement.place
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
    operands: list[Joined | None] = []
    for number in range(len(first.operands)):
        values = [order[number] for order in orders]
        own = [value is op.results[0] for value, op in zip(values, last, strict=True)]
        if all(own):
            operands.append(None)
            continue
        found = None if any(own) else arrangement.joined(values, last)
        if found is None:
            return None
        operands.append(found)
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
