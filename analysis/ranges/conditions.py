"""What conditions say about forms."""

from __future__ import annotations

from typing import Final

from ...lazy_dataclass import dataclass
from .linear import Atoms, Facts, Form

EQ, NE, SLT, SLE, SGT, SGE, ULT, ULE, UGT, UGE = range(10)
"""The predicates of `arith.cmpi`."""

_NEGATED: Final = (NE, EQ, SGE, SGT, SLE, SLT, UGE, UGT, ULE, ULT)


@dataclass(frozen=True)
class Condition:
    """What holds where a boolean is true, and where it is false."""

    facts: Facts
    negated: Facts
    exact: bool
    """The boolean is true wherever `facts` hold, so they say all there is to say."""

    def inverse(self) -> Condition:
        """Returns what the opposite says. It is exact where one fact is all there is to negate."""
        return Condition(self.negated, self.facts, self.exact and len(self.negated) == 1)


def comparison(atoms: Atoms, predicate: int, first: Form, second: Form) -> Condition:
    """Returns what `first predicate second` says, for a predicate of `arith.cmpi`."""
    facts, exact = _facts(atoms, predicate, first, second)
    negated, _ = _facts(atoms, _NEGATED[predicate], first, second)
    return Condition(facts, negated, exact)


def _facts(atoms: Atoms, predicate: int, first: Form, second: Form) -> tuple[Facts, bool]:
    if predicate in (SGT, SGE, UGT, UGE):
        swapped = {SGT: SLT, SGE: SLE, UGT: ULT, UGE: ULE}[predicate]
        return _facts(atoms, swapped, second, first)
    difference = second.plus(first, -1)
    if predicate == EQ:
        return (difference, difference.scaled(-1)), True
    if predicate == NE:  # A number that is not negative, and not zero either, is 1 or more.
        low, high = atoms.bounds(difference)
        if low == 0:
            return (difference.shifted(-1),), True
        if high == 0:
            return (difference.scaled(-1).shifted(-1),), True
        return (), False
    below = difference.shifted(-1 if predicate in (SLT, ULT) else 0)
    if predicate in (SLT, SLE):
        return (below,), True
    # Unsigned: what is below a number that is not negative as a signed one is not negative either.
    if atoms.bounds(second)[0] >= 0:
        exact = atoms.bounds(first)[0] >= 0
        return ((below,) if exact else (below, first)), True
    return (), False
