"""Exceptions that a caller of a compiled program can meet."""

from __future__ import annotations

from ..core.diagnostics import Diagnostic, StepwellError


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


class ExternalError(ExecutionError, StepwellError):
    """Code from outside failed: `__cause__` is what a Python function raised."""

    def __init__(self, reason: str, location: str):
        ExecutionError.__init__(self, reason, location)
        self.diagnostic = Diagnostic(f"{location}: {reason}")

    def __str__(self) -> str:
        return RuntimeError.__str__(self)


class CompileError(RuntimeError):
    """The program cannot be compiled as it stands: the message says what was found, expected, and what to add."""
