"""
Reads of elements that plainly nothing has written: there is a witness, as for indices that are outside (`plain`).

Turns of the loops around the read satisfy every condition on the way and name one element, and no write that may run
before the read can reach this element. A write of which the elements are not known may reach any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from xdsl.dialects import scf
from xdsl.ir import Operation

from ...core.roles import UNCHECKED, WRITTEN
from ...dialects.tensor_loop import BlockOp, FuncOp, InitOp, LoopOp
from ..reductions import reduction_nest
from .accesses import Access, Accesses, Path
from .events import Event, Events, Order, order_of
from .linear import Form
from .plain import Fault, Turns, turns_at, value_of
from .races import parallel_variables
from .rules import contradicts

MOST_TRIES: Final = 2000
"""The pairs of an element and a write that are tried in one function."""

HINT: Final = "write every element before it is read, or read fewer of them"


def unwritten_faults(function: FuncOp, accesses: Accesses, found: Sequence[Access]) -> Iterator[Fault]:
    """Yields reads of elements that plainly nothing has written. Nothing is said of a function that is `written`."""
    if WRITTEN not in function.attributes:
        yield from _Search(function, accesses, found).faults()


class _Search:
    """Looks for such reads in one function."""

    def __init__(self, function: FuncOp, accesses: Accesses, found: Sequence[Access]):
        self.accesses, self.atoms = accesses, accesses.values.atoms
        self.events = list(Events(function, accesses, found).all())
        self.tries = 0

    def faults(self) -> Iterator[Fault]:
        for read in self.events:
            if read.kind == "read" and read.elements is not None and UNCHECKED not in read.op.attributes:
                writes = [each for each in self.events if each.kind == "write" and each.root is read.root]
                element = self._missing(read, writes)
                if element is not None:
                    name = f"%{read.root.name_hint}" if read.root.name_hint else "the buffer"
                    place = ", ".join(map(str, element))
                    yield Fault(read.op, f"element [{place}] of {name} is read, but nothing has written it", HINT)

    def _missing(self, read: Event, writes: list[Event]) -> tuple[int, ...] | None:
        """Returns an element that is read and that none of `writes` reaches before, if one is found."""
        assert read.elements is not None
        if any(each.elements is None for each in writes):
            return None
        pairs = [(write, order_of(write.op, read.op)) for write in writes]
        earlier = [(write, order) for write, order in pairs if order.is_before() or any(map(_is_loop, order.around))]
        outer = [self.accesses.form(each) for _, order in earlier for each in _first_serial(order)]
        for turns in turns_at(self.atoms, read.path, [*read.elements.place, *outer]):
            self.tries += len(earlier)
            if self.tries > MOST_TRIES:
                return None
            element = tuple(value_of(each, turns) for each in read.elements.place)
            if not any(self._may_reach(*pair, element, turns) for pair in earlier):
                return element
        return None

    def _may_reach(self, write: Event, order: Order, element: tuple[int, ...], turns: Turns) -> bool:
        """Returns whether a write is not proven to miss an element while the read has the given turns."""
        assert write.elements is not None
        init = _init_around(write.op)
        facts = list(write.path.facts) if init is None else self._facts_of_init(init, write.path)
        for place, wanted in zip(write.elements.place, element, strict=True):
            facts += [place.shifted(-wanted), place.scaled(-1).shifted(wanted)]
        if init is None:
            facts += [
                form.scaled(-1).shifted(value_of(form, turns))
                for form in map(self.accesses.form, _first_serial(order))
                if all(atom in turns for atom in form.terms)
            ]
        return not contradicts(self.atoms, facts, [atom for fact in facts for atom in fact.terms])

    def _facts_of_init(self, init: InitOp, path: Path) -> list[Form]:
        """
        Returns what holds where an init runs, among what holds where its block does. It runs once for its spatial axes
        where the block never runs as well, since a reduce axis is empty or a predicate on it never holds.
        """
        block = init.parent_op()
        assert isinstance(block, BlockOp)
        reduce = {atom for each in reduction_nest(block).reduce for atom in self.accesses.form(each).terms}
        kept: list[Form] = []
        for fact in path.facts:
            involved, _ = self.atoms.closure(list(fact.terms), [])
            if fact.terms and reduce.isdisjoint(involved):
                kept.append(fact)
        return kept


def _is_loop(op: Operation) -> bool:
    return isinstance(op, LoopOp | scf.ForOp | scf.ParallelOp | scf.WhileOp)


def _first_serial(order: Order) -> list:
    """Returns the variable of the outermost loop around a write and a read, where its iterations follow each other."""
    loop = next(filter(_is_loop, order.around), None)
    if isinstance(loop, LoopOp) and loop.kinds in (("serial",), ("unrolled",)) and not parallel_variables(loop):
        return [loop.variables[0]]
    return []


def _init_around(op: Operation) -> InitOp | None:
    current = op.parent_op()
    while current is not None and not isinstance(current, InitOp):
        current = current.parent_op()
    return current
