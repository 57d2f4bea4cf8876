"""Tests that the pages under docs/acceptance/ name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "docs/acceptance/product.md"]
NAMED = re.compile(r"`(test/[\w./]+)(?:::(\w+))?`")


def missing(text: str) -> list[str]:
    """Returns the tests named in `text` as `file::test` or as a file that are not there."""
    found: list[str] = []
    for path, name in NAMED.findall(text):
        file = ROOT / path
        if not file.is_file() or (name and f"def {name}(" not in file.read_text()):
            found.append(f"{path}::{name}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_tests_exist(page: Path) -> None:
    text = page.read_text()
    assert NAMED.search(text)
    assert missing(text) == []


def test_a_test_that_is_not_there_is_found() -> None:
    here = "test/unit/house/test_acceptance_pages.py"
    assert missing(f"`{here}::test_named_tests_exist`, `{here}`") == []
    assert missing(f"`{here}::test_none`, `test/none.py`") == [f"{here}::test_none", "test/none.py::"]
