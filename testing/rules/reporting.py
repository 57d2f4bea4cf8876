"""Reports as text: one line per rule, a counter-example on one screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from typing import Any, Literal

from xdsl.dialects.builtin import ModuleOp

from ...lazy_dataclass import dataclass
from ...patterns.language.rules import Rule
from .compare import Outcome

Verdict = Literal["equal", "different", "not exercised"]

EQUAL = {
    "exact": "equal bit for bit",
    "rounding": "equal but for rounding",
    "quantised": "equal but for one step of integers, and for rounding",
    "fast": "equal where finite",
}
"""What a good verdict means in each numerics class."""

MOST_LINES = 16
"""Lines of a program or of values that a counter-example shows."""


@dataclass
class Report:
    """What became of one rule."""

    rule: Rule
    verdict: Verdict = "not exercised"
    tried: int = 0
    applied: int = 0
    runs: int = 0
    reason: str = ""
    """Why the verdict is not `equal`."""
    counterexample: str = ""
    dtypes: Counter[str] = field(default_factory=Counter)
    own: dict[str, str] = field(default_factory=dict)
    """The ops without a reference, and what was compared in its place: their `te` or their `loop_function`."""

    @property
    def is_good(self) -> bool:
        """Says whether the rule was applied often enough and computed the same each time."""
        return self.verdict == "equal"


def report_line(report: Report) -> str:
    """`ok    relu-of-relu (exact): equal bit for bit; applied 40 of 57, 80 runs`."""
    rule = report.rule
    mark = "ok   " if report.is_good else "WRONG" if report.verdict == "different" else "?    "
    what = EQUAL[rule.numerics] if report.is_good else report.verdict
    counts = f"applied {report.applied} of {report.tried}, {report.runs} runs"
    return f"{mark} {rule.name} ({rule.numerics}): {what}; {counts}"


def report_text(report: Report) -> str:
    """The line of a rule, and when it is not right why, with the counter-example."""
    lines = [report_line(report)]
    if not report.is_good:
        lines.append(f"  {report.reason}")
        lines += [f"  {line}" if line else "" for line in report.counterexample.splitlines()]
    return "\n".join(lines)


def summary(reports: Sequence[Report]) -> str:
    """
    `58 rules: 57 right, 1 wrong, 0 not exercised`, below a line about the ops that no reference in NumPy is there for.
    """
    wrong = sum(report.verdict == "different" for report in reports)
    idle = sum(report.verdict == "not exercised" for report in reports)
    right = len(reports) - wrong - idle
    counts = f"{len(reports)} rules: {right} right, {wrong} wrong, {idle} not exercised"
    return "\n".join([*own_meanings(reports), counts])


def own_meanings(reports: Sequence[Report]) -> list[str]:
    """Returns the line that names the ops without a reference: `no reference in NumPy: 'a.b' is computed by its te`."""
    own = {name: used for report in reports for name, used in report.own.items()}
    each = [f"'{name}' is computed by its {own[name]}" for name in sorted(own)]
    return [f"no reference in NumPy: {', '.join(each)}"] if each else []


def counterexample(
    before: ModuleOp,
    after: ModuleOp,
    arguments: Sequence[Any],
    wanted: Outcome | None,
    found: Outcome | None,
) -> str:
    """The program before and after, the inputs, and the outputs of both."""
    parts = ["before:", program_text(before), "after:", program_text(after)]
    for number, array in enumerate(arguments):
        parts.append(f"input {number}: {_values(array)}")
    for title, outcome in (("before", wanted), ("after", found)):
        if outcome is not None:
            shown = [_values(array) for array in outcome.results] or [f"fails: {outcome.failure}"]
            parts += [f"output {number} {title}: {text}" for number, text in enumerate(shown)]
    return "\n".join(parts)


def program_text(module: ModuleOp) -> str:
    """Returns the ops of a module as text, at most `MOST_LINES` lines."""
    lines = str(module).splitlines()[1:-1]
    hidden = len(lines) - MOST_LINES
    return "\n".join([*lines[:MOST_LINES], *([f"  … {hidden} more lines"] if hidden > 0 else [])])


def _values(array: Any) -> str:
    flat = [str(item) for item in array.reshape(-1)[:12]]
    more = ", …" if array.size > 12 else ""
    return f"{array.dtype}{list(array.shape)} [{', '.join(flat)}{more}]"
