"""Exceptions that a caller of a compiled program can meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.messages.diagnostics import Diagnostic, OperationError, StepwellError, did_you_mean
from ..core.messages.texts import takes_arguments


class ArgumentError(ValueError):
    """
    Raised for an argument that does not fit the program. The message names it and says what was found and what was
    expected.
    """


class SizesError(OperationError, ArgumentError):
    """Raised for arguments whose sizes do not agree. It points at the op that they do not fit, as the pass does."""

    def __init__(self, error: OperationError):
        Exception.__init__(self, str(error))
        self.diagnostic = error.diagnostic


def wrong_count(program: str, names: Sequence[str], arrays: Sequence[Any]) -> ArgumentError:
    """Returns the error for `arrays` that are not as many as the arguments `names` of `program`."""
    return ArgumentError(takes_arguments(program, names, len(arrays)))


def in_order(program: str, names: Sequence[str], arrays: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
    """
    Returns the arguments `names` of `program`, of which some are given in order and the others by name.

    Raises ArgumentError for a name that is unknown, given twice, or missing.
    """
    for name in named:
        if name not in names:
            hint = did_you_mean(name, names) or f"its arguments are {', '.join(names) or 'none'}"
            raise ArgumentError(f"'{program}' has no argument '{name}'; {hint}")
        if name in names[: len(arrays)]:
            raise ArgumentError(f"argument '{name}' of '{program}' is given twice")
    rest = names[len(arrays) :]
    if missing := [name for name in rest if name not in named]:
        raise ArgumentError(f"argument '{missing[0]}' of '{program}' is missing")
    return (*arrays, *(named[name] for name in rest))


class ExecutionError(RuntimeError):
    """
    The program failed while it ran: an index out of range, an integer division by zero, no memory.

    `reason` names the op and what happened (`graph.take: index out of range`). For a model it names the node too
    (`graph.take: index out of range in node '/embed/Gather' (Gather)`). `location` is the place of the op
    (`file:line:column`). Of a model the line is the number of the node.
    """

    def __init__(self, reason: str, location: str):
        super().__init__(f"{location}: error: {reason}")
        self.reason = reason
        self.location = location

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are pickled by their `args`, which is the whole message: a pool of processes broke on that.
        return type(self), (self.reason, self.location)


class ExternalError(ExecutionError, StepwellError):
    """Raised when code from outside failed. `__cause__` is the exception of a Python function."""

    def __init__(self, reason: str, location: str):
        ExecutionError.__init__(self, reason, location)
        self.diagnostic = Diagnostic(f"{location}: {reason}")

    def __str__(self) -> str:
        return RuntimeError.__str__(self)


class CompileError(RuntimeError):
    """
    Raised for a program that cannot be compiled as it stands. The message says what was found, expected, and what to
    add.
    """


class ProcessorError(CompileError):
    """Raised where a program would run that is compiled for a machine which this process does not run on."""
