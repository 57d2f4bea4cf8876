"""`stepwell.compile`: from a module, a path or text, at any level, to a program that runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xdsl.ir import Operation

from ..core.messages.collector import patient_collector
from ..core.messages.diagnostics import emit_remark, remarks_wanted
from .errors import CompileError
from .executable import Executable, executable_of
from .source import read_source
from .stairs import NUMERICS, chosen_pipeline, what_is_left_out


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
