"""What goes into `stepwell-opt` and comes out of it: chunks of input, their outcome, the output file."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from xdsl.ir import Attribute

from ...core.messages.diagnostics import Diagnostic
from ...core.messages.files import write_file
from .colours import coloured_program

SPLIT_LINE: Final = re.compile(r"^// -----.*$", re.MULTILINE)
"""A line that ends a chunk under `--split-input-file`."""

BLANK: Final = re.compile(r"(\s|//[^\n]*)*")


class Chunk(NamedTuple):
    """A piece of the input. `line_offset` lines of the file precede it."""

    text: str
    line_offset: int

    @property
    def is_blank(self) -> bool:
        """Says whether the piece holds nothing but white space and comments."""
        return BLANK.fullmatch(self.text) is not None


def chunks(text: str, split: bool) -> list[Chunk]:
    """Returns the pieces of `text` between the separating lines, or the whole when it is not to be split."""
    if not split:
        return [Chunk(text, 0)]
    pieces, start = [], 0
    for match in SPLIT_LINE.finditer(text):
        pieces.append(Chunk(text[start : match.start()], text.count("\n", 0, start)))
        start = min(match.end() + 1, len(text))
    return [*pieces, Chunk(text[start:], text.count("\n", 0, start))]


class Outcome:
    """What came of one chunk: the printed module or nothing, and the diagnostics in order."""

    def __init__(self):
        self.output: str | None = None
        self.diagnostics: list[Diagnostic] = []
        self.error: Exception | None = None
        self.in_parser = False


class Output:
    """The destination of the program: standard output at once, or a file written whole at the end."""

    def __init__(self, path: str | None, is_program: bool = True):
        self._path = None if path in (None, "-") else path
        self._is_program = is_program
        self._parts: list[str] = []

    def write(self, text: str) -> None:
        if self._path is None:
            sys.stdout.write(coloured_program(text, sys.stdout) if self._is_program else text)
            sys.stdout.flush()
        else:
            self._parts.append(text)

    def commit(self) -> None:
        if self._path is not None:
            write_file(self._path, "".join(self._parts))


def _no_check(self: Attribute) -> None:
    """Stands in for `Attribute.__post_init__` under `--disable-verify`."""


@contextmanager
def verification_of_attributes(enabled: bool) -> Iterator[None]:
    """Switches the checks that attributes make at construction off inside the block, as `xdsl-opt` does for good."""
    checked = Attribute.__post_init__
    if not enabled:
        Attribute.__post_init__ = _no_check
    try:
        yield
    finally:
        Attribute.__post_init__ = checked
