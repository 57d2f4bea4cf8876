"""
The f16 of A that a `tile.mma` multiplies in f32 with vectors of B, each in all lanes of a register.

Converted one by one they take about a fifth of the time. (A bf16 is shifted in a general register.) So a few steps of a
row are converted as one vector, which goes to the stack. From there they come as the elements of an f32 matrix do. LLVM
would make shuffles of the vector instead, which compete with the products. So it does not get to know that what it
reads is the slot that was written.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.ir import SSAValue

from ..llvm_body import LLVMBody
from ..small_floats import change_format
from ..types import F32, PTR
from .cursor import PlaceCursor

AT_ONCE = 4
"""The most steps of a row that are converted at once."""

SLOT_BYTES, F32_BYTES = 64, 4
"""The alignment of the slot, and of its elements."""


class HalfElements:
    """The elements of `rows` rows of A and `steps` steps, to be asked for step by step."""

    def __init__(self, builder: LLVMBody, cursor: PlaceCursor, rows: int, steps: int):
        self.builder = builder
        self.cursor = cursor
        self.rows = rows
        self.parts = _parts(steps) if cursor.steps[1] == 1 and steps > 1 else {}
        """The steps that are converted at once, by the first of them. There are none where rows are not contiguous."""
        self.first = 0
        if self.parts:
            self.written, self.read = _slot(builder, rows * AT_ONCE)

    def element(self, row: int, step: int) -> SSAValue:
        """Returns an element as an f32."""
        builder = self.builder
        if not self.parts:
            return change_format(builder, self.cursor.scalar(row, step), F32)
        if row == 0 and step in self.parts:
            self.first = step
            self._write(step, self.parts[step])
        place = builder.gep(self.read, row * AT_ONCE + step - self.first, F32)
        return builder.load(place, F32, F32_BYTES)

    def _write(self, step: int, count: int) -> None:
        """Converts the next steps of all rows."""
        builder = self.builder
        for row in range(self.rows):
            few = self.cursor.row(row, step, count)
            wide = change_format(builder, few, builder.types.vector(F32, count))
            builder.store(wide, builder.gep(self.written, row * AT_ONCE, F32), count * F32_BYTES)


def _parts(steps: int) -> dict[int, int]:
    """Returns steps in parts of four, two and one: the first of each, and how many they are."""
    found: dict[int, int] = {}
    first = 0
    for count in (AT_ONCE, 2, 1):
        while steps - first >= count:
            found[first] = count
            first += count
    return found


def _slot(builder: LLVMBody, count: int) -> tuple[SSAValue, SSAValue]:
    """
    Returns a stack slot of at least `count` f32, as pointers to write and to read by. They are the same address, which
    an empty piece of assembly keeps from LLVM.
    """
    found = builder.widened_slots.get(count)
    if found is None:
        slot = builder.stack_slot(F32, count, SLOT_BYTES)
        same = llvm.InlineAsmOp("", "=r,0", [slot], [PTR])
        same.location = slot.owner.location  # pyright: ignore[reportAttributeAccessIssue]
        builder.prologue.append(same)
        assert same.res is not None
        found = builder.widened_slots[count] = slot, same.res
    return found
