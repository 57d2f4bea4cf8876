"""
Writes the figures of a run into docs/performance.md, between the markers of the processor. `make bench` calls it last.

Each kind of processor has a section, which a later run on the same kind replaces.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

from first_results import HEADER as FIRST_HEADER
from first_results import cells as first_cells
from models import HEADER as MODELS_HEADER
from models import cells as model_cells
from suite.arguments import existing_file, figures_in
from suite.engine import ENGINES
from suite.figures import ClassFigures, Row
from suite.report import case_cells, case_header, class_cells, class_header, markdown
from zoo import HEADER, cells

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"

END = "<!-- end of results -->"


def run_text(result: dict[str, Any]) -> str:
    """Machine, classes, cases and notes of what kernels.py --json wrote."""
    rows = [Row(**row) for row in result["cases"]]
    engines = [name for name in ENGINES if any(name in row.microseconds or name in row.trouble for row in rows)]
    missing = [f"{name} was not installed" for name in result["missing"]]
    classes = [class_cells(ClassFigures(**class_)) for class_ in result["classes"]]
    parts = [
        wrapped(machine_line(result, missing)),
        markdown(class_header(), classes),
        "Every case; times in microseconds per call, the ratio with its 95 % interval, and the share of the roof:",
        markdown(case_header(engines), [case_cells(row, engines) for row in rows]),
        bullets(result["notes"]),
    ]
    return "\n\n".join(parts)


def machine_line(result: dict[str, Any], missing: list[str]) -> str:
    """A sentence on when, on what and with what."""
    machine = result["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    peaks = [row["peak_gflops"] for row in result["cases"] if row["peak_gflops"] is not None]
    peak = f" FMA peak {max(peaks):.0f} GFLOP/s per core." if peaks else ""
    lacking = f" {', '.join(missing)}." if missing else ""
    return (
        f"Measured on {machine['date']} by `{result['command']}`: {machine['cpu']}, {machine['features']}, "
        f"{machine['cpus']} CPUs, Python {machine['python']}, {packages}.{peak} {result['rounds']} rounds, "
        f"{result['clock']} clock.{lacking}"
    )


def compile_text(result: dict[str, Any]) -> str:
    """The table of compile_time.py --json."""
    header = ["program", "cold s", "from cache s", "limit s", "verdict"]
    rows = [
        [
            timing["name"],
            f"{timing['cold']:.3f}",
            f"{timing['cached']:.3f}",
            "-" if timing["limit"] is None else f"{timing['limit']:g}",
            timing["verdict"],
        ]
        for timing in result["programs"]
    ]
    return "\n\n".join(
        [
            "#### Compile time",
            f"Seconds, {result['clock']} clock.",
            markdown(header, rows),
            bullets(result["notes"]),
        ]
    )


def threads_text(result: dict[str, Any]) -> str:
    """The findings of threads.py --json."""
    return f"#### Two threads\n\n{bullets(result['notes'])}"


def first_text(result: dict[str, Any]) -> str:
    """The table of first_results.py --json."""
    return "\n\n".join(
        [
            "#### First results",
            wrapped(f"Seconds from the start of a process, least of some, on {result['machine']['date']}."),
            markdown(FIRST_HEADER, [first_cells(row) for row in result["programs"]]),
        ]
    )


def models_text(rows: list[dict[str, Any]]) -> str:
    """The table of models.py --json, run with two threads."""
    return "\n\n".join(["#### Whole models, two threads", markdown(MODELS_HEADER, [model_cells(row) for row in rows])])


def ops_text(result: dict[str, Any]) -> str:
    """The findings of ops.py --json."""
    lines = [f"{'  ' if note.startswith('  ') else ''}* {' '.join(note.split())}" for note in result["notes"]]
    return "\n\n".join(
        [
            "#### Single ops",
            wrapped(
                f"One thread, {result['rounds']} rounds, on {result['machine']['date']}. A line has the ratio, the "
                "microseconds of both, and the share of the roof."
            ),
            "\n".join(wrapped(line, "    ") for line in lines),
        ]
    )


def zoo_text(result: dict[str, Any]) -> str:
    """The table of zoo.py --json."""
    return "\n\n".join(
        [
            "#### Networks of torchvision",
            f"One thread, {result['rounds']} rounds, on {result['machine']['date']}.",
            markdown(HEADER, [cells(row, 3) for row in result["networks"]]),
            bullets(result["notes"]),
        ]
    )


def bullets(lines: list[str]) -> str:
    return "\n".join(wrapped(f"* {line}", "  ") for line in lines)


def wrapped(text: str, hanging: str = "") -> str:
    return textwrap.fill(text, 120, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)


def title_of(machine: dict[str, Any]) -> str:
    """The maker's name of a processor with its kind, `AMD EPYC (Zen 5)`, as far as Stepwell knows the kind."""
    words = machine["cpu"].replace("(R)", "").split()
    kind = machine.get("kind", "")
    return f"{' '.join(words[:2])} ({kind})" if kind else machine["cpu"]


def start_of(processor: str) -> str:
    """The marker before the figures of a kind of processor."""
    return f"<!-- results on {processor}: written by bench/page.py -->"


def replaced(page: str, processor: str, text: str) -> str:
    """
    The page with `text` between the markers of a processor. A new one comes behind all others. Ends the program when
    the page has no markers.
    """
    start = start_of(processor)
    if END not in page:
        sys.exit(f"the page has no '{END}'")
    section = f"{start}\n\n### {processor}\n\n{text}\n\n{END}"
    if start not in page:
        end = page.rindex(END) + len(END)
        return f"{page[:end]}\n\n{section}{page[end:]}"
    head, rest = page.split(start, 1)
    return f"{head}{section}{rest.split(END, 1)[1]}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", type=existing_file, help="what kernels.py --json wrote")
    parser.add_argument("--compile-time", type=existing_file, help="what compile_time.py --json wrote")
    parser.add_argument("--first", type=existing_file, help="what first_results.py --json wrote")
    parser.add_argument("--models", type=existing_file, help="what models.py --json wrote with two threads")
    parser.add_argument("--threads", type=existing_file, help="what threads.py --json wrote")
    parser.add_argument("--ops", type=existing_file, help="what ops.py --json wrote")
    parser.add_argument("--zoo", type=existing_file, help="what zoo.py --json wrote")
    parser.add_argument("--page", type=existing_file, default=PAGE)
    parser.add_argument(
        "--processor", metavar="NAME", help="the title of its section, else made of what the system says"
    )
    options = parser.parse_args(arguments)
    kernels = figures_in(options.kernels, "machine")
    processor = options.processor or title_of(kernels["machine"])
    parts = [run_text(kernels)]
    if options.threads is not None:
        parts.append(threads_text(figures_in(options.threads, "notes")))
    if options.compile_time is not None:
        parts.append(compile_text(figures_in(options.compile_time, "programs")))
    if options.models is not None:
        parts.append(models_text(json.loads(options.models.read_text(encoding="utf-8"))))
    if options.first is not None:
        parts.append(first_text(figures_in(options.first, "programs")))
    if options.ops is not None:
        parts.append(ops_text(figures_in(options.ops, "notes")))
    if options.zoo is not None:
        parts.append(zoo_text(figures_in(options.zoo, "networks")))
    page = options.page.read_text(encoding="utf-8")
    options.page.write_text(replaced(page, processor, "\n\n".join(parts)), encoding="utf-8")


if __name__ == "__main__":
    main()
