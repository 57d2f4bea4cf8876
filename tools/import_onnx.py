"""
`stepwell-import-onnx`: an ONNX model as textual IR of the graph dialect, its weights in a safetensors file beside it.

Runs as a console script, as `python tools/import_onnx.py`, and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.import_onnx import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
import io
import os
import runpy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.messages.diagnostics import Diagnostic, StepwellError, listening
from ..core.messages.files import reason_of, write_file, writing
from ..core.roles import WEIGHTS
from ..core.safetensors import WeightsError
from .options.array_files import read_array
from .options.colours import coloured_program, show
from .options.command import ArgumentParser, run_tool
from .options.given_once import unrepeated
from .options.outputs import refuse_overwriting

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


# Imports inside functions keep the start of the command fast: the front end and NumPy are loaded only when needed.


EXAMPLES = """
stepwell import-onnx m.onnx -o m.mlir         weights go to m.safetensors
stepwell import-onnx m.onnx -o m.mlir --dim batch=1
stepwell import-onnx m.onnx -o m.mlir --stub mine.py
stepwell import-onnx m.onnx -o m.mlir --converters mine.py
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell-import-onnx",
        description="Turns an ONNX model into textual IR of the graph dialect.",
        examples=EXAMPLES,
    )
    parser.add_argument("file", metavar="MODEL.onnx", help="the model to import")
    parser.add_argument("-o", "--output", metavar="FILE.mlir", help="write the IR here (default: standard output)")
    parser.add_argument(
        "--weights", metavar="FILE.safetensors", help="write weights here (default: the output with this end)"
    )
    parser.add_argument("--entry", default="main", help="the name of the function (default: main)")
    parser.add_argument(
        "--dim",
        action="append",
        default=[],
        metavar="NAME=N",
        help="give a symbolic size a value; INPUT:AXIS=N gives one without a name",
    )
    parser.add_argument(
        "--bind",
        action="append",
        default=[],
        metavar="INPUT=VALUE",
        help="give an input a value for good: 1,2,3 or a .npy file",
    )
    parser.add_argument("--stub", metavar="FILE.py", help="write converters to fill in for what is not supported")
    parser.add_argument(
        "--converters", action="append", default=[], metavar="FILE.py", help="run a file that defines converters"
    )
    parser.add_argument("--print-debuginfo", action="store_true", help="print the node of every op")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_shared("--debug")
    return parser


def run(options: argparse.Namespace) -> int:
    """
    Does what the command line says, and returns the exit code. Nothing is written when the model cannot be imported.
    """
    for path in options.converters:
        load_converters(path)
    weights = weights_path(options)
    if weights is None:
        return _run_to_standard_output(options)
    check_outputs(options, weights)
    # Both files appear together, once all has gone well: weights of a model that fails would be those of the text there
    # was.
    target = Path(os.path.realpath(weights))
    made = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        with writing(weights):
            made.touch()
        with _named(weights, made):
            module = imported(options, made)
        text = printed(module, weights, options)
        if options.output in (None, "-"):
            sys.stdout.write(coloured_program(text, sys.stdout))
        else:
            write_file(options.output, text)
        if made.stat().st_size > 0:
            with writing(weights):
                made.replace(target)
    finally:
        made.unlink(missing_ok=True)
    return 0


@contextmanager
def _named(path: Path, temporary: Path) -> Iterator[None]:
    """Makes an error about a temporary file one about the file that it is to become."""
    try:
        yield
    except WeightsError as error:
        message = error.diagnostic.message.replace(f"'{temporary}'", f"'{path}'")
        raise WeightsError(replace(error.diagnostic, message=message)) from error


def _run_to_standard_output(options: argparse.Namespace) -> int:
    """Prints a program whose constants all stand in the text. Files are written where the command line names one."""
    from ..dialects.graph.literals import MOST_PRINTED_ELEMENTS, eliding_constants

    read = {"the model": options.file, "the file of --converters": options.converters}
    refuse_overwriting(read, {"--stub": options.stub})
    module = imported(options, None)
    if WEIGHTS in module.attributes:
        message = f"the weights of '{options.file}' do not go into the text, and standard output names no file for them"
        raise StepwellError(Diagnostic(message, hint="give -o FILE.mlir, or --weights FILE.safetensors"))
    # Nobody reads a program back from a terminal, where a constant would fill pages with its digits.
    with eliding_constants(MOST_PRINTED_ELEMENTS) if sys.stdout.isatty() else nullcontext():
        sys.stdout.write(coloured_program(printed(module, None, options), sys.stdout))
    return 0


def imported(options: argparse.Namespace, weights: Path | None) -> ModuleOp:
    """Returns the model as a module. Where an operator has no converter, `--stub` is written first."""
    from ..core.passes.progress import Progress
    from ..frontends.onnx.importer import from_onnx
    from ..frontends.onnx.unsupported import UnsupportedError, stub

    try:
        with listening(show), Progress("import", shown=False if options.quiet else None) as progress:
            return from_onnx(
                options.file,
                weights=weights,
                constants=dict(_bound(text) for text in options.bind),
                dims=sizes_given(options.dim),
                entry=options.entry,
                progress=lambda done, total: progress.at(done, f"{done} of {total} nodes", total),
            )
    except UnsupportedError as error:
        if not options.stub:
            raise
        write_file(options.stub, stub(error.missing))
        hint = f"'{options.stub}' has a function for each: fill it in and give --converters {options.stub}"
        raise StepwellError(replace(error.diagnostic, hint=hint)) from error


def check_outputs(options: argparse.Namespace, weights: Path) -> None:
    """Raises `StepwellError` for outputs that would take the place of the model, or of what is no file."""
    converters = {"the file of --converters": options.converters}
    refuse_overwriting({"the model": options.file, **converters}, {"the output": str(weights)})
    if options.output != "-":
        refuse_overwriting({"the model": options.file, **converters}, {"the output": options.output})
    beside = "--weights" if options.weights else "the weights file"
    refuse_overwriting({}, {"-o": options.output, beside: str(weights), "--stub": options.stub})
    if weights.exists() and not weights.is_file():
        raise StepwellError(Diagnostic(f"cannot write '{weights}': it is no regular file"))


def load_converters(path: str) -> None:
    """Runs a file with converters. Raises `StepwellError` when that fails."""
    try:
        runpy.run_path(path)
    except OSError as error:
        raise StepwellError(Diagnostic(f"--converters '{path}': {reason_of(error)}")) from error
    except Exception as error:
        from .options.plugin_files import failure

        raise failure(f"--converters '{path}'", Path(path), error) from error


def weights_path(options: argparse.Namespace) -> Path | None:
    """`--weights`, or what the name of the output says. Standard output has no name, and so no weights file."""
    if options.weights:
        return Path(options.weights)
    if options.output in (None, "-"):
        return None
    return Path(options.output).with_suffix(".safetensors")


def printed(module: ModuleOp, weights: Path | None, options: argparse.Namespace) -> str:
    """The text of the module, which names the weights relative to the folder of the output."""
    from xdsl.dialects.builtin import StringAttr
    from xdsl.printer import Printer

    from ..rewrites.constants.externalize_weights import recorded_path

    if WEIGHTS in module.attributes and weights is not None:
        module.attributes[WEIGHTS] = StringAttr(recorded_path(str(weights), options.output))
    stream = io.StringIO()
    Printer(stream, print_debuginfo=options.print_debuginfo).print_op(module)
    return stream.getvalue() + "\n"


def sizes_given(texts: Sequence[str]) -> dict[str, int]:
    """Returns what all `--dim NAME=N` say."""
    return unrepeated("--dim", [size_given(text) for text in texts])


def size_given(text: str) -> tuple[str, int]:
    """Returns the name and the number of `--dim NAME=N`."""
    name, equals, number = text.rpartition("=")
    if not equals or not name or not number.isdecimal():
        raise StepwellError(Diagnostic(f"--dim '{text}' is malformed, expected NAME=N"))
    return name, int(number)


def _bound(text: str) -> tuple[str, Any]:
    """`shape=1,-1` is a 1-D array of i64 (of f32 with a point), `x=4` a scalar, `x=a.npy` what the file holds."""
    import numpy as np

    name, equals, value = text.partition("=")
    if not equals or not name:
        raise StepwellError(Diagnostic(f"--bind '{text}' is malformed, expected INPUT=VALUE"))
    if value.endswith(".npy"):
        return name, read_array(value)
    words = [word for word in value.split(",") if word.strip()]
    try:
        numbers = [int(word) for word in words]
        dtype: Any = np.int64
    except ValueError:
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            raise StepwellError(
                Diagnostic(f"--bind '{text}': '{value}' is no list of numbers and no .npy file")
            ) from None
        dtype = np.float32
    scalar = len(words) == 1 and "," not in value
    return name, np.array(numbers[0] if scalar else numbers, dtype)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell-import-onnx", argv, lambda words, sources: run(argument_parser().parse_args(words)))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
