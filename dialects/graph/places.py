"""The line of Python that a builder call comes from, and the error that points at it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.messages.locations import source_point
from ...core.messages.points import SourcePoint

_HERE = __name__.rpartition(".")[0]


class BuilderError(StepwellError):
    """
    The error for a builder that is used in the wrong order, or is given an op that does not verify.

    It points at the Python line.
    """


def caller() -> FileLineColLoc:
    """Returns the location of the Python code that is running outside of the graph dialect and of contextlib."""
    frame = sys._getframe(1)
    own = contextmanager.__code__.co_filename
    while frame.f_back is not None and (
        frame.f_code.co_filename == own or str(frame.f_globals.get("__name__")).startswith(_HERE)
    ):
        frame = frame.f_back
    return FileLineColLoc(StringAttr(frame.f_code.co_filename), IntAttr(frame.f_lineno), IntAttr(1))


def fail_at(where: FileLineColLoc, message: str, hint: str | None = None) -> NoReturn:
    """Raises `BuilderError` at a line of Python."""
    point = source_point(where)
    assert isinstance(point, SourcePoint)
    raise BuilderError(Diagnostic(message, point=point, hint=hint)) from None


def parse_type_text(text: str, where: FileLineColLoc) -> Attribute:
    """Returns the type that `text` spells. Raises `BuilderError` when it spells none."""
    ctx = Context()
    ctx.load_dialect(Builtin)
    try:
        return Parser(ctx, text).parse_type()
    except ParseError as error:
        fail_at(where, f"'{text}' is not a type: {error.msg}")
