"""
Integer arithmetic on forms: what the results of `arith` ops are, as forms over the forms of their operands.

A machine integer wraps and a form does not. So a result is a form of its operands only where it cannot leave the range
of its type. Elsewhere it is an atom of its own with that range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation

from .linear import LIMIT, Atom, Atoms, Facts, Form, Key, Source, number
from .rules import proves

Rule = Callable[["Integers", Operation, Sequence[Form]], "Form | None"]


def range_of_type(kind: Attribute) -> tuple[int, int]:
    """Returns the values of an integer type, read as signed. Booleans are 0 and -1, or 1 where they are extended."""
    if isinstance(kind, IntegerType):
        half = 1 << (kind.width.data - 1)
        return (-half, half - 1) if kind.width.data > 1 else (-1, 1)
    return -LIMIT, LIMIT - 1


class Integers:
    """Makes the forms of quotients, choices and unknown values. Equal ones get the same atom."""

    def __init__(self, atoms: Atoms, facts_at: Callable[[Operation], Facts] = lambda op: ()):
        self.atoms = atoms
        self._facts_at = facts_at
        """Returns what holds wherever an op runs."""
        self._quotients: dict[tuple[Key, int], Form] = {}
        self._extremes: dict[tuple[Key, Key], Form] = {}

    def unknown(self, low: int, high: int, name: str | None = None, facts: Facts = ()) -> Form:
        """Returns a new atom of which only its range and `facts` are known."""
        return self.atoms.add(Atom(low, high, "unknown", name, facts))

    def in_range(self, form: Form, kind: Attribute) -> bool:
        """Returns whether a form of operands is what the machine computes: it cannot leave the range of its type."""
        if not form.terms and isinstance(kind, IndexType):
            return -LIMIT <= form.constant < LIMIT
        low, high = self.atoms.bounds(form)
        least, most = range_of_type(kind)
        return least <= low and high <= most

    def is_natural(self, form: Form, op: Operation) -> bool:
        """Returns whether an operand of `op` is 0 or more wherever `op` runs."""
        return self.atoms.bounds(form)[0] >= 0 or proves(self.atoms, self._facts_at(op), form)

    def quotient(self, form: Form, divisor: int) -> Form:
        """Returns `floor(form / divisor)` for a positive divisor."""
        if divisor == 1:
            return form
        whole = {atom: times // divisor for atom, times in form.terms.items() if times % divisor == 0}
        rest = Form({a: times for a, times in form.terms.items() if times % divisor}, form.constant % divisor)
        outside = Form(whole, form.constant // divisor)
        low, high = self.atoms.bounds(rest)
        if low // divisor == high // divisor:
            return outside.shifted(low // divisor)
        key = (rest.key(), divisor)
        known = self._quotients.get(key)
        if known is None:
            known = self.atoms.add(Atom(low // divisor, high // divisor, "quotient", None))
            (atom,) = known.terms
            remainder = rest.plus(known, -divisor)
            self.atoms.table[atom].facts = (remainder, remainder.scaled(-1).shifted(divisor - 1))
            self.atoms.table[atom].source = Source(rest, divisor=divisor)
            self._quotients[key] = known
        return outside.plus(known)

    def remainder(self, form: Form, divisor: int) -> Form:
        """Returns `form mod divisor`, from 0 to `divisor - 1`, for a positive divisor."""
        return form.plus(self.quotient(form, divisor), -divisor)

    def smallest(self, first: Form, second: Form) -> Form:
        """Returns the smaller one of two forms."""
        difference = self.atoms.bounds(first.plus(second, -1))
        if difference[1] <= 0:
            return first
        if difference[0] >= 0:
            return second
        key = (first.key(), second.key())
        known = self._extremes.get(key)
        if known is None:
            one, other = self.atoms.bounds(first), self.atoms.bounds(second)
            known = self.atoms.add(Atom(min(one[0], other[0]), min(one[1], other[1]), "choice", None))
            (atom,) = known.terms
            entry = self.atoms.table[atom]
            entry.facts = (first.plus(known, -1), second.plus(known, -1))
            entry.source = Source(first, second)
            entry.choice = ((known.plus(first, -1),), (known.plus(second, -1),))
            self._extremes[key] = known
        return known

    def largest(self, first: Form, second: Form) -> Form:
        """Returns the larger one of two forms."""
        return self.smallest(first.scaled(-1), second.scaled(-1)).scaled(-1)

    def either(self, first: Form, second: Form, when: Facts, otherwise: Facts) -> Form:
        """Returns an atom that is `first` where the facts `when` hold, and else `second`."""
        if first.key() == second.key():
            return first
        one, other = self.atoms.bounds(first), self.atoms.bounds(second)
        chosen = self.atoms.add(Atom(min(one[0], other[0]), max(one[1], other[1]), "choice", None))
        (atom,) = chosen.terms

        def equal(form: Form) -> Facts:
            difference = chosen.plus(form, -1)
            return difference, difference.scaled(-1)

        self.atoms.table[atom].choice = ((*equal(first), *when), (*equal(second), *otherwise))
        return chosen


# The rules


def _sum(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
    return operands[0].plus(operands[1])


def _difference(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
    return operands[0].plus(operands[1], -1)


def _product(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
    first, second = operands
    if not second.terms:
        return first.scaled(second.constant)
    if not first.terms:
        return second.scaled(first.constant)
    ends = [a * b for a in self.atoms.bounds(first) for b in self.atoms.bounds(second)]
    low, high = range_of_type(op.results[0].type)
    return self.unknown(min(ends), max(ends)) if low <= min(ends) and max(ends) <= high else None


def _cast(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
    return operands[0] if _width(op.operands[0].type) > 1 else self.unknown(-1, 0)


def _unsigned_cast(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
    if self.atoms.bounds(operands[0])[0] >= 0 and _width(op.operands[0].type) > 1:
        return operands[0]
    return self.unknown(0, (1 << _width(op.operands[0].type)) - 1)


def _width(kind: Attribute) -> int:
    return kind.width.data if isinstance(kind, IntegerType) else 64


def _floor_division(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
    divisor = operands[1]
    if not divisor.terms and divisor.constant > 0:
        return self.quotient(operands[0], divisor.constant)
    return _division_by_size(self, op, operands)


def _ceil_division(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
    divisor = operands[1]
    if divisor.terms or divisor.constant <= 0:
        return None
    return self.quotient(operands[0].scaled(-1), divisor.constant).scaled(-1)


def _division(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
    """A division that rounds towards 0, or one of unsigned numbers. Both are floors where nothing is negative."""
    divisor = operands[1]
    if self.is_natural(operands[0], op):
        is_number = not divisor.terms and divisor.constant > 0
        return self.quotient(operands[0], divisor.constant) if is_number else _division_by_size(self, op, operands)
    if isinstance(op, arith.DivSIOp) and not divisor.terms and divisor.constant > 0:
        low, high = self.atoms.bounds(operands[0])
        return self.unknown(-(-low // divisor.constant), max(high, 0) // divisor.constant)
    return None


def _division_by_size(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
    dividend, divisor = operands
    if self.atoms.bounds(dividend)[0] < 0 or self.atoms.bounds(divisor)[0] < 1:
        return None
    result = self.unknown(0, self.atoms.bounds(dividend)[1])
    (atom,) = result.terms
    self.atoms.table[atom].facts = (dividend.plus(result, -1),)
    return result


def _remainder(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
    dividend, divisor = operands
    low, high = self.atoms.bounds(dividend)
    if not divisor.terms and divisor.constant > 0:
        if self.is_natural(dividend, op):
            return self.remainder(dividend, divisor.constant)
        least = 0 if isinstance(op, arith.RemUIOp) else max(low, 1 - divisor.constant)
        return self.unknown(least, divisor.constant - 1)
    if low < 0 or self.atoms.bounds(divisor)[0] < 1:
        return None
    result = self.unknown(0, min(high, self.atoms.bounds(divisor)[1] - 1))
    (atom,) = result.terms
    self.atoms.table[atom].facts = (divisor.plus(result, -1).shifted(-1), dividend.plus(result, -1))
    return result


def _smaller(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
    return self.smallest(*operands)


def _larger(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
    return self.largest(*operands)


def _unless_negative(rule: Rule) -> Rule:
    """Returns a rule for unsigned numbers, which holds where no operand is negative as a signed one."""

    def unsigned(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
        return rule(self, op, operands) if all(self.atoms.bounds(each)[0] >= 0 for each in operands) else None

    return unsigned


def _shift_amount(op: Operation, amount: Form) -> int | None:
    fits = not amount.terms and 0 <= amount.constant < min(_width(op.results[0].type), 63)
    return 1 << amount.constant if fits else None


def _left_shift(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
    factor = _shift_amount(op, operands[1])
    return None if factor is None else operands[0].scaled(factor)


def _right_shift(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
    divisor = _shift_amount(op, operands[1])
    return None if divisor is None else self.quotient(operands[0], divisor)


def _mask(self: Integers, op: Operation, operands: Sequence[Form]) -> Form | None:
    first, second = operands if not operands[1].terms else (operands[1], operands[0])
    if second.terms or second.constant < 0 or _width(op.results[0].type) == 1:
        return None
    if second.constant & (second.constant + 1) == 0:
        return self.remainder(first, second.constant + 1)
    return self.unknown(0, second.constant)


RULES: Final[dict[type[Operation], Rule]] = {
    arith.AddiOp: _sum,
    arith.SubiOp: _difference,
    arith.MuliOp: _product,
    arith.IndexCastOp: _cast,
    arith.ExtSIOp: _cast,
    arith.TruncIOp: _cast,
    arith.ExtUIOp: _unsigned_cast,
    arith.FloorDivSIOp: _floor_division,
    arith.CeilDivSIOp: _ceil_division,
    arith.CeilDivUIOp: _unless_negative(_ceil_division),
    arith.DivSIOp: _division,
    arith.DivUIOp: _division,
    arith.RemSIOp: _remainder,
    arith.RemUIOp: _remainder,
    arith.MinSIOp: _smaller,
    arith.MaxSIOp: _larger,
    arith.MinUIOp: _unless_negative(_smaller),
    arith.MaxUIOp: _unless_negative(_larger),
    arith.ShLIOp: _left_shift,
    arith.ShRSIOp: _right_shift,
    arith.ShRUIOp: _unless_negative(_right_shift),
    arith.AndIOp: _mask,
}
"""What each op computes, as a form over the forms of its operands, or None where that is not known."""


def result_of(integers: Integers, op: Operation, operands: Sequence[Form]) -> Form:
    """Returns the form of the one result of `op`, one of `RULES`."""
    kind = op.results[0].type
    if _width(kind) > 1:
        form = RULES[op.__class__](integers, op, operands)
        if form is not None and integers.in_range(form, kind):
            return form
    return integers.unknown(*range_of_type(kind))


def literal(op: Operation) -> Form | None:
    """Returns the number that an `arith.constant` is, if it is one integer."""
    value = op.properties.get("value")
    if not isinstance(value, IntegerAttr):
        return None
    half = 1 << (_width(op.results[0].type) - 1)
    return number((value.value.data + half) % (2 * half) - half)
