"""Turns the exceptions that a compilation can end with into diagnostics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import PurePath
from traceback import walk_tb
from typing import Any, Final

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.diagnostic import Diagnostic as XdslDiagnostic
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError

from ..messages.diagnostics import Diagnostic, about, attach_source_line
from ..messages.locations import nearest_source_point
from ..messages.texts import NESTED_TOO_DEEPLY
from ..plugins import maker_of
from .parsing import diagnostic_of_parse_error

_OWN: Final = __name__.partition(".")[0]

_ENDLESS: Final = 100
"""The calls of one function inside each other from which on it is taken to cause a RecursionError."""

_command: ContextVar[str | None] = ContextVar("stepwell_command", default=None)


@contextmanager
def reproduced_by(command: str) -> Iterator[None]:
    """Says which command shows the traceback of what fails inside the block, for the hint of an internal error."""
    token = _command.set(command)
    try:
        yield
    finally:
        _command.reset(token)


def internal_error_hint(whose: str = "the compiler") -> str:
    """Returns the hint of an error that is not the user's but `whose`, with the command that shows more."""
    command = _command.get()
    more = "--debug shows the traceback"
    if command is not None:
        more = f"this shows the traceback: {command}"
    other = "the program" if whose == "the compiler" else "the program or of stepwell"
    return f"this is a fault of {whose}, not of {other}; {more}"


def diagnostic_of(error: BaseException, sources: Mapping[str, str] | None = None) -> Diagnostic:
    """
    What to show for `error`, with the source line it points to.

    Of xDSL's exceptions the printed module that they drag along in `__notes__` is dropped, and the op they are
    about is found. An exception that is no `DiagnosticException` is reported as internal.
    """
    return attach_source_line(_diagnostic_of(error), sources)


def _diagnostic_of(error: BaseException) -> Diagnostic:
    own = getattr(error, "diagnostic", None)
    if isinstance(own, Diagnostic):
        return own
    if isinstance(error, ParseError):
        return diagnostic_of_parse_error(error)
    if isinstance(error, ArgSpecParseError):
        return diagnostic_of_spec_error(error)
    message = str(error) or type(error).__name__
    if isinstance(error, DiagnosticException):
        op = op_of_emit_error(error)
        if op is None:
            return Diagnostic(message)
        return Diagnostic(about(op, message), point=nearest_source_point(op))
    if isinstance(error, RecursionError):
        return _endless(error) or Diagnostic(NESTED_TOO_DEEPLY)
    if isinstance(error, MemoryError):
        return Diagnostic("out of memory")
    if isinstance(error, OSError) and error.filename is not None:
        return Diagnostic(f"cannot use '{error.filename}': {(error.strerror or message).lower()}")
    return _fault_of_plugin(error, message) or Diagnostic(
        f"internal error: {type(error).__name__}: {message}", hint=internal_error_hint()
    )


def _endless(error: RecursionError) -> Diagnostic | None:
    """Returns the diagnostic of a function of a plug-in that calls itself until Python stops it."""
    frames = Counter(frame.f_code for frame, _ in walk_tb(error.__traceback__))
    names = {frame.f_code: frame.f_globals.get("__name__") for frame, _ in walk_tb(error.__traceback__)}
    often = [code for code, count in frames.most_common() if count >= _ENDLESS]
    code = next((code for code in often if maker_of(str(names[code] or _OWN))), None)
    if code is None:
        return None
    return _fault_of_plugin(error, f"function '{code.co_name}' calls itself {frames[code]} times deep")


def _fault_of_plugin(error: BaseException, message: str) -> Diagnostic | None:
    """
    The diagnostic of an error that passed through code of a plug-in on its way up. It names the maker, the place in the
    code, and the op. Frames outside of the first one of Stepwell are the caller's.
    """
    frames = [(frame, number) for frame, number in walk_tb(error.__traceback__)]
    names = [str(frame.f_globals.get("__name__") or _OWN) for frame, _ in frames]  # Made code has no module.
    first = next((i for i, name in enumerate(names) if name.partition(".")[0] == _OWN), len(names))
    makers = [None if i < first else maker_of(name) for i, name in enumerate(names)]
    last = next((i for i in reversed(range(len(makers))) if makers[i] is not None), None)
    if last is None:
        return None
    maker, (frame, number) = makers[last], frames[last]
    text = f"{maker} failed: {type(error).__name__}: {message} ({PurePath(frame.f_code.co_filename).name}:{number})"
    ops = (_op_in(frame.f_locals) for frame, _ in reversed(frames[first : last + 1]))
    op = next((op for op in ops if op is not None), None)
    hint = internal_error_hint(str(maker))
    return (
        Diagnostic(text, hint=hint)
        if op is None
        else Diagnostic(about(op, text), point=nearest_source_point(op), hint=hint)
    )


def _op_in(variables: Mapping[str, Any]) -> Operation | None:
    """Returns the op that a function works on, to judge by its variables: `op`, `self`, or the one bound last."""
    named = [variables.get(name) for name in ("op", "self")]
    for value in [*named, *reversed(list(variables.values()))]:
        if isinstance(value, Operation) and not isinstance(value, ModuleOp):
            return value
    return None


def op_of_emit_error(error: BaseException) -> Operation | None:
    """
    The op that `op.emit_error(...)` was called on when it raised `error`.

    xDSL keeps it only in the frame that raised: there, `ir` is the op (`xdsl.utils.diagnostic`).
    """
    found: Operation | None = None
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_code is XdslDiagnostic.raise_exception.__code__:
            candidate = frame.f_locals.get("ir")
            found = candidate if isinstance(candidate, Operation) else None
        traceback = traceback.tb_next
    return found


def diagnostic_of_spec_error(error: ArgSpecParseError) -> Diagnostic:
    """
    The diagnostic of a malformed pipeline: xDSL gives only text (title, place, source, carets, message).
    """
    lines = [line for line in str(error).split("\n") if line.strip()]
    message = lines[-1].strip() if lines else "malformed pipeline"
    context = lines[2:-1]
    return malformed_pipeline("\n".join([_lower_first(message), *context]))


def malformed_pipeline(reason: str) -> Diagnostic:
    """Returns the diagnostic of a text that does not follow the grammar of pipelines."""
    return Diagnostic(f"malformed pipeline: {reason}")


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
