"""
The changes that docs/architecture.md lists, and a copy of the tree in which a test makes them at the places of a row.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.util import cache_from_source
from pathlib import Path
from typing import Final

from code_size import OUTSIDE_THE_PACKAGE, ROOT

PATH: Final = re.compile(r"`([\w.]+(?:/[\w.]+)*/?)`")
"""A path in Markdown; a folder ends in a slash."""

LEFT_OUT: Final = shutil.ignore_patterns(".*", "build", "dist", "demo-output", "__pycache__")


def rows_of_changes(page: str) -> dict[str, str]:
    """Returns what each row of the table "To add X, touch Y" says to touch, by its first cell."""
    table = page.split("## To add X, touch Y")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ", 1) for line in table.splitlines() if line.startswith(("| a ", "| an "))]
    return {cells[0]: cells[1] for cells in rows}


def copy_tree(folder: Path) -> Path:
    """Copies package, tests and docs to `folder/stepwell`, with the byte code that Python has made, and returns it."""

    def copy(source: str, target: str) -> None:
        shutil.copy2(source, target)
        if source.endswith(".py") and Path(cache_from_source(source)).exists():
            Path(cache_from_source(target)).parent.mkdir(exist_ok=True)
            shutil.copy2(cache_from_source(source), cache_from_source(target))

    return Path(shutil.copytree(ROOT, folder / "stepwell", ignore=LEFT_OUT, copy_function=copy))


@dataclass
class Change:
    """A change of the table, made in a copy of the tree. An edit of the package elsewhere than the row says fails."""

    tree: Path
    name: str
    touched: list[str] = field(default_factory=list[str])

    @property
    def places(self) -> list[str]:
        """The files and folders that the row names in the tree."""
        row = rows_of_changes((self.tree / "docs" / "architecture.md").read_text(encoding="utf-8"))[self.name]
        return [name for name in PATH.findall(row) if (self.tree / name).exists()]

    @property
    def unused(self) -> list[str]:
        """The places of the row where nothing has been changed."""
        return [place for place in self.places if not any(covers(place, path) for path in self.touched)]

    def touch(self, path: str) -> None:
        """Notes that a file is changed. One of the package must be on the row; tests and pages go with each change."""
        allowed = Path(path).parts[0] in OUTSIDE_THE_PACKAGE or any(covers(place, path) for place in self.places)
        assert allowed, f"{path} is not where the row of '{self.name}' sends"
        self.touched.append(path)

    def insert(self, path: str, text: str, before: str = "", after: str = "") -> None:
        """Puts text into a file at a line that stands there once, at the end without one. A new file has it alone."""
        self.touch(path)
        file = self.tree / path
        old = file.read_text(encoding="utf-8") if file.exists() else ""
        mark = before or after
        assert not mark or old.count(mark) == 1, f"{mark!r} stands {old.count(mark)} times in {path}"
        at = old.index(mark) + len(after) if mark else len(old)
        file.parent.mkdir(exist_ok=True)
        file.write_text(old[:at] + text + old[at:], encoding="utf-8")

    def run(self, script: str) -> None:
        """Runs a script that uses what has been added."""
        run_in(self.tree, "-c", f"{HEAD}\n{script}")


HEAD: Final = """
from pathlib import Path
import numpy as np, stepwell
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command
from stepwell.tools.opt import main

TREE = Path.cwd() / "stepwell"
assert Path(stepwell.__file__).parent == TREE

def opt(program, *arguments):
    '''What stepwell-opt prints.'''
    done = call_tool(main, Command(["stepwell-opt", *arguments]), program.encode())
    assert done.exit_code == 0, done.stderr.decode()
    return done.stdout.decode() + done.stderr.decode()
"""
"""What scripts begin with: names, and that the package is the copy."""


def covers(place: str, path: str) -> bool:
    """Returns whether a place of a row is the file, or a folder that holds it."""
    return path == place or (place.endswith("/") and path.startswith(place))


def run_in(tree: Path, *command: str) -> None:
    """Runs Python in the folder that holds a copy, which it imports as `stepwell`."""
    settings = {"PYTHONPATH": str(tree.parent), "STEPWELL_TUNING_DB": "", "STEPWELL_CACHE_DIR": str(tree.parent)}
    done = subprocess.run(
        [sys.executable, *command], cwd=tree.parent, env={**os.environ, **settings}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
