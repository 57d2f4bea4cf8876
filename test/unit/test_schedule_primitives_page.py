"""The table of docs/schedules.md: every primitive has a docstring, legal and illegal cases, FileChecks, a row about its handles."""

from __future__ import annotations

import inspect
import os
from pathlib import Path

import pytest
from random_schedules import PRIMITIVES
from schedule_cases import ILLEGAL, LEGAL, primitive_of
from stepwell.dialects.schedule import STEPS
from stepwell.schedule.primitives import (
    inline,
    layout,
    marks,
    move,
    queries,
    reduction,
    reindex,
    reshape,
    sampling,
    staging,
    tensorize,
)
from stepwell.schedule.schedule import Schedule
from test_schedule_primitives import GONE

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "schedules.md"
FOLDER = ROOT / "test" / "filecheck" / "schedule" / "primitives"
MODULES = (inline, layout, marks, move, queries, reduction, reindex, reshape, sampling, staging, tensorize)
SEVERAL = {"tensorize": ("tensorize_mma", "tensorize_row"), "get_loops": ()}
"""Primitives that are other functions than those of their names; `get_loops` only reads."""
HELPERS = {
    "check_plain",
    "check_reads_own",
    "check_tile",
    "known_extent",
    "read_buffer",
    "written_buffer",
}
NAMES = [op.name.partition(".")[2] for op in STEPS]
START = (
    "<!-- Made by STEPWELL_UPDATE_DOCS=1 pytest test/unit/test_schedule_primitives_page.py; do not edit below. -->\n"
)
HEAD = """
Cases of `test/unit/schedule_cases.py`. A legal one is run natively and compared with NumPy, and tried on other shapes, where it
works or says why not; an illegal one is refused with a message that is quoted there, the culprits marked. The files are in
`test/filecheck/schedule/primitives`. *Ends*: the handles that are stale afterwards (of those of the case), all others being valid.

| primitive | legal cases | illegal cases | files | ends |
|---|---|---|---|---|
"""


def cases(table: dict[str, tuple[str, str, str]], name: str) -> list[str]:
    return [case for case in table if primitive_of(case) == name]


def page() -> str:
    rows = [
        f"| `{name}` | {'; '.join(cases(LEGAL, name))} | {'; '.join(cases(ILLEGAL, name))} "
        f"| `{name}.mlir`, `{name}_refused.mlir` | {GONE[name][2] or 'none'} |"
        for name in NAMES
    ]
    return HEAD + "\n".join(rows) + "\n"


def functions() -> dict[str, object]:
    """The public functions of the modules of primitives that are defined there."""
    return {
        name: value
        for module in MODULES
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }


def test_every_public_primitive_is_a_step_and_a_method() -> None:
    written = {each for name in NAMES for each in SEVERAL.get(name, (name,))}
    assert set(functions()) - HELPERS - {"region_under"} == written
    methods = {name for name, _ in inspect.getmembers(Schedule, inspect.isfunction) if not name.startswith("_")}
    assert methods - {"program"} == set(NAMES) == set(PRIMITIVES)


@pytest.mark.parametrize("name", NAMES)
def test_every_primitive_says_what_it_does(name: str) -> None:
    for each in SEVERAL.get(name, (name,)):
        text = inspect.getdoc(functions()[each]) or ""
        assert text.count("\n") >= 1 or name.startswith("get_"), f"{each} has no before and after"
        conditions = ("Legal", "changes no result", "get_", "add_unit", "sample_cat")
        assert any(word in text or word in each for word in conditions), f"{each} does not say when it is legal"


@pytest.mark.parametrize("name", NAMES)
def test_every_primitive_has_cases_and_files(name: str) -> None:
    assert cases(LEGAL, name) and cases(ILLEGAL, name)
    for suffix, command in (("", "// RUN: stepwell-opt"), ("_refused", "// RUN: not stepwell-opt")):
        text = (FOLDER / f"{name}{suffix}.mlir").read_text()
        assert text.startswith(command) and f"schedule.{name}" in text and "// CHECK" in text


def test_the_cases_are_of_primitives() -> None:
    assert {primitive_of(case) for case in (*LEGAL, *ILLEGAL)} == set(NAMES)


def test_the_table_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, mark, after = text.partition(START)
    assert mark, "the page has lost its mark"
    if os.environ.get("STEPWELL_UPDATE_DOCS"):
        PAGE.write_text(before + mark + page(), encoding="utf-8")
        return
    assert after == page()
