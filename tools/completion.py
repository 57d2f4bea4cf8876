"""
`stepwell completion SHELL`: the script that completes verbs, flags, passes, targets and machines in a shell.

Runs as `python tools/completion.py` and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.completion import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
from collections.abc import Sequence

from .main import VERBS
from .options.command import ArgumentParser, run_tool
from .options.completions import verb_of
from .options.shells import SHELLS

EXAMPLES = """
stepwell completion bash > ~/.local/share/bash-completion/completions/stepwell
stepwell completion fish > ~/.config/fish/completions/stepwell.fish
source <(stepwell completion zsh)             in ~/.zshrc, after compinit
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell completion",
        description="Prints the script that completes stepwell in a shell. It knows what is installed now.",
        examples=EXAMPLES,
    )
    parser.add_argument("shell", choices=tuple(SHELLS), help="the shell")
    parser.add_shared("--debug")
    return parser


def run(options: argparse.Namespace) -> int:
    """Does what the command line says, and returns the exit code."""
    verbs = [verb_of(name, help, module, str(__package__)) for name, (module, help) in VERBS.items()]
    print(SHELLS[options.shell](verbs), end="")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell completion", argv, lambda words, _: run(argument_parser().parse_args(words)))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
