"""
Arguments of the scripts, checked before anything is measured: what cannot be is said in a line, and no run is lost at
its end.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any


def positive(text: str) -> int:
    """A number of rounds or repetitions. Raises ArgumentTypeError for less than one."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"found {text}, expected a whole number of at least 1")
    return int(text)


def usable_cpu(text: str) -> int:
    """A CPU of this machine, or -1. Raises ArgumentTypeError for any other."""
    last = (os.cpu_count() or 1) - 1
    if text != "-1" and (not text.isdecimal() or int(text) > last):
        raise argparse.ArgumentTypeError(f"found {text}, expected -1 or a CPU from 0 to {last}")
    return int(text)


def new_file(text: str) -> Path:
    """A file to write. Raises ArgumentTypeError where its folder is none or it is a folder."""
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder '{path.parent}' to write '{path.name}' to")
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"'{path}' is a folder, expected a file")
    return path


def picture(text: str) -> Path:
    """A picture to write. Raises ArgumentTypeError as `new_file` and for suffixes other than .svg and .png."""
    path = new_file(text)
    if path.suffix not in (".svg", ".png"):
        raise argparse.ArgumentTypeError(f"found '{path}', expected a name that ends in .svg or .png")
    return path


def existing_file(text: str) -> Path:
    """A file to read. Raises ArgumentTypeError where there is none."""
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file '{path}'")
    return path


def figures_in(path: Path, key: str) -> dict[str, Any]:
    """Returns what a script wrote with --json. Ends the program where the file holds no object with `key`."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        result = None
    if not isinstance(result, dict) or key not in result:
        sys.exit(f"'{path}' holds no figures: expected a file that --json wrote, with '{key}'")
    return result
