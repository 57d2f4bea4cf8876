"""What a program keeps in memory: its data, and the table of them that fits on one screen."""

from __future__ import annotations

from collections.abc import Sequence

from ..lazy_dataclass import dataclass
from .drawing.html import output, text
from .drawing.memory import memory_svg

MOST_ROWS = 20
"""The number of buffers shown, the largest ones."""


@dataclass(frozen=True)
class ArenaBuffer:
    """
    A view of the arena: where it lies in bytes, and the first and the last step that uses it (see `Memory.steps`).
    """

    name: str
    type: str
    offset: int
    size: int
    first: int
    last: int


@dataclass(frozen=True)
class InPlaceUpdate:
    """Step number `step` calls `kernel`, which writes its result over what it reads from `buffer`."""

    step: int
    kernel: str
    buffer: str


@dataclass(frozen=True)
class Memory:
    """
    The memory of an entry. Sizes are in bytes. `live_bytes` is the most that is alive in the arena at one time. `None`
    stands for what the IR does not say.
    """

    entry: str
    arena_bytes: int
    live_bytes: int | None
    input_bytes: int
    output_bytes: int
    weight_bytes: int
    steps: tuple[str, ...]
    """The calls and copies of the entry, in order. Each is named by its kernel or by its op."""
    buffers: tuple[ArenaBuffer, ...]
    in_place: tuple[InPlaceUpdate, ...]

    @property
    def ratio(self) -> float | None:
        """
        Returns the bytes of the arena per byte that must be alive. The best value is 1, and `None` stands for not
        known.
        """
        if self.live_bytes is None:
            return None
        return self.arena_bytes / self.live_bytes if self.live_bytes else 1.0

    def __str__(self) -> str:
        return memory_table(self)

    def __repr__(self) -> str:
        return f"<stepwell.Memory of @{self.entry}: arena of {self.arena_bytes} bytes, {len(self.buffers)} buffers>"

    def _repr_html_(self) -> str:
        return output(self._repr_svg_(), text(memory_table(self)))

    def _repr_svg_(self) -> str:
        bars = [(each.name, each.first, each.last, each.offset, each.size) for each in self.buffers]
        return memory_svg(bars, self.arena_bytes, len(self.steps))


def memory_table(memory: Memory) -> str:
    """Sizes of all arguments, then the largest buffers of the arena, then what is updated in place."""
    bound = "unknown" if memory.live_bytes is None else f"{memory.live_bytes}"
    ratio = "" if memory.ratio is None else f" (ratio {memory.ratio:.3f})"
    lines = [
        f"@{memory.entry}, bytes",
        f"arena    {memory.arena_bytes:>14}   alive at most {bound}{ratio}",
        f"weights  {memory.weight_bytes:>14}",
        f"inputs   {memory.input_bytes:>14}",
        f"outputs  {memory.output_bytes:>14}",
    ]
    return "\n".join([*lines, *_buffers(memory), *_updates(memory)])


def _buffers(memory: Memory) -> list[str]:
    shown = sorted(memory.buffers, key=lambda buffer: -buffer.size)[:MOST_ROWS]
    if not shown:
        return []
    rows = [
        (
            str(each.offset),
            str(each.size),
            each.name,
            each.type,
            *(_step(memory, n) for n in (each.first, each.last)),
        )
        for each in sorted(shown, key=lambda buffer: (buffer.first, buffer.offset))
    ]
    heading = f"\nbuffers of the arena ({len(shown)} of {len(memory.buffers)}, the largest, by time)"
    return [heading, *_columns([("offset", "size", "name", "type", "first use", "last use"), *rows])]


def _step(memory: Memory, number: int) -> str:
    return "never" if number < 0 else f"{number} {_short(memory.steps[number])}"


def _short(name: str, most: int = 28) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows with their cells one below the other; numbers, the first two, to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines: list[str] = []
    for row in rows:
        cells = [
            cell.rjust(width) if column < 2 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _updates(memory: Memory) -> list[str]:
    if not memory.in_place:
        return []
    shown = [f"{each.step} {_short(each.kernel)} in {each.buffer}" for each in memory.in_place[:MOST_ROWS]]
    return [f"\nin place ({len(memory.in_place)})", *shown]
