"""
What the installed packages plug in, found without Python's own reader of their metadata.

That reader brings parsers of mail and addresses along and takes 40 ms, as long as all passes on a small program. Most
often nobody plugs anything in, which the files `entry_points.txt` say. Wherever one says more, or packages may be
elsewhere than in folders, the reader is asked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

UNIVERSE_GROUP: Final = "xdsl.universe"
PLUGIN_GROUP: Final = "stepwell.plugins"

OWN: Final = frozenset({"xdsl", "stepwell"})
"""The packages that are no plug-ins."""


def plugged_in(*groups: str) -> list[EntryPoint]:
    """Returns the entry points of `groups` that are neither of xDSL nor of Stepwell, group by group."""
    if _is_plain() and not any(_names_others(text, groups) for text in _entry_point_texts()):
        return []
    from importlib.metadata import entry_points

    installed = entry_points()
    found = [entry for group in groups for entry in installed.select(group=group)]
    return [entry for entry in found if root_module(entry.value) not in OWN]


def version_of(package: str) -> str:
    """Returns the version of an installed package, as its metadata has it. Raises `PackageNotFoundError`."""
    if _is_plain():
        for folder in _metadata_folders():
            name, _, rest = os.path.basename(folder).partition("-")
            if name == package and rest.endswith(".dist-info"):
                return rest.removesuffix(".dist-info")
    from importlib.metadata import version

    return version(package)


def root_module(location: str) -> str:
    """Returns the top-level module of `module.path:object`."""
    return location.partition(":")[0].partition(".")[0].strip()


def _is_plain() -> bool:
    """Returns whether packages are found in folders of `sys.path` alone."""
    finders = (finder for finder in sys.meta_path if finder is not PathFinder)
    return not any(hasattr(finder, "find_distributions") for finder in finders) and not any(
        path.endswith(".egg") or os.path.isfile(path) and not path.endswith(".pth") for path in sys.path
    )


def _metadata_folders() -> Iterator[str]:
    for path in dict.fromkeys(sys.path):
        try:
            names = os.listdir(path or ".")
        except OSError:
            continue
        yield from (os.path.join(path, name) for name in names if name.endswith((".dist-info", ".egg-info")))


def _entry_point_texts() -> Iterator[str]:
    for folder in _metadata_folders():
        try:
            with open(os.path.join(folder, "entry_points.txt"), encoding="utf-8") as file:
                yield file.read()
        except OSError:
            continue


def _names_others(text: str, groups: tuple[str, ...]) -> bool:
    """Returns whether `entry_points.txt` has an entry in `groups` that is not of `OWN`."""
    if not any(group in text for group in groups):
        return False
    inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line.strip("[] \t") in groups
        elif inside and line and line[0] not in "#;":
            _, _, value = line.partition("=")
            if root_module(value.strip()) not in OWN:
                return True
    return False
