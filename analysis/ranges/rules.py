"""
The prover: whether an integer linear form is 0 or more wherever given facts hold.

It looks for a contradiction between the facts and `form <= -1`. Atoms are eliminated one after the other (Fourier and
Motzkin). Each inequality is divided by what its factors share, with its constant rounded down, which no integer
notices. Where atoms are choices, each alternative is tried. The effort is bounded: what takes longer is not proven.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import gcd
from typing import Final

from .linear import Atoms, Choice, Form

MAX_FACTS: Final = 240
"""The most inequalities that one elimination works on."""

MAX_SPLITS: Final = 4
"""The most choices that are tried inside one another."""

MAX_ROUNDS: Final = 4
"""The most rounds through all facts that narrow the ranges of atoms."""

Terms = tuple[tuple[int, int], ...]
System = dict[Terms, int]
"""Inequalities `sum(factor * atom) + constant >= 0`: the smallest constant of each sum."""


def proves(atoms: Atoms, facts: Sequence[Form], goal: Form) -> bool:
    """
    Returns whether `goal >= 0` follows from `facts` and from what is known of the atoms.

    The answer True is a proof over the integers. False says nothing.
    """
    if atoms.bounds(goal)[0] >= 0:
        return True
    return contradicts(atoms, [*facts, goal.scaled(-1).shifted(-1)], goal.terms)


def contradicts(atoms: Atoms, facts: Sequence[Form], start: Iterable[int]) -> bool:
    """Returns whether no integers satisfy `facts`. Only those that have to do with the atoms of `start` count."""
    start = tuple(start)
    involved, _ = atoms.closure(start, facts)
    own = [atoms.table[atom].choice for atom in involved if atoms.table[atom].choice]
    return _contradicts(atoms, list(facts), start, own, MAX_SPLITS)


def _contradicts(
    atoms: Atoms, facts: list[Form], start: tuple[int, ...], choices: Sequence[Choice], splits: int
) -> bool:
    """Looks for a contradiction, splitting at most `splits` choices: those of `choices`, then those of atoms."""
    involved, known = atoms.closure(start, facts)
    if _infeasible(atoms, involved, known):
        return True
    if splits == 0:
        return False
    taken = next((each for each in choices if _touches(each, involved)), None)
    if taken is None:
        return False
    rest = [each for each in choices if each is not taken]
    return all(_contradicts(atoms, [*facts, *each], start, rest, splits - 1) for each in taken)


def _touches(choice: Choice, involved: dict[int, None]) -> bool:
    return any(atom in involved for alternative in choice for fact in alternative for atom in fact.terms)


def _infeasible(atoms: Atoms, involved: Iterable[int], facts: Sequence[Form]) -> bool:
    ranges = {atom: (atoms.table[atom].low, atoms.table[atom].high) for atom in involved}
    if _contradictory(ranges, facts):
        return True
    # Elimination rounds sums down, and no single atom: of `7 * q <= a + 53` and `a <= 2` it has `q <= 55 / 7`.
    narrowed = _narrowed(ranges, facts)
    if narrowed is None or (narrowed != ranges and _contradictory(narrowed, facts)):
        return True
    cuts = _cuts(facts)
    return bool(cuts) and _contradictory(narrowed, [*facts, *cuts])


Ranges = dict[int, tuple[int, int]]
"""The least and the greatest value of each atom."""


def _contradictory(ranges: Ranges, facts: Iterable[Form]) -> bool:
    """Returns whether elimination finds that no integers in these ranges satisfy `facts`."""
    system: System = {}
    if any(not _add(system, dict(fact.terms), fact.constant) for fact in facts):
        return True
    for atom, (low, high) in ranges.items():
        if not _add(system, {atom: 1}, -low) or not _add(system, {atom: -1}, high):
            return True
    return _eliminated(system)


def _narrowed(ranges: Ranges, facts: Iterable[Form]) -> Ranges | None:
    """Returns the ranges that each fact alone leaves, in turn, rounded to integers, `None` where one is empty."""
    found = dict(ranges)
    for _ in range(MAX_ROUNDS):
        before = dict(found)
        for fact in facts:
            most = fact.constant + sum(factor * found[atom][factor > 0] for atom, factor in fact.terms.items())
            for atom, factor in fact.terms.items():
                low, high = found[atom]
                rest = most - factor * (high if factor > 0 else low)  # fact >= 0 asks for factor * atom >= -rest
                if factor > 0:
                    low = max(low, -(rest // factor))
                else:
                    high = min(high, rest // -factor)
                if low > high:
                    return None
                most += factor * ((high if factor > 0 else low) - found[atom][factor > 0])
                found[atom] = low, high
        if found == before:
            break
    return found


def _cuts(facts: Sequence[Form]) -> list[Form]:
    """
    Returns what follows from two facts together and is rounded there, as an atom drops out.

    Of `4 * q >= a - 1` and `a >= 16 * i + 2` it is `q - 4 * i >= 1`. Elimination has it only where `a` goes first.
    """
    found: list[Form] = []
    for first, second in combinations(facts, 2):
        for atom in first.terms.keys() & second.terms.keys():
            if first.terms[atom] * second.terms[atom] < 0:
                above, below = (first, second) if first.terms[atom] > 0 else (second, first)
                terms, constant = _without(atom, (above.terms, above.constant), (below.terms, below.constant))
                shared = gcd(*terms.values())
                if shared > 1 and constant % shared:
                    found.append(Form({each: factor // shared for each, factor in terms.items()}, constant // shared))
    return found


def _add(system: System, terms: dict[int, int], constant: int) -> bool:
    """Adds an inequality. Returns False where it contradicts itself or its opposite in the system."""
    if not terms:
        return constant >= 0
    shared = gcd(*terms.values())
    if shared > 1:
        terms = {atom: factor // shared for atom, factor in terms.items()}
        constant //= shared
    key = tuple(sorted(terms.items()))
    known = system.get(key)
    if known is None or constant < known:
        system[key] = constant
        opposite = system.get(tuple((atom, -factor) for atom, factor in key))
        return opposite is None or constant + opposite >= 0
    return True


def _eliminated(system: System) -> bool:
    """Eliminates all atoms. Returns whether a contradiction came up."""
    while system:
        atom = _cheapest(system)
        positive: list[tuple[dict[int, int], int]] = []
        negative: list[tuple[dict[int, int], int]] = []
        rest: System = {}
        for key, constant in system.items():
            terms = dict(key)
            factor = terms.get(atom, 0)
            if factor == 0:
                rest[key] = constant
            else:
                (positive if factor > 0 else negative).append((terms, constant))
        for above in positive:
            for below in negative:
                if not _add(rest, *_without(atom, above, below)):
                    return True
                if len(rest) > MAX_FACTS:
                    return False
        system = rest
    return False


def _cheapest(system: System) -> int:
    """Returns the atom whose elimination adds the fewest inequalities."""
    up: dict[int, int] = {}
    down: dict[int, int] = {}
    for key in system:
        for atom, factor in key:
            counts, other = (up, down) if factor > 0 else (down, up)
            counts[atom] = counts.get(atom, 0) + 1
            other.setdefault(atom, 0)
    return min(up, key=lambda atom: (up[atom] * down[atom] - up[atom] - down[atom], atom))


def _without(
    atom: int, above: tuple[dict[int, int], int], below: tuple[dict[int, int], int]
) -> tuple[dict[int, int], int]:
    """Returns the sum of two inequalities, scaled so that `atom` drops out."""
    first, second = above[0][atom], -below[0][atom]
    shared = gcd(first, second)
    up, down = second // shared, first // shared
    terms = {each: factor * up for each, factor in above[0].items()}
    for each, factor in below[0].items():
        total = terms.get(each, 0) + factor * down
        if total:
            terms[each] = total
        else:
            terms.pop(each, None)
    return terms, above[1] * up + below[1] * down
