"""Comments that begin like expectations of diagnostics and are none: each is an error that says what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ...core.messages.diagnostics import Diagnostic, did_you_mean
from ...core.messages.points import SourcePoint
from .expected import EXPECTATION, pattern_of

SEVERITIES: Final = ("error", "warning", "remark", "note")
FORMS: Final = tuple(f"expected-{severity}{regex}" for severity in SEVERITIES for regex in ("", "-re"))
PLACES: Final = ("@above", "@below", "@here", "@unknown")

_FIRST_WORD: Final = re.compile(r"//+[ \t]*(?P<word>[A-Za-z]+(?:[-_][A-Za-z]+)*)(?P<rest>.*)")
_PLACE: Final = re.compile(r"\s*@(?P<place>[^\s{]*)")


def malformed(file: str, text: str) -> Iterator[Diagnostic]:
    """Yields an error for each comment of `text` that begins like an expectation and is none."""
    for number, line in enumerate(text.split("\n"), 1):
        if (found := EXPECTATION.search(line)) is not None:
            message, hint = _wrong_expression(found)
        elif (comment := _FIRST_WORD.search(line)) is not None and _is_meant(comment["word"], comment["rest"]):
            message, hint = _wrong(comment["word"], comment["rest"])
            found = comment
        else:
            continue
        if message:
            column = 1 + (found.start("word") if found.re is _FIRST_WORD else found.start())
            yield Diagnostic(message, point=SourcePoint(file, number, column), source_line=line, hint=hint)


def _is_meant(word: str, rest: str) -> bool:
    """Returns whether a comment with this first word is meant to be an expectation, and is no prose."""
    if re.match(r"expected[-_]", word, re.IGNORECASE):
        return True
    if "{{" not in rest:
        return False
    return word.lower().startswith("expect") or did_you_mean(word, FORMS) is not None


def _wrong(word: str, rest: str) -> tuple[str, str | None]:
    """Returns what is wrong with a comment that is no expectation, and what helps."""
    if word not in FORMS:
        kinds = ", ".join(f"expected-{severity}" for severity in SEVERITIES)
        message = f"'{word}' announces no diagnostic, expected one of {kinds}, each also with -re"
        return message, did_you_mean(word.replace("_", "-").lower(), FORMS)
    place = _PLACE.match(rest)
    if place is not None and not re.fullmatch(r"[+-]\d+|above|below|here|unknown", place["place"]):
        message = f"'@{place['place']}' is no place of a diagnostic, expected @+N, @-N, {', '.join(PLACES)}"
        return message, did_you_mean(f"@{place['place']}", PLACES)
    return f"'{word}' has no text in double braces", f"write // {word} {{{{a part of the message}}}}"


def _wrong_expression(found: re.Match[str]) -> tuple[str, str | None]:
    try:
        pattern_of(found["text"], found["regex"] is not None)
    except re.error as error:
        return f"'{found['text']}' has a piece that is no regular expression: {error.msg}", None
    return "", None
