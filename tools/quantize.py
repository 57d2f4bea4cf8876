"""
`stepwell quantize`: a program or a model whose layers compute on bytes, and a report about it.

Runs as a verb of `stepwell`, as `python tools/quantize.py`, and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.quantize import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.messages.diagnostics import Diagnostic, StepwellError
from ..core.messages.files import write_file
from .options.batch_files import batches_in
from .options.command import ArgumentParser, Sources, read_module, run_tool

# Imports inside functions keep the start of the command fast: the compiler and NumPy are loaded only when needed.


EXAMPLES = """
stepwell quantize m.mlir --data train.npz -o m8.mlir --report m8.html
stepwell quantize m.onnx --data train.npz --test test.npz --labels y --drop 0.01 -o m8.mlir
stepwell quantize m.onnx --data train.npz --weights int4 --block 64 --zero-points -o m4.mlir
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell quantize",
        description="Quantises the layers of a program to bytes by the values of data, and reports what that does.",
        examples=EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="textual IR on the graph level, a model.onnx, or -")
    parser.add_argument("-o", "--output", metavar="FILE.mlir", help="write the program here, its weights beside it")
    parser.add_argument(
        "--data",
        action="append",
        required=True,
        metavar="IN.npz",
        help="all arguments by name, or as arr_0, arr_1 …, with one axis more for many batches; may be repeated",
    )
    parser.add_argument("--test", action="append", metavar="IN.npz", help="count results on this data instead")
    parser.add_argument("--labels", metavar="NAME", help="the array of these files that has class numbers")
    parser.add_argument(
        "--drop", type=float, metavar="P", help="keep layers in floats until at most this part of accuracy is lost"
    )
    parser.add_argument(
        "--report", action="append", default=[], metavar="FILE", help="write it (.html .svg .json .txt)"
    )
    parser.add_argument("--observer", help="min-max (the default), moving-average, percentile, entropy or mse")
    parser.add_argument("--percentile", type=float, metavar="P", help="of that observer (default: 99.99)")
    parser.add_argument("--symmetric", action="store_true", help="give activations the zero point 0")
    parser.add_argument("--no-equalize", action="store_true", help="leave out equalisation across layers")
    parser.add_argument("--no-bias-correction", action="store_true", help="leave out bias correction")
    parser.add_argument(
        "--weights", choices=("int8", "int4", "f16", "bf16"), help="quantise the weights of products alone"
    )
    parser.add_argument("--block", type=int, metavar="N", help="inputs that share a scale then (default: 32)")
    parser.add_argument("--zero-points", action="store_true", help="give each of these blocks a zero point of its own")
    parser.add_argument(
        "--no-compensation", action="store_true", help="round these weights to the nearest, each for itself"
    )
    parser.add_argument("--keep", action="append", default=[], metavar="NAME", help="keep this layer in floats")
    parser.add_argument("--keep-kind", action="append", default=[], metavar="KIND", help="keep matmul or conv2d so")
    parser.add_argument("--no-times", action="store_true", help="do not measure how long layers take")
    parser.add_argument("--entry", default="main", help="the function to quantise (default: main)")
    parser.add_argument(
        "--dim", action="append", default=[], metavar="NAME=N", help="give a symbolic size of an ONNX model a value"
    )
    parser.add_shared("--threads", "--no-cache", "--load-plugin", "--debug")
    return parser


def run(options: argparse.Namespace, sources: Sources) -> int:
    """Does what the command line says, and returns the exit code."""
    from ..rewrites.constants.externalize_weights import side_car
    from ..rewrites.quantiser.options import ALONE, OF_BYTES
    from ..runtime.quantising.outputs import check_names, replacing
    from ..runtime.quantising.quantize import quantize

    read: list[str | Path] = [options.file, *options.data, *(options.test or ())]
    check_names(options.output, options.report, read)
    module = _module(options, sources)
    if (weights := side_car(module)) is not None:
        check_names(options.output, options.report, [weights])
    _check_flags(options)
    # Labels that are missing are told before arrays that are no arguments, which they may be under another name.
    tests = None if options.test is None else _batches(module, options, options.test, labelled=True)
    data = _batches(module, options, options.data, labelled=tests is None)
    counted = data if tests is None else tests
    found = quantize(
        module,
        [batch for batch, _ in data],
        evaluation=None if tests is None else [batch for batch, _ in tests],
        labels=None if options.labels is None else [labels for _, labels in counted],
        drop=options.drop,
        observer=options.observer or OF_BYTES["observer"],
        percentile=OF_BYTES["percentile"] if options.percentile is None else options.percentile,
        activations="symmetric" if options.symmetric else "asymmetric",
        equalise=not options.no_equalize,
        bias_correction=not options.no_bias_correction,
        weights=options.weights,
        block=ALONE["block"] if options.block is None else options.block,
        zero_points=options.zero_points,
        compensate=not options.no_compensation,
        keep=options.keep,
        keep_kinds=options.keep_kind,
        entry=options.entry,
        timed=not options.no_times,
        threads=options.threads,
        cache=not options.no_cache,
    )
    with replacing() as beside:
        if options.output is not None:
            found.write(options.output, beside)
        for path in options.report:
            write_file(beside(path), found.report.text_for(path))
    print(found.report)
    return 0


def _check_flags(options: argparse.Namespace) -> None:
    """Raises an error for a flag that would not do anything, also where it says what is so without it."""
    from ..rewrites.quantiser.options import OF_BYTES, check_together

    given = {
        "observer": options.observer is not None,
        "percentile": options.percentile is not None,
        "activations": options.symmetric,
        "equalise": options.no_equalize,
        "bias_correction": options.no_bias_correction,
        "block": options.block is not None,
        "zero_points": options.zero_points,
        "compensate": options.no_compensation,
    }
    observer = options.observer or OF_BYTES["observer"]
    check_together(options.weights, {name for name, is_given in given.items() if is_given}, observer)


def _module(options: argparse.Namespace, sources: Sources) -> Any:
    if options.file.endswith(".onnx"):
        from ..frontends.onnx.importer import from_onnx
        from .import_onnx import sizes_given

        return from_onnx(options.file, dims=sizes_given(options.dim))
    if options.dim:
        raise StepwellError(Diagnostic("--dim is for ONNX models"))
    return read_module(options.file, sources)


def _batches(
    module: Any, options: argparse.Namespace, paths: Sequence[str], *, labelled: bool
) -> list[tuple[dict[str, Any], Any]]:
    """Returns the batches of files, with their labels where these are wanted."""
    from ..rewrites.quantiser.layers import entry_of
    from ..runtime.calibration.values import inputs_of

    inputs = inputs_of(entry_of(module, options.entry))
    found: list[tuple[dict[str, Any], Any]] = []
    for path in paths:
        batches = list(batches_in(path, options.entry, inputs, options.labels, labelled=labelled))
        found += batches if labelled else [(batch, None) for batch, _ in batches]
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell quantize", argv, lambda words, sources: run(argument_parser().parse_args(words), sources))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
