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
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context

from ..core.messages.diagnostics import Diagnostic, StepwellError
from ..core.messages.files import write_file
from .options.command import ArgumentParser, Sources, count, program_name, run_tool
from .options.outputs import refuse_overwriting

if TYPE_CHECKING:
    from ..trust.reduce.predicates import Predicate
    from ..trust.reduce.subject import Subject

# Imports inside functions keep the start of the command fast: the interpreter is loaded only when needed.

EXAMPLES = """
stepwell reduce m.mlir --wrong -p O3 -o small.mlir
stepwell reduce m.mlir --crash -p O3 --jobs 4 -o small.mlir
stepwell reduce m.mlir --message "out of range" -p graph-optimize -o small.mlir --test small_test.mlir
stepwell reduce m.mlir --command 'sh check.sh {}' -o small.mlir
stepwell reduce net.onnx --against onnxruntime -o small.onnx --test test_small.py
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell reduce",
        description="Shrinks a program by small edits, as long as a predicate holds for it.",
        examples=EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="textual IR, an ONNX model, or - for standard input")
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--command", metavar="COMMAND", help="this ends with exit code 0; {} stands for the program")
    chosen.add_argument("--wrong", action="store_true", help="the passes of -p change a result")
    chosen.add_argument("--message", metavar="TEXT", help="the passes of -p end in an error that has this text")
    chosen.add_argument("--crash", action="store_true", help="the passes of -p crash, as now")
    chosen.add_argument(
        "--against", choices=("onnxruntime", "reference"), help="this gives other results for an ONNX model than we do"
    )
    parser.add_argument("-p", "--passes", metavar="PIPELINE", default="", help="the passes that fail")
    parser.add_argument("-o", "--output", metavar="OUT", help="write to this file (default: standard output)")
    parser.add_argument("--test", metavar="OUT", help="write a test for FileCheck, or pytest, to this file too")
    parser.add_argument("--jobs", type=count, default=os.cpu_count() or 1, metavar="N", help="try N programs at a time")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="seconds for one try (default: 60)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the seed of inputs of --wrong (default: 0)")
    parser.add_argument("--restart", action="store_true", help="do not go on from where an earlier run has ended")
    parser.add_shared("--load-plugin", "--debug")
    return parser


def run(options: argparse.Namespace, sources: Sources) -> int:
    """Does what the command line says, and returns the exit code. Puts the text of the program into `sources`."""
    if options.output == "-" and not _is_model(options):
        options.output = None
    _check(options)
    from ..core.passes.pipeline_text import parse_pipeline
    from ..core.text.parsing import make_context
    from ..trust.reduce.moves.all import moves_for
    from ..trust.reduce.session import reduce
    from ..trust.reduce.workers import Workers

    parse_pipeline(options.passes)
    name = program_name(options.file)
    context = make_context()
    subject = _subject(options, sources, context)
    predicate = _predicate(options, context)
    started, first = time.monotonic(), subject.ops()
    search = reduce(
        subject,
        predicate,
        moves_for(subject),
        workers=Workers(options.jobs, options.timeout),
        file=name,
        output=None if options.output is None else Path(options.output),
        resume=not options.restart,
        report=Shown(started),
    )
    if options.output is None:
        print(subject.data().decode(), end="")
    if options.test is not None:
        write_file(options.test, _test(options, predicate, subject, search.wanted or ""))
    tried, late = search.workers.tried, search.workers.late
    seconds = time.monotonic() - started
    slow = f", {late} of them too slow" if late else ""
    ops = "nodes" if _is_model(options) else "ops"
    print(f"reduce: {first} {ops}, now {subject.ops()}; {tried} tries{slow}, {seconds:.0f} s", file=sys.stderr)
    return 0


def _is_model(options: argparse.Namespace) -> bool:
    return options.file.endswith(".onnx")


def _subject(options: argparse.Namespace, sources: Sources, context: Context) -> Subject:
    from ..core.text.parsing import read_source
    from ..trust.reduce.onnx_model import read_model
    from ..trust.reduce.subject import Program

    if _is_model(options):
        return read_model(options.file)
    name = program_name(options.file)
    sources[name] = read_source(options.file)
    return Program(context, sources[name], name)


def _predicate(options: argparse.Namespace, context: Context) -> Predicate:
    from ..trust.cases import CheckOptions
    from ..trust.evaluate import warm_up
    from ..trust.reduce.onnx_model import Elsewhere
    from ..trust.reduce.predicates import Command, Crash, Message, Wrong

    if options.command is not None:
        return Command(options.command)
    if options.message is not None:
        return Message(options.message, options.passes, context)
    if options.crash:
        return Crash(options.passes, context)
    if options.against is not None:
        import_module(options.against if options.against == "onnxruntime" else "onnx.reference")
        warm_up()
        return Elsewhere(options.against, CheckOptions(options.seed))
    return Wrong(options.passes, context, CheckOptions(options.seed))


def _test(options: argparse.Namespace, predicate: Predicate, subject: Subject, wanted: str) -> str:
    from ..trust.reduce.model_test import test_of_model
    from ..trust.reduce.regression import text_of_test

    if _is_model(options):
        return test_of_model(predicate, options.output, wanted)
    return text_of_test(predicate, subject.data().decode(), wanted)


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
    if options.against is not None and not _is_model(options):
        raise StepwellError(Diagnostic("--against compares ONNX models", hint="--wrong -p PIPELINE compares programs"))
    if options.against is not None and options.passes:
        raise StepwellError(Diagnostic("--against compiles the model, so it goes without -p"))
    if _is_model(options) and options.output is None:
        raise StepwellError(Diagnostic("a model cannot go to standard output", hint="-o OUT.onnx"))
    if options.timeout <= 0:
        raise StepwellError(Diagnostic(f"--timeout is {options.timeout:g}, expected a number above 0"))
    refuse_overwriting({"the program": options.file}, {"the output": options.output, "--test": options.test})
    if not hasattr(os, "fork"):
        raise StepwellError(Diagnostic("reduce needs processes that fork, which this system has not"))


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell reduce", argv, lambda words, sources: run(argument_parser().parse_args(words), sources))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
