"""Flags of `stepwell-run` that do not go together, or with the program, and files that it would read and write."""

from __future__ import annotations

import argparse
from typing import Final

from ...core.messages.diagnostics import Diagnostic, StepwellError
from .outputs import Files, refuse_overwriting

SAVED: Final = ".stepwell"
"""What the names of saved programs end in."""


def check_outputs(options: argparse.Namespace) -> None:
    """Raises an error for an output that is read as well, or written twice."""
    refuse_overwriting(_files_read(options), files_written(options))


def check_for_saved(options: argparse.Namespace) -> None:
    """Raises an error for flags that say how to compile, which a saved program is already."""
    if options.passes or options.weights or options.target:
        raise StepwellError(Diagnostic(f"'{options.file}' is compiled: -p, --weights and --target are for programs"))
    how = {
        "--opt-level": options.opt_level is not None,
        "--numerics": options.numerics != "default",
        "--tuning": options.tuning is not None,
        "--check": options.check,
        "--save-inputs": options.save_inputs is not None,
        "--verify-each": options.verify_each,
        "--check-bounds": options.check_bounds is not None,
    }
    for flag, given in how.items():
        if given:
            raise StepwellError(Diagnostic(f"'{options.file}' is compiled: {flag} is for programs"))


def _files_read(options: argparse.Namespace) -> Files:
    return {
        "the program": options.file,
        "the file of --input": options.input,
        "the file of --inputs": options.inputs,
        "the file of --weights": options.weights,
        "the file of --tuning": options.tuning,
        "the file of --load-plugin": options.load_plugin,
    }


def files_written(options: argparse.Namespace) -> Files:
    """Returns what the command writes."""
    return {
        "--output": options.output,
        "--profile-output": options.profile_output,
        "--save-inputs": options.save_inputs,
        "--export": options.export,
    }


def check_for_model(options: argparse.Namespace) -> None:
    """Raises an error for flags about a program of our own, beside a model of another format."""
    for flag, given in (("--entry", options.entry), ("--weights", options.weights)):
        if given is not None:
            hint = "stepwell import-onnx makes it a program"
            raise StepwellError(Diagnostic(f"'{options.file}' is a model: {flag} is for programs", hint=hint))


_INSTEAD: Final = ("--ir", "--memory", "--export")
_PROFILE: Final = ("--profile", "--profile-by", "--profile-output")
_OF_A_RUN: Final = ("--print", "--output", "--repeat", *_PROFILE, "--trace-values", "--time", "--input", "--inputs")

WITHOUT_EFFECT: Final = (
    *((flag, (*_INSTEAD[at + 1 :], *_OF_A_RUN)) for at, flag in enumerate(_INSTEAD)),
    *((flag, ("--trace-values", "--time")) for flag in _PROFILE),
    ("--trace-values", ("--repeat", "--time")),
    ("--input", ("--shapes",)),
    ("--inputs", ("--shapes",)),
)
"""Flags, and those that have no effect beside them."""


def check_effects(options: argparse.Namespace) -> None:
    """Raises an error for a flag that another one, or the kind of the program, leaves without effect."""
    given = {
        "--ir": options.ir,
        "--memory": options.memory,
        "--export": options.export,
        "--print": options.print_results,
        "--output": options.output,
        "--repeat": options.repeat > 1,
        "--profile": options.profile,
        "--profile-by": options.profile_by,
        "--profile-output": options.profile_output,
        "--trace-values": options.trace_values,
        "--time": options.time,
        "--input": options.input,
        "--inputs": options.inputs,
        "--shapes": options.shapes,
    }
    for flag, others in WITHOUT_EFFECT:
        other = next((each for each in others if given[each]), None)
        if given[flag] and other is not None:
            why = f"{flag} is instead of a run, so {other}" if flag in _INSTEAD else f"beside {flag}, {other}"
            raise StepwellError(Diagnostic(f"{why} would have no effect", hint="leave one of them out"))
    if options.trust_code and not options.file.endswith(SAVED):
        message = f"'{options.file}' is no saved program: --trust-code would have no effect"
        raise StepwellError(Diagnostic(message, hint="leave it out"))
