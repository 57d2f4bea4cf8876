"""What packages plug in is found without Python's reader of metadata, and as it would find it."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path

import pytest
from stepwell.core import installed

GROUPS = ("xdsl.universe", "stepwell.plugins")


def put(folder: Path, entries: str, name: str = "other-1.5.dist-info") -> None:
    (folder / name).mkdir()
    (folder / name / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.5\n")
    (folder / name / "entry_points.txt").write_text(entries)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ("[xdsl.universe]\nplug = other.parts:UNIVERSE\n", ["other.parts:UNIVERSE"]),
        ("[console_scripts]\na = b:c\n\n[stepwell.plugins]\n# note\nplug=other:P\n", ["other:P"]),
        ("[stepwell.plugins]\na = other:A\n[xdsl.universe]\nb = other:B\n", ["other:B", "other:A"]),
        ("[console_scripts]\nxdsl.universe = other:main\n", []),
        ("[xdsl.universe]\nown = stepwell.universe:STEPWELL_UNIVERSE\n", []),
        ("", []),
    ],
)
def test_others_are_found_group_by_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: str, expected: list[str]
):
    before = [entry.value for entry in installed.plugged_in(*GROUPS)]
    put(tmp_path, entries)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = [entry.value for entry in installed.plugged_in(*GROUPS)]
    assert [value for value in found if value not in before] == expected
    pythons = [entry.value for group in GROUPS for entry in entry_points(group=group)]
    assert found == [value for value in pythons if installed.root_module(value) not in installed.OWN]


class Finder:
    """A finder that knows of packages in no folder."""

    @staticmethod
    def find_distributions(context: object = None) -> list[object]:
        return []


def test_python_is_asked_where_packages_may_be_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert installed._is_plain()
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert not installed._is_plain() and installed.plugged_in(*GROUPS) is not None
    monkeypatch.undo()
    (tmp_path / "packages.zip").write_bytes(b"")
    monkeypatch.syspath_prepend(str(tmp_path / "packages.zip"))
    assert not installed._is_plain()


def test_versions_are_those_of_the_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert installed.version_of("xdsl") == version("xdsl") and installed.version_of("llvmlite") == version("llvmlite")
    put(tmp_path, "")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert installed.version_of("other") == "1.5"
    with pytest.raises(PackageNotFoundError):
        installed.version_of("nowhere_to_be_found")
