"""
`stepwell example`: the examples that come with the package, and a copy of one to try and to change.

Runs as `python tools/example.py` and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.example import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from .options.command import ArgumentParser, run_tool

FOLDER: Final = Path(__file__).parents[1] / "examples"

EXAMPLES = """
stepwell example                              the examples, with what each shows
stepwell example serving -o server            a copy to change
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell example", description="Lists the examples, or copies one to a new folder.", examples=EXAMPLES
    )
    parser.add_argument("name", nargs="?", help="the example to copy; without it, all are listed")
    parser.add_argument("-o", dest="folder", metavar="FOLDER", help="where to (default: the name, in this folder)")
    parser.add_shared("--debug")
    return parser


def examples() -> dict[str, str]:
    """Returns what each example shows, by its name: the heading of its README."""
    pages = sorted(FOLDER.glob("*/README.md"))
    return {page.parent.name: page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ") for page in pages}


def run(options: argparse.Namespace) -> int:
    """Does what the command line says, and returns the exit code."""
    known = examples()
    if options.name is None:
        print("\n".join(f"{name:<18} {title}" for name, title in known.items()))
        return 0
    if options.name not in known:
        hint = did_you_mean(options.name, known) or "stepwell example lists the examples"
        raise StepwellError(Diagnostic(f"there is no example '{options.name}'", hint=hint))
    folder = Path(options.folder or options.name)
    if folder.exists():
        hint = "-o names another folder"
        raise StepwellError(Diagnostic(f"'{folder}' exists, expected a folder to be made", hint=hint))
    shutil.copytree(FOLDER / options.name, folder, ignore=shutil.ignore_patterns("__pycache__", "Output"))
    print(f"{folder}: {known[options.name]}")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell example", argv, lambda words, _: run(argument_parser().parse_args(words)))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
