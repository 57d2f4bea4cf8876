"""
Finds the rules of a shipped file that may match in a module at all, by the text of the file.

To read a rule takes half a millisecond, and few of them have to do with a small program. The text of a rule names ops
that its match needs. This is no second grammar of rules: what is not plain asks for nothing. A test compares what is
asked for with the rules as they are read.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, NamedTuple

OPERATORS: Final = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
"""What stands for an op between operands with a space on both sides. A minus without them may be a sign."""

_START = re.compile(r"^pattern\.", re.MULTILINE)
_NOISE = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*')
_HEADER = re.compile(r'pattern\.rule\s+"([^"]*)"\s*(exact|rounding|quantised|fast)?')
_FUNCTIONS = re.compile(r"(%\w+)\s+in\s+\[([^\]]*)\]")
_PART = re.compile(
    r"\[([^\]]*)\]\s*\(|(?<![\w@%.-])([a-z][\w.]*)\(|(%\w+)\(|(?<=\s)([-+*/])(?=\s)|(?:^|[(,])\s*(-)(?=[(%])"
)
_UNPLAIN = re.compile(r'\b(?:or|not|if|call)\b|(?<!graph\.)\bany|\bwhere\b(?!\()|[{}<>~|&!?]|""')


class RuleText(NamedTuple):
    """A rule as it stands in a file. A definition that rules share has no name, and is needed by any of them."""

    name: str
    numerics: str
    lines: slice
    needs: tuple[frozenset[str], ...]
    """The names that each op of the pattern may have. A module with none of one of these sets has no match."""

    def may_match(self, names: Collection[str]) -> bool:
        return all(not wanted.isdisjoint(names) for wanted in self.needs)


def rule_texts(text: str) -> list[RuleText]:
    """Returns the rules and definitions of a file, in their order."""
    starts = [found.start() for found in _START.finditer(text)]
    line, at, found = 0, 0, []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        line, at = line + text.count("\n", at, start), start
        piece = text[start:end]
        lines = slice(line, line + piece.count("\n") + (not piece.endswith("\n")))
        header = _HEADER.match(piece)
        if header is None:
            found.append(RuleText("", "exact", lines, ()))
        else:
            found.append(RuleText(header[1], header[2] or "exact", lines, _needs(piece)))
    return found


def _needs(piece: str) -> tuple[frozenset[str], ...]:
    """Returns the sets of names that the left side of an equation asks for, none where it is not plain."""
    header, _, equation = _NOISE.sub(_silent, piece).partition(":")
    left = equation.partition("=>")[0]
    if "=>" not in equation or _UNPLAIN.search(left):
        return ()
    functions = {name: _names(names) for name, names in _FUNCTIONS.findall(header)}
    needs: list[frozenset[str]] = []
    for several, one, function, operator, sign in _PART.findall(left):
        named = several or one or ("negative" if sign else OPERATORS.get(operator, ""))
        needs.append(functions[function] if function else _names(named))
    return tuple(dict.fromkeys(needs))


def _silent(noise: re.Match[str]) -> str:
    return '""' if noise[0].startswith('"') else " "


def _names(text: str) -> frozenset[str]:
    return frozenset(name if "." in (name := each.strip()) else f"graph.{name}" for each in text.split(","))


def excerpt(text: str, chosen: Collection[RuleText]) -> str:
    """Returns `text` with the lines of `chosen` alone, where they were. All others are empty."""
    lines = text.split("\n")
    kept = {number for each in chosen for number in range(*each.lines.indices(len(lines)))}
    return "\n".join(line if number in kept else "" for number, line in enumerate(lines))
