"""A test with its CHECK lines brought up to date, which filecheck has passed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

from ...core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ...core.messages.files import cannot
from ...lazy_dataclass import dataclass
from .outputs import Output, disagreement, outputs_of
from .patterns import Names
from .printed import Printed, functions_in, places_of, text_of
from .refresh import CheckLine, checks_in, groups_of, new_checks, new_plain_checks, refreshed

_SSA = re.compile(r"%([a-zA-Z_$.-][\w$.-]*)")


@dataclass
class Update:
    """What happened to a test. The lists hold names of functions; `""` stands for output that is no program."""

    text: str
    new: list[str] = field(default_factory=list[str])
    refreshed: list[str] = field(default_factory=list[str])
    kept: list[str] = field(default_factory=list[str])


@dataclass
class _Edits:
    """Lines to delete and to put in, by numbers of lines from 0."""

    gone: set[int] = field(default_factory=set[int])
    before: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    after: dict[int, list[str]] = field(default_factory=dict[int, list[str]])

    def applied(self, lines: Sequence[str]) -> list[str]:
        made: list[str] = []
        for number, line in enumerate([*lines, None]):
            made += self.before.get(number, [])
            if line is not None and number not in self.gone:
                made.append(line)
            made += self.after.get(number, [])
        return made


def updated(path: Path, functions: Sequence[str] = (), *, everything: bool = False) -> Update:
    """
    Returns a test with CHECK lines for the functions that have none.

    The lines of `functions`, or of all with `everything`, are refreshed where they do not fit any more. Raises
    `StepwellError` for what cannot be done, and where the test would not pass.
    """
    try:
        update = Update(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise cannot("read", path, error) from error
    outputs = outputs_of(path)
    known = dict.fromkeys(each.name for output in outputs for each in functions_in(output.text))
    for name in functions:
        if name not in known:
            hint = did_you_mean(name, known)
            raise StepwellError(Diagnostic(f"no RUN line of '{path}' prints a function @{name}", hint=hint))
    for output in _by_prefix(outputs, path):
        _update(update, output, frozenset(known if everything else functions), everything, str(path))
    for output in outputs:
        said = disagreement(output, update.text)
        if said is not None:
            message = f"'{path}' would not pass with prefix {output.prefix}, so it stays as it is:\n{said}"
            hint = "--function NAME or --all refreshes the lines that it has" if update.kept else None
            raise StepwellError(Diagnostic(message, hint=hint))
    return update


def _by_prefix(outputs: Sequence[Output], path: Path) -> list[Output]:
    """Returns one output for each prefix. Raises `StepwellError` where two of a prefix differ."""
    found: dict[str, Output] = {}
    for each in outputs:
        other = found.setdefault(each.prefix, each)
        if functions_in(other.text) != functions_in(each.text) or (
            not functions_in(each.text) and other.text != each.text
        ):
            message = f"RUN lines {other.number} and {each.number} of '{path}' have the prefix {each.prefix}"
            hint = "give one of them a --check-prefix of its own"
            raise StepwellError(Diagnostic(f"{message}, but print something else", hint=hint))
    return list(found.values())


def _update(update: Update, output: Output, chosen: frozenset[str], everything: bool, file: str) -> None:
    lines = update.text.split("\n")
    checks = checks_in(lines, output.prefix)
    printed = functions_in(output.text)
    if printed:
        edits = _of_functions(update, lines, checks, printed, output.prefix, chosen, everything, file)
    else:
        edits = _of_text(update, lines, checks, output, everything, file)
    update.text = "\n".join(edits.applied(lines))


def _of_text(
    update: Update, lines: Sequence[str], checks: Sequence[CheckLine], output: Output, everything: bool, file: str
) -> _Edits:
    """Output that is no program: its lines follow the RUN lines."""
    edits = _Edits()
    if checks and not everything:
        update.kept.append("")
        return edits
    made = [_written("", output.prefix, *each) for each in new_plain_checks(_lines_of(output, file))]
    at = checks[0].line if checks else 1 + max(number for number, line in enumerate(lines) if "RUN:" in line)
    by_hand = next((each for each in checks if each.suffix in ("NOT", "DAG") or "{{" in each.pattern), None)
    if by_hand is not None:
        message = f"'{file}' has lines for prefix {output.prefix} that somebody has written by hand"
        raise StepwellError(Diagnostic(message, hint=f"line {by_hand.line + 1} is one; delete or change them by hand"))
    edits.gone = {each.line for each in checks}
    edits.before[at] = made if checks else ["", *made]
    (update.refreshed if checks else update.new).append("")
    return edits


def _lines_of(output: Output, file: str) -> list[str]:
    """Returns what is printed, without the path of the test, which is another one elsewhere."""
    found = output.text.rstrip("\n").split("\n")
    if found == [""]:
        raise StepwellError(Diagnostic(f"RUN line {output.number} of '{file}' prints nothing to filecheck"))
    return [line.replace(str(Path(file).resolve()), Path(file).name).replace(file, Path(file).name) for line in found]


def _of_functions(
    update: Update,
    lines: Sequence[str],
    checks: Sequence[CheckLine],
    printed: Sequence[Printed],
    prefix: str,
    chosen: frozenset[str],
    everything: bool,
    file: str,
) -> _Edits:
    edits, groups, places = _Edits(), groups_of(checks), places_of(lines)
    if checks and "" in groups and len(groups) == 1:
        if chosen and not everything:
            message = f"the {prefix} lines of '{file}' have no {prefix}-LABEL, so nothing says whose they are"
            raise StepwellError(Diagnostic(message, hint=f"write // {prefix}-LABEL: @NAME before them"))
        update.kept += [each.name for each in printed]
        return edits
    made, at = _Placed(edits, lines), 0
    for number, function in enumerate(printed):
        written = frozenset(_SSA.findall(text_of(lines, function.name)))
        group = groups.get(function.name)
        if group is None:
            later = [groups[each.name][0].line for each in printed[number + 1 :] if each.name in groups]
            place = min([places.get(function.name, -1), *later])
            made.add(
                place,
                at,
                [_written(made.indent(place), prefix, *each) for each in new_checks(function, Names(written))],
            )
            update.new.append(function.name)
            at = max(at, place)
            continue
        made.flush(group[0].line)
        at = max(at, group[-1].line + 1)
        if function.name in chosen:
            _refresh(edits, group, function, written, prefix, file)
            update.refreshed.append(function.name)
        else:
            update.kept.append(function.name)
    made.flush(len(lines) - (lines[-1] == ""), at_end=True)
    return edits


@dataclass
class _Placed:
    """The new lines of functions, each before its function, or with the next one where it has no place of its own."""

    edits: _Edits
    lines: Sequence[str]
    waiting: list[str] = field(default_factory=list[str])

    def indent(self, place: int) -> str:
        line = self.lines[place] if place >= 0 else ""
        return line[: len(line) - len(line.lstrip())]

    def add(self, place: int, at: int, made: list[str]) -> None:
        """Adds the lines for a function that stands at `place`. CHECK lines before `at` are those of earlier ones."""
        self.waiting += ["", *made]
        if place >= at:
            self.flush(place)

    def flush(self, place: int, at_end: bool = False) -> None:
        """Puts the lines that wait before a line of the test."""
        if self.waiting:
            self.edits.before.setdefault(place, []).extend(self.waiting if at_end else self.waiting[1:])
        self.waiting = []


def _refresh(
    edits: _Edits, group: Sequence[CheckLine], function: Printed, written: frozenset[str], prefix: str, file: str
) -> None:
    result = refreshed(group, function, written, file)
    edits.gone |= {each.line for each in group} - {each.line for each in result.kept}
    for each in result.written:
        text = _written((each.after or group[0]).indent, prefix, each.suffix, each.pattern)
        where = edits.before if each.after is None else edits.after
        where.setdefault(group[0].line if each.after is None else each.after.line, []).append(text)


def _written(indent: str, prefix: str, suffix: str, pattern: str) -> str:
    name = f"{prefix}-{suffix}" if suffix else prefix
    return f"{indent}// {name}: {pattern}".rstrip()
