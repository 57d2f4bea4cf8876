"""Testing the tests of rules: how many mutants are caught, which survive, and why."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal
from zlib import crc32

from xdsl.context import Context

from ...core.codegens import codegen_names, find_codegen
from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.text.parsing import make_context
from ...lazy_dataclass import dataclass
from ...patterns.language.registry import RuleError
from ...patterns.language.rules import Rule
from ...rewrites.fusion.rules import GroupRule
from .checking import RuleCheck, Settings
from .decision_checking import DecisionCheck
from .filechecked import (
    FileCheckTests,
    Replaced,
    group_rules_replaced,
    schedule_rules_replaced,
    table_replaced,
)
from .group_checking import GroupRuleCheck
from .group_mutants import group_mutants_of
from .mutants import Mutant, mutants_of
from .reporting import Report

Fate = Literal["caught", "survived", "equivalent", "cost", "structure", "void"]

LEAST_CAUGHT: Final = 0.94
"""The share of mutants that must be caught. Those that are the same rule do not count."""

PROBES: Final = 12
"""Applications of a rule from which its mutants are made: they show what its builders make."""

SECOND_LOOK: Final = 4
"""A mutant that survives is tested again with so many times the cases."""


FEW_EDITS: Final = 6
"""The changes in what builders made that say little, since there are so few of them."""


@dataclass(frozen=True)
class MutantReport:
    """The outcome of one mutant. `how` says how it was caught, or why it cannot be."""

    file: str
    rule: str
    what: str
    fate: Fate
    how: str = ""

    def __str__(self) -> str:
        return f"{self.fate:<10} {self.file}: {self.rule}: {self.what}{f': {self.how}' if self.how else ''}"


Decision = tuple[Replaced, Callable[[], Report]]
"""What puts a mutant of a rule that decides in the place of that, and what tests it on programs."""

Reasons = Mapping[tuple[str, str], str]
"""Why mutants that survive are no faults: by rule and mutant."""


def shipped_reasons(path: Path | None = None) -> dict[tuple[str, str], str]:
    """
    Returns the reasons kept in `equivalent.toml`, or in another file. Raises `StepwellError` for an entry without one.
    """
    source = files(__name__.rpartition(".")[0]).joinpath("equivalent.toml") if path is None else path
    found: dict[tuple[str, str], str] = {}
    for entry in tomllib.loads(source.read_text(encoding="utf-8")).get("equivalent", []):
        reason = entry.get("reason", "").strip()
        if not reason or not entry.get("rules") or not entry.get("mutants"):
            raise StepwellError(Diagnostic(f"{source}: an entry needs rules, mutants and a reason, found {entry}"))
        found |= {(rule, what): reason for rule in entry["rules"] for what in entry["mutants"]}
    return found


@dataclass(frozen=True)
class Judge:
    """What mutants are tested by: programs that are drawn, and FileCheck tests where there are any."""

    ctx: Context
    settings: Settings
    reasons: Reasons
    tests: FileCheckTests | None = None

    def mutant(self, file: str, rule: Rule, mutant: Mutant) -> MutantReport:
        """Tests a mutant of a rule that replaces, and when it survives once more with more cases."""
        report = MutantReport(file, rule.name, mutant.what, "caught")
        known = self.reasons.get((rule.name, mutant.what))
        if mutant.equivalent is not None:
            return replace(report, fate="equivalent", how=mutant.equivalent)
        if mutant.protects != "value":
            return self._by_tests(report, rule, mutant)
        for settings in self._looks(mutant, known):
            try:
                found = RuleCheck(self.ctx, mutant.rule, settings).run()
            except RuleError as error:
                return replace(report, how=f"rejected: {error}")
            if mutant.edits == []:
                return replace(report, fate="void", how="there is nothing to change")
            if not found.is_good:
                return replace(report, how=found.reason)
        return replace(report, fate="survived", how=known or "")

    def _by_tests(self, report: MutantReport, rule: Rule, mutant: Mutant) -> MutantReport:
        """Tests a mutant without a condition that is about cost or structure, which no value can notice."""
        known = self.reasons.get((rule.name, mutant.what))
        if self.tests is None:
            fate: Fate = "structure" if mutant.protects == "structure" else "cost"
            return replace(report, fate=fate, how=known or "the condition is not about values; FileCheck tests are")
        failing = self.tests.failing_for(report.file, rule, mutant.rule)
        return replace(report, how=failed(failing)) if failing else replace(report, fate="survived", how=known or "")

    def decision(self, file: str, name: str, what: str, decision: Decision) -> MutantReport:
        """
        Tests a mutant of a rule that decides. FileCheck tests are asked first, since programs only notice what is
        invalid or refused. There is no second look, as programs with a mutant and with its rule seldom differ.
        """
        report, (replaced, check) = MutantReport(file, name, what, "caught"), decision
        failing = None if self.tests is None else self.tests.failing(file, replaced)
        if failing is not None:
            return replace(report, how=failed(failing))
        try:
            found = check()
        except RuleError as error:
            return replace(report, how=f"rejected: {error}")
        if not found.is_good:
            return replace(report, how=found.reason)
        return replace(report, fate="survived", how=self.reasons.get((name, what), ""))

    def _looks(self, mutant: Mutant, known: str | None) -> Iterator[Settings]:
        """
        Yields the settings of each look at a mutant. One that is known to survive is looked at once. There is a third
        look where a builder seldom made what the fault is in.
        """
        yield self.settings
        if known is None:
            yield replace(self.settings, cases=SECOND_LOOK * self.settings.cases)
            if mutant.edits is not None and len(mutant.edits) < FEW_EDITS:
                yield replace(self.settings, cases=SECOND_LOOK**2 * self.settings.cases)


def failed(test: str) -> str:
    return f"the test {test} fails"


def check_mutants(
    rules: Iterable[tuple[str, Rule]],
    settings: Settings,
    *,
    reasons: Reasons | None = None,
    every: int = 1,
    ctx: Context | None = None,
    tests: FileCheckTests | None = None,
) -> Iterator[MutantReport]:
    """
    Tests the mutants of rules, given with the names of their files. Of `every` mutants one is tested, which the seed
    picks. With `tests` the rules are shipped ones, and FileCheck tests are run with mutants in their places.
    """
    context, rows = ctx or make_context(), list(rules)
    judge = Judge(context, settings, reasons or {}, tests)
    for file, rule in rows:
        decides = rule.group is not None or bool(rule.decisions)
        for mutant in mutants_of(context, rule, () if decides else _made(context, rule, settings)):
            if crc32(f"{settings.seed}/{rule.name}/{mutant.what}".encode()) % every:
                continue
            if not decides or mutant.equivalent is not None:
                yield judge.mutant(file, rule, mutant)
                continue
            others = [mutant.rule if other is rule else other for name, other in rows if name == file]
            decision = _of_decision(context, settings, file, mutant.rule, others)
            yield judge.decision(file, rule.name, mutant.what, decision)


def _made(ctx: Context, rule: Rule, settings: Settings) -> list[tuple[str, ...]]:
    """Names of the ops that applications of a rule make."""
    probe = RuleCheck(ctx, rule, replace(settings, cases=PROBES))
    probe.run()
    return probe.made


def _of_decision(ctx: Context, settings: Settings, file: str, rule: Rule, others: Sequence[Rule]) -> Decision:
    if rule.decisions:
        return lambda: schedule_rules_replaced(others), lambda: DecisionCheck(ctx, rule, settings).run()
    target = find_codegen(file) if file in codegen_names() else None
    more = replace(settings, cases=SECOND_LOOK * settings.cases)
    return lambda: table_replaced(file, others), lambda: RuleCheck(ctx, rule, more, target).run()


def check_group_mutants(
    rules: Sequence[GroupRule],
    settings: Settings,
    *,
    file: str = "fusion",
    reasons: Reasons | None = None,
    every: int = 1,
    ctx: Context | None = None,
    tests: FileCheckTests | None = None,
) -> Iterator[MutantReport]:
    """Tests the mutants of the group rules of one file, as `check_mutants` does."""
    judge = Judge(ctx or make_context(), settings, reasons or {}, tests)
    for rule in rules:
        for mutant in group_mutants_of(rule):
            if crc32(f"{settings.seed}/{rule.name}/{mutant.what}".encode()) % every:
                continue
            decision = _of_groups(judge.ctx, settings, rule, mutant.rule, rules)
            yield judge.decision(file, rule.name, mutant.what, decision)


def _of_groups(
    ctx: Context, settings: Settings, rule: GroupRule, mutant: GroupRule, rules: Sequence[GroupRule]
) -> Decision:
    others = [mutant if other is rule else other for other in rules]
    return lambda: group_rules_replaced(others), lambda: GroupRuleCheck(ctx, mutant, others, settings).run()


def stale(reports: Sequence[MutantReport], reasons: Reasons) -> list[str]:
    """Entries of `reasons` for mutants that do not exist or do not survive."""
    fates = ("survived", "cost", "structure")
    survivors = {(report.rule, report.what) for report in reports if report.fate in fates}
    return [f"{rule}: {what}" for rule, what in reasons if (rule, what) not in survivors]


@dataclass(frozen=True)
class MutationSummary:
    """Counts of all mutants by fate."""

    reports: Sequence[MutantReport]

    @property
    def counts(self) -> Counter[str]:
        return Counter(report.fate for report in self.reports)

    @property
    def share(self) -> float:
        """Returns the share of caught mutants among those that change what a rule means."""
        counts = self.counts
        total = counts["caught"] + counts["survived"]
        return counts["caught"] / total if total else 1.0

    def by_file(self) -> list[str]:
        """Returns a line for each file: `signs: 17 rules, 108 mutants, 104 caught (96.3%), 4 survived`."""
        lines = []
        for file in dict.fromkeys(report.file for report in self.reports):
            own = MutationSummary([report for report in self.reports if report.file == file])
            counts, rules = own.counts, len({report.rule for report in own.reports})
            total, caught = counts["caught"] + counts["survived"], counts["caught"]
            about = f"{rules} rules, {total} mutants, {caught} caught ({own.share:.1%})"
            lines.append(f"{file}: {about}, {counts['survived']} survived")
        return lines

    @property
    def unexplained(self) -> list[MutantReport]:
        """Survivors nobody has a reason for."""
        return [report for report in self.reports if report.fate == "survived" and not report.how]

    def __str__(self) -> str:
        counts = self.counts
        others = counts["cost"] + counts["structure"]
        return (
            f"{counts['caught'] + counts['survived']} mutants: {counts['caught']} caught ({self.share:.1%}), "
            f"{counts['survived']} survived, {len(self.unexplained)} of them without a reason; besides "
            f"{counts['equivalent']} that are the same rule, {others} of conditions on cost and structure"
        )


__all__ = ["MutantReport", "MutationSummary", "check_group_mutants", "check_mutants", "shipped_reasons", "stale"]
