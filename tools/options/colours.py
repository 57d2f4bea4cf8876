"""
Colours on a terminal, for programs and for diagnostics.

`--color` decides, and `auto` asks the stream. Files and pipes get plain text, and so does a terminal where `NO_COLOR`
is set (https://no-color.org) or `TERM` is `dumb`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TextIO

from ...core.messages.diagnostics import Diagnostic, render

MODES: Final = ("auto", "always", "never")
"""The values of `--color`."""

_mode: ContextVar[str] = ContextVar("stepwell_colour_mode", default="auto")

ESCAPES: Final = {
    "error": "1;31",
    "warning": "1;35",
    "remark": "1;34",
    "note": "1;36",
    "hint": "1;36",
    "place": "1",
    "caret": "1;32",
    "comment": "2",
    "string": "32",
    "value": "36",
    "symbol": "33",
    "op": "1;34",
    "type": "35",
    "attribute": "33",
    "number": "32",
}
"""What each kind of text looks like: the numbers of SGR escape sequences (ECMA-48, 8.3.117)."""

TOKEN: Final = re.compile(
    r"""
      (?P<comment>//[^\n]*)
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<value>%[\w$.-]+(?:\#\d+)?)
    | (?P<symbol>@(?:[\w$.-]+|"[^"\n]*")|\^[\w$.-]+)
    | (?P<type>!?\b(?:tensor|memref|vector|complex|tuple)<[^<>\n]*(?:<[^<>\n]*>[^<>\n]*)*>
        |![a-zA-Z_][\w.]*|\b(?:[su]?i\d+|bf16|tf32|f\d+\w*|index|none)\b)
    | (?P<attribute>\#[a-zA-Z_][\w.]*|\bdense(?:_resource)?\b)
    | (?P<op>\b[a-zA-Z_]\w*(?:\.[a-zA-Z_]\w*)+)
    | (?P<number>(?<![\w.])-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)(?!\w)|\b(?:true|false|unit)\b)
    """,
    re.VERBOSE,
)
"""The tokens of textual IR that have a colour. What is between them has none."""


@contextmanager
def colour_mode(words: Sequence[str]) -> Iterator[None]:
    """Obeys the last `--color` of a command line inside the block, also for errors of the command line itself."""
    token = _mode.set(_chosen(words))
    try:
        yield
    finally:
        _mode.reset(token)


def _chosen(words: Sequence[str]) -> str:
    chosen = "auto"
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == "--color":
            chosen = value if equals else "".join(words[index + 1 : index + 2])
    return chosen


def wants_colours(stream: TextIO) -> bool:
    """Returns whether what is written to `stream` is to have colours."""
    mode = _mode.get()
    if mode != "auto":
        return mode == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") in ("", "dumb"):
        return False
    return stream is not None and stream.isatty()  # pyright: ignore[reportUnnecessaryComparison]


def painted(kind: str, text: str) -> str:
    """Returns `text` in the colour of its kind. It ends on its own line, so a pager may begin at any."""
    start = f"\x1b[{ESCAPES[kind]}m"
    return "\n".join(f"{start}{line}\x1b[0m" if line else line for line in text.split("\n"))


def coloured_program(text: str, stream: TextIO) -> str:
    """Returns the text of a program, with colours where `stream` wants them."""
    if not wants_colours(stream):
        return text
    return TOKEN.sub(lambda found: painted(str(found.lastgroup), found[0]), text)


def rendered(diagnostic: Diagnostic) -> str:
    """Returns a diagnostic as it goes to standard error."""
    return render(diagnostic, painted) if wants_colours(sys.stderr) else render(diagnostic)


def show(diagnostic: Diagnostic) -> None:
    """Prints a diagnostic on standard error."""
    print(rendered(diagnostic), file=sys.stderr)
