"""Lines of Markdown end at 120 columns, as those of Python do, which ruff checks."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LIMIT = 120
FENCE = re.compile(r"\s*(`{3,}|~{3,})")
FREE = re.compile(r"\s*(\||#{1,6} |\[[^\]]+\]: )")
"""Rows of tables, headings and targets of links cannot go on in the next line."""
START = re.compile(r"\s*(?:>\s*)*(?:[-*+]\s+|\d+[.)]\s+)?")
WORD = re.compile(r"(?:`[^`]*`|\[[^\]]*\]\([^)\s]*\)|[^\s`])+")


def too_long(text: str) -> list[int]:
    """The numbers of the lines that are longer than `LIMIT` although they can be broken."""
    found: list[int] = []
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = FENCE.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and line.strip() == mark[1])):
            fence = "" if fence else mark[1]
        elif not fence and len(line) > LIMIT and not FREE.match(line) and can_be_broken(line):
            found.append(number)
    return found


def can_be_broken(line: str) -> bool:
    """Whether a line has several words; code and links with spaces are one."""
    return len(WORD.findall(START.sub("", line, count=1))) > 1


def pages() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.split() or [str(path.relative_to(ROOT)) for path in ROOT.glob("[!.]*/**/*.md")]
    return sorted({*names, "README.md", "CONTRIBUTING.md"})


@pytest.mark.parametrize("name", pages())
def test_lines_of_a_page(name: str) -> None:
    assert too_long((ROOT / name).read_text(encoding="utf-8")) == []


LONG = "word " * 30
BREAKABLE = {
    "paragraph": LONG,
    "item": f"* {LONG}",
    "hanging": f"* item\n  {LONG}",
    "after a block": f"```\n{LONG}\n```\n{LONG}",
    "after a block in a block": f"````\n```\n{LONG}\n````\n{LONG}",
    "link among words": f"see [the page]({'x' * 110}.md) for more",
    "one column": "a" * 60 + " " + "b" * 60,
}
FREE_LINES = {
    "table": f"| {LONG} |",
    "heading": f"## {LONG}",
    "block": f"```console\n{LONG}\n```",
    "block in a block": f"````\n```\n{LONG}\n```\n{LONG}\n````",
    "address": f"<https://example.org/{'x' * 120}>",
    "link": f"* [the page]({'x' * 120}.md)",
    "target of a link": f"[the page]: https://example.org/{'x' * 120} (a title)",
    "code": f"`{LONG}`",
    "as long as may be": "a" * 60 + " " + "b" * 59,
}


@pytest.mark.parametrize("text", BREAKABLE.values(), ids=BREAKABLE)
def test_long_lines_are_found(text: str) -> None:
    assert too_long(text) == [text.count("\n") + 1]


@pytest.mark.parametrize("text", FREE_LINES.values(), ids=FREE_LINES)
def test_what_cannot_be_broken_may_be_long(text: str) -> None:
    assert too_long(text) == []


def test_ruff_checks_lines_of_python() -> None:
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]
    rules = ruff["lint"]
    assert ruff["line-length"] == LIMIT and {"E", "E501"} & set(rules["select"])
    ignored = [*rules["ignore"], *(rule for each in rules["per-file-ignores"].values() for rule in each)]
    assert not [rule for rule in ignored if "E501".startswith(rule)]
