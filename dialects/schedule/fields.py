"""Parses the fields between angle brackets of the attributes by which schedules say how a kernel is cut up."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from xdsl.parser import AttrParser

from ...core.messages.diagnostics import did_you_mean


def one(name: str) -> int:
    """Returns the least number that most fields may hold."""
    return 1


def parse_fields(
    parser: AttrParser,
    subject: str,
    known: Sequence[str],
    flags: Collection[str],
    needed: Sequence[str],
    least_of: Callable[[str], int] = one,
) -> dict[str, int]:
    """
    Parses `<name = number, flag, ...>` in any order. Numbers are at least what `least_of` says of their names, and a
    flag that is there counts as 1.

    Fails for names that are not known or given twice, and for names in `needed` that are not given. `subject` is the
    name of the attribute in messages.
    """
    found: dict[str, int] = {}

    def parse_one() -> None:
        start = parser.pos
        name = parser.parse_identifier()
        if name not in known:
            hint = did_you_mean(name, known) or f"expected one of {', '.join(known)}"
            parser.raise_error(f"{subject} has no '{name}'; {hint}", start, parser.pos)
        if name in found:
            parser.raise_error(f"'{name}' is given twice", start, parser.pos)
        if name in flags:
            found[name] = 1
            return
        parser.parse_punctuation("=")
        start = parser.pos
        found[name], least = parser.parse_integer(allow_boolean=False, context_msg=f" for '{name}'"), least_of(name)
        if found[name] < least:
            parser.raise_error(f"{name} = {found[name]}, expected at least {least}", start, parser.pos)

    start = parser.pos
    parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_one)
    for name in needed:
        if name not in found:
            parser.raise_error(f"{subject} needs '{name}'", start, parser.pos)
    return found
