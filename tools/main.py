"""
`stepwell VERB …`: one command for all that the others do.

Runs as a console script, as `python tools/main.py`, and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.main import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

from collections.abc import Sequence
from importlib import import_module
from typing import Final

VERBS: Final = {
    "opt": ("opt", "parse, verify, run passes, print (stepwell-opt)"),
    "run": ("run", "compile a program and run it on arrays, or run a saved one (stepwell-run)"),
    "compile": ("compile", "compile a program or a model into one file (docs/saving.md)"),
    "import-onnx": ("import_onnx", "turn an ONNX model into textual IR (stepwell-import-onnx)"),
    "tune": ("tune", "look for faster schedules by measuring (stepwell-tune)"),
    "show": ("show", "draw a program or a profile (stepwell-show)"),
    "calibrate": ("calibrate", "record what flows through partitioned functions (stepwell-calibrate)"),
    "quantize": ("quantize", "make layers compute on bytes, and report (docs/quantising.md)"),
    "reduce": ("reduce", "shrink a program while it fails (docs/debugging.md)"),
    "diff": ("diff", "compare two programs by results and by ops (docs/habits.md)"),
    "fuzz": ("fuzz", "look for programs that the passes get wrong (docs/habits.md)"),
    "repro": ("repro", "run again what --save-repro of a command has written (docs/habits.md)"),
    "new-dialect": ("new_dialect", "make a package with a dialect, passes and tests (docs/habits.md)"),
    "update-checks": ("update_checks", "write the CHECK lines of tests (docs/habits.md)"),
    "cache": ("cache", "show or empty the compile cache on disk"),
    "example": ("example", "list the examples, or copy one to try and to change"),
    "docs": ("docs", "list the pages of documentation, or print one"),
    "completion": ("completion", "print the script that completes all this in bash, zsh or fish"),
}
"""The file of each verb in this folder, and what it does."""


def usage() -> str:
    """Returns the help of the command."""
    lines = [f"  {verb:<13} {what}" for verb, (_, what) in VERBS.items()]
    return "\n".join(["usage: stepwell VERB …", "", *lines, "", "stepwell VERB --help lists the flags of a verb."])


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the verb that is the first of `argv` (default: the command line); returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in VERBS:
        return import_module(f".{VERBS[words[0]][0]}", __package__).main(words[1:])
    from .options.command import run_tool

    return run_tool("stepwell", words, lambda found, _: _without_verb(found))


def _without_verb(words: list[str]) -> int:
    from ..core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
    from .options.command import version

    match words:
        case [] | ["--help" | "-h" | "help", *_]:
            print(usage())
            return 0
        case ["--version" | "-v", *_]:
            print(f"stepwell {version()}")
            return 0
    message = f"there is no verb '{words[0]}', expected one of {', '.join(VERBS)}"
    raise StepwellError(Diagnostic(message, hint=did_you_mean(words[0], VERBS)))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
