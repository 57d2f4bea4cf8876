"""What a program does that no program may do: an error with its kind, its place and, for two accesses, both places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from xdsl.ir import Operation, SSAValue

from ...core.messages.diagnostics import Diagnostic, StepwellError, about
from ...core.messages.locations import nearest_source_point

Kind = Literal["bounds", "unwritten", "input", "race", "alias", "lifetime", "extent", "endless", "unknown"]
"""
The kinds of faults.

- `bounds`: an index, a view or a size is outside of its buffer.
- `unwritten`: an element is read, or returned, that nothing has written.
- `input`: an argument that may only be read is written.
- `race`: two iterations of a parallel loop touch one element, and one of them writes it.
- `alias`: two arguments of a call share memory and must not.
- `lifetime`: a buffer is used or freed after its end, or freed by somebody who does not own it.
- `extent`: the value of an axis or a step is outside of what its op declares.
- `endless`: the program takes more steps, or deeper calls, than it was given.
- `unknown`: the interpreter does not know an op or a type.
"""

KINDS: tuple[str, ...] = get_args(Kind)


class LoopFault(StepwellError):
    """Raised where a program on loops or buffers does what no program may do. `kind` says what that is."""

    def __init__(self, kind: Kind, diagnostic: Diagnostic):
        super().__init__(diagnostic)
        self.kind: Kind = kind


def fault(
    kind: Kind, op: Operation, message: str, *, hint: str | None = None, other: Operation | None = None
) -> LoopFault:
    """Makes the fault of `op`. `other` is the op of the other access, which a note points at."""
    notes = (
        ()
        if other is None
        else (Diagnostic(f"'{other.name}' is the other access", "note", nearest_source_point(other)),)
    )
    return LoopFault(kind, Diagnostic(about(op, message), "error", nearest_source_point(op), hint=hint, notes=notes))


def name_of(value: SSAValue) -> str:
    """Returns the name of a buffer in messages."""
    return f"%{value.name_hint}" if value.name_hint is not None else "a buffer without a name"


def listed(numbers: Sequence[int]) -> str:
    """Returns indices as they are written: `[0, 3]`."""
    return f"[{', '.join(str(int(each)) for each in numbers)}]"
