"""Turns the exceptions that a compilation can end with into diagnostics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from xdsl.ir import Operation
from xdsl.utils.diagnostic import Diagnostic as XdslDiagnostic
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError

from ..messages.diagnostics import Diagnostic, about, attach_source_line
from ..messages.locations import nearest_source_point
from ..messages.texts import NESTED_TOO_DEEPLY
from .parsing import diagnostic_of_parse_error

INTERNAL_ERROR_HINT: Final = "this is a fault of the compiler, not of the program; --debug shows the traceback"


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
        return Diagnostic(NESTED_TOO_DEEPLY)
    if isinstance(error, MemoryError):
        return Diagnostic("out of memory")
    if isinstance(error, OSError) and error.filename is not None:
        return Diagnostic(f"cannot use '{error.filename}': {(error.strerror or message).lower()}")
    return Diagnostic(f"internal error: {type(error).__name__}: {message}", hint=INTERNAL_ERROR_HINT)


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
