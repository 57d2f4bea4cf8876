"""
`stepwell repro FILE`: runs again what `--save-repro FILE` of a command has written.

Runs as `python tools/repro.py` and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.repro import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from ..core.messages.diagnostics import Diagnostic, StepwellError
from ..core.messages.files import cannot, writing
from ..trust.repro import Ending, Repro, no_repro, parse_repro
from .main import VERBS
from .options.command import ArgumentParser, run_tool
from .options.untrusted import needs_trust, relative_variables
from .options.watched import watched

EXAMPLES = """
stepwell repro bug.repro                      run it again, and say whether it ends as it did
stepwell repro bug.repro --unpack bug         its files, and the command
stepwell reduce bug.mlir --command 'stepwell opt {} -p O3' -o small.mlir
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell repro",
        description="Runs again what --save-repro of a command has written. Ends with 0 if it ends in the same way.",
        examples=EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="what --save-repro FILE has written")
    parser.add_argument("--unpack", metavar="DIR", help="write the files to this folder and the command to the screen")
    parser.add_argument("--trust-code", action="store_true", help="run the code and the commands that are in it")
    parser.add_shared("--debug")
    return parser


def run(options: argparse.Namespace) -> int:
    """Does what the command line says, and returns the exit code."""
    try:
        repro = parse_repro(Path(options.file).read_text(encoding="utf-8"), options.file)
    except UnicodeDecodeError:
        raise no_repro(options.file, "it is no text in UTF-8") from None
    except OSError as error:
        raise cannot("read", options.file, error) from error
    if options.unpack is not None:
        folder = Path(options.unpack)
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        repro.unpack(folder)
        stdin = f" < {repro.stdin}" if repro.stdin else ""
        print(f"cd {folder} && {shlex.join(['stepwell', *repro.words])}{stdin}")
        return 0
    _check(repro, options)
    ending = _again(repro)
    if ending.is_like(repro.ending):
        print(f"repro: it ends as it did: {ending}", file=sys.stderr)
        return 0
    was = f"{repro.ending}, {repro.ending.error or 'without an error'}"
    print(f"repro: it ends otherwise: {ending}, it was {was}", file=sys.stderr)
    return 1


def _check(repro: Repro, options: argparse.Namespace) -> None:
    """Raises `StepwellError` where the file asks for more than a program: another command, code, other folders."""
    if not repro.words or repro.words[0] not in VERBS or repro.words[0] == "repro":
        raise StepwellError(Diagnostic(f"'{options.file}' runs no command of stepwell: {shlex.join(repro.words)}"))
    outside = [word for word in repro.words if Path(word).is_absolute() or ".." in Path(word).parts]
    if outside:
        raise StepwellError(Diagnostic(f"'{options.file}' names '{outside[0]}', which is not in it"))
    found = None if options.trust_code else needs_trust(repro)
    if found is not None:
        hint = "look at it (--unpack), and if you trust it: --trust-code"
        raise StepwellError(Diagnostic(f"'{options.file}' {found}", hint=hint))


def _again(repro: Repro) -> Ending:
    module = import_module(f".{VERBS[repro.words[0]][0]}", __package__)
    with TemporaryDirectory(prefix="stepwell-repro-") as name, _in(Path(name), repro):
        data = repro.files.get(repro.stdin)
        return watched(lambda: module.main(list(repro.words[1:])), data if isinstance(data, bytes) else None)


@contextmanager
def _in(folder: Path, repro: Repro) -> Iterator[None]:
    """Works in a folder with the files of the run, and with its variables."""
    before, environment = Path.cwd(), dict(os.environ)
    repro.unpack(folder)
    try:
        os.chdir(folder)
        os.environ.update(relative_variables(repro))
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(environment)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell repro", argv, lambda words, _: run(argument_parser().parse_args(words)))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
