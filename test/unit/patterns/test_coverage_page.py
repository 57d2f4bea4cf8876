"""docs/pattern_coverage.md: every construct has a row, every cell a test that is there and uses it, or a reason."""

from __future__ import annotations

import os
import textwrap

import pytest
from pattern_coverage import (
    COLUMNS,
    DEFINITIONS,
    FORMS,
    GROUP_RULES,
    NO_TEXT,
    NOT_CONSTRUCTS,
    ROOT,
    ROWS,
    USES,
    Row,
    exists,
    python_names,
    text_names,
    uses,
)

PAGE = ROOT / "docs" / "pattern_coverage.md"
HEAD = """# Coverage of the pattern language

Here you find a test of every construct of the pattern language, which is also an example of it. Files are in
`test/unit` unless they begin with `test/`. A column says what its tests show:

* *positive*: the construct matches what it should;
* *negative*: it does not match what it should not;
* *partition*: a match becomes a function;
* *rewrite*: a rule with it applies, or does not.

`STEPWELL_UPDATE_DOCS=1 pytest test/unit/patterns/test_coverage_page.py` makes this page from the rows in
`test/support/pattern_coverage.py`. The test checks that every op of the pattern dialect and every public name of the
pattern modules has a row, that the tests exist and use the construct, and that no cell is empty.

## Constructs

| construct | features | form | written | positive | negative | partition | rewrite |
|---|---|---|---|---|---|---|---|
"""
USES_HEAD = """
## What is done with patterns

| subject | features | Python | text or command line |
|---|---|---|---|
"""


def names_of(row: Row, form: str) -> tuple[str, ...]:
    return row.python if form == "python" else row.text


def shown(tests: tuple[str, ...], reason: str) -> str:
    return "<br>".join(f"`{test}`" for test in tests) or f"none: {reason}"


def page() -> str:
    lines: list[str] = []
    for row in ROWS:
        for form in FORMS:
            prefix = "" if form == "python" else "pattern."
            written = ", ".join(f"`{prefix}{name}`" for name in names_of(row, form))
            cells = [shown(*row.cell(form, column)) for column in COLUMNS]
            lines.append(f"| {row.title} | {row.features} | {form} | {written} | {' | '.join(cells)} |")
    others = [
        (
            f"| {subject} | {features} | {shown(tuple(python.split()), '')} | "
            f"{shown(tuple(text.split()), NO_TEXT.get(subject, ''))} |"
        )
        for subject, features, python, text in USES
    ]
    rest = [f"| `{name}` | {what} |" for name, what in sorted(NOT_CONSTRUCTS.items())]
    groups = ", ".join(f"`pattern.{name}`" for name in sorted(GROUP_RULES))
    definitions = " and ".join(f"`pattern.{name}`" for name in sorted(DEFINITIONS))
    last = f"{groups} belong to rules over groups of a fusion plan: docs/fusion.md."
    last += f" {definitions} are patterns that equations share: `patterns/test_equations.py`."
    return (
        HEAD + "\n".join(lines) + "\n" + USES_HEAD + "\n".join(others)
        + "\n\n## Names that are no constructs\n\n| name | what |\n|---|---|\n" + "\n".join(rest)
        + f"\n\n{textwrap.fill(last, 120, break_on_hyphens=False)}\n"
    )  # fmt: skip


def test_every_name_has_a_row() -> None:
    in_rows = {name for row in ROWS for name in row.python}
    assert sorted(python_names() - set(NOT_CONSTRUCTS) - in_rows) == [], "constructs without a row"
    assert sorted(in_rows - python_names()) == [] and sorted(set(NOT_CONSTRUCTS) - python_names()) == []
    in_rows = {name for row in ROWS for name in row.text}
    assert sorted(text_names() - GROUP_RULES - DEFINITIONS - in_rows) == [], "ops without a row"
    assert sorted((in_rows | GROUP_RULES | DEFINITIONS) - text_names()) == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
def test_cells(row: Row, form: str) -> None:
    names = names_of(row, form)
    unused = set(names)
    for column in COLUMNS:
        tests, reason = row.cell(form, column)
        assert tests or reason, f"{column} is empty"
        for test in tests:
            assert exists(test), test
            used = {name for name in names if uses(test, form, name)}
            assert used, f"{test} does not use {names}"
            unused -= used
    assert not unused, "in the row, and not in its tests"


@pytest.mark.parametrize(("subject", "features", "python", "text"), USES, ids=[each[0] for each in USES])
def test_uses(subject: str, features: str, python: str, text: str) -> None:
    assert python and (text or subject in NO_TEXT)
    for test in (*python.split(), *text.split()):
        assert exists(test), test


def test_the_page_is_up_to_date() -> None:
    if os.environ.get("STEPWELL_UPDATE_DOCS"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()


def test_a_wrong_name_is_noticed() -> None:
    assert not exists("patterns/test_coverage.py::test_matches[python-no-such-case]")
    assert not exists("patterns/test_coverage.py::test_no_such_test") and not exists("test/filecheck/none.mlir")
    assert not uses("patterns/test_coverage.py::test_matches[python-splat]", "python", "Dominates")
    assert not uses("patterns/test_coverage.py::test_matches[text-splat]", "text", "dominates")
