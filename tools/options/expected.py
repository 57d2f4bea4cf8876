"""
Matching of diagnostics against the comments of a test file.

    %0 = arith.addi %a, %b : i32  // expected-error {{is used before its definition}}
    // expected-error@+1 {{op 'arith.adi' is unknown}}
    // expected-remark@above {{not fused}}

The text is a part of the message. The place is `@+N`, `@-N`, `@here` (the same as none), `@above`, `@below` (the next
line that holds no such comment) or `@unknown` (no location). In `expected-error-re`, `{{...}}` inside the text is a
regular expression. Severities: error, warning, remark, note.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ...core.messages.diagnostics import Diagnostic
from ...core.messages.points import SourcePoint
from ...lazy_dataclass import dataclass

EXPECTATION: Final = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<regex>-re)?"
    r"\s*(?:@(?P<place>[+-]\d+|here|above|below|unknown))?\s*\{\{(?P<text>.*)\}\}"
)


@dataclass(frozen=True)
class Expectation:
    """A diagnostic that a comment announces. `line` is where it is to be, 0 for no location."""

    severity: str
    pattern: re.Pattern[str]
    text: str
    line: int
    written_at: int

    def matches(self, diagnostic: Diagnostic) -> bool:
        line = 0 if diagnostic.point is None else diagnostic.point.line
        return (
            diagnostic.severity == self.severity
            and line == self.line
            and self.pattern.search(diagnostic.message) is not None
        )


def expectations(text: str, line_offset: int = 0) -> list[Expectation]:
    """Returns the expectations in `text`. Lines count from `1 + line_offset`."""
    lines = text.split("\n")
    holds = [EXPECTATION.search(line) for line in lines]
    found: list[Expectation] = []
    for index, match in enumerate(holds):
        if match is None:
            continue
        place = match["place"] or "here"
        if place == "unknown":
            line = 0
        elif place in ("above", "below"):
            line = _neighbour(holds, index, -1 if place == "above" else 1) + 1 + line_offset
        else:
            line = index + (0 if place == "here" else int(place)) + 1 + line_offset
        pattern = pattern_of(match["text"], match["regex"] is not None)
        found.append(Expectation(match["severity"], pattern, match["text"], line, index + 1 + line_offset))
    return found


def _neighbour(holds: Sequence[re.Match[str] | None], index: int, step: int) -> int:
    index += step
    while 0 <= index < len(holds) and holds[index] is not None:
        index += step
    return index


def pattern_of(text: str, regex: bool) -> re.Pattern[str]:
    """Returns what a message has to hold. Raises `re.error` for an expression that is none."""
    if not regex:
        return re.compile(re.escape(text))
    parts = re.split(r"\{\{(.*?)\}\}", text)
    # re.split with one group alternates literal text and the captured expressions.
    return re.compile("".join(part if index % 2 else re.escape(part) for index, part in enumerate(parts)))


def mismatches(
    file: str, expected: Sequence[Expectation], found: Sequence[Diagnostic], optional: frozenset[str]
) -> list[Diagnostic]:
    """
    What is wrong: an error for each expectation without a diagnostic and each diagnostic without an expectation.

    Diagnostics of the `optional` severities need no expectation.
    """
    unmatched = list(expected)
    problems: list[Diagnostic] = []
    for diagnostic in [each for outer in found for each in (outer, *outer.notes)]:
        matching = next((candidate for candidate in unmatched if candidate.matches(diagnostic)), None)
        if matching is not None:
            unmatched.remove(matching)
        elif diagnostic.severity not in optional:
            message = f"unexpected {diagnostic.severity}: {diagnostic.message}"
            problems.append(Diagnostic(message, point=diagnostic.point, source_line=diagnostic.source_line))
    for expectation in unmatched:
        where = "without location" if expectation.line == 0 else f"at line {expectation.line}"
        message = f"expected {expectation.severity} {where} was not produced: {expectation.text}"
        problems.append(Diagnostic(message, point=SourcePoint(file, expectation.written_at, 1)))
    return problems
