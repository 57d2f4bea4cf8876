"""
Ops that make groups of a fusion plan alike, and change no value.

A layer whose zero point is 0 has lost an addition that the same layer elsewhere in the net has. Where groups differ in
such ops only, each gets those of the others with numbers that are neutral: x + -0.0, x - 0, x * 1. They then share a
function, for an instruction or two on each element. What is neutral is so for all bits, the sign of a zero included.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import field
from functools import cache
from math import prod
from typing import Any, Final

from xdsl.dialects.builtin import IntegerType, TensorType, UnitAttr
from xdsl.ir import Operation, SSAValue

from ...core.ir.structural_hash import Texts
from ...core.messages.locations import copy_location
from ...core.roles import APART
from ...dialects.graph.binary import AddOp, MultiplyOp, SubtractOp
from ...dialects.graph.constants import ConstantOp
from ...lazy_dataclass import dataclass
from ...patterns.language.constants import is_constant_op, splat_number
from .numbers import ARITHMETIC

NEUTRAL: Final[dict[type[Operation], tuple[int, float]]] = {
    AddOp: (0, -0.0),
    SubtractOp: (0, 0.0),
    MultiplyOp: (1, 1.0),
}
"""The integer and the float that change nothing, as the second operand."""

LEAST_SHARE: Final = 8
"""A tensor of which zeros may take the place has at most one element for so many of what it is subtracted from."""

Kind = tuple[type[Operation], TensorType]
"""A step: what it does, and the type of its second operand."""

Place = tuple[str, int, int]
"""A value that steps begin at: the result of an op that is no step, or an input."""


def make_alike(groups: Sequence[list[Operation]], texts: Texts) -> int:
    """
    Adds neutral steps to those of `groups` that are the same as others but for steps. Returns how many it has added.

    A step adds, subtracts or multiplies by a number without dimensions, or subtracts a small tensor from outside. It is
    the one use of its first operand in the group.
    """
    kinds: dict[tuple[str, ...], list[_Skeleton]] = defaultdict(list)
    for skeleton in map(_Skeleton, groups):
        if skeleton.kept:
            kinds[tuple(op.name for op in skeleton.kept)].append(skeleton)
    added = 0
    for candidates in kinds.values():
        if len({each.form for each in candidates}) == 1:
            continue  # Texts take long, and most groups have the steps of all that could be like them.
        alike: dict[str, list[_Skeleton]] = defaultdict(list)
        for each in candidates:
            alike[each.text(texts)].append(each)
        for same in alike.values():
            if len({each.form for each in same}) > 1:
                wanted = _union(same)
                added += sum(each.fill(wanted) for each in same)
    return added


def _union(same: Sequence[_Skeleton]) -> dict[Place, tuple[Kind, ...]]:
    """Returns the steps that hold those of all groups in their order, for each place."""
    found: dict[Place, tuple[Kind, ...]] = {}
    for form in dict.fromkeys(each.form for each in same):
        for place, kinds in form:
            found[place] = _merged(found.get(place, ()), kinds)
    return found


@cache
def _merged(first: tuple[Kind, ...], second: tuple[Kind, ...]) -> tuple[Kind, ...]:
    """Returns the shortest sequence that holds both in their order."""
    if not first or not second:
        return first or second
    if first[0] == second[0]:
        return (first[0], *_merged(first[1:], second[1:]))
    ways = ((first[0], *_merged(first[1:], second)), (second[0], *_merged(first, second[1:])))
    return min(ways, key=len)


@dataclass
class _Skeleton:
    """A group as the ops that are no steps, and the steps that follow each value."""

    ops: list[Operation]
    kept: list[Operation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._inside = set(self.ops)
        self._origin: dict[SSAValue, SSAValue] = {}
        """The value that the steps before this one begin at."""
        self._steps: dict[SSAValue, list[Operation]] = defaultdict(list)
        for op in self.ops:
            if self._is_step(op):
                first = op.operands[0]
                origin = self._origin[op.results[0]] = self._origin.get(first, first)
                self._steps[origin].append(op)
            else:
                self.kept.append(op)
        self._places: dict[SSAValue, Place] = {}
        for number, op in enumerate(self.kept):
            for value in op.operands:
                self._place(value)
            for result in op.results:
                self._places[result] = ("result", number, result.index)
        for origin in self._steps:
            self._place(origin)
        steps = {self._places[origin]: tuple(map(_kind, ops)) for origin, ops in self._steps.items()}
        self.form = tuple(sorted(steps.items(), key=lambda item: item[0]))

    def _place(self, value: SSAValue) -> Place:
        origin = self._origin.get(value, value)
        if origin not in self._places:
            self._places[origin] = ("input", len(self._places), 0)
        return self._places[origin]

    def _is_step(self, op: Operation) -> bool:
        if type(op) not in NEUTRAL or op.results[0].type != op.operands[0].type or op.attributes:
            return False
        first, second = op.operands
        if self._use(first) is None or second is first:
            return False
        return _is_number(second) or (type(op) is SubtractOp and self._is_small(second, first))

    def _is_small(self, value: SSAValue, beside: SSAValue) -> bool:
        """Returns whether a tensor is from outside and has a fraction of the elements of another one."""
        if value.owner in self._inside or not isinstance(value.type, TensorType):
            return False
        assert isinstance(beside.type, TensorType)
        sizes, others = value.type.get_shape(), beside.type.get_shape()
        return min((*sizes, *others), default=0) >= 0 and prod(sizes) * LEAST_SHARE <= prod(others)

    def _use(self, value: SSAValue) -> tuple[Operation, int] | None:
        """Returns the one use of a value in the group, or `None` where there are none or several."""
        found = [(use.operation, use.index) for use in value.uses if use.operation in self._inside]
        return found[0] if len(found) == 1 else None

    def text(self, texts: Texts) -> str:
        """Returns what the ops that are no steps say, which is the same for groups that differ in steps only."""
        lines: list[str] = []
        for op in self.kept:
            own: Any = getattr(op, "normal_properties", None)
            named = [*(op.properties if own is None else own()).items(), *op.attributes.items()]
            said = sorted(f"{name}={texts.text(value)}" for name, value in named)
            operands = [self._said(op, value, texts) for value in op.operands]
            results = [texts.text(result.type) for result in op.results]
            regions = str(op) if op.regions else ""
            lines.append(repr((op.name, said, operands, results, regions)))
        outside = [
            (self._place(value), self._count(value))
            for op in self.ops
            for value in op.results
            if any(use.operation not in self._inside for use in value.uses)
        ]
        return "\n".join([*lines, repr(outside)])

    def _said(self, op: Operation, value: SSAValue, texts: Texts) -> str:
        """Returns what tells an operand of `op` from others. A number that may be a parameter is like any other."""
        place = self._place(value)
        number = splat_number(value) if _is_constant(value) else None
        is_open = isinstance(op, ARITHMETIC) and _is_number(value)
        return f"{place if number is None or is_open else repr(number)} {texts.text(value.type)}"

    def _count(self, value: SSAValue) -> bool:
        """Returns whether the steps end with `value`, where it is not what they begin at."""
        return value in self._origin and self._use(value) is None

    def fill(self, wanted: dict[Place, tuple[Kind, ...]]) -> int:
        """Adds the steps that are `wanted` and missing, where all of them can be. Returns how many it has added."""
        origins = {place: origin for origin, place in self._places.items()}
        missing: list[tuple[SSAValue, tuple[Kind, ...], list[Operation]]] = []
        for place, kinds in wanted.items():
            origin = origins.get(place)
            steps = [] if origin is None else self._steps.get(origin, [])
            if origin is None or self._use(origin) is None or not _is_within(list(map(_kind, steps)), kinds):
                return 0
            missing.append((origin, kinds, steps))
        return sum(self._fill(*each) for each in missing)

    def _fill(self, value: SSAValue, kinds: Sequence[Kind], steps: Sequence[Operation]) -> int:
        """Adds steps after `value`, so that they are `kinds`. Returns how many it has added."""
        added, waiting = 0, list(steps)
        for kind in kinds:
            if waiting and _kind(waiting[0]) == kind:
                value = waiting.pop(0).results[0]
                continue
            use = self._use(value)
            if use is None:
                return added
            value = self._insert(kind, value, *use)
            added += 1
        return added

    def _insert(self, kind: Kind, value: SSAValue, user: Operation, index: int) -> SSAValue:
        """Puts a neutral step between `value` and an op that uses it, and returns its result."""
        make, type_ = kind
        number = NEUTRAL[make][0 if isinstance(type_.element_type, IntegerType) else 1]
        constant = ConstantOp.from_values([number], type_)
        if type_.get_shape():
            constant.attributes[APART] = UnitAttr()
        step = make(value, constant.results[0])  # pyright: ignore[reportCallIssue]
        for each in (constant, step):
            copy_location(user, each)
        block = user.parent
        assert block is not None
        block.insert_op_before(constant, self.ops[0])
        block.insert_op_before(step, user)
        user.operands[index] = step.results[0]
        self.ops.insert(self.ops.index(user), step)
        self._inside.add(step)
        return step.results[0]


def _kind(step: Operation) -> Kind:
    type_ = step.operands[1].type
    assert isinstance(type_, TensorType)
    return type(step), type_


def _is_number(value: SSAValue) -> bool:
    """Returns whether a value is a constant number without dimensions, not a NaN."""
    if not isinstance(value.type, TensorType) or value.type.get_shape() or not _is_constant(value):
        return False
    number = splat_number(value)
    return number is not None and number == number


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and is_constant_op(value.owner)


def _is_within(found: Sequence[Kind], wanted: Sequence[Kind]) -> bool:
    """Returns whether the steps `found` are among those that are `wanted`, in the same order."""
    rest = iter(wanted)
    return all(any(each == other for other in rest) for each in found)
