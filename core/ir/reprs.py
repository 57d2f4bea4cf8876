"""What the prompt of Python shows for an op: its first line."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation

MOST_CHARACTERS = 160


def op_repr(op: Operation) -> str:
    """Returns the class of an op and the first line of its text, cut where it is long."""
    try:
        line = str(op).partition("\n")[0]
    except Exception:  # An op that is not whole has no text, and an error while one looks at it helps nobody.
        line = op.name
    return f"<{type(op).__name__} {line if len(line) <= MOST_CHARACTERS else line[:MOST_CHARACTERS] + '…'}>"


class ShownOp(IRDLOperation):
    """Base of the ops of our dialects, which show as a line."""

    def __repr__(self) -> str:
        return op_repr(self)
