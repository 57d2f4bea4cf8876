"""A package that is installed as far as its entry points go, without pip."""

from __future__ import annotations

import tomllib
from pathlib import Path


def installed(pyproject: str, folder: Path) -> None:
    """Leaves in `folder` what `pip install -e` leaves behind: the entry points of the package."""
    project = tomllib.loads(pyproject)["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())])
        for group, entries in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups))
