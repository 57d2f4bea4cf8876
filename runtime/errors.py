"""Exceptions that a caller of a compiled program can meet."""

from __future__ import annotations


class ArgumentError(ValueError):
    """An argument does not fit the program: the message names it and says what was found and what was expected."""


class ExecutionError(RuntimeError):
    """
    The program failed while it ran: an index out of range, an integer division by zero, no memory.

    `reason` names the op (`graph.take: index out of range`), `location` where it stands (`file:line:column`).
    """

    def __init__(self, reason: str, location: str):
        super().__init__(f"{location}: error: {reason}")
        self.reason = reason
        self.location = location


class CompileError(RuntimeError):
    """The program cannot be compiled as it stands: the message says what was found, expected, and what to add."""
