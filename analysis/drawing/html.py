"""
Objects as HTML for notebooks: static, with no script and nothing from outside, every text escaped.

The page around it decides between dark and light: text has its colour, and what is coloured can be read on both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Final

MOST_LINES: Final = 300
"""The most lines of a text that are shown."""

STYLE: Final = """<style>
.stepwell pre { margin: 0; padding: 4px 8px; overflow-x: auto; line-height: 1.35; background: none; color: inherit; }
.stepwell table { border-collapse: collapse; margin: 4px 8px; color: inherit; }
.stepwell td, .stepwell th { padding: 2px 10px; text-align: right; border-bottom: 1px solid #80808060; }
.stepwell td:first-child, .stepwell th:first-child { text-align: left; }
.stepwell .op { color: #2f7fc1; } .stepwell .value { color: #a0661c; } .stepwell .type { color: #2e8b57; }
.stepwell .string { color: #b5468c; } .stepwell .symbol { color: #8459b5; } .stepwell .comment { color: #808080; }
.stepwell .bar { display: inline-block; height: 0.7em; background: #d9534f; margin-right: 6px; }
.stepwell summary { cursor: pointer; }
</style>"""

_TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<comment>//[^\n]*)"
    r"|(?P<value>%[\w$.\-]+(?:#\d+)?)"
    r"|(?P<symbol>@[\w$.\-]+)"
    r"|(?P<type>\b(?:tensor|memref|vector)<[^\n<>]*>|\b(?:b?f\d+|u?i\d+|index)\b)"
    r"|(?P<op>\b[a-z_]\w*\.[\w.]+)"
)


def output(*parts: str) -> str:
    """Returns the pieces of HTML as one output of a cell."""
    return "\n".join(['<div class="stepwell">', STYLE, *parts, "</div>"])


def heading(words: str) -> str:
    """Returns a line of text above what it is about."""
    return f"<div><b>{escape(words)}</b></div>"


def text(words: str) -> str:
    """Returns plain text as it is."""
    return f"<pre>{escape(_shortened(words))}</pre>"


def program(ir: str) -> str:
    """Returns the text of a program, with ops, values, types, symbols, strings and comments in colours."""
    parts: list[str] = []
    end = 0
    ir = _shortened(ir)
    for found in _TOKEN.finditer(ir):
        parts += [escape(ir[end : found.start()]), f'<span class="{found.lastgroup}">{escape(found[0])}</span>']
        end = found.end()
    return f"<pre>{''.join(parts)}{escape(ir[end:])}</pre>"


def folded(title: str, body: str, is_open: bool = False) -> str:
    """Returns HTML that a click on its title shows."""
    return f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>{body}</details>"


def table(rows: Sequence[Sequence[str]], shares: Sequence[float | None] = ()) -> str:
    """Returns rows, the first as a heading. A row with a share of 0 to 1 has a bar of that length at its end."""
    lines = [_row(rows[0], "th", None)]
    padded = [*shares, *[None] * len(rows)]
    lines += [_row(row, "td", share) for row, share in zip(rows[1:], padded, strict=False)]
    return f"<table>{''.join(lines)}</table>"


def _row(cells: Sequence[str], tag: str, share: float | None) -> str:
    bar = "" if share is None else f'<td><span class="bar" style="width:{max(1, round(120 * share))}px"></span></td>'
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}{bar}</tr>"


def _shortened(words: str) -> str:
    lines = words.split("\n")
    if len(lines) <= MOST_LINES:
        return words
    return "\n".join([*lines[:MOST_LINES], f"... ({len(lines) - MOST_LINES} more lines)"])
