"""The CHECK lines of one function aligned with what is printed now: what fits stays, what does not is written anew."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.messages.points import SourcePoint
from ...lazy_dataclass import dataclass
from .patterns import Names, check_of, is_own, matches, plain_check_of
from .printed import Printed

_CHECK: Final = r"^(\s*)//\s*{}(?:-(DAG|COUNT-\d+|NOT|EMPTY|NEXT|SAME|LABEL))?(\{{LITERAL\}})?:(.*)$"
_NAME: Final = re.compile(r'@([\w$.-]+|"[^"]*")')


@dataclass(frozen=True)
class CheckLine:
    """A CHECK line of a test: the line of the file it is, counted from 0, and what it says."""

    line: int
    indent: str
    suffix: str
    pattern: str
    is_literal: bool = False

    def fits(self, text: str, names: Names) -> bool:
        """Returns whether a line that is printed fits, and binds the variables of this one."""
        return self.pattern in text if self.is_literal else matches(self.pattern, text, names)

    @property
    def is_own(self) -> bool:
        """Returns whether the line has a form that is written here."""
        return not self.is_literal and is_own(self.suffix, self.pattern)


@dataclass(frozen=True)
class Written:
    """A CHECK line to write: after the line of the test that `after` is, or before the whole group for `None`."""

    after: CheckLine | None
    suffix: str
    pattern: str


@dataclass(frozen=True)
class Refreshed:
    """The lines of a group that stay, and those to write."""

    kept: tuple[CheckLine, ...]
    written: tuple[Written, ...]


def checks_in(lines: Sequence[str], prefix: str) -> list[CheckLine]:
    """Returns the CHECK lines of a prefix."""
    pattern = re.compile(_CHECK.format(re.escape(prefix)))
    found = [(number, pattern.match(line)) for number, line in enumerate(lines)]
    return [
        CheckLine(number, match[1], match[2] or "", match[4].strip(), bool(match[3]))
        for number, match in found
        if match is not None
    ]


def groups_of(checks: Sequence[CheckLine]) -> dict[str, list[CheckLine]]:
    """Returns the CHECK lines by the function that the last CHECK-LABEL names, `""` before the first."""
    groups: dict[str, list[CheckLine]] = {}
    name = ""
    for each in checks:
        if each.suffix == "LABEL":
            found = _NAME.search(each.pattern)
            name = name if found is None else found[1]
        groups.setdefault(name, []).append(each)
    return groups


def new_checks(function: Printed, names: Names) -> list[tuple[str, str]]:
    """Returns suffixes and patterns for a function that has no CHECK lines yet."""
    found = _header(function.lines[0], names)
    return found + [("NEXT", check_of(line, names)) for line in function.lines[1:]]


def new_plain_checks(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Returns suffixes and patterns for lines that are no IR."""
    found = [("NEXT" if number else "", plain_check_of(line)) for number, line in enumerate(lines)]
    return [each if each[1] else ("EMPTY", "") for each in found]


def _header(line: str, names: Names) -> list[tuple[str, str]]:
    pattern = check_of(line, names)
    if "[[" not in pattern:
        return [("LABEL", pattern)]
    head, bracket, rest = pattern.partition("(")
    return [("LABEL", head + bracket), ("SAME", rest)]


def refreshed(group: Sequence[CheckLine], function: Printed, written: frozenset[str], file: str) -> Refreshed:
    """
    Aligns the CHECK lines of a function with what is printed.

    Raises `StepwellError` at a line that somebody has written by hand and that fits nothing.
    """
    kept = _aligned(group, function, written, file)
    names, last = Names(written), None
    made: list[Written] = []
    for number, line in enumerate(function.lines):
        here = kept.get(number, [])
        positive = [each for each in here if each.suffix not in ("NOT", "EMPTY")]
        if not positive:
            own = _header(line, names) if number == 0 else [("NEXT", check_of(line, names))]
            made += [Written(last, *each) for each in own]
        for each in here:
            if each in positive:
                each.fits(line, names)
            last = each
    return Refreshed(tuple(each for lines in kept.values() for each in lines), tuple(made))


def _aligned(
    group: Sequence[CheckLine], function: Printed, written: frozenset[str], file: str
) -> dict[int, list[CheckLine]]:
    """Returns the CHECK lines that stay, by the printed line that each fits or, as one of NOT, stands behind."""
    names, place, gone = Names(written), 0, 0
    kept: dict[int, list[CheckLine]] = {}
    between: list[tuple[CheckLine, int]] = []  # Each with a guess of the printed line that it stands behind.

    def settle(last: int) -> None:
        for line, guess in between:
            kept.setdefault(max(place, min(guess, last)), []).append(line)
        between.clear()

    for each in group:
        if each.suffix == "DAG" or each.suffix.startswith("COUNT"):
            raise _refused(each, file, f"CHECK-{each.suffix} does not say which lines it stands for")
        if each.suffix in ("NOT", "EMPTY"):
            between.append((each, place + gone))
            continue
        fitting = next((at for at in _range(each, place, function) if each.fits(function.lines[at], names)), None)
        if fitting is not None:
            settle(fitting - 1)
            place, gone = fitting, 0
            kept.setdefault(place, []).append(each)
        elif not each.is_own:
            raise _refused(each, file, f"'{each.pattern}' was written by hand and fits nothing that is printed now")
        elif each.suffix == "NEXT":
            gone += 1
        elif place == 0:
            kept[0] = [other for other in kept.get(0, []) if not other.is_own]
    settle(len(function.lines) - 1)
    return dict(sorted(kept.items()))


def _range(line: CheckLine, place: int, function: Printed) -> range:
    """Returns the printed lines that a CHECK line may stand for, after one for the line at `place`."""
    if line.suffix == "LABEL":
        return range(1)
    return range(place, place + 1) if line.suffix == "SAME" else range(place + 1, len(function.lines))


def _refused(line: CheckLine, file: str, message: str) -> StepwellError:
    point = SourcePoint(file, line.line + 1, len(line.indent) + 1)
    return StepwellError(Diagnostic(message, "error", point, hint="change or delete this line, then try again"))
