"""
Integer linear forms over atoms: `sum(factor * atom) + constant`.

An atom is an unknown integer: the turn of a loop, a size, a quotient, a choice, or a value of which nothing is known
but its range. Atoms are numbers here. The table `Atoms` holds what is known of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from math import gcd
from typing import Final, Literal

from ...lazy_dataclass import dataclass

LIMIT: Final = 1 << 63
"""Indices and bytes are signed integers of 64 bits: `-LIMIT <= x < LIMIT`."""

Key = tuple[tuple[tuple[int, int], ...], int]
"""What two equal forms have in common."""

Kind = Literal["turn", "size", "quotient", "choice", "unknown"]


class Form:
    """The form `sum(terms[a] * a) + constant`. No factor is 0. Forms are never changed after they are made."""

    __slots__ = ("constant", "terms")

    def __init__(self, terms: dict[int, int], constant: int):
        self.terms = terms
        self.constant = constant

    def plus(self, other: Form, factor: int = 1) -> Form:
        """Returns `self + factor * other`."""
        if not other.terms:
            return Form(self.terms, self.constant + factor * other.constant)
        terms = dict(self.terms)
        for atom, times in other.terms.items():
            total = terms.get(atom, 0) + factor * times
            if total:
                terms[atom] = total
            else:
                terms.pop(atom, None)
        return Form(terms, self.constant + factor * other.constant)

    def shifted(self, amount: int) -> Form:
        """Returns `self + amount`."""
        return Form(self.terms, self.constant + amount)

    def scaled(self, factor: int) -> Form:
        """Returns `factor * self`."""
        if factor == 0:
            return Form({}, 0)
        return Form({atom: factor * times for atom, times in self.terms.items()}, factor * self.constant)

    def key(self) -> Key:
        return tuple(sorted(self.terms.items())), self.constant

    def tightened(self) -> Form:
        """
        Returns a form that is 0 or more for the same integers as `self`: divided by what its factors share, its
        constant rounded down.
        """
        shared = gcd(*self.terms.values()) if self.terms else 1
        if shared <= 1:
            return self
        return Form({atom: times // shared for atom, times in self.terms.items()}, self.constant // shared)


def number(value: int) -> Form:
    """Returns the form that is `value`."""
    return Form({}, value)


Facts = tuple[Form, ...]
"""Forms that are 0 or more, all of them."""

Choice = tuple[Facts, ...]
"""Alternatives, of which the facts of at least one hold."""


@dataclass(frozen=True, slots=True)
class Source:
    """The floor of `first / divisor`, or without a divisor the smaller one of `first` and `second`."""

    first: Form
    second: Form | None = None
    divisor: int | None = None


@dataclass(slots=True)
class Atom:
    """What is known of one unknown integer."""

    low: int
    high: int
    kind: Kind
    name: str | None
    facts: Facts = ()
    """What holds wherever the atom has a value."""
    choice: Choice = ()
    source: Source | None = None
    """Says how it follows from other atoms, where it does."""


@dataclass(slots=True)
class Atoms:
    """The atoms of one function, numbered from 0."""

    table: list[Atom] = field(default_factory=list)

    def add(self, atom: Atom) -> Form:
        """Adds an atom and returns the form that is it alone."""
        self.table.append(atom)
        return Form({len(self.table) - 1: 1}, 0)

    def bounds(self, form: Form) -> tuple[int, int]:
        """Returns the range of `form` while each of its atoms is in its own. The atoms may depend on each other."""
        low = high = form.constant
        for atom, factor in form.terms.items():
            known = self.table[atom]
            if factor > 0:
                low += factor * known.low
                high += factor * known.high
            else:
                low += factor * known.high
                high += factor * known.low
        return low, high

    def closure(self, start: Iterable[int], facts: Sequence[Form]) -> tuple[dict[int, None], list[Form]]:
        """
        Returns the atoms that have to do with those of `start`, and all facts about them: those among `facts`, and
        those that come with the atoms.
        """
        atoms: dict[int, None] = dict.fromkeys(start)
        pending, found = list(atoms), list[Form]()
        by_atom: dict[int, list[int]] = {}
        for position, fact in enumerate(facts):
            for atom in fact.terms:
                by_atom.setdefault(atom, []).append(position)
        taken = {position for position, fact in enumerate(facts) if not fact.terms}
        found += [facts[position] for position in taken]
        while pending:
            atom = pending.pop()
            fresh = [position for position in by_atom.get(atom, ()) if position not in taken]
            taken.update(fresh)
            new = [*self.table[atom].facts, *(facts[position] for position in fresh)]
            found += new
            for other in (other for fact in new for other in fact.terms):
                if other not in atoms:
                    atoms[other] = None
                    pending.append(other)
            for other in (other for facts_ in self.table[atom].choice for fact in facts_ for other in fact.terms):
                if other not in atoms:
                    atoms[other] = None
                    pending.append(other)
        return atoms, found
