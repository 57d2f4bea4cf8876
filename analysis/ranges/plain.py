"""
What is plainly wrong: accesses that leave their buffers for values of loop variables that can be named.

A refusal needs a witness. All loops around the access have known extents, and some turns of these loops satisfy every
condition on the way and put the index outside. Where sizes or data decide, nothing is refused here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Final

from xdsl.ir import Operation

from ...lazy_dataclass import dataclass
from .accesses import Access, Accesses, Missing, Path
from .linear import Atoms, Form
from .spans import Span

MOST_CORNERS: Final = 64
"""The corners of the box of loop variables that are tried."""

REPAIRS: Final = 8
"""The times that variables are moved so that a condition holds."""

Turns = dict[int, int]
"""The values of atoms."""


@dataclass(frozen=True)
class Fault:
    """An access that is plainly outside of its buffer."""

    op: Operation
    message: str
    hint: str


def faults(accesses: Accesses, found: Iterable[Access]) -> Iterator[Fault]:
    """Yields those among `found`, the accesses of a function, that are plainly outside."""
    for access in found:
        if access.touch is None:
            continue
        for span in access.touch.spans:
            fault = _fault(accesses, access, span)
            if fault is not None:
                yield fault


def _fault(accesses: Accesses, access: Access, span: Span) -> Fault | None:
    atoms = accesses.values.atoms
    for what, goal in accesses.goals(span):
        if atoms.bounds(goal)[0] >= 0 or not access.path.exact or accesses.end(span).terms:
            continue
        turns = witness(atoms, access.path, goal)
        if turns is not None:
            assert access.touch is not None
            return _told(accesses, access.touch.op, span, what, turns)
    return None


def witness(atoms: Atoms, path: Path, goal: Form) -> Turns | None:
    """Returns values of all atoms for which the place is reached and `goal` is negative, if any are found."""
    involved, facts = atoms.closure([*goal.terms, *(atom for fact in path.facts for atom in fact.terms)], path.facts)
    free = [atom for atom in involved if atoms.table[atom].source is None]
    if any(atoms.table[atom].kind != "turn" or atoms.table[atom].high < 0 for atom in free):
        return None
    reached = (_reached(atoms, corner, involved, facts, free) for corner in _corners(atoms, goal, free))
    return next((turns for turns in reached if turns is not None and value_of(goal, turns) < 0), None)


def _reached(
    atoms: Atoms, corner: Turns, involved: Iterable[int], facts: Sequence[Form], free: Sequence[int]
) -> Turns | None:
    """Returns values of all atoms near `corner` for which all facts hold, if they are found."""
    turns = dict(corner)
    for _ in range(REPAIRS):
        if not complete(atoms, turns, involved):
            return None
        broken = next((fact for fact in facts if value_of(fact, turns) < 0), None)
        if broken is None or not _repair(atoms, turns, broken, free):
            break
    is_reached = complete(atoms, turns, involved) and all(value_of(fact, turns) >= 0 for fact in facts)
    return turns if is_reached else None


def turns_at(atoms: Atoms, path: Path, forms: Iterable[Form]) -> Iterator[Turns]:
    """Yields some values of the atoms of `forms` for which a place is reached: first and last turns, and those next."""
    terms = [atom for form in (*forms, *path.facts) for atom in form.terms]
    involved, facts = atoms.closure(terms, path.facts)
    free = [atom for atom in involved if atoms.table[atom].source is None]
    if not path.exact or any(atoms.table[atom].kind != "turn" or atoms.table[atom].high < 0 for atom in free):
        return
    ranges = [(atoms.table[atom].low, atoms.table[atom].high) for atom in free]
    ends = islice(product(*((low, high) for low, high in ranges)), MOST_CORNERS)
    inner = islice(product(*((min(low + 1, high), max(high - 1, low)) for low, high in ranges)), MOST_CORNERS)
    for corner in dict.fromkeys((*ends, *inner)):
        turns = _reached(atoms, dict(zip(free, corner, strict=True)), involved, facts, free)
        if turns is not None:
            yield turns


def _corners(atoms: Atoms, goal: Form, free: Sequence[int]) -> Iterable[Turns]:
    """Returns corners of the box of the free atoms: the one that makes a linear goal smallest comes first."""
    ends = [(atoms.table[atom].low, atoms.table[atom].high) for atom in free]
    ordered = [
        (high, low) if goal.terms.get(atom, 0) < 0 else (low, high)
        for atom, (low, high) in zip(free, ends, strict=True)
    ]
    for corner in islice(product(*reversed(ordered)), MOST_CORNERS):
        yield dict(zip(reversed(free), corner, strict=True))


def runs_first(atoms: Atoms, path: Path) -> bool:
    """Returns whether a place is reached in the first turns of all loops around it."""
    involved, facts = atoms.closure([atom for fact in path.facts for atom in fact.terms], path.facts)
    free = [atom for atom in involved if atoms.table[atom].source is None]
    if not path.exact or any(atoms.table[atom].kind != "turn" or atoms.table[atom].high < 0 for atom in free):
        return False
    turns = dict.fromkeys(free, 0)
    return complete(atoms, turns, involved) and all(value_of(fact, turns) >= 0 for fact in facts)


def value_of(form: Form, turns: Turns) -> int:
    """Returns the value of a form."""
    return form.constant + sum(factor * turns[atom] for atom, factor in form.terms.items())


def complete(atoms: Atoms, turns: Turns, involved: Iterable[int]) -> bool:
    """Finds the values of atoms that follow from others. Returns False where one does not follow."""
    open_atoms = [atom for atom in involved if atoms.table[atom].source is not None]
    for atom in sorted(open_atoms):  # An atom is made after those that it follows from.
        source = atoms.table[atom].source
        assert source is not None
        parts = [source.first] if source.second is None else [source.first, source.second]
        if any(each not in turns for part in parts for each in part.terms):
            return False
        values = [value_of(part, turns) for part in parts]
        turns[atom] = min(values) if source.divisor is None else values[0] // source.divisor
    return True


def _repair(atoms: Atoms, turns: Turns, broken: Form, free: Sequence[int]) -> bool:
    """Moves one free atom after the other so that a fact holds. Returns whether anything moved."""
    moved = False
    for atom, factor in broken.terms.items():
        lacking = -value_of(broken, turns)
        if lacking <= 0 or atom not in free:
            continue
        step = -(-lacking // abs(factor))
        known = atoms.table[atom]
        wanted = turns[atom] + step if factor > 0 else turns[atom] - step
        wanted = min(max(wanted, known.low), known.high)
        moved |= wanted != turns[atom]
        turns[atom] = wanted
    return moved


def _told(accesses: Accesses, op: Operation, span: Span, what: Missing, turns: Turns) -> Fault:
    """Returns the message about a span that is outside for the atoms `turns`."""
    first = accesses.form(span.first)
    elements = accesses.length(span).constant
    place = _place(first, accesses.values.atoms, turns)
    unit = "byte" if span.what == "byte" else "element"
    more = f", for {_count(elements, unit)}" if elements > 1 and what == "high" else ""
    name = f"%{span.buffer.name_hint}" if span.buffer.name_hint else "the buffer"
    end = accesses.end(span).constant
    if op.name == "memref.cast":
        message = f"size {span.dimension} is {end} before the cast and {elements} after it"
        return Fault(op, message, "the type of a view follows from its source")
    if span.what == "size":
        message = f"size {span.dimension} is {place} here, expected 0 to {end}"
        return Fault(op, message, "a size is 0 or more, and all elements fit into memory")
    where = f"dimension {span.dimension} of {name}" if span.end is None else name
    message = f"{span.what} {span.dimension} is {place} here{more}, but {where} has {_count(end, unit)}"
    last = end - elements
    if last < 0:
        return Fault(op, message, "the buffer is too small")
    expected = "expected 0" if last == 0 else f"expected 0 to {last}"
    return Fault(op, message, f"{expected}; narrow the loops, add a condition around the access, or enlarge the buffer")


def _count(number: int, unit: str) -> str:
    return f"1 {unit}" if number == 1 else f"{number} {unit}s"


def _place(first: Form, atoms: Atoms, turns: Turns) -> str:
    """Returns the range of an index, or the value that it reaches where conditions narrow its range."""
    if not first.terms:
        return str(first.constant)
    low, high = atoms.bounds(first)
    reached = value_of(first, turns)
    return f"{low} to {high}" if reached in (low, high) else f"{reached}"
