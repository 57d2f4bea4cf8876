"""The analysis of a set of rules: examples of each rule once, then what they tell about the rules together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from xdsl.context import Context

from ...core.text.parsing import make_context
from ...lazy_dataclass import dataclass
from ...patterns.text.loading import placed_rules_of_text
from .ending import endings
from .examples import EXAMPLES, Example, examples_of
from .findings import Finding, PlacedRule, placed
from .joining import MOST_OVERLAPS, Joining
from .known import Known
from .shadowing import Shadowing


@dataclass
class RuleSetReport:
    """What was found about rules that run together. `notes` say what was not looked at."""

    rules: int
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def without(self, known: Sequence[Known]) -> RuleSetReport:
        """Returns the report without the findings that have a reason on file. A note says how many these are."""
        left = [finding for finding in self.findings if not any(each.covers(finding) for each in known)]
        hidden = len(self.findings) - len(left)
        notes = [f"warnings with a reason on file, which are not shown: {hidden}"] if hidden else []
        return RuleSetReport(self.rules, left, [*self.notes, *notes])

    def summary(self, name: str) -> str:
        """`rules.mlir: 12 rules, 1 warning`."""
        count = len(self.findings)
        return f"{name}: {self.rules} rules, {count} warning{'s' if count != 1 else ''}"


def rule_set_of_text(text: str, name: str, ctx: Context | None = None) -> list[PlacedRule]:
    """Returns the rules of a text with their places. Raises `StepwellError` for a text that is not valid."""
    return [placed(op, rule) for op, rule in placed_rules_of_text(text, name, ctx)]


def analyse_rules(
    rules: Sequence[PlacedRule],
    ctx: Context | None = None,
    cases: int = EXAMPLES,
    seed: int = 0,
    most_overlaps: int = MOST_OVERLAPS,
) -> RuleSetReport:
    """
    Analyses rules that run together, in their order, on `cases` examples of each and on programs of `most_overlaps`
    pairs of patterns. Rules without a replacement are left out.
    """
    context = ctx or make_context()
    looked_at = [each for each in rules if each.rule.rhs or each.rule.callback is not None]
    report = RuleSetReport(len(looked_at))
    if len(looked_at) < len(rules):
        report.notes.append(f"rules without a replacement, which were left out: {len(rules) - len(looked_at)}")
    examples: dict[str, list[Example]] = {}
    for each in looked_at:
        examples[each.name] = examples_of(context, each.rule, cases, seed)
    if missing := [each.name for each in looked_at if not examples[each.name]]:
        report.notes.append(f"rules of which no example was found: {', '.join(missing)}")
    report.findings += Shadowing(context, looked_at, examples).findings()
    endless, note = endings(context, looked_at, examples)
    report.findings += endless
    report.notes.append(note)
    joining = Joining(context, looked_at, examples, most_overlaps)
    report.findings += joining.findings()
    report.findings += [] if endless else joining.endless
    report.notes.append(f"pairs of rules that apply to one program: {joining.pairs}")
    if joining.left_out:
        report.notes.append(f"{joining.left_out} of {joining.overlaps} overlaps were left out")
    return report


__all__ = ["RuleSetReport", "analyse_rules", "rule_set_of_text"]
