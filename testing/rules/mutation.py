"""Testing the tests of rules: how many mutants are caught, which survive, and why."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal
from zlib import crc32

from xdsl.context import Context

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.text.parsing import make_context
from ...lazy_dataclass import dataclass
from ...patterns.language.registry import RuleError
from ...patterns.language.rules import Rule
from .checking import RuleCheck, Settings
from .mutants import Mutant, mutants_of

Fate = Literal["caught", "survived", "equivalent", "cost", "structure", "void"]

LEAST_CAUGHT: Final = 0.9
"""Share of the mutants that change what a rule means and must be caught."""

PROBES: Final = 12
"""Applications of a rule from which its mutants are made: they show what its builders make."""

SECOND_LOOK: Final = 4
"""A mutant that survives is tested again with so many times the cases."""


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


def check_mutant(ctx: Context, file: str, mutant: Mutant, settings: Settings, reasons: Reasons) -> MutantReport:
    """Tests one mutant, and when it survives once more with more cases."""
    rule = mutant.rule
    report = MutantReport(file, rule.name, mutant.what, "caught")
    known = reasons.get((rule.name, mutant.what))
    if mutant.equivalent is not None:
        return replace(report, fate="equivalent", how=mutant.equivalent)
    if mutant.protects != "value":
        fate: Fate = "structure" if mutant.protects == "structure" else "cost"
        return replace(report, fate=fate, how=known or "the condition is not about values; FileCheck tests are")
    for cases in (settings.cases, *([] if known is not None else [SECOND_LOOK * settings.cases])):
        try:
            found = RuleCheck(ctx, rule, replace(settings, cases=cases)).run()
        except RuleError as error:
            return replace(report, how=f"rejected: {error}")
        if mutant.edits == []:
            return replace(report, fate="void", how="there is nothing to change")
        if not found.is_good:
            return replace(report, how=found.reason)
    return replace(report, fate="survived", how=known or "")


def check_mutants(
    rules: Iterable[tuple[str, Rule]],
    settings: Settings,
    *,
    reasons: Reasons | None = None,
    every: int = 1,
    ctx: Context | None = None,
) -> Iterator[MutantReport]:
    """
    Tests the mutants of rules, given with the names of their files. Of `every` mutants one is tested, which the seed
    picks.
    """
    context = ctx or make_context()
    for file, rule in rules:
        probe = RuleCheck(context, rule, replace(settings, cases=PROBES))
        probe.run()
        for mutant in mutants_of(context, rule, probe.made):
            if crc32(f"{settings.seed}/{rule.name}/{mutant.what}".encode()) % every == 0:
                yield check_mutant(context, file, mutant, settings, reasons or {})


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


__all__ = ["MutantReport", "MutationSummary", "check_mutants", "shipped_reasons", "stale"]
