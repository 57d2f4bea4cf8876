"""Tables of a run: as text for the terminal, as Markdown for docs/performance.md."""

from __future__ import annotations

from collections.abc import Sequence

from .engine import ENGINES, OURS
from .figures import ClassFigures, Row


def case_header(engines: Sequence[str]) -> list[str]:
    """The columns of the table of cases."""
    return [
        "case",
        *(f"{name} µs" for name in engines),
        "ratio",
        "95 %",
        "best peer",
        "GFLOP/s",
        "roof",
        "at most",
    ]


def case_cells(row: Row, engines: Sequence[str]) -> list[str]:
    """One row of the table of cases: a dash where there is no figure, a word where an engine had trouble."""
    times = [_time(row, name) for name in engines]
    interval = "-" if row.interval is None else f"{row.interval[0]:.2f}–{row.interval[1]:.2f}"
    return [
        row.name,
        *times,
        "-" if row.ratio is None else f"{row.ratio:.2f}",
        interval,
        row.best_peer or "-",
        "-" if row.gflops is None else f"{row.gflops:.0f}",
        "-" if row.roof_share is None else f"{row.roof_share:.0%}",
        "-" if row.ceiling is None else f"{row.ceiling:.2f}",
    ]


def _time(row: Row, engine: str) -> str:
    if engine in row.microseconds:
        value = row.microseconds[engine]
        return f"{value:.2f}" if value < 100 else f"{value:.0f}"
    return row.trouble[engine].split(":")[0] if engine in row.trouble else "-"


def class_header() -> list[str]:
    return ["class", "what", "cases", "geometric mean", "least case", "floor", "goal", "at most", "verdict"]


def class_cells(figures: ClassFigures) -> list[str]:
    """One row of the table of classes."""
    least = "-" if figures.least is None else f"{figures.least:.2f} ({figures.least_case})"
    return [
        figures.name,
        figures.title,
        f"{figures.measured} of {figures.cases}",
        "-" if figures.mean is None else f"{figures.mean:.3f}",
        least,
        "-" if figures.floor is None else f"{figures.floor:g}",
        "-" if figures.goal is None else f"{figures.goal:g}",
        "-" if figures.ceiling is None else f"{figures.ceiling:.2f}",
        figures.verdict,
    ]


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in columns for the terminal: names to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *rest = zip(cells, widths, strict=True)
        return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)])

    return "\n".join(map(line, [header, *rows]))


def troubles(rows: Sequence[Row]) -> list[str]:
    """
    Returns a line for each engine that gave no right result in time, ours first.

    Ops that an engine lacks are named once per engine.
    """
    lines: list[str] = []
    for engine in [*ENGINES, *sorted({name for row in rows for name in row.trouble} - set(ENGINES))]:
        for row in rows:
            if engine in row.trouble and (engine == OURS or not row.trouble[engine].startswith("unsupported")):
                lines.append(f"{row.name}: {engine} {row.trouble[engine]}")
    return lines
