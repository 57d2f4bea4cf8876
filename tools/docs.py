"""
`stepwell docs`: the pages of documentation that come with the package.

Runs as `python tools/docs.py` and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.docs import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from .options.command import ArgumentParser, run_tool

DOCS: Final = Path(__file__).parents[1] / "docs"

EXAMPLES = """
stepwell docs                                 the pages, and where they are
stepwell docs opt                             one page
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell docs", description="Lists the pages of documentation, or prints one.", examples=EXAMPLES
    )
    parser.add_argument("page", nargs="?", help="the page to print, such as 'opt' or 'docs/opt.md'")
    parser.add_argument("--path", action="store_true", help="print where the page is, not what it says")
    parser.add_shared("--debug")
    return parser


def pages() -> dict[str, Path]:
    """Returns the file of each page, by its name."""
    return {path.stem: path for path in sorted(DOCS.glob("*.md"))}


def run(options: argparse.Namespace) -> int:
    """Does what the command line says, and returns the exit code."""
    known = pages()
    if options.page is None:
        print(DOCS)
        print("\n".join(f"{name:<18} {_title(path)}" for name, path in known.items()))
        return 0
    name = options.page.removeprefix("docs/").removesuffix(".md")
    if name not in known:
        hint = did_you_mean(name, known) or "stepwell docs lists the pages"
        raise StepwellError(Diagnostic(f"there is no page '{options.page}'", hint=hint))
    print(known[name] if options.path else known[name].read_text(encoding="utf-8"), end="\n" if options.path else "")
    return 0


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell docs", argv, lambda words, _: run(argument_parser().parse_args(words)))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
