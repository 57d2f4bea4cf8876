"""The way a program fails in the reference: an exception that names the op, the reason and the place."""

from __future__ import annotations


class ReferenceFailure(Exception):
    """
    An op failed, as docs/semantics.md allows it to (rule 6).

    `op` is the name (`graph.take`) and `reason` the fixed text (`index out of range`). `location` is `file:line:col`.
    It is empty while the failure has not yet passed through `run`.
    """

    def __init__(self, op: str, reason: str, location: str = ""):
        self.op = op
        self.reason = reason
        self.location = location
        prefix = f"{location}: " if location else ""
        super().__init__(f"{prefix}{op}: {reason}")

    @property
    def message(self) -> str:
        """Returns what the native code reports after the location, such as `graph.take: index out of range`."""
        return f"{self.op}: {self.reason}"
