"""
`stepwell diff A B`: two programs compared by their results and by their ops.

Runs as `python tools/diff.py` and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.diff import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from ..core.ir.verification import verify_module
from ..core.messages.diagnostics import Diagnostic, StepwellError
from .import_onnx import sizes_given
from .options.command import ArgumentParser, Sources, count, read_module, run_tool

# Imports inside functions keep the start of the command fast: the interpreter is loaded only when needed.

EXAMPLES = """
stepwell diff a.mlir b.mlir                               on random inputs, and op by op
stepwell diff m.mlir m.mlir --passes-b O1                 what O1 does to each op, and to the results
stepwell diff m.onnx m.mlir                               a model, and what was made of it
stepwell diff a.mlir b.mlir --inputs in.npz --exact       the same bits on your inputs
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell diff",
        description="Compares two programs. Ends with 0 if all results are the same, with 1 if one differs.",
        examples=EXAMPLES,
    )
    for name in "AB":
        parser.add_argument(f"file_{name.lower()}", metavar=name, help="textual IR, on any level, or a model .onnx")
    for name in "AB":
        flag = f"--passes-{name.lower()}"
        parser.add_argument(flag, metavar="PIPELINE", default="", help=f"run these passes on {name} first")
    parser.add_argument("--inputs", metavar="IN.npz", help="run both on these arrays (default: random ones)")
    parser.add_argument("--shapes", metavar="4x784,10", help="the shapes of all arguments, where some have sizes ?")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the seed of the inputs (default: 0)")
    parser.add_argument(
        "--dim", action="append", default=[], metavar="NAME=N", help="give a symbolic size of an ONNX model a value"
    )
    parser.add_argument("--exact", action="store_true", help="results that differ by rounding alone are different too")
    parser.add_argument("--only", choices=("results", "ops"), help="compare the results alone, or the ops alone")
    parser.add_argument("--most", type=count, default=20, metavar="N", help="show N places that differ (default: 20)")
    parser.add_shared("--load-plugin", "--debug")
    return parser


def run(options: argparse.Namespace, sources: Sources) -> int:
    """Does what the command line says, and returns the exit code. Puts the texts of the programs into `sources`."""
    if options.file_a == options.file_b == "-":
        raise StepwellError(Diagnostic("both programs come from standard input, expected one there at most"))
    dims = sizes_given(options.dim)
    if dims and not (options.file_a.endswith(".onnx") or options.file_b.endswith(".onnx")):
        raise StepwellError(Diagnostic("--dim is for ONNX models"))
    one = _program(options.file_a, options.passes_a, dims, sources)
    other = _program(options.file_b, options.passes_b, dims, sources)
    different = False
    if options.only != "ops":
        from ..trust.diff.results import results_of
        from .options.checks import checking

        found = results_of(
            one, other, checking(options.inputs, options.shapes, options.seed, None).options, exact=options.exact
        )
        print("\n".join(map(str, found)))
        different = any(each.verdict == "different" for each in found)
        if all(each.verdict == "not compared" for each in found):
            raise StepwellError(Diagnostic("no run could be compared", hint="--inputs IN.npz gives inputs that work"))
    if options.only != "results":
        different |= _show_ops(one, other, options.most) and options.only == "ops"
    return 1 if different else 0


def _program(file: str, passes: str, dims: dict[str, int], sources: Sources) -> ModuleOp:
    from ..core.passes.pipelines import run_pipeline
    from ..core.text.parsing import make_context

    if file.endswith(".onnx"):
        from ..frontends.onnx.importer import from_onnx

        module = from_onnx(file, dims=dims)
    else:
        module = read_module(file, sources)
        verify_module(module, sources=sources)
    if passes:
        run_pipeline(make_context(), module, passes, sources=sources)
    return module


def _show_ops(one: ModuleOp, other: ModuleOp, most: int) -> bool:
    from ..trust.diff.ops import hunks

    found, by_origin = hunks(one, other)
    how = "by what they came from" if by_origin else "by what they say"
    places = {0: "no place differs", 1: "1 place differs"}.get(len(found), f"{len(found)} places differ")
    print(f"ops, aligned {how}: {places}")
    print("".join(f"{each}\n" for each in found[:most]), end="")
    if len(found) > most:
        print(f"and {len(found) - most} more; --most {len(found)} shows all")
    return bool(found)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell diff", argv, lambda words, sources: run(argument_parser().parse_args(words), sources))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
