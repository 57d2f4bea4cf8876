"""`stepwell.compile`: from a module, a path or text, on any stair, to a program that runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ..core.messages.collector import patient_collector
from .errors import CompileError
from .executable import Executable
from .program.describe import array_type, functions, input_names, is_public, signature
from .source import Source, read_source
from .stairs import NUMERICS, chosen_pipeline, has_unknown_sizes


def compile(
    module_or_path: ModuleOp | str | Path,
    *,
    entry: str = "main",
    pipeline: str | None = None,
    opt_level: int = 3,
    threads: int | None = None,
    numerics: str = "default",
    cache: bool = True,
    weights: str | Path | Mapping[str, Any] | None = None,
    verify_each: bool = False,
    tuning: bool | str | Path | None = None,
    progress: bool | None = None,
) -> Executable:
    """
    Compiles a program to native code.

    `module_or_path`: a module, a path, or program text, on any stair; a module is not changed. `pipeline` replaces the
    passes of `opt_level` (0 to 3); whatever it leaves is lowered all the same. `numerics`: `strict` keeps every
    rounding, `default` allows rules that round differently, `fast` those that may lose NaN, inf and -0. `threads`: at
    most so many; `STEPWELL_THREADS` or all usable CPUs when None. `weights`: a safetensors file or arrays by key, in
    place of the module's `stepwell.weights`. `cache=False` leaves the compile cache on disk alone. `tuning`: a database
    of tuned schedules (docs/tuning.md); that of `STEPWELL_TUNING_DB`, or `tuning.jsonl` in the folder of the compile
    cache, where it exists, when None; none when False. `progress`: a bar on standard error where it takes more than a
    second (by tqdm, if that is installed); on a terminal when None.

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
        return _executable(source)


def _executable(source: Source) -> Executable:
    found = functions(source.module)
    function = found[source.entry]
    types = signature(function)
    dynamic = has_unknown_sizes(source.module, source.entry)
    program = None if dynamic else source.load(None)
    names = [name for name, op in found.items() if is_public(op)]
    if program is not None:
        entry = next(each for each in program.description.entries if each.name == source.entry)
        inputs = [(a.name, a.type) for a in entry.of("input")]
        outputs = [(a.name, a.type) for a in entry.of("output")]
    else:
        assert types is not None  # has_unknown_sizes has seen them
        inputs = list(zip(input_names(function), map(array_type, types.inputs), strict=True))
        outputs = [(f"result{i}", array_type(t)) for i, t in enumerate(types.outputs)]
    return Executable(source.entry, inputs, outputs, names, source.load, source.text_of, program, lambda: source)
