"""
The reads and writes of the buffers of a loop function that hold nothing at first, in program order, and what is known
of the order in which two of them run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import IsTerminator

from ...core.ir.walk import ops_of, walk
from ...core.roles import IN_PLACE, TEMPORARY, UNCHECKED
from ...dialects.tensor_loop import AllocOp, BlockOp, CallOp, FuncOp, LoopOp
from ...dialects.traits import AccessesBoxes
from ...lazy_dataclass import dataclass
from .accesses import Access, Accesses, Path
from .linear import Atom, Form, number
from .races import root_of
from .spans import Span, Touch, touches

VIEWS: Final = (
    memref.SubviewOp,
    memref.ReinterpretCastOp,
    memref.ViewOp,
    memref.CastOp,
    memref.MemorySpaceCastOp,
    memref.CollapseShapeOp,
    memref.ExpandShapeOp,
    memref.AssumeAlignmentOp,
)
"""Ops that give another name to a buffer, or to a part of it."""

SILENT: Final = (*VIEWS, memref.DimOp, memref.DeallocOp)
"""Ops that take a buffer and neither read nor write it."""

ALLOCATIONS: Final = (AllocOp, memref.AllocOp, memref.AllocaOp)
"""Ops that make a buffer."""

Kind = Literal["read", "write", "forget"]
"""What becomes of elements. A call leaves nothing in what it uses as a temporary."""


@dataclass(frozen=True)
class Elements:
    """
    Elements of a buffer: the one at `place` for all values of the atoms `lanes`, which count from 0.

    Atoms of loops in `place` are those of the op that touches the elements.
    """

    place: tuple[Form, ...]
    lanes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Event:
    """An op reads or writes elements of a buffer that holds nothing at first."""

    op: Operation
    buffer: SSAValue
    """What the op is given: the root or a view of it."""
    root: SSAValue
    kind: Kind
    elements: Elements | None
    """The elements of the root, or None where they are not known."""
    path: Path


def has_mark(function: FuncOp, argument: SSAValue, mark: str) -> bool:
    """Returns whether `argument` is an argument of `function` with the attribute `mark`."""
    return (
        isinstance(argument, BlockArgument)
        and function.arg_attrs is not None
        and mark in function.arg_attrs.data[argument.index].data
    )


def empty_arguments(function: FuncOp) -> list[BlockArgument]:
    """Returns the arguments that hold nothing when the function is called."""
    count = len(function.inputs)
    return [
        each
        for each in function.body.block.args
        if (has_mark(function, each, TEMPORARY) if each.index < count else not has_mark(function, each, IN_PLACE))
    ]


def results_of(function: FuncOp) -> list[BlockArgument]:
    """Returns the outputs that a function has to write as a whole: those that are not in place."""
    return [each for each in empty_arguments(function) if each.index >= len(function.inputs)]


def empty_buffers(function: FuncOp) -> list[SSAValue]:
    """Returns the buffers that hold nothing at first: outputs, temporaries, and buffers of the function."""
    return [*empty_arguments(function), *(alloc.results[0] for alloc in ops_of(function, *ALLOCATIONS))]


class Events:
    """Finds the events of one function, whose accesses were found."""

    def __init__(self, function: FuncOp, accesses: Accesses, found: Sequence[Access]):
        self.function, self.accesses = function, accesses
        self.empty = set(empty_buffers(function))
        self._touches: dict[Operation, list[Touch]] = {}
        for access in found:
            if access.touch is not None:
                self._touches.setdefault(access.touch.op, []).append(access.touch)

    def all(self) -> Iterator[Event]:
        """Yields the events in program order. What an op reads comes before what it writes."""
        for op in walk(self.function):
            if isinstance(op, (*SILENT, *ALLOCATIONS, BlockOp, LoopOp, FuncOp)):
                continue
            yield from sorted(self._events_of(op), key=lambda event: event.kind != "read")

    def _events_of(self, op: Operation) -> Iterator[Event]:
        path = self.accesses.paths.get(op)
        if path is None or is_unchecked(op):  # Blocks that are unchecked have not been looked at.
            yield from self._unknown(op, [touch.buffer for touch in touches(op) if touch.is_store])
            return
        if isinstance(op, CallOp):
            yield from self._call(op, path)
        elif isinstance(op, AccessesBoxes):
            yield from self._boxes(op, path)
        elif op in self._touches:
            for touch in self._touches[op]:
                yield from self._touched(op, touch, path)
        elif not op.has_trait(IsTerminator):
            yield from self._unknown(op, op.operands)

    def _touched(self, op: Operation, touch: Touch, path: Path) -> Iterator[Event]:
        root = root_of(touch.buffer)
        if root not in self.empty:
            return
        kinds: list[Kind] = ["write"] if touch.is_store else ["read"]
        if isinstance(op, memref.AtomicRMWOp):
            kinds.append("read")
        for kind in kinds:
            found = self.whole(touch.buffer) if isinstance(op, memref.CopyOp) else self._of_spans(op, touch)
            yield Event(op, touch.buffer, root, kind, self.in_root(touch.buffer, found), path)

    def _boxes(self, op: AccessesBoxes, path: Path) -> Iterator[Event]:
        """Yields what an op on tiles uses and sets. The boxes of its accesses may hold more."""
        assert isinstance(op, Operation)
        for each in op.elements():
            root = root_of(each.buffer)
            if root in self.empty:
                place, lanes = list(map(self.accesses.form, each.indices)), list[int]()
                for dimension, step, size in each.moves:
                    place[dimension] = place[dimension].plus(self._lane(number(size), lanes), step)
                found = self.in_root(each.buffer, Elements(tuple(place), tuple(lanes)))
                yield Event(op, each.buffer, root, "write" if each.is_store else "read", found, path)

    def _of_spans(self, op: Operation, touch: Touch) -> Elements | None:
        """Returns what an access touches. Of a write these are elements that it certainly sets."""
        mask = getattr(op, "mask", None)
        if touch.is_store and mask is not None and not isinstance(mask.owner, vector.CreateMaskOp):
            return None
        place, lanes = list[Form](), list[int]()
        for span in touch.spans:
            length = self.accesses.length(span)
            first = self.accesses.form(span.first)
            if span.open_end and not touch.is_store:
                length = number(lanes_of(op, span))
            lane = self._lane(length, lanes)
            if span.open_end and lane.terms and not touch.is_store:
                end = self.accesses.values.size(span.buffer, span.dimension)
                entry = self.accesses.values.atoms.table[lanes[-1]]
                entry.facts = (*entry.facts, end.plus(first, -1).plus(lane, -1).shifted(-1))
            place.append(first.plus(lane))
        return Elements(tuple(place), tuple(lanes))

    def _lane(self, length: Form, lanes: list[int]) -> Form:
        """Returns a number from 0 to `length - 1`. It is a new atom in `lanes` where there is a choice."""
        if not length.terms and length.constant == 1:
            return number(0)
        atoms = self.accesses.values.atoms
        lane = atoms.add(Atom(0, atoms.bounds(length)[1] - 1, "turn", None))
        (atom,) = lane.terms
        if length.terms:
            atoms.table[atom].facts = (length.plus(lane, -1).shifted(-1),)
        lanes.append(atom)
        return lane

    def _call(self, op: CallOp, path: Path) -> Iterator[Event]:
        """A call reads its inputs, and writes its outputs as a whole."""
        for buffer, kind in called_buffers(op):
            root = root_of(buffer)
            if root in self.empty:
                yield Event(op, buffer, root, kind, self.in_root(buffer, self.whole(buffer)), path)

    def _unknown(self, op: Operation, buffers: Sequence[SSAValue]) -> Iterator[Event]:
        """What other ops do to buffers is not known. They are taken to write some elements."""
        for buffer in buffers:
            root = root_of(buffer)
            if isinstance(buffer.type, MemRefType) and root in self.empty:
                yield Event(op, buffer, root, "write", None, Path((), False))

    def whole(self, buffer: SSAValue) -> Elements | None:
        """Returns all elements of a buffer."""
        kind = buffer.type
        if not isinstance(kind, MemRefType):
            return None
        lanes: list[int] = []
        sizes = (self.accesses.values.size(buffer, dimension) for dimension in range(len(kind.get_shape())))
        return Elements(tuple([self._lane(size, lanes) for size in sizes]), tuple(lanes))

    def in_root(self, buffer: SSAValue, found: Elements | None) -> Elements | None:
        """Returns what elements of a view are in its root, or None where that is not known."""
        while found is not None and isinstance(owner := buffer.owner, VIEWS):
            if isinstance(owner, memref.SubviewOp):
                found = self._shifted(owner, found)
            elif not isinstance(owner, memref.CastOp | memref.MemorySpaceCastOp | memref.AssumeAlignmentOp):
                found = None
            buffer = owner.operands[0]
        return found

    def _shifted(self, view: memref.SubviewOp, found: Elements) -> Elements | None:
        strides = [int(each) for each in view.static_strides.iter_values()]
        if any(each < 1 for each in strides) or len(strides) != len(found.place):
            return None
        dynamic = iter(view.offsets)
        firsts = [next(dynamic) if each == DYNAMIC_INDEX else int(each) for each in view.static_offsets.iter_values()]
        forms = map(self.accesses.form, firsts)
        moved = (first.plus(place, stride) for first, place, stride in zip(forms, found.place, strides, strict=True))
        return Elements(tuple(moved), found.lanes)


def lanes_of(op: Operation, span: Span) -> int:
    """Returns the lanes of a transfer along the dimension of a span."""
    kind = op.vector.type if isinstance(op, vector.TransferWriteOp) else op.results[0].type
    rank = len(span.buffer.type.get_shape())  # pyright: ignore[reportAttributeAccessIssue]
    return kind.get_shape()[span.dimension - rank]  # pyright: ignore[reportAttributeAccessIssue]


def called_buffers(op: CallOp) -> Iterator[tuple[SSAValue, Kind]]:
    """Yields the buffers that a call reads, those that it uses as temporaries, and those that it writes."""
    callee = _callee(op)
    arguments = () if callee is None else callee.body.block.args
    for position, buffer in enumerate(op.operands):
        is_output = position >= len(op.inputs)
        marks = (
            set[str]()
            if callee is None
            else {mark for mark in (TEMPORARY, IN_PLACE) if has_mark(callee, arguments[position], mark)}
        )
        if isinstance(buffer.type, MemRefType):
            if not is_output:
                yield buffer, "forget" if TEMPORARY in marks else "read"
                continue
            if IN_PLACE in marks:
                yield buffer, "read"
            yield buffer, "write"


def _callee(op: CallOp) -> FuncOp | None:
    current: Any = op
    while current is not None and current.name != "builtin.module":
        current = current.parent_op()
    name = op.callee.string_value()
    for each in () if current is None else current.body.block.ops:
        if isinstance(each, FuncOp) and each.sym_name.data == name and len(each.body.block.args) == len(op.operands):
            return each
    return None


def is_unchecked(op: Operation) -> bool:
    """Returns whether the accesses of an op are promised to be right: it is in a block that is `unchecked`."""
    current: Operation | None = op
    while current is not None and not (UNCHECKED in current.attributes and not isinstance(current, LoopOp)):
        current = current.parent_op()
    return current is not None


# Order


@dataclass(frozen=True)
class Order:
    """The order of two ops: the ops that hold them in the innermost block that holds both."""

    first: Operation
    second: Operation
    around: tuple[Operation, ...]
    """The ops around that block, outermost first."""

    def is_before(self) -> bool:
        """Returns whether all of `first` runs before `second`, in one iteration of the loops around."""
        return self.first is not self.second and self.first.is_before_in_block(self.second)


def order_of(first: Operation, second: Operation) -> Order:
    """Returns how two ops of one function lie to each other."""
    one, other = _chain(first), _chain(second)
    depth = 0
    while depth + 1 < min(len(one), len(other)) and _block(one[depth + 1]) is _block(other[depth + 1]):
        depth += 1
        if one[depth] is not other[depth]:
            break
    return Order(one[depth], other[depth], tuple(one[:depth]))


def is_inside(op: Operation, outer: Operation) -> bool:
    """Returns whether `op` is `outer` or inside of it."""
    current: Operation | None = op
    while current is not None and current is not outer:
        current = current.parent_op()
    return current is outer


def _chain(op: Operation) -> list[Operation]:
    """Returns the ops from the function down to `op`."""
    found, current = [op], op.parent_op()
    while current is not None and not isinstance(found[-1], FuncOp):
        found.append(current)
        current = current.parent_op()
    return found[::-1]


def _block(op: Operation) -> Block | None:
    return op.parent_block()
