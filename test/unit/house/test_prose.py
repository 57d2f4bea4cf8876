"""The rule for English of CONTRIBUTING.md: docstrings begin as sentences do, and functions say what they return."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from code_size import ROOT, package_files
from prose import findings, first_sentence, refusal

ROOMS = sorted({path.relative_to(ROOT).parts[0] for path in package_files(ROOT)})


@pytest.mark.parametrize("room", ROOMS)
def test_the_docstrings_of_a_room_are_sentences(room: str) -> None:
    files = [path for path in package_files(ROOT) if path.relative_to(ROOT).parts[0] == room]
    found = [str(finding) for path in files for finding in findings(path, ROOT)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "docstring, reason",
    [
        ("Such an op that cannot fail.", "begins with 'Such'"),
        ("Of a cache.", "begins with 'Of'"),
        ("That along the rows of tiles.", "begins with 'That'"),
        ("So many bytes.", "begins with 'So many'"),
        ("Whether the op is pure.", "begins with 'Whether'"),
        ("In place of the shape of what is no array.", "begins with 'In place of'"),
        ("What of the llvm dialect is which piece of LLVM text.", "begins with 'What of'"),
        ("\n    Told of the end.\n\n    More follows.\n    ", "begins with 'Told'"),
        ("Writes a file; raises an error when it cannot.", "joins two thoughts by a semicolon"),
        ("Writes a file\nover two lines; and no more.", "joins two thoughts by a semicolon"),
    ],
)
def test_a_fragment_is_refused(docstring: str, reason: str) -> None:
    assert refusal(docstring) == reason


@pytest.mark.parametrize(
    "docstring",
    [
        "Returns the loops around a block, outermost first.",
        "The text of a module.",
        "Returns `a; b` as one line.",
        "Writes a file. It has two lines; they are short.",
        "Offers an op.",
        "Thatched roofs.",
        "There is one op per result.",
    ],
)
def test_a_sentence_passes(docstring: str) -> None:
    assert refusal(docstring) is None


def test_the_first_sentence_ends_at_a_full_stop_or_a_colon() -> None:
    assert first_sentence("\nReads a file\nwhole. Then more.\n\nAnd more.") == "Reads a file whole."
    assert first_sentence("Reads: what follows; goes on") == "Reads:"


PLANTED = '''"""Of a module."""

LIMIT = 3
"""So much at most."""

_HIDDEN = 4
"""A private number."""


class Door:
    """Opens."""

    width = 1
    """Of the frame."""

    def __init__(self):
        """Makes a door."""

    def open(self) -> None:
        """Opens it; closes it later."""

    def _oil(self):
        """With oil."""


def outer() -> None:
    def inner(x):
        return x


class _Private:
    """Such a class."""

    def method(self) -> None:
        """Of nobody."""
'''


def test_what_is_planted_in_a_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "door.py"
    path.write_text(PLANTED, encoding="utf-8")
    found = list(findings(path, tmp_path))
    assert {str(finding.path) for finding in found} == {"door.py"}
    assert sorted((finding.line, finding.rule) for finding in found) == [
        (1, "fragment"),
        (4, "fragment"),
        (14, "fragment"),
        (19, "fragment"),
        (22, "return type"),
        (27, "return type"),
    ]
    assert Counter(finding.text for finding in found if finding.rule == "return type") == {"_oil": 1, "inner": 1}
