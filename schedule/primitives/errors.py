"""
The error of a primitive that would change what a function computes: the reason, and the IR with the culprits marked.
"""

from __future__ import annotations

from io import StringIO
from typing import NoReturn

from xdsl.ir import Operation
from xdsl.printer import Printer

from ...core.messages.diagnostics import OperationError
from ...dialects.tensor_loop import BlockOp, FuncOp, LoopOp

EXCERPT_LINES = 10
"""The most lines of IR in a message."""


class ScheduleError(OperationError):
    """
    Raised for a primitive that is not legal here. `str()` is the reason. The diagnostic adds the headers of the loops
    and blocks of the function, and marks those that are to blame by `>`.
    """

    def __init__(self, message: str, culprits: tuple[Operation, ...], hint: str | None = None):
        self.reason = message
        self.culprits = culprits
        self.hint = hint
        super().__init__(culprits[0], f"{message}\n{excerpt(culprits)}", hint=hint)


def refuse(message: str, *culprits: Operation, hint: str | None = None) -> NoReturn:
    """Ends a primitive that has changed nothing yet. The message points at the first culprit."""
    raise ScheduleError(message, culprits, hint)


def excerpt(culprits: tuple[Operation, ...]) -> str:
    """Returns the headers of the loops and blocks of the function around the culprits, with the culprits marked."""
    function: Operation | None = culprits[0]
    while function is not None and not isinstance(function, FuncOp):
        function = function.parent_op()
    if function is None:
        return ""
    ops = [op for op in function.walk() if isinstance(op, LoopOp | BlockOp) or op in culprits]
    marked = [number for number, op in enumerate(ops) if op in culprits]
    printer = _NamedPrinter(function)
    lines = [f"{'>' if op in culprits else ' '} {'  ' * _depth(op, function)}{printer.header(op)}" for op in ops]
    first = max(0, min(marked, default=0) - EXCERPT_LINES // 2)
    shown = lines[first : first + EXCERPT_LINES]
    return "\n".join((["  ..."] if first else []) + shown + (["  ..."] if first + len(shown) < len(lines) else []))


def _depth(op: Operation, function: Operation) -> int:
    depth, parent = 0, op.parent_op()
    while parent is not None and parent is not function:
        depth, parent = depth + 1, parent.parent_op()
    return depth


class _NamedPrinter:
    """Prints ops of a function with the names they have when the whole function is printed."""

    def __init__(self, function: Operation):
        self._stream = StringIO()
        self._printer = Printer(stream=self._stream)
        self._printer.print_op(function)

    def header(self, op: Operation) -> str:
        """Returns the first line of `op` as printed."""
        start = self._stream.tell()
        self._printer.print_op(op)
        self._stream.seek(start)
        text = self._stream.read()
        return text.lstrip().split("\n", 1)[0].partition(" reads(")[0]
