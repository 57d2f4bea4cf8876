"""Flags of `stepwell-run` that do not go together, or with the program, and files that it would read and write."""

from __future__ import annotations

import argparse

from ...core.messages.diagnostics import Diagnostic, StepwellError
from .outputs import Files, refuse_overwriting


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


def check_instead(options: argparse.Namespace) -> None:
    """Raises an error for flags of a run that what is asked for instead of one leaves without effect."""
    instead = {"--ir": options.ir, "--memory": options.memory, "--export": options.export}
    chosen = [flag for flag, value in instead.items() if value]
    of_a_run = {
        "--print": options.print_results,
        "--output": options.output,
        "--repeat": options.repeat > 1,
        "--profile": options.profile,
        "--profile-by": options.profile_by,
        "--profile-output": options.profile_output,
        "--trace-values": options.trace_values,
    }
    without_effect = [*chosen[1:], *(flag for flag, value in of_a_run.items() if value)]
    if chosen and without_effect:
        message = f"{chosen[0]} is instead of a run, so {without_effect[0]} would have no effect"
        raise StepwellError(Diagnostic(message, hint="leave one of them out"))
