"""
The numbers in groups of a fusion plan. They are copied into the function of a group, and where groups differ in nothing
else, they are parameters of one function.

The layers of a quantised net are such groups: all have the same ops, and each has scales and zero points of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import field
from functools import lru_cache
from typing import Final

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...core.ir.appending import new_op
from ...core.ir.replacing import erase_op
from ...core.ir.structural_hash import Texts, structural_hash_of_ops
from ...core.messages.locations import copy_location
from ...core.roles import APART
from ...dialects.graph.binary import AddOp, EwiseFmaOp, MultiplyOp, SubtractOp
from ...dialects.graph.constants import ConstantOp, FullOp
from ...dialects.graph.literals import scalar_attribute
from ...dialects.graph.quantisation import DequantizeOp, QuantizeOp, RequantizeOp
from ...dialects.graph.signature import shaped_of
from ...lazy_dataclass import dataclass
from ...patterns.language.constants import is_constant_op, splat_number
from ...patterns.language.functions import captured_values

# pyright: reportPrivateUsage=false

ARITHMETIC: Final = (AddOp, SubtractOp, MultiplyOp, EwiseFmaOp, QuantizeOp, RequantizeOp, DequantizeOp)
"""Ops for which no pass asks what number an operand is. A divisor, say, can be worth a special case."""


class Numbers:
    """The constants of one number that groups use, each with the value of a `graph.full` of the same number."""

    def __init__(self) -> None:
        self._values: dict[SSAValue, Attribute | None] = {}

    def as_full(self, value: SSAValue) -> FullOp | None:
        """
        Returns the constant as a new `graph.full`, or `None` when it is no constant of one number.

        In a loop function such a number is part of the arithmetic instead of a tensor that is read. A NaN stays
        outside, because a number does not keep its bits.
        """
        if value not in self._values:
            self._values[value] = _number_of(value)
        number = self._values[value]
        if number is None:
            return None
        full = new_op(FullOp, (), (value.type,), {"value": number})
        full.results[0].name_hint = value.name_hint
        assert isinstance(value.owner, Operation)
        copy_location(value.owner, full)
        return full


def _number_of(value: SSAValue) -> Attribute | None:
    """Returns the value of the `graph.full` that stands for a constant of one number."""
    assert isinstance(value.owner, Operation)
    if not is_constant_op(value.owner) or not isinstance(value.type, TensorType):
        return None
    number = splat_number(value)
    if number is None or number != number:
        return None
    dtype = shaped_of(value.type, "the number").dtype
    return scalar_attribute(bool(number) if dtype == "i1" else number, dtype)


@dataclass
class Group:
    """
    Ops that become one function, and the numbers among their operands.

    A number is a constant of one number outside. In the group it is a detached `graph.full`.
    """

    ops: list[Operation]
    numbers: Numbers
    fixed: dict[SSAValue, FullOp] = field(default_factory=dict)
    """The constants outside whose numbers are copied into the function, whatever they are."""
    open: list[_Use] = field(default_factory=list)
    """The uses of numbers that may be parameters, each with a `graph.full` of its own."""
    sources: dict[Operation, None] = field(default_factory=dict)
    """What may be unused once the group has a function."""
    key: str = ""
    """What tells apart groups that compute something else, once it is known which numbers are parameters."""

    @staticmethod
    def of(ops: list[Operation], numbers: Numbers) -> Group:
        """Puts a detached `graph.full` in the place of each number that `ops` use, and returns them as a group."""
        group = Group(ops, numbers)
        for op in ops:
            for index, value in enumerate(op._operands):
                if (full := group._number(op, index, value)) is not None:
                    op.operands[index] = full.results[0]
        return group

    def _number(self, op: Operation, index: int, value: SSAValue) -> FullOp | None:
        """Returns the `graph.full` for one operand, or `None` where that is no number."""
        full = self.fixed.get(value)
        is_open = isinstance(op, ARITHMETIC) and isinstance(value.type, TensorType) and not value.type.get_shape()
        if full is not None and not is_open:
            return full
        owner = value.owner
        if (
            not isinstance(owner, Operation)
            or APART in owner.attributes
            or (full := self.numbers.as_full(value)) is None
        ):
            return None
        self.sources[owner] = None
        if is_open:
            self.open.append(_Use(op, index, value, full))
        else:
            self.fixed[value] = full
        return full

    @property
    def copied(self) -> list[FullOp]:
        """The `graph.full` ops that the group uses, in the order of use."""
        used = (value.owner for op in self.ops for value in op._operands)
        return [each for each in dict.fromkeys(used) if isinstance(each, FullOp) and each.parent is None]


@dataclass
class _Use:
    """An operand that is a number."""

    op: Operation
    index: int
    value: SSAValue
    full: FullOp

    @property
    def number(self) -> str:
        """The number as a text: 0.0 and -0.0 are two."""
        return repr(splat_number(self.value))

    def put(self, value: SSAValue) -> None:
        """Makes `value` the operand in place of the `graph.full`."""
        self.op.operands[self.index] = value
        erase_op(self.full)


def open_numbers(groups: Sequence[Group], texts: Texts) -> None:
    """
    Takes those numbers out of `groups` again in which groups differ that are otherwise the same.

    These groups then have the same ops and inputs, so that they share a function. In a group that is like no other, and
    where all such groups have the same number, the number stays.
    """
    outside = _Outside()
    alike: dict[str, list[Group]] = defaultdict(list)
    for group in groups:
        group.key = _hash(group, texts)
        alike[group.key].append(group)
    for same in alike.values():
        columns: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for column, uses in enumerate(zip(*(group.open for group in same), strict=True)):
            columns[(str(uses[0].value.type), *(use.number for use in uses))].append(column)
        for (_, *numbers), places in columns.items():
            differs = len(set(numbers)) > 1
            for group in same if differs or len(places) > 1 else ():
                first, *others = (group.open[place] for place in places)
                value = outside.of(first.value, group) if differs else first.full.results[0]
                for use in (first, *others) if differs else others:
                    use.put(value)


class _Outside:
    """The constants outside of groups that are parameters of their functions. Equal ones are one op of a block."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], list[SSAValue]] = defaultdict(list)
        self._used: dict[int, set[SSAValue]] = {}
        """The operands of groups, by the identity of the group."""
        self._first: dict[Block, Operation] = {}
        """What was the first op of each block."""
        self._moved = set[SSAValue]()

    def of(self, value: SSAValue, group: Group) -> SSAValue:
        """
        Returns the number `value` as a constant tensor that the group does not use.

        Numbers that are equal by chance are two inputs too, since they are in the other groups.
        """
        number, block = splat_number(value), group.ops[0].parent
        assert number is not None and block is not None and isinstance(value.type, TensorType)
        used = self._used.get(id(group))
        if used is None:
            used = self._used[id(group)] = {operand for op in group.ops for operand in op._operands}
        found = self._found[block, repr(number), value.type]
        for each in found:
            if each not in used:
                self._move_up(each, block)
                used.add(each)
                return each
        assert isinstance(value.owner, Operation)
        if not isinstance(value.owner, ConstantOp) or value.owner.parent is not block or value in used:
            constant = new_op(ConstantOp, (), (value.type,), {"value": _elements(number, repr(number), value.type)})
            constant.results[0].name_hint = value.name_hint
            copy_location(value.owner, constant)
            block.insert_op_before(constant, group.ops[0])
            value = constant.results[0]
        found.append(value)
        used.add(value)
        return value

    def _move_up(self, value: SSAValue, block: Block) -> None:
        """Moves a constant to the start of its block, where every group can use it."""
        assert isinstance(value.owner, Operation) and block.first_op is not None
        first = self._first.setdefault(block, block.first_op)
        if value.owner is not first and value not in self._moved:
            self._moved.add(value)
            value.owner.detach()
            block.insert_op_before(value.owner, first)


@lru_cache(4096)
def _elements(number: float, _shown: str, type_: TensorType) -> Attribute:
    """Returns the value of a `graph.constant` of one number. 0.0 and -0.0 are two, as they are shown."""
    return ConstantOp.from_values([number], type_).properties["value"]


def _hash(group: Group, texts: Texts) -> str:
    """
    A hash of a group, the same whatever its open numbers are.

    Where another group has a tensor in the place of such a number, as the first turn of a loop may, the two differ.
    """
    masked = {use.full for use in group.open}
    ops = [*(full for full in group.copied if full not in masked), *group.ops]
    places = {op: place for place, op in enumerate(group.ops)}
    open_ = " ".join(f"{places[use.op]}.{use.index}" for use in group.open)
    return f"{structural_hash_of_ops(ops, captured_values(ops), texts)} {open_}"
