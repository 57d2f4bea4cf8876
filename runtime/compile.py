"""`stepwell.compile`: from a module, a path or text, at any level, to a program that runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ..core.messages.articles import with_article
from ..core.messages.collector import patient_collector
from ..core.messages.diagnostics import emit_remark, remarks_wanted
from ..core.passes.sequential import Sequential
from ..core.plugins import registry
from .errors import CompileError
from .executable import Executable, executable_of
from .program.shapes import is_integer
from .source import check_target, read_source
from .stairs import NUMERICS, chosen_pipeline, what_is_left_out

if TYPE_CHECKING:
    from ..schedule.program.interactive import Schedule


def compile(
    module_or_path: Operation | Schedule | str | Path,
    *,
    entry: str = "main",
    pipeline: str | ModulePass | Sequence[ModulePass | str] | None = None,
    opt_level: int = 3,
    threads: int | None = None,
    numerics: str = "default",
    cache: bool = True,
    weights: str | Path | Mapping[str, Any] | None = None,
    donate: str | Sequence[str] = (),
    target: str | None = None,
    verify_each: bool = False,
    tuning: bool | str | Path | None = None,
    progress: bool | None = None,
) -> Executable:
    """
    Compiles a program to native code.

    Args:
        module_or_path: A module, a function, a schedule, a path (`.mlir`, `.onnx`), or program text, at any level. A
            module is not changed. An ONNX model is compiled by `compile_onnx`.
        pipeline: The passes that replace those of `opt_level` (0 to 3). Ops that it leaves are lowered all the same.
            `"my-pass,O3"` runs a pass before the optimiser; `"my-pass"` runs it in place of the optimiser. A list may
            hold passes beside text: `[MyPass(), "O3"]`. Passes up to the last such object run once, whatever shapes
            the program meets later.
        numerics: `strict` keeps every rounding, `default` allows rules that round differently, `fast` those that may
            lose NaN, inf and -0.
        threads: The most threads. When None, it is `STEPWELL_THREADS` or the number of usable CPUs.
        weights: A safetensors file or arrays by key, in place of the module's `stepwell.weights`. Arrays are copied,
            those that are read-only are not.
        donate: Names of arguments, or patterns such as `"past_*"`, that a call may overwrite: a result then takes the
            place of the argument and is the array that was given (docs/memory.md).
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
    check_options(opt_level, numerics, target, tuning)
    before, text = divided(pipeline)
    if (front_end := _front_end(module_or_path)) is not None:
        _check_for_front_end(entry, weights, bool(before))
        options = {"pipeline": text, "opt_level": opt_level, "threads": threads, "numerics": numerics, "cache": cache}
        options |= {"donate": donate, "target": target, "verify_each": verify_each, "tuning": tuning}
        options |= {"progress": progress}
        return front_end(module_or_path, **options)
    with patient_collector():
        source = read_source(
            _program(module_or_path),
            entry,
            chosen_pipeline(text, opt_level, numerics),
            use_cache=cache,
            verify_each=verify_each,
            weights=weights,
            threads=threads,
            tuning=tuning,
            progress=progress,
        )
        if donate != ():
            source.donate(donate)
        if before:
            source.run(before)
        if target is not None:
            source = source.for_target(target)
        if remarks_wanted() and (remark := what_is_left_out(text, source.module)) is not None:
            emit_remark(source.module, remark)
        return executable_of(source)


def check_options(opt_level: Any, numerics: Any, target: Any, tuning: Any) -> None:
    """Raises CompileError for options that `compile` does not have, StepwellError for an unknown machine."""
    if numerics not in NUMERICS:
        raise CompileError(f"numerics is {numerics!r}, expected one of {', '.join(NUMERICS)}")
    if not is_integer(opt_level) or opt_level not in range(4):
        raise CompileError(f"opt_level is {opt_level!r}, expected 0, 1, 2 or 3")
    if target is not None:
        check_target(target)
    if not isinstance(tuning, bool | str | Path | None):
        raise CompileError(f"tuning is {tuning!r}, expected a tuning database, False or None")


def divided(pipeline: str | ModulePass | Sequence[ModulePass | str] | None) -> tuple[list[ModulePass], str | None]:
    """
    Returns the passes of a pipeline up to the last one that is an object, and the text of those that follow.

    Raises StepwellError for what is neither a pass nor text, CompileError for what is no pipeline at all.
    """
    if pipeline is None or isinstance(pipeline, str):
        return [], pipeline
    if not isinstance(pipeline, ModulePass | list | tuple):
        raise CompileError(f"pipeline is {pipeline!r}, expected text, a pass, or a list of these")
    parts = [pipeline] if isinstance(pipeline, ModulePass) else list(pipeline)
    end = max((index + 1 for index, each in enumerate(parts) if not isinstance(each, str)), default=0)
    return list(Sequential(parts[:end], name="pipeline").parts), ",".join(map(str, parts[end:]))


def _front_end(given: Any) -> Callable[..., Executable] | None:
    """Returns what compiles a file of a foreign format, by its suffix, and None for a program of our own."""
    if not isinstance(given, str | Path) or "\n" in str(given):
        return None
    loader = registry().extensions_of("front-end").get(Path(given).suffix.lower())
    return None if loader is None else loader()


def _check_for_front_end(entry: str, weights: Any, has_passes: bool) -> None:
    if entry != "main" or weights is not None or has_passes:
        what = "another entry" if entry != "main" else "weights=" if weights is not None else "passes that are objects"
        raise CompileError(f"a model has no use for {what}: import it by from_onnx, and compile the module")


FRAMEWORKS: Final = {
    "torch": "use stepwell.compile_torch",
    **dict.fromkeys(("tensorflow", "keras", "jax", "flax"), "export it to ONNX first"),
}
"""What to do with the models of other packages."""


def _program(given: Any) -> Operation | str | Path:
    """Returns the program behind `given`. Raises CompileError for what is none."""
    module = getattr(given, "module", None)
    if isinstance(module, ModuleOp) and not isinstance(given, Operation):
        return module  # of a schedule
    if isinstance(given, bytes) or not isinstance(given, Operation | str | os.PathLike):
        kind = type(given)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        roots = [each.__module__.partition(".")[0] for each in kind.__mro__]  # A class of the user's own has a base.
        hint = next((f"; {FRAMEWORKS[root]}" for root in roots if root in FRAMEWORKS), "")
        raise CompileError(
            f"found {with_article(name)}, expected a module, a function, a schedule, a path or program text{hint}"
        )
    return given if isinstance(given, Operation | str) else Path(given)
