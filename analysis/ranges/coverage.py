"""
Proves that a loop function reads no element before it wrote it, and that it writes every element of its outputs.

A write covers an element `e` of a read where iterations of the loops around the write alone make its index `e`. With
loops in common the variables of these are given. The index along each dimension is a sum of turns, each of which moves
no further than the ones before it reach, so the sum takes all values from its smallest to its largest. What is left are
inequalities in `e` and in the variables in common, which are proven from what holds where the read runs. Where a write
covers only part, the other part is looked for among the other writes.

Quotients and remainders of one loop variable are turns of their own where the divisor divides the extent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import gcd
from typing import Final

from xdsl.ir import BlockArgument, Operation, SSAValue

from ...core.roles import WRITTEN
from ...dialects.tensor_loop import FuncOp, InitOp, LoopOp
from ...lazy_dataclass import dataclass
from .accesses import Access, Accesses, Path
from .events import Event, Events, is_inside, is_unchecked, order_of, results_of
from .linear import Atom, Atoms, Form, number
from .rules import contradicts, proves

MOST_PAIRS: Final = 4000
"""The pairs of a read and a write that are looked at in one function."""

MOST_PROOFS: Final = 120
"""The inequalities that are tried for one read."""

MOST_SPLITS: Final = 8
"""The writes that together cover one read."""


@dataclass(frozen=True)
class Unproven:
    """What is not proven of a function: reads, and outputs that may not be written as a whole."""

    reads: tuple[Event, ...] = ()
    outputs: tuple[SSAValue, ...] = ()


def is_written(function: FuncOp) -> bool:
    """Returns whether a loop function has the mark that it is right in this way, or is proven to be."""
    if WRITTEN in function.attributes:
        return True
    found = unproven(function)
    return not found.reads and not found.outputs


def unproven(function: FuncOp) -> Unproven:
    """Returns what is not proven about the elements that a loop function reads and gives back."""
    accesses = Accesses()
    return _Proof(function, accesses, list(accesses.of(function))).run()


class _Proof:
    """Proves the reads of one function."""

    def __init__(self, function: FuncOp, accesses: Accesses, found: Sequence[Access]):
        self.function, self.accesses = function, accesses
        self.atoms = accesses.values.atoms
        self.events = Events(function, accesses, found)
        self.writes: dict[SSAValue, list[Event]] = {}
        self.pairs = 0
        self.proofs = 0

    def run(self) -> Unproven:
        found = list(self.events.all())
        forgotten = {event.root for event in found if event.kind == "forget"}
        promised = {event.root for event in found if event.kind == "write" and is_unchecked(event.op)}
        for event in found:
            if (
                event.kind == "write"
                and event.elements is not None
                and event.path.decided
                and event.root not in forgotten
            ):
                self.writes.setdefault(event.root, []).append(event)
        reads = tuple(
            event
            for event in found
            if event.kind == "read" and event.root not in promised and not self._is_covered(event)
        )
        end = self.function.body.block.last_op
        assert end is not None
        outputs: list[SSAValue] = []
        for output in (each for each in results_of(self.function) if each not in promised):
            event = Event(end, output, output, "read", self.events.whole(output), Path((), True))
            if not self._is_covered(event):
                outputs.append(output)
        return Unproven(reads, tuple(outputs))

    def _is_covered(self, read: Event) -> bool:
        writes = self.writes.get(read.root, [])
        elements = read.elements or self.events.whole(read.root)
        if elements is not None and any(self.atoms.table[lane].high < 0 for lane in elements.lanes):
            return True  # There are no elements.
        self.pairs += len(writes)
        if elements is None or self.pairs > MOST_PAIRS:
            return False
        element = elements.place
        ranges = (each for write in writes for each in self._limits(write, read, element))
        self.proofs = 0
        within = [fact for form in element for atom in form.terms for fact in self.atoms.table[atom].facts]
        return self._covered([*read.path.facts, *within], [each for each in ranges if each is not None], MOST_SPLITS)

    def _covered(self, facts: list[Form], writes: list[list[Form]], splits: int) -> bool:
        """Returns whether, where `facts` hold, all inequalities of one of `writes` hold."""
        left: list[tuple[list[Form], list[list[Form]]]] = []
        for position, limits in enumerate(writes):
            self.proofs += len(limits)
            if self.proofs > MOST_PROOFS:
                return False
            missing = [each for each in limits if not proves(self.atoms, facts, each)]
            if not missing:
                return True
            left.append((missing, [*writes[:position], *writes[position + 1 :]]))
        if splits == 0 or len(writes) < 2:
            return bool(facts) and contradicts(self.atoms, facts, [atom for fact in facts for atom in fact.terms])
        for missing, others in sorted(left, key=lambda pair: len(pair[0])):
            outside = ([*facts, each.scaled(-1).shifted(-1)] for each in missing)
            if all(self._covered(each, others, splits - 1) for each in outside):
                return True
        return False

    # What one write covers

    def _limits(self, write: Event, read: Event, element: tuple[Form, ...]) -> Iterator[list[Form] | None]:
        """Yields the inequalities that say when `write` has written `element`, for each way in which it ran before."""
        if not self._stays(write):
            return
        order, made = order_of(write.op, read.op), write.root.owner
        if order.is_before():
            yield self._limits_of(write, element, order.first, None)
        for loop in order.around:
            if isinstance(loop, LoopOp) and loop.kinds in (("serial",), ("unrolled",)):
                if not isinstance(made, Operation) or not is_inside(made, loop):
                    yield self._limits_of(write, element, loop, loop.variables[0])

    def _stays(self, write: Event) -> bool:
        """Returns whether what an init wrote is still there. It runs once, so the buffer must live as long."""
        current, in_init = write.op.parent_op(), False
        while current is not None and not in_init:
            in_init, current = isinstance(current, InitOp), current.parent_op()
        owner = write.root.owner
        return not in_init or not isinstance(owner, Operation) or owner.parent_op() is self.function

    def _limits_of(
        self, write: Event, element: tuple[Form, ...], inside: Operation, earlier: BlockArgument | None
    ) -> list[Form] | None:
        """
        Returns the inequalities for what `write` does in all iterations of the loops from `inside` on. With `earlier`
        these are the iterations of that loop before the one of the read.
        """
        assert write.elements is not None
        cover = _Cover(self.atoms, _Own(self.accesses, inside), write.elements.lanes)
        if earlier is not None:
            turn = self.accesses.values.form(earlier)
            if len(turn.terms) != 1 or turn.constant or turn.terms[atom := next(iter(turn.terms))] != 1:
                return None
            cover.earlier(atom)
        return cover.limits(write.elements.place, write.path.where, element)


class _Own:
    """Tells which atoms belong to an op: their values are made inside of it."""

    def __init__(self, accesses: Accesses, inside: Operation):
        self.accesses, self.inside = accesses, inside
        self.known: dict[int, bool] = {}

    def __call__(self, atom: int) -> bool:
        if atom not in self.known:
            self.known[atom] = self._found(atom)
        return self.known[atom]

    def _found(self, atom: int) -> bool:
        known = self.accesses.values.atoms.table[atom]
        if known.source is not None:
            parts = [known.source.first] if known.source.second is None else [known.source.first, known.source.second]
            return any(self(each) for part in parts for each in part.terms)
        if known.kind == "size":
            return False  # The size of a buffer is the same everywhere.
        origin = self.accesses.values.origins.get(atom)
        if origin is None:
            return True
        owner = origin.owner
        start = owner if isinstance(owner, Operation) else owner.parent_op()
        return start is not None and is_inside(start, self.inside)


class _Cover:
    """The elements that one write reaches, as inequalities."""

    def __init__(self, atoms: Atoms, own: Callable[[int], bool], lanes: Sequence[int]):
        self.atoms, self.own, self.lanes = atoms, own, lanes
        self.lasts: dict[int, Form] = {}
        """The last turn of loops, where it is not what the atom says."""
        self.more: list[Form] = []
        self.made = set(lanes)
        self.splits: list[tuple[Form, int, Form]] = []
        """A sum of turns, one of its atoms, and the sum of two new turns that stands for it."""

    def earlier(self, atom: int) -> None:
        """Takes only the turns of a loop before the given one. There must be some."""
        last = Form({atom: 1}, -1)
        self.lasts[atom] = last
        self.more.append(last)

    def limits(self, place: Sequence[Form], facts: Sequence[Form], element: Sequence[Form]) -> list[Form] | None:
        """Returns what is to hold for `place` to be `element` for some turns that satisfy `facts`."""
        if not self._split([*place, *facts]):
            return None
        forms, conditions = self._all_without(place), self._all_without(facts)
        lasts = [self._last(lane) for lane in self.lanes]
        if forms is None or conditions is None or None in lasts:
            return None
        conditions = [each for each in conditions if not self._shortens(each)]
        found = [*self.more, *(last for last in lasts if last is not None and last.terms)]
        used: dict[int, int] = {}
        for dimension, (form, wanted) in enumerate(zip(forms, element, strict=True)):
            own = self._own_part(form)
            ends = self._ends(own)
            if ends is None or any(atom in used for atom in own.terms):
                return None
            used.update(dict.fromkeys(own.terms, dimension))
            moved = wanted.plus(form.plus(own, -1), -1)
            found += [moved.plus(ends[0], -1), ends[1].plus(moved, -1)]
        for condition in conditions:
            limit = self._condition(condition, forms, element, used)
            if limit is None:
                return None
            found.append(limit)
        return found

    def _is_own(self, atom: int) -> bool:
        return atom in self.made or self.own(atom)

    def _own_part(self, form: Form) -> Form:
        return Form({atom: factor for atom, factor in form.terms.items() if self._is_own(atom)}, 0)

    def _last(self, atom: int) -> Form | None:
        """Returns the last turn of a loop, whose first is 0, or None where that is not known outside of the loops."""
        if atom in self.lasts:
            return self.lasts[atom]
        known = self.atoms.table[atom]
        if known.kind != "turn" or known.source is not None or known.low != 0:
            return None
        facts = list(known.facts)
        if not facts:
            return number(known.high)
        if len(facts) > 1 or facts[0].terms.get(atom) != -1:
            return None
        last = facts[0].plus(Form({atom: 1}, 0))
        return None if any(self._is_own(each) for each in last.terms) else last

    def _ends(self, own: Form) -> tuple[Form, Form] | None:
        """Returns the smallest and the largest value of a sum of turns, which takes all between them."""
        reach = 1
        low = high = number(0)
        for atom, factor in sorted(own.terms.items(), key=lambda term: abs(term[1])):
            last = self._last(atom)
            if last is None or abs(factor) > reach:
                return None
            low, high = (low, high.plus(last, factor)) if factor > 0 else (low.plus(last, factor), high)
            reach += 0 if last.terms else abs(factor) * max(last.constant, 0)
        return low, high

    def _condition(
        self, fact: Form, forms: Sequence[Form], element: Sequence[Form], used: dict[int, int]
    ) -> Form | None:
        """Returns what a condition says about `element`."""
        own = self._own_part(fact)
        rest = fact.plus(own, -1)
        dimensions = {used.get(atom, -1) for atom in own.terms}
        if dimensions <= {-1}:  # Turns that do not move the write may all be the first.
            return rest if all(self._last(atom) is not None for atom in own.terms) else None
        dimension = dimensions.pop()
        if dimensions or dimension < 0:
            return None
        moving = self._own_part(forms[dimension])
        past = rest, element[dimension].plus(forms[dimension].plus(moving, -1), -1)
        atom = next(iter(own.terms))
        factor, left = divmod(own.terms[atom], moving.terms[atom])
        if left or own.plus(moving, -factor).terms:
            return self._upper_end(own, moving, *past)
        return past[0].plus(past[1], factor)

    def _upper_end(self, own: Form, moving: Form, rest: Form, moved: Form) -> Form | None:
        """
        Returns what an upper end of turns says about elements that lie at most some lanes after them.

        The turns move by `g * t`, and the condition is `t <= rest`. It follows from `moved <= g * rest + g - 1`, as
        `g * t <= moved`.
        """
        turns = Form({atom: factor for atom, factor in moving.terms.items() if atom not in self.lanes}, 0)
        shared = gcd(*turns.terms.values())
        if own.scaled(shared).plus(turns).terms or any(moving.terms.get(lane, 1) < 0 for lane in self.lanes):
            return None
        return rest.scaled(shared).shifted(shared - 1).plus(moved, -1)

    def _shortens(self, fact: Form) -> bool:
        """Takes only the turns of a loop that a condition on them alone leaves. Returns whether it is such a one."""
        own = self._own_part(fact)
        ((atom, factor), *others) = own.terms.items() or ((-1, 0),)
        last = None if others or factor >= 0 or len(fact.terms) > 1 else self._last(atom)
        if last is None or last.terms or fact.constant < 0:
            return False
        self.lasts[atom] = number(min(last.constant, fact.constant // -factor))
        return True

    # Quotients

    def _split(self, forms: Sequence[Form]) -> bool:
        """Makes two turns of each sum of turns that is divided. Returns False where that cannot be done."""
        quotients = {atom for form in forms for atom in form.terms if self._is_quotient(atom)}
        pending = list(quotients)
        while pending:
            source = self.atoms.table[pending.pop()].source
            assert source is not None
            inner = {atom for atom in source.first.terms if self._is_quotient(atom)} - quotients
            quotients |= inner
            pending += inner
        return all(self._split_one(atom) for atom in sorted(quotients))

    def _is_quotient(self, atom: int) -> bool:
        source = self.atoms.table[atom].source
        return source is not None and source.divisor is not None and self._is_own(atom)

    def _split_one(self, atom: int) -> bool:
        source = self.atoms.table[atom].source
        assert source is not None and source.divisor is not None
        first = self._without(source.first)
        if first is None or first.constant or any(not self._is_own(each) for each in first.terms):
            return False
        ends = self._ends(first)
        if ends is None or ends[0].terms or ends[0].constant or ends[1].terms:
            return False
        outer = (ends[1].constant + 1) // source.divisor
        if outer < 1:
            return False
        quotient, remainder = self._turn(outer - 1), self._turn(source.divisor - 1)
        whole = quotient.scaled(source.divisor).plus(remainder)
        self.splits.append((first, next(iter(first.terms)), whole))
        self.splits.append((Form({atom: 1}, 0), atom, quotient))
        return True

    def _turn(self, last: int) -> Form:
        form = self.atoms.add(Atom(0, last, "turn", None))
        self.made.update(form.terms)
        return form

    def _all_without(self, forms: Sequence[Form]) -> list[Form] | None:
        found = [self._without(form) for form in forms]
        return None if None in found else [each for each in found if each is not None]

    def _without(self, form: Form) -> Form | None:
        """Returns a form in which new turns stand for sums that are divided, or None where only part is there."""
        for total, atom, instead in self.splits:
            factor, left = divmod(form.terms.get(atom, 0), total.terms[atom])
            if left:
                return None
            form = form.plus(total, -factor) if factor else form
            if any(each in form.terms for each in total.terms):
                return None
            form = form.plus(instead, factor)
        return form
