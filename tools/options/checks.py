"""The flags of `--check-semantics`, for all commands that run passes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...trust.bisect import bisect
from ...trust.cases import CheckOptions
from ...trust.check import CheckSemantics
from ...trust.commanded import bisect_command
from .array_files import array_of, read_array, read_arrays
from .shapes import shapes_of


def checking(inputs: str | None, shapes: str | None, seed: int, save_inputs: str | None) -> CheckSemantics:
    """Returns the instrument of the flags."""
    if seed < 0:
        raise StepwellError(Diagnostic(f"the seed is {seed}, expected a number that is not negative"))
    given = None if inputs is None else _archive(inputs)
    file = "the inputs" if inputs is None else inputs
    return CheckSemantics(CheckOptions(seed, shapes_of(shapes), given, file, save_inputs))


def checking_of_run(options: argparse.Namespace) -> CheckSemantics:
    """Returns the instrument of `stepwell run --check`, which takes the inputs of the run."""
    found = checking(options.inputs, options.shapes, options.random or 0, options.save_inputs)
    if not options.input:
        return found
    given = {f"arr_{number}": read_array(path) for number, path in enumerate(options.input)}
    return CheckSemantics(replace(found.options, inputs=given, inputs_file=", ".join(options.input)))


def report_of_bisection(
    ctx: Context, module: ModuleOp, passes: Sequence[ModulePass], options: CheckOptions, command: str | None
) -> str:
    """Returns what `--bisect` found, or `--bisect-command` with a command, as text."""
    if command is not None:
        return str(bisect_command(ctx, module, passes, command))
    found = bisect(ctx, module, passes, options)
    return "no pass fails, and none changes a result" if found is None else str(found)


def _archive(path: str) -> dict[str, Any]:
    loaded = read_arrays(path)
    if not hasattr(loaded, "files"):
        raise StepwellError(Diagnostic(f"input '{path}' is one array, expected a .npz archive"))
    return {key: array_of(loaded, key, path) for key in loaded.files}
