"""The accesses of a function, with what holds where each one runs, and whether it is proven to stay inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Literal

from xdsl.dialects import cf, scf
from xdsl.ir import Block, Operation, SSAValue

from ...core.roles import UNCHECKED
from ...dialects.tensor_loop import BlockOp, InitOp, LoopOp
from ...lazy_dataclass import dataclass
from .linear import Form, number
from .rules import proves
from .spans import Number, Span, Touch, Unchecked, may_touch, touches
from .values import Values

Missing = Literal["low", "high", "length"]
"""What is not proven: that the first index is 0 or more, that the last one is below the end, that the length is not."""


@dataclass(frozen=True)
class Path:
    """What holds at a place of a function."""

    where: tuple[Form, ...]
    """What loops and conditions say."""
    decided: bool
    """`where` is all there is to say about when the place is reached, loops, sizes and asserts aside."""
    asserted: tuple[Form, ...] = ()
    """What asserts say that the program has passed."""
    known: bool = True
    """`asserted` is all that the asserts say."""

    @cached_property
    def facts(self) -> tuple[Form, ...]:
        """Returns all that holds."""
        return (*self.where, *self.asserted)

    @property
    def exact(self) -> bool:
        """Returns whether the facts are all there is to say about when the place is reached, loops and sizes aside."""
        return self.decided and self.known

    def also(self, facts: Iterable[Form], decided: bool = True) -> Path:
        """Returns what holds where `facts` hold as well."""
        return Path((*self.where, *facts), self.decided and decided, self.asserted, self.known)


@dataclass(frozen=True)
class Access:
    """A touch at its place, or an op that can be neither proven nor checked, with the reason."""

    touch: Touch | None
    path: Path
    unchecked: Unchecked | None = None


class Accesses:
    """The accesses of one function, in program order."""

    def __init__(self, values: Values | None = None):
        self.values = Values() if values is None else values
        self.paths: dict[Operation, Path] = {}
        """What holds at each op that `of` has passed."""
        self._missing: dict[tuple[object, ...], tuple[Path, tuple[Missing, ...]]] = {}
        """What is not proven of a span on a path. The tiles of a block share most of their indices."""

    def of(self, function: Operation) -> Iterator[Access]:
        """Yields each access of `function` with its path. What is `unchecked` is left out."""
        pending = [
            _Open(block, Path((), block is region.first_block))
            for region in reversed(function.regions)
            for block in reversed(region.blocks)
        ]
        while pending:
            current = pending[-1]
            op = current.op
            if op is None:
                pending.pop()
                continue
            current.op = op.next_op
            self.paths[op] = current.path
            if may_touch(op.__class__):
                yield from self._of_op(op, current.path)
            if op.regions and not (op.attributes and UNCHECKED in op.attributes and isinstance(op, BlockOp)):
                pending += reversed(self._inner(op, current.path))
            if op.__class__ is cf.AssertOp:
                found = self.values.condition(op.operands[0])
                asserted, known = (*current.path.asserted, *found.facts), current.path.known and found.exact
                current.path = replace(current.path, asserted=asserted, known=known)

    def _of_op(self, op: Operation, path: Path) -> Iterator[Access]:
        if op.attributes and UNCHECKED in op.attributes:
            return
        try:
            for touch in touches(op):
                yield Access(touch, path)
        except Unchecked as reason:
            yield Access(None, path, reason)

    def _inner(self, op: Operation, path: Path) -> list[_Open]:
        """Returns the blocks inside an op, with what holds at their starts."""
        if isinstance(op, LoopOp):
            extents = (number(extent) if isinstance(extent, int) else self.form(extent) for extent in op.extents)
            return [_Open(op.body.block, _running(path, [extent.shifted(-1) for extent in extents]))]
        if isinstance(op, BlockOp):
            return [_Open(op.body.block, self._inside_block(op, path))]
        if isinstance(op, scf.IfOp):
            blocks = [(region.first_block, truth) for region, truth in zip(op.regions, (True, False), strict=True)]
            return [_Open(each, self._where(path, op.cond, truth)) for each, truth in blocks if each is not None]
        if isinstance(op, scf.ForOp):
            last = self.form(op.ub).plus(self.form(op.lb), -1).shifted(-1)
            return [_Open(op.body.block, _running(path, [last]))]
        if isinstance(op, scf.ParallelOp):
            lasts = [
                self.form(up).plus(self.form(low), -1).shifted(-1)
                for low, up in zip(op.lowerBound, op.upperBound, strict=True)
            ]
            return [_Open(op.body.block, _running(path, lasts))]
        if isinstance(op, scf.WhileOp):
            before, after = op.before_region.block, op.after_region.block
            test = before.last_op
            inexact = path.also((), False)
            after_path = inexact if test is None else self._where(inexact, test.operands[0], True)
            return [_Open(before, inexact), _Open(after, after_path)]
        if isinstance(op, InitOp):  # Where the block runs, its init has run for the same spatial axes.
            return [_Open(op.body.block, path)]
        inexact = path.also((), False)
        return [_Open(block, inexact) for region in op.regions for block in region.blocks]

    def _inside_block(self, block: BlockOp, path: Path) -> Path:
        facts = self.values.facts_of_where(block)
        if facts is None:
            return path.also((), False)
        return path.also(facts)

    def _where(self, path: Path, condition: SSAValue, truth: bool) -> Path:
        found = self.values.condition(condition)
        found = found if truth else found.inverse()
        return path.also(found.facts, found.exact)

    # Proofs

    def form(self, value: Number) -> Form:
        return number(value) if isinstance(value, int) else self.values.form(value)

    def end(self, span: Span) -> Form:
        """Returns the end of a span: no index reaches it."""
        return self.values.size(span.buffer, span.dimension) if span.end is None else number(span.end)

    def length(self, span: Span) -> Form:
        """Returns how many elements a span has."""
        length = self.form(span.length)
        if span.lanes is None or not length.terms and 0 <= length.constant <= span.lanes:
            return length
        integers = self.values.integers
        return integers.smallest(integers.largest(length, number(0)), number(span.lanes))

    def goals(self, span: Span) -> list[tuple[Missing, Form]]:
        """Returns the forms that must not be negative for a span to be inside."""
        first = self.form(span.first)
        goals: list[tuple[Missing, Form]] = [("low", first)]
        if span.open_end:
            return goals
        length = self.length(span)
        goals.append(("high", self.end(span).plus(first, -1).plus(length, -1)))
        if not isinstance(span.length, int) and span.lanes is None:
            goals.append(("length", length))
        return goals

    def missing(self, access: Access, span: Span) -> tuple[Missing, ...]:
        """Returns what is not proven of a span."""
        path = access.path
        key = (id(path), span.first, span.length, span.end, span.buffer, span.dimension, span.lanes, span.open_end)
        if (known := self._missing.get(key)) is not None:
            return known[1]
        found: tuple[Missing, ...] = tuple(
            what for what, goal in self.goals(span) if not proves(self.values.atoms, path.facts, goal)
        )
        self._missing[key] = path, found  # A path that is kept keeps its number.
        return found


def _running(path: Path, lasts: list[Form]) -> Path:
    """Returns what holds inside loops that run at all, whose last turns are `lasts`."""
    return path.also(last for last in lasts if last.terms or last.constant < 0)


class _Open:
    """A block that is being walked: its next op, and what holds there."""

    __slots__ = ("op", "path")

    def __init__(self, block: Block, path: Path):
        self.op, self.path = block.first_op, path
