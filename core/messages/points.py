"""A place in a source file. It stands apart so that an error can be shown where nothing of the IR is loaded."""

from __future__ import annotations

from typing import NamedTuple


class SourcePoint(NamedTuple):
    """A place in a source file. Line and column count from 1, the column in characters."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"
