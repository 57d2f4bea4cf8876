"""
Assembly formats of xDSL's op classes that are read on first use.

xDSL reads the format of an op when its class is defined, a tenth of the time of a small program. Most ops of a dialect
are never parsed nor printed. While modules are loaded for us, a format is kept as text, and read when it is first used.
An invalid one is reported then.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from .late_classes import late_classes
from .messages.forks import free_in_children

with late_classes():
    from xdsl.irdl.declarative_assembly_format import FormatProgram

if TYPE_CHECKING:
    from xdsl.irdl import OpDef

_READ: Final = FormatProgram.from_str


class LateFormat(FormatProgram):
    """The format of an op, which is read when its statements are first asked for."""

    def __init__(self, text: str, op_def: OpDef):
        vars(self)["_source"] = text, op_def

    @cached_property
    def stmts(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        return _READ(*vars(self)["_source"]).stmts


_LOCK = Lock()
free_in_children(sys.modules[__name__], "_LOCK")
_inside = 0


@contextmanager
def late_formats() -> Iterator[None]:
    """Makes xDSL keep the formats of the ops that are defined inside the block as text, in all threads."""
    global _inside
    with _LOCK:
        _inside += 1
        FormatProgram.from_str = staticmethod(LateFormat)  # pyright: ignore[reportAttributeAccessIssue]
    try:
        with late_classes():
            yield
    finally:
        with _LOCK:
            _inside -= 1
            if not _inside:
                FormatProgram.from_str = staticmethod(_READ)
