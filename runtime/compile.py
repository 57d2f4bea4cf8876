"""`stepwell.compile`: from a module, a path or text, at any level, to a program that runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xdsl.ir import Operation

from ..core.messages.collector import patient_collector
from ..core.messages.diagnostics import emit_remark, remarks_wanted
from .errors import CompileError, ProcessorError
from .executable import Executable
from .program.describe import array_type, functions, input_names, is_public, signature
from .program.program import Program
from .source import Source, read_source
from .stairs import NUMERICS, chosen_pipeline, has_unknown_sizes, what_is_left_out


def compile(
    module_or_path: Operation | str | Path,
    *,
    entry: str = "main",
    pipeline: str | None = None,
    opt_level: int = 3,
    threads: int | None = None,
    numerics: str = "default",
    cache: bool = True,
    weights: str | Path | Mapping[str, Any] | None = None,
    target: str | None = None,
    verify_each: bool = False,
    tuning: bool | str | Path | None = None,
    progress: bool | None = None,
) -> Executable:
    """
    Compiles a program to native code.

    Args:
        module_or_path: A module, a function, a path, or program text, at any level. A module is not changed.
        pipeline: The passes that replace those of `opt_level` (0 to 3). Ops that it leaves are lowered all the same.
            `"my-pass,O3"` runs a pass before the optimiser; `"my-pass"` runs it in place of the optimiser.
        numerics: `strict` keeps every rounding, `default` allows rules that round differently, `fast` those that may
            lose NaN, inf and -0.
        threads: The most threads. When None, it is `STEPWELL_THREADS` or the number of usable CPUs.
        weights: A safetensors file or arrays by key, in place of the module's `stepwell.weights`.
        target: The machine that schedules and machine code are for, one of docs/targets.md. When None, it is that of
            the pass context, by default this one. A program for a machine with more features than this one can be
            looked at and exported. A call of it raises CompileError.
        cache: False leaves the compile cache on disk alone.
        tuning: A database of tuned schedules (docs/tuning.md), or False for none. When None, it is that of
            `STEPWELL_TUNING_DB`, or `tuning.jsonl` in the folder of the compile cache where it exists.
        progress: Whether to show a bar on standard error where compilation takes more than a second. It needs tqdm.
            When None, there is one on a terminal.

    Raises CompileError, or the diagnostics of parser, verifier and passes.
    """
    if numerics not in NUMERICS:
        raise CompileError(f"numerics is {numerics!r}, expected one of {', '.join(NUMERICS)}")
    if opt_level not in range(4):
        raise CompileError(f"opt_level is {opt_level!r}, expected 0, 1, 2 or 3")
    with patient_collector():
        source = read_source(
            module_or_path,
            entry,
            chosen_pipeline(pipeline, opt_level, numerics),
            use_cache=cache,
            verify_each=verify_each,
            weights=weights,
            threads=threads,
            tuning=tuning,
            progress=progress,
        )
        if target is not None:
            source = source.for_target(target)
        if remarks_wanted() and (remark := what_is_left_out(pipeline, source.module)) is not None:
            emit_remark(source.module, remark)
        return executable_of(source)


def executable_of(source: Source) -> Executable:
    """Returns the program of `source`, loaded where this processor can run it. Raises the errors of `compile`."""
    found = functions(source.module)
    function = found[source.entry]
    types = signature(function)
    dynamic = has_unknown_sizes(source.module, source.entry)
    program = None if dynamic else _loaded(source)
    names = [name for name, op in found.items() if is_public(op)]
    if not dynamic:
        description = source.lower(None)[0] if program is None else program.description
        entry = next(each for each in description.entries if each.name == source.entry)
        inputs = [(a.name, a.type) for a in entry.of("input")]
        outputs = [(a.name, a.type) for a in entry.of("output")]
    else:
        assert types is not None  # has_unknown_sizes has seen the types
        inputs = list(zip(input_names(function), map(array_type, types.inputs), strict=True))
        outputs = [(f"result{i}", array_type(t)) for i, t in enumerate(types.outputs)]
    return Executable(source.entry, inputs, outputs, names, source.load, source.text_of, program, lambda: source)


def _loaded(source: Source) -> Program | None:
    """Returns the program ready to run, and None where this processor cannot run it: calls will say so."""
    try:
        return source.load(None)
    except ProcessorError:
        return None
