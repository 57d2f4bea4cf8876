"""The check at the end of a lowering: nothing of its source dialect is left."""

from __future__ import annotations

from collections import Counter

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...core.ir.walk import walk
from ...core.messages.diagnostics import fail
from ...core.messages.locations import location_string

LISTED = 10
"""The most leftovers named in the message."""


def require_lowered(module: ModuleOp, dialect: str, pass_name: str) -> None:
    """Raises `OperationError` at the first op of `dialect` in `module`, with a list of all of them."""
    left: list[Operation] = [op for op in walk(module) if op.name.partition(".")[0] == dialect]
    if not left:
        return
    counts = Counter(op.name for op in left)
    summary = ", ".join(f"{number} '{name}'" for name, number in sorted(counts.items()))
    places = [f"'{op.name}' at {location_string(op)}" for op in left[:LISTED]]
    if len(left) > LISTED:
        places.append(f"and {len(left) - LISTED} more")
    fail(left[0], f"{pass_name} left {summary}: {', '.join(places)}")
