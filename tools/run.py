"""
`stepwell-run`: compile a program from any level and run it on arrays from files.

Runs as a console script, as `python tools/run.py`, and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.run import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from ..core.messages.files import write_file
from ..core.messages.stages import note_stage, stage
from ..core.messages.texts import missing_function, takes_arguments
from ..core.passes.context import PassContext
from ..te.dtypes import numpy_dtype
from .options.array_files import array_of, read_array, read_arrays, typed, write_arrays
from .options.colours import coloured_program, show
from .options.command import ArgumentParser, Sources, count, interruptible, read_module, run_tool
from .options.flags import add_check_bounds
from .options.outputs import refuse_overwriting
from .options.run_checks import SAVED, check_effects, check_for_model, check_for_saved, check_outputs, files_written
from .options.shapes import shapes_of
from .options.weights import weights_of

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ..core.passes.instrument import Instrument
    from ..runtime.executable import Executable
    from .options.times import Times


# Imports inside functions keep the start of the command fast: the runtime and NumPy are loaded only when needed.


DEFAULT_LEVEL = 3
"""What `--opt-level` is when it is not given."""


EXAMPLES = """
stepwell run m.mlir --random 0 --print        run on random arrays
stepwell run m.onnx --inputs in.npz --output out.npz
stepwell run m.mlir --random 0 --repeat 1000  how long a call takes
stepwell run m.mlir --random 0 --profile      how long each kernel takes
stepwell run m.mlir --ir scf                  the program on a level below
"""


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = ArgumentParser(
        prog="stepwell-run",
        description="Compiles a program from any level and runs it.",
        examples=EXAMPLES,
    )
    parser.add_argument(
        "file", metavar="FILE", help="textual IR, a model.onnx, a saved program.stepwell, or - for standard input"
    )
    parser.add_argument(
        "--trust-code", action="store_true", help="run the machine code in a saved FILE.stepwell as it is"
    )
    parser.add_argument("--entry", help="the public function to run (default: main)")
    _add_data_flags(parser)
    _add_compilation_flags(parser)
    _add_output_flags(parser)
    parser.add_shared("--no-cache")
    parser.add_argument("--verify-each", action="store_true", help="verify after every pass")
    add_check_bounds(parser)
    parser.add_shared("--load-plugin", "--debug")
    return parser


def _add_data_flags(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--input", action="append", default=[], metavar="A.npy", help="one argument; repeat in order")
    source.add_argument("--inputs", metavar="IN.npz", help="all arguments, by name, or in order as arr_0, arr_1 …")
    source.add_argument("--random", type=int, metavar="SEED", help="make random arguments, with sizes of --shapes")
    parser.add_argument("--shapes", metavar="4x784,10", help="the shapes of all arguments, where some have sizes ?")
    parser.add_argument("--output", metavar="OUT.npz", help="write the results, by name")


def _add_compilation_flags(parser: ArgumentParser) -> None:
    parser.add_shared("-p --passes")
    parser.add_argument("--opt-level", type=int, choices=range(4), help="when no -p is given (default: 3)")
    parser.add_shared("--numerics", "--weights", "--threads")


def _add_output_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repeat", type=count, default=1, metavar="N", help="run N times and print the time of a call")
    parser.add_argument("--time", action="store_true", help="print how long each step to the first result takes")
    parser.add_argument("--profile", action="store_true", help="print how long each kernel takes")
    parser.add_argument(
        "--profile-by",
        choices=("kernel", "node", "module"),
        help="the same by node of a model, or by part of it, as the names of its nodes say",
    )
    parser.add_argument("--profile-output", metavar="OUT.json", help="write these times to a file, for stepwell-show")
    parser.add_argument(
        "--trace-values", action="store_true", help="compare all values with the reference; fail if one diverges"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="run the program before and after each pass; the pass that changes a result is an error",
    )
    parser.add_argument("--save-inputs", metavar="OUT.npz", help="write the inputs of a check that fails to this file")
    parser.add_argument("--print", action="store_true", dest="print_results", help="print the results")
    parser.add_argument("--ir", metavar="LEVEL", help="print the program on this level instead of running it")
    parser.add_argument(
        "--memory", action="store_true", help="print the plan of the arena instead of running the program"
    )
    parser.add_argument(
        "--export", metavar="OUT.o|OUT.so", help="write the program for C (docs/shipping.md) instead of running it"
    )
    parser.add_argument(
        "--target", metavar="NAME", help="the machine that the program is compiled for (docs/targets.md; default: host)"
    )
    parser.add_argument(
        "--tuning",
        metavar="FILE",
        help="use this database of tuned schedules, or off (default: STEPWELL_TUNING_DB or beside the compile cache)",
    )


def _context(options: argparse.Namespace, times: Times | None, check: Instrument | None) -> AbstractContextManager[Any]:
    """The scope to compile in: it has what `--check-bounds` says, takes the times of the passes, and checks them."""
    instruments = [*([] if times is None else [times.passes]), *([] if check is None else [check])]
    if options.check_bounds is None and not instruments:
        return nullcontext()
    config = {} if options.check_bounds is None else {"check-bounds": options.check_bounds}
    return PassContext(sys.maxsize, config=config, instruments=instruments)


def _compiled(module: ModuleOp | str, options: argparse.Namespace, times: Times | None) -> Executable:
    """Compiles the program as the command line says."""
    from ..runtime.compile import compile

    check: Instrument | None = None
    if options.check:
        from .options.checks import checking_of_run

        check = checking_of_run(options)
    elif options.save_inputs:
        raise StepwellError(Diagnostic("--save-inputs is for --check, which is not given"))
    with _context(options, times, check):
        compiled = compile(
            module,
            entry=options.entry or "main",
            pipeline=options.passes,
            opt_level=DEFAULT_LEVEL if options.opt_level is None else options.opt_level,
            threads=options.threads,
            numerics=options.numerics,
            cache=not (options.no_cache or options.check),
            weights=options.weights,
            verify_each=options.verify_each,
            target=options.target,
            tuning=False if options.tuning == "off" else options.tuning,
        )
    if check is not None:
        print(check.report(), file=sys.stderr)
    return compiled


def _loaded(options: argparse.Namespace) -> Executable:
    """Returns the program in a saved file."""
    from ..runtime.load import load

    check_for_saved(options)
    exe = load(options.file, trust_code=options.trust_code, threads=options.threads, cache=not options.no_cache)
    if options.entry is None:
        return exe
    if options.entry not in exe.entries:
        raise StepwellError(Diagnostic(missing_function(options.entry, exe.entries)))
    return exe[options.entry]


def run(options: argparse.Namespace, sources: Sources) -> int:
    """Does what the command line says, and returns the exit code. Puts the text of the program into `sources`."""
    if not options.time:
        return _run(options, sources, None)
    from .options.times import Times, load_compiler

    times = Times()
    with times.watching():
        load_compiler()
        return _run(options, sources, times)


def _run(options: argparse.Namespace, sources: Sources, times: Times | None) -> int:
    from ..runtime.stairs import what_is_left_out

    check_effects(options)
    check_outputs(options)
    if options.file.endswith(SAVED):
        executable = _loaded(options)
    elif options.file.endswith(".onnx"):
        check_for_model(options)
        executable = _compiled(options.file, options, times)
        if unknown := [name for name, type_ in executable.input_types if type_ is None]:
            raise StepwellError(Diagnostic(f"the rank of '{unknown[0]}' is not declared: run the model from Python"))
    else:
        with stage("parse"):
            module = read_module(options.file, sources)
        refuse_overwriting({"the weights file of the program": weights_of(module)}, files_written(options))
        executable = _compiled(module, options, times)
        if (remark := what_is_left_out(options.passes, module)) is not None:
            show(Diagnostic(remark, "remark"))
    if options.ir or options.memory or options.export:
        _give_instead(executable, options)
        return 0
    arrays = arguments(executable, options)
    if options.profile or options.profile_by or options.profile_output:
        _profile(executable, arrays, options)
        if options.print_results or options.output:
            _give_results(executable, executable(*executable.apart(*arrays)), options)
        return 0
    if options.trace_values:
        traced = executable.trace(*executable.apart(*arrays))
        print(traced)
        if options.print_results or options.output:
            _give_results(executable, executable(*executable.apart(*arrays)), options)
        return 0 if traced.first is None else 1
    # The first call with `?` compiles, which ctrl-C must not cut off in the middle of a file or a line of progress.
    with interruptible() if executable.programs() else nullcontext():
        calls, results = timed_calls(executable, arrays, 1)
    if times is not None:
        note_stage("first run", calls[0])
        print(times.report())
    if options.repeat > 1:
        with interruptible():
            more, results = timed_calls(executable, arrays, options.repeat - 1)
        calls += more
    _report(executable, results, calls, options)
    return 0


def timed_calls(executable: Executable, arrays: Sequence[Any], number: int) -> tuple[list[float], tuple[Any, ...]]:
    """
    Returns the seconds that each of `number` calls takes, and the results of the last. Only the calls are timed.

    Each call gets the same arguments: those in whose places results lie are copied before it.
    """
    import numpy as np

    clock, calls = time.perf_counter, [0.0] * number
    results: tuple[Any, ...] = ()
    overwritten = set(range(len(arrays)))  # which ones are is known after the first call
    for index in range(number):
        given = [np.array(each) if place in overwritten else each for place, each in enumerate(arrays)]
        start = clock()
        results = executable(*given)
        calls[index] = clock() - start
        if not index:
            shared = [any(np.may_share_memory(each, result) for result in results) for each in given]
            overwritten = {place for place, is_shared in enumerate(shared) if is_shared}
    return calls, results


def _give_instead(executable: Executable, options: argparse.Namespace) -> None:
    """What is asked for instead of a run."""
    shapes = shapes_of(options.shapes)
    if options.ir:
        print(coloured_program(executable.ir(options.ir, shapes), sys.stdout))
    elif options.memory:
        print(executable.memory_for(shapes))
    else:
        executable.export(options.export, threads=options.threads, shapes=shapes)


def _profile(executable: Executable, arrays: Sequence[Any], options: argparse.Namespace) -> None:
    import json

    profile = executable.profile(*arrays, rounds=options.repeat if options.repeat > 1 else None)
    if options.profile_output:
        write_file(options.profile_output, json.dumps(profile.to_json(), indent=1))
    if options.profile or options.profile_by:
        print(profile.table(options.profile_by or "kernel"))


def arguments(executable: Executable, options: argparse.Namespace) -> list[Any]:
    """The arrays to call with, from files or a random generator."""
    if options.random is not None:
        return _random(executable, options.random, shapes_of(options.shapes))
    if options.inputs:
        loaded = _from_archive(executable, options.inputs)
    else:
        loaded = [read_array(path) for path in options.input]
        if len(loaded) < len(executable.input_types):
            raise StepwellError(_too_few(executable, len(loaded)))
    types = [type_.dtype for _, type_ in executable.input_types]
    return [typed(array, dtype) for array, dtype in zip(loaded, types, strict=False)] + loaded[len(types) :]


def _too_few(executable: Executable, found: int) -> Diagnostic:
    names = [name for name, _ in executable.input_types]
    each = "--input" if len(names) == 1 else f"--input {len(names)} times"
    message = takes_arguments(f"'{executable.entry}'", names, found)
    return Diagnostic(message, hint=f"give {each}, or --inputs, or --random SEED")


def _from_archive(executable: Executable, path: str) -> list[Any]:
    loaded = read_arrays(path)
    if not hasattr(loaded, "files"):
        raise StepwellError(Diagnostic(f"input '{path}' is one array, expected a .npz archive", hint="use --input"))
    arrays: list[Any] = []
    used: list[str] = []
    for index, (name, type_) in enumerate(executable.input_types):
        key = name if name in loaded.files else f"arr_{index}"
        if key not in loaded.files:
            hint = did_you_mean(name, loaded.files) or f"it has {', '.join(loaded.files) or 'nothing'}"
            raise StepwellError(Diagnostic(f"'{path}' has no array for argument '{name}' ({type_})", hint=hint))
        arrays.append(array_of(loaded, key, path))
        used.append(key)
    if unused := [key for key in loaded.files if key not in used]:
        names = ", ".join(name for name, _ in executable.input_types) or "none"
        message = f"'{path}' has an array '{unused[0]}', which no argument takes: the arguments are {names}"
        show(Diagnostic(message, "warning"))
    return arrays


def _random(executable: Executable, seed: int, shapes: tuple[tuple[int, ...], ...] | None) -> list[Any]:
    import numpy as np

    if seed < 0:
        raise StepwellError(Diagnostic(f"the seed is {seed}, expected a number that is not negative"))
    if shapes is not None and len(shapes) != len(executable.input_types):
        count = len(executable.input_types)
        raise StepwellError(Diagnostic(f"--shapes gives {len(shapes)} shapes, expected {count}, one per argument"))
    generator = np.random.default_rng(seed)
    arrays: list[Any] = []
    for index, (name, type_) in enumerate(executable.input_types):
        given = shapes[index] if shapes is not None else type_.shape
        shape = tuple(size for size in given if size is not None)
        if len(shape) != len(given):
            raise StepwellError(
                Diagnostic(f"argument '{name}' is {type_}: its size is not known", hint="give --shapes, as in 4x784,10")
            )
        dtype = numpy_dtype(type_.dtype)
        values = generator.standard_normal(shape)
        if type_.dtype == "i1":
            values = values > 0
        elif "f" not in type_.dtype:
            values = generator.integers(0 if type_.dtype.startswith("u") else -10, 10, size=shape)
        arrays.append(np.asarray(values).astype(dtype))
    return arrays


def _report(executable: Executable, results: Sequence[Any], times: list[float], options: argparse.Namespace) -> None:
    if options.repeat > 1:
        ordered = sorted(times[1:] or times)
        print(
            f"{len(times)} runs: first {times[0] * 1e6:.1f} us, then median {ordered[len(ordered) // 2] * 1e6:.1f} us, "
            f"least {ordered[0] * 1e6:.1f} us"
        )
    _give_results(executable, results, options)
    for each in executable.specialisations:
        print(f"specialised for {each}")
    if not (options.print_results or options.repeat > 1 or options.output):
        for (name, type_), result in zip(executable.output_types, results, strict=True):
            print(f"{name}: {type_} {_summary(result)}")


def _give_results(executable: Executable, results: Sequence[Any], options: argparse.Namespace) -> None:
    """Prints and writes the results, as far as that is asked for."""
    names = [name for name, _ in executable.output_types]
    if options.print_results:
        for name, result in zip(names, results, strict=True):
            print(f"{name} = {result.dtype}{list(result.shape)}\n{result}")
    if options.output:
        write_arrays(Path(options.output), dict(zip(names, results, strict=True)))


def _summary(result: Any) -> str:
    flat = result.reshape(-1)
    shown = " ".join(str(value) for value in flat[:8])
    return f"[{shown}{' …' if flat.size > 8 else ''}]"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell-run", argv, lambda words, sources: run(argument_parser().parse_args(words), sources))


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
