"""
Diagnostics: what a message says, where it points, how it looks on a screen, and who listens to remarks.

```
model.mlir:3:8: error: 'arith.addi': operand types differ: i32 and i64
  %2 = arith.addi %0, %1 : i32
       ^
hint: did you mean 'arith.addf'?
```
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn

from xdsl.utils.exceptions import DiagnosticException, PassFailedException

from ...lazy_dataclass import dataclass
from .points import SourcePoint

if TYPE_CHECKING:
    from xdsl.ir import Operation

# A saved program runs without the dialects of xDSL, which `locations` loads: it is imported where an op is at hand.

Severity = Literal["error", "warning", "remark", "note"]

MESSAGE_CHARACTERS: Final = 800
"""The longest message printed. The middle of a longer one (printed types can be huge) is left out."""

MESSAGE_LINES: Final = 14
"""Most lines of a message printed, so that message, source, notes and hint stay on one screen of 24 lines."""

LINE_CHARACTERS: Final = 120
"""Widest piece of a source line printed."""


@dataclass(frozen=True)
class Diagnostic:
    """One message. `point` is where it was found, `length` the number of characters to underline there."""

    message: str
    severity: Severity = "error"
    point: SourcePoint | None = None
    length: int = 1
    hint: str | None = None
    notes: tuple[Diagnostic, ...] = ()
    source_line: str | None = field(default=None, compare=False)

    def with_note(self, message: str) -> Diagnostic:
        """Returns the diagnostic with one more note."""
        return replace(self, notes=(*self.notes, Diagnostic(message, "note")))


class Sendable(Exception):
    """
    An exception that another process can be sent, as pools of processes do, whatever it is made of.

    Python makes it again of its `args` alone, which are not what these classes take. What belongs to a program, such as
    its ops, stays behind.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        plain = {name: value for name, value in vars(self).items() if _is_plain(value)}
        return _again, (type(self), self.args, plain)


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float | Diagnostic)


def _again(kind: type[Sendable], args: tuple[Any, ...], attributes: dict[str, Any]) -> Sendable:
    """Returns the exception that was sent."""
    error = kind.__new__(kind)
    error.args = args
    vars(error).update(attributes)
    return error


class StepwellError(Sendable, DiagnosticException):
    """An error of the user's input, ready to be shown: `str(error)` is the rendered diagnostic."""

    def __init__(self, diagnostic: Diagnostic, sources: Mapping[str, str] | None = None):
        super().__init__(diagnostic.message)
        self.diagnostic = attach_source_line(diagnostic, sources)

    def __str__(self) -> str:
        return render(self.diagnostic)


class OperationError(Sendable, PassFailedException):
    """The error of a pass that cannot go on because of one op. It points at that op."""

    def __init__(self, op: Operation, message: str, *, hint: str | None = None):
        super().__init__(message)
        self.diagnostic = Diagnostic(about(op, message), "error", _place_of(op), hint=hint)


def _place_of(op: Operation) -> SourcePoint | None:
    from .locations import nearest_source_point

    return nearest_source_point(op)


def fail(op: Operation, message: str, *, hint: str | None = None) -> NoReturn:
    """Ends the running pass with an error located at `op`."""
    raise OperationError(op, message, hint=hint)


def about(op: Operation, message: str) -> str:
    """`message` with the name of `op` in front, unless it begins with that."""
    subject = f"'{op_name(op)}'"
    return message if message.startswith(subject) else f"{subject}: {message}"


def op_name(op: Operation) -> str:
    """Returns the name of `op` as written in IR. For an unregistered op this is the name it was written with."""
    unregistered_name = op.attributes.get("op_name__")
    return op.name if unregistered_name is None else getattr(unregistered_name, "data", op.name)


# Rendering


def shorten(text: str, characters: int = MESSAGE_CHARACTERS, lines: int = MESSAGE_LINES) -> str:
    """`text` with its middle left out when it is too long, its tail when it has too many lines."""
    if len(text) > characters:
        kept = (characters - 5) // 2
        text = f"{text[:kept]} ... {text[-kept:]}"
    pieces = text.split("\n")
    if len(pieces) > lines:
        pieces = [*pieces[: lines - 1], f"... ({len(pieces) - lines + 1} more lines)"]
    return "\n".join(pieces)


def printable(text: str) -> str:
    """`text` with the characters that a screen does not show (NUL, U+200B) as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def attach_source_line(diagnostic: Diagnostic, sources: Mapping[str, str] | None) -> Diagnostic:
    """`diagnostic` and its notes with the text of the line each points to, from `sources` or from disk."""
    notes = tuple(attach_source_line(note, sources) for note in diagnostic.notes)
    source_line = diagnostic.source_line
    if source_line is None and diagnostic.point is not None:
        source_line = _source_line(diagnostic.point, sources or {})
    return replace(diagnostic, notes=notes, source_line=source_line)


def _source_line(point: SourcePoint, sources: Mapping[str, str]) -> str | None:
    if point.file.endswith(".onnx"):
        return None  # The line is the number of a node, and the file has no text.
    text = sources.get(point.file)
    if text is None:
        try:
            with open(point.file, encoding="utf-8", errors="replace", newline="") as file:
                text = file.read()
        except (OSError, ValueError):
            text = _cell(point.file)
            if text is None:
                return None
    lines = text.split("\n")
    return lines[point.line - 1].removesuffix("\r") if 0 < point.line <= len(lines) else None


def _cell(name: str) -> str | None:
    """Returns the text of a cell of a notebook, which Python keeps for tracebacks and which is in no file."""
    lines = sys.modules["linecache"].getlines(name) if "linecache" in sys.modules else []
    return "".join(lines) or None


def _excerpt(line: str, column: int, length: int) -> list[str]:
    """The source line and the line of carets under it; of a long line only the part around the column."""
    start = min(max(column - 1, 0), len(line))
    window = 0
    if len(line) > LINE_CHARACTERS:
        window = max(0, min(start - LINE_CHARACTERS // 3, len(line) - LINE_CHARACTERS))
    shown = line[window : window + LINE_CHARACTERS]
    # Tabs and control characters keep the caret under its character only when each is one cell wide.
    shown = "".join(character if character.isprintable() else " " for character in shown)
    before, after = ("..." if window else ""), ("..." if window + LINE_CHARACTERS < len(line) else "")
    offset = len(before) + start - window
    carets = "^" * max(1, min(length, len(shown) - (start - window)))
    return [f"  {before}{shown}{after}", " " * (offset + 2) + carets]


def _unpainted(kind: str, text: str) -> str:
    """Returns `text` as it is."""
    return text


def render(diagnostic: Diagnostic, paint: Callable[[str, str], str] = _unpainted) -> str:
    """
    Returns the diagnostic as text without a final newline, at most one screen.

    `paint` is called with the kind of a part and its text, and returns what is printed: the kinds are the severities,
    `place`, `caret` and `hint`.
    """
    severity = diagnostic.severity
    where = "" if diagnostic.point is None else paint("place", f"{diagnostic.point}:") + " "
    lines = [f"{where}{paint(severity, f'{severity}:')} {printable(shorten(diagnostic.message))}"]
    if diagnostic.source_line and diagnostic.source_line.strip() and diagnostic.point is not None:
        line, carets = _excerpt(diagnostic.source_line, diagnostic.point.column, diagnostic.length)
        lines += [line, paint("caret", carets)]
    for note in diagnostic.notes[:2]:
        lines.append(render(replace(note, message=shorten(note.message, 300, 3)), paint))
    if diagnostic.hint is not None:
        lines.append(f"{paint('hint', 'hint:')} {printable(shorten(diagnostic.hint, 400, 4))}")
    return "\n".join(lines)


# Suggestions


def closest(name: str, known: Iterable[str]) -> str | None:
    """The name in `known` that `name` is most probably a misspelling of, `None` when none is near."""
    from difflib import get_close_matches

    candidates = sorted(known)
    if exact := [candidate for candidate in candidates if candidate.replace("_", "-") == name.replace("_", "-")]:
        return exact[0]
    found = get_close_matches(name, candidates, n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Returns the hint `did you mean 'x'?`, or `None` when no known name is close."""
    candidate = closest(name, known)
    return None if candidate is None else f"did you mean '{candidate}'?"


# Remarks and warnings

DiagnosticListener = Callable[[Diagnostic], None]

_listener: ContextVar[DiagnosticListener | None] = ContextVar("stepwell_diagnostic_listener", default=None)


@contextmanager
def listening(listener: DiagnosticListener) -> Iterator[None]:
    """Sends every remark and warning inside the block to `listener`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def remarks_wanted() -> bool:
    """Returns whether anybody listens. Remarks that take time to find out are left out otherwise."""
    return _listener.get() is not None


def emit_remark(op: Operation, text: str) -> None:
    """Tells whoever listens (`stepwell-opt --remarks`) what was or was not done to `op`, and why."""
    _emit(op, text, "remark")


def emit_warning(op: Operation, text: str) -> None:
    """Tells, as `emit_remark` does, what is probably not wanted. `stepwell-opt` always shows it."""
    _emit(op, text, "warning")


class DiagnosticWarning(UserWarning):
    """A warning of Python that tells a diagnostic. The commands show it as one."""

    def __init__(self, diagnostic: Diagnostic):
        super().__init__(diagnostic)  # What it is made of again, where it is sent to another process.
        self.diagnostic = diagnostic

    def __str__(self) -> str:
        return render(self.diagnostic)


def warn(diagnostic: Diagnostic) -> None:
    """Tells a warning about what is no op, such as a model. Where nobody listens it is a warning of Python."""
    listener = _listener.get()
    if listener is not None:
        listener(diagnostic)
    else:
        warnings.warn(DiagnosticWarning(diagnostic), stacklevel=2)


def warn_about(op: Operation, text: str) -> None:
    """Tells what `warn` does of an op: what is not as somebody asked for."""
    warn(Diagnostic(about(op, text), "warning", _place_of(op)))


def _emit(op: Operation, text: str, severity: Severity) -> None:
    if _listener.get() is not None:
        emit(Diagnostic(about(op, text), severity, _place_of(op)))


def emit(diagnostic: Diagnostic) -> None:
    """Gives a remark or warning that is about no op to whoever listens."""
    listener = _listener.get()
    if listener is not None:
        listener(diagnostic)
