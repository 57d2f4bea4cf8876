"""What IPython shows for the programs of xDSL, whose classes know nothing of notebooks."""

from __future__ import annotations

from typing import Any

MOST_CHARACTERS = 20_000
"""The most characters of a program that a cell prints as text."""


def register(shell: Any) -> None:
    """Makes a shell of IPython show modules and ops as their text, and as HTML where it can."""
    formatters = shell.display_formatter.formatters
    formatters["text/html"].for_type_by_name("xdsl.ir.core", "Operation", _html)
    formatters["text/plain"].for_type_by_name("xdsl.ir.core", "Operation", _plain)


def _html(op: Any) -> str:
    from .programs import program_html

    return program_html(op)


def _plain(op: Any, printer: Any, _: bool) -> None:
    words = str(op)
    printer.text(words if len(words) <= MOST_CHARACTERS else f"{words[:MOST_CHARACTERS]}\n...")
