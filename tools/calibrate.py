"""
`stepwell-calibrate`: what goes into and comes out of the functions made for external code generators.

Runs as a console script, as `python tools/calibrate.py`, and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.calibrate import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.messages.diagnostics import Diagnostic, StepwellError, attach_source_line
from ..core.messages.files import writing
from .options.array_files import write_arrays
from .options.batch_files import batches_in
from .options.colours import coloured_program
from .options.colours import show as show_diagnostic
from .options.command import ArgumentParser, Sources, read_module, run_tool
from .options.outputs import refuse_overwriting

if TYPE_CHECKING:
    from ..runtime.calibration.calibrate import Collector


# Imports inside functions keep the start of the command fast: the runtime is loaded only when needed.


EXAMPLES = """
stepwell calibrate m.mlir --data in.npz -o values.npz
stepwell calibrate m.mlir --data 0.npz --data 1.npz --stats stats.json
stepwell calibrate m.mlir --values --data batches.npz --stats values.json
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell-calibrate",
        description="Runs a program and writes the arguments and results of its functions with graph.compiler.",
        examples=EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="textual IR on the graph level, or - for standard input")
    parser.add_argument(
        "--data",
        action="append",
        required=True,
        metavar="IN.npz",
        help="all arguments by name, or as arr_0, arr_1 …, with one axis more for many batches; may be repeated",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT.npz",
        help="write the data as g0/in0, g0/out0 …; several batches are stacked along a new first axis",
    )
    parser.add_argument("--stats", metavar="OUT.json", help="write statistics over all batches")
    parser.add_argument("--bins", type=int, default=2048, metavar="N", help="use at most N bins (default: 2048)")
    parser.add_argument("--percentiles", default="0.1,1,50,99,99.9", metavar="P,…", help="default: 0.1,1,50,99,99.9")
    parser.add_argument("--entry", default="main", help="the function to run (default: main)")
    parser.add_argument("--recursive", action="store_true", help="also record calls in functions that the entry calls")
    parser.add_argument(
        "--multi",
        default="error",
        choices=("error", "list"),
        help="make a second call of a function an error, or list the data of every call, as g0/0/in0 …",
    )
    parser.add_argument(
        "--values", action="store_true", help="record the values that layers read, for the pass quantize, instead"
    )
    parser.add_argument(
        "--moments", metavar="OUT.safetensors", help="with --values: write second moments of what products read"
    )
    parser.add_argument("--reference", action="store_true", help="run in NumPy instead of native code")
    parser.add_shared("--opt-level", "--numerics", "--weights", "--threads", "--no-cache")
    parser.add_argument("--print-module", action="store_true", help="print the program that runs, and its map")
    parser.add_shared("--load-plugin", "--debug")
    return parser


def run(options: argparse.Namespace, sources: Sources) -> int:
    """Does what the command line says, and returns the exit code. Puts the text of the program into `sources`."""
    read = {"the program": options.file, "the file of --weights": options.weights, "the file of --data": options.data}
    written = {"--output": options.output, "--stats": options.stats, "--moments": options.moments}
    refuse_overwriting(read, written)
    if options.values:
        return _run_values(options, sources)
    if options.moments:
        raise StepwellError(Diagnostic("--moments goes with --values"))
    from ..rewrites.calibration.statistics import save_statistics
    from ..runtime.calibration.calibrate import Calibrator, DataCollector, StatisticsCollector, run_batches

    calibrator = Calibrator(
        read_module(options.file, sources),
        entry=options.entry,
        recursive=options.recursive,
        multi=options.multi,
        reference=options.reference,
        opt_level=options.opt_level,
        numerics=options.numerics,
        threads=options.threads,
        cache=not options.no_cache,
        weights=options.weights,
    )
    for warning in calibrator.warnings:
        show_diagnostic(attach_source_line(warning, sources))
    if options.print_module:
        print(coloured_program(str(calibrator.module), sys.stdout))
    statistics = StatisticsCollector(calibrator, _statistics_options(options))
    collectors: list[Collector] = [statistics]
    data = DataCollector(calibrator, stacked=len(options.data) > 1)
    if options.output:
        collectors.append(data)
    run_batches(calibrator, _batches(calibrator.entry, calibrator.inputs, options.data), collectors)
    for warning in statistics.remarks():
        show_diagnostic(warning)
    found = _shaped(statistics.result(), options.multi)
    if options.output:
        write_arrays(Path(options.output), named(_shaped(data.result(), options.multi)))
    if options.stats:
        with writing(options.stats):
            save_statistics(options.stats, found)
    if not (options.output or options.stats or options.print_module):
        for key, tensor in named(found).items():
            print(f"{key}: {tensor}")
    return 0


def _run_values(options: argparse.Namespace, sources: Sources) -> int:
    """Records the values that layers read."""
    from ..rewrites.calibration.statistics import VALUES, save_statistics
    from ..runtime.calibration.values import ValueRecorder, statistics_over

    refused = {"--output": options.output, "--recursive": options.recursive, "--reference": options.reference}
    for flag, given in refused.items():
        if given:
            raise StepwellError(Diagnostic(f"--values has no use for {flag}, expected --stats"))
    recorder = ValueRecorder(
        read_module(options.file, sources),
        entry=options.entry,
        opt_level=options.opt_level,
        numerics=options.numerics,
        threads=options.threads,
        cache=not options.no_cache,
        weights=options.weights,
    )
    if options.print_module:
        print(coloured_program(str(recorder.module), sys.stdout))
    batches = list(_batches(recorder.entry, recorder.inputs, options.data))
    if options.moments:
        _write_moments(options, sources, batches)
    found = statistics_over(recorder, batches, _statistics_options(options))
    if options.stats:
        with writing(options.stats):
            save_statistics(options.stats, {recorder.entry: {VALUES: found}})
    elif not options.moments:
        for name, tensor in found.items():
            print(f"%{name}: {tensor}")
    return 0


def _write_moments(options: argparse.Namespace, sources: Sources, batches: list[Any]) -> None:
    from ..core.weights import write_weights
    from ..runtime.quantising.moments import input_moments

    module = read_module(options.file, sources)
    found = input_moments(module, batches, entry=options.entry, threads=options.threads, cache=not options.no_cache)
    write_weights(options.moments, found)


def _shaped(result: dict[str, list[Any]], multi: str) -> dict[str, Any]:
    from ..runtime.calibration.calibrate import without_lists

    return without_lists(result) if multi == "error" else result


def _statistics_options(options: argparse.Namespace) -> Any:
    from ..rewrites.calibration.statistics import StatisticsOptions

    try:
        percentiles = tuple(float(each) for each in options.percentiles.split(",") if each.strip())
    except ValueError:
        message = f"percentiles '{options.percentiles}' are malformed, expected for instance 0.1,99.9"
        raise StepwellError(Diagnostic(message)) from None
    try:
        return StatisticsOptions(options.bins, percentiles)
    except ValueError as error:
        raise StepwellError(Diagnostic(str(error))) from None


def named(functions: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arrays by key: `g0/in0`, `g0/out1`. With a list of calls the keys are `g0/0/in0`, `g0/1/in0`."""
    found: dict[str, Any] = {}
    for name, calls in functions.items():
        several = isinstance(calls, list)
        for number, call in enumerate(calls if several else [calls]):
            prefix = f"{name}/{number}" if several else name
            for side, word in (("inputs", "in"), ("outputs", "out")):
                found |= {f"{prefix}/{word}{index}": value for index, value in enumerate(call[side])}
    return found


def _batches(entry: str, inputs: Sequence[Any], paths: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The arrays of each batch by argument name; one file at a time is in memory."""
    for path in paths:
        for batch, _ in batches_in(path, entry, inputs):
            yield batch


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool(
        "stepwell-calibrate", argv, lambda words, sources: run(argument_parser().parse_args(words), sources)
    )


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
