"""The map in docs/architecture.md: every path on it exists, and every folder of the package is on it."""

from __future__ import annotations

from pathlib import Path

from code_size import ROOT, package_files
from following import PATH, rows_of_changes
from rooms import ROOMS

MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROWS = [line for line in MAP.split("## The levels")[0].splitlines() if line.startswith("| `")]
CHANGES = MAP.split("## To add X, touch Y")[1].split("##")[0]

TWELVE = 12
"""Least number of changes whose places the map tells."""


def folders_of(row: str) -> list[Path]:
    """Returns the folders in the first cell of a row; one without a room belongs to that of the folder before it."""
    found: list[Path] = []
    for name in PATH.findall(row.split("|")[1]):
        path = Path(name)
        if path.parts[0] not in ROOMS and found:
            path = found[0].parent / path
        found.append(path)
    return found


def missing(text: str) -> list[str]:
    """Returns the paths in a text that the tree does not hold."""
    return [name for name in PATH.findall(text) if "/" in name and not (ROOT / name).exists()]


def test_every_folder_of_the_package_is_on_the_map():
    told = {folder for row in ROWS for folder in folders_of(row)}
    lost = set()
    for path in package_files(ROOT):
        folder = path.relative_to(ROOT).parent
        if folder.parts and not any(folder.is_relative_to(each) for each in told):
            lost.add(folder)
    assert lost == set()


def test_the_rooms_stand_in_their_order():
    on_the_map = [folder.parts[0] for row in ROWS for folder in folders_of(row)[:1] if len(folder.parts) == 1]
    assert sorted(on_the_map) == sorted(ROOMS)
    assert [room for room in on_the_map if room != "testing"] == [room for room in ROOMS if room != "testing"]


def test_every_folder_on_the_map_exists():
    assert [folder for row in ROWS for folder in folders_of(row) if not (ROOT / folder).is_dir()] == []


def test_every_change_names_places_that_exist():
    assert len(rows_of_changes(MAP)) >= TWELVE
    assert missing(CHANGES) == []


def test_a_lost_path_is_found():
    assert missing("a line in `attic/chest.py` and in `universe.py`") == ["attic/chest.py"]
