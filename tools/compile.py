"""
`stepwell compile`: a program or an ONNX model as one file that holds its code, its text and its weights.

Runs as `python tools/compile.py` and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.compile import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.messages.diagnostics import Diagnostic, StepwellError
from .options.command import ArgumentParser, Sources, read_module, run_tool
from .options.outputs import refuse_overwriting
from .options.run_checks import check_for_model
from .options.weights import weights_of

# Imports inside functions keep the start of the command fast: the compiler and NumPy are loaded only when needed.


EXAMPLES = """
stepwell compile m.onnx -o m.stepwell
stepwell compile m.mlir --cpu x86-64-v3,x86-64-v4 --small
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell compile",
        description="Compiles a program or an ONNX model into one file.",
        examples=EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="textual IR, a model.onnx, or - for standard input")
    parser.add_argument("-o", "--output", metavar="FILE.stepwell", help="the file to write (default: beside the input)")
    parser.add_argument("--entry", help="the public function to compile (default: main)")
    parser.add_argument(
        "--cpu",
        metavar="NAMES",
        help="the machines to hold code for, with commas between (docs/targets.md; default: this one)",
    )
    parser.add_argument("--small", action="store_true", help="leave weights in the layouts of the code out of the file")
    parser.add_argument(
        "--dim", action="append", default=[], metavar="NAME=N", help="give a symbolic size of an ONNX model a value"
    )
    parser.add_shared(
        "-p --passes", "--opt-level", "--numerics", "--weights", "--threads", "--no-cache", "--load-plugin", "--debug"
    )
    return parser


def run(options: argparse.Namespace, sources: Sources) -> int:
    """Does what the command line says, and returns the exit code."""
    target = _output(options)
    executable = _compiled(options, sources)
    executable.save(target, cpu=_machines(options), prepared=not options.small)
    return 0


def _output(options: argparse.Namespace) -> Path:
    if options.output is None and options.file == "-":
        raise StepwellError(Diagnostic("a program from standard input has no name for its file", hint="give -o"))
    if options.output is None:
        # A folder such as `.` has no name that could end otherwise. It is refused when it is read.
        options.output = str(Path(options.file).with_suffix(".stepwell") if Path(options.file).name else options.file)
    output = Path(options.output)
    read = {"the program": options.file, "the file of --weights": options.weights}
    refuse_overwriting({**read, "the file of --load-plugin": options.load_plugin}, {"the output": options.output})
    return output


def _machines(options: argparse.Namespace) -> list[str]:
    """Returns the names of `--cpu`. Raises `StepwellError` for one that is not known, before anything is compiled."""
    from ..machine.named import machine_named

    names = [] if options.cpu is None else [name.strip() for name in options.cpu.split(",")]
    for name in names:
        machine_named(name)
    return names


def _compiled(options: argparse.Namespace, sources: Sources) -> Any:
    """Returns the program, compiled as the command line says."""
    from ..runtime.compile import compile

    _machines(options)
    common: dict[str, Any] = {
        "pipeline": options.passes,
        "opt_level": options.opt_level,
        "numerics": options.numerics,
        "threads": options.threads,
        "cache": not options.no_cache,
    }
    if options.file.endswith(".onnx"):
        from ..frontends.onnx.compiled import compile_onnx
        from .import_onnx import sizes_given

        check_for_model(options)
        return compile_onnx(options.file, dims=sizes_given(options.dim), **common)
    if options.dim:
        raise StepwellError(Diagnostic("--dim is for ONNX models"))
    module = read_module(options.file, sources)
    refuse_overwriting({"the weights file of the program": weights_of(module)}, {"the output": options.output})
    return compile(module, entry=options.entry or "main", weights=options.weights, **common)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell compile", argv, lambda words, sources: run(argument_parser().parse_args(words), sources))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
