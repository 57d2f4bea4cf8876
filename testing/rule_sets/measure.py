"""
A measure that every rule lowers, so that the rules come to an end.

A measure gives each value a number: `factor * (sum of the operands) + weight` for an op, with a factor and a weight for
each op name. An argument may be any number from a least one on. Factors are 1 or more, so what lowers a value lowers
all that is computed from it. Where the numbers stay as they are, the number of ops has to fall. Baader and Nipkow,
"Term Rewriting and All That", 1998, chapter 5, has such measures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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

Counts = Counter[str]


@dataclass(frozen=True)
class Measure:
    """The weights of ops, 0 where none is given, and their factors, 1 where none is given."""

    weights: Mapping[str, int]
    factors: Mapping[str, int]

    def __str__(self) -> str:
        shown: list[str] = []
        for name in sorted({*self.weights, *self.factors}):
            factor, weight = self.factors.get(name, 1), self.weights.get(name, 0)
            if factor != 1 or weight:
                shown.append(f"{name.removeprefix('graph.')} {weight}{f' (factor {factor})' if factor != 1 else ''}")
        return ", ".join(shown) or "the number of ops"


@dataclass(frozen=True)
class Search:
    """The measure that was found, or the rule that was in the way of the last choice of factors."""

    measure: Measure | None
    in_the_way: str = ""


class _Counting:
    """Counts ops and arguments below values, each as often as the factors above it say."""

    def __init__(self, factors: Mapping[str, int]):
        self._factors = factors
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
        total = self.of(_inputs(op))
        for name in total:
            total[name] *= self._factors.get(op.name, 1)
        total.update([_name(op), *(each.name for each in op.walk() if each is not op)])
        return total


def _name(op: Operation) -> str:
    """Returns the name by which an op is weighed. A constant of one number is no tensor."""
    if not is_constant_op(op):
        return op.name
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
    """Looks for a measure that every example lowers. Where it finds none, there may still be one."""
    factors: dict[str, int] = {}
    culprit = ""
    for _ in range(CHOICES):
        rows = _rows(examples, factors)
        weights, row = _weights(list(rows))
        if weights is not None:
            return Search(Measure(weights, dict(factors)))
        example = rows[row]
        culprit = example.rule.name
        root = example.root.name
        if factors.get(root, 1) >= MOST_FACTOR:
            break
        factors[root] = factors.get(root, 1) + 1
    return Search(None, culprit)


Row = tuple[tuple[str, int], ...]


def _rows(examples: Sequence[Example], factors: Mapping[str, int]) -> dict[Row, Example]:
    """Returns how the counts of each example change, with one example for each change."""
    counting, rows = _Counting(factors), dict[Row, Example]()
    for example in examples:
        row = counting.of(_returned(example.after))
        row.subtract(counting.of(_returned(example.before)))
        changed = tuple(sorted((name, number) for name, number in row.items() if number))
        fewer = sum(1 for _ in example.after.walk()) < sum(1 for _ in example.before.walk())
        if changed or not fewer:
            rows.setdefault(changed, example)
    return rows


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
        if not row or any(number > 0 for name, number in row if name.startswith(ARGUMENT)):
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
