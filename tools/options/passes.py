"""The flags of `stepwell-opt` about passes: which ones run, with what configuration, and who watches them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any, Final

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from ...core.messages.diagnostics import Diagnostic, OperationError, StepwellError
from ...core.passes.applications import Watcher, counting
from ...core.passes.config import parse_setting
from ...core.passes.context import PassContext
from ...core.passes.info import LEVELS
from ...core.passes.instrument import Instrument
from ...core.passes.instruments import BetweenPasses, DumpDirectory, FailureDump, IRPrinting, Statistics, Timing
from ...core.passes.pipeline_text import require_passes
from ...core.passes.progress import PassProgress, on_terminal
from ...core.passes.record import PipelineRecord, ReplayCheck, read_record
from .colours import coloured_program
from .given_once import unrepeated
from .outputs import refuse_overwriting
from .weights import named_for

SCHEDULE_PASS: Final = "apply-schedule"
EXTERNALIZE: Final = "externalize-weights"
LLVM_TARGETS: Final = ("asm", "llvm-ir")
"""The targets that print what is lowered as far as it goes."""


def check_flags(args: argparse.Namespace) -> None:
    """Raises `StepwellError` for names of passes that do not exist, and flags that exclude each other."""
    require_passes(sorted({*args.disable_pass, *args.require_pass}))
    chooses = args.opt_level is not None or args.disable_pass or args.require_pass or args.config
    if args.replay is not None and (args.passes or chooses):
        message = (
            "--replay runs the passes of its record: it goes without -p, --opt-level, --disable-pass, --require-pass "
            "and --config"
        )
        raise StepwellError(Diagnostic(message))
    for flag, value in (("--inputs", args.inputs), ("--shapes", args.shapes), ("--save-inputs", args.save_inputs)):
        if value is not None and not (args.check_semantics or args.bisect):
            raise StepwellError(Diagnostic(f"{flag} is for --check-semantics, which is not given"))
    if args.bisect_command is not None and not args.bisect_command.strip():
        raise StepwellError(Diagnostic("--bisect-command is empty, expected a command of the shell"))
    if args.rewrite_limit is not None and (args.bisect or args.bisect_command is not None):
        raise StepwellError(Diagnostic("--bisect sets the limit of rewrites itself, it goes without --rewrite-limit"))
    if args.rewrite_limit is not None and args.rewrite_limit < 0:
        raise StepwellError(
            Diagnostic(f"--rewrite-limit is {args.rewrite_limit}, expected a number that is not negative")
        )
    if args.cases is not None:
        raise StepwellError(Diagnostic("--cases is for --test-rules, --mutate-rules and --check-rules"))
    if args.seed and not (args.check_semantics or args.bisect):
        raise StepwellError(Diagnostic("--seed is for --check-semantics, --bisect and the flags that test rules"))
    if args.split_input_file:
        of_one = {"--replay": args.replay, "--save-pipeline": args.save_pipeline}
        of_one |= {"--blame": args.blame, "--became": args.became, "--dump-dir": args.dump_dir}
        of_one |= {"--externalize-weights": args.externalize_weights}
        for flag, value in of_one.items():
            if value is not None:
                raise StepwellError(Diagnostic(f"{flag} is about one program, it goes without --split-input-file"))


def check_files(args: argparse.Namespace, passes: Sequence[ModulePass]) -> None:
    """
    Raises `StepwellError` where a file would be written that is read as well, or written twice.

    `-o` alone may name the program, which it replaces once all has gone well.
    """
    moves = {str(getattr(each, "file", "")) for each in passes if each.name == EXTERNALIZE}
    if moves and args.split_input_file:
        message = f"pass '{EXTERNALIZE}' is about one program, it goes without --split-input-file"
        raise StepwellError(Diagnostic(message))
    read: dict[str, Any] = {
        "the file of --replay": args.replay,
        "the file of --inputs": args.inputs,
        "the file of --load-plugin": args.load_plugin,
    }
    written: dict[str, Any] = {
        "--externalize-weights": args.externalize_weights,
        f"the file of pass '{EXTERNALIZE}'": sorted(moves - {args.externalize_weights}),
        "--save-pipeline": args.save_pipeline,
        "--dump-failure": args.dump_failure,
        "--save-inputs": args.save_inputs,
    }
    refuse_overwriting({"the program": args.input_file}, written)
    refuse_overwriting(read, {"-o": args.output_file, **written})


def target_of_kernel(target: ArgSpec, kernel: str) -> str:
    """Returns the target that prints one kernel. Raises `StepwellError` where the target does not do so."""
    if target.name != "asm":
        raise StepwellError(Diagnostic(f"--kernel is for -t asm, found -t {target.name}"))
    if not kernel.isprintable() or not set(kernel).isdisjoint('"\\'):
        raise StepwellError(Diagnostic(f"--kernel {kernel!r} is not the name of a function"))
    return str(ArgSpec("asm", {**target.parameters, "kernel": (kernel,)}))


def context(args: argparse.Namespace) -> AbstractContextManager[Any]:
    """The scope to run the passes in. Without `--opt-level`, levels rule no pass out."""
    config = unrepeated("--config", [parse_setting(text) for text in args.config])
    if args.check_bounds is not None:
        config["check-bounds"] = args.check_bounds
    if args.opt_level is None and not (args.disable_pass or args.require_pass or config):
        return nullcontext()
    level = sys.maxsize if args.opt_level is None else args.opt_level
    if args.opt_level is not None and args.opt_level not in LEVELS:
        expected = ", ".join(str(each) for each in LEVELS)
        raise StepwellError(Diagnostic(f"--opt-level is {args.opt_level}, expected one of {expected}"))
    return PassContext(level, args.disable_pass, args.require_pass, config)


def checked_schedules(passes: Sequence[ModulePass]) -> list[ModulePass]:
    """
    Returns the passes with `check` on in each that runs a schedule (`--check-schedule`). It is an error where none
    does.
    """
    if not any(each.name == SCHEDULE_PASS for each in passes):
        message = f"--check-schedule is about the steps of '{SCHEDULE_PASS}', which the pipeline does not run"
        raise StepwellError(Diagnostic(message))
    return [replace(each, check=True) if each.name == SCHEDULE_PASS and is_dataclass(each) else each for each in passes]


def limited(args: argparse.Namespace, watch: Watcher | None = None) -> AbstractContextManager[Any]:
    """The scope of `--rewrite-limit`, in which `watch` is told what is applied."""
    limit = args.rewrite_limit
    return (
        nullcontext()
        if limit is None and watch is None
        else counting(limit, by_function=limit is not None, watch=watch)
    )


def recorded_passes(args: argparse.Namespace) -> list[ModulePass]:
    """The passes that `--replay` runs."""
    return [row.make() for row in read_record(args.replay).run_passes()]


def instruments(args: argparse.Namespace, show: Callable[[ModuleOp], str]) -> list[Instrument]:
    """Returns what the flags ask for. Instruments that take time come last, so that they do not time the others."""
    found: list[Instrument] = []
    watches = args.dump_dir is not None or args.dump_failure is not None or args.print_between_passes
    if watches or args.statistics or _prints(args):
        found += _watching(args, show)
    if args.replay is not None:
        found.append(ReplayCheck(read_record(args.replay)))
    if args.time_passes:
        found.append(Timing())
    if args.check_semantics:
        from .checks import checking

        found.append(checking(args.inputs, args.shapes, args.seed, args.save_inputs))
    if args.save_pipeline is not None:
        found.append(PipelineRecord(args.save_pipeline))
    return found


@contextmanager
def progress(args: argparse.Namespace) -> Iterator[list[Instrument]]:
    """Yields an instrument that shows a bar on a terminal. There is none where other flags print between passes."""
    if args.print_between_passes or _prints(args):
        yield []
        return
    if not on_terminal():
        yield []
        return
    with PassProgress("passes") as bar:
        yield [bar]


def _prints(args: argparse.Namespace) -> bool:
    prints_all = args.print_ir_before_all or args.print_ir_after_all or args.print_ir_after_change
    return bool(args.print_ir_before or args.print_ir_after or prints_all)


def _watching(args: argparse.Namespace, show: Callable[[ModuleOp], str]) -> list[Instrument]:
    found: list[Instrument] = []
    if args.statistics:
        found.append(Statistics())
    if _prints(args):
        require_passes(sorted({*args.print_ir_before, *args.print_ir_after}))
        printing = IRPrinting(lambda module: coloured_program(show(module), sys.stderr), sys.stderr)
        printing.before, printing.after = frozenset(args.print_ir_before), frozenset(args.print_ir_after)
        printing.before_all, printing.after_all = args.print_ir_before_all, args.print_ir_after_all
        printing.after_change = args.print_ir_after_change
        found.append(printing)
    if args.dump_dir is not None:
        found.append(DumpDirectory(Path(args.dump_dir), _shown_for(f"{args.dump_dir}/0", show)))
    if args.dump_failure is not None:
        found.append(FailureDump(Path(args.dump_failure), _shown_for(args.dump_failure, show), _flags_to_repeat(args)))
    if args.print_between_passes:
        found.append(BetweenPasses(lambda module: coloured_program(show(module), sys.stdout)))
    return found


def _flags_to_repeat(args: argparse.Namespace) -> list[str]:
    """Returns the flags that a command in the folder of `--dump-failure` needs to do as this one."""
    found = ["--allow-unregistered-dialect"] if args.allow_unregistered_dialect else []
    found += ["--disable-verify"] if args.disable_verify else []
    folder = Path(args.dump_failure).resolve().parent
    found += [f"--load-plugin={os.path.relpath(Path(file).resolve(), folder)}" for file in args.load_plugin]
    found += [f"--config={setting}" for setting in args.config]
    if args.check_bounds is not None:
        found.append(f"--check-bounds={'on' if args.check_bounds else 'off'}")
    return found


def check_level(target: ArgSpec, module: ModuleOp) -> None:
    """Raises an error at the first function that a target of machine code cannot print, since it is not lowered."""
    if target.name not in LLVM_TARGETS or "kernel" in target.parameters:  # a kernel is looked for by its name
        return
    for op in module.body.block.ops:
        if not op.name.startswith("llvm."):
            message = f"-t {target.name} prints programs that are lowered to the llvm dialect"
            raise OperationError(op, message, hint="lower it first: -p O3, or -p finish where passes have run already")


def _shown_for(file: str, show: Callable[[ModuleOp], str]) -> Callable[[ModuleOp], str]:
    """Returns `show` for a program that is written to `file`, where it names its weights as seen from there."""

    def shown(module: ModuleOp) -> str:
        with named_for(file, module, None, None):
            return show(module)

    return shown


def with_dump(diagnostic: Diagnostic, error: Exception) -> Diagnostic:
    """The error of a pass, with the place of what the pass was given when `--dump-failure` has written that."""
    places = [note for note in getattr(error, "__notes__", ()) if note.startswith("what the pass was given")]
    return diagnostic.with_note(places[0]) if places else diagnostic
