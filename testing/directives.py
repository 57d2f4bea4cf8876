"""Comments that begin like directives of FileCheck and are none, which FileCheck passes over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ..core.messages.diagnostics import Diagnostic, did_you_mean
from ..core.messages.points import SourcePoint

KINDS: Final = ("NEXT", "SAME", "NOT", "DAG", "LABEL", "EMPTY")
"""What may follow a prefix and a hyphen, beside `COUNT-2`."""

_KIND: Final = re.compile(rf"{'|'.join(KINDS)}|COUNT-\d+")
_STAGE: Final = re.compile(r"\|\|?|&&|;")
_PREFIXES: Final = re.compile(r"--?check-prefix(?:es)?[=\s]+[\"']?([\w,-]+)")


def prefixes_of(run_lines: Iterable[str]) -> list[str]:
    """Returns the prefixes with which RUN lines, with their macros expanded, check the test file itself."""
    found: dict[str, None] = {}
    for line in run_lines:
        for stage in _STAGE.split(line):
            if not re.match(r"\s*(not\s+)?(filecheck|FileCheck)\s", stage) or "%s" not in stage:
                continue
            given = ",".join(_PREFIXES.findall(stage)) or "CHECK"
            found |= dict.fromkeys(prefix for prefix in given.split(",") if prefix)
    return list(found)


def unknown_directives(file: str, text: str, prefixes: Sequence[str]) -> Iterator[Diagnostic]:
    """Yields an error for each comment `PREFIX-WORD:` of `text` where the prefix is one of these and the word none."""
    if not prefixes:
        return
    longest_first = sorted(prefixes, key=len, reverse=True)
    begins = "|".join(map(re.escape, longest_first))
    word = re.compile(rf"(?://|#|;).*?(?<![\w-])(?P<whole>({begins})(?:[-_](?P<kind>[\w-]+))?)(?:\{{LITERAL\}})?\s*:")
    for number, line in enumerate(text.split("\n"), 1):
        found = word.search(line)
        # A prefix by itself is a directive, and what follows is its text.
        if found is None or "RUN:" in line or "COM:" in line or found["whole"] in prefixes:
            continue
        if found["whole"][len(found[2])] == "-" and _KIND.fullmatch(found["kind"]):
            continue
        message = f"'{found['whole']}' is no directive: expected {found[2]}-, then {', '.join(KINDS)} or COUNT-<n>"
        known = [f"{found[2]}-{kind}" for kind in KINDS]
        hint = did_you_mean(found["whole"].replace("_", "-").upper(), [*known, *prefixes])
        point = SourcePoint(file, number, found.start("whole") + 1)
        yield Diagnostic(message, point=point, source_line=line, hint=hint)
