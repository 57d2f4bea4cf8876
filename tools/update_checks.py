"""
`stepwell update-checks`: writes the CHECK lines of tests from what their RUN lines print.

Runs as `python tools/update_checks.py` and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.update_checks import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..core.messages.diagnostics import Diagnostic, StepwellError
from ..core.messages.files import write_file
from .options.command import ArgumentParser, run_tool

EXAMPLES = """
stepwell update-checks test/new.mlir                        for the functions that have no CHECK lines
stepwell update-checks test/old.mlir --function softmax     this function too, where its lines do not fit
stepwell update-checks test/old.mlir --all --dry-run        say what would change
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell update-checks",
        description="Writes the CHECK lines of tests from what their RUN lines print.",
        examples=EXAMPLES,
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="tests with RUN lines that end in filecheck")
    parser.add_argument(
        "--function",
        metavar="NAME",
        action="append",
        default=[],
        help="refresh the lines of this function; may be given several times",
    )
    parser.add_argument("--all", action="store_true", help="refresh the lines of all functions")
    parser.add_argument("--dry-run", action="store_true", help="write nothing; end with 1 if something would change")
    parser.add_shared("--load-plugin", "--debug")
    return parser


def run(options: argparse.Namespace) -> int:
    """Does what the command line says, and returns the exit code."""
    try:
        import filecheck.main  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ModuleNotFoundError:
        message = "filecheck is not installed, and CHECK lines are not written unchecked"
        raise StepwellError(Diagnostic(message, hint="pip install filecheck")) from None
    from ..testing.check_lines.update import updated

    changed = 0
    for file in options.files:
        path = Path(file)
        update = updated(path, options.function, everything=options.all)
        is_new = update.text != path.read_text(encoding="utf-8")
        changed += is_new
        if is_new and not options.dry_run:
            write_file(path, update.text)
        print(f"{file}: {_said(update, is_new)}")
    return 1 if changed and options.dry_run else 0


def _said(update: object, is_new: bool) -> str:
    found = {name: len(getattr(update, name)) for name in ("new", "refreshed", "kept")}
    counts = [f"{count} {name}" for name, count in found.items() if count]
    return f"{', '.join(counts) or 'nothing'}; {'changed' if is_new else 'as it was'}"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell update-checks", argv, lambda words, _: run(argument_parser().parse_args(words)))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
