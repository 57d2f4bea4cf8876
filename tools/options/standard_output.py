"""Standard output of a command: its errors are told from those of the system, and every text can be written to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.messages.files import reason_of


class _Watched:
    """A stream that keeps the error with which it refused what it was given."""

    def __init__(self, stream: TextIO):
        self._stream = stream
        self.refused: BaseException | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            self.refused = error
            raise

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self.refused = error
            raise


@contextmanager
def standard_output() -> Iterator[None]:
    """
    Writes out what is buffered at the end, where an error can still be shown. A closed stream refuses what it is given.

    Other errors of the system that name no file are told as such. What the encoding of the stream lacks is written as
    an escape.
    """
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdout = open(os.devnull)  # noqa: SIM115
    before = sys.stdout
    watched = _Watched(before)
    sys.stdout = watched  # pyright: ignore[reportAttributeAccessIssue]
    try:
        with _escaping(before):
            yield
            if before.writable():
                watched.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if error is watched.refused:
            silence(before)
            reason = "it is closed" if error.strerror is None else error.strerror.lower()
            raise StepwellError(Diagnostic(f"cannot write to standard output: {reason}")) from error
        if error.filename is not None:
            raise
        raise _of_the_system(error) from error
    finally:
        sys.stdout = before


@contextmanager
def _escaping(stream: TextIO) -> Iterator[None]:
    """Makes a stream write what its encoding lacks as escapes, where it would raise an error."""
    reconfigure: Any = getattr(stream, "reconfigure", None)
    before = stream.errors
    if reconfigure is None or before not in ("strict", "surrogateescape"):
        yield
        return
    reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        reconfigure(errors=before)


def _of_the_system(error: OSError) -> StepwellError:
    """Returns what to say of an error that names no file."""
    try:
        os.getcwd()
    except OSError:
        message = "the working directory does not exist: it has been deleted or renamed"
        return StepwellError(Diagnostic(message, hint="change to a directory that exists"))
    return StepwellError(Diagnostic(f"an operation of the system failed: {reason_of(error)}"))


def silence(stream: TextIO) -> None:
    """Sends what is still buffered nowhere: the reader has gone, and Python would complain at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        return
