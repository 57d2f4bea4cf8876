"""The prover against all integers of small ranges: what it says holds, and ranges lose no solution."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from stepwell.analysis.ranges.linear import Atom, Atoms, Form, number
from stepwell.analysis.ranges.rules import _infeasible, _narrowed, proves

RANGES = st.lists(st.tuples(st.integers(-4, 3), st.integers(0, 6)), min_size=1, max_size=3)
FACTORS = st.lists(st.integers(-7, 7), min_size=3, max_size=3)
FACTS = st.lists(st.tuples(FACTORS, st.integers(-30, 30)), min_size=1, max_size=4)


@given(RANGES, FACTS)
def test_no_solution_is_lost(sizes: list[tuple[int, int]], given_facts: list[tuple[list[int], int]]) -> None:
    ranges = {atom: (low, low + size) for atom, (low, size) in enumerate(sizes)}
    facts = [
        Form({atom: factor for atom, factor in zip(ranges, factors, strict=False) if factor}, constant)
        for factors, constant in given_facts
    ]
    solutions = [
        values
        for values in product(*(range(low, high + 1) for low, high in ranges.values()))
        if all(fact.constant + sum(times * values[atom] for atom, times in fact.terms.items()) >= 0 for fact in facts)
    ]
    narrowed = _narrowed(ranges, facts)
    if narrowed is None:
        assert not solutions
    else:
        assert all(low <= values[atom] <= high for values in solutions for atom, (low, high) in narrowed.items())
    atoms = Atoms()
    for low, high in ranges.values():
        atoms.add(Atom(low, high, "unknown", None))
    assert not (_infeasible(atoms, ranges, facts) and solutions)


def test_a_quotient_is_rounded_on_its_own() -> None:
    """`8 * q + p <= 63` where `q` is the floor of `(a + 53) / 7`, `a <= 2` and `p <= 7`: from q <= 55 / 7 it is not."""
    atoms = Atoms()
    a, p = atoms.add(Atom(0, 55, "turn", "a")), atoms.add(Atom(0, 7, "turn", "p"))
    q = atoms.add(Atom(0, 15, "quotient", None))
    rest = a.shifted(53).plus(q, -7)
    facts = [rest, rest.scaled(-1).shifted(6), number(2).plus(a, -1)]
    assert proves(atoms, facts, number(63).plus(q, -8).plus(p, -1))
    assert not proves(atoms, facts, number(62).plus(q, -8).plus(p, -1))


def test_two_facts_together_are_rounded() -> None:
    """`64*q + 16*u + 4*(j - 4*q) + (i - 16*j - 4*u) >= 0`, with floors `q` of `j / 4` and `u` of `(i - 16*j) / 4`."""
    atoms = Atoms()
    i, j = atoms.add(Atom(0, 255, "turn", "i")), atoms.add(Atom(0, 15, "quotient", None))
    both = atoms.add(Atom(0, 64, "quotient", None))  # of (i + 2) / 4, which is u + 4*j + 1
    q = atoms.add(Atom(0, 4, "quotient", None))  # of (j + 2) / 4
    turn, row = i.plus(j, -16), j.shifted(2).plus(q, -4)
    column = i.shifted(2).plus(both, -4)
    facts = [turn.shifted(-2), turn, turn.scaled(-1).shifted(15), j.shifted(-2)]
    facts += [each for rest in (row, column) for each in (rest, rest.scaled(-1).shifted(3))]
    goal = q.shifted(-1).scaled(64).plus(both.plus(j, -4).shifted(-1), 16).plus(row, 4).plus(column)
    assert proves(atoms, facts, goal)
    assert not proves(atoms, facts, goal.shifted(-1))
