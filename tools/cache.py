"""
`stepwell cache`: where the compile cache on disk is, what it holds, and how to empty it.

Runs as `python tools/cache.py` and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.cache import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
from collections.abc import Sequence

from ..core.messages.diagnostics import Diagnostic, StepwellError
from ..core.messages.files import reason_of
from ..runtime import cache
from .options.command import ArgumentParser, run_tool

EXAMPLES = """
stepwell cache                                where it is, and how full
STEPWELL_CACHE_DIR=/tmp/c stepwell cache --clear
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell cache",
        description="Shows or empties the compile cache on disk.",
        examples=EXAMPLES,
    )
    parser.add_argument("--clear", action="store_true", help="delete all compiled programs (tuned schedules stay)")
    parser.add_shared("--debug")
    return parser


def run(options: argparse.Namespace) -> int:
    """Does what the command line says, and returns the exit code."""
    found = cache.entries()
    if options.clear:
        for path in (*(path for path, _ in found), *cache.left_by_writers()):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise StepwellError(Diagnostic(f"cannot delete '{path}': {reason_of(error)}")) from error
        print(f"deleted {len(found)} entries of {cache.cache_directory()}")
        return 0
    size, limit = (count / 2**20 for count in (sum(count for _, count in found), cache.limit()))
    print(f"{cache.cache_directory()}: {len(found)} entries, {size:.1f} of at most {limit:.0f} MiB")
    print("STEPWELL_CACHE_DIR is the folder, STEPWELL_CACHE_BYTES the limit (docs/tools.md)")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell cache", argv, lambda words, _: run(argument_parser().parse_args(words)))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
