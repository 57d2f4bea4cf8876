"""
A measure that every rule lowers, so that the rules come to an end.

A measure gives each value a number: `factor * (sum of the operands) + weight` for an op, with a factor and a weight for
each op name. An argument may be any number from a least one on. Factors are 1 or more, so what lowers a value lowers
all that is computed from it. Baader and Nipkow, "Term Rewriting and All That", 1998, chapter 5, has such measures.

Where rules bring constants together, `fold-constant` makes one of them. So what is computed of constants alone counts
as one constant, and examples that hold such ops before are left out. Signs do not count. Where the measure stays as it
is, a second one decides, which tells constants and signs apart. Where that stays too, the size of the expressions does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from xdsl.dialects.builtin import TensorType
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from ...lazy_dataclass import dataclass
from ...patterns.language.constants import is_constant_op
from ...patterns.language.functions import functions_of
from .examples import Example

ROUNDS: Final = 400
"""The rounds in which weights are corrected before a choice of factors counts as leading nowhere."""

CHOICES: Final = 12
"""The choices of factors that are tried."""

MOST_FACTOR: Final = 3

ARGUMENT: Final = "argument"

SIGNLESS: Final = {"graph.subtract": "graph.add", "graph.minimum": "graph.maximum"}
"""Ops that differ by a sign, which may be that of a constant, count as one in the first measure."""

Counts = Counter[str]


@dataclass(frozen=True)
class Measure:
    """The weights of ops, 0 where none is given, and their factors, 1 where none is given."""

    weights: Mapping[str, int]
    factors: Mapping[str, int]
    second: Measure | None = None
    """The measure that is lowered where this one stays as it is."""

    def __str__(self) -> str:
        shown: list[str] = []
        for name in sorted({*self.weights, *self.factors}):
            factor, weight = self.factors.get(name, 1), self.weights.get(name, 0)
            if factor != 1 or weight:
                shown.append(f"{name.removeprefix('graph.')} {weight}{f' (factor {factor})' if factor != 1 else ''}")
        first = ", ".join(shown) or "the number of ops"
        return first if self.second is None else f"{first}; where it stays, {self.second}"


@dataclass(frozen=True)
class Search:
    """The measure that was found, or the rule that was in the way of the last choice of factors."""

    measure: Measure | None
    in_the_way: str = ""


class _Counting:
    """Counts ops and arguments below values, each as often as the factors above it say."""

    def __init__(self, factors: Mapping[str, int], folded: bool = True):
        self._factors = factors
        self._folded = folded
        self._known: dict[SSAValue, Counts] = {}

    def of(self, values: Iterable[SSAValue]) -> Counts:
        total: Counts = Counter()
        for value in values:
            total.update(self._value(value))
        return total

    def _value(self, value: SSAValue) -> Counts:
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = self._new(value)
        return found

    def _new(self, value: SSAValue) -> Counts:
        if isinstance(value, BlockArgument):
            return Counter({f"{ARGUMENT} {value.index}": 1})
        assert isinstance(value, OpResult)
        op = value.op
        if self._folded and _is_known(op):
            return Counter({"constant": 1})
        if is_constant_op(op):
            return Counter({_constant(op): 1})
        total = self.of(_inputs(op))
        for name in total:
            total[name] *= self._factors.get(op.name, 1)
        name = SIGNLESS.get(op.name, op.name) if self._folded else op.name
        total.update([name, *(each.name for each in op.walk() if each is not op)])
        return total


def _is_known(op: Operation) -> bool:
    """Returns whether an op is a constant, or computes one value of constants alone."""
    if is_constant_op(op):
        return True
    if not op.operands or op.regions or len(op.results) != 1:
        return False
    return all(isinstance(value, OpResult) and _is_known(value.op) for value in op.operands)


def _is_foldable(module: Operation) -> bool:
    """Returns whether something is computed of constants alone."""
    return any(_is_known(op) and not is_constant_op(op) for op in module.walk())


def _constant(op: Operation) -> str:
    """Returns the name by which a constant is weighed. One of a single number is no tensor."""
    type_ = op.results[0].type
    return "scalar constant" if isinstance(type_, TensorType) and not type_.get_shape() else "constant"


def _inputs(op: Operation) -> list[SSAValue]:
    """Returns the operands of an op, and those of the ops inside of it that come from outside."""
    inner = [each for each in op.walk() if each is not op]
    here = {result for each in inner for result in each.results}
    here |= {
        argument for each in op.walk() for region in each.regions for one in region.blocks for argument in one.args
    }
    return [*op.operands, *(value for each in inner for value in each.operands if value not in here)]


def find_measure(examples: Sequence[Example]) -> Search:
    """
    Looks for a measure that every example lowers. Where it finds none, there may still be one.

    Examples that leave the first measure as it is are to lower a second one, in which nothing is folded.
    """
    search, same = _search([example for example in examples if not _is_foldable(example.before)], folded=True)
    if search.measure is None or not same:
        return search
    second, same = _search(same, folded=False)
    longer = [example for example in same if _size(example.after) >= _size(example.before)]
    if second.measure is None or longer:
        return Search(None, second.in_the_way or longer[0].rule.name)
    return Search(replace(search.measure, second=second.measure))


def _search(examples: Sequence[Example], folded: bool) -> tuple[Search, list[Example]]:
    """Returns a measure that no example raises, and the examples that leave it as it is."""
    factors: dict[str, int] = {}
    culprit = ""
    for _ in range(CHOICES):
        rows, same = _rows(examples, _Counting(factors, folded))
        weights, row = _weights(list(rows))
        if weights is not None:
            return Search(Measure(weights, dict(factors))), same
        example = rows[row]
        culprit = example.rule.name
        root = example.root.name
        if factors.get(root, 1) >= MOST_FACTOR:
            break
        factors[root] = factors.get(root, 1) + 1
    return Search(None, culprit), []


Row = tuple[tuple[str, int], ...]


def _rows(examples: Sequence[Example], counting: _Counting) -> tuple[dict[Row, Example], list[Example]]:
    """Returns how the counts of examples change, with one example for each change, and those that change none."""
    rows, same = dict[Row, Example](), list[Example]()
    for example in examples:
        row = counting.of(_returned(example.after))
        row.subtract(counting.of(_returned(example.before)))
        changed = tuple(sorted((name, number) for name, number in row.items() if number))
        if changed:
            rows.setdefault(changed, example)
        else:
            same.append(example)
    return rows, same


def _size(module: Operation) -> tuple[int, int]:
    """Returns the size of what a program computes, written as expressions, and its number of ops."""
    return _Counting({}, folded=False).of(_returned(module)).total(), sum(1 for _ in module.walk())


def _returned(module: Operation) -> Sequence[SSAValue]:
    main = next(each for each in functions_of(module) if each.sym_name.data == "main")  # pyright: ignore[reportArgumentType]
    last = main.body.block.last_op
    return () if last is None else last.operands


def _weights(rows: Sequence[Row]) -> tuple[dict[str, int] | None, Row]:
    """
    Returns weights that make every row negative. Otherwise it returns `None` and the row that was corrected most.

    A row that is not negative yet is subtracted from the weights, as a perceptron learns.
    """
    for row in rows:
        if any(number > 0 for name, number in row if name.startswith(ARGUMENT)):
            return None, row
    plain = [_without_numbers(row) for row in rows]
    weights: Counts = Counter({name: 1 for row in plain for name in row})
    corrected: Counter[int] = Counter()
    for _ in range(ROUNDS):
        wrong = [place for place, row in enumerate(plain) if sum(weights[name] * row[name] for name in row) >= 0]
        if not wrong:
            return dict(weights), ()
        for place in wrong:
            corrected[place] += 1
            for name, number in plain[place].items():
                weights[name] = max(weights[name] - number, 1 if name == ARGUMENT else 0)
    return None, rows[corrected.most_common(1)[0][0]]


def _without_numbers(row: Row) -> Counts:
    """Returns a row in which all arguments are one: each counts the least that it may be."""
    plain: Counts = Counter()
    for name, number in row:
        plain[ARGUMENT if name.startswith(ARGUMENT) else name] += number
    return plain


__all__ = ["Measure", "Search", "find_measure"]
