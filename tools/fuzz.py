"""
`stepwell fuzz`: random programs through the passes for some time, and what fails made into tests.

Runs as `python tools/fuzz.py` and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.fuzz import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
import os
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ..core.messages.files import writing
from .options.command import ArgumentParser, count, run_tool
from .start import INTERRUPTED

if TYPE_CHECKING:
    from ..trust.fuzz.hunt import Found, Hunt
    from ..trust.fuzz.sources import Source

# Imports inside functions keep the start of the command fast: the interpreter is loaded only when needed.

SOURCES: Final = ("families", "ops", "motifs", "layers", "rules", "dialects")

EXAMPLES = """
stepwell fuzz --seconds 600 -o found
stepwell fuzz --seconds 60 --seed 1200                      go on where an earlier run has ended
stepwell fuzz --load-plugin mine.py --source dialects       the ops of your dialects
stepwell fuzz --rules mine.mlir --source rules              your rules, one by one
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell fuzz",
        description="Runs random programs through the passes and compares the results. What fails becomes a test.",
        examples=EXAMPLES,
    )
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="the time there is (default: 60)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the first seed (default: 0)")
    parser.add_argument(
        "-p",
        "--passes",
        metavar="PIPELINE",
        action="append",
        help="the passes (default: O3 and O1, by turns); may be given several times",
    )
    parser.add_argument(
        "--source",
        metavar="NAME",
        action="append",
        default=[],
        help=f"a kind of programs: {', '.join(SOURCES)} (default: all); may be given several times",
    )
    parser.add_argument("--rules", metavar="FILE", help="programs that these rules match, and passes that apply them")
    parser.add_argument("-o", dest="folder", metavar="FOLDER", default=".", help="where tests go (default: here)")
    parser.add_argument("--most", type=count, metavar="N", help="end after N faults that differ")
    parser.add_argument("--jobs", type=count, default=1, metavar="N", help="try N programs at a time (default: 1)")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="seconds for a program (default: 60)")
    parser.add_shared("--load-plugin", "--debug")
    return parser


def run(options: argparse.Namespace) -> int:
    """Does what the command line says, and returns the exit code: 1 if something was found."""
    _check(options)
    from ..core.passes.pipeline_text import parse_pipeline
    from ..core.text.parsing import make_context
    from ..trust.fuzz.hunt import Hunt, Hunters

    pipelines = options.passes or (["O3", "O1"] if options.rules is None else [_applies(options.rules)])
    for each in pipelines:
        parse_pipeline(each)
    with writing(options.folder):
        Path(options.folder).mkdir(parents=True, exist_ok=True)
    context = make_context()
    sources = _sources(options, context)
    hunt = Hunt(context, sources, pipelines, Path(options.folder), Hunters(options.jobs, options.timeout))
    shown = _Shown(hunt)
    hunt.report = shown.progress
    different, interrupted = 0, False
    try:
        for found in hunt.run(options.seed, options.seconds):
            shown.found(found)
            different += not found.again
            if different == options.most:
                break
    except KeyboardInterrupt:
        interrupted = True
        print(file=sys.stderr)
    finally:
        hunt.workers.stop()
    tried, flaky = hunt.counts.programs, hunt.counts.flaky
    more = f", {flaky} failed only once" if flaky else ""
    faults = f"{different} fault{'' if different == 1 else 's'}"
    after = max(hunt.next, options.seed)  # of a hunt that ends before it begins
    seeds = f"seeds {options.seed} to {after - 1}" if after > options.seed else "no seeds"
    print(f"fuzz: {seeds}, {tried} programs, {faults}{more}; --seed {after} goes on")
    return 1 if different else INTERRUPTED if interrupted else 0


def _applies(file: str) -> str:
    return f'apply-patterns{{file="{file}"}}'


def _sources(options: argparse.Namespace, context: object) -> list[Source]:
    """Returns what is drawn from. Raises `StepwellError` where a kind that is asked for has nothing."""
    from ..patterns.text.loading import rules_of_file
    from ..trust.fuzz.sources import (
        Dialects,
        Families,
        Layers,
        Motifs,
        Ops,
        Rules,
        all_shipped_rules,
        dialects_of_others,
        op_classes,
    )

    classes = op_classes(dialects_of_others())
    wanted = options.source or [each for each in SOURCES if each != "dialects" or classes]
    if options.rules is not None and not options.source:
        wanted = ["rules"]
    if "dialects" in wanted and not classes:
        hint = "--load-plugin FILE.py loads a dialect; its ops need a te or a loop_function"
        raise StepwellError(Diagnostic("no dialect of another package has an op that says what it computes", hint=hint))
    makers = {
        "families": Families,
        "ops": Ops,
        "motifs": Motifs,
        "layers": Layers,
        "rules": lambda: Rules(
            all_shipped_rules() if options.rules is None else tuple(rules_of_file(options.rules, context))  # pyright: ignore
        ),
        "dialects": lambda: Dialects(classes),
    }
    return [makers[name]() for name in dict.fromkeys(wanted)]


class _Shown:
    """Shows what was found, and how far the hunt is, at most one line in five seconds."""

    def __init__(self, hunt: Hunt):
        self._hunt, self._started = hunt, time.monotonic()
        self._last = self._started

    def progress(self, seed: int) -> None:
        now = time.monotonic()
        if now - self._last >= 5:
            self._last = now
            programs = self._hunt.counts.programs
            print(f"fuzz: {now - self._started:4.0f} s, seed {seed}, {programs} programs", file=sys.stderr, flush=True)

    def found(self, found: Found) -> None:
        lines = [f"fuzz: seed {found.seed} of {found.source} with -p {shlex.quote(found.pipeline)}: {found.kind}"]
        lines += [f"to blame: {found.culprit}"] if found.culprit else []
        lines.append("as before" if found.again else f"{found.ops} ops, now {found.small} in {found.file}")
        print("\n  ".join(lines), flush=True)


def _check(options: argparse.Namespace) -> None:
    """Raises `StepwellError` for values that make no sense."""
    for name in options.source:
        if name not in SOURCES:
            hint = did_you_mean(name, SOURCES)
            raise StepwellError(Diagnostic(f"there is no source '{name}', expected {', '.join(SOURCES)}", hint=hint))
    for flag in ("seconds", "timeout"):
        if getattr(options, flag) <= 0:
            raise StepwellError(Diagnostic(f"--{flag} is {getattr(options, flag):g}, expected a number above 0"))
    if options.seed < 0:
        raise StepwellError(Diagnostic(f"--seed is {options.seed}, expected a number of at least 0"))
    if not hasattr(os, "fork"):
        raise StepwellError(Diagnostic("fuzz needs processes that fork, which this system has not"))


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell fuzz", argv, lambda words, _: run(argument_parser().parse_args(words)))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
