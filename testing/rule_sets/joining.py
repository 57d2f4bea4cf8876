"""Pairs of rules that apply to one program: whether it matters which one comes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from ...core.messages.diagnostics import OperationError, listening
from ...lazy_dataclass import dataclass
from ...patterns.language.match import Session
from ...patterns.language.rules import NUMERICS, Numerics, Rule
from ...patterns.matching.compiled_rule import compiled_once
from ..rules.application import OneApplication
from ..rules.compare import FLAVOURS, arguments_of, difference, outcome_of, sensitivity
from ..rules.drawing import Drawing
from ..rules.instances import Instance
from .examples import Example, applies, op_at
from .findings import Finding, PlacedRule
from .normal_forms import Normaliser, expression_key
from .unification import Overlaps

PROGRAMS: Final = 2
"""The programs on which one pair of rules at one overlap is looked at."""

TRIES: Final = 24
"""The programs that are drawn for one overlap."""

MOST_OVERLAPS: Final = 4000
"""The overlaps that are looked at. What is left out is said in a note."""


AGREE: Final = "the values agree"


@dataclass(frozen=True)
class _Both:
    """A program to which two rules apply, each at its place."""

    module: ModuleOp
    first: PlacedRule
    first_place: int
    second: PlacedRule
    second_place: int


class Joining:
    """
    Looks for pairs of `rules` with results that stay different when all rules have run to the end.

    The programs are the examples of each rule, in which others apply too, and programs made of two patterns of which
    one lies inside of the other. Only rules run that every choice of numerics with both rules selects.
    """

    def __init__(
        self,
        ctx: Context,
        rules: Sequence[PlacedRule],
        examples: Mapping[str, Sequence[Example]],
        most_overlaps: int = MOST_OVERLAPS,
    ):
        self._ctx = ctx
        self._most_overlaps = most_overlaps
        self._rules = rules
        self._compiled = {each.name: compiled_once(each.rule, ctx) for each in rules}
        self._once = {each.name: OneApplication(ctx, [each.rule]) for each in rules}
        self._examples = examples
        self._normalisers: dict[str, Normaliser] = {}
        self._looked_at: Counter[tuple[str, str]] = Counter()
        self._different: set[tuple[str, str]] = set()
        self.overlaps = 0
        """The overlaps that are known."""
        self.left_out = 0
        """The overlaps beyond `most_overlaps`."""
        self.endless: list[Finding] = []
        """The programs for which there was no fixed point."""

    @property
    def pairs(self) -> int:
        """Returns the number of pairs of rules that have been looked at."""
        return len(self._looked_at)

    def findings(self) -> list[Finding]:
        """Returns one finding for each pair of rules that has a program on which their results stay different."""
        found: list[Finding] = []
        for both in self._programs():
            key = _key(both)
            if key in self._different:
                continue
            self._looked_at[key] += 1
            finding = self._look_at(both)
            if finding is not None:
                self._different.add(key)
                found.append(finding)
        return found

    # Programs

    def _programs(self) -> Iterator[_Both]:
        for each in self._rules:
            for example in self._examples[each.name]:
                yield from self._others(each, example.before, example.place)
        overlaps = Overlaps(self._ctx)
        for one in self._rules:
            for other in self._rules:
                for joint in overlaps.of(one.rule, other.rule):
                    self.overlaps += 1
                    if self.overlaps > self._most_overlaps:
                        self.left_out += 1
                    elif _key_of(one, other) not in self._different:
                        yield from self._drawn(joint, one, other)

    def _others(self, each: PlacedRule, module: ModuleOp, place: int) -> Iterator[_Both]:
        """Yields the program with each rule that applies to it beside `each`, at most `PROGRAMS` for each pair."""
        session = Session(self._ctx, module)
        for number, op in enumerate(module.walk()):
            for other in self._rules:
                if number == place and other.name == each.name:
                    continue
                known = self._looked_at[_key_of(each, other)] >= PROGRAMS
                if not known and applies(self._compiled[other.name], op, session):
                    yield _Both(module, each, place, other, number)

    def _drawn(self, joint: Rule, one: PlacedRule, other: PlacedRule) -> Iterator[_Both]:
        """Yields programs in which `other` applies inside of what `one` matches."""
        drawing, found = Drawing(self._ctx, joint, 0), 0
        for number in range(TRIES):
            instance = drawing.draw(number)
            both = None if instance is None else self._both(instance, one, other)
            if both is not None:
                found += 1
                yield both
            if found >= PROGRAMS or (number >= TRIES // 2 and not found):
                return

    def _both(self, instance: Instance, one: PlacedRule, other: PlacedRule) -> _Both | None:
        session = Session(self._ctx, instance.module)
        if instance.root is None or not applies(self._compiled[one.name], instance.root, session):
            return None
        places = list(instance.module.walk())
        place = places.index(instance.root)
        for number, op in enumerate(places):
            is_same = one.name == other.name and number == place
            if not is_same and applies(self._compiled[other.name], op, session):
                return _Both(instance.module, one, place, other, number)
        return None

    # One program

    def _look_at(self, both: _Both) -> Finding | None:
        results: list[ModuleOp] = []
        normaliser = self._normaliser(both)
        with listening(lambda diagnostic: None):
            for rule, place in ((both.first, both.first_place), (both.second, both.second_place)):
                module = both.module.clone()
                try:
                    if not self._once[rule.name].once(module, op_at(module, place)):
                        return None
                    normaliser.run(module)
                except (OperationError, VerifyException) as error:
                    return self._endless(both, rule, error)
                results.append(module)
            if _same(results):
                return None
            folded = [module.clone() for module in results]
            for module in folded:
                normaliser.run_with_folding(module)
            if _same(folded):
                return None
        values = self._values(both, results)
        is_rounding = _numerics(both) != "exact" and values == AGREE and _same(folded, numbers=False)
        return None if is_rounding else self._finding(both, results, values)

    def _normaliser(self, both: _Both) -> Normaliser:
        numerics = _numerics(both)
        if numerics not in self._normalisers:
            allowed = NUMERICS[: NUMERICS.index(numerics) + 1]
            rules = [each.rule for each in self._rules if each.rule.numerics in allowed]
            self._normalisers[numerics] = Normaliser(self._ctx, rules)
        return self._normalisers[numerics]

    def _endless(self, both: _Both, rule: PlacedRule, error: Exception) -> None:
        message = f"after rule '{rule.name}' the rules do not come to an end: {str(error).strip().splitlines()[0]}"
        if not any(each.about == (rule,) for each in self.endless):
            self.endless.append(Finding("cycle", (rule,), message, (("example", both.module),)))

    def _finding(self, both: _Both, results: Sequence[ModuleOp], values: str) -> Finding:
        first, second = both.first, both.second
        message = (
            f"rules '{first.name}' and '{second.name}' apply to one program, and the result depends on which is first; "
            f"{values}"
        )
        titles = ("program", both.module), (f"first '{first.name}'", results[0]), (f"first '{second.name}'", results[1])
        return Finding("overlap", (first, second), message, titles)

    def _values(self, both: _Both, results: Sequence[ModuleOp]) -> str:
        """
        Returns what the reference says about the values of both results: whether each is what the class of the rules
        promises about the program. Rules that are `fast` promise nothing for elements that are not finite.
        """
        instance, numerics, runs = Instance(both.module, None, []), _numerics(both), 0
        for number, flavour in enumerate(FLAVOURS[numerics]):
            arguments = arguments_of(instance, number, flavour)
            before = outcome_of(both.module, arguments)
            if before.failure is not None:
                continue
            runs += 1
            slack = None if numerics == "exact" else sensitivity(both.module, arguments, before)
            for module in results:
                after = outcome_of(module, arguments)
                reason = after.failure or difference(before, after, numerics, slack)
                if reason is not None:
                    return f"the values differ: {reason}"
        return AGREE if runs else "the values are not known, as the program fails"


def _numerics(both: _Both) -> Numerics:
    return NUMERICS[max(NUMERICS.index(each.rule.numerics) for each in (both.first, both.second))]


def _same(results: Sequence[ModuleOp], *, numbers: bool = True) -> bool:
    return expression_key(results[0], numbers=numbers) == expression_key(results[1], numbers=numbers)


def _key_of(one: PlacedRule, other: PlacedRule) -> tuple[str, str]:
    first, second = sorted((one.name, other.name))
    return first, second


def _key(both: _Both) -> tuple[str, str]:
    return _key_of(both.first, both.second)


__all__ = ["AGREE", "MOST_OVERLAPS", "Joining"]
