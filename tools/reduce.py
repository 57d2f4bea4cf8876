"""
`stepwell reduce`: shrinks a program while it stays interesting.

Runs as `python tools/reduce.py` and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.reduce import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path

from ..core.messages.diagnostics import Diagnostic, StepwellError
from ..core.messages.files import write_file
from .options.command import ArgumentParser, Sources, count, program_name, run_tool

# Imports inside functions keep the start of the command fast: the interpreter is loaded only when needed.

EXAMPLES = """
stepwell reduce m.mlir --wrong -p O3 -o small.mlir
stepwell reduce m.mlir --crash -p O3 --jobs 4 -o small.mlir
stepwell reduce m.mlir --message "out of range" -p graph-optimize -o small.mlir --test small_test.mlir
stepwell reduce m.mlir --command 'sh check.sh {}' -o small.mlir
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell reduce",
        description="Shrinks a program by small edits, as long as a predicate holds for it.",
        examples=EXAMPLES,
    )
    parser.add_shared("file")
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--command", metavar="COMMAND", help="this ends with exit code 0; {} stands for the program")
    chosen.add_argument("--wrong", action="store_true", help="the passes of -p change a result")
    chosen.add_argument("--message", metavar="TEXT", help="the passes of -p end in an error that has this text")
    chosen.add_argument("--crash", action="store_true", help="the passes of -p crash, as now")
    parser.add_argument("-p", "--passes", metavar="PIPELINE", default="", help="the passes that fail")
    parser.add_argument("-o", "--output", metavar="OUT", help="write to this file (default: standard output)")
    parser.add_argument("--test", metavar="OUT", help="write a test for FileCheck to this file too")
    parser.add_argument("--jobs", type=count, default=os.cpu_count() or 1, metavar="N", help="try N programs at a time")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="seconds for one try (default: 60)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the seed of inputs of --wrong (default: 0)")
    parser.add_argument("--restart", action="store_true", help="do not go on from where an earlier run has ended")
    parser.add_shared("--load-plugin", "--debug")
    return parser


def run(options: argparse.Namespace, sources: Sources) -> int:
    """Does what the command line says, and returns the exit code. Puts the text of the program into `sources`."""
    _check(options)
    from ..core.passes.pipeline_text import parse_pipeline
    from ..core.text.parsing import make_context, read_source
    from ..trust.cases import CheckOptions
    from ..trust.reduce.moves.all import moves_for
    from ..trust.reduce.predicates import Command, Crash, Message, Wrong
    from ..trust.reduce.regression import text_of_test
    from ..trust.reduce.session import reduce
    from ..trust.reduce.subject import Program
    from ..trust.reduce.workers import Workers

    parse_pipeline(options.passes)
    name = program_name(options.file)
    sources[name] = read_source(options.file)
    context = make_context()
    if options.command is not None:
        predicate = Command(options.command)
    elif options.message is not None:
        predicate = Message(options.message, options.passes, context)
    elif options.crash:
        predicate = Crash(options.passes, context)
    else:
        predicate = Wrong(options.passes, context, CheckOptions(options.seed))
    program = Program(context, sources[name], name)
    started, first = time.monotonic(), program.ops()
    search = reduce(
        program,
        predicate,
        moves_for(program),
        workers=Workers(options.jobs, options.timeout),
        file=name,
        output=None if options.output is None else Path(options.output),
        resume=not options.restart,
        report=Shown(started),
    )
    if options.output is None:
        print(program.text, end="")
    if options.test is not None:
        write_file(options.test, text_of_test(predicate, program.text, search.wanted or ""))
    tried, late = search.workers.tried, search.workers.late
    seconds = time.monotonic() - started
    slow = f", {late} of them too slow" if late else ""
    print(f"reduce: {first} ops, now {program.ops()}; {tried} tries{slow}, {seconds:.0f} s", file=sys.stderr)
    return 0


class Shown:
    """Shows how far a search is: a line on standard error, at most one a second."""

    def __init__(self, started: float):
        self._started = self._last = started

    def __call__(self, stage: object) -> None:
        now = time.monotonic()
        if now - self._last < 1:
            return
        self._last = now
        ops, tried, name = (getattr(stage, each) for each in ("ops", "tried", "name"))
        print(f"reduce: {now - self._started:4.0f} s, {ops} ops, {tried} tries, {name}", file=sys.stderr)


def _check(options: argparse.Namespace) -> None:
    """Raises `StepwellError` for flags that do not go together."""
    if options.wrong and not options.passes:
        raise StepwellError(Diagnostic("--wrong needs the passes that change a result", hint="-p PIPELINE names them"))
    if options.command is not None and options.passes:
        raise StepwellError(Diagnostic("--command runs no passes, so it goes without -p"))
    if options.timeout <= 0:
        raise StepwellError(Diagnostic(f"--timeout is {options.timeout:g}, expected a number above 0"))
    if options.output is not None and Path(options.output).resolve() == Path(options.file).resolve():
        raise StepwellError(Diagnostic(f"the output '{options.output}' is the program itself"))
    if not hasattr(os, "fork"):
        raise StepwellError(Diagnostic("reduce needs processes that fork, which this system has not"))


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell reduce", argv, lambda words, sources: run(argument_parser().parse_args(words), sources))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
