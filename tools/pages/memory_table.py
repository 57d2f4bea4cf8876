"""The table of `stepwell-run --memory`: what a program keeps in memory, one screen."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.memory import Memory

MOST_ROWS = 20
"""The number of buffers shown, the largest ones."""


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
