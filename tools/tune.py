"""
`stepwell-tune`: look for faster schedules of the kernels of a program and keep them for the next compilation.

Runs as a console script, as `python tools/tune.py`, and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.tune import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .options.command import ArgumentParser, Sources, read_module, run_tool

if TYPE_CHECKING:
    from ..runtime.tuning.report import TuningReport


# Imports inside functions keep the start of the command fast: the runtime is loaded only when needed.


EXAMPLES = """
stepwell tune m.mlir --trials 64              for at most 64 schedules per kernel
stepwell tune m.mlir --kernel matmul --seconds 60 --show
stepwell run m.mlir --random 0 --repeat 100   uses what was found
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell-tune",
        description=(
            "Measures schedules around the default ones of the kernels of a program and keeps those that are faster."
        ),
        examples=EXAMPLES,
    )
    parser.add_shared("file")
    parser.add_argument(
        "--db",
        metavar="FILE",
        help=(
            "the database to add to (default: that of compilation, STEPWELL_TUNING_DB or tuning.jsonl beside the "
            "compile cache)"
        ),
    )
    parser.add_argument("--trials", type=int, default=64, metavar="N", help="try N schedules per kernel (default: 64)")
    parser.add_argument("--seconds", type=float, metavar="S", help="begin no candidate after S seconds")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the seed of the search (default: 0)")
    parser.add_argument("--jobs", type=int, metavar="N", help="measure in N processes at the same time (default: 1)")
    parser.add_argument("--target", default="host", metavar="NAME", help="the machine to tune for (default: host)")
    parser.add_argument("--kernel", metavar="NAME", help="tune only the kernel of this name")
    parser.add_argument(
        "--timeout", type=float, default=30.0, metavar="S", help="stop a candidate after S seconds (default: 30)"
    )
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="run kernels on N threads (default: 1)")
    parser.add_argument("--replay", action="store_true", help="go through the candidates again and measure nothing")
    parser.add_argument("--show", action="store_true", help="print every candidate and the best schedules")
    parser.add_argument("--entry", default="main", help="the function to tune (default: main)")
    parser.add_shared("-p --passes", "--opt-level", "--numerics", "--load-plugin", "--debug")
    return parser


def run(options: argparse.Namespace, sources: Sources) -> int:
    """Does what the command line says, and returns the exit code. Puts the text of the program into `sources`."""
    from ..runtime.tuning.tune import tune

    module = read_module(options.file, sources)
    try:
        report = tune(module, **_arguments(options))
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from what the database has", file=sys.stderr)
        raise
    if options.show:
        show(report)
    print(report)
    print(f"database: {report.database}")
    return 0


def _arguments(options: argparse.Namespace) -> dict[str, Any]:
    """Of `tune`."""
    return {
        "database": options.db,
        "trials": options.trials,
        "seconds": options.seconds,
        "jobs": options.jobs,
        "seed": options.seed,
        "target": options.target,
        "kernel": options.kernel,
        "timeout": options.timeout,
        "threads": options.threads,
        "entry": options.entry,
        "pipeline": options.passes,
        "opt_level": options.opt_level,
        "numerics": options.numerics,
        "replay": options.replay,
    }


def show(report: TuningReport) -> None:
    """Prints the candidates in the order in which they were tried, then the schedules that are used."""
    for kernel in report.kernels:
        for number, trial in enumerate(kernel.trials, 1):
            record = trial.record
            found = f"{record.ratio:.3f} ×" if record.ratio is not None else record.detail
            if record.microseconds is not None:
                found += f", {record.microseconds[1]:.2f} µs in place of {record.microseconds[0]:.2f} µs"
            print(f"// candidate {number} of @{kernel.names[0]}: {record.status} {found}\n{trial.program}")
        if kernel.best is not None:
            print(f"// best of @{kernel.names[0]}\n{kernel.best.program}")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell-tune", argv, lambda words, sources: run(argument_parser().parse_args(words), sources))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
